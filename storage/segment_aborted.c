// SPDX-License-Identifier: Apache-2.0
#include "segment_aborted.h"

#include "error.h"

static int path_of(const struct segment *segment, char path[PATH_MAX])
{
    return segment_path(segment->folder->path, segment->base_offset,
                        segment->aborted_is_rebuilt ? ".txnindex.tmp" : ".txnindex", path);
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

static int remove_if_there(struct segment *segment, const char *suffix)
{
    char path[PATH_MAX];

    int err = segment_path(segment->folder->path, segment->base_offset, suffix, path);
    if (err == 0) err = segment->folder->fs->remove(segment->folder->fs, path);
    return err == ERR_NOT_FOUND ? 0 : err;
}

int segment_aborted_begin_again(struct segment *segment)
{
    txn_index_close(segment->aborted);
    segment->aborted = NULL;
    segment->aborted_is_rebuilt = true;
    return remove_if_there(segment, ".txnindex.tmp");
}

static int replace_bad_file(struct segment *segment)
{
    char from[PATH_MAX], to[PATH_MAX];

    if (segment->aborted == NULL || txn_index_count(segment->aborted) == 0) {
        segment->aborted_is_rebuilt = false;
        return remove_if_there(segment, ".txnindex");
    }
    int err = segment_aborted_write(segment, true);
    if (err == 0) err = path_of(segment, from);
    if (err == 0) err = segment_path(segment->folder->path, segment->base_offset, ".txnindex", to);
    if (err == 0) err = segment->folder->fs->rename(segment->folder->fs, from, to);
    if (err == 0) segment->aborted_is_rebuilt = false;
    return err;
}

/* On a full disk entries stay in memory as far as they do not fit, and a bad file where it is: then the
 * next opening tries again. */
int segment_aborted_complete(struct segment *segment)
{
    int err = segment->aborted_is_rebuilt ? replace_bad_file(segment)
                                          : segment_aborted_write(segment, false);

    return err == ERR_NO_SPACE ? 0 : err;
}
