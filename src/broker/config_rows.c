// SPDX-License-Identifier: Apache-2.0
#include "config_rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "alloc.h"
#include "arena.h"
#include "error.h"
#include "run_time_settings.h"
#include "setting_relations.h"
#include "setting_rules.h"
#include "topic_settings.h"

#define VALUE_MAX_LENGTH 16385 /* More than a request may set. */

struct config_rows {
    struct broker_config config; /* The first: config_rows_check() gets it. */
    struct arena arena;
    struct broker_config_row *rows;
};

/* ---- values ---- */

/* Everything that is there when the broker has started is told by a text in the arena. */
static const char *print(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static const char *print(struct arena *arena, const char *format, ...)
{
    char text[512];
    struct str copy;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || arena_str(arena, str_from(text), &copy) != 0) return NULL;
    return copy.data;
}

/* "" and a list, or a list and another item. */
static const char *join(struct arena *arena, const char *list, const char *item)
{
    size_t size = strlen(list) + strlen(item) + 2;
    char *joined = arena_alloc(arena, size);
    if (joined != NULL) snprintf(joined, size, "%s%s%s", list, list[0] == '\0' ? "" : ",", item);
    return joined;
}

static const char *listeners_text(struct arena *arena, const struct config *config,
                                  const struct meta_endpoint *endpoints)
{
    const char *list = "";
    for (unsigned i = 0; list != NULL && i < config->listener_count; i++) {
        const struct config_listener *listener = &config->listeners[i];
        const char *host = endpoints == NULL ? listener->host : endpoints[i].host;
        unsigned port = endpoints == NULL ? listener->port : endpoints[i].port;
        bool is_bare_ipv6 = strchr(host, ':') != NULL;
        const char *item = print(arena, "%s://%s%s%s:%u", listener->name, is_bare_ipv6 ? "[" : "",
                                 host, is_bare_ipv6 ? "]" : "", port);
        list = item == NULL ? NULL : join(arena, list, item);
    }
    return list;
}

static const char *log_dirs_text(struct arena *arena, const struct config *config)
{
    const char *list = "";
    for (unsigned i = 0; list != NULL && i < config->log_dir_count; i++)
        list = join(arena, list, config->log_dirs[i]);
    return list;
}

/* Of those that the machine decides, or that are read together with others. False: not one of them. */
static bool computed_value(struct arena *arena, const struct config *config,
                           const struct meta_endpoint *endpoints, const char *name,
                           const char **value)
{
    if (strcmp(name, "node.id") == 0 || strcmp(name, "broker.id") == 0)
        *value = print(arena, "%" PRId32, config->node_id);
    else if (strcmp(name, "listeners") == 0)
        *value = listeners_text(arena, config, NULL);
    else if (strcmp(name, "advertised.listeners") == 0)
        *value = listeners_text(arena, config, endpoints);
    else if (strcmp(name, "log.dirs") == 0)
        *value = log_dirs_text(arena, config);
    else if (strcmp(name, "num.io.threads") == 0)
        *value = print(arena, "%" PRId32, config->io_threads);
    else if (strcmp(name, "num.recovery.threads.per.data.dir") == 0)
        *value = print(arena, "%" PRId32,
                       config->recovery_threads > 0 ? config->recovery_threads
                                                    : config->io_threads);
    else if (strcmp(name, "num.network.threads") == 0)
        *value = print(arena, "%" PRId32, config->network_threads);
    else if (strcmp(name, "socket.listen.backlog.size") == 0)
        *value = print(arena, "%" PRId32, config->listen_backlog_size);
    else
        return false;
    return true;
}

/* ---- rows ---- */

static enum config_type type_of(enum setting_type type)
{
    static const enum config_type types[] = {
        [SETTING_BOOLEAN] = CONFIG_TYPE_BOOLEAN,   [SETTING_SHORT] = CONFIG_TYPE_SHORT,
        [SETTING_INT] = CONFIG_TYPE_INT,           [SETTING_LONG] = CONFIG_TYPE_LONG,
        [SETTING_DOUBLE] = CONFIG_TYPE_DOUBLE,     [SETTING_STRING] = CONFIG_TYPE_STRING,
        [SETTING_LIST] = CONFIG_TYPE_LIST,         [SETTING_CLASS] = CONFIG_TYPE_CLASS,
        [SETTING_PASSWORD] = CONFIG_TYPE_PASSWORD,
    };
    return types[type];
}

/* They do nothing here, and clients may change them as they may in Kafka. */
static const char *const changed_without_effect[] = {
    "background.threads",
    "cordoned.log.dirs",
    "errors.deadletterqueue.auto.create.topics.enable",
    "errors.deadletterqueue.topic.name.prefix",
    "follower.replication.throttled.rate",
    "follower.fetch.last.tiered.offset.enable",
    "group.consumer.assignment.interval.ms",
    "group.consumer.assignor.offload.enable",
    "group.coordinator.cached.buffer.max.bytes",
    "group.share.assignment.interval.ms",
    "group.share.assignor.offload.enable",
    "group.streams.assignment.interval.ms",
    "group.streams.assignor.offload.enable",
    "leader.replication.throttled.rate",
    "metric.reporters",
    "num.replica.fetchers",
    "remote.fetch.max.wait.ms",
    "remote.list.offsets.request.timeout.ms",
    "remote.log.index.file.cache.total.size.bytes",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.copy.max.bytes.per.second",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.fetch.max.bytes.per.second",
    "remote.log.manager.follower.thread.pool.size",
    "remote.log.reader.threads",
    "replica.alter.log.dirs.io.max.bytes.per.second",
    "share.coordinator.cached.buffer.max.bytes",
    "transaction.partition.verification.enable",
};

/* Those that Kafka keeps to itself. */
static const char *const untold[] = {
    "allow.everyone.if.no.acl.found",
    "controller.performance.always.log.threshold.ms",
    "controller.performance.sample.period.ms",
    "follower.replication.throttled.rate",
    "group.consumer.assignor.offload.enable",
    "group.consumer.regex.refresh.interval.ms",
    "group.share.assignor.offload.enable",
    "group.share.dlq.manager.class.name",
    "group.share.initialize.retry.interval.ms",
    "group.share.persister.class.name",
    "group.streams.acceptable.recovery.lag",
    "group.streams.assignor.offload.enable",
    "group.streams.max.warmup.replicas",
    "group.streams.min.task.offset.interval.ms",
    "group.streams.num.warmup.replicas",
    "group.streams.task.offset.interval.ms",
    "leader.replication.throttled.rate",
    "log.initial.task.delay.ms",
    "producer.id.expiration.check.interval.ms",
    "remote.log.index.file.cache.ttl.ms",
    "remote.log.manager.task.retry.backoff.max.ms",
    "remote.log.manager.task.retry.backoff.ms",
    "remote.log.manager.task.retry.jitter",
    "replica.alter.log.dirs.io.max.bytes.per.second",
    "server.max.startup.time.ms",
    "share.coordinator.cold.partition.snapshot.interval.ms",
    "share.coordinator.state.topic.prune.interval.ms",
    "super.users",
    "unclean.leader.election.interval.ms",
    "unstable.api.versions.enable",
    "unstable.feature.versions.enable",
};

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static bool is_told(const char *name)
{
    return strncmp(name, "internal.", strlen("internal.")) != 0 &&
           !is_among(name, untold, sizeof untold / sizeof untold[0]);
}

/* Kafka changes these at run time too, but for those that give a time in hours or minutes. */
bool config_rows_is_dynamic(const struct setting *setting)
{
    if (setting->kind == SETTING_NO_EFFECT)
        return is_among(setting->name, changed_without_effect,
                        sizeof changed_without_effect / sizeof changed_without_effect[0]);
    if (setting->kind != SETTING_TOPIC_DEFAULT) return run_time_settings_has(setting->name);
    return setting->unit == 1 && strcmp(setting->name, "log.flush.scheduler.interval.ms") != 0;
}

static const char *documentation(struct arena *arena, const struct setting *setting)
{
    switch (setting->kind) {
    case SETTING_SERVED:
    case SETTING_TOGETHER: break;
    case SETTING_NO_EFFECT: return "Has no effect in this version.";
    case SETTING_REFUSED: return print(arena, "Cannot be changed: %s.", setting->text);
    case SETTING_TOPIC_DEFAULT:
        if (setting->unit != 1)
            return print(arena,
                         "What %s is for topics that say nothing themselves; one of this is "
                         "%" PRId64 " of that.",
                         setting->topic_setting, setting->unit);
        return print(arena, "What %s is for topics that say nothing themselves.",
                     setting->topic_setting);
    }
    return setting->text;
}

static const char *said_value(const struct config *config, const char *name)
{
    for (unsigned i = 0; i < config->said_count; i++)
        if (strcmp(config->said[2 * i], name) == 0) return config->said[2 * i + 1];
    return NULL;
}

static int fill_row(struct config_rows *rows, const struct config *config,
                    const struct meta_endpoint *endpoints, const struct setting *setting,
                    struct broker_config_row *row)
{
    *row = (struct broker_config_row){
        .name = setting->name,
        .type = type_of(setting->type),
        .said = said_value(config, setting->name),
        .default_value = setting->default_value,
        .documentation = documentation(&rows->arena, setting),
        .is_dynamic = config_rows_is_dynamic(setting),
        .is_of_one_broker = strcmp(setting->name, "cordoned.log.dirs") == 0,
        .is_told = is_told(setting->name),
    };
    /* Kafka says it where only the newer name was said. */
    if (row->said == NULL && strcmp(setting->name, "broker.id") == 0 &&
        said_value(config, "node.id") != NULL)
        row->said = said_value(config, "node.id");
    row->value = row->said != NULL ? row->said : row->default_value;
    /* Kafka tells all listeners that were said, those of controllers too. */
    if (row->said != NULL && strcmp(setting->name, "listeners") == 0) return 0;
    bool is_computed = computed_value(&rows->arena, config, endpoints, setting->name, &row->value);
    return row->documentation == NULL || (is_computed && row->value == NULL) ? ERR_NO_MEMORY : 0;
}

static int check(const struct broker_config *config, const struct broker_config_row *row,
                 struct str value, const char *current, char *why, size_t why_size)
{
    (void)config;
    const struct setting *setting = setting_find(row->name, NULL);
    char text[VALUE_MAX_LENGTH];
    int64_t number = 0;
    if (value.length >= (int32_t)sizeof text) {
        snprintf(why, why_size, "%s cannot be so long.", row->name);
        return ERR_INVALID_REQUEST;
    }
    memcpy(text, value.data, (size_t)value.length);
    text[value.length] = '\0';
    int err = setting_check(setting, text, &number, why, why_size);
    if (err == 0) err = setting_rules_check(setting, text, why, why_size);
    if (err == 0) err = setting_rules_check_change(setting, text, current, why, why_size);
    bool is_unlimited = number < 0 && strcmp(row->name, "log.retention.ms") == 0;
    if (err == 0 && setting->kind == SETTING_TOPIC_DEFAULT && !is_unlimited)
        err = topic_settings_check(str_from(setting->topic_setting), value, why, why_size);
    if (err == ERR_NO_MEMORY) snprintf(why, why_size, "%s", error_text(err));
    return err == 0 ? 0 : ERR_INVALID_REQUEST;
}

int config_rows_open(struct config_rows **rows, const struct config *config,
                     const struct meta_endpoint *endpoints)
{
    const struct setting *setting;
    unsigned count = 0, most = 0;
    struct config_rows *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    arena_init(&opened->arena, NULL, 0, SIZE_MAX);
    while (setting_at(most) != NULL)
        most++;
    opened->rows = mem_calloc(most + 1u, sizeof *opened->rows);
    int err = opened->rows == NULL ? ERR_NO_MEMORY : 0;
    for (unsigned i = 0; err == 0 && (setting = setting_at(i)) != NULL; i++) {
        err = fill_row(opened, config, endpoints, setting, &opened->rows[count++]);
    }
    if (err != 0) {
        config_rows_close(opened);
        return err;
    }
    opened->config = (struct broker_config){ opened->rows, count, check, setting_relations_check };
    *rows = opened;
    return 0;
}

void config_rows_close(struct config_rows *rows)
{
    if (rows == NULL) return;
    mem_free(rows->rows);
    arena_close(&rows->arena);
    mem_free(rows);
}

const struct broker_config *config_rows_config(const struct config_rows *rows)
{
    return &rows->config;
}
