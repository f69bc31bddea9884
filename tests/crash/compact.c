// SPDX-License-Identifier: Apache-2.0
/* Compaction among all that is done to a log. Keys come again, and tombstones; the model knows which records a
 * pass may take away, and what else it may change (check.c). */

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "batch_filter.h"
#include "compaction.h"
#include "crash.h"
#include "error.h"

#define MAP_BYTES    (64 * 1024)
#define BUFFER_BYTES 4096

static bool is_cancelled(void *owner)
{
    struct world *world = owner;

    return chance(world, 500) == 0;
}

static void spend_nothing(void *owner, int64_t bytes)
{
    (void)owner;
    (void)bytes;
}

/* ---- where a pass must end: found from the names in the folder and the model, not from the log */

struct bases {
    int64_t values[256];
    size_t count;
};

static int note_base(void *context, const struct fs_entry *entry)
{
    struct bases *bases = context;
    char *end;
    long long base = strtoll(entry->name, &end, 10);

    if (strcmp(end, ".log") != 0 || end != entry->name + 20) return 0;
    if (bases->count == sizeof bases->values / sizeof bases->values[0]) return ERR_LIMIT;
    bases->values[bases->count++] = base;
    return 0;
}

static int compare_bases(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return left < right ? -1 : left > right;
}

static bool is_too_young(const struct partition *partition, int64_t from, int64_t below,
                         int64_t now_ms)
{
    int64_t lag_ms = partition->settings.min_compaction_lag_ms;

    for (size_t i = 0; i < partition->batches.count && lag_ms > 0; i++) {
        const struct model_batch *batch = &partition->batches.list[i];
        if (batch->base_offset >= from && batch->base_offset < below &&
            batch->header.max_timestamp > now_ms - lag_ms)
            return true;
    }
    return false;
}

/* The base of the active segment, or of the first that min.compaction.lag.ms protects. What an earlier pass has
 * cleaned was old enough then, and what lies below the log's start is gone but for the files. */
static int64_t find_end_of_pass(struct world *world, const struct partition *partition,
                                int64_t now_ms)
{
    char folder[PATH_MAX];
    struct bases bases = { .count = 0 };
    int64_t cleaned = 0;

    int err = fs_path(folder, WORLD_FOLDER "/%s-%d", partition->topic, partition->number);
    if (err == 0) err = world->fs->list(world->fs, folder, note_base, &bases);
    promise(world, err == 0 && bases.count > 0, "the segments of a log are listed: %s",
            error_name(err));
    qsort(bases.values, bases.count, sizeof bases.values[0], compare_bases);
    data_dir_checkpoint(world->dir, CHECKPOINT_CLEANED, partition->topic, partition->number,
                        &cleaned);
    if (cleaned < partition->start) cleaned = partition->start;
    for (size_t i = 0; i + 1 < bases.count; i++)
        if (bases.values[i + 1] > cleaned &&
            is_too_young(partition, bases.values[i], bases.values[i + 1], now_ms))
            return bases.values[i];
    return bases.values[bases.count - 1];
}

/* ---- planted: a cleaner that drops what it must not */

struct drop {
    int64_t offset;
};

static bool is_kept(void *context, const struct record_batch *batch, const struct record *record)
{
    const struct drop *drop = context;

    (void)batch;
    return record->offset != drop->offset;
}

/* Is there a later record of its key? */
static bool has_later(const struct partition *partition, const struct model_record *record)
{
    for (size_t i = 0; i < partition->batches.count; i++)
        for (int k = 0; k < partition->batches.list[i].record_count; k++) {
            const struct model_record *other = &partition->batches.list[i].records[k];
            if (other->key == record->key && other->offset > record->offset) return true;
        }
    return false;
}

/* A record of the batch that the plant takes away; -1: it has none. */
static int64_t choose_drop(const struct world *world, const struct partition *partition,
                           const struct record_batch *batch)
{
    for (size_t i = 0; i < partition->batches.count; i++) {
        const struct model_batch *known = &partition->batches.list[i];
        if (known->base_offset != batch->base_offset) continue;
        for (int k = 0; k < known->record_count; k++) {
            const struct model_record *record = &known->records[k];
            bool is_last = !has_later(partition, record);
            if (!record->may_go && record->key < WORLD_KEYS &&
                is_last == (world->plant == PLANT_LAST_VALUE_GONE))
                return record->offset;
        }
    }
    return -1;
}

static int find_cleaned(void *context, const struct fs_entry *entry)
{
    size_t length = strlen(entry->name);

    if (length > 12 && strcmp(entry->name + length - 12, ".log.cleaned") == 0)
        memcpy(context, entry->name, length + 1);
    return 0;
}

/* In the last batch of what a pass has written, so that its indexes stay right. */
static void spoil_last_batch(struct world *world, const struct partition *partition, char *data,
                             size_t *length)
{
    struct record_batch batch = { 0 };
    struct buffer left;
    size_t at = 0, last = 0;

    while (at < *length &&
           record_batch_read_header(&batch, (uint8_t *)data + at, *length - at) == 0) {
        last = at;
        at += batch.size;
    }
    if (at == 0 || at != *length) return;
    struct drop drop = { choose_drop(world, partition, &batch) };
    struct batch_filter filter = { .wants = is_kept, .context = &drop, .keeps_empty = true };
    buffer_init(&left);
    batch.data = (uint8_t *)data + last;
    if (drop.offset >= 0 && batch_filter(&filter, &batch, &left) == 0 &&
        left.length <= batch.size) {
        memcpy(data + last, left.data, left.length);
        *length = last + left.length;
    }
    buffer_close(&left);
}

static void spoil_cleaned(struct world *world, const struct partition *partition)
{
    char folder[PATH_MAX], path[PATH_MAX], name[256] = "";
    char *data = NULL;
    size_t length = 0;

    if (world->plant != PLANT_LAST_VALUE_GONE && world->plant != PLANT_CLEANED_TOO_FAR) return;
    int err = fs_path(folder, WORLD_FOLDER "/%s-%d", partition->topic, partition->number);
    if (err == 0) err = world->fs->list(world->fs, folder, find_cleaned, name);
    if (err != 0 || name[0] == '\0') return;
    err = fs_path(path, "%s/%s", folder, name);
    if (err == 0) err = fs_read_file(world->fs, path, 1 << 22, &data, &length);
    if (err == 0) {
        spoil_last_batch(world, partition, data, &length);
        (void)fs_write_file(world->fs, path, data, length, true);
    }
    mem_free(data);
}

/* ---- a pass */

/* What the writer does between the steps of a pass. */
static int run_steps(struct world *world, struct partition *partition,
                     struct compaction *compaction)
{
    bool is_ready = true;
    int err = 0;

    while (err == 0 && is_ready) {
        err = compaction_next(compaction, &is_ready);
        if (err == 0 && is_ready) spoil_cleaned(world, partition);
        if (percent(world, 20)) act_beside(world, partition);
        if (err == 0 && is_ready) err = compaction_swap(compaction);
        /* Names go to the disk here before most else does: what is behind them must be there. */
        if (err == 0 && is_ready && !world->keeps_power && percent(world, 10))
            fs_sim_cut_power_at(world->disk, 1);
        if (is_over(world)) break;
    }
    return err;
}

void act_compact(struct world *world, struct partition *partition)
{
    struct compaction *compaction = NULL;
    struct compaction_options options = {
        .below_offset = partition->end,
        .now_ms = clock_wall_ms(&world->clock.clock),
        .map_bytes = percent(world, 50) ? MAP_BYTES : 600 + (int64_t)chance(world, 3000),
        .map_load = 0.9,
        .buffer_bytes = BUFFER_BYTES,
        .owner = world,
        .is_cancelled = is_cancelled,
        .spend = spend_nothing,
    };

    if (!partition->is_compacted) return;
    world_hold_fault(world);
    check_log(world, partition); /* The model knows what earlier passes have left. */
    if (is_over(world)) return;
    model_note_pass(partition, find_end_of_pass(world, partition, options.now_ms), options.now_ms);
    world_let_fault(world);
    int err = compaction_begin(&compaction, partition->log, &options);
    partition->is_being_compacted = true;
    if (err == 0) err = run_steps(world, partition, compaction);
    partition->is_being_compacted = false;
    compaction_close(compaction);
    say(world, "%s-%d: compacted: %s", partition->topic, partition->number, error_name(err));
    if (err == ERR_NOT_FOUND || err == ERR_CANCELED) return;
    expect(world, partition, err, "compaction");
    if (err == 0 && !is_over(world)) check_log(world, partition);
}
