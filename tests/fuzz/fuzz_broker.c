// SPDX-License-Identifier: Apache-2.0
#include "fuzz_broker.h"

#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "alloc.h"
#include "clean_start.h"
#include "disk_pool.h"
#include "error.h"
#include "fetch_session.h"
#include "fuzz.h"
#include "net_state.h"
#include "run_time_settings.h"

#define NODE_ID         1
#define WHY_SIZE        512
#define LONGEST_WAIT_US 60000000
#define TOTAL_BYTES     ((int64_t)64 << 30)

static const char *const listeners[] = { "PLAINTEXT" };
static const struct meta_endpoint endpoint = { "PLAINTEXT", "localhost", 9092 };

static void require(int err, const char *what, const char *why)
{
    if (err == 0) return;
    fprintf(stderr, "%s: %s: %s %s\n", fuzz_name, what, error_name(err), why);
    abort();
}

/* ---- (4) ---- */

static _Thread_local uint32_t ids_given;
static _Thread_local bool is_callers_thread; /* Otherwise the quorum's, or the pool's. */

static struct uuid counted_id(char kind, uint32_t nth)
{
    struct uuid id = { { 0 } };
    id.bytes[0] = (uint8_t)kind;
    store_i32(id.bytes + 12, (int32_t)nth);
    return id;
}

struct uuid fuzz_topic_id(uint32_t nth)
{
    return counted_id('t', nth);
}

/* In place of uuid_random(), by the linker. */
int __wrap_uuid_random(struct uuid *uuid);
int __wrap_uuid_random(struct uuid *uuid)
{
    *uuid = counted_id(is_callers_thread ? 'c' : 't', ids_given++);
    return 0;
}

/* ---- (1) ---- */

/* One for all brokers of the program, of one thread. */
static struct disk_pool *pool(void)
{
    static struct disk_pool *pool;
    if (pool == NULL) require(disk_pool_open(&pool, 1), "disk pool", "");
    return pool;
}

static void submit(struct executor *executor, struct job *job)
{
    struct fuzz_broker *broker = LIST_OWNER(executor, struct fuzz_broker, disk);
    pthread_mutex_lock(&broker->lock);
    bool is_closing = broker->is_closing;
    if (!is_closing) list_push_back(&broker->jobs, &job->node);
    pthread_mutex_unlock(&broker->lock);
    if (is_closing) executor_submit(disk_pool_executor(pool()), job);
}

static struct job *next_job(struct fuzz_broker *broker)
{
    pthread_mutex_lock(&broker->lock);
    struct list *node = list_pop_front(&broker->jobs);
    pthread_mutex_unlock(&broker->lock);
    return node == NULL ? NULL : LIST_OWNER(node, struct job, node);
}

static struct net_loop *net_loop_of(const struct fuzz_broker *broker)
{
    return net_loop_at(broker->net, 0);
}

bool fuzz_broker_turn(struct fuzz_broker *broker)
{
    struct job *job;
    bool has_run = false;
    loop_turn(net_loop_base(net_loop_of(broker)));
    loop_turn(broker->loop);
    while (!broker->are_jobs_held && (job = next_job(broker)) != NULL) {
        has_run = true;
        job->run(job);
    }
    return has_run;
}

int64_t fuzz_now_us(void)
{
    return clock_monotonic_us(clock_real());
}

void fuzz_broker_wait(struct fuzz_broker *broker, int64_t since_us, const char *what)
{
    fuzz_promise(fuzz_now_us() - since_us < LONGEST_WAIT_US, what);
    struct pollfd loops[] = {
        { .fd = uv_backend_fd(loop_uv(net_loop_base(net_loop_of(broker)))), .events = POLLIN },
        { .fd = uv_backend_fd(loop_uv(broker->loop)), .events = POLLIN },
    };
    poll(loops, 2, 1);
}

unsigned fuzz_broker_open_calls(const struct fuzz_broker *broker)
{
    return net_loop_of(broker)->call_count + atomic_load(&broker->api->auto_creates);
}

/* ---- (3) ---- */

static int reserve_nothing(struct fs *fs, int fd, int64_t offset, int64_t length)
{
    (void)fs;
    (void)fd;
    (void)offset;
    (void)length;
    return 0;
}

static int always_the_same(struct fs *fs, const char *path, int64_t *free_bytes,
                           int64_t *total_bytes)
{
    (void)fs;
    (void)path;
    *free_bytes = TOTAL_BYTES / 2;
    *total_bytes = TOTAL_BYTES;
    return 0;
}

/* In memory if there is such a file system, and room in it: a container's has 64 MiB, too few for two of these
 * processes. */
static const char *within(void)
{
    struct statvfs shm;
    bool has_room = access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &shm) == 0 &&
                    (uint64_t)shm.f_bavail * shm.f_frsize >= (uint64_t)1 << 30;
    return has_room ? "/dev/shm" : "/tmp";
}

/* Named once: the room changes. */
static const char *folder(void)
{
    static char path[128];
    if (path[0] == '\0') snprintf(path, sizeof path, "%s/sluice-fuzz-%d", within(), (int)getpid());
    return path;
}

static void open_folders(struct fuzz_broker *broker, const struct fuzz_broker_options *options)
{
    fs_remove_tree(fs_posix(), folder());
    require(fs_posix()->make_folder(fs_posix(), folder()), folder(), "");
    for (unsigned i = 0; i < FUZZ_BROKER_FOLDERS; i++) {
        char path[PATH_MAX], why[WHY_SIZE] = "";
        struct fs_fault *disk = &broker->disks[i];
        fs_fault_init(disk);
        disk->fs.reserve = reserve_nothing;
        disk->fs.free_bytes = always_the_same;
        disk->nothing_cached = options->is_cold;
        snprintf(path, sizeof path, "%s/%u", folder(), i);
        require(data_dir_open(&broker->dirs[i], &disk->fs, path, why, sizeof why), path, why);
        require(data_dir_begin(broker->dirs[i]), path, "");
    }
}

static void folder_failed(void *context, struct data_dir *dir)
{
    const struct fuzz_broker *broker = context;
    fuzz_promise(dir != broker->dirs[0], "a folder that can be written to has not failed");
}

/* ---- up ---- */

/* What an operator has who says nothing, but for the folders; read once. */
static const struct config *config(void)
{
    static struct config read;
    static char program[] = "sluiced", set[] = "--set", log_dirs[300];
    char *arguments[] = { program, set, log_dirs, NULL };
    char *environment[] = { NULL }, why[WHY_SIZE] = "";
    enum config_action action;
    if (read.log_dirs != NULL) return &read;
    snprintf(log_dirs, sizeof log_dirs, "log.dirs=%s/0,%s/1", folder(), folder());
    require(config_load(&read, 3, arguments, environment, &action, why, sizeof why), "config", why);
    return &read;
}

static void open_net(struct fuzz_broker *broker, const struct fuzz_broker_options *options)
{
    struct net_config net_config = {
        .server = api_server(broker->api),
        .clock = &broker->clock.clock,
        .disk = &broker->disk,
        .loop_count = 1,
        .max_frame_bytes = broker->config.socket_request_max_bytes,
        .memory_bytes = (uint64_t)broker->config.queued_max_request_bytes,
        .idle_ms = -1,
        .limits = run_time_settings_limits(&broker->config, INT32_MAX),
        .backlog_size = broker->config.listen_backlog_size,
        .sendfile_from_bytes = 4096,
        .send_buffer_bytes = -1,
        .receive_buffer_bytes = -1,
        .transport = fuzz_transport(options->transport, options->seed),
    };
    require(net_open(&broker->net, &net_config), "network", "");
}

static void open_partitions(struct fuzz_broker *broker)
{
    const struct config *config = &broker->config;
    struct partition_set_options options = {
        .dirs = broker->dirs,
        .dir_count = FUZZ_BROKER_FOLDERS,
        .disk = &broker->disk,
        .clock = &broker->clock.clock,
        .loop = broker->loop,
        .flush_interval_ms = config->flush_interval_ms,
        .unsynced_max_bytes = config->unsynced_max_bytes,
        .checkpoint_interval_ms = config->checkpoint_interval_ms,
        .folder_failed = folder_failed,
        .context = broker,
        .high_watermark_interval_ms = config->high_watermark_interval_ms,
        .retention_interval_ms = config->retention_check_interval_ms,
        .producer_expiration_ms = config->producer_expiration_ms,
        .expiration_interval_ms = config->producer_expiration_check_interval_ms,
        .cleaner = run_time_settings_cleaner(config),
    };
    require(partition_set_open(&broker->partitions, &options), "partitions", "");
}

static void is_ready(struct metadata_watch *watch)
{
    LIST_OWNER(watch, struct fuzz_broker, watch)->is_ready = true;
}

static void settings_changed(struct metadata_watch *watch, const struct meta_view *view)
{
    struct fuzz_broker *broker = LIST_OWNER(watch, struct fuzz_broker, watch);
    struct run_time_settings settings = {
        .config = &broker->config,
        .connections_max = INT32_MAX,
        .net = broker->net,
        .pool = pool(),
        .partitions = broker->partitions,
    };
    run_time_settings_apply(&settings, view);
}

static void fatal(struct meta_watcher *watcher, int err, const char *sentence)
{
    (void)watcher;
    fprintf(stderr, "%s: %s (%s)\n", fuzz_name, sentence, error_name(err));
    fuzz_promise(false, "no request ends the quorum");
}

static void open_meta(struct fuzz_broker *broker)
{
    const struct config *config = &broker->config;
    struct meta_quorum_options options = {
        .dir = broker->dirs[0],
        .disk = disk_pool_executor(pool()),
        .clock = &broker->clock.clock,
        .node_id = NODE_ID,
        .watcher = &broker->watch.watcher,
        .election_timeout_ms = config->election_timeout_ms,
        .heartbeat_ms = config->election_timeout_ms / 10,
        .endpoints = &endpoint,
        .endpoint_count = 1,
        .default_partitions = config->num_partitions,
        .default_replication_factor = (int16_t)config->default_replication_factor,
        .page_cache_survived = true,
        .snapshot_bytes = config->metadata_snapshot_bytes,
        .snapshot_interval_ms = config->metadata_snapshot_interval_ms,
    };
    char why[WHY_SIZE] = "";
    broker->watch.partitions = broker->partitions;
    broker->watch.node_id = NODE_ID;
    broker->watch.topic_defaults = broker->topic_defaults;
    broker->watch.topic_default_count = config->topic_default_count;
    broker->watch.loop = broker->loop;
    broker->watch.ready = is_ready;
    broker->watch.settings_changed = settings_changed;
    metadata_watch_init(&broker->watch);
    broker->watch.watcher.fatal = fatal;
    require(meta_quorum_open(&broker->meta, &options, why, sizeof why), "metadata", why);
    require(producer_ids_open(&broker->producer_ids, broker->meta, &broker->clock.clock), "ids",
            "");
    require(fetch_sessions_open(&broker->sessions, (unsigned)config->fetch_session_slots,
                                (uint64_t)config->queued_max_request_bytes / 4,
                                &broker->clock.clock),
            "fetch sessions", "");
}

static void copy_topic_defaults(struct fuzz_broker *broker)
{
    const struct config *config = &broker->config;
    broker->topic_defaults = mem_calloc(config->topic_default_count + 1u,
                                        sizeof *broker->topic_defaults);
    if (broker->topic_defaults == NULL) abort();
    for (unsigned i = 0; i < config->topic_default_count; i++) {
        broker->topic_defaults[i].name = config->topic_defaults[2 * i];
        broker->topic_defaults[i].value = config->topic_defaults[2 * i + 1];
    }
}

static void complete_api(struct fuzz_broker *broker)
{
    const struct config *config = &broker->config;
    struct api_options options = {
        .meta = broker->meta,
        .partitions = broker->partitions,
        .producer_ids = broker->producer_ids,
        .fetch_sessions = broker->sessions,
        .clock = &broker->clock.clock,
        .disk = &broker->disk,
        .main_loop = broker->loop,
        .node_id = NODE_ID,
        .listeners = listeners,
        .listener_count = 1,
        .auto_create_topics = true,
        .delete_topics = true,
        .fetch_max_bytes = config->fetch_max_bytes,
        .response_partitions_max = config->response_partitions_max,
        .waiting_fetch_bytes = (uint64_t)config->queued_max_request_bytes / 2,
        .topic_defaults = broker->topic_defaults,
        .topic_default_count = config->topic_default_count,
        .broker_config = config_rows_config(broker->rows),
    };
    api_set_options(broker->api, &options);
}

static void start(struct fuzz_broker *broker)
{
    require(meta_quorum_start(broker->meta), "metadata", "");
    int64_t since_us = fuzz_now_us();
    while (!broker->is_ready) {
        fuzz_broker_wait(broker, since_us, "the quorum begins");
        fuzz_broker_turn(broker);
    }
    partition_set_sweep(broker->partitions);
}

void fuzz_broker_open(struct fuzz_broker *broker, const struct fuzz_broker_options *options)
{
    memset(broker, 0, sizeof *broker);
    is_callers_thread = true;
    ids_given = 0;
    broker->config = *config();
    broker->config.queued_max_request_bytes = options->memory_bytes;
    broker->config.fetch_session_slots = options->session_slots;
    broker->config.fetch_max_bytes = FUZZ_FETCH_BYTES_MAX;
    broker->config.cleaner_enable = false; /* No thread but the ones that are waited for. */
    broker->config.io_threads = 1;
    broker->config.num_partitions = 2;
    clock_manual_init(&broker->clock, FUZZ_NOW_MS);
    pthread_mutex_init(&broker->lock, NULL);
    list_init(&broker->jobs);
    broker->disk.submit = submit;
    copy_topic_defaults(broker);
    require(loop_open(&broker->loop, "main", &broker->clock.clock), "loop", "");
    require(api_open(&broker->api), "handlers", "");
    open_net(broker, options);
    require(config_rows_open(&broker->rows, &broker->config, &endpoint), "config", "");
    open_folders(broker, options);
    open_partitions(broker);
    open_meta(broker);
    complete_api(broker);
    start(broker);
    struct fs_fault *disk = &broker->disks[1];
    disk->only_writes = true;
    disk->keeps_failing = true;
    if (options->disk_fails_at > 0)
        fs_fault_fail_at(disk, options->disk_fails_at, options->disk_error);
}

/* ---- down ---- */

/* Those who left had perhaps asked for something before. */
static void check_nothing_is_left(struct fuzz_broker *broker)
{
    struct net_stats stats;
    int64_t since_us = fuzz_now_us();
    do {
        if (!fuzz_broker_turn(broker))
            fuzz_broker_wait(broker, since_us, "every connection and every call ends");
        net_stats(broker->net, &stats);
    } while (stats.connections_open > 0 || fuzz_broker_open_calls(broker) > 0);
    fuzz_promise(stats.memory_reserved == 0 && stats.memory_waiting == 0,
                 "no memory is left of requests when the clients have gone");
    fuzz_promise(broker->api->loops[0].waiting_bytes == 0, "nor of fetches that waited");
    fuzz_promise(list_is_empty(&broker->api->loops[0].pending_calls), "nor a produce");
}

static void let_jobs_run_elsewhere(struct fuzz_broker *broker)
{
    struct job *job;
    pthread_mutex_lock(&broker->lock);
    broker->is_closing = true;
    pthread_mutex_unlock(&broker->lock);
    while ((job = next_job(broker)) != NULL)
        executor_submit(disk_pool_executor(pool()), job);
}

struct barrier {
    struct job job;
    sem_t passed;
};

static void run_barrier(struct job *job)
{
    sem_post(&LIST_OWNER(job, struct barrier, job)->passed);
}

/* A partition is closed before the job that closes it has ended: that still gives its reference up, through
 * the broker's executor, which goes with the broker. The pool has one thread, so what is behind that job runs
 * after it. */
static void wait_for_last_job(void)
{
    struct barrier barrier;
    sem_init(&barrier.passed, 0, 0);
    job_init(&barrier.job, run_barrier);
    executor_submit(disk_pool_executor(pool()), &barrier.job);
    while (sem_wait(&barrier.passed) != 0)
        continue;
    sem_destroy(&barrier.passed);
}

void fuzz_broker_close(struct fuzz_broker *broker)
{
    check_nothing_is_left(broker);
    let_jobs_run_elsewhere(broker);
    partition_set_announce_stop(broker->partitions);
    net_close(broker->net);
    meta_quorum_close(broker->meta);
    loop_turn(broker->loop);
    api_close(broker->api);
    fetch_sessions_close(broker->sessions);
    producer_ids_close(broker->producer_ids);
    partition_set_close(broker->partitions, 1, true);
    wait_for_last_job();
    for (unsigned i = 0; i < FUZZ_BROKER_FOLDERS; i++) {
        data_dir_close(broker->dirs[i]);
        fuzz_promise(atomic_load(&broker->disks[i].open_files) == 0, "every file is closed");
    }
    loop_close(broker->loop);
    config_rows_close(broker->rows);
    mem_free(broker->topic_defaults);
    pthread_mutex_destroy(&broker->lock);
    fs_remove_tree(fs_posix(), folder());
}
