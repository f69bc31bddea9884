// SPDX-License-Identifier: Apache-2.0
/* Sizes come from memory, but how full a disk is only the disk says: so all of it is done on the pool. */

#include <stdlib.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "handlers.h"

struct usage {
    unsigned folder;
    struct str topic; /* In the call's arena: the partition may be gone by then. */
    int32_t index;
    int64_t size_bytes, lag;
};

struct log_dirs_call {
    struct call *call;
    struct api_loop *loop;
    struct job job;
    struct message described;
    struct partition **wanted; /* Each with a reference; NULL: all that there are. */
    size_t wanted_count;
    struct usage *usages; /* From mem_alloc. */
    size_t usage_count, usage_capacity;
    struct describe_log_dirs_response response;
    int err;
};

/* ---- on the pool ---- */

static int find_folder(const struct log_dirs_call *dirs, const struct data_dir *dir,
                       unsigned *folder)
{
    struct partition_set *set = dirs->loop->api->options.partitions;
    for (unsigned i = 0; i < partition_set_folder_count(set); i++) {
        if (partition_set_folder(set, i) != dir) continue;
        *folder = i;
        return 0;
    }
    return ERR_NOT_FOUND;
}

static int reserve_usage(struct log_dirs_call *dirs)
{
    if (dirs->usage_count < dirs->usage_capacity) return 0;
    size_t capacity = dirs->usage_capacity == 0 ? 64 : dirs->usage_capacity * 2;
    struct usage *usages = mem_realloc(dirs->usages, capacity * sizeof *usages);
    if (usages == NULL) return ERR_NO_MEMORY;
    dirs->usages = usages;
    dirs->usage_capacity = capacity;
    return 0;
}

/* A partition whose log is not open takes no place in the answer. */
static void measure(void *context, struct partition *partition)
{
    struct log_dirs_call *dirs = context;
    struct usage usage = { .index = partition->index };
    if (dirs->err != 0 || !partition_measure(partition, &usage.size_bytes, &usage.lag) ||
        find_folder(dirs, partition->dir, &usage.folder) != 0)
        return;
    dirs->err = reserve_usage(dirs);
    if (dirs->err == 0)
        dirs->err = arena_str(&dirs->call->arena, str_from(partition->topic), &usage.topic);
    if (dirs->err == 0) dirs->usages[dirs->usage_count++] = usage;
}

static int compare_usages(const void *a, const void *b)
{
    const struct usage *left = a, *right = b;
    if (left->folder != right->folder) return left->folder < right->folder ? -1 : 1;
    int order = strcmp(left->topic.data, right->topic.data);
    if (order != 0) return order;
    return (left->index > right->index) - (left->index < right->index);
}

/* How many from `first` on are in the same folder, or (with `by_topic`) of the same topic there too. */
static size_t run_length(const struct log_dirs_call *dirs, size_t first, bool by_topic)
{
    const struct usage *usages = dirs->usages;
    size_t length = 1;
    while (first + length < dirs->usage_count &&
           usages[first + length].folder == usages[first].folder &&
           (!by_topic || str_equal(usages[first + length].topic, usages[first].topic)))
        length++;
    return length;
}

static int describe_topic(struct log_dirs_call *dirs, size_t first, size_t count,
                          struct describe_log_dirs_response_topic *to)
{
    to->name = dirs->usages[first].topic;
    to->partitions.items = arena_calloc(&dirs->call->arena, count, sizeof to->partitions.items[0]);
    if (to->partitions.items == NULL) return ERR_NO_MEMORY;
    for (size_t i = first; i < first + count; i++) {
        const struct usage *usage = &dirs->usages[i];
        if (i > first && usage->index == usage[-1].index) continue; /* Named twice. */
        to->partitions.items[to->partitions.count++] =
            (struct describe_log_dirs_response_partition){
                .partition_index = usage->index,
                .partition_size = usage->size_bytes,
                .offset_lag = usage->lag,
            };
    }
    return 0;
}

static int describe_topics(struct log_dirs_call *dirs, size_t first, size_t count,
                           struct describe_log_dirs_response_result *to)
{
    size_t topics = 0, length;
    for (size_t i = first; i < first + count; i += run_length(dirs, i, true))
        topics++;
    to->topics.items = arena_calloc(&dirs->call->arena, topics + 1, sizeof to->topics.items[0]);
    if (to->topics.items == NULL) return ERR_NO_MEMORY;
    int err = 0;
    for (size_t i = first; err == 0 && i < first + count; i += length) {
        length = run_length(dirs, i, true);
        err = describe_topic(dirs, i, length, &to->topics.items[to->topics.count++]);
    }
    return err;
}

/* Kafka tells absolute paths, whatever log.dirs says. */
static struct str absolute_path(struct arena *arena, const char *path)
{
    char here[4096];
    if (path[0] == '/' || getcwd(here, sizeof here) == NULL) return str_from(path);
    return str_from(arena_printf(arena, "%s/%s", here, path));
}

static int describe_folder(struct log_dirs_call *dirs, unsigned folder, size_t *next,
                           struct describe_log_dirs_response_result *to)
{
    struct partition_set *set = dirs->loop->api->options.partitions;
    struct data_dir *dir = partition_set_folder(set, folder);
    struct fs *fs = data_dir_fs(dir);
    size_t first = *next, count = 0;
    if (first < dirs->usage_count && dirs->usages[first].folder == folder)
        count = run_length(dirs, first, false);
    *next += count;
    to->log_dir = absolute_path(&dirs->call->arena, data_dir_path(dir));
    if (str_is_null(to->log_dir)) return ERR_NO_MEMORY;
    to->total_bytes = to->usable_bytes = -1;
    int64_t usable, total;
    if (partition_set_folder_has_failed(set, folder) ||
        fs->free_bytes(fs, data_dir_path(dir), &usable, &total) != 0) {
        to->error_code = error_kafka_code(ERR_KAFKA_STORAGE_ERROR);
        return 0;
    }
    to->total_bytes = total;
    to->usable_bytes = usable;
    return describe_topics(dirs, first, count, to);
}

static void describe_on_pool(struct job *job)
{
    struct log_dirs_call *dirs = LIST_OWNER(job, struct log_dirs_call, job);
    struct partition_set *set = dirs->loop->api->options.partitions;
    if (dirs->wanted == NULL) {
        int err = partition_set_visit(set, measure, dirs);
        if (dirs->err == 0) dirs->err = err;
    }
    for (size_t i = 0; i < dirs->wanted_count; i++) {
        measure(dirs, dirs->wanted[i]);
        partition_unref(dirs->wanted[i]);
    }
    if (dirs->usage_count > 1)
        qsort(dirs->usages, dirs->usage_count, sizeof *dirs->usages, compare_usages);
    unsigned folders = partition_set_folder_count(set);
    struct describe_log_dirs_response_result *results = arena_calloc(&dirs->call->arena, folders,
                                                                     sizeof *results);
    size_t next = 0;
    if (results == NULL) dirs->err = ERR_NO_MEMORY;
    for (unsigned i = 0; dirs->err == 0 && i < folders; i++)
        dirs->err = describe_folder(dirs, i, &next, &results[i]);
    dirs->response.results.items = results;
    dirs->response.results.count = (int32_t)folders;
    loop_post(dirs->loop->loop, &dirs->described);
}

/* ---- on the loop ---- */

static void described(struct message *message)
{
    struct log_dirs_call *dirs = LIST_OWNER(message, struct log_dirs_call, described);
    mem_free(dirs->usages);
    if (dirs->err != 0)
        call_refuse(dirs->call, error_text(dirs->err));
    else
        api_reply(dirs->call, &describe_log_dirs_response_shape, &dirs->response);
}

/* What is not here is left out of the answer. 0 or ERR_NO_MEMORY. */
static int find_wanted(struct log_dirs_call *dirs, const struct describe_log_dirs_request *request)
{
    size_t most = 0;
    for (int32_t i = 0; i < request->topics.count; i++)
        most += (size_t)request->topics.items[i].partitions.count;
    dirs->wanted = arena_calloc(&dirs->call->arena, most + 1, sizeof(struct partition *));
    if (dirs->wanted == NULL) return ERR_NO_MEMORY;
    for (int32_t i = 0; i < request->topics.count; i++) {
        const struct describe_log_dirs_request_topic *wanted = &request->topics.items[i];
        const struct meta_topic *topic = meta_view_topic(dirs->loop->view, wanted->topic);
        for (int32_t k = 0; topic != NULL && k < wanted->partitions.count; k++) {
            struct api_partition *known = api_find_partition(dirs->loop, &topic->id,
                                                             wanted->partitions.items[k]);
            if (known != NULL) dirs->wanted[dirs->wanted_count++] = partition_ref(known->partition);
        }
    }
    return 0;
}

void handle_describe_log_dirs(struct api_loop *loop, struct call *call,
                              struct describe_log_dirs_request *request)
{
    struct log_dirs_call *dirs = call_alloc(call, 1, sizeof *dirs);
    if (dirs == NULL) return;
    dirs->call = call;
    dirs->loop = loop;
    job_init(&dirs->job, describe_on_pool);
    message_init(&dirs->described, described);
    message_defaults(&describe_log_dirs_response_shape, &dirs->response);
    if (request->topics.count >= 0 && find_wanted(dirs, request) != 0)
        call_refuse(call, error_text(ERR_NO_MEMORY));
    else
        executor_submit(loop->api->options.disk, &dirs->job);
}
