// SPDX-License-Identifier: Apache-2.0
#include "txn_index.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "alloc.h"
#include "bytes.h"
#include "error.h"

#define ENTRY_VERSION    0
#define BLOCK_ENTRIES    120  /* As many as fit into a page: written and read at once. */
#define TORN_ENTRIES_MAX 4096 /* Whatever is longer is built again. */
#define ENTRIES_MAX      (INT32_MAX / TXN_INDEX_ENTRY_SIZE)

struct txn_index {
    struct fs *fs;
    int64_t base_offset;
    pthread_mutex_t lock; /* For all that follows; not held across I/O. */
    pthread_cond_t idle;  /* Nobody writes. */
    bool is_writing;
    uint32_t written; /* Entries in the file; the others wait. */
    uint32_t waiting_count, waiting_capacity;
    struct aborted_transaction *waiting;
    int64_t written_last; /* Last offset of the last entry in the file, -1 none. */
    bool is_dirty;        /* The file has changed since it was synced. */
    bool is_aside;        /* Changes only for who writes. */
};

int txn_index_create(struct txn_index **index, struct fs *fs, int64_t base_offset)
{
    struct txn_index *created = mem_zalloc(sizeof *created);

    if (created == NULL) return ERR_NO_MEMORY;
    created->fs = fs;
    created->base_offset = base_offset;
    created->written_last = -1;
    pthread_mutex_init(&created->lock, NULL);
    pthread_cond_init(&created->idle, NULL);
    *index = created;
    return 0;
}

void txn_index_close(struct txn_index *index)
{
    if (index == NULL) return;
    pthread_cond_destroy(&index->idle);
    pthread_mutex_destroy(&index->lock);
    mem_free(index->waiting);
    mem_free(index);
}

void txn_index_set_aside(struct txn_index *index)
{
    index->is_aside = true;
}

/* The file's own name, by (5). */
static int name_of(const char *path, bool is_aside, char name[PATH_MAX])
{
    return fs_path(name, "%s%s", path, is_aside ? ".tmp" : "");
}

/* ---- entries */

static void put_entry(uint8_t *to, const struct aborted_transaction *aborted)
{
    store_i16(to, ENTRY_VERSION);
    store_i64(to + 2, aborted->producer_id);
    store_i64(to + 10, aborted->first_offset);
    store_i64(to + 18, aborted->last_offset);
    store_i64(to + 26, aborted->last_stable_offset);
}

int txn_index_read_entry(const uint8_t from[TXN_INDEX_ENTRY_SIZE],
                         struct aborted_transaction *aborted)
{
    *aborted = (struct aborted_transaction){
        .producer_id = load_i64(from + 2),
        .first_offset = load_i64(from + 10),
        .last_offset = load_i64(from + 18),
        .last_stable_offset = load_i64(from + 26),
    };
    /* A transaction has a record in front of its marker: so zeros are no entry. */
    bool is_good = load_i16(from) == ENTRY_VERSION && aborted->producer_id >= 0 &&
                   aborted->first_offset >= 0 && aborted->first_offset < aborted->last_offset &&
                   aborted->last_offset < INT64_MAX && aborted->last_stable_offset >= 0 &&
                   aborted->last_stable_offset <= aborted->last_offset + 1;
    return is_good ? 0 : ERR_CORRUPT_MESSAGE;
}

static int get_entry(const struct txn_index *index, const uint8_t *from,
                     struct aborted_transaction *aborted)
{
    int err = txn_index_read_entry(from, aborted);

    return err == 0 && aborted->last_offset < index->base_offset ? ERR_CORRUPT_MESSAGE : err;
}

/* Reads `count` entries of the file, at most a block. */
static int read_entries(const struct txn_index *index, int fd, uint32_t first, uint32_t count,
                        struct aborted_transaction *entries)
{
    uint8_t block[BLOCK_ENTRIES * TXN_INDEX_ENTRY_SIZE];
    size_t length = (size_t)count * TXN_INDEX_ENTRY_SIZE;
    size_t got = 0;

    assert(count <= BLOCK_ENTRIES);
    int err = index->fs->read(index->fs, fd, block, length, (int64_t)first * TXN_INDEX_ENTRY_SIZE,
                              &got);
    if (err == 0 && got < length) err = ERR_CORRUPT_MESSAGE;
    for (uint32_t i = 0; i < count && err == 0; i++)
        err = get_entry(index, block + (size_t)i * TXN_INDEX_ENTRY_SIZE, &entries[i]);
    return err;
}

static uint32_t block_at(uint32_t first, uint32_t count)
{
    return count - first < BLOCK_ENTRIES ? count - first : BLOCK_ENTRIES;
}

/* ---- loading */

/* (1) */
static int check_order(const struct txn_index *index, int fd, uint32_t count, int64_t *last_offset)
{
    struct aborted_transaction entries[BLOCK_ENTRIES];
    int64_t last = -1;
    int err = 0;

    for (uint32_t at = 0; at < count && err == 0; at += BLOCK_ENTRIES) {
        uint32_t in_block = block_at(at, count);
        err = read_entries(index, fd, at, in_block, entries);
        for (uint32_t i = 0; i < in_block && err == 0; i++) {
            if (entries[i].last_offset <= last) err = ERR_CORRUPT_MESSAGE;
            last = entries[i].last_offset;
        }
    }
    if (err == 0) *last_offset = last;
    return err;
}

/* Can it be what a power cut leaves of an unsynced entry? Its beginning, and no more of the file or zeros where
 * no data came to. `bytes` are filled up with zeros. */
static bool is_torn_entry(const struct txn_index *index, const uint8_t bytes[TXN_INDEX_ENTRY_SIZE])
{
    struct aborted_transaction entry;

    return get_entry(index, bytes, &entry) != 0 && bytes[TXN_INDEX_ENTRY_SIZE - 1] == 0 &&
           load_i16(bytes) == ENTRY_VERSION && load_i64(bytes + 2) >= 0;
}

/* *count: of the entries in front of those that are torn; ERR_CORRUPT_MESSAGE: the last is not whole, nor is it
 * torn. */
static int find_torn(const struct txn_index *index, int fd, int64_t size, uint32_t *count)
{
    static const uint8_t zeros[TXN_INDEX_ENTRY_SIZE];
    uint32_t least = *count > TORN_ENTRIES_MAX ? *count - TORN_ENTRIES_MAX : 0;
    int64_t at = size - size % TXN_INDEX_ENTRY_SIZE;
    bool is_zero = true; /* Only one that is not has its beginning. */

    if (at == size) at -= TXN_INDEX_ENTRY_SIZE;
    for (; at >= (int64_t)least * TXN_INDEX_ENTRY_SIZE && is_zero; at -= TXN_INDEX_ENTRY_SIZE) {
        uint8_t bytes[TXN_INDEX_ENTRY_SIZE] = { 0 };
        size_t got = 0;
        int err = index->fs->read(index->fs, fd, bytes, sizeof bytes, at, &got);
        if (err != 0) return err;
        if (!is_torn_entry(index, bytes)) return got == sizeof bytes ? 0 : ERR_CORRUPT_MESSAGE;
        is_zero = memcmp(bytes, zeros, sizeof zeros) == 0;
        *count = (uint32_t)(at / TXN_INDEX_ENTRY_SIZE);
    }
    return 0;
}

int txn_index_load(struct txn_index *index, const char *path, bool may_be_torn)
{
    struct fs *fs = index->fs;
    int64_t size = 0;
    int64_t last_offset = -1;
    int fd = -1;

    int err = fs->open(fs, path, may_be_torn ? FS_WRITE : FS_READ, &fd);
    if (err == 0) err = fs->size(fs, fd, &size);
    bool is_whole = size % TXN_INDEX_ENTRY_SIZE == 0 || may_be_torn;
    if (err == 0 && (!is_whole || size / TXN_INDEX_ENTRY_SIZE > ENTRIES_MAX))
        err = ERR_CORRUPT_MESSAGE;
    uint32_t count = err == 0 ? (uint32_t)(size / TXN_INDEX_ENTRY_SIZE) : 0;
    if (err == 0 && may_be_torn) err = find_torn(index, fd, size, &count);
    if (err == 0) err = check_order(index, fd, count, &last_offset);
    bool is_cut = (int64_t)count * TXN_INDEX_ENTRY_SIZE < size;
    if (err == 0 && is_cut) err = fs->truncate(fs, fd, (int64_t)count * TXN_INDEX_ENTRY_SIZE);
    if (err == 0) index->is_dirty = is_cut;
    if (fd >= 0) fs->close(fs, fd);
    if (err != 0) return err;
    index->written = count;
    index->written_last = last_offset;
    return 0;
}

/* ---- writing */

/* Takes down the waiting entries as they are in the file. */
static int encode_waiting(struct txn_index *index, uint8_t **bytes, uint32_t *count,
                          int64_t *position)
{
    int err = 0;

    pthread_mutex_lock(&index->lock);
    *count = index->waiting_count;
    *position = (int64_t)index->written * TXN_INDEX_ENTRY_SIZE;
    *bytes = *count == 0 ? NULL : mem_alloc((size_t)*count * TXN_INDEX_ENTRY_SIZE);
    if (*count > 0 && *bytes == NULL) err = ERR_NO_MEMORY;
    for (uint32_t i = 0; i < *count && err == 0; i++)
        put_entry(*bytes + (size_t)i * TXN_INDEX_ENTRY_SIZE, &index->waiting[i]);
    pthread_mutex_unlock(&index->lock);
    return err;
}

/* The first `count` waiting entries are in the file. */
static void note_written(struct txn_index *index, uint32_t count)
{
    pthread_mutex_lock(&index->lock);
    index->written += count;
    index->written_last = index->waiting[count - 1].last_offset;
    index->waiting_count -= count;
    memmove(index->waiting, index->waiting + count, index->waiting_count * sizeof *index->waiting);
    index->is_dirty = true;
    pthread_mutex_unlock(&index->lock);
}

static int write_out(struct txn_index *index, const char *path, bool sync)
{
    struct fs *fs = index->fs;
    char name[PATH_MAX];
    uint8_t *bytes = NULL;
    uint32_t count = 0;
    int64_t position = 0;
    int fd = -1;

    int err = name_of(path, index->is_aside, name);
    if (err == 0) err = encode_waiting(index, &bytes, &count, &position);
    pthread_mutex_lock(&index->lock);
    bool has_work = count > 0 || (sync && index->is_dirty);
    pthread_mutex_unlock(&index->lock);
    if (err == 0 && has_work) err = fs->open(fs, name, FS_CREATE, &fd);
    if (err == 0 && count > 0) {
        struct iovec part = { bytes, (size_t)count * TXN_INDEX_ENTRY_SIZE };
        err = fs->write(fs, fd, &part, 1, position);
        if (err == 0) note_written(index, count);
    }
    if (err == 0 && sync && has_work) {
        err = fs->sync(fs, fd);
        pthread_mutex_lock(&index->lock);
        if (err == 0) index->is_dirty = false;
        pthread_mutex_unlock(&index->lock);
    }
    if (fd >= 0) fs->close(fs, fd);
    mem_free(bytes);
    return err;
}

/* From here to end_writing() one thread at a time. */
static void begin_writing(struct txn_index *index)
{
    pthread_mutex_lock(&index->lock);
    while (index->is_writing)
        pthread_cond_wait(&index->idle, &index->lock);
    index->is_writing = true;
    pthread_mutex_unlock(&index->lock);
}

static void end_writing(struct txn_index *index)
{
    pthread_mutex_lock(&index->lock);
    index->is_writing = false;
    pthread_cond_broadcast(&index->idle);
    pthread_mutex_unlock(&index->lock);
}

int txn_index_write_out(struct txn_index *index, const char *path, bool sync)
{
    begin_writing(index);
    int err = write_out(index, path, sync);
    end_writing(index);
    return err;
}

static int remove_if_there(struct fs *fs, const char *path)
{
    int err = fs->remove(fs, path);

    return err == ERR_NOT_FOUND ? 0 : err;
}

/* What is aside says that it is not done: it is the last to go. */
static int replace_file(struct txn_index *index, const char *path)
{
    struct fs *fs = index->fs;
    char aside[PATH_MAX];

    int err = name_of(path, true, aside);
    if (err == 0) err = write_out(index, path, true);
    if (err == 0 && txn_index_count(index) > 0) return fs->rename(fs, aside, path);
    if (err == 0) err = remove_if_there(fs, path);
    return err != 0 ? err : remove_if_there(fs, aside);
}

int txn_index_put_in_place(struct txn_index *index, const char *path)
{
    begin_writing(index);
    int err = index->is_aside ? replace_file(index, path) : 0;
    pthread_mutex_lock(&index->lock);
    if (err == 0) index->is_aside = false;
    pthread_mutex_unlock(&index->lock);
    end_writing(index);
    return err;
}

/* Under the lock. */
static int make_room(struct txn_index *index, size_t count)
{
    size_t wanted = index->waiting_count + count;

    if (wanted <= index->waiting_capacity) return 0;
    wanted = wanted < 8 ? 8 : wanted + wanted / 2;
    struct aborted_transaction *waiting = mem_realloc(index->waiting, wanted * sizeof *waiting);
    if (waiting == NULL) return ERR_NO_MEMORY;
    index->waiting = waiting;
    index->waiting_capacity = (uint32_t)wanted;
    return 0;
}

int txn_index_reserve(struct txn_index *index, const char *path, size_t count, bool may_block)
{
    int err = 0;

    pthread_mutex_lock(&index->lock);
    bool must_write = index->waiting_count >= BLOCK_ENTRIES &&
                      index->waiting_count + count > index->waiting_capacity;
    pthread_mutex_unlock(&index->lock);
    if (must_write) err = may_block ? txn_index_write_out(index, path, false) : ERR_NEEDS_IO;
    if (err == ERR_NO_SPACE) err = 0; /* They wait in memory, that much more of it. */
    pthread_mutex_lock(&index->lock);
    if (err == 0) err = make_room(index, count);
    pthread_mutex_unlock(&index->lock);
    return err;
}

void txn_index_shrink(struct txn_index *index)
{
    pthread_mutex_lock(&index->lock);
    if (index->waiting_count == 0) {
        mem_free(index->waiting);
        index->waiting = NULL;
        index->waiting_capacity = 0;
    }
    pthread_mutex_unlock(&index->lock);
}

void txn_index_append(struct txn_index *index, const struct aborted_transaction *aborted)
{
    pthread_mutex_lock(&index->lock);
    assert(index->waiting_count < index->waiting_capacity);
    index->waiting[index->waiting_count++] = *aborted;
    pthread_mutex_unlock(&index->lock);
}

/* ---- searching */

/* How many entries of the file ended below `offset`? */
static int count_below(const struct txn_index *index, int fd, uint32_t count, int64_t offset,
                       uint32_t *below)
{
    uint32_t low = 0;
    uint32_t high = count;
    int err = 0;

    while (low < high && err == 0) {
        struct aborted_transaction entry;
        uint32_t middle = low + (high - low) / 2;
        err = read_entries(index, fd, middle, 1, &entry);
        if (err == 0 && entry.last_offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (err == 0) *below = low;
    return err;
}

struct search {
    int64_t from, below;
    size_t limit;
    struct aborted_list *list;
    bool is_complete;
};

static int grow(struct aborted_list *list)
{
    size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
    struct aborted_transaction *items = mem_realloc(list->items, capacity * sizeof *items);

    if (items == NULL) return ERR_NO_MEMORY;
    list->items = items;
    list->capacity = capacity;
    return 0;
}

static int look_at(struct search *search, const struct aborted_transaction *entry)
{
    struct aborted_list *list = search->list;
    int err = 0;

    if (entry->last_offset >= search->from && entry->first_offset < search->below) {
        if (list->count == search->limit) return ERR_LIMIT;
        if (list->count == list->capacity) err = grow(list);
        if (err == 0) list->items[list->count++] = *entry;
    }
    /* All that was open then began at or above that offset, and so did whatever came later. */
    if (entry->last_stable_offset >= search->below) search->is_complete = true;
    return err;
}

static int look_into_file(struct txn_index *index, const char *path, uint32_t count,
                          struct search *search)
{
    struct aborted_transaction entries[BLOCK_ENTRIES];
    uint32_t at = 0;
    int fd = -1;

    int err = index->fs->open(index->fs, path, FS_READ, &fd);
    if (err == 0) err = count_below(index, fd, count, search->from, &at);
    while (err == 0 && at < count && !search->is_complete) {
        uint32_t in_block = block_at(at, count);
        err = read_entries(index, fd, at, in_block, entries);
        for (uint32_t i = 0; i < in_block && err == 0 && !search->is_complete; i++)
            err = look_at(search, &entries[i]);
        at += in_block;
    }
    if (fd >= 0) index->fs->close(index->fs, fd);
    return err;
}

/* Is the file no longer where a search that found none under its name has looked? */
static bool was_put_in_place(struct txn_index *index)
{
    pthread_mutex_lock(&index->lock);
    bool is_aside = index->is_aside;
    pthread_mutex_unlock(&index->lock);
    return !is_aside;
}

static int look_into_memory(struct txn_index *index, uint32_t written, struct search *search,
                            bool *was_written)
{
    int err = 0;

    pthread_mutex_lock(&index->lock);
    *was_written = index->written != written;
    for (uint32_t i = 0;
         !*was_written && i < index->waiting_count && err == 0 && !search->is_complete; i++)
        err = look_at(search, &index->waiting[i]);
    pthread_mutex_unlock(&index->lock);
    return err;
}

int txn_index_find(struct txn_index *index, const char *path, bool may_block, int64_t from,
                   int64_t below, size_t limit, struct aborted_list *list, bool *is_complete)
{
    size_t count_before = list->count;
    bool is_overtaken;
    int err;

    do { /* Again if entries went from memory to the file meanwhile, or the file to its place. */
        char name[PATH_MAX];
        struct search search = { from, below, limit, list, false };
        list->count = count_before;
        pthread_mutex_lock(&index->lock);
        uint32_t written = index->written;
        bool needs_file = written > 0 && index->written_last >= from;
        bool is_aside = index->is_aside;
        pthread_mutex_unlock(&index->lock);
        if (needs_file && !may_block) return ERR_NEEDS_IO;
        err = name_of(path, is_aside, name);
        if (err == 0 && needs_file) err = look_into_file(index, name, written, &search);
        is_overtaken = err == ERR_NOT_FOUND && is_aside && was_put_in_place(index);
        if (err == 0 && !search.is_complete)
            err = look_into_memory(index, written, &search, &is_overtaken);
        *is_complete = search.is_complete;
    } while (is_overtaken);
    return err;
}

int txn_index_truncate(struct txn_index *index, const char *path, int64_t offset)
{
    struct fs *fs = index->fs;
    struct aborted_transaction last = { .last_offset = -1 };
    char name[PATH_MAX];
    uint32_t kept = 0;
    int fd = -1;

    pthread_mutex_lock(&index->lock);
    while (index->waiting_count > 0 &&
           index->waiting[index->waiting_count - 1].last_offset >= offset)
        index->waiting_count--;
    pthread_mutex_unlock(&index->lock);
    if (index->written == 0 || index->written_last < offset) return 0;
    int err = name_of(path, index->is_aside, name);
    if (err == 0) err = fs->open(fs, name, FS_WRITE, &fd);
    if (err == 0) err = count_below(index, fd, index->written, offset, &kept);
    if (err == 0 && kept > 0) err = read_entries(index, fd, kept - 1, 1, &last);
    if (err == 0) err = fs->truncate(fs, fd, (int64_t)kept * TXN_INDEX_ENTRY_SIZE);
    if (err == 0) err = fs->sync(fs, fd);
    if (fd >= 0) fs->close(fs, fd);
    if (err != 0) return err;
    pthread_mutex_lock(&index->lock);
    index->written = kept;
    index->written_last = last.last_offset;
    pthread_mutex_unlock(&index->lock);
    return 0;
}

uint32_t txn_index_count(struct txn_index *index)
{
    pthread_mutex_lock(&index->lock);
    uint32_t count = index->written + index->waiting_count;
    pthread_mutex_unlock(&index->lock);
    return count;
}
