// SPDX-License-Identifier: Apache-2.0
/* A partition log on a simulated disk that orders nothing, for tests of what a kill or a power cut leaves. One
 * at a time. */

#ifndef TESTS_POWER_FIXTURE_H
#define TESTS_POWER_FIXTURE_H

#include "fs_sim.h"
#include "partition_log.h"

#define POWER_SEEDS    60 /* Where chance decides what the disk keeps. */
#define POWER_FOLDER   "/logs"
#define POWER_LOG      POWER_FOLDER "/orders-0"
#define POWER_BEGIN_MS INT64_C(1700000000000)

struct power_fixture {
    struct fs_sim *sim;
    struct fs *fs;
    struct clock_manual clock;
    struct data_dir *dir;
    struct partition_log *log;
    struct partition_log_recovery recovery;
    struct topic_settings settings;
    struct uuid topic_id;
    int64_t cut_only_from, may_restart_at; /* -1 and 0, unless a test sets them. */
    int64_t next_time;                     /* Of the next record. */
};
extern struct power_fixture power;

/* A new disk with an empty log, opened. The last test of a file closes the disk: power_end_disk(). */
void power_start(uint64_t seed);
void power_end_disk(void);

int power_try_open(void);
void power_open(void); /* Must succeed. */
void power_close(void);
void power_kill(void); /* The next life may begin. */
void power_lose(void); /* So it may here. */
void power_stop(void); /* In good order. */
void power_checkpoint(void);

struct power_batch {
    int64_t offset; /* A replica's; -1: a client's. */
    int32_t epoch;
    int64_t producer_id;
    int32_t sequence;
    int32_t records;
    int16_t attributes;
};

/* The err of one batch; ERR_DUPLICATE_RESOURCE: it was taken for a repeat. */
int power_append(struct power_batch batch);
void power_append_many(int count);

int64_t power_end(void);
int64_t power_start_offset(void);
int64_t power_find_time(int64_t timestamp); /* The offset. */
int64_t power_find_newest(void);
void power_retain(void);
bool power_has(const char *path);

#endif
