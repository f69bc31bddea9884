// SPDX-License-Identifier: Apache-2.0
/* A partition log in a data folder of its own, for the tests of storage/: opened, stopped, killed. */

#ifndef TESTS_LOG_FIXTURE_H
#define TESTS_LOG_FIXTURE_H

#include "buffer.h"
#include "fs_fault.h"
#include "partition_log.h"
#include "runner.h"
#include "segment_folder.h"

#define FIXTURE_TOPIC  "orders"
#define FIXTURE_NOW_MS INT64_C(1700000000000)

struct log_fixture {
    char path[PATH_MAX];
    char folder[PATH_MAX]; /* Of the partition. */
    struct fs_fault disk;
    struct clock_manual clock;
    struct topic_settings settings;
    struct uuid topic_id;
    int64_t cut_only_from, may_restart_at;
    int64_t producer_expiration_ms;
    struct data_dir *dir;
    struct partition_log *log;
    struct partition_log_recovery recovery;
};

/* A fresh folder for segments or indexes without a log. */
struct folder_fixture {
    struct fs_fault disk;
    struct file_cache *files;
    struct block_cache *blocks;
    struct segment_folder *folder;
};
void folder_fixture_start(struct folder_fixture *fixture, size_t file_limit, uint32_t block_limit);
void folder_fixture_stop(struct folder_fixture *fixture); /* Nothing may be open any more. */

/* An empty log in a fresh folder. Settings are Kafka's but index.interval.bytes, which is 100. */
void fixture_start(struct log_fixture *fixture);

/* Without opening anything, at a path that exists (or not). */
void fixture_init(struct log_fixture *fixture, const char *path);
int fixture_open(struct log_fixture *fixture);

/* Makes a folder from elsewhere that of the fixture's topic. */
void fixture_write_metadata(const struct log_fixture *fixture);

void fixture_close(struct log_fixture *fixture);  /* As it is. */
void fixture_stop(struct log_fixture *fixture);   /* In good order: checkpoint and clean marker. */
void fixture_reopen(struct log_fixture *fixture); /* After either; must succeed. */

/* What a kill -9 at this moment leaves behind, opened. */
void fixture_kill(struct log_fixture *fixture);
/* The same without opening it. */
void fixture_kill_only(struct log_fixture *fixture);

/* What one batch is made of; zeros are good defaults. */
struct batch_spec {
    int32_t record_count; /* 0: one. */
    int64_t timestamp;    /* Of the first record; they are 1 ms apart. 0: FIXTURE_NOW_MS. */
    size_t value_bytes;   /* Of each. */
    int64_t producer_id;  /* 0: none. */
    int16_t producer_epoch;
    int32_t base_sequence;
    int16_t attributes;
};
void batch_spec_build(const struct batch_spec *spec, struct buffer *out);

/* Appends one batch as leader of epoch `leader_epoch`, and returns its err. */
int fixture_append_as(struct log_fixture *fixture, const struct batch_spec *spec,
                      int32_t leader_epoch);
int fixture_append(struct log_fixture *fixture, const struct batch_spec *spec);

/* Appends an end marker, as a follower does: at the end, whatever producers are known. */
struct marker_spec {
    int64_t producer_id;
    int16_t producer_epoch;
    bool is_commit;
    int32_t coordinator_epoch;
    int64_t timestamp; /* 0: FIXTURE_NOW_MS. */
};
void marker_spec_build(const struct marker_spec *spec, int64_t base_offset, struct buffer *out);
int fixture_append_marker(struct log_fixture *fixture, const struct marker_spec *spec);

/* `count` batches of one record of `value_bytes`, a millisecond apart; all must succeed. */
void fixture_append_many(struct log_fixture *fixture, int count, size_t value_bytes);

/* All that can be read from the start to the end, in reads of `max_bytes`; every batch is checked (CRC,
 * ascending offsets). Returns the number of batches; `out` may be NULL. */
int fixture_read_all(struct log_fixture *fixture, size_t max_bytes, struct buffer *out);

/* One read; the bytes are appended to `out`. Returns the err. */
int fixture_read(struct log_fixture *fixture, struct log_read *read, struct buffer *out);

/* Copies a folder with everything in it, over what is there. */
void copy_tree(const char *from, const char *to);

/* Files, by name inside the partition's folder. */
void fixture_file(const struct log_fixture *fixture, const char *name, char path[PATH_MAX]);
bool fixture_has_file(const struct log_fixture *fixture, const char *name);
int64_t fixture_file_size(const struct log_fixture *fixture, const char *name);
void fixture_load_file(const struct log_fixture *fixture, const char *name, struct buffer *out);
void fixture_save_file(const struct log_fixture *fixture, const char *name, const void *data,
                       size_t length);
void fixture_remove_file(const struct log_fixture *fixture, const char *name);

#endif
