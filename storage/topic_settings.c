// SPDX-License-Identifier: Apache-2.0
#include "topic_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "java_double.h"
#include "java_integer.h"
#include "record_batch.h"

enum kind {
    KIND_INT,
    KIND_LONG,
    KIND_DOUBLE,
    KIND_BOOLEAN,
    KIND_STRING,
    KIND_LIST,
    KIND_REPLICAS, /* A list, too. */
};

static const char *const kind_names[] = { "int",    "long", "double", "boolean",
                                          "string", "list", "list" };

#define NO_FIELD SIZE_MAX
#define LIST_MAX 16

/* The values of one setting that the log knows by number. Fields of kind int hold it. */
struct word {
    const char *text;
    int number;
};

struct setting {
    const char *name;
    enum kind kind;
    const char *default_value;
    int64_t min, max;         /* Of int and long; of a double in thousandths. */
    const struct word *words; /* What a string or list may say; NULL: anything. */
    size_t field;             /* In struct topic_settings, NO_FIELD if nothing acts on it yet. */
    bool is_served;           /* Something acts on it. */
    const char *broker_synonym;
};

static const struct word cleanup_words[] = { { "delete", CLEANUP_DELETE },
                                             { "compact", CLEANUP_COMPACT },
                                             { NULL, 0 } };
static const struct word timestamp_words[] = { { "CreateTime", false },
                                               { "LogAppendTime", true },
                                               { NULL, 0 } };
static const struct word codec_words[] = { { "uncompressed", CODEC_NONE },
                                           { "zstd", CODEC_ZSTD },
                                           { "lz4", CODEC_LZ4 },
                                           { "snappy", CODEC_SNAPPY },
                                           { "gzip", CODEC_GZIP },
                                           { "producer", COMPRESSION_PRODUCER },
                                           { NULL, 0 } };

#define I32         INT32_MAX
#define I64         INT64_MAX
#define I64_TEXT    "9223372036854775807"
#define FIELD(name) offsetof(struct topic_settings, name)

/* To serve a setting: give it a field, act on the field, turn its `false` into `true`. */
/* clang-format off */
static const struct setting settings_table[] = {
/*    name                                       kind          default       min       max   words            field                                served broker synonym */
    { "cleanup.policy",                          KIND_LIST,    "delete",     0,        0,    cleanup_words,   FIELD(cleanup_policy),               true,  "log.cleanup.policy" },
    { "compression.gzip.level",                  KIND_INT,     "-1",         -1,       9,    NULL,            FIELD(gzip_level),                   true,  "compression.gzip.level" },
    { "compression.lz4.level",                   KIND_INT,     "9",          1,        17,   NULL,            FIELD(lz4_level),                    true,  "compression.lz4.level" },
    { "compression.type",                        KIND_STRING,  "producer",   0,        0,    codec_words,     FIELD(compression_type),             true,  "compression.type" },
    { "compression.zstd.level",                  KIND_INT,     "3",          -131072,  22,   NULL,            FIELD(zstd_level),                   true,  "compression.zstd.level" },
    { "delete.retention.ms",                     KIND_LONG,    "86400000",   0,        I64,  NULL,            FIELD(delete_retention_ms),          true,  "log.cleaner.delete.retention.ms" },
    { "errors.deadletterqueue.group.enable",     KIND_BOOLEAN, "false",      0,        0,    NULL,            NO_FIELD,                            false, NULL },
    { "file.delete.delay.ms",                    KIND_LONG,    "60000",      0,        I64,  NULL,            FIELD(file_delete_delay_ms),         true,  "log.segment.delete.delay.ms" },
    { "flush.messages",                          KIND_LONG,    I64_TEXT,     1,        I64,  NULL,            FIELD(flush_messages),               true,  "log.flush.interval.messages" },
    { "flush.ms",                                KIND_LONG,    I64_TEXT,     0,        I64,  NULL,            FIELD(flush_ms),                     true,  "log.flush.interval.ms" },
    { "follower.replication.throttled.replicas", KIND_REPLICAS,"",           0,        0,    NULL,            NO_FIELD,                            false, NULL },
    { "index.interval.bytes",                    KIND_INT,     "4096",       0,        I32,  NULL,            FIELD(index_interval_bytes),         true,  "log.index.interval.bytes" },
    { "leader.replication.throttled.replicas",   KIND_REPLICAS,"",           0,        0,    NULL,            NO_FIELD,                            false, NULL },
    { "local.retention.bytes",                   KIND_LONG,    "-2",         -2,       I64,  NULL,            NO_FIELD,                            false, "log.local.retention.bytes" },
    { "local.retention.ms",                      KIND_LONG,    "-2",         -2,       I64,  NULL,            NO_FIELD,                            false, "log.local.retention.ms" },
    { "max.compaction.lag.ms",                   KIND_LONG,    I64_TEXT,     1,        I64,  NULL,            FIELD(max_compaction_lag_ms),        true,  "log.cleaner.max.compaction.lag.ms" },
    { "max.decompressed.message.bytes",          KIND_INT,     "2147483639", 1,  2147483639, NULL,            FIELD(max_decompressed_message_bytes), true,  "max.decompressed.message.bytes" },
    { "max.message.bytes",                       KIND_INT,     "1048588",    0,        I32,  NULL,            FIELD(max_message_bytes),            true,  "message.max.bytes" },
    { "message.timestamp.after.max.ms",          KIND_LONG,    "3600000",    0,        I64,  NULL,            FIELD(timestamp_after_max_ms),       true,  "log.message.timestamp.after.max.ms" },
    { "message.timestamp.before.max.ms",         KIND_LONG,    I64_TEXT,     0,        I64,  NULL,            FIELD(timestamp_before_max_ms),      true,  "log.message.timestamp.before.max.ms" },
    { "message.timestamp.type",                  KIND_STRING,  "CreateTime", 0,        0,    timestamp_words, FIELD(log_append_time),              true,  "log.message.timestamp.type" },
    { "min.cleanable.dirty.ratio",               KIND_DOUBLE,  "0.5",        0,        1000, NULL,            FIELD(min_cleanable_dirty_ratio),    true,  "log.cleaner.min.cleanable.ratio" },
    { "min.compaction.lag.ms",                   KIND_LONG,    "0",          0,        I64,  NULL,            FIELD(min_compaction_lag_ms),        true,  "log.cleaner.min.compaction.lag.ms" },
    { "min.insync.replicas",                     KIND_INT,     "1",          1,        I32,  NULL,            FIELD(min_insync_replicas),          true,  "min.insync.replicas" },
    { "preallocate",                             KIND_BOOLEAN, "false",      0,        0,    NULL,            FIELD(preallocate),                  true,  "log.preallocate" },
    { "remote.copy.lag.bytes",                   KIND_LONG,    "-1",         -1,       I64,  NULL,            NO_FIELD,                            false, "log.remote.copy.lag.bytes" },
    { "remote.copy.lag.ms",                      KIND_LONG,    "0",          -1,       I64,  NULL,            NO_FIELD,                            false, "log.remote.copy.lag.ms" },
    { "remote.log.copy.disable",                 KIND_BOOLEAN, "false",      0,        0,    NULL,            NO_FIELD,                            false, NULL },
    { "remote.log.delete.on.disable",            KIND_BOOLEAN, "false",      0,        0,    NULL,            NO_FIELD,                            false, NULL },
    { "remote.storage.enable",                   KIND_BOOLEAN, "false",      0,        0,    NULL,            NO_FIELD,                            false, NULL },
    { "retention.bytes",                         KIND_LONG,    "-1",         INT64_MIN, I64, NULL,            FIELD(retention_bytes),              true,  "log.retention.bytes" },
    { "retention.ms",                            KIND_LONG,    "604800000",  -1,       I64,  NULL,            FIELD(retention_ms),                 true,  "log.retention.ms" },
    { "segment.bytes",                           KIND_INT,     "1073741824", 1048576,  I32,  NULL,            FIELD(segment_bytes),                true,  "log.segment.bytes" },
    { "segment.index.bytes",                     KIND_INT,     "10485760",   4,        I32,  NULL,            FIELD(segment_index_bytes),          true,  "log.index.size.max.bytes" },
    { "segment.jitter.ms",                       KIND_LONG,    "0",          0,        I64,  NULL,            FIELD(segment_jitter_ms),            true,  "log.roll.jitter.ms" },
    { "segment.ms",                              KIND_LONG,    "604800000",  1,        I64,  NULL,            FIELD(segment_ms),                   true,  "log.roll.ms" },
    { "unclean.leader.election.enable",          KIND_BOOLEAN, "false",      0,        0,    NULL,            NO_FIELD,                            false, "unclean.leader.election.enable" },
};
/* clang-format on */

#define SETTING_COUNT (sizeof settings_table / sizeof settings_table[0])

/* A value as Kafka's ConfigDef reads it. */
struct value {
    int64_t number; /* Int, long, boolean; of words their numbers or'ed. */
    double fraction;
    struct str items[LIST_MAX]; /* Of a string one. */
    unsigned item_count;
};

static const struct setting *setting_find(struct str name)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (str_equals_text(name, settings_table[i].name)) return &settings_table[i];
    return NULL;
}

static bool parse_double(struct str text, double min, double max, double *number)
{
    char copy[64];
    if (text.length == 0 || text.length >= (int32_t)sizeof copy) return false;
    memcpy(copy, text.data, (size_t)text.length);
    copy[text.length] = '\0';
    double result;
    /* As in Kafka, NaN is in every range. */
    if (!java_double_parse(copy, &result) || result < min || result > max) return false;
    *number = result;
    return true;
}

static bool equals_ignoring_case(struct str text, const char *word)
{
    return text.length == (int32_t)strlen(word) &&
           strncasecmp(text.data, word, (size_t)text.length) == 0;
}

static bool parse_boolean(struct str text, int64_t *number)
{
    *number = equals_ignoring_case(text, "true");
    return *number != 0 || equals_ignoring_case(text, "false");
}

static bool add_item(struct value *value, struct str item, const struct word *words)
{
    for (unsigned i = 0; i < value->item_count; i++)
        if (str_equal(value->items[i], item))
            return true; /* Kafka drops repeated items of a list. */
    for (; words != NULL && !str_equals_text(item, words->text); words++)
        if (words->text == NULL) return false;
    if (value->item_count == LIST_MAX) return false;
    value->items[value->item_count++] = item;
    value->number |= words == NULL ? 0 : words->number;
    return true;
}

/* "0:1,1:2" of partitions and brokers, or "*" for all; there may be many. */
static bool are_replicas(struct str text)
{
    if (str_equals_text(text, "*")) return true;
    for (int32_t at = 0; at < text.length;) {
        struct str item = { text.data + at, 0 };
        while (at + item.length < text.length && item.data[item.length] != ',')
            item.length++;
        at += item.length + 1;
        item = str_trim(item);
        int32_t digits = 0, place = 0;
        for (int32_t i = 0; i < item.length; i++) {
            bool is_digit = item.data[i] >= '0' && item.data[i] <= '9';
            bool is_colon = item.data[i] == ':' && place == 0 && digits > 0;
            if (!is_digit && !is_colon) return false;
            place += is_colon;
            digits = is_colon ? 0 : digits + 1;
        }
        if (item.length > 0 && (place == 0 || digits == 0)) return false;
    }
    return true;
}

/* Items are parted by commas with white around them; nothing at all is the empty list. */
static bool parse_list(struct str text, const struct word *words, struct value *value)
{
    while (text.length > 0) {
        const char *comma = memchr(text.data, ',', (size_t)text.length);
        int32_t length = comma == NULL ? text.length : (int32_t)(comma - text.data);
        if (!add_item(value, str_trim((struct str){ text.data, length }), words)) return false;
        if (comma == NULL) break;
        text = (struct str){ comma + 1, text.length - length - 1 };
        if (text.length == 0) return add_item(value, STR_LITERAL(""), words);
    }
    return true;
}

/* gzip's 0 would not compress; Kafka takes -1 and 1 to 9. */
static bool is_gap(const struct setting *setting, int64_t number)
{
    return setting->field == FIELD(gzip_level) && number == 0;
}

static bool parse(const struct setting *setting, struct str text, struct value *value)
{
    *value = (struct value){ 0 };
    text = str_trim(text);
    switch (setting->kind) {
    case KIND_INT:
    case KIND_LONG:
        return java_integer_parse(text, &value->number) && value->number >= setting->min &&
               value->number <= setting->max && !is_gap(setting, value->number);
    case KIND_DOUBLE:
        return parse_double(text, (double)setting->min / 1000, (double)setting->max / 1000,
                            &value->fraction);
    case KIND_BOOLEAN: return parse_boolean(text, &value->number);
    case KIND_STRING: return add_item(value, text, setting->words);
    case KIND_LIST: return parse_list(text, setting->words, value);
    case KIND_REPLICAS: return are_replicas(text);
    }
    return false;
}

static bool values_equal(const struct value *a, const struct value *b)
{
    bool equal = a->number == b->number && a->fraction == b->fraction &&
                 a->item_count == b->item_count;
    for (unsigned i = 0; equal && i < a->item_count; i++)
        equal = str_equal(a->items[i], b->items[i]);
    return equal;
}

/* Text of a client's, for a sentence: cut, and free of what a terminal or log would act on. */
static const char *shown(struct str text, char *out, size_t size)
{
    size_t length = 0;
    for (int32_t i = 0; i < text.length && length + 4 < size; i++)
        out[length++] = text.data[i] >= ' ' && text.data[i] <= '~' ? text.data[i] : '?';
    memcpy(out + length, "...", 4);
    if ((int32_t)length == (text.length < 0 ? 0 : text.length)) out[length] = '\0';
    return out;
}

static void explain_bad_value(const struct setting *setting, struct str value, char *why,
                              size_t size)
{
    char text[64];
    const char *name = setting->name, *kind = kind_names[setting->kind];
    shown(value, text, sizeof text);
    if (setting->words != NULL) {
        int length = snprintf(why, size, "%s cannot be \"%s\"; it knows", name, text);
        for (const struct word *word = setting->words; word->text != NULL; word++)
            if (length >= 0 && (size_t)length < size)
                length += snprintf(why + length, size - (size_t)length, " %s", word->text);
    } else if (setting->kind == KIND_INT || setting->kind == KIND_LONG) {
        snprintf(why, size, "%s must be of type %s, from %lld to %lld, not \"%s\"", name, kind,
                 (long long)setting->min, (long long)setting->max, text);
    } else if (setting->kind == KIND_DOUBLE) {
        snprintf(why, size, "%s must be of type %s, from %g to %g, not \"%s\"", name, kind,
                 (double)setting->min / 1000, (double)setting->max / 1000, text);
    } else {
        snprintf(why, size, "%s must be of type %s, not \"%s\"", name, kind, text);
    }
}

/* As in a Kafka without tiered storage. What else nothing acts on yet is kept and told. */
static bool stays_default(const struct setting *setting)
{
    return strcmp(setting->name, "remote.storage.enable") == 0;
}

/* Finds the setting and its value, as topic_settings_check() promises. */
static int accept(struct str name, struct str text, const struct setting **found,
                  struct value *value, char *why, size_t size)
{
    char nothing[1];
    if (why == NULL) {
        why = nothing;
        size = sizeof nothing;
    }
    const struct setting *setting = setting_find(name);
    if (setting == NULL) {
        char shown_name[96];
        snprintf(why, size, "a topic has no setting named \"%s\"",
                 shown(name, shown_name, sizeof shown_name));
        return ERR_INVALID_CONFIG;
    }
    struct value default_value;
    parse(setting, str_from(setting->default_value), &default_value);
    if (str_is_null(text)) {
        *value = default_value;
    } else if (!parse(setting, text, value)) {
        explain_bad_value(setting, text, why, size);
        return ERR_INVALID_CONFIG;
    }
    if (stays_default(setting) && !values_equal(value, &default_value)) {
        snprintf(why, size, "%s cannot be changed in this version; its value is \"%s\"",
                 setting->name, setting->default_value);
        return ERR_INVALID_CONFIG;
    }
    *found = setting;
    return 0;
}

static void store(struct topic_settings *settings, const struct setting *setting,
                  const struct value *value)
{
    if (setting->field == NO_FIELD) return;
    void *field = (char *)settings + setting->field;
    switch (setting->kind) {
    case KIND_INT: *(int32_t *)field = (int32_t)value->number; break;
    case KIND_LONG: *(int64_t *)field = value->number; break;
    case KIND_LIST: /* Bits. */
    case KIND_STRING: *(int *)field = (int)value->number; break;
    case KIND_BOOLEAN: *(bool *)field = value->number != 0; break;
    case KIND_DOUBLE: *(double *)field = value->fraction; break;
    case KIND_REPLICAS: break;
    }
}

void topic_settings_defaults(struct topic_settings *settings)
{
    *settings = (struct topic_settings){ 0 };
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        struct value value;
        parse(&settings_table[i], str_from(settings_table[i].default_value), &value);
        store(settings, &settings_table[i], &value);
    }
}

int topic_settings_check(struct str name, struct str value, char *why, size_t why_size)
{
    const struct setting *setting;
    struct value parsed;
    return accept(name, value, &setting, &parsed, why, why_size);
}

int topic_settings_set(struct topic_settings *settings, struct str name, struct str value)
{
    const struct setting *setting;
    struct value parsed;
    int err = accept(name, value, &setting, &parsed, NULL, 0);
    if (err == 0) store(settings, setting, &parsed);
    return err;
}

bool topic_settings_row(unsigned index, struct topic_setting_row *row)
{
    if (index >= SETTING_COUNT) return false;
    const struct setting *setting = &settings_table[index];
    *row = (struct topic_setting_row){ setting->name, kind_names[setting->kind],
                                       setting->default_value, setting->broker_synonym,
                                       setting->is_served };
    return true;
}

bool topic_name_is_legal(struct str name)
{
    if (name.length < 1 || name.length > 249 || str_equals_text(name, ".") ||
        str_equals_text(name, ".."))
        return false;
    for (int32_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '_' || c == '-'))
            return false;
    }
    return true;
}
