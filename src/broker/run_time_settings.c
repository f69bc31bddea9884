// SPDX-License-Identifier: Apache-2.0
#include "run_time_settings.h"

#include <stdlib.h>

#include "error.h"
#include "trace.h"

#define CLEANER_BACKOFF         "log.cleaner.backoff.ms"
#define CLEANER_BUFFER          "log.cleaner.io.buffer.size"
#define CLEANER_LOAD            "log.cleaner.io.buffer.load.factor"
#define CLEANER_MAP             "log.cleaner.dedupe.buffer.size"
#define CLEANER_RATE            "log.cleaner.io.max.bytes.per.second"
#define CLEANER_THREADS         "log.cleaner.threads"
#define CONNECTIONS             "max.connections"
#define CONNECTIONS_PER_IP      "max.connections.per.ip"
#define CONNECTIONS_OF_SOME_IPS "max.connections.per.ip.overrides"
#define CONNECTION_RATE         "max.connection.creation.rate"
#define IO_THREADS              "num.io.threads"
#define NETWORK_THREADS         "num.network.threads"
#define PRODUCER_EXPIRATION     "producer.id.expiration.ms"
#define RECOVERY_THREADS        "num.recovery.threads.per.data.dir"

static const char *const names[] = {
    CLEANER_BACKOFF,     CLEANER_BUFFER,          CLEANER_LOAD, CLEANER_MAP,
    CLEANER_RATE,        CLEANER_THREADS,         CONNECTIONS,  CONNECTIONS_PER_IP,
    CONNECTION_RATE,     CONNECTIONS_OF_SOME_IPS, IO_THREADS,   NETWORK_THREADS,
    PRODUCER_EXPIRATION, RECOVERY_THREADS,
};

bool run_time_settings_has(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static struct net_limits with_descriptors(struct net_limits limits, int32_t connections_max)
{
    if (limits.max_connections > connections_max) limits.max_connections = connections_max;
    return limits;
}

struct net_limits run_time_settings_limits(const struct config *config, int32_t connections_max)
{
    const char *overrides = config->max_connections_per_ip_overrides;
    struct net_limits limits = {
        .max_connections = config->max_connections,
        .max_connections_per_ip = config->max_connections_per_ip,
        .max_connections_per_second = config->max_connection_creation_rate,
        .per_ip_overrides = overrides == NULL ? "" : overrides,
    };
    return with_descriptors(limits, connections_max);
}

struct cleaner_options run_time_settings_cleaner(const struct config *config)
{
    return (struct cleaner_options){
        .threads = config->cleaner_enable ? (unsigned)config->cleaner_threads : 0,
        .map_bytes = config->cleaner_map_bytes,
        .map_load = config->cleaner_map_load,
        .buffer_bytes = config->cleaner_buffer_bytes,
        .bytes_per_second = config->cleaner_bytes_per_second,
        .backoff_ms = config->cleaner_backoff_ms,
    };
}

/* ---- what was changed, as text; it was checked before it was granted ---- */

static int64_t number(struct broker_config_layers layers, const char *name, int64_t otherwise)
{
    const char *value = broker_config_changed(layers, name);
    return value == NULL ? otherwise : strtoll(value, NULL, 10);
}

static double fraction(struct broker_config_layers layers, const char *name, double otherwise)
{
    const char *value = broker_config_changed(layers, name);
    return value == NULL ? otherwise : strtod(value, NULL);
}

/* ---- each to whom it concerns ---- */

static int apply_limits(const struct run_time_settings *settings,
                        struct broker_config_layers layers)
{
    struct net_limits limits = run_time_settings_limits(settings->config, INT32_MAX);
    const char *overrides = broker_config_changed(layers, CONNECTIONS_OF_SOME_IPS);
    limits.max_connections = (int32_t)number(layers, CONNECTIONS, limits.max_connections);
    limits.max_connections_per_ip = (int32_t)number(layers, CONNECTIONS_PER_IP,
                                                    limits.max_connections_per_ip);
    limits.max_connections_per_second = (int32_t)number(layers, CONNECTION_RATE,
                                                        limits.max_connections_per_second);
    if (overrides != NULL) limits.per_ip_overrides = overrides;
    limits = with_descriptors(limits, settings->connections_max);
    return net_set_limits(settings->net, &limits);
}

static int apply_cleaner(const struct run_time_settings *settings,
                         struct broker_config_layers layers)
{
    struct cleaner_options options = run_time_settings_cleaner(settings->config);
    if (settings->config->cleaner_enable)
        options.threads = (unsigned)number(layers, CLEANER_THREADS, options.threads);
    options.map_bytes = number(layers, CLEANER_MAP, options.map_bytes);
    options.map_load = fraction(layers, CLEANER_LOAD, options.map_load);
    options.buffer_bytes = number(layers, CLEANER_BUFFER, options.buffer_bytes);
    options.bytes_per_second = fraction(layers, CLEANER_RATE, options.bytes_per_second);
    options.backoff_ms = number(layers, CLEANER_BACKOFF, options.backoff_ms);
    return partition_set_change_cleaner(settings->partitions, &options);
}

void run_time_settings_apply(const struct run_time_settings *settings, const struct meta_view *view)
{
    const struct config *config = settings->config;
    struct broker_config_layers layers = broker_config_layers(view, config->node_id);
    int err = apply_limits(settings, layers);
    int other = apply_cleaner(settings, layers);
    if (err == 0) err = other;
    other = disk_pool_resize(settings->pool,
                             (unsigned)number(layers, IO_THREADS, config->io_threads));
    if (err == 0) err = other;
    other = net_use_loops(settings->net,
                          (unsigned)number(layers, NETWORK_THREADS, config->network_threads));
    if (err == 0) err = other;
    partition_set_recover_at_most(
        settings->partitions, (unsigned)number(layers, RECOVERY_THREADS, config->recovery_threads));
    partition_set_expire_producers_after(
        settings->partitions, number(layers, PRODUCER_EXPIRATION, config->producer_expiration_ms));
    if (err != 0)
        trace(TRACE_WARN, "broker", "not all changed settings count before the next start: %s",
              error_text(err));
}
