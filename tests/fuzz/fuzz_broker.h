// SPDX-License-Identifier: Apache-2.0
/* A broker within a fuzzer: all that broker.c composes, but for the threads, the ports and the time.
 *
 *  (1) The caller's thread runs the loops and the disk's jobs, in turns. Only the quorum has a thread of its
 *      own, as always; a call that waits for it is waited for.
 *  (2) Time stands still until it is moved.
 *  (3) Nothing is synced, and of two data folders the second may fail at its nth operation.
 *  (4) What is random elsewhere is counted here, so topics have ids that are known before they are
 *      created. */

#ifndef TESTS_FUZZ_BROKER_H
#define TESTS_FUZZ_BROKER_H

#include "api.h"
#include "config.h"
#include "config_rows.h"
#include "fs_fault.h"
#include "fuzz_transport.h"
#include "metadata_watch.h"

#define FUZZ_BROKER_FOLDERS  2
#define FUZZ_NOW_MS          1700000000000
#define FUZZ_FETCH_BYTES_MAX (1 << 20) /* fetch.max.bytes */

struct fuzz_broker_options {
    enum fuzz_transport transport;
    uint64_t seed;        /* Of the transport's chance. */
    int64_t memory_bytes; /* queued.max.request.bytes */
    int32_t session_slots;
    bool is_cold;       /* Nothing can be read without waiting for the disk. */
    long disk_fails_at; /* 0: it does not. */
    int disk_error;
};

struct fuzz_broker {
    struct config config;
    struct clock_manual clock;
    struct loop *loop;
    struct net *net;
    struct api *api;
    struct fs_fault disks[FUZZ_BROKER_FOLDERS];
    struct data_dir *dirs[FUZZ_BROKER_FOLDERS];
    struct config_rows *rows;
    struct partition_set *partitions;
    struct metadata_watch watch;
    struct meta_quorum *meta;
    struct producer_ids *producer_ids;
    struct fetch_sessions *sessions;
    struct meta_setting *topic_defaults;
    bool is_ready;

    struct executor disk; /* What is submitted waits here, by (1). */
    pthread_mutex_t lock; /* The quorum's thread submits, too. */
    struct list jobs;
    bool are_jobs_held;
    bool is_closing; /* Jobs run on a thread, since closing waits for them. */
};

/* Opens and waits until it is ready. What cannot be opened ends the program. */
void fuzz_broker_open(struct fuzz_broker *broker, const struct fuzz_broker_options *options);

/* A turn of each loop, and of jobs what waits, unless they are held. True: a job ran. */
bool fuzz_broker_turn(struct fuzz_broker *broker);

/* Sleeps until a loop has something to do, a millisecond at most. Ends the program with `what` if that has
 * gone on since `since_us` of the machine's clock for longer than any machine takes. */
void fuzz_broker_wait(struct fuzz_broker *broker, int64_t since_us, const char *what);
int64_t fuzz_now_us(void);

/* Calls that are open, and what they began and nobody waits for. */
unsigned fuzz_broker_open_calls(const struct fuzz_broker *broker);

/* Everybody must have left. Sees that nothing of them is left, and that every file was closed. */
void fuzz_broker_close(struct fuzz_broker *broker);

/* The id of the nth topic, from 0, of those that the quorum gives an id. */
struct uuid fuzz_topic_id(uint32_t nth);

#endif
