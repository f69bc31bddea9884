// SPDX-License-Identifier: Apache-2.0
#include "metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "metrics_text.h"
#include "process.h"
#include "trace.h"

static const struct metrics_labels no_labels = { 0 };

static struct metrics_labels one_label(const char *name, const char *value)
{
    return (struct metrics_labels){ .name = name, .value = value };
}

static void print_one(struct buffer *out, const char *name, const char *type, uint64_t value,
                      const char *help)
{
    metrics_family(out, name, type, help);
    metrics_u64(out, name, no_labels, value);
}

/* ---- the process ---- */

static uint64_t resident_bytes(void)
{
    int64_t bytes = process_resident_bytes(getpid());
    return bytes < 0 ? 0 : (uint64_t)bytes;
}

static uint64_t open_descriptors(void)
{
    uint64_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) return 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count < 3 ? 0 : count - 3; /* Without "." and "..", and without the folder itself. */
}

/* Names that Prometheus' own clients use, too. */
static void print_process(struct buffer *out)
{
    struct rusage usage;
    struct rlimit limit;
    metrics_family(out, "process_cpu_seconds_total", "counter", "CPU time, of user and system.");
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        metrics_seconds(out, "process_cpu_seconds_total", no_labels,
                        (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                            (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
    print_one(out, "process_resident_memory_bytes", "gauge", resident_bytes(),
              "Memory that is in RAM.");
    print_one(out, "process_open_fds", "gauge", open_descriptors(), "Open descriptors.");
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        print_one(out, "process_max_fds", "gauge", limit.rlim_cur, "Descriptors that may be open.");
    metrics_family(out, "sluice_build_info", "gauge", "1, with the version.");
    metrics_u64(out, "sluice_build_info", one_label("version", PACKAGE_VERSION), 1);
    print_one(out, "sluice_trace_lines_lost_total", "counter", trace_lines_lost(),
              "Lines about the broker that could not be written.");
}

/* ---- requests ---- */

static void print_requests(struct buffer *out, const struct api *api)
{
    struct api_stats stats;
    metrics_family(out, "sluice_request_seconds", "histogram",
                   "From a request's arrival until its reply is ready, by API. A fetch that waits "
                   "for records counts with its wait.");
    for (unsigned kind = 0; kind < REQUEST_KINDS; kind++) {
        api_stats(api, kind, &stats);
        metrics_histogram(out, "sluice_request_seconds", one_label("api", stats.name),
                          &stats.durations);
    }
    metrics_family(out, "sluice_requests_refused_total", "counter",
                   "Requests whose connection was closed instead of an answer, by API.");
    for (unsigned kind = 0; kind < REQUEST_KINDS; kind++) {
        api_stats(api, kind, &stats);
        metrics_u64(out, "sluice_requests_refused_total", one_label("api", stats.name),
                    stats.refused);
    }
}

/* ---- loops and connections ---- */

static void print_loops(struct buffer *out, struct net *net, const char *name, const char *type,
                        size_t field, const char *help)
{
    metrics_family(out, name, type, help);
    for (unsigned i = 0; i < net_loop_count(net); i++) {
        struct net_loop_stats stats;
        char number[12];
        net_loop_stats(net_loop_at(net, i), &stats);
        snprintf(number, sizeof number, "%u", i);
        const uint64_t *value = (const void *)((const char *)&stats + field);
        metrics_u64(out, name, one_label("loop", number), *value);
    }
}

static void print_net(struct buffer *out, const struct metrics_sources *sources)
{
    struct net *net = sources->net;
    struct net_stats stats;
    net_stats(net, &stats);
    print_loops(out, net, "sluice_loop_connections", "gauge",
                offsetof(struct net_loop_stats, connections_open), "Open connections.");
    print_loops(out, net, "sluice_loop_requests_total", "counter",
                offsetof(struct net_loop_stats, frames), "Requests that came.");
    print_loops(out, net, "sluice_loop_received_bytes_total", "counter",
                offsetof(struct net_loop_stats, bytes_in), "Bytes from clients.");
    print_loops(out, net, "sluice_loop_sent_bytes_total", "counter",
                offsetof(struct net_loop_stats, bytes_out), "Bytes to clients.");
    print_one(out, "sluice_connections_accepted_total", "counter", stats.connections_accepted,
              "Connections that were accepted.");
    print_one(out, "sluice_connections_refused_total", "counter", stats.connections_refused,
              "Connections that were closed at once: max.connections and its like.");
    print_one(out, "sluice_request_memory_bytes", "gauge", stats.memory_reserved,
              "Memory of requests that are being read or answered.");
    print_one(out, "sluice_request_memory_waiting_bytes", "gauge", stats.memory_waiting,
              "Memory that requests wait for.");
    print_one(out, "sluice_request_memory_max_bytes", "gauge", sources->request_memory_bytes,
              "What requests may take: queued.max.request.bytes.");
}

/* ---- logs and folders ---- */

static const char *const states[] = {
    [PARTITION_OPENING] = "opening",
    [PARTITION_SERVING] = "serving",
    [PARTITION_OFFLINE] = "offline",
    [PARTITION_GONE] = "gone",
};

static void count_state(void *context, struct partition *partition)
{
    uint64_t *counts = context;
    struct partition_stats stats;
    partition_stats(partition, &stats);
    counts[stats.state]++;
}

static void print_states(struct buffer *out, struct partition_set *partitions)
{
    uint64_t counts[sizeof states / sizeof states[0]] = { 0 };
    if (partition_set_visit(partitions, count_state, counts) != 0) {
        out->failed = true;
        return;
    }
    metrics_family(out, "sluice_logs", "gauge",
                   "Logs on this node: being opened, serving, or offline since their disk failed.");
    for (unsigned i = 0; i < PARTITION_GONE; i++)
        metrics_u64(out, "sluice_logs", one_label("state", states[i]), counts[i]);
}

struct folder_stats {
    bool has_failed, has_room;
    int64_t free_bytes, total_bytes; /* -1: not known. */
};

static void look_at_folder(struct partition_set *partitions, unsigned index,
                           struct folder_stats *stats)
{
    struct data_dir *dir = partition_set_folder(partitions, index);
    struct fs *fs = data_dir_fs(dir);
    *stats = (struct folder_stats){ .free_bytes = -1, .total_bytes = -1 };
    stats->has_failed = partition_set_folder_has_failed(partitions, index);
    if (stats->has_failed) return;
    stats->has_room = data_dir_has_room(dir, 1);
    if (fs->free_bytes(fs, data_dir_path(dir), &stats->free_bytes, &stats->total_bytes) != 0)
        stats->free_bytes = stats->total_bytes = -1;
}

static void print_folder_values(struct buffer *out, struct partition_set *partitions,
                                const char *name, const char *help,
                                int64_t (*value)(const struct folder_stats *stats))
{
    metrics_family(out, name, "gauge", help);
    for (unsigned i = 0; i < partition_set_folder_count(partitions); i++) {
        struct folder_stats stats;
        look_at_folder(partitions, i, &stats);
        int64_t number = value(&stats);
        const char *path = data_dir_path(partition_set_folder(partitions, i));
        if (number >= 0) metrics_i64(out, name, one_label("folder", path), number);
    }
}

static int64_t failed_of(const struct folder_stats *stats)
{
    return stats->has_failed;
}

static int64_t room_of(const struct folder_stats *stats)
{
    return stats->has_room;
}

static int64_t free_of(const struct folder_stats *stats)
{
    return stats->free_bytes;
}

static int64_t total_of(const struct folder_stats *stats)
{
    return stats->total_bytes;
}

static void print_folders(struct buffer *out, struct partition_set *partitions)
{
    print_folder_values(out, partitions, "sluice_folder_failed",
                        "1: the data folder could not be written to; its logs are offline.",
                        failed_of);
    print_folder_values(out, partitions, "sluice_folder_has_room",
                        "0: producers are refused until there is space again.", room_of);
    print_folder_values(out, partitions, "sluice_folder_free_bytes",
                        "Free space of its file system.", free_of);
    print_folder_values(out, partitions, "sluice_folder_size_bytes", "Size of its file system.",
                        total_of);
}

/* ---- the quorum ---- */

static void print_quorum(struct buffer *out, const struct metrics_sources *sources,
                         const struct meta_view *view)
{
    int32_t leader = meta_view_controller(view);
    metrics_family(out, "sluice_quorum_leader_id", "gauge",
                   "Node that leads the quorum; -1: none.");
    metrics_i64(out, "sluice_quorum_leader_id", no_labels, leader);
    print_one(out, "sluice_quorum_is_leader", "gauge", leader == sources->node_id,
              "1: this node leads.");
    print_one(out, "sluice_quorum_applied_index", "counter", (uint64_t)meta_view_index(view),
              "How far this node has applied the metadata.");
    print_one(out, "sluice_brokers", "gauge", meta_view_broker_count(view), "Registered brokers.");
    print_one(out, "sluice_topics", "gauge", meta_view_topic_count(view), "Topics there are.");
    print_one(out, "sluice_partitions", "gauge", meta_view_partition_count(view),
              "Partitions of all topics.");
}

void metrics_print(struct buffer *out, const struct metrics_sources *sources, bool is_ready)
{
    struct meta_view *view = meta_quorum_view(sources->meta);
    print_process(out);
    print_one(out, "sluice_ready", "gauge", is_ready, "1: as /health/ready says.");
    print_requests(out, sources->api);
    print_net(out, sources);
    print_states(out, sources->partitions);
    print_folders(out, sources->partitions);
    print_quorum(out, sources, view);
    metrics_print_topics(out, sources, view);
    meta_view_unref(view);
}
