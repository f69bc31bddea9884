// SPDX-License-Identifier: Apache-2.0
/* The first half of a pass: which offset is the last of each key, in the dirty part of the log. */

#include "compaction_inside.h"

#include "error.h"

/* *is_full: the map has no room for the record's key; what was mapped so far counts. */
static int map_records(struct compaction *compaction, const struct record_batch *batch,
                       bool *is_full)
{
    struct record_walk *walk = NULL;
    struct record record;

    int err = record_walk_open(&walk, batch, INT64_MAX);
    while (err == 0 && !*is_full && (err = record_walk_next(walk, &record)) == 0) {
        if (record.key.length < 0 || record.offset < compaction->first_dirty) continue;
        if (key_offsets_put(compaction->keys, record.key, record.offset) != 0)
            *is_full = true;
        else
            compaction->latest = record.offset;
    }
    record_walk_close(walk);
    return err == ERR_NOT_FOUND ? 0 : err;
}

static int map_batch(struct compaction *compaction, const struct record_batch *batch, bool *is_full)
{
    const struct aborted_transaction *aborted;
    bool may_go = false;
    int err = 0;

    if (batch->attributes & BATCH_CONTROL)
        err = cleaned_transactions_marker(&compaction->transactions, batch, &may_go, &aborted);
    else
        err = cleaned_transactions_data(&compaction->transactions, batch, &may_go);
    /* A record that was aborted replaces nothing. */
    if (err == 0 && !may_go && !(batch->attributes & BATCH_CONTROL))
        err = map_records(compaction, batch, is_full);
    if (err == 0 && !*is_full && record_batch_last_offset(batch) >= compaction->first_dirty)
        compaction->latest = record_batch_last_offset(batch);
    return err;
}

static int map_source(struct compaction *compaction, const struct compaction_source *source,
                      bool *is_full)
{
    struct record_batch batch;
    int fd = -1;

    int err = compaction_read_source(compaction, source, compaction->first_dirty, &fd);
    while (err == 0 && !*is_full) {
        err = compaction_check(compaction);
        if (err == 0) err = batch_reader_next(&compaction->reader, &batch);
        if (err == 0) err = map_batch(compaction, &batch, is_full);
        if (err == 0) compaction->options.spend(compaction->options.owner, (int64_t)batch.size);
    }
    if (fd >= 0) compaction->fs->close(compaction->fs, fd);
    /* Offsets behind its last batch are a hole. */
    if (err == ERR_NOT_FOUND) compaction->latest = source->end_offset - 1;
    return err == ERR_NOT_FOUND ? 0 : err;
}

int compaction_map_keys(struct compaction *compaction)
{
    const struct compaction_options *options = &compaction->options;
    int64_t end = compaction->sources[compaction->count - 1].end_offset;
    bool is_full = false;

    compaction->latest = compaction->first_dirty - 1;
    int err = key_offsets_open(&compaction->keys, options->map_bytes, options->map_load,
                               end - compaction->first_dirty);
    if (err == 0)
        err = cleaned_transactions_open(&compaction->transactions, compaction->aborted.items,
                                        compaction->aborted.count);
    for (size_t i = 0; i < compaction->count && err == 0 && !is_full; i++) {
        const struct compaction_source *source = &compaction->sources[i];
        if (source->end_offset > compaction->first_dirty)
            err = map_source(compaction, source, &is_full);
    }
    cleaned_transactions_close(&compaction->transactions);
    compaction->result.keys = compaction->keys == NULL
                                  ? 0
                                  : (int64_t)key_offsets_count(compaction->keys);
    compaction->result.end_offset = compaction->latest + 1;
    return err;
}
