// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "quorum_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fs.h"

static const struct meta_endpoint endpoint = { "PLAINTEXT", "localhost", 9092 };

const char *node_path(void)
{
    static char paths[16][512];
    static unsigned number;
    char *path = paths[number % 16];
    snprintf(path, sizeof paths[0], "%s/node-%u", test_folder(), number++);
    return path;
}

/* ---- watcher ---- */

static struct node *node_of(struct meta_watcher *watcher)
{
    return (struct node *)(void *)((char *)watcher - offsetof(struct node, watcher));
}

static void watch_changed(struct meta_watcher *watcher, struct meta_view *view,
                          const struct meta_change *changes, unsigned change_count)
{
    struct node *node = node_of(watcher);
    pthread_mutex_lock(&node->lock);
    node->calls++;
    node->told_index = meta_view_index(view);
    for (unsigned i = 0; i < change_count; i++) {
        if (changes[i].before == NULL)
            node->created++;
        else if (changes[i].after == NULL)
            node->deleted++;
        else
            node->changed++;
    }
    pthread_mutex_unlock(&node->lock);
}

static void watch_was_deleted(struct meta_watcher *watcher, const struct meta_topic *topic)
{
    struct node *node = node_of(watcher);
    pthread_mutex_lock(&node->lock);
    node->were_deleted++;
    snprintf(node->last_deleted, sizeof node->last_deleted, "%s", topic->name);
    pthread_mutex_unlock(&node->lock);
}

static void watch_settings_changed(struct meta_watcher *watcher, struct meta_view *view)
{
    struct node *node = node_of(watcher);
    const struct meta_broker_settings *all = meta_view_broker_settings(view, META_EVERY_BROKER);
    pthread_mutex_lock(&node->lock);
    node->settings_told++;
    node->setting_count = all == NULL ? 0 : all->count;
    pthread_mutex_unlock(&node->lock);
}

static void watch_ready(struct meta_watcher *watcher)
{
    struct node *node = node_of(watcher);
    pthread_mutex_lock(&node->lock);
    node->is_ready = true;
    pthread_cond_broadcast(&node->moved);
    pthread_mutex_unlock(&node->lock);
}

static void watch_fatal(struct meta_watcher *watcher, int err, const char *sentence)
{
    struct node *node = node_of(watcher);
    if (!node->expects_end) {
        fprintf(stderr, "fatal: %s: %s\n", error_name(err), sentence);
        abort();
    }
    pthread_mutex_lock(&node->lock);
    node->has_ended = true;
    pthread_cond_broadcast(&node->moved);
    pthread_mutex_unlock(&node->lock);
}

/* ---- node ---- */

int64_t node_snapshot_bytes;

int node_open(struct node *node, const char *path, int32_t node_id, bool page_cache_survived)
{
    return node_open_on(node, fs_posix(), path, node_id, page_cache_survived);
}

int node_open_on(struct node *node, struct fs *fs, const char *path, int32_t node_id,
                 bool page_cache_survived)
{
    memset(node, 0, sizeof *node);
    pthread_mutex_init(&node->lock, NULL);
    pthread_cond_init(&node->moved, NULL);
    assert_int_equal(data_dir_open(&node->dir, fs, path, node->why, sizeof node->why), 0);
    assert_int_equal(disk_pool_open(&node->pool, 2), 0);
    assert_int_equal(loop_open(&node->loop, "asks", clock_real()), 0);
    assert_int_equal(loop_start(node->loop), 0);
    node->watcher = (struct meta_watcher){ .changed = watch_changed,
                                           .was_deleted = watch_was_deleted,
                                           .ready = watch_ready,
                                           .settings_changed = watch_settings_changed,
                                           .fatal = watch_fatal };
    node->options = (struct meta_quorum_options){
        .dir = node->dir,
        .disk = disk_pool_executor(node->pool),
        .clock = clock_real(),
        .node_id = node_id,
        .watcher = &node->watcher,
        .election_timeout_ms = 500,
        .heartbeat_ms = 50,
        .endpoints = &endpoint,
        .endpoint_count = 1,
        .default_partitions = 1,
        .default_replication_factor = 1,
        .page_cache_survived = page_cache_survived,
        .snapshot_bytes = node_snapshot_bytes,
    };
    return meta_quorum_open(&node->quorum, &node->options, node->why, sizeof node->why);
}

static void node_wait(struct node *node, const bool *flag)
{
    pthread_mutex_lock(&node->lock);
    while (!*flag)
        pthread_cond_wait(&node->moved, &node->lock);
    pthread_mutex_unlock(&node->lock);
}

void node_run(struct node *node)
{
    assert_int_equal(meta_quorum_start(node->quorum), 0);
    node_wait(node, &node->is_ready);
}

void node_wait_for_end(struct node *node)
{
    node_wait(node, &node->has_ended);
}

void node_start(struct node *node, const char *path)
{
    int err = node_open(node, path, 1, true);
    if (err != 0) fail_msg("%s: %s", error_name(err), node->why);
    node_run(node);
}

void node_stop(struct node *node)
{
    meta_quorum_close(node->quorum);
    loop_stop(node->loop);
    loop_close(node->loop);
    disk_pool_close(node->pool);
    assert_int_equal(data_dir_write_checkpoints(node->dir), 0);
    data_dir_close(node->dir);
    pthread_mutex_destroy(&node->lock);
    pthread_cond_destroy(&node->moved);
}

/* ---- requests ---- */

static struct node *asked; /* One at a time. */

static void ask_done(struct meta_request *request)
{
    (void)request;
    struct node *node = asked;
    assert_true(loop_is_current(node->loop));
    pthread_mutex_lock(&node->lock);
    node->is_answered = true;
    pthread_cond_broadcast(&node->moved);
    pthread_mutex_unlock(&node->lock);
}

void node_ask_only(struct node *node, struct meta_request *request)
{
    asked = node;
    node->is_answered = false;
    request->loop = node->loop;
    request->done = ask_done;
    if (request->deadline_ms == 0)
        request->deadline_ms = clock_monotonic_us(clock_real()) / 1000 + 60000;
    meta_quorum_request(node->quorum, request);
}

void node_wait_for_answer(struct node *node)
{
    node_wait(node, &node->is_answered);
}

void node_ask(struct node *node, struct meta_request *request)
{
    node_ask_only(node, request);
    node_wait_for_answer(node);
}

static int create(struct node *node, const char *name, int32_t partitions)
{
    struct meta_create_topic item = { .name = str_from(name),
                                      .partition_count = partitions,
                                      .replication_factor = 1 };
    struct meta_request request = { .kind = META_CREATE_TOPICS,
                                    .as.create_topics = { &item, 1, false, false } };
    node_ask(node, &request);
    if (item.err == 0) {
        assert_string_equal(item.topic->name, name);
        assert_int_equal(item.topic->partition_count, partitions);
    }
    meta_topic_unref(item.topic);
    return request.err != 0 ? request.err : item.err;
}

void node_create_topic(struct node *node, const char *name, int32_t partitions)
{
    assert_int_equal(create(node, name, partitions), 0);
}

int node_try_create(struct node *node, const char *name)
{
    return create(node, name, 1);
}

void node_delete_topic(struct node *node, const char *name)
{
    struct meta_delete_topic item = { .name = str_from(name) };
    struct meta_request request = { .kind = META_DELETE_TOPICS, .as.delete_topics = { &item, 1 } };
    node_ask(node, &request);
    assert_int_equal(request.err, 0);
    assert_int_equal(item.err, 0);
    assert_string_equal(item.topic->name, name);
    meta_topic_unref(item.topic);
}

int64_t node_take_producer_ids(struct node *node, int32_t count)
{
    struct meta_request request = { .kind = META_ALLOCATE_PRODUCER_IDS,
                                    .as.producer_ids = { count, -1 } };
    node_ask(node, &request);
    assert_int_equal(request.err, 0);
    return request.as.producer_ids.first;
}

bool node_has_topic(struct node *node, const char *name)
{
    struct meta_view *view = meta_quorum_view(node->quorum);
    bool has = meta_view_topic(view, str_from(name)) != NULL;
    meta_view_unref(view);
    return has;
}

unsigned node_topic_count(struct node *node)
{
    struct meta_view *view = meta_quorum_view(node->quorum);
    unsigned count = meta_view_topic_count(view);
    meta_view_unref(view);
    return count;
}

const char *folder_copy(const char *path)
{
    char command[2048];
    const char *copy = node_path();
    snprintf(command, sizeof command, "cp -a '%s' '%s'", path, copy);
    assert_int_equal(system(command), 0);
    return copy;
}
