// SPDX-License-Identifier: Apache-2.0
#include "segment_aborted.h"

#include "error.h"

static int path_of(const struct segment *segment, char path[PATH_MAX])
{
    return segment_path(segment->folder->path, segment->base_offset, ".txnindex", path);
}

/* NULL: none. */
static struct txn_index *index_of(struct segment *segment)
{
    pthread_mutex_lock(&segment->folder->lock);
    struct txn_index *index = segment->aborted;
    pthread_mutex_unlock(&segment->folder->lock);
    return index;
}

int segment_aborted_index(struct segment *segment, struct txn_index **index)
{
    struct txn_index *created = index_of(segment);
    int err = 0;

    if (created == NULL) {
        err = txn_index_create(&created, segment->folder->fs, segment->base_offset);
        if (err != 0) return err;
        pthread_mutex_lock(&segment->folder->lock);
        segment->aborted = created;
        pthread_mutex_unlock(&segment->folder->lock);
    }
    *index = created;
    return 0;
}

int segment_aborted_load(struct segment *segment, bool may_be_torn)
{
    struct txn_index *index;
    char path[PATH_MAX];

    int err = path_of(segment, path);
    if (err == 0) err = segment_aborted_index(segment, &index);
    return err != 0 ? err : txn_index_load(index, path, may_be_torn);
}

int segment_aborted_reserve(struct segment *segment, size_t count, bool may_block)
{
    struct txn_index *index;
    char path[PATH_MAX];

    int err = path_of(segment, path);
    if (err == 0) err = segment_aborted_index(segment, &index);
    return err != 0 ? err : txn_index_reserve(index, path, count, may_block);
}

void segment_aborted_append(struct segment *segment, const struct aborted_transaction *aborted)
{
    txn_index_append(segment->aborted, aborted);
}

int segment_aborted_write(struct segment *segment, bool sync)
{
    struct txn_index *index = index_of(segment);
    char path[PATH_MAX];

    if (index == NULL) return 0;
    int err = path_of(segment, path);
    if (err == 0) err = txn_index_put_in_place(index, path);
    return err != 0 ? err : txn_index_write_out(index, path, sync);
}

void segment_aborted_let_go(struct segment *segment)
{
    struct txn_index *index = index_of(segment);

    if (index != NULL) txn_index_shrink(index);
}

int segment_aborted_truncate(struct segment *segment, int64_t offset)
{
    struct txn_index *index = index_of(segment);
    char path[PATH_MAX];

    if (index == NULL) return 0;
    int err = path_of(segment, path);
    return err != 0 ? err : txn_index_truncate(index, path, offset);
}

int segment_aborted_find(struct segment *segment, bool may_block, int64_t from, int64_t below,
                         size_t limit, struct aborted_list *list, bool *is_complete)
{
    struct txn_index *index = index_of(segment);
    char path[PATH_MAX];

    *is_complete = false;
    if (index == NULL) return 0;
    int err = path_of(segment, path);
    if (err != 0) return err;
    return txn_index_find(index, path, may_block, from, below, limit, list, is_complete);
}

static int make_unfinished(struct segment *segment)
{
    char path[PATH_MAX];

    int err = segment_path(segment->folder->path, segment->base_offset, ".txnindex.tmp", path);
    return err != 0 ? err : fs_write_file(segment->folder->fs, path, "", 0, false);
}

int segment_aborted_note_loss(struct segment *segment)
{
    struct fs *fs = segment->folder->fs;
    char path[PATH_MAX];
    bool exists = false;

    int err = path_of(segment, path);
    if (err == 0) err = fs->exists(fs, path, &exists);
    if (err != 0 || exists) return err;
    err = make_unfinished(segment);
    return err != 0 ? err : fs->sync_folder(fs, segment->folder->path);
}

int segment_aborted_begin_again(struct segment *segment)
{
    struct txn_index *index;

    txn_index_close(segment->aborted);
    segment->aborted = NULL;
    int err = segment_aborted_index(segment, &index);
    if (err != 0) return err;
    txn_index_set_aside(index);
    segment->aborted_is_rebuilt = true;
    return make_unfinished(segment);
}

int segment_aborted_complete(struct segment *segment)
{
    bool was_rebuilt = segment->aborted_is_rebuilt;
    int err = segment_aborted_write(segment, false);

    segment->aborted_is_rebuilt = false;
    if (err == 0 && was_rebuilt && txn_index_count(segment->aborted) == 0) {
        txn_index_close(segment->aborted);
        segment->aborted = NULL;
    }
    return err;
}
