// SPDX-License-Identifier: Apache-2.0
/* What the files of log_verify share. */

#ifndef CLI_LOG_VERIFY_INSIDE_H
#define CLI_LOG_VERIFY_INSIDE_H

#include "epoch_history.h"
#include "log_files.h"
#include "log_verify.h"
#include "producer_history.h"
#include "record_batch.h"
#include "uuid.h"

struct offset_list {
    int64_t *items; /* Ascending. */
    size_t count, capacity;
};

/* A line about what is wrong with `file`, a path; -1: no position, no offset. */
void verify_tell(struct log_verify *verify, const char *file, int64_t position, int64_t offset,
                 const char *what);

/* A line about what an operator may want to know and is not wrong. */
void verify_note(struct log_verify *verify, const char *path, const char *what);

/* Tells of folders, pipes and the like that have the name of a file. 0, or why the folder could not be read. */
int verify_no_files(struct log_verify *verify, const char *folder, bool is_partition);

/* ---- a data folder (log_verify_folder.c) ---- */

enum checkpoint_file { OF_RECOVERY, OF_LOG_START, OF_HIGH_WATERMARK, OF_CLEANER, CHECKPOINT_FILES };

extern const char *const verify_checkpoint_names[CHECKPOINT_FILES];

/* All but the partitions. 0, or why it could not be read. */
int verify_beside_partitions(struct log_verify *verify, const char *data_folder);

/* ---- what its checkpoints say of a partition (log_verify_points.c) ---- */

struct verify_points;

int verify_points_open(struct verify_points **points);  /* 0 or ERR_NO_MEMORY. */
void verify_points_close(struct verify_points *points); /* NULL is fine. */

/* -1: that file says nothing of it, or is damaged. 0 or ERR_NO_MEMORY, ERR_LIMIT of a path. */
int verify_points_get(struct verify_points *points, struct fs *fs, const char *data_folder,
                      struct str topic, int32_t partition, int64_t offsets[CHECKPOINT_FILES]);

/* ---- what the metadata says (log_verify_topics.c) ---- */

struct verify_topics;

/* *topics is NULL where there is no metadata, or a broker is changing it, or it is not whole: then that is told of
 * where its files are looked at. 0 or ERR_NO_MEMORY. */
int verify_topics_read(struct verify_topics **topics, struct fs *fs, const char *data_folder);
void verify_topics_close(struct verify_topics *topics); /* NULL is fine. */

/* Of the last entry. */
int64_t verify_topics_index(const struct verify_topics *topics);
int64_t verify_topics_term(const struct verify_topics *topics);

struct partition_check;

/* A partition's folder has this id: is it its topic's? */
void verify_topic_id(struct partition_check *check, const struct uuid *id);

/* ---- a partition ---- */

/* One partition, from its first segment to its last. */
struct partition_check {
    struct log_verify *verify;
    const char *folder;
    struct str topic; /* By the folder's name; null: it has another. */
    bool is_in_use;
    bool is_metadata;
    int64_t points[CHECKPOINT_FILES]; /* What the data folder's checkpoints say; -1: nothing. */

    struct offset_list logs, snapshots;
    size_t next_snapshot; /* The first whose offset was not passed yet. */
    struct epoch_history epochs;
    bool has_epochs;
    struct producer_history *producers; /* Below next_offset; NULL: too many to follow. */
    int64_t first_offset;               /* Of the first batch; -1: none yet. */
    int64_t next_offset;                /* Where the next batch should begin. */
    int64_t tail_from;     /* What the next checkpoint brings is missing from here on. */
    int32_t wrong_epoch;   /* Told of last. */
    bool is_behind_damage; /* The next batch may begin anywhere. */
    struct buffer data;    /* A batch. */
    uint8_t *crc_buffer;
};

#define VERIFY_CRC_BYTES (256 * 1024)

/* Of which part of a file of so many bytes can something come out? A segment or an index has 2 GiB at the most,
 * and one batch more; what is longer, a file with holes perhaps, is told of, and `most` of it is read. */
int64_t verify_bounded_size(struct partition_check *check, const char *name, int64_t size,
                            int64_t most);

/* A line: `file` lies in the folder unless it has a slash; -1: no position, no offset. */
void verify_finding(struct partition_check *check, const char *file, int64_t position,
                    int64_t offset, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The name of a file of a segment. */
void verify_name(char name[NAME_MAX + 1], int64_t base_offset, const char *suffix);

/* One segment against all that is beside it. 0, or why it could not be read. */
int verify_segment(struct partition_check *check, size_t index);

/* ---- indexes: the entries of a file, one after the other (log_verify_small.c) ---- */

#define ENTRY_CHUNK_BYTES 4080 /* Whole entries of 8, 12 and 34 bytes. */

struct entry_reader {
    struct partition_check *check;
    char name[NAME_MAX + 1];
    size_t entry_size;
    int fd;          /* -1: there is no such file, */
    bool is_no_file; /* but something else. */
    int64_t length;
    int64_t at; /* Position of `entry`; at the end: length. */
    int64_t chunk_at;
    size_t chunk_length;
    int err;
    uint8_t chunk[ENTRY_CHUNK_BYTES];
};

/* Opens the file and reads its first entry. A missing file is a finding. */
int entry_reader_open(struct entry_reader *reader, struct partition_check *check,
                      int64_t base_offset, const char *suffix, size_t entry_size);
void entry_reader_close(struct entry_reader *reader);
const uint8_t *entry_reader_peek(struct entry_reader *reader); /* NULL at the end. */
void entry_reader_next(struct entry_reader *reader);

/* ---- small files ---- */

int verify_read_epochs(struct partition_check *check);
/* A batch is about to be passed (NULL: the end is reached): snapshots in front of it are compared. */
int verify_snapshots(struct partition_check *check, const struct record_batch *batch);
void verify_epoch(struct partition_check *check, const char *file, int64_t position,
                  const struct record_batch *batch);

#endif
