// SPDX-License-Identifier: Apache-2.0

#include <assert.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#include "alloc.h"
#include "error.h"
#include "file_cache.h"

/* 10,000 partitions that are all written to have three files each open; more than that would be memory
 * for little. */
#define FILES_MAX 32768
#define FILES_MIN 64

/* So many are closed where the process has no descriptor left. */
#define EMERGENCY_FILES 16

struct file_cache {
    struct fs *fs;
    atomic_int references;
    atomic_size_t limit;
    atomic_size_t count;

    pthread_mutex_t lock;     /* For these. */
    struct open_file **files; /* In no order; `hand` goes around. */
    size_t capacity;
    size_t hand;
};

size_t file_cache_default_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return FILES_MIN;
    rlim_t share = limit.rlim_cur / 5 * 2;
    if (limit.rlim_cur == RLIM_INFINITY || share > FILES_MAX) return FILES_MAX;
    return share < FILES_MIN ? FILES_MIN : (size_t)share;
}

int file_cache_open(struct file_cache **cache, struct fs *fs, size_t limit)
{
    struct file_cache *opened = mem_zalloc(sizeof *opened);

    if (opened == NULL) return ERR_NO_MEMORY;
    opened->fs = fs;
    atomic_init(&opened->references, 1);
    atomic_init(&opened->limit, limit);
    pthread_mutex_init(&opened->lock, NULL);
    *cache = opened;
    return 0;
}

struct file_cache *file_cache_keep(struct file_cache *cache)
{
    atomic_fetch_add_explicit(&cache->references, 1, memory_order_relaxed);
    return cache;
}

void file_cache_release(struct file_cache *cache)
{
    if (cache == NULL ||
        atomic_fetch_sub_explicit(&cache->references, 1, memory_order_acq_rel) != 1)
        return;
    assert(atomic_load(&cache->count) == 0);
    pthread_mutex_destroy(&cache->lock);
    mem_free(cache->files);
    mem_free(cache);
}

void file_cache_set_limit(struct file_cache *cache, size_t limit)
{
    atomic_store(&cache->limit, limit);
}

size_t file_cache_count(struct file_cache *cache)
{
    return atomic_load(&cache->count);
}

/* ---- the list; the cache's lock is held */

static int list_add(struct file_cache *cache, struct open_file *file)
{
    size_t count = atomic_load(&cache->count);

    if (count == cache->capacity) {
        size_t capacity = cache->capacity == 0 ? 64 : cache->capacity * 2;
        struct open_file **files = mem_realloc(cache->files, capacity * sizeof *files);
        if (files == NULL) return ERR_NO_MEMORY;
        cache->files = files;
        cache->capacity = capacity;
    }
    file->slot = (uint32_t)count;
    cache->files[count] = file;
    atomic_store(&cache->count, count + 1);
    return 0;
}

static void list_remove(struct file_cache *cache, struct open_file *file)
{
    size_t count = atomic_load(&cache->count) - 1;

    cache->files[file->slot] = cache->files[count];
    cache->files[file->slot]->slot = file->slot;
    atomic_store(&cache->count, count);
}

/* Takes the file from its owner if it may go now. The owner's lock is held. */
static bool take_away(struct open_file *file)
{
    if (file->pins > 0 || file->is_leaving) return false;
    file->is_leaving = true;
    *file->place = NULL;
    return true;
}

/* The next file that may be closed, taken out of the list; NULL if there is none. */
static struct open_file *take_victim(struct file_cache *cache)
{
    size_t count = atomic_load(&cache->count);

    /* Twice around: the first time may only find that all were used. */
    for (size_t steps = 0; steps < 2 * count; steps++) {
        cache->hand = cache->hand + 1 < count ? cache->hand + 1 : 0;
        struct open_file *file = cache->files[cache->hand];
        pthread_mutex_t *lock = file->lock;
        pthread_mutex_lock(lock);
        bool is_taken = !file->was_used && take_away(file);
        file->was_used = false;
        pthread_mutex_unlock(lock);
        if (is_taken) {
            list_remove(cache, file);
            return file;
        }
    }
    return NULL;
}

/* ---- closing */

static void close_file(struct file_cache *cache, struct open_file *file)
{
    cache->fs->close(cache->fs, file->fd);
    mem_free(file);
}

/* One that was taken from its owner by us. */
static void remove_file(struct file_cache *cache, struct open_file *file)
{
    pthread_mutex_lock(&cache->lock);
    list_remove(cache, file);
    pthread_mutex_unlock(&cache->lock);
    close_file(cache, file);
}

static void close_victims(struct file_cache *cache, size_t count)
{
    struct open_file *victim;

    do {
        pthread_mutex_lock(&cache->lock);
        victim = count > 0 ? take_victim(cache) : NULL;
        pthread_mutex_unlock(&cache->lock);
        if (victim != NULL) close_file(cache, victim);
        count--;
    } while (victim != NULL);
}

/* ---- what owners call */

/* The owner's lock is held. */
static struct open_file *pin_locked(struct open_file **place)
{
    struct open_file *file = *place;

    if (file != NULL) {
        file->pins++;
        file->was_used = true;
        file->is_let_go = false; /* Wanted after all. */
    }
    return file;
}

bool file_cache_pin(struct open_file **place, pthread_mutex_t *lock, struct open_file **file)
{
    pthread_mutex_lock(lock);
    struct open_file *pinned = pin_locked(place);
    pthread_mutex_unlock(lock);
    if (pinned != NULL) *file = pinned;
    return pinned != NULL;
}

/* Makes room in the list, and takes the new file in. */
static int enter(struct file_cache *cache, struct open_file *file)
{
    size_t limit = atomic_load(&cache->limit);
    size_t count = atomic_load(&cache->count);

    if (count >= limit) close_victims(cache, count - limit + 1);
    pthread_mutex_lock(&cache->lock);
    int err = list_add(cache, file);
    pthread_mutex_unlock(&cache->lock);
    return err;
}

int file_cache_open_file(struct file_cache *cache, const char *path, enum fs_open_mode mode,
                         size_t size, struct open_file **place, pthread_mutex_t *lock,
                         struct open_file **file)
{
    struct open_file *opened = mem_zalloc(size);
    int fd = -1;

    if (opened == NULL) return ERR_NO_MEMORY;
    int err = cache->fs->open(cache->fs, path, mode, &fd);
    if (err == ERR_NO_MEMORY) {
        close_victims(cache, EMERGENCY_FILES);
        err = cache->fs->open(cache->fs, path, mode, &fd);
    }
    if (err == 0) {
        *opened = (struct open_file){ .place = place, .lock = lock, .fd = fd, .pins = 1 };
        opened->was_used = true;
        err = enter(cache, opened);
    }
    if (err != 0) {
        if (fd >= 0) cache->fs->close(cache->fs, fd);
        mem_free(opened);
        return err;
    }
    pthread_mutex_lock(lock);
    struct open_file *pinned = pin_locked(place);
    if (pinned == NULL)
        *place = pinned = opened;
    else /* Somebody else was faster. */
        opened->is_leaving = true;
    pthread_mutex_unlock(lock);
    if (pinned != opened) remove_file(cache, opened);
    *file = pinned;
    return 0;
}

void file_cache_unpin(struct file_cache *cache, struct open_file *file)
{
    pthread_mutex_t *lock = file->lock;
    bool is_taken = false;

    pthread_mutex_lock(lock);
    assert(file->pins > 0);
    file->pins--;
    if (file->is_let_go || atomic_load(&cache->count) > atomic_load(&cache->limit))
        is_taken = take_away(file);
    pthread_mutex_unlock(lock);
    if (is_taken) remove_file(cache, file);
}

void file_cache_let_go(struct file_cache *cache, struct open_file **place, pthread_mutex_t *lock)
{
    bool is_taken = false;

    pthread_mutex_lock(lock);
    struct open_file *file = *place;
    if (file != NULL) {
        file->is_let_go = true;
        is_taken = take_away(file);
    }
    pthread_mutex_unlock(lock);
    if (is_taken) remove_file(cache, file);
}
