// SPDX-License-Identifier: Apache-2.0
#include "fuzz_fields.h"

#include <stdlib.h>
#include <string.h>

#include "batch_builder.h"
#include "codec_fields.h"
#include "fuzz.h"
#include "fuzz_broker.h"
#include "resource_config.h"
#include "topic_settings.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* One in so many values is not what a client would say; chosen anew for each request, since one such value
 * may be all that is looked at. */
static size_t oddness = 1;

const char *const fuzz_topics[FUZZ_TOPICS] = { "first", "second", "third" };

static bool is_odd(void)
{
    return chance_below(oddness) == 0;
}

static void *take(struct arena *arena, size_t size)
{
    void *memory = arena_zalloc(arena, size + 1);
    if (memory == NULL) abort();
    return memory;
}

/* ---- numbers ---- */

#define NUMBERS_MAX 12

/* What fields of a name mostly say; NONE ends the list. */
#define NONE INT64_MIN
static const struct numbers {
    const char *name;
    int64_t usual[NUMBERS_MAX];
} all_numbers[] = {
    { "acks", { -1, 1, -1, 1, 0, NONE } },
    { "baseTimestamp", { FUZZ_NOW_MS, NONE } },
    { "brokerIds", { 1, NONE } },
    { "configOperation", { 0, 1, 2, 3, NONE } },
    { "count", { 2, 3, 4, 5, 8, NONE } },
    { "currentLeaderEpoch", { -1, -1, -1, 0, 1, 2, NONE } },
    { "endpointType", { 1, 2, NONE } },
    { "fetchOffset", { 0, 0, 0, 1, 2, 3, 5, 8, 13, 21, -1, NONE } },
    { "index", { 0, 0, 0, 1, 2, NONE } },
    { "isolationLevel", { 0, 1, NONE } },
    { "lastFetchedEpoch", { -1, -1, -1, 0, 1, 2, NONE } },
    { "leaderEpoch", { -1, 0, 1, 2, NONE } },
    { "maxBytes", { 1 << 20, INT32_MAX, 1000, 100, 1, 0, NONE } },
    { "maxWaitMs", { 0, 0, 0, 100, 500, 30000, INT32_MAX, NONE } },
    { "minBytes", { 0, 1, 1, 1000, INT32_MAX, NONE } },
    { "numPartitions", { -1, 1, 2, 3, 5, NONE } },
    { "offset", { -1, 0, 1, 2, 3, 5, 8, NONE } },
    { "partition", { 0, 0, 0, 1, 2, NONE } },
    { "partitionIndex", { 0, 0, 0, 1, 2, NONE } },
    { "partitionIndexes", { 0, 0, 0, 1, 2, NONE } },
    { "partitionMaxBytes", { 1 << 20, 1 << 20, INT32_MAX, 1000, 100, 1, 0, NONE } },
    { "partitions", { 0, 0, 0, 1, 2, NONE } },
    { "producerEpoch", { -1, 0, 1, NONE } },
    { "producerId", { -1, 0, 1, 2, NONE } },
    { "replicaEpoch", { -1, NONE } },
    { "replicaId", { -1, -1, -1, -2, 1, NONE } },
    { "replicationFactor", { -1, 1, 1, NONE } },
    { "resourceType", { 2, 2, 4, 4, 8, 16, 32, NONE } },
    { "resourceTypes", { 2, 4, 8, 16, 32, NONE } },
    { "responsePartitionLimit", { 2000, 1, 2, NONE } },
    { "sessionEpoch", { 0, 0, 1, 1, 1, -1, 2, NONE } },
    { "sessionId", { 0, 0, 1, 2, 3, 4, NONE } },
    { "timeoutMs", { 60000, 1000, 1, 0, NONE } },
    { "timestamp", { -1, -2, -3, -4, -5, FUZZ_NOW_MS, FUZZ_NOW_MS + 5, 0, NONE } },
    { "transactionTimeoutMs", { 60000, 1000, INT32_MAX, NONE } },
};

static int64_t odd_number(void)
{
    static const int64_t odd[] = { 0,         1,         -1,        -2,        7,
                                   127,       255,       256,       32767,     65536,
                                   INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1000000 };
    return odd[chance_below(COUNT(odd))];
}

/* Tens of thousands of partitions are made when they are asked for, which takes longer than all else; more
 * than can be are refused. */
static int64_t odd_for(const char *name)
{
    int64_t number = odd_number();
    bool makes_partitions = strcmp(name, "numPartitions") == 0 || strcmp(name, "count") == 0;
    return makes_partitions && number > 300 ? INT32_MAX : number;
}

static int64_t some_number(const char *name)
{
    if (is_odd()) return odd_for(name);
    for (size_t i = 0; i < COUNT(all_numbers); i++) {
        const struct numbers *numbers = &all_numbers[i];
        size_t count = 0;
        if (strcmp(numbers->name, name) != 0) continue;
        while (count < NUMBERS_MAX && numbers->usual[count] != NONE)
            count++;
        return numbers->usual[chance_below(count)];
    }
    return (int64_t)chance_below(5);
}

static void put_number(enum field_type type, int64_t number, void *at)
{
    switch (type) {
    case FIELD_BOOL: *(bool *)at = (number & 1) != 0; break;
    case FIELD_INT8: *(int8_t *)at = (int8_t)number; break;
    case FIELD_INT16: *(int16_t *)at = (int16_t)number; break;
    case FIELD_UINT16: *(uint16_t *)at = (uint16_t)number; break;
    case FIELD_INT32: *(int32_t *)at = (int32_t)number; break;
    case FIELD_UINT32: *(uint32_t *)at = (uint32_t)number; break;
    case FIELD_INT64: *(int64_t *)at = number; break;
    case FIELD_FLOAT64: *(double *)at = (double)number; break;
    case FIELD_UUID:
    case FIELD_STRING:
    case FIELD_BYTES:
    case FIELD_RECORDS:
    case FIELD_STRUCT: abort();
    }
}

/* ---- texts ---- */

static struct str odd_text(struct arena *arena)
{
    static const char *const odd[] = { "",         ".",        "..", "a b",
                                       "\xc3\xa9", "\xff\xfe", ",",  "a\nb",
                                       "%s%n",     "a/../b",   "-1", "9223372036854775808",
                                       "=",        "1e9",      "*",  "__proto",
                                       "NaN",      "0x10" };
    if (chance_below(8) != 0) return str_from(odd[chance_below(COUNT(odd))]);
    size_t length = chance_below(4) == 0 ? chance_below(32768) : 240 + chance_below(20);
    char *text = take(arena, length);
    memset(text, 'a' + (int)chance_below(26), length);
    return (struct str){ text, (int32_t)length };
}

static const char *topic_name(void)
{
    static const char *const rare[] = {
        "fourth",           "fifth", "nobody.knows", "__consumer_offsets", "__transaction_state",
        "__sluice_metadata"
    };
    return chance_below(8) != 0 ? fuzz_topics[chance_below(FUZZ_TOPICS)]
                                : rare[chance_below(COUNT(rare))];
}

static const char *setting_name(void)
{
    static const char *const of_brokers[] = {
        "max.connections",  "max.connections.per.ip", "log.cleaner.backoff.ms",
        "log.retention.ms", "log.segment.bytes",      "num.partitions",
        "log.dirs",         "advertised.listeners",   "log.cleaner.io.max.bytes.per.second",
        "compression.type", "message.max.bytes",
    };
    struct topic_setting_row row;
    if (chance_below(4) == 0) return of_brokers[chance_below(COUNT(of_brokers))];
    if (chance_below(4) == 0) return group_config.rows[chance_below(group_config.count)].name;
    if (chance_below(8) == 0)
        return client_metrics_config.rows[chance_below(client_metrics_config.count)].name;
    unsigned count = 0;
    while (topic_settings_row(count, &row))
        count++;
    topic_settings_row((unsigned)chance_below(count), &row);
    return row.name;
}

static const char *setting_value(void)
{
    static const char *const values[] = {
        "1",
        "0",
        "-1",
        "1000",
        "1048576",
        "9223372036854775807",
        "100000",
        "true",
        "false",
        "gzip",
        "snappy",
        "lz4",
        "zstd",
        "uncompressed",
        "0.5",
        "compact",
        "delete",
        "compact,delete",
        "LogAppendTime",
        "CreateTime",
        "producer",
        "50000",
        "5000",
        "a,b",
        "read_committed",
        "by_duration:P1DT2H3M4.5S",
        "sticky",
        "client_id=(?<n>[a-z&&[^b]]+)\\k<n>{2,}|\\Qx\\E",
        "client_id=\\p{Lu}(?<!a|b)\\x{41},client_source_port=9[0-9]*",
    };
    return values[chance_below(COUNT(values))];
}

/* The text that a field of this name, in this struct, mostly says. */
static const char *usual_text(const struct shape *owner, const char *name)
{
    static const char *const resources[] = { "", "1", "1", "2", "group" };
    bool is_of_setting = strstr(owner->name, "config") != NULL &&
                         strstr(owner->name, "resource") == NULL;
    if (strcmp(name, "resourceName") == 0)
        return chance_below(2) == 0 ? topic_name() : resources[chance_below(COUNT(resources))];
    if (strcmp(name, "configurationKeys") == 0) return setting_name();
    if (strcmp(name, "value") == 0) return setting_value();
    if (strcmp(name, "name") == 0 && is_of_setting) return setting_name();
    if (strcmp(name, "name") == 0 || strstr(name, "opic") != NULL) return topic_name();
    if (strcmp(name, "clusterId") == 0) return "AAAAAAAAAAAAAAAAAAAAAA";
    return "client-1.0";
}

static struct str some_text(const struct shape *owner, const char *name, bool may_be_null,
                            struct arena *arena)
{
    /* Where a transactional id is refused nothing else is looked at. */
    size_t nulls_of_50 = strcmp(name, "transactionalId") == 0 ? 49 : 6;
    if (may_be_null && chance_below(50) < nulls_of_50) return STR_NULL;
    return is_odd() ? odd_text(arena) : str_from(usual_text(owner, name));
}

static struct uuid some_id(void)
{
    struct uuid id = { { 0 } };
    if (!is_odd()) return fuzz_topic_id((uint32_t)chance_below(FUZZ_TOPICS + 2));
    for (size_t i = 0; i < sizeof id.bytes && chance_below(4) != 0; i++)
        id.bytes[i] = (uint8_t)chance();
    return id;
}

/* ---- records ---- */

static void add_records(struct batch_builder *builder)
{
    static const uint8_t bytes[4096];
    int64_t time = FUZZ_NOW_MS + (int64_t)chance_below(100) - 50;
    struct record_header header = { { (const uint8_t *)"h", 1 }, { bytes, 3 } };
    for (size_t left = 1 + chance_below(6); left > 0; left--) {
        struct bytes key = { (const uint8_t *)"key", (int32_t)chance_below(4) };
        struct bytes value = { bytes, (int32_t)chance_below(chance_below(4) == 0 ? 4096 : 40) };
        if (chance_below(4) == 0) key = BYTES_NULL;
        if (chance_below(8) == 0) value = BYTES_NULL;
        batch_builder_append(builder, time, key, value, &header, (int32_t)chance_below(2));
        time += (int64_t)chance_below(10) - 2;
    }
}

static void add_batch(struct buffer *out)
{
    struct batch_builder builder;
    batch_builder_init(&builder);
    builder.attributes = (int16_t)(chance_below(2) == 0 ? chance_below(5) : 0);
    if (is_odd()) builder.attributes |= (int16_t)(1 << chance_below(8));
    if (chance_below(3) == 0) {
        builder.producer_id = (int64_t)chance_below(3);
        builder.producer_epoch = 0;
        builder.base_sequence = (int32_t)chance_below(6);
    }
    if (is_odd()) builder.base_offset = odd_number();
    if (is_odd()) builder.last_offset_delta = (int32_t)odd_number();
    add_records(&builder);
    /* A codec that is none cannot be built; then there is no batch. */
    (void)batch_builder_finish(&builder, out);
    batch_builder_close(&builder);
}

/* Bytes that a producer would not send, under a CRC that is right or not. */
static void spoil(struct buffer *batches)
{
    for (size_t left = 1 + chance_below(3); left > 0 && batches->length > 0; left--) {
        size_t at = chance_below(chance_below(2) == 0 && batches->length > RECORD_BATCH_HEADER_SIZE
                                     ? RECORD_BATCH_HEADER_SIZE
                                     : batches->length);
        batches->data[at] = (uint8_t)(chance_below(2) == 0
                                          ? chance()
                                          : batches->data[at] ^ 1u << chance_below(8));
    }
    if (chance_below(2) == 0 && batches->length > 0)
        fuzz_mend_batches(batches->data, batches->length);
    if (is_odd()) batches->length = chance_below(batches->length + 1);
}

struct records fuzz_records(struct arena *arena)
{
    struct records records = { (const uint8_t *)"", 0, NULL };
    struct buffer batches;
    buffer_init(&batches);
    for (size_t left = is_odd() ? chance_below(4) : 1; left > 0; left--)
        add_batch(&batches);
    if (chance_below(oddness > 20 ? 20 : 2) == 0) spoil(&batches);
    if (batches.failed) abort();
    if (batches.length > 0) {
        uint8_t *copy = take(arena, batches.length);
        memcpy(copy, batches.data, batches.length);
        records.data = copy;
        records.length = (int32_t)batches.length;
    }
    buffer_close(&batches);
    return records;
}

/* ---- fields ---- */

static bool may_be_null(const struct field *field, int16_t version)
{
    return versions_hold(field->nullable, version);
}

static void fill(const struct shape *shape, int16_t version, struct arena *arena, void *object);

static void fill_element(const struct shape *owner, const struct field *field, int16_t version,
                         struct arena *arena, void *at)
{
    bool is_nullable = !field->is_array && may_be_null(field, version);
    switch (field->type) {
    case FIELD_UUID: *(struct uuid *)at = some_id(); break;
    case FIELD_STRING: *(struct str *)at = some_text(owner, field->name, is_nullable, arena); break;
    case FIELD_BYTES: *(struct bytes *)at = (struct bytes){ (const uint8_t *)"bytes", 5 }; break;
    case FIELD_RECORDS:
        *(struct records *)at = is_nullable && is_odd() ? (struct records){ NULL, -1, NULL }
                                                        : fuzz_records(arena);
        break;
    case FIELD_STRUCT: fill(field->shape, version, arena, at); break;
    case FIELD_BOOL:
    case FIELD_INT8:
    case FIELD_INT16:
    case FIELD_UINT16:
    case FIELD_INT32:
    case FIELD_UINT32:
    case FIELD_INT64:
    case FIELD_FLOAT64: put_number(field->type, some_number(field->name), at); break;
    }
}

/* By hand where a client says it only for a topic that it places itself. */
static size_t some_count(const struct field *field)
{
    if (strcmp(field->name, "assignments") == 0 && chance_below(4) != 0) return 0;
    if (chance_below(100) == 0) return chance_below(300);
    if (is_odd()) return 0;
    return chance_below(2) == 0 ? 1 : 1 + chance_below(4);
}

static void fill_array(const struct shape *owner, const struct field *field, int16_t version,
                       struct arena *arena, void *at)
{
    bool is_null = may_be_null(field, version) && chance_below(4) == 0;
    size_t count = is_null ? 0 : some_count(field), size = field_element_size(field);
    char *items = take(arena, count * size);
    for (size_t i = 0; i < count; i++) {
        if (field->type == FIELD_STRUCT) shape_defaults(field->shape, items + i * size);
        /* What was said is sometimes said again. */
        if (i > 0 && is_odd())
            memcpy(items + i * size, items + chance_below(i) * size, size);
        else
            fill_element(owner, field, version, arena, items + i * size);
    }
    array_store(at, items, is_null ? -1 : (int32_t)count);
}

static void fill(const struct shape *shape, int16_t version, struct arena *arena, void *object)
{
    for (unsigned i = 0; i < shape->field_count; i++) {
        const struct field *field = &shape->fields[i];
        void *at = (char *)object + field->offset;
        if (!versions_hold(field->present, version)) continue;
        if (versions_hold(field->tagged, version) && chance_below(4) != 0) continue;
        if (field->is_array) {
            fill_array(shape, field, version, arena, at);
        } else if (!field->is_optional_struct) {
            fill_element(shape, field, version, arena, at);
        } else if (chance_below(2) == 0) {
            void *to = take(arena, field->shape->size);
            shape_defaults(field->shape, to);
            fill(field->shape, version, arena, to);
            struct_pointer_store(at, to);
        }
    }
}

void fuzz_fill(const struct message_shape *shape, int16_t version, struct arena *arena,
               void *message)
{
    static const size_t choices[] = { 1000, 1000, 20, 5 };
    oddness = choices[chance_below(COUNT(choices))];
    message_defaults(shape, message);
    fill(&shape->shape, version, arena, message);
}
