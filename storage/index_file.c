// SPDX-License-Identifier: Apache-2.0

#include <assert.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "index_file.h"

static uint32_t entries_per_block(const struct index_file *file)
{
    return INDEX_BLOCK_BYTES / file->entry_size;
}

static uint32_t waiting(const struct index_file *file)
{
    return file->count - file->written;
}

void index_file_init(struct index_file *file, struct fs *fs, uint32_t entry_size)
{
    *file = (struct index_file){ .fs = fs, .entry_size = entry_size, .fd = -1 };
    pthread_mutex_init(&file->lock, NULL);
}

void index_file_close(struct index_file *file)
{
    assert(file->users == 0);
    if (file->fd >= 0) file->fs->close(file->fs, file->fd);
    mem_free(file->block);
    pthread_mutex_destroy(&file->lock);
}

/* The file, for the time until unuse(). `*is_own`: opened for this use only, since it is let go. */
static int use(struct index_file *file, const char *path, bool may_block, int *fd, bool *is_own)
{
    pthread_mutex_lock(&file->lock);
    bool is_open = file->fd >= 0 && !file->is_let_go;
    if (is_open) {
        file->users++;
        *fd = file->fd;
    }
    pthread_mutex_unlock(&file->lock);
    *is_own = !is_open;
    if (is_open) return 0;
    return may_block ? file->fs->open(file->fs, path, FS_WRITE, fd) : ERR_NEEDS_IO;
}

static void unuse(struct index_file *file, int fd, bool is_own)
{
    int to_close = is_own ? fd : -1;

    if (!is_own) {
        pthread_mutex_lock(&file->lock);
        file->users--;
        if (file->users == 0 && file->is_let_go) {
            to_close = file->fd;
            file->fd = -1;
            file->is_let_go = false;
        }
        pthread_mutex_unlock(&file->lock);
    }
    if (to_close >= 0) file->fs->close(file->fs, to_close);
}

int index_file_load(struct index_file *file, const char *path)
{
    int fd;
    bool is_own;
    int64_t size = 0;

    int err = use(file, path, true, &fd, &is_own);
    if (err != 0) return err;
    err = file->fs->size(file->fs, fd, &size);
    unuse(file, fd, is_own);
    if (err == 0 && (size % file->entry_size != 0 || size / file->entry_size > INT32_MAX))
        err = ERR_CORRUPT_MESSAGE;
    if (err == 0) file->written = file->count = (uint32_t)(size / file->entry_size);
    return err;
}

int index_file_reserve(struct index_file *file)
{
    if (file->block != NULL) return 0;
    uint8_t *block = mem_alloc(INDEX_BLOCK_BYTES);
    if (block == NULL) return ERR_NO_MEMORY;
    pthread_mutex_lock(&file->lock);
    file->block = block;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

void index_file_shrink(struct index_file *file)
{
    pthread_mutex_lock(&file->lock);
    if (waiting(file) == 0) {
        mem_free(file->block);
        file->block = NULL;
    }
    pthread_mutex_unlock(&file->lock);
}

int index_file_open_for_append(struct index_file *file, const char *path)
{
    int fd = -1;

    if (index_file_is_open(file)) return 0;
    int err = file->fs->open(file->fs, path, FS_CREATE, &fd);
    if (err != 0) return err;
    pthread_mutex_lock(&file->lock);
    int to_close = -1;
    if (file->fd < 0) {
        file->fd = fd;
    } else { /* Let go, but still used by a search: keep it after all. */
        to_close = fd;
        file->is_let_go = false;
    }
    pthread_mutex_unlock(&file->lock);
    if (to_close >= 0) file->fs->close(file->fs, to_close);
    return 0;
}

bool index_file_is_open(struct index_file *file)
{
    pthread_mutex_lock(&file->lock);
    bool is_open = file->fd >= 0 && !file->is_let_go;
    pthread_mutex_unlock(&file->lock);
    return is_open;
}

void index_file_let_go(struct index_file *file)
{
    int to_close = -1;

    pthread_mutex_lock(&file->lock);
    if (file->fd >= 0 && file->users == 0) {
        to_close = file->fd;
        file->fd = -1;
    } else if (file->fd >= 0) {
        file->is_let_go = true;
    }
    pthread_mutex_unlock(&file->lock);
    if (to_close >= 0) file->fs->close(file->fs, to_close);
}

/* Writes a copy of the waiting entries with the lock free, so that neither searches nor the writer
 * wait for it. Somebody else may write the same ones meanwhile: same bytes, same place. */
static int write_waiting(struct index_file *file, int fd)
{
    uint8_t copy[INDEX_BLOCK_BYTES];

    pthread_mutex_lock(&file->lock);
    uint32_t from = file->written;
    uint32_t to = file->count;
    size_t length = (size_t)(to - from) * file->entry_size;
    if (length > 0) memcpy(copy, file->block, length);
    pthread_mutex_unlock(&file->lock);
    if (length == 0) return 0;

    struct iovec part = { copy, length };
    int err = file->fs->write(file->fs, fd, &part, 1, (int64_t)from * file->entry_size);
    if (err != 0) return err;

    pthread_mutex_lock(&file->lock);
    file->is_dirty = true;
    if (file->written == from) {
        file->written = to;
        memmove(file->block, file->block + length, (size_t)waiting(file) * file->entry_size);
    }
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static bool block_is_full(struct index_file *file)
{
    pthread_mutex_lock(&file->lock);
    bool is_full = waiting(file) == entries_per_block(file);
    pthread_mutex_unlock(&file->lock);
    return is_full;
}

int index_file_append(struct index_file *file, const void *entry)
{
    assert(file->block != NULL);
    if (block_is_full(file)) {
        int fd;
        bool is_own;
        int err = use(file, NULL, false, &fd, &is_own);
        if (err != 0) return err;
        err = write_waiting(file, fd);
        unuse(file, fd, is_own);
        if (err != 0) return err;
    }
    pthread_mutex_lock(&file->lock);
    memcpy(file->block + (size_t)waiting(file) * file->entry_size, entry, file->entry_size);
    file->count++;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static int sync_file(struct index_file *file, int fd)
{
    pthread_mutex_lock(&file->lock);
    file->is_dirty = false;
    pthread_mutex_unlock(&file->lock);
    int err = file->fs->sync(file->fs, fd);
    if (err != 0) {
        pthread_mutex_lock(&file->lock);
        file->is_dirty = true;
        pthread_mutex_unlock(&file->lock);
    }
    return err;
}

int index_file_write_out(struct index_file *file, const char *path, bool sync)
{
    int fd;
    bool is_own;

    pthread_mutex_lock(&file->lock);
    bool has_work = waiting(file) > 0 || (sync && file->is_dirty);
    pthread_mutex_unlock(&file->lock);
    int err = has_work ? use(file, path, true, &fd, &is_own) : 0;
    if (err != 0 || !has_work) return err;
    err = write_waiting(file, fd);
    if (err == 0 && sync) err = sync_file(file, fd);
    unuse(file, fd, is_own);
    return err;
}

int index_file_truncate(struct index_file *file, const char *path, uint32_t count)
{
    int fd;
    bool is_own;

    pthread_mutex_lock(&file->lock);
    assert(count <= file->count);
    file->count = count;
    if (file->written > count) file->written = count;
    file->is_dirty = true;
    uint32_t written = file->written;
    pthread_mutex_unlock(&file->lock);

    int err = use(file, path, true, &fd, &is_own);
    if (err != 0) return err;
    err = file->fs->truncate(file->fs, fd, (int64_t)written * file->entry_size);
    unuse(file, fd, is_own);
    return err;
}

/* Entries [from, to) of the file; ERR_IO if they are not all there. */
static int read_entries(struct index_file *file, int fd, bool may_block, uint32_t from, uint32_t to,
                        uint8_t *entries)
{
    size_t length = (size_t)(to - from) * file->entry_size;
    int64_t offset = (int64_t)from * file->entry_size;
    size_t got = 0;

    int err = may_block ? file->fs->read(file->fs, fd, entries, length, offset, &got)
                        : file->fs->read_nowait(file->fs, fd, entries, length, offset, &got);
    return err == 0 && got < length ? ERR_IO : err;
}

/* Binary search among `count` entries in memory. */
static uint32_t search_memory(const struct index_file *file, const uint8_t *entries, uint32_t count,
                              bool (*is_before)(const void *context, const uint8_t *entry),
                              const void *context)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(context, entries + (size_t)middle * file->entry_size))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Binary search among the first `count` entries of the file, entry by entry down to one block. */
static int search_file(struct index_file *file, int fd, bool may_block, uint32_t count,
                       bool (*is_before)(const void *context, const uint8_t *entry),
                       const void *context, uint32_t *found, uint8_t last[INDEX_ENTRY_MAX])
{
    uint8_t block[INDEX_BLOCK_BYTES];
    uint32_t low = 0; /* Entries below it are before. */
    uint32_t high = count;

    while (high - low >= entries_per_block(file)) {
        uint32_t middle = low + (high - low) / 2;
        int err = read_entries(file, fd, may_block, middle, middle + 1, block);
        if (err != 0) return err;
        if (is_before(context, block))
            low = middle + 1;
        else
            high = middle;
    }
    /* One more in front: the answer may be the last entry below `low`. */
    uint32_t first = low > 0 ? low - 1 : 0;
    int err = high > first ? read_entries(file, fd, may_block, first, high, block) : 0;
    if (err != 0) return err;
    *found = first + search_memory(file, block, high - first, is_before, context);
    if (*found > first)
        memcpy(last, block + (size_t)(*found - first - 1) * file->entry_size, file->entry_size);
    return 0;
}

int index_file_search(struct index_file *file, const char *path, bool may_block,
                      bool (*is_before)(const void *context, const uint8_t *entry),
                      const void *context, uint32_t *found, uint8_t last[INDEX_ENTRY_MAX])
{
    int fd;
    bool is_own;
    uint32_t in_block = 0;

    pthread_mutex_lock(&file->lock);
    uint32_t written = file->written;
    if (waiting(file) > 0) {
        in_block = search_memory(file, file->block, waiting(file), is_before, context);
        if (in_block > 0)
            memcpy(last, file->block + (size_t)(in_block - 1) * file->entry_size, file->entry_size);
    }
    pthread_mutex_unlock(&file->lock);
    if (in_block > 0 || written == 0) {
        *found = written + in_block;
        return 0;
    }

    int err = use(file, path, may_block, &fd, &is_own);
    if (err != 0) return err;
    err = search_file(file, fd, may_block, written, is_before, context, found, last);
    unuse(file, fd, is_own);
    return err;
}
