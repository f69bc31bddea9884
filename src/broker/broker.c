// SPDX-License-Identifier: Apache-2.0
/* Threads: the caller's runs the main loop (signals, housekeeping); net has its loops, raft-meta its
 * thread, storage its pool. */

#include "broker.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "admin_port.h"
#include "adopt.h"
#include "alloc.h"
#include "api.h"
#include "clean_start.h"
#include "config_rows.h"
#include "data_folders.h"
#include "disk_pool.h"
#include "error.h"
#include "fetch_session.h"
#include "machine.h"
#include "metadata_watch.h"
#include "net.h"
#include "reload.h"
#include "run_time_settings.h"
#include "sd_notify.h"
#include "signals.h"
#include "startup_limit.h"
#include "trace.h"

#define WHY_SIZE                1024
#define HEARTBEATS_PER_ELECTION 10

struct broker {
    const struct config *config;
    struct clock *clock;
    struct loop *loop;
    struct signals signals;
    struct reload reload;
    struct disk_pool *pool;
    struct data_folders folders;
    struct net *net;
    const char **listener_names;
    struct meta_endpoint *endpoints;
    struct meta_setting *topic_defaults;
    unsigned topic_default_count;
    struct config_rows *rows;
    struct partition_set *partitions;
    struct metadata_watch watch;
    struct meta_quorum *meta;
    struct producer_ids *producer_ids;
    struct fetch_sessions *fetch_sessions;
    struct api *api;
    struct adopt *adopt; /* NULL: not asked for. */
    struct admin *admin; /* NULL: there is none. */
    struct startup_limit startup_limit;
    bool is_ready;
    bool is_stopping; /* What the quorum still says is of no interest. */
    int err;          /* Why it stopped by itself; 0: it was asked to. */
};

/* ---- opening ---- */

static int refuse(int err, const char *what, const char *why)
{
    trace(TRACE_ERROR, "broker", "%s: %s", what, why[0] != '\0' ? why : error_text(err));
    return err;
}

/* A partition needs descriptors; nobody should have to tune that (DESIGN 4.2). */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* How many connections there are descriptors for. */
static int32_t most_connections(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return INT32_MAX;
    return machine_connections(limit.rlim_cur, file_cache_default_limit());
}

static int open_net(struct broker *broker)
{
    const struct config *config = broker->config;
    struct net_config net_config = {
        .server = api_server(broker->api),
        .clock = broker->clock,
        .disk = disk_pool_executor(broker->pool),
        .loop_count = (unsigned)config->network_threads,
        .max_frame_bytes = config->socket_request_max_bytes,
        .memory_bytes = (uint64_t)config->queued_max_request_bytes,
        .idle_ms = config->connections_max_idle_ms,
        .limits = run_time_settings_limits(config, most_connections()),
        .backlog_size = config->listen_backlog_size,
        .sendfile_from_bytes = (size_t)config->sendfile_from_bytes,
        .send_buffer_bytes = config->socket_send_buffer_bytes,
        .receive_buffer_bytes = config->socket_receive_buffer_bytes,
    };
    int err = net_open(&broker->net, &net_config);
    return err == 0 ? 0 : refuse(err, "network", "");
}

static int open_listeners(struct broker *broker)
{
    const struct config *config = broker->config;
    for (unsigned i = 0; i < config->listener_count; i++) {
        const struct config_listener *listener = &config->listeners[i];
        char why[WHY_SIZE] = "";
        unsigned index;
        uint16_t port;
        int err = net_listen(broker->net, listener->host, listener->port, &index, &port, why,
                             sizeof why);
        if (err != 0) return refuse(err, listener->name, why);
        broker->listener_names[i] = listener->name;
        broker->endpoints[i] = (struct meta_endpoint){
            .listener = listener->name,
            .host = listener->advertised_host,
            .port = listener->advertised_port != 0 ? listener->advertised_port : port,
        };
        trace(TRACE_INFO, "broker", "listener %s on %s port %u tells clients %s:%u", listener->name,
              listener->host[0] == '\0' ? "every address" : listener->host, port,
              broker->endpoints[i].host, broker->endpoints[i].port);
    }
    return 0;
}

static int copy_topic_defaults(struct broker *broker)
{
    const struct config *config = broker->config;
    broker->topic_default_count = config->topic_default_count;
    broker->topic_defaults = mem_calloc(config->topic_default_count + 1u,
                                        sizeof *broker->topic_defaults);
    if (broker->topic_defaults == NULL) return ERR_NO_MEMORY;
    for (unsigned i = 0; i < config->topic_default_count; i++) {
        broker->topic_defaults[i].name = config->topic_defaults[2 * i];
        broker->topic_defaults[i].value = config->topic_defaults[2 * i + 1];
    }
    return 0;
}

/* Without the first folder there is no metadata, without any for partitions nothing to serve; otherwise the
 * others go on. */
static void folder_failed(void *context, struct data_dir *dir)
{
    const struct broker *broker = context;
    if (dir == broker->folders.all[0]) {
        trace(TRACE_ERROR, "broker", "the process ends: %s holds the metadata", data_dir_path(dir));
        _exit(EXIT_METADATA_FAILED);
    }
    for (unsigned i = 0; i < broker->folders.log_count; i++)
        if (!partition_set_folder_has_failed(broker->partitions, i)) return;
    trace(TRACE_ERROR, "broker", "the process ends: no folder of log.dirs can be written to");
    _exit(EXIT_METADATA_FAILED);
}

static int open_partitions(struct broker *broker)
{
    struct partition_set_options options = {
        .dirs = broker->folders.logs,
        .dir_count = broker->folders.log_count,
        .disk = disk_pool_executor(broker->pool),
        .clock = broker->clock,
        .loop = broker->loop,
        .flush_interval_ms = broker->config->flush_interval_ms,
        .unsynced_max_bytes = broker->config->unsynced_max_bytes,
        .checkpoint_interval_ms = broker->config->checkpoint_interval_ms,
        .folder_failed = folder_failed,
        .context = broker,
        .high_watermark_interval_ms = broker->config->high_watermark_interval_ms,
        .retention_interval_ms = broker->config->retention_check_interval_ms,
        .producer_expiration_ms = broker->config->producer_expiration_ms,
        .expiration_interval_ms = broker->config->producer_expiration_check_interval_ms,
        .cleaner = run_time_settings_cleaner(broker->config),
        .recovery_threads = (unsigned)broker->config->recovery_threads,
    };
    int err = partition_set_open(&broker->partitions, &options);
    return err == 0 ? 0 : refuse(err, "partitions", "");
}

static void metadata_is_ready(struct metadata_watch *watch);

static void settings_changed(struct metadata_watch *watch, const struct meta_view *view)
{
    struct broker *broker = LIST_OWNER(watch, struct broker, watch);
    struct run_time_settings settings = {
        .config = broker->config,
        .connections_max = most_connections(),
        .net = broker->net,
        .pool = broker->pool,
        .partitions = broker->partitions,
    };
    run_time_settings_apply(&settings, view);
}

static int open_meta(struct broker *broker)
{
    const struct config *config = broker->config;
    broker->watch.partitions = broker->partitions;
    broker->watch.node_id = config->node_id;
    broker->watch.topic_defaults = broker->topic_defaults;
    broker->watch.topic_default_count = broker->topic_default_count;
    broker->watch.loop = broker->loop;
    broker->watch.ready = metadata_is_ready;
    broker->watch.settings_changed = settings_changed;
    metadata_watch_init(&broker->watch);

    struct meta_quorum_options options = {
        .dir = broker->folders.all[0],
        .disk = disk_pool_executor(broker->pool),
        .clock = broker->clock,
        .node_id = config->node_id,
        .watcher = &broker->watch.watcher,
        .election_timeout_ms = config->election_timeout_ms,
        .heartbeat_ms = config->election_timeout_ms / HEARTBEATS_PER_ELECTION,
        .endpoints = broker->endpoints,
        .endpoint_count = config->listener_count,
        .rack = config->rack,
        .default_partitions = config->num_partitions,
        .default_replication_factor = (int16_t)config->default_replication_factor,
        .page_cache_survived = clean_start_page_cache_survived(broker->folders.all,
                                                               broker->folders.count),
        .snapshot_bytes = config->metadata_snapshot_bytes,
        .snapshot_interval_ms = config->metadata_snapshot_interval_ms,
    };
    char why[WHY_SIZE] = "";
    int err = meta_quorum_open(&broker->meta, &options, why, sizeof why);
    if (err != 0) return refuse(err, "metadata", why);
    err = producer_ids_open(&broker->producer_ids, broker->meta, broker->clock);
    if (err != 0) return refuse(err, "producer ids", "");
    err = fetch_sessions_open(
        &broker->fetch_sessions, (unsigned)broker->config->fetch_session_slots,
        (uint64_t)broker->config->queued_max_request_bytes / 4, broker->clock);
    return err == 0 ? 0 : refuse(err, "fetch sessions", "");
}

static int open_api(struct broker *broker)
{
    unsigned count = broker->config->listener_count;
    broker->listener_names = mem_calloc(count, sizeof *broker->listener_names);
    broker->endpoints = mem_calloc(count, sizeof *broker->endpoints);
    int err = copy_topic_defaults(broker);
    if (broker->listener_names == NULL || broker->endpoints == NULL) err = ERR_NO_MEMORY;
    if (err == 0) err = api_open(&broker->api);
    return err == 0 ? 0 : refuse(err, "handlers", "");
}

/* Everything that handlers use is there. */
static void complete_api(struct broker *broker)
{
    const struct config *config = broker->config;
    struct api_options options = {
        .meta = broker->meta,
        .partitions = broker->partitions,
        .producer_ids = broker->producer_ids,
        .fetch_sessions = broker->fetch_sessions,
        .clock = broker->clock,
        .disk = disk_pool_executor(broker->pool),
        .main_loop = broker->loop,
        .node_id = config->node_id,
        .listeners = broker->listener_names,
        .listener_count = config->listener_count,
        .auto_create_topics = config->auto_create_topics,
        .delete_topics = config->delete_topics,
        .fetch_max_bytes = config->fetch_max_bytes,
        .response_partitions_max = config->response_partitions_max,
        .waiting_fetch_bytes = (uint64_t)config->queued_max_request_bytes / 2,
        .topic_defaults = broker->topic_defaults,
        .topic_default_count = broker->topic_default_count,
        .broker_config = config_rows_config(broker->rows),
    };
    api_set_options(broker->api, &options);
    api_set_slow_limit(broker->api, config->log_slow_request_ms);
}

static void signal_came(struct signals *signals, int number)
{
    struct broker *broker = LIST_OWNER(signals, struct broker, signals);
    if (number == SIGHUP) {
        sd_notify_reloading();
        reload_now(&broker->reload);
        api_set_slow_limit(broker->api, reload_in_effect(&broker->reload)->log_slow_request_ms);
        if (broker->is_ready) sd_notify_ready();
        return;
    }
    broker->is_stopping = true;
    trace(TRACE_INFO, "broker", "stopping: signal %d", number);
    loop_stop(broker->loop);
}

static int watch_signals(struct broker *broker)
{
    signal(SIGPIPE, SIG_IGN);
    int err = signals_open(&broker->signals, broker->loop, signal_came);
    return err == 0 ? 0 : refuse(err, "signals", "");
}

/* It was told why. */
static void give_up(struct broker *broker, int err)
{
    broker->err = err;
    broker->is_stopping = true;
    loop_stop(broker->loop);
}

static void start_takes_too_long(struct startup_limit *limit)
{
    struct broker *broker = LIST_OWNER(limit, struct broker, startup_limit);
    if (!broker->is_stopping) give_up(broker, ERR_REQUEST_TIMED_OUT);
}

/* From here on no client can be told of a topic that is not there any more, or not yet (DESIGN 7.5).
 * Partitions may still be opening; each serves as soon as it is open. */
static void accept_clients(struct broker *broker)
{
    if (!startup_limit_end(&broker->startup_limit)) return;
    struct meta_view *view = meta_quorum_view(broker->meta);
    int err = clean_start_claim(broker->folders.all, broker->folders.count,
                                meta_view_cluster_id(view), broker->config->node_id);
    if (err != 0) {
        meta_view_unref(view);
        give_up(broker, err);
        return;
    }
    partition_set_sweep(broker->partitions);
    net_accept(broker->net);
    broker->is_ready = true;
    if (broker->admin != NULL) admin_set_ready(broker->admin);
    trace(TRACE_INFO, "broker",
          "ready: node %" PRId32 " of cluster %s, %u topics, %" PRIu64 " partitions, after %" PRId64
          " ms",
          broker->config->node_id, meta_view_cluster_id(view), meta_view_topic_count(view),
          meta_view_partition_count(view), startup_limit_ms(&broker->startup_limit));
    sd_notify_ready();
    meta_view_unref(view);
}

static void has_adopted(void *owner, int err)
{
    struct broker *broker = owner;
    if (broker->is_stopping) return;
    if (err != 0)
        give_up(broker, err);
    else
        accept_clients(broker);
}

/* The metadata has caught up. */
static void metadata_is_ready(struct metadata_watch *watch)
{
    struct broker *broker = LIST_OWNER(watch, struct broker, watch);
    if (broker->is_stopping) return;
    if (broker->adopt != NULL)
        adopt_start(broker->adopt);
    else
        accept_clients(broker);
}

static int open_adopt(struct broker *broker)
{
    struct adopt_options options = {
        .dirs = broker->folders.logs,
        .dir_count = broker->folders.log_count,
        .meta = broker->meta,
        .clock = broker->clock,
        .loop = broker->loop,
        .node_id = broker->config->node_id,
        .owner = broker,
        .done = has_adopted,
    };
    if (!broker->config->adopt) return 0;
    int err = adopt_open(&broker->adopt, &options);
    return err == 0 ? 0 : refuse(err, "--adopt", "");
}

int broker_open(struct broker **broker, const struct config *config)
{
    struct broker *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return refuse(ERR_NO_MEMORY, "broker", "");
    opened->config = config;
    opened->clock = clock_real();
    startup_limit_init(&opened->startup_limit, opened->clock, config->max_startup_ms,
                       start_takes_too_long);
    reload_init(&opened->reload, config);
    raise_descriptor_limit();
    *broker = opened; /* broker_close() takes down whatever is up. */

    int err = loop_open(&opened->loop, "sluice-main", opened->clock);
    if (err != 0) return refuse(err, "main loop", "");
    err = watch_signals(opened);
    if (err == 0) err = disk_pool_open(&opened->pool, (unsigned)config->io_threads);
    if (err == 0) err = open_api(opened);
    if (err == 0) err = open_net(opened);
    /* Before the data folders: a port that is taken must not cost them their clean marker. */
    if (err == 0) err = open_listeners(opened);
    if (err == 0) err = admin_port_open(&opened->admin, config, opened->clock);
    if (err == 0) err = config_rows_open(&opened->rows, config, opened->endpoints);
    if (err == 0) err = data_folders_open(&opened->folders, config);
    if (err == 0) err = open_partitions(opened);
    if (err == 0) err = open_meta(opened);
    if (err == 0) err = open_adopt(opened);
    if (err == 0) complete_api(opened);
    return err;
}

static int start_admin(struct broker *broker)
{
    struct admin_options options = {
        .main_loop = broker->loop,
        .sources = {
            .api = broker->api,
            .net = broker->net,
            .partitions = broker->partitions,
            .meta = broker->meta,
            .node_id = broker->config->node_id,
            .request_memory_bytes = (uint64_t)broker->config->queued_max_request_bytes,
            .series_max = (unsigned)broker->config->metrics_series_max,
        },
    };
    return broker->admin == NULL ? 0 : admin_start(broker->admin, &options);
}

int broker_run(struct broker *broker)
{
    startup_limit_watch(&broker->startup_limit, broker->loop);
    int err = net_start(broker->net);
    if (err == 0) err = meta_quorum_start(broker->meta);
    if (err == 0) err = start_admin(broker);
    if (err == 0) err = loop_run(broker->loop);
    if (err != 0) return refuse(err, "threads", "");
    return broker->err;
}

/* ---- closing ---- */

void broker_close(struct broker *broker)
{
    if (broker == NULL) return;
    broker->is_stopping = true;
    sd_notify_stopping();
    int64_t epoch = -1;
    if (broker->is_ready) {
        struct meta_view *view = meta_quorum_view(broker->meta);
        const struct meta_broker *self = meta_view_broker(view, broker->config->node_id);
        epoch = self == NULL ? -1 : self->incarnation;
        meta_view_unref(view);
    }
    admin_stop(broker->admin);
    partition_set_announce_stop(broker->partitions);
    net_close(broker->net); /* First: the calls that are under way still find all below. */
    meta_quorum_close(broker->meta);
    if (broker->loop != NULL) loop_turn(broker->loop); /* What the quorum's end told this loop. */
    api_close(broker->api);                            /* Its topics under way have ended now. */
    adopt_close(broker->adopt);
    fetch_sessions_close(broker->fetch_sessions);
    producer_ids_close(broker->producer_ids);
    partition_set_close(broker->partitions, epoch, broker->is_ready);
    disk_pool_close(broker->pool);
    if (broker->is_ready) data_folders_leave(&broker->folders, epoch);
    data_folders_close(&broker->folders);
    signals_close(&broker->signals);
    loop_close(broker->loop);
    admin_close(broker->admin); /* No loop has a question of it any more. */
    reload_close(&broker->reload);
    config_rows_close(broker->rows);
    mem_free(broker->topic_defaults);
    mem_free(broker->endpoints);
    mem_free(broker->listener_names);
    mem_free(broker);
}
