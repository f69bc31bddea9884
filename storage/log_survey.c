// SPDX-License-Identifier: Apache-2.0
#include "log_survey.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "batch_scan.h"
#include "epoch_history.h"
#include "error.h"
#include "producer_history.h"
#include "segment.h"

#define SMALL_FILE_MAX ((size_t)256 << 20)
#define MAGIC_AT       16

struct bases {
    int64_t *items;
    size_t count, capacity;
    int64_t last_snapshot; /* -1: none. */
};

static int note_entry(void *context, const struct fs_entry *entry)
{
    struct bases *bases = context;
    const char *suffix = "";
    int64_t base = segment_parse_name(entry->name, &suffix);

    if (entry->is_folder || base < 0) return 0;
    if (strcmp(suffix, ".snapshot") == 0 && base > bases->last_snapshot)
        bases->last_snapshot = base;
    if (strcmp(suffix, ".log") != 0) return 0;
    if (bases->count == bases->capacity) {
        size_t capacity = bases->capacity == 0 ? 8 : bases->capacity * 2;
        int64_t *items = mem_realloc(bases->items, capacity * sizeof *items);
        if (items == NULL) return ERR_NO_MEMORY;
        bases->items = items;
        bases->capacity = capacity;
    }
    bases->items[bases->count++] = base;
    return 0;
}

static int compare_bases(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return left < right ? -1 : left > right;
}

static int note_producer(void *context, const struct producer_snapshot *producer)
{
    struct log_survey *survey = context;

    if (producer->id > survey->last_producer_id) survey->last_producer_id = producer->id;
    return 0;
}

/* *offset: up to where it tells; -1 if it cannot be read. */
static int read_snapshot(struct fs *fs, const char *folder, struct log_survey *survey,
                         int64_t *offset)
{
    char path[PATH_MAX];
    char *data = NULL;
    size_t length = 0;

    if (*offset < 0) return 0;
    int err = segment_path(folder, *offset, ".snapshot", path);
    if (err == 0) err = fs_read_file(fs, path, SMALL_FILE_MAX, &data, &length);
    if (err == 0) err = producer_snapshot_parse(data, length, note_producer, survey);
    mem_free(data);
    if (err == ERR_CORRUPT_MESSAGE || err == ERR_LIMIT || err == ERR_NOT_FOUND) {
        *offset = -1;
        err = 0;
    }
    return err;
}

static int read_epochs(struct fs *fs, const char *folder, struct log_survey *survey)
{
    char path[PATH_MAX];
    char *text = NULL;
    size_t length = 0;
    struct epoch_history epochs;

    epoch_history_init(&epochs);
    int err = fs_path(path, "%s/leader-epoch-checkpoint", folder);
    if (err == 0) err = fs_read_file(fs, path, SMALL_FILE_MAX, &text, &length);
    if (err == 0) err = epoch_history_parse(&epochs, text, length);
    if (err == 0) survey->last_epoch = epoch_history_last(&epochs);
    mem_free(text);
    epoch_history_close(&epochs);
    return err == ERR_NOT_FOUND || err == ERR_MALFORMED || err == ERR_LIMIT ? 0 : err;
}

static int look_at_format(struct fs *fs, int fd, int64_t position, struct log_survey *survey)
{
    uint8_t bytes[MAGIC_AT + 1];
    size_t got = 0;
    int err = fs->read(fs, fd, bytes, sizeof bytes, position, &got);

    if (err == 0 && got == sizeof bytes && bytes[MAGIC_AT] < 2 && load_i64(bytes) >= 0 &&
        load_i32(bytes + 8) > 0)
        survey->has_old_format = true;
    return err;
}

/* What a broken batch holds is cut when the log is opened. */
static int walk_headers(struct fs *fs, int fd, int64_t size, struct log_survey *survey)
{
    struct batch_scan scan;
    struct record_batch batch;
    int64_t position;
    int err = 0;

    batch_scan_init(&scan, fs, fd, 0, size, true);
    while ((err = batch_scan_next(&scan, &batch, &position)) == 0) {
        if (batch.leader_epoch > survey->last_epoch) survey->last_epoch = batch.leader_epoch;
        if (batch.producer_id > survey->last_producer_id)
            survey->last_producer_id = batch.producer_id;
    }
    if (err == ERR_CORRUPT_MESSAGE) err = look_at_format(fs, fd, scan.position, survey);
    return err == ERR_NOT_FOUND ? 0 : err;
}

static int look_at_segment(struct fs *fs, const char *folder, int64_t base, bool walks,
                           struct log_survey *survey)
{
    char path[PATH_MAX];
    int fd = -1;
    int64_t size = 0;

    int err = segment_path(folder, base, ".log", path);
    if (err == 0) err = fs->open(fs, path, FS_READ, &fd);
    if (err == 0) err = fs->size(fs, fd, &size);
    if (err == 0) err = look_at_format(fs, fd, 0, survey);
    if (err == 0 && walks) err = walk_headers(fs, fd, size, survey);
    if (fd >= 0) fs->close(fs, fd);
    return err;
}

int log_survey(struct fs *fs, const char *folder, bool snapshot_is_complete,
               struct log_survey *survey)
{
    struct bases bases = { .last_snapshot = -1 };

    *survey = (struct log_survey){ .last_epoch = -1, .last_producer_id = -1 };
    int err = fs->list(fs, folder, note_entry, &bases);
    if (err == 0) err = read_epochs(fs, folder, survey);
    int64_t covered = bases.last_snapshot;
    if (err == 0) err = read_snapshot(fs, folder, survey, &covered);
    if (err == 0 && bases.count > 1)
        qsort(bases.items, bases.count, sizeof *bases.items, compare_bases);
    for (size_t i = 0; err == 0 && i < bases.count; i++) {
        bool is_last = i + 1 == bases.count;
        bool is_covered = covered >= 0 &&
                          (is_last ? snapshot_is_complete : bases.items[i + 1] <= covered);
        err = look_at_segment(fs, folder, bases.items[i], !is_covered, survey);
    }
    survey->segment_count = (unsigned)bases.count;
    mem_free(bases.items);
    return err;
}
