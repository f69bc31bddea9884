// SPDX-License-Identifier: Apache-2.0
#include "setting_rules.h"

#include <stdio.h>
#include <stdlib.h>

#include "address_limits.h"
#include "alloc.h"
#include "error.h"
#include "repeats.h"

#define MOST_THREADS 1024

static const char *rule_of_rate(const char *value)
{
    return strtod(value, NULL) > 0 ? NULL : "must be above 0";
}

static const char *rule_of_load(const char *value)
{
    double load = strtod(value, NULL);
    return load > 0 && load <= 1 ? NULL : "must be above 0 and at most 1";
}

static const char *rule_of_threads(const char *value)
{
    return strtoll(value, NULL, 10) <= MOST_THREADS ? NULL : "must be at most 1024";
}

/* Kafka's too; without it nothing at all would be kept. */
static const char *rule_of_retention(const char *value)
{
    return strtoll(value, NULL, 10) != 0 ? NULL : "cannot be 0; -1 means no limit";
}

static const struct {
    const char *name;
    const char *(*rule)(const char *value); /* What is wrong; NULL: nothing. */
} rules[] = {
    { "log.cleaner.io.max.bytes.per.second", rule_of_rate },
    { "log.cleaner.io.buffer.load.factor", rule_of_load },
    { "log.cleaner.threads", rule_of_threads },
    { "log.retention.ms", rule_of_retention },
    { "log.retention.minutes", rule_of_retention },
    { "log.retention.hours", rule_of_retention },
};

static int check_address_limits(const struct setting *setting, const char *value, char *why,
                                size_t why_size)
{
    char problem[192];
    struct address_limits limits;
    int err = address_limits_open(&limits, value, problem, sizeof problem);
    if (err == 0) address_limits_close(&limits);
    if (err == ERR_USAGE) snprintf(why, why_size, "%s %s", setting->name, problem);
    return err;
}

int setting_rules_check(const struct setting *setting, const char *value, char *why,
                        size_t why_size)
{
    if (strcmp(setting->name, "max.connections.per.ip.overrides") == 0)
        return check_address_limits(setting, value, why, why_size);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (strcmp(rules[i].name, setting->name) != 0) continue;
        const char *problem = rules[i].rule(value);
        if (problem == NULL) return 0;
        snprintf(why, why_size, "%s %s", setting->name, problem);
        return ERR_USAGE;
    }
    return 0;
}

static const char *const thread_counts[] = {
    "background.threads",
    "log.cleaner.threads",
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
    "remote.log.reader.threads",
};

/* At the start Kafka drops them. */
static int refuse_repeats(const struct setting *setting, const char *list, char *why,
                          size_t why_size)
{
    struct repeats repeats;
    struct str item;
    bool is_repeated = false;
    int err = 0;
    struct repeat *notes = mem_calloc(strlen(list) + 1, sizeof *notes), *next = notes;
    if (notes == NULL) return ERR_NO_MEMORY;
    repeats_init(&repeats);
    while (err == 0 && !is_repeated && setting_next_item(&list, &item)) {
        err = repeats_note(&repeats, item.data, (size_t)item.length, next);
        is_repeated = err == 0 && next->is_repeated;
        next++;
    }
    repeats_close(&repeats);
    mem_free(notes);
    if (!is_repeated) return err;
    snprintf(why, why_size, "%s cannot have an item twice", setting->name);
    return ERR_USAGE;
}

/* As in Kafka: at most twice, at least half of what it is, and never none. */
static int check_thread_count(const struct setting *setting, const char *value, const char *current,
                              char *why, size_t why_size)
{
    long long wanted = strtoll(value, NULL, 10);
    long long before = current == NULL ? wanted : strtoll(current, NULL, 10);
    if (wanted == before || (wanted > 0 && wanted >= before / 2 && wanted <= before * 2)) return 0;
    snprintf(why, why_size,
             "%s is %lld: at run time it can become at most twice and at least half of that, and "
             "not 0",
             setting->name, before);
    return ERR_USAGE;
}

int setting_rules_check_change(const struct setting *setting, const char *value,
                               const char *current, char *why, size_t why_size)
{
    bool is_count = false;
    if (strcmp(setting->name, "metric.reporters") == 0 && value[0] != '\0' &&
        !setting_is_default(setting, value)) {
        snprintf(why, why_size, "%s names Java classes, which cannot be loaded", setting->name);
        return ERR_USAGE;
    }
    if (setting->type == SETTING_LIST) return refuse_repeats(setting, value, why, why_size);
    for (size_t i = 0; i < sizeof thread_counts / sizeof thread_counts[0]; i++)
        is_count = is_count || strcmp(setting->name, thread_counts[i]) == 0;
    return is_count ? check_thread_count(setting, value, current, why, why_size) : 0;
}
