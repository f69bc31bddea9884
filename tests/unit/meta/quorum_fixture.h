// SPDX-License-Identifier: Apache-2.0
/* A node's quorum on the real file system, with a disk pool, a loop that asks, and a watcher. */

#ifndef QUORUM_FIXTURE_H
#define QUORUM_FIXTURE_H

#include <pthread.h>

#include "disk_pool.h"
#include "meta_quorum.h"

struct node {
    struct data_dir *dir;
    struct disk_pool *pool;
    struct loop *loop;
    struct meta_quorum *quorum;
    struct meta_quorum_options options;
    char why[512];

    struct meta_watcher watcher;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool is_ready;
    bool expects_end, has_ended;
    bool is_answered;
    unsigned calls, created, deleted, changed; /* As the watcher was told. */
    unsigned settings_told, setting_count;     /* Of every broker. */
    unsigned were_deleted;
    char last_deleted[64];
    int64_t told_index; /* Of the newest view that it was given. */
};

/* Of all that are opened from now on: a snapshot after this much log; 0: the usual. */
extern int64_t node_snapshot_bytes;

/* A new path inside of the test's folder. */
const char *node_path(void);

/* Opens node 1 in that folder, without starting it; returns what meta_quorum_open() did. */
int node_open(struct node *node, const char *path, int32_t node_id, bool page_cache_survived);

int node_open_on(struct node *node, struct fs *fs, const char *path, int32_t node_id,
                 bool page_cache_survived);

/* Starts one that is open, and waits until it is ready. */
void node_run(struct node *node);

/* The same, started, and waits until it is ready. */
void node_start(struct node *node, const char *path);

/* As a program that ends in order does. */
void node_stop(struct node *node);

/* Hands a request over and waits for its answer. */
void node_ask(struct node *node, struct meta_request *request);

/* The same in steps; one request at a time. */
void node_ask_only(struct node *node, struct meta_request *request);
void node_wait_for_answer(struct node *node);

/* The quorum has said that the process must end. */
void node_wait_for_end(struct node *node);

/* Each fails the test unless it works. */
void node_create_topic(struct node *node, const char *name, int32_t partitions);
void node_delete_topic(struct node *node, const char *name);
int64_t node_take_producer_ids(struct node *node, int32_t count);

/* Asks for one topic; what the request or the item was answered with. */
int node_try_create(struct node *node, const char *name);

bool node_has_topic(struct node *node, const char *name);
unsigned node_topic_count(struct node *node);

/* A copy of a folder as it is at this moment, as a kill -9 would leave it. */
const char *folder_copy(const char *path);

#endif
