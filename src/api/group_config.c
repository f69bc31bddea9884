// SPDX-License-Identifier: Apache-2.0
/* A group of any kind may have any of these (KIP-848, KIP-932, KIP-1071); each kind acts on its own. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "java_duration.h"
#include "map.h"
#include "resource_config.h"
#include "trace.h"

/* ---- texts ---- */

static bool is_dead_letter_topic(struct str value)
{
    return value.length < 2 || memcmp(value.data, "__", 2) != 0;
}

static bool is_offset_reset(struct str value)
{
    static const char by_duration[] = "by_duration:";
    int32_t length = (int32_t)sizeof by_duration - 1;
    int64_t seconds;
    int32_t nanos;
    if (str_equals_text(value, "earliest") || str_equals_text(value, "latest")) return true;
    return value.length > length && memcmp(value.data, by_duration, (size_t)length) == 0 &&
           java_duration_parse((struct str){ value.data + length, value.length - length }, &seconds,
                               &nanos) &&
           seconds >= 0;
}

static bool is_isolation_level(struct str value)
{
    return str_equals_text(value, "read_committed") || str_equals_text(value, "read_uncommitted");
}

static bool has_item(struct str list, struct str wanted)
{
    struct str item;
    while (resource_config_next_item(&list, &item))
        if (str_equal(item, wanted)) return true;
    return false;
}

/* Each once. In time that grows with the text: the quorum waits for it. */
static bool are_tags(struct str value)
{
    struct map seen;
    struct str item;
    bool are_legal = true;
    map_init(&seen);
    while (are_legal && resource_config_next_item(&value, &item))
        are_legal = map_get(&seen, item.data, (size_t)item.length) == NULL &&
                    map_put(&seen, item.data, (size_t)item.length, &seen, NULL) == 0;
    map_close(&seen);
    return are_legal;
}

/* ---- the table ---- */

/* clang-format off */
static const struct resource_config_row rows[] = {
    { .name = "consumer.assignment.interval.ms", .type = CONFIG_TYPE_INT, .default_value = "1000",
      .broker = "group.consumer.assignment.interval.ms",
      .broker_least = "group.consumer.min.assignment.interval.ms",
      .broker_most = "group.consumer.max.assignment.interval.ms",
      .meaning = "How much time lies at least between two assignments of partitions in a "
                 "consumer group, in milliseconds." },
    { .name = "consumer.assignor.offload.enable", .type = CONFIG_TYPE_BOOLEAN,
      .default_value = "true",
      .is_hidden = true,
      .broker = "group.consumer.assignor.offload.enable",
      .meaning = "Assignments of a consumer group are worked out beside the "
                 "coordinator's other work." },
    { .name = "consumer.heartbeat.interval.ms", .type = CONFIG_TYPE_INT,
      .default_value = "5000", .least = 1,
      .broker = "group.consumer.heartbeat.interval.ms",
      .broker_least = "group.consumer.min.heartbeat.interval.ms",
      .broker_most = "group.consumer.max.heartbeat.interval.ms",
      .meaning = "How often a member of a consumer group says that it is there, in "
                 "milliseconds." },
    { .name = "consumer.session.timeout.ms", .type = CONFIG_TYPE_INT,
      .default_value = "45000", .least = 1,
      .broker = "group.consumer.session.timeout.ms",
      .broker_least = "group.consumer.min.session.timeout.ms",
      .broker_most = "group.consumer.max.session.timeout.ms",
      .meaning = "After how much silence a member of a consumer group is taken for dead, "
                 "in milliseconds." },
    { .name = "errors.deadletterqueue.copy.record.enable", .type = CONFIG_TYPE_BOOLEAN,
      .default_value = "false",
      .meaning = "The topic for records that cannot be processed gets their keys and "
                 "values, not only what is known of them." },
    { .name = "errors.deadletterqueue.topic.name", .type = CONFIG_TYPE_STRING, .default_value = "",
      .is_legal = is_dead_letter_topic, .legal = "names that begin with __ are taken",
      .meaning = "The topic for records of a share group that cannot be processed; none "
                 "if empty." },
    { .name = "share.assignment.interval.ms", .type = CONFIG_TYPE_INT, .default_value = "1000",
      .broker = "group.share.assignment.interval.ms",
      .broker_least = "group.share.min.assignment.interval.ms",
      .broker_most = "group.share.max.assignment.interval.ms",
      .meaning = "How much time lies at least between two assignments of partitions in a "
                 "share group, in milliseconds." },
    { .name = "share.assignor.offload.enable", .type = CONFIG_TYPE_BOOLEAN, .default_value = "true",
      .is_hidden = true,
      .broker = "group.share.assignor.offload.enable",
      .meaning = "Assignments of a share group are worked out beside the coordinator's "
                 "other work." },
    { .name = "share.auto.offset.reset", .type = CONFIG_TYPE_STRING, .default_value = "latest",
      .is_legal = is_offset_reset, .legal = "it takes earliest, latest and by_duration:PnDTnHnMn.nS",
      .meaning = "Where a share group begins in a partition: latest, earliest, or so far "
                 "back as by_duration:PT1H says." },
    { .name = "share.delivery.count.limit", .type = CONFIG_TYPE_INT,
      .default_value = "5", .least = 2,
      .broker = "group.share.delivery.count.limit",
      .broker_least = "group.share.min.delivery.count.limit",
      .broker_most = "group.share.max.delivery.count.limit",
      .meaning = "How often a record is given to members of a share group." },
    { .name = "share.heartbeat.interval.ms", .type = CONFIG_TYPE_INT,
      .default_value = "5000", .least = 1,
      .broker = "group.share.heartbeat.interval.ms",
      .broker_least = "group.share.min.heartbeat.interval.ms",
      .broker_most = "group.share.max.heartbeat.interval.ms",
      .meaning = "How often a member of a share group says that it is there, in "
                 "milliseconds." },
    { .name = "share.isolation.level", .type = CONFIG_TYPE_STRING,
      .default_value = "read_uncommitted",
      .is_legal = is_isolation_level, .legal = "it takes read_committed and read_uncommitted",
      .meaning = "Whether a share group gets records of transactions that are not "
                 "committed: read_uncommitted or read_committed." },
    { .name = "share.partition.max.record.locks", .type = CONFIG_TYPE_INT,
      .default_value = "2000", .least = 100,
      .broker = "group.share.partition.max.record.locks",
      .broker_least = "group.share.min.partition.max.record.locks",
      .broker_most = "group.share.max.partition.max.record.locks",
      .meaning = "How many records of a partition may be with members of a share group "
                 "at a time." },
    { .name = "share.record.lock.duration.ms", .type = CONFIG_TYPE_INT,
      .default_value = "30000", .least = 1000,
      .broker = "group.share.record.lock.duration.ms",
      .broker_least = "group.share.min.record.lock.duration.ms",
      .broker_most = "group.share.max.record.lock.duration.ms",
      .meaning = "How long a member of a share group may keep a record before others get "
                 "it, in milliseconds." },
    { .name = "share.renew.acknowledge.enable", .type = CONFIG_TYPE_BOOLEAN,
      .default_value = "true",
      .meaning = "A member of a share group may ask to keep a record for longer." },
    { .name = "share.session.timeout.ms", .type = CONFIG_TYPE_INT,
      .default_value = "45000", .least = 1,
      .broker = "group.share.session.timeout.ms",
      .broker_least = "group.share.min.session.timeout.ms",
      .broker_most = "group.share.max.session.timeout.ms",
      .meaning = "After how much silence a member of a share group is taken for dead, in "
                 "milliseconds." },
    { .name = "streams.acceptable.recovery.lag", .type = CONFIG_TYPE_LONG, .default_value = "10000",
      .is_hidden = true,
      .broker = "group.streams.acceptable.recovery.lag",
      .meaning = "How many offsets a streams task may be behind and still take over." },
    { .name = "streams.assignment.interval.ms", .type = CONFIG_TYPE_INT, .default_value = "1000",
      .broker = "group.streams.assignment.interval.ms",
      .broker_least = "group.streams.min.assignment.interval.ms",
      .broker_most = "group.streams.max.assignment.interval.ms",
      .meaning = "How much time lies at least between two assignments of partitions in a "
                 "streams group, in milliseconds." },
    { .name = "streams.assignor.name", .type = CONFIG_TYPE_STRING,
      .broker = "group.streams.assignors",
      .meaning = "Which of the assignors in group.streams.assignors a streams group "
                 "uses; by default the first." },
    { .name = "streams.assignor.offload.enable", .type = CONFIG_TYPE_BOOLEAN,
      .default_value = "true",
      .is_hidden = true,
      .broker = "group.streams.assignor.offload.enable",
      .meaning = "Assignments of a streams group are worked out beside the coordinator's "
                 "other work." },
    { .name = "streams.heartbeat.interval.ms", .type = CONFIG_TYPE_INT,
      .default_value = "5000", .least = 1,
      .broker = "group.streams.heartbeat.interval.ms",
      .broker_least = "group.streams.min.heartbeat.interval.ms",
      .broker_most = "group.streams.max.heartbeat.interval.ms",
      .meaning = "How often a member of a streams group says that it is there, in "
                 "milliseconds." },
    { .name = "streams.initial.rebalance.delay.ms", .type = CONFIG_TYPE_INT,
      .default_value = "3000",
      .broker = "group.streams.initial.rebalance.delay.ms",
      .meaning = "How long a new streams group waits for more members before its first "
                 "assignment, in milliseconds." },
    { .name = "streams.num.standby.replicas", .type = CONFIG_TYPE_INT, .default_value = "0",
      .broker = "group.streams.num.standby.replicas",
      .broker_most = "group.streams.max.standby.replicas",
      .meaning = "How many copies of a task's state are kept ready elsewhere." },
    { .name = "streams.num.warmup.replicas", .type = CONFIG_TYPE_INT, .default_value = "2",
      .is_hidden = true,
      .broker = "group.streams.num.warmup.replicas",
      .broker_most = "group.streams.max.warmup.replicas",
      .meaning = "How many copies of state may be made at a time for tasks that are to "
                 "move." },
    { .name = "streams.rack.aware.assignment.tags", .type = CONFIG_TYPE_LIST, .default_value = "",
      .broker = "group.streams.rack.aware.assignment.tags",
      .is_legal = are_tags, .legal = "each tag is named once, and none is empty",
      .meaning = "By which tags of clients copies of state are kept apart." },
    { .name = "streams.session.timeout.ms", .type = CONFIG_TYPE_INT,
      .default_value = "45000", .least = 1,
      .broker = "group.streams.session.timeout.ms",
      .broker_least = "group.streams.min.session.timeout.ms",
      .broker_most = "group.streams.max.session.timeout.ms",
      .meaning = "After how much silence a member of a streams group is taken for dead, "
                 "in milliseconds." },
    { .name = "streams.task.offset.interval.ms", .type = CONFIG_TYPE_INT,
      .default_value = "60000", .least = 1,
      .is_hidden = true,
      .broker = "group.streams.task.offset.interval.ms",
      .broker_least = "group.streams.min.task.offset.interval.ms",
      .meaning = "How often members of a streams group tell how far their tasks are, in "
                 "milliseconds." },
};
/* clang-format on */

const struct resource_config group_config = { rows, sizeof rows / sizeof rows[0] };

/* ---- the check ---- */

/* What the broker was started with; NULL: nothing. */
static const char *broker_value(const struct broker_config *config, const char *name)
{
    const struct broker_config_row *row = broker_config_find(config, str_from(name));
    return row == NULL ? NULL : row->value;
}

static int64_t broker_number(const struct broker_config *config, const char *name,
                             int64_t otherwise)
{
    const char *value = name == NULL ? NULL : broker_value(config, name);
    return value == NULL ? otherwise : strtoll(value, NULL, 10);
}

static int check_names(const struct meta_setting *settings, unsigned count, char *why,
                       size_t why_size)
{
    char shown[64];
    for (unsigned i = 0; i < count; i++) {
        struct str name = str_from(settings[i].name);
        if (resource_config_find(&group_config, name) != NULL) continue;
        snprintf(why, why_size, "A group has no setting named \"%s\".",
                 trace_escape(shown, sizeof shown, name));
        return ERR_INVALID_CONFIG;
    }
    return 0;
}

/* What the broker allows to groups. */
static int check_limits(const struct broker_config *config, const struct meta_setting *setting,
                        char *why, size_t why_size)
{
    const struct resource_config_row *row = resource_config_find(&group_config,
                                                                 str_from(setting->name));
    if (row == NULL || (row->broker_least == NULL && row->broker_most == NULL)) return 0;
    int64_t number = strtoll(setting->value, NULL, 10);
    int64_t least = broker_number(config, row->broker_least, INT64_MIN);
    int64_t most = broker_number(config, row->broker_most, INT64_MAX);
    if (number < least)
        snprintf(why, why_size, "%s must be at least %" PRId64 ": %s.", row->name, least,
                 row->broker_least);
    else if (number > most)
        snprintf(why, why_size, "%s must be at most %" PRId64 ": %s.", row->name, most,
                 row->broker_most);
    return number < least || number > most ? ERR_INVALID_CONFIG : 0;
}

static int check_assignor(const struct broker_config *config, const struct meta_setting *settings,
                          unsigned count, char *why, size_t why_size)
{
    char shown[48];
    const char *name = meta_setting_find(settings, count, STR_LITERAL("streams.assignor.name"));
    const char *known = broker_value(config, "group.streams.assignors");
    if (name == NULL || has_item(str_from(known), str_from(name))) return 0;
    snprintf(why, why_size, "There is no assignor \"%s\" in group.streams.assignors.",
             trace_escape(shown, sizeof shown, str_from(name)));
    return ERR_INVALID_CONFIG;
}

/* A number of a group, or what it has that says nothing itself. */
static int64_t number_of(const struct broker_config *config, const struct meta_setting *settings,
                         unsigned count, const char *name)
{
    char of_broker[64];
    const char *value = meta_setting_find(settings, count, str_from(name));
    if (value != NULL) return strtoll(value, NULL, 10);
    snprintf(of_broker, sizeof of_broker, "group.%s", name);
    return broker_number(config, of_broker, 0);
}

/* Who says less often that it is there than it would be missed is dead at once. */
static int check_timeouts(const struct broker_config *config, const struct meta_setting *settings,
                          unsigned count, char *why, size_t why_size)
{
    static const char *const pairs[][2] = {
        { "consumer.heartbeat.interval.ms", "consumer.session.timeout.ms" },
        { "share.heartbeat.interval.ms", "share.session.timeout.ms" },
        { "streams.heartbeat.interval.ms", "streams.session.timeout.ms" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (number_of(config, settings, count, pairs[i][0]) <
            number_of(config, settings, count, pairs[i][1]))
            continue;
        snprintf(why, why_size, "%s must be less than %s.", pairs[i][0], pairs[i][1]);
        return ERR_INVALID_CONFIG;
    }
    return 0;
}

int group_config_check(const void *broker_config, const struct meta_setting *settings,
                       unsigned count, char *why, size_t why_size)
{
    int err = check_names(settings, count, why, why_size);
    if (err == 0) err = resource_config_check_values(&group_config, settings, count, why, why_size);
    for (unsigned i = 0; err == 0 && i < count; i++)
        err = check_limits(broker_config, &settings[i], why, why_size);
    if (err == 0) err = check_assignor(broker_config, settings, count, why, why_size);
    if (err == 0) err = check_timeouts(broker_config, settings, count, why, why_size);
    return err;
}

/* ---- defaults ---- */

unsigned group_config_defaults(const struct resource_config_row *row,
                               const struct broker_config *broker_config,
                               struct broker_config_layers layers,
                               struct config_synonym synonyms[CONFIG_SYNONYMS_MAX])
{
    unsigned count = row->broker == NULL
                         ? 0
                         : broker_config_synonyms(broker_config, layers, row->broker, synonyms);
    if (count > 0) return count;
    synonyms[0] = (struct config_synonym){ row->name, row->default_value, CONFIG_SOURCE_DEFAULT };
    return 1;
}
