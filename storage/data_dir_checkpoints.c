// SPDX-License-Identifier: Apache-2.0
/* What is remembered of each log, in memory and in the four checkpoint files. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "checkpoint.h"
#include "data_dir_inside.h"
#include "error.h"
#include "segment_folder.h"
#include "topic_settings.h"
#include "trace.h"

static const char *const checkpoint_files[CHECKPOINT_KINDS] = {
    [CHECKPOINT_RECOVERY_POINT] = RECOVERY_POINT_FILE,
    [CHECKPOINT_LOG_START] = "log-start-offset-checkpoint",
    [CHECKPOINT_HIGH_WATERMARK] = "replication-offset-checkpoint",
    [CHECKPOINT_CLEANED] = "cleaner-offset-checkpoint",
};

struct partition_key {
    size_t length;
    char bytes[256 + sizeof(int32_t)];
};

static bool key_from(struct partition_key *key, struct str topic, int32_t partition)
{
    if (topic.length <= 0 || topic.length >= 256) return false;
    memcpy(key->bytes, &partition, sizeof partition);
    memcpy(key->bytes + sizeof partition, topic.data, (size_t)topic.length);
    key->length = sizeof partition + (size_t)topic.length;
    return true;
}

static int set_offset(struct data_dir *dir, enum checkpoint_kind kind, struct str topic,
                      int32_t partition, int64_t offset)
{
    struct partition_key key;

    if (!key_from(&key, topic, partition)) return ERR_MALFORMED;
    struct partition_offsets *known = map_get(&dir->partitions, key.bytes, key.length);
    if (known == NULL && offset < 0) return 0;
    if (known == NULL) {
        known = mem_alloc(sizeof *known + (size_t)topic.length + 1);
        if (known == NULL) return ERR_NO_MEMORY;
        *known = (struct partition_offsets){ partition, { -1, -1, -1, -1 }, -1, -1 };
        memcpy(known->topic, topic.data, (size_t)topic.length);
        known->topic[topic.length] = '\0';
        int err = map_put(&dir->partitions, key.bytes, key.length, known, NULL);
        if (err != 0) {
            mem_free(known);
            return err;
        }
    }
    if (known->offsets[kind] != offset) dir->is_changed[kind] = true;
    known->offsets[kind] = offset;
    bool is_empty = true;
    for (int i = 0; i < CHECKPOINT_KINDS; i++)
        is_empty = is_empty && known->offsets[i] < 0;
    if (is_empty) {
        map_remove(&dir->partitions, key.bytes, key.length);
        mem_free(known);
    }
    return 0;
}

bool data_dir_checkpoint(struct data_dir *dir, enum checkpoint_kind kind, const char *topic,
                         int32_t partition, int64_t *offset)
{
    struct partition_key key;
    bool is_known = false;

    if (!key_from(&key, str_from(topic), partition)) return false;
    pthread_mutex_lock(&dir->lock);
    const struct partition_offsets *known = map_get(&dir->partitions, key.bytes, key.length);
    if (known != NULL && known->offsets[kind] >= 0) {
        *offset = known->offsets[kind];
        is_known = true;
    }
    pthread_mutex_unlock(&dir->lock);
    return is_known;
}

int data_dir_set_checkpoint(struct data_dir *dir, enum checkpoint_kind kind, const char *topic,
                            int32_t partition, int64_t offset)
{
    pthread_mutex_lock(&dir->lock);
    int err = set_offset(dir, kind, str_from(topic), partition, offset < 0 ? -1 : offset);
    pthread_mutex_unlock(&dir->lock);
    return err;
}

bool data_dir_may_name(struct data_dir *dir, const char *topic, int32_t partition, int64_t offset)
{
    struct partition_key key;

    if (!key_from(&key, str_from(topic), partition)) return false;
    pthread_mutex_lock(&dir->lock);
    const struct partition_offsets *known = map_get(&dir->partitions, key.bytes, key.length);
    bool may = known != NULL && (known->written == offset || known->printed == offset);
    pthread_mutex_unlock(&dir->lock);
    return may;
}

/* Prints one kind's lines; false if nothing changed since they were written. */
static bool print_changed(struct data_dir *dir, enum checkpoint_kind kind, struct buffer *lines,
                          size_t *count)
{
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;

    pthread_mutex_lock(&dir->lock);
    bool is_changed = dir->is_changed[kind];
    dir->is_changed[kind] = false;
    while (is_changed && map_next(&dir->partitions, &cursor, &key, &key_length, &value)) {
        struct partition_offsets *known = value;
        if (kind == CHECKPOINT_RECOVERY_POINT) known->printed = known->offsets[kind];
        if (known->offsets[kind] < 0) continue;
        checkpoint_print(lines, "%s %" PRId32 " %" PRId64 "\n", known->topic, known->partition,
                         known->offsets[kind]);
        ++*count;
    }
    pthread_mutex_unlock(&dir->lock);
    return is_changed;
}

/* The file of recovery points says what was printed for it, or what was just read. */
static void note_points(struct data_dir *dir, bool were_read)
{
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;

    pthread_mutex_lock(&dir->lock);
    while (map_next(&dir->partitions, &cursor, &key, &key_length, &value)) {
        struct partition_offsets *known = value;
        if (were_read) known->printed = known->offsets[CHECKPOINT_RECOVERY_POINT];
        known->written = known->printed;
    }
    pthread_mutex_unlock(&dir->lock);
}

/* After the points were taken down: each is owed before it is set. */
static int pay_sync(struct data_dir *dir)
{
    int err = atomic_load(&dir->owes_sync) ? data_dir_sync_all(dir) : 0;

    return err == 0 && atomic_load(&dir->owes_lost) ? ERR_IO : err;
}

static int write_checkpoint(struct data_dir *dir, enum checkpoint_kind kind)
{
    char path[PATH_MAX];
    struct buffer lines;
    size_t count = 0;
    int err = 0;

    buffer_init(&lines);
    if (print_changed(dir, kind, &lines, &count)) {
        if (kind == CHECKPOINT_RECOVERY_POINT) err = pay_sync(dir);
        if (err == 0) err = fs_path(path, "%s/%s", dir->path, checkpoint_files[kind]);
        if (err == 0) err = checkpoint_write(dir->fs, path, &lines, count);
        if (err == 0 && kind == CHECKPOINT_RECOVERY_POINT) note_points(dir, false);
        if (err != 0) {
            pthread_mutex_lock(&dir->lock);
            dir->is_changed[kind] = true;
            pthread_mutex_unlock(&dir->lock);
        }
    }
    buffer_close(&lines);
    return err;
}

int data_dir_write_checkpoints(struct data_dir *dir)
{
    /* What lies below a log's start is not wanted any more, whatever the others say, so it comes last: if
     * the disk is full before, nothing was given up. */
    static const enum checkpoint_kind kinds[CHECKPOINT_KINDS] = {
        CHECKPOINT_RECOVERY_POINT,
        CHECKPOINT_CLEANED,
        CHECKPOINT_HIGH_WATERMARK,
        CHECKPOINT_LOG_START,
    };
    int err = 0;

    pthread_mutex_lock(&dir->write_lock);
    pthread_mutex_lock(&dir->lock);
    bool has_forgotten = dir->has_forgotten;
    dir->has_forgotten = false;
    pthread_mutex_unlock(&dir->lock);
    for (int i = 0; i < CHECKPOINT_KINDS && err == 0; i++)
        err = write_checkpoint(dir, kinds[i]);
    if (err != 0 && has_forgotten) {
        pthread_mutex_lock(&dir->lock);
        dir->has_forgotten = true;
        pthread_mutex_unlock(&dir->lock);
    }
    pthread_mutex_unlock(&dir->write_lock);
    return err;
}

void data_dir_forget_offsets(struct data_dir *dir, const char *topic, int32_t partition)
{
    pthread_mutex_lock(&dir->lock);
    for (int kind = 0; kind < CHECKPOINT_KINDS; kind++)
        set_offset(dir, (enum checkpoint_kind)kind, str_from(topic), partition, -1);
    for (int kind = 0; kind < CHECKPOINT_KINDS; kind++)
        dir->has_forgotten = dir->has_forgotten || dir->is_changed[kind];
    pthread_mutex_unlock(&dir->lock);
}

int data_dir_forget(struct data_dir *dir, const char *topic, int32_t partition)
{
    int64_t offset;
    bool is_known = false;

    for (int kind = 0; kind < CHECKPOINT_KINDS; kind++)
        is_known = is_known ||
                   data_dir_checkpoint(dir, (enum checkpoint_kind)kind, topic, partition, &offset);
    if (is_known) data_dir_forget_offsets(dir, topic, partition);
    pthread_mutex_lock(&dir->write_lock); /* What is being written may still fail. */
    pthread_mutex_lock(&dir->lock);
    bool has_forgotten = dir->has_forgotten;
    pthread_mutex_unlock(&dir->lock);
    pthread_mutex_unlock(&dir->write_lock);
    return has_forgotten ? data_dir_write_checkpoints(dir) : 0;
}

/* Caller holds the lock. */
static void forget_all_kinds(struct data_dir *dir, struct partition_offsets *known)
{
    for (int kind = 0; kind < CHECKPOINT_KINDS; kind++)
        if (known->offsets[kind] >= 0) dir->is_changed[kind] = true;
    dir->has_forgotten = true;
    mem_free(known);
}

size_t data_dir_forget_others(struct data_dir *dir,
                              bool (*keeps)(void *context, const char *topic, int32_t partition),
                              void *context)
{
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length, count = 0;
    void *value;

    pthread_mutex_lock(&dir->lock);
    while (map_next(&dir->partitions, &cursor, &key, &key_length, &value)) {
        struct partition_offsets *known = value;
        if (keeps(context, known->topic, known->partition)) continue;
        map_remove(&dir->partitions, key, key_length);
        forget_all_kinds(dir, known);
        count++;
    }
    pthread_mutex_unlock(&dir->lock);
    return count;
}

struct checkpoint_reading {
    struct data_dir *dir;
    enum checkpoint_kind kind;
};

static int take_line(void *context, const struct checkpoint_line *line)
{
    struct checkpoint_reading *reading = context;
    int64_t partition, offset;

    /* Written again it would be another line, or none. */
    int err = topic_name_is_legal(line->columns[0]) ? 0 : ERR_MALFORMED;
    if (err == 0) err = checkpoint_number(line->columns[1], 0, &partition);
    if (err == 0 && partition > INT32_MAX) err = ERR_MALFORMED;
    if (err == 0) err = checkpoint_number(line->columns[2], 0, &offset);
    if (err == 0 && offset > SEGMENT_OFFSET_MAX) err = ERR_MALFORMED;
    if (err == 0)
        err = set_offset(reading->dir, reading->kind, line->columns[0], (int32_t)partition, offset);
    return err;
}

/* No number of a damaged file is to be believed. */
static void forget_kind(struct data_dir *dir, enum checkpoint_kind kind)
{
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;

    while (map_next(&dir->partitions, &cursor, &key, &key_length, &value)) {
        struct partition_offsets *known = value;
        known->offsets[kind] = -1;
    }
}

/* What can be done without is passed over with a line in the trace, and written again. Without the others logs
 * would show what was deleted: that is for the operator to say. */
static int pass_damage(struct data_dir *dir, enum checkpoint_kind kind, const char *path,
                       const char *damage, char *why, size_t why_size)
{
    static const char *const lost[CHECKPOINT_KINDS] = {
        [CHECKPOINT_RECOVERY_POINT] = "the logs that it does not name are checked from their start",
        [CHECKPOINT_HIGH_WATERMARK] =
            "high watermarks begin where the logs do, until their leaders "
            "know more",
        [CHECKPOINT_CLEANED] = "what it does not name is compacted again",
    };

    if (lost[kind] == NULL) {
        snprintf(why, why_size,
                 "%s %s; restore it, or remove it: then records that were deleted, and are still "
                 "there, are seen again",
                 path, damage);
        return ERR_MALFORMED;
    }
    trace(TRACE_WARN, "storage", "%s %s: %s", path, damage, lost[kind]);
    if (kind == CHECKPOINT_RECOVERY_POINT) dir->was_clean = false;
    if (kind == CHECKPOINT_HIGH_WATERMARK) forget_kind(dir, kind);
    return 0;
}

static int read_kind(struct data_dir *dir, enum checkpoint_kind kind, char *why, size_t why_size)
{
    struct checkpoint_reading reading = { dir, kind };
    char path[PATH_MAX];
    char damage[64] = "is no file";
    int64_t line = 1;

    int err = fs_path(path, "%s/%s", dir->path, checkpoint_files[kind]);
    if (err == 0) err = checkpoint_read(dir->fs, path, 3, take_line, &reading, &line);
    dir->is_no_file[kind] = err == ERR_NOT_A_FILE;
    bool is_damaged = err == ERR_MALFORMED || err == ERR_NOT_A_FILE;
    if (err == ERR_MALFORMED) snprintf(damage, sizeof damage, "is damaged in line %" PRId64, line);
    if (is_damaged)
        err = pass_damage(dir, kind, path, damage, why, why_size);
    else if (err == ERR_NOT_FOUND)
        err = 0;
    else if (err != 0)
        snprintf(why, why_size, "%s cannot be read: %s", path, error_text(err));
    dir->is_changed[kind] = is_damaged;
    return err;
}

int data_dir_read_checkpoints(struct data_dir *dir, char *why, size_t why_size)
{
    int err = 0;

    for (int kind = 0; kind < CHECKPOINT_KINDS && err == 0; kind++)
        err = read_kind(dir, (enum checkpoint_kind)kind, why, why_size);
    note_points(dir, true);
    return err;
}

int data_dir_clear_checkpoints(struct data_dir *dir)
{
    bool has_moved = false;
    int err = 0;

    for (int kind = 0; kind < CHECKPOINT_KINDS && err == 0; kind++) {
        if (!dir->is_no_file[kind]) continue;
        err = data_dir_move_away(dir, checkpoint_files[kind]);
        if (err == 0) dir->is_no_file[kind] = false;
        has_moved = true;
    }
    return err == 0 && has_moved ? dir->fs->sync_folder(dir->fs, dir->path) : err;
}

void data_dir_free_checkpoints(struct data_dir *dir)
{
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;

    while (map_next(&dir->partitions, &cursor, &key, &key_length, &value))
        mem_free(value);
    map_close(&dir->partitions);
}
