// SPDX-License-Identifier: Apache-2.0
/* A subscription says which clients push which of their metrics how often (KIP-714). */

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "resource_config.h"
#include "trace.h"

#define LEAST_INTERVAL_MS 100
#define MOST_INTERVAL_MS  3600000

/* clang-format off */
static const struct resource_config_row rows[] = {
    { .name = "interval.ms", .type = CONFIG_TYPE_INT, .default_value = "300000", .least = INT32_MIN,
      .meaning = "How often a client pushes its metrics, in milliseconds." },
    { .name = "match", .type = CONFIG_TYPE_LIST, .default_value = "",
      .meaning = "Which clients: NAME=PATTERN, where the name is client_id, client_instance_id, "
                 "client_software_name, client_software_version, client_source_address or "
                 "client_source_port. None: all of them." },
    { .name = "metrics", .type = CONFIG_TYPE_LIST, .default_value = "",
      .meaning = "What the names of the metrics begin with; * stands for all." },
};
/* clang-format on */

const struct resource_config client_metrics_config = { rows, sizeof rows / sizeof rows[0] };

static bool selects_something(struct str name)
{
    static const char *const names[] = { "client_id",
                                         "client_instance_id",
                                         "client_software_name",
                                         "client_software_version",
                                         "client_source_address",
                                         "client_source_port" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (str_equals_text(name, names[i])) return true;
    return false;
}

/* Kafka's are Java's, which differ in rare corners (docs/compatibility.md). Memory and nesting are bounded by the
 * library. */
static bool is_regular_expression(struct str text)
{
    int error;
    PCRE2_SIZE where;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)text.data, (PCRE2_SIZE)text.length, PCRE2_UTF,
                                     &error, &where, NULL);
    pcre2_code_free(code); /* NULL is fine. */
    return code != NULL;
}

/* NAME=PATTERN. As Java takes it apart: what is empty at the end does not count. */
static bool match_is_legal(struct str item)
{
    while (item.length > 0 && item.data[item.length - 1] == '=')
        item.length--;
    const char *equals = item.length > 0 ? memchr(item.data, '=', (size_t)item.length) : NULL;
    if (equals == NULL) return false;
    struct str name = { item.data, (int32_t)(equals - item.data) };
    struct str pattern = { equals + 1, item.length - name.length - 1 };
    return memchr(pattern.data, '=', (size_t)pattern.length) == NULL &&
           selects_something(str_trim(name)) && is_regular_expression(str_trim(pattern));
}

static int check_match(struct str list, char *why, size_t why_size)
{
    struct str item;
    char shown[64];
    while (list.length > 0 && resource_config_next_item(&list, &item)) {
        if (match_is_legal(item)) continue;
        snprintf(why, why_size,
                 "match takes what to look at, = and a regular expression, not \"%s\".",
                 trace_escape(shown, sizeof shown, item));
        return ERR_INVALID_CONFIG;
    }
    return 0;
}

static int check_interval(const char *value, char *why, size_t why_size)
{
    long interval_ms = strtol(value, NULL, 10);
    if (interval_ms >= LEAST_INTERVAL_MS && interval_ms <= MOST_INTERVAL_MS) return 0;
    snprintf(why, why_size, "interval.ms must be from %d to %d, not %ld.", LEAST_INTERVAL_MS,
             MOST_INTERVAL_MS, interval_ms);
    return ERR_INVALID_REQUEST;
}

/* In Kafka's order; the errors differ. */
int client_metrics_config_check(const void *broker_config, const struct meta_setting *settings,
                                unsigned count, char *why, size_t why_size)
{
    char shown[64];
    (void)broker_config;
    for (unsigned i = 0; i < count; i++) {
        struct str name = str_from(settings[i].name);
        if (resource_config_find(&client_metrics_config, name) != NULL) continue;
        snprintf(why, why_size, "A subscription to metrics has no setting named \"%s\".",
                 trace_escape(shown, sizeof shown, name));
        return ERR_INVALID_REQUEST;
    }
    int err = resource_config_check_values(&client_metrics_config, settings, count, why, why_size);
    const char *interval = meta_setting_find(settings, count, STR_LITERAL("interval.ms"));
    const char *match = meta_setting_find(settings, count, STR_LITERAL("match"));
    if (err == 0 && interval != NULL) err = check_interval(interval, why, why_size);
    if (err == 0 && match != NULL) err = check_match(str_from(match), why, why_size);
    return err;
}
