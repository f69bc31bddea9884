// SPDX-License-Identifier: Apache-2.0
/* Logs on a disk that loses power, and what must be true of them afterwards.
 *
 * A world is one data folder with some partitions, driven by a seed through several lives; each ends
 * with a clean stop, a kill, or a power cut at any change, also while it is being opened. Beside each
 * log there is a model: what was appended, and how far it was said to be durable. */

#ifndef TESTS_CRASH_H
#define TESTS_CRASH_H

#include <setjmp.h>

#include "buffer.h"
#include "clock.h"
#include "data_dir.h"
#include "fs_sim.h"
#include "partition_log.h"

#define WORLD_PARTITIONS 3
#define WORLD_PRODUCERS  4
#define WORLD_FOLDER     "/data/logs"
#define WORLD_KEYS       24 /* That come more than once, in compacted partitions. */
#define BATCH_RECORDS    5
#define VALUE_BYTES_MAX  3000
#define BATCH_BYTES_MAX  (BATCH_RECORDS * (VALUE_BYTES_MAX + 100) + 100)

/* Defects that the seeds must find. */
enum plant {
    PLANT_NONE,
    PLANT_SYNC_SKIPPED,       /* fdatasync of data does nothing. */
    PLANT_FOLDER_NOT_SYNCED,  /* Names are not made durable. */
    PLANT_ACK_BEFORE_SYNC,    /* What was appended counts as durable. */
    PLANT_POINT_BEFORE_INDEX, /* The recovery point moves before what it stands for is on disk. */
    PLANT_CLEANED_NOT_SYNCED, /* A compacted segment takes its place before it is on disk. */
    PLANT_LAST_VALUE_GONE,    /* Compaction drops the last record of a key, */
    PLANT_CLEANED_TOO_FAR,    /* or one whose successor lies where it may not have looked. */
    PLANT_COUNT
};
extern const char *const plant_names[PLANT_COUNT];

/* A record as compaction looks at it. */
struct model_record {
    int64_t offset, timestamp;
    int64_t key;
    bool is_tombstone;
    bool may_go; /* A pass may have taken it away since it was last seen. */
    int64_t
        covered_ms; /* When the first pass began that may have given it a delete horizon; -1: none. */
};

struct model_batch {
    int64_t base_offset, last_offset;
    uint8_t *data;
    size_t size;
    struct record_batch header; /* Its `data` is stale. */
    int record_count;
    struct model_record records[BATCH_RECORDS];
    bool is_abort; /* A marker that ends a transaction so. */
    unsigned life;
};

#define MODEL_ABORTED_MAX 512

struct model_aborted {
    int64_t producer_id, first_offset, last_offset;
};

struct model_batches {
    struct model_batch *list;
    size_t count, capacity;
};

struct partition {
    const char *topic;
    int32_t number;
    struct uuid id;
    struct topic_settings settings;
    bool is_compacted;         /* And has no transactions. */
    bool is_being_compacted;   /* What is seen now may still go. */
    struct partition_log *log; /* NULL: not open. */

    struct model_batches batches; /* From durable_start on, in order. */
    struct model_batches refused; /* May be there all the same: the append failed on the way. */
    int64_t floor;                /* Where the log began: it ends nowhere below. */
    int64_t start;                /* Whole range in which it may begin after a crash: */
    int64_t durable_start;        /* from here up to `start`. */
    int64_t highest_start;        /* Producers may be forgotten that wrote nothing since. */
    int64_t end;
    int64_t durable; /* All batches below it survive. */

    /* A change that may have happened or not. */
    int64_t restarting_at; /* -1: none. */
    bool is_being_deleted;

    int32_t epoch;
    unsigned remembered_since; /* The life from which on all of the last five batches repeat. */
    bool may_read_again;    /* What stands for the data was taken away, and perhaps not the data. */
    bool was_checkpointed;  /* Since then, but for the data folder's file. */
    int64_t recovery_point; /* What the checkpoint said when it was opened. */
};

enum ending { ENDS_CLEAN, ENDS_KILLED, ENDS_WITHOUT_POWER };

struct log_read_seen {
    struct partition *partition;
    int64_t base_offset, position;
};

struct world {
    uint64_t seed, chance;
    enum plant plant;
    bool is_verbose, shows_calls;
    bool keeps_power; /* The disk does not fail. */
    struct fs_sim *disk;
    struct fs *fs;
    struct clock_manual clock;
    struct data_dir *dir;
    struct partition partitions[WORLD_PARTITIONS];
    int partition_count;
    int key_count; /* Of WORLD_KEYS. */
    unsigned life;
    enum ending last_ending;
    bool is_full;              /* No more room than what is used. */
    bool was_full;             /* Ever: indexes may be sparse. */
    struct fs_sim_fault fault; /* What will fail, */
    bool has_failed;           /* or has. */
    bool was_marked_clean;

    bool is_watching;
    struct log_read_seen *seen; /* Reads of data while the logs are opened. */
    size_t seen_count, seen_capacity;

    struct buffer scratch[8]; /* Batches on their way. */
    jmp_buf broken;
    char why[512];
};

/* Runs one seed; false with world.why set if a promise was broken. */
bool world_run(struct world *world, uint64_t seed, enum plant plant, int verbose);
bool damage_run(struct world *world, uint64_t seed, int verbose);

/* ---- world.c: what all parts use */

uint64_t chance(struct world *world, uint64_t below);
bool percent(struct world *world, unsigned of_hundred);
void say(const struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ends the seed if it is not kept. */
void promise(struct world *world, bool is_kept, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void world_begin(struct world *world, uint64_t seed, enum plant plant, int verbose);
void world_end(struct world *world);
int world_open_dir(struct world *world);
int world_open_log(struct world *world, struct partition *partition,
                   struct partition_log_recovery *recovery);
/* Frees what a life had in memory; on a disk that is off nothing else happens. */
void world_close(struct world *world);
int world_stop_cleanly(struct world *world);
/* Nothing fails while the world is looked at. */
void world_hold_fault(struct world *world);
void world_let_fault(struct world *world);

/* ---- actions.c: what is done to a log in a life */

/* One of them, by chance; false: the life is over. */
bool act(struct world *world);
/* One of those that a writer may do between the steps of a compaction. */
void act_beside(struct world *world, struct partition *partition);
/* The end of this life: without power, or with a disk that failed. */
bool is_over(const struct world *world);
/* An error is right if the disk has a reason for it. */
void expect(struct world *world, const struct partition *partition, int err, const char *doing);

/* ---- compact.c */

void act_compact(struct world *world, struct partition *partition);

/* ---- model.c */

void model_clear(struct model_batches *batches);
void model_add(struct world *world, struct model_batches *batches, const uint8_t *data,
               size_t size);
void model_remove(struct model_batches *batches, size_t index);
/* A pass has left this of it; what it says of records that are still there stays known. */
void model_replace(struct world *world, struct model_batch *batch, const uint8_t *data,
                   size_t size);
/* A pass begins that looks at nothing at or above `below_offset`. */
void model_note_pass(struct partition *partition, int64_t below_offset, int64_t now_ms);
void model_begin_at(struct partition *partition, int64_t offset);
void model_cut(struct partition *partition, int64_t offset); /* It ended there. */
int64_t model_boundary(const struct partition *partition, int64_t offset);
/* The checkpoints were written. */
void model_note_checkpoints(struct world *world);
void model_note_flushed(struct world *world, struct partition *partition);
/* The newest batch of a producer that is no marker; NULL. */
const struct model_batch *model_newest(const struct partition *partition, int64_t producer_id);
/* Where its open transaction begins, as far as it lies at or above `from`; -1. */
int64_t model_open_since(const struct partition *partition, int64_t producer_id, int64_t from);

/* The transactions that were aborted; how many. */
size_t model_find_aborted(const struct partition *partition,
                          struct model_aborted aborted[MODEL_ABORTED_MAX]);

/* ---- check.c */

/* All of the log, as it must be while it is in use. */
void check_log(struct world *world, struct partition *partition);
/* After it was opened: what is there becomes the model, if it is one of the things that may be there. */
void check_recovered(struct world *world, struct partition *partition,
                     const struct partition_log_recovery *recovery);
void check_reads_at_open(struct world *world);
/* The batches of a part of the log, appended to `out`; an err of partition_log_read() or of the disk. */
int read_range(struct world *world, struct partition *partition, int64_t from, size_t max_bytes,
               struct buffer *out, int64_t *next_offset);

#endif
