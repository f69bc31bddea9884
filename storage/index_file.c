// SPDX-License-Identifier: Apache-2.0

#include "index_file.h"

#include <assert.h>
#include <string.h>

#include "alloc.h"
#include "error.h"

/* What a file has while it is appended to. */
struct index_tail {
    uint32_t waiting; /* So many entries at the end of all are in `block` only. */
    struct open_file
        *pinned; /* Between begin and end: if it was open, or will be needed soon. Writer. */
    bool has_last;
    uint8_t last[INDEX_ENTRY_MAX]; /* The last of all, waiting or not. */
    uint8_t block[INDEX_BLOCK_BYTES];
};

static uint32_t entries_per_block(const struct index_file *file)
{
    return INDEX_BLOCK_BYTES / file->kind->entry_size;
}

/* Under the lock, or by the writer. */
static uint32_t waiting(const struct index_file *file)
{
    return file->tail == NULL ? 0 : file->tail->waiting;
}

static void lock(struct index_file *file)
{
    pthread_mutex_lock(&file->folder->lock);
}

static void unlock(struct index_file *file)
{
    pthread_mutex_unlock(&file->folder->lock);
}

static int path_of(const struct index_file *file, char path[PATH_MAX])
{
    return segment_path(file->folder->path, file->base_offset, file->kind->suffix, path);
}

void index_file_init(struct index_file *file, const struct index_kind *kind,
                     struct segment_folder *folder, int64_t base_offset)
{
    *file = (struct index_file){
        .kind = kind,
        .folder = folder,
        .base_offset = base_offset,
        .id = block_cache_new_id(folder->blocks),
    };
}

void index_file_close(struct index_file *file)
{
    file_cache_let_go(file->folder->files, &file->file, &file->folder->lock);
    mem_free(file->tail);
    file->tail = NULL;
}

/* The file, pinned. */
static int pin(struct index_file *file, enum fs_open_mode mode, bool may_block,
               struct open_file **pinned)
{
    char path[PATH_MAX];

    if (file_cache_pin(&file->file, &file->folder->lock, pinned)) return 0;
    if (!may_block) return ERR_NEEDS_IO;
    int err = path_of(file, path);
    if (err == 0)
        err = file_cache_open_file(file->folder->files, path, mode, sizeof **pinned, &file->file,
                                   &file->folder->lock, pinned);
    return err;
}

static void unpin(struct index_file *file, struct open_file *pinned)
{
    file_cache_unpin(file->folder->files, pinned);
}

int index_file_hold(struct index_file *file, struct open_file **held)
{
    return pin(file, FS_CREATE, true, held);
}

void index_file_unhold(struct index_file *file, struct open_file *held)
{
    if (held != NULL) unpin(file, held);
}

int index_file_load(struct index_file *file, bool may_be_torn)
{
    struct fs *fs = file->folder->fs;
    char path[PATH_MAX];
    int64_t size = 0;

    int err = path_of(file, path);
    if (err == 0) err = fs->path_size(fs, path, &size);
    bool is_torn = err == 0 && size % file->kind->entry_size != 0;
    if (err == 0 && ((is_torn && !may_be_torn) || size / file->kind->entry_size > INT32_MAX))
        err = ERR_CORRUPT_MESSAGE;
    if (err != 0) return err;
    file->count = (uint32_t)(size / file->kind->entry_size);
    file->has_torn = is_torn;
    return 0;
}

int index_file_reset(struct index_file *file)
{
    char path[PATH_MAX];

    index_file_close(file);
    int err = path_of(file, path);
    if (err == 0) err = fs_write_file(file->folder->fs, path, "", 0, false);
    index_file_init(file, file->kind, file->folder, file->base_offset);
    file->is_dirty = true;
    return err;
}

/* ---- searching */

/* A look at a file: what it was when the search began. */
struct search {
    struct index_file *file;
    struct open_file *pinned; /* NULL: not needed so far. */
    uint64_t id;
    uint32_t count;
    bool may_block;
    bool (*is_before)(const void *context, const uint8_t *entry);
    const void *context;
};

static bool is_before(const struct search *search, const uint8_t *entry)
{
    return search->file->kind->is_used(entry) && search->is_before(search->context, entry);
}

static uint32_t block_entries(const struct search *search, uint32_t number)
{
    uint32_t all = entries_per_block(search->file);
    uint32_t rest = search->count - number * all;

    return rest < all ? rest : all;
}

/* All of a block, from the file to the cache. */
static int read_block(struct search *search, uint32_t number, uint8_t block[INDEX_BLOCK_BYTES])
{
    struct index_file *file = search->file;
    struct fs *fs = file->folder->fs;
    uint32_t size = file->kind->entry_size;
    size_t length = (size_t)block_entries(search, number) * size;
    int64_t offset = (int64_t)number * entries_per_block(file) * size;
    size_t got = 0;
    int err = 0;

    if (search->pinned == NULL) err = pin(file, FS_WRITE, search->may_block, &search->pinned);
    if (err == 0)
        err = search->may_block
                  ? fs->read(fs, search->pinned->fd, block, length, offset, &got)
                  : fs->read_nowait(fs, search->pinned->fd, block, length, offset, &got);
    if (err == 0 && got < length) err = ERR_CORRUPT_MESSAGE;
    if (err == 0) block_cache_put(file->folder->blocks, search->id, number, block, length);
    return err;
}

/* The first block whose first entry is not before, from 1 on: the answer ends in the one in front. */
static int find_block(struct search *search, uint32_t *number)
{
    uint8_t block[INDEX_BLOCK_BYTES];
    uint32_t size = search->file->kind->entry_size;
    uint32_t low = 1;
    uint32_t high = (search->count - 1) / entries_per_block(search->file) + 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int err = 0;
        if (!block_cache_get(search->file->folder->blocks, search->id, middle, 0, size, block))
            err = read_block(search, middle, block);
        if (err != 0) return err;
        if (is_before(search, block))
            low = middle + 1;
        else
            high = middle;
    }
    *number = low;
    return 0;
}

/* How many of `count` entries in memory are before? */
static uint32_t search_entries(const struct search *search, const uint8_t *entries, uint32_t count)
{
    uint32_t size = search->file->kind->entry_size;
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(search, entries + (size_t)middle * size))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int search_file(struct search *search, uint32_t *found, uint8_t last[INDEX_ENTRY_MAX])
{
    uint8_t block[INDEX_BLOCK_BYTES];
    uint32_t size = search->file->kind->entry_size;
    uint32_t number = 0;

    int err = find_block(search, &number);
    if (err != 0) return err;
    uint32_t count = block_entries(search, --number);
    if (!block_cache_get(search->file->folder->blocks, search->id, number, 0, (size_t)count * size,
                         block))
        err = read_block(search, number, block);
    if (err != 0) return err;
    uint32_t in_block = search_entries(search, block, count);
    *found = number * entries_per_block(search->file) + in_block;
    if (in_block > 0) memcpy(last, block + (size_t)(in_block - 1) * size, size);
    return 0;
}

int index_file_search(struct index_file *file, bool may_block,
                      bool (*before)(const void *context, const uint8_t *entry),
                      const void *context, uint32_t *found, uint8_t last[INDEX_ENTRY_MAX])
{
    struct search search = {
        .file = file,
        .may_block = may_block,
        .is_before = before,
        .context = context,
    };
    uint32_t in_tail = 0;

    lock(file);
    search.id = file->id;
    search.count = file->count - waiting(file);
    if (waiting(file) > 0) {
        in_tail = search_entries(&search, file->tail->block, file->tail->waiting);
        if (in_tail > 0)
            memcpy(last, file->tail->block + (size_t)(in_tail - 1) * file->kind->entry_size,
                   file->kind->entry_size);
    }
    unlock(file);
    if (in_tail > 0 || search.count == 0) {
        *found = search.count + in_tail;
        return 0;
    }
    int err = search_file(&search, found, last);
    if (search.pinned != NULL) unpin(file, search.pinned);
    return err;
}

static bool is_any(const void *context, const uint8_t *entry)
{
    (void)context;
    (void)entry;
    return true;
}

/* One entry, past the cache: who asks for the last ones asks many files once. */
static int read_entry(struct index_file *file, bool may_block, uint32_t index,
                      uint8_t entry[INDEX_ENTRY_MAX])
{
    struct fs *fs = file->folder->fs;
    uint32_t size = file->kind->entry_size;
    int64_t offset = (int64_t)index * size;
    struct open_file *pinned;
    size_t got = 0;
    int err = pin(file, FS_WRITE, may_block, &pinned);

    if (err != 0) return err;
    err = may_block ? fs->read(fs, pinned->fd, entry, size, offset, &got)
                    : fs->read_nowait(fs, pinned->fd, entry, size, offset, &got);
    unpin(file, pinned);
    return err == 0 && got < size ? ERR_CORRUPT_MESSAGE : err;
}

int index_file_find_last(struct index_file *file, bool may_block, uint32_t *found,
                         uint8_t last[INDEX_ENTRY_MAX])
{
    uint8_t entry[INDEX_ENTRY_MAX];

    lock(file);
    uint32_t count = file->count;
    bool is_known = count == 0 || (file->tail != NULL && file->tail->has_last);
    if (is_known && count > 0) memcpy(last, file->tail->last, file->kind->entry_size);
    unlock(file);
    if (!is_known) {
        int err = read_entry(file, may_block, count - 1, entry);
        if (err != 0) return err;
        if (!file->kind->is_used(entry))
            return index_file_search(file, may_block, is_any, NULL, found, last);
        memcpy(last, entry, file->kind->entry_size);
    }
    *found = count;
    return 0;
}

/* ---- writing */

/* Memory for waiting entries, and what the last one was. */
static int make_tail(struct index_file *file, bool may_block)
{
    uint32_t found = 0;

    if (file->tail != NULL) return 0;
    struct index_tail *tail = mem_alloc(sizeof *tail);
    if (tail == NULL) return ERR_NO_MEMORY;
    tail->waiting = 0;
    tail->pinned = NULL;
    int err = index_file_find_last(file, may_block, &found, tail->last);
    if (err != 0) {
        mem_free(tail);
        return err;
    }
    tail->has_last = found > 0;
    lock(file);
    if (file->count != found) { /* What is unused will be overwritten. */
        file->count = found;
        file->id = block_cache_new_id(file->folder->blocks);
    }
    file->tail = tail;
    unlock(file);
    return 0;
}

int index_file_begin_append(struct index_file *file, bool may_block)
{
    struct open_file *pinned = NULL;
    int err = make_tail(file, may_block);

    if (err != 0) return err;
    assert(file->tail->pinned == NULL);
    lock(file);
    bool is_needed_soon = file->tail->waiting >= entries_per_block(file) / 2;
    unlock(file);
    if (!file_cache_pin(&file->file, &file->folder->lock, &pinned) && is_needed_soon)
        err = pin(file, FS_CREATE, may_block, &pinned);
    file->tail->pinned = pinned;
    return err;
}

void index_file_end_append(struct index_file *file)
{
    struct open_file *pinned = file->tail->pinned;

    file->tail->pinned = NULL;
    if (pinned != NULL) unpin(file, pinned);
}

const uint8_t *index_file_last(const struct index_file *file)
{
    return file->tail->has_last ? file->tail->last : NULL;
}

/* Writes a copy of the waiting entries with the lock free, so that neither searches nor the writer
 * wait for it. Somebody else may write the same ones meanwhile: same bytes, same place. */
static int write_waiting(struct index_file *file, int fd)
{
    struct fs *fs = file->folder->fs;
    uint8_t copy[INDEX_BLOCK_BYTES];

    lock(file);
    uint32_t count = waiting(file);
    uint32_t from = file->count - count;
    size_t length = (size_t)count * file->kind->entry_size;
    if (count > 0) memcpy(copy, file->tail->block, length);
    unlock(file);
    if (count == 0) return 0;

    struct iovec part = { copy, length };
    int err = fs->write(fs, fd, &part, 1, (int64_t)from * file->kind->entry_size);
    if (err != 0) return err;

    lock(file);
    file->is_dirty = true;
    if (file->count - waiting(file) == from) {
        file->tail->waiting -= count;
        memmove(file->tail->block, file->tail->block + length,
                (size_t)file->tail->waiting * file->kind->entry_size);
    }
    unlock(file);
    return 0;
}

int index_file_append(struct index_file *file, const void *entry)
{
    uint32_t size = file->kind->entry_size;

    lock(file);
    bool is_full = file->tail->waiting == entries_per_block(file);
    unlock(file);
    int err = 0;
    /* So many entries at once that the block was not half full when they began: no matter for a loop, it
     * is once in hundreds of kilobytes. */
    if (is_full && file->tail->pinned == NULL)
        err = pin(file, FS_CREATE, true, &file->tail->pinned);
    if (err == 0 && is_full) err = write_waiting(file, file->tail->pinned->fd);
    if (err != 0) return err;
    lock(file);
    memcpy(file->tail->block + (size_t)file->tail->waiting * size, entry, size);
    memcpy(file->tail->last, entry, size);
    file->tail->has_last = true;
    file->tail->waiting++;
    file->count++;
    unlock(file);
    return 0;
}

static int sync_file(struct index_file *file, int fd)
{
    struct fs *fs = file->folder->fs;

    lock(file);
    file->is_dirty = false;
    unlock(file);
    int err = fs->sync(fs, fd);
    if (err != 0) {
        lock(file);
        file->is_dirty = true;
        unlock(file);
    }
    return err;
}

bool index_file_has_changed(struct index_file *file)
{
    lock(file);
    bool has_changed = waiting(file) > 0 || file->is_dirty;
    unlock(file);
    return has_changed;
}

int index_file_write_out(struct index_file *file, bool sync)
{
    struct open_file *pinned;

    lock(file);
    bool has_work = waiting(file) > 0 || (sync && file->is_dirty);
    unlock(file);
    int err = has_work ? pin(file, FS_CREATE, true, &pinned) : 0;
    if (err != 0 || !has_work) return err;
    err = write_waiting(file, pinned->fd);
    if (err == 0 && sync) err = sync_file(file, pinned->fd);
    unpin(file, pinned);
    return err;
}

void index_file_let_go(struct index_file *file)
{
    struct index_tail *tail = NULL;

    lock(file);
    if (waiting(file) == 0) {
        tail = file->tail;
        file->tail = NULL;
    }
    unlock(file);
    mem_free(tail);
    file_cache_let_go(file->folder->files, &file->file, &file->folder->lock);
}

int index_file_truncate(struct index_file *file, uint32_t count)
{
    struct fs *fs = file->folder->fs;
    struct open_file *pinned;
    struct index_tail *tail = NULL;

    lock(file);
    assert(count <= file->count);
    if (count == file->count && !file->has_torn) {
        unlock(file);
        return 0;
    }
    uint32_t written = file->count - waiting(file);
    uint32_t left = count > written ? count - written : 0;
    file->count = count;
    if (left > 0) {
        file->tail->waiting = left;
        memcpy(file->tail->last, file->tail->block + (size_t)(left - 1) * file->kind->entry_size,
               file->kind->entry_size);
    } else { /* What was the last one is read again where it is needed. */
        tail = file->tail;
        file->tail = NULL;
    }
    if (written > count) written = count;
    file->is_dirty = true;
    file->has_torn = false;
    unlock(file);
    mem_free(tail);

    int err = pin(file, FS_CREATE, true, &pinned);
    if (err != 0) return err;
    err = fs->truncate(fs, pinned->fd, (int64_t)written * file->kind->entry_size);
    unpin(file, pinned);
    lock(file);
    file->id = block_cache_new_id(file->folder->blocks);
    unlock(file);
    return err;
}
