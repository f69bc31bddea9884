// SPDX-License-Identifier: Apache-2.0
#include "setting_relations.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "error.h"
#include "setting.h"

#define NAMES_MAX 3

/* What counts on a broker. */
struct values {
    const struct broker_config *config;
    struct broker_config_layers layers;
};

struct complaint {
    char *why; /* Of this size. */
    size_t size;
};

struct relation {
    const char *names[NAMES_MAX]; /* The first is limited by the others. */
    bool (*holds)(const struct values *values, const char *const *names, struct complaint *to);
};

static bool complain(struct complaint *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* False: it does not hold. */
static bool complain(struct complaint *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to->why, to->size, format, arguments);
    va_end(arguments);
    return false;
}

/* "" where there is none. */
static const char *text(const struct values *values, const char *name)
{
    const char *changed = broker_config_changed(values->layers, name);
    const struct broker_config_row *row = broker_config_find(values->config, str_from(name));
    if (changed != NULL) return changed;
    return row == NULL || row->value == NULL ? "" : row->value;
}

static int64_t number(const struct values *values, const char *name)
{
    return strtoll(text(values, name), NULL, 10);
}

/* ---- who may connect ---- */

static bool somebody_may_connect(const struct values *values, const char *const *names,
                                 struct complaint *to)
{
    return number(values, names[0]) > 0 ||
           complain(to,
                    "%s cannot become 0 at run time: nobody could connect any more, not even to "
                    "change it back",
                    names[0]);
}

static bool some_address_may_connect(const struct values *values, const char *const *names,
                                     struct complaint *to)
{
    return number(values, names[0]) > 0 || text(values, names[1])[0] != '\0' ||
           complain(to, "%s can be 0 only if %s lets somebody in", names[0], names[1]);
}

/* ---- tiered storage, which is not here; Kafka's rules all the same ---- */

#define AS_ALL_OF_THE_LOG (-2)

/* In the unit of the name; below 0: no limit. */
static int64_t retention(const struct values *values, const char *name)
{
    static const char *const finest_first[] = { "log.retention.ms", "log.retention.minutes",
                                                "log.retention.hours" };
    if (strcmp(name, finest_first[0]) != 0) return number(values, name);
    for (size_t i = 0; i < sizeof finest_first / sizeof finest_first[0]; i++)
        if (text(values, finest_first[i])[0] != '\0')
            return number(values, finest_first[i]) * setting_find(finest_first[i], NULL)->unit;
    return -1;
}

static bool local_part_is_within_the_log(const struct values *values, const char *const *names,
                                         struct complaint *to)
{
    int64_t local = number(values, names[0]), whole = retention(values, names[1]);
    if (whole < 0 || local == AS_ALL_OF_THE_LOG || (local >= 0 && local <= whole)) return true;
    if (local < 0)
        return complain(to, "%s must have a limit, as %s has: %" PRId64, names[0], names[1], whole);
    return complain(to, "%s cannot be more than %s, which is %" PRId64, names[0], names[1], whole);
}

static bool copies_come_before_deletion(const struct values *values, const char *const *names,
                                        struct complaint *to)
{
    int64_t lag = number(values, names[0]), local = number(values, names[1]);
    int64_t kept = local == AS_ALL_OF_THE_LOG ? retention(values, names[2]) : local;
    return kept < 0 || lag <= kept ||
           complain(to, "%s cannot be more than is kept here by %s and %s, which is %" PRId64,
                    names[0], names[1], names[2], kept);
}

/* ---- others ---- */

static bool each_thread_has_memory_for_keys(const struct values *values, const char *const *names,
                                            struct complaint *to)
{
    int64_t threads = number(values, names[1]);
    bool is_used = strcasecmp(text(values, names[2]), "false") != 0;
    return !is_used || number(values, names[0]) >= LEAST_KEY_BYTES_OF_THREAD * threads ||
           complain(to, "%s must be at least %" PRId64 " for each of %" PRId64 " threads (%s)",
                    names[0], LEAST_KEY_BYTES_OF_THREAD, threads, names[1]);
}

static bool is_between(const struct values *values, const char *const *names, struct complaint *to)
{
    int64_t least = number(values, names[1]), most = number(values, names[2]);
    int64_t value = number(values, names[0]);
    return (value >= least && value <= most) ||
           complain(to, "%s must be from %" PRId64 " (%s) to %" PRId64 " (%s)", names[0], least,
                    names[1], most, names[2]);
}

static bool has_item(const char *list, struct str wanted)
{
    struct str item;
    while (setting_next_item(&list, &item))
        if (str_equal(item, wanted)) return true;
    return false;
}

/* Or "*" alone, which means all of them. */
static bool folders_are_ours(const struct values *values, const char *const *names,
                             struct complaint *to)
{
    const char *rest = text(values, names[0]);
    struct str item;
    if (strcmp(rest, "*") == 0) return true;
    while (setting_next_item(&rest, &item))
        if (!has_item(text(values, names[1]), item))
            return complain(to, "%s can only have folders that are in %s, or * alone", names[0],
                            names[1]);
    return true;
}

/* ---- all ---- */

#define INTERVAL_OF(kind)                                                                       \
    {                                                                                           \
        { "group." kind ".assignment.interval.ms", "group." kind ".min.assignment.interval.ms", \
          "group." kind ".max.assignment.interval.ms" },                                        \
            is_between                                                                          \
    }

static const struct relation relations[] = {
    { { "max.connections" }, somebody_may_connect },
    { { "max.connection.creation.rate" }, somebody_may_connect },
    { { "max.connections.per.ip", "max.connections.per.ip.overrides" }, some_address_may_connect },
    { { "log.local.retention.ms", "log.retention.ms" }, local_part_is_within_the_log },
    { { "log.local.retention.bytes", "log.retention.bytes" }, local_part_is_within_the_log },
    { { "log.remote.copy.lag.ms", "log.local.retention.ms", "log.retention.ms" },
      copies_come_before_deletion },
    { { "log.remote.copy.lag.bytes", "log.local.retention.bytes", "log.retention.bytes" },
      copies_come_before_deletion },
    { { "log.cleaner.dedupe.buffer.size", "log.cleaner.threads", "log.cleaner.enable" },
      each_thread_has_memory_for_keys },
    INTERVAL_OF("consumer"),
    INTERVAL_OF("share"),
    INTERVAL_OF("streams"),
    { { "cordoned.log.dirs", "log.dirs" }, folders_are_ours },
};

static bool is_moved(const struct relation *relation, const struct values *before,
                     const struct values *after)
{
    for (unsigned i = 0; i < NAMES_MAX && relation->names[i] != NULL; i++)
        if (strcmp(text(before, relation->names[i]), text(after, relation->names[i])) != 0)
            return true;
    return false;
}

int setting_relations_check(const struct broker_config *config, struct broker_config_layers before,
                            struct broker_config_layers after, char *why, size_t why_size)
{
    const struct values old = { config, before }, changed = { config, after };
    struct complaint complaint = { why, why_size };
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        const struct relation *relation = &relations[i];
        if (is_moved(relation, &old, &changed) &&
            !relation->holds(&changed, relation->names, &complaint))
            return ERR_INVALID_REQUEST;
    }
    return 0;
}
