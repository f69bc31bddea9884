// SPDX-License-Identifier: Apache-2.0

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "data_dir_inside.h"
#include "error.h"
#include "failure_mark.h"
#include "trace.h"

#define PROBE_FILE     ".probe" /* Nothing that Kafka would look at. */
#define LEAST_FREE_MIN ((int64_t)1 << 20)
#define LEAST_FREE_MAX ((int64_t)256 << 20)
#define ROOM_BYTES     ((int64_t)4 << 20)

/* 8 MiB. The largest index that is usual (segment.index.bytes, 10 MiB) has 2,560 blocks, of which a search
 * touches 12; this holds the ones where searches begin of a few hundred such. */
#define INDEX_BLOCKS 2048

/* The folder in which `path` lies. */
static int parent_of(const char *path, char parent[PATH_MAX])
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? fs_path(parent, ".")
                         : fs_path(parent, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* Makes the folder and those above it. */
static int make_folders(struct fs *fs, const char *path)
{
    char parent[PATH_MAX];

    int err = fs->make_folder(fs, path);
    if (err == ERR_EXISTS) return 0;
    if (err != ERR_NOT_FOUND || strchr(path, '/') == NULL || path[1] == '\0') return err;
    err = parent_of(path, parent);
    if (err == 0) err = make_folders(fs, parent);
    return err == 0 ? fs->make_folder(fs, path) : err;
}

/* Makes the folder's own name last, and those of the folders above it: some of them may be new, also of a
 * life that ended before it came to this. What we may not look into is not of our making. */
static int sync_names_above(struct fs *fs, const char *path)
{
    char name[PATH_MAX], parent[PATH_MAX];

    int err = fs_path(name, "%s", path);
    bool is_top = false;
    while (err == 0 && !is_top) {
        err = parent_of(name, parent);
        if (err == 0) err = fs->sync_folder(fs, parent);
        if (err == ERR_NOT_PERMITTED) err = 0;
        is_top = strcmp(parent, "/") == 0 || strcmp(parent, ".") == 0;
        if (err == 0) err = fs_path(name, "%s", parent);
    }
    return err;
}

static int take_lock(struct data_dir *dir, char *why, size_t why_size)
{
    char path[PATH_MAX];

    int err = fs_path(path, "%s/.lock", dir->path);
    if (err == 0) err = dir->fs->open(dir->fs, path, FS_CREATE, &dir->lock_fd);
    if (err == 0) err = dir->fs->lock(dir->fs, dir->lock_fd);
    if (err == ERR_BUSY)
        snprintf(why, why_size, "%s is in use by another process", dir->path);
    else if (err != 0)
        snprintf(why, why_size, "%s cannot be locked: %s", path, error_text(err));
    return err;
}

/* A life that was killed, or whose disk failed, may have left in the page cache what is not on disk: names
 * above all, of files that it made, renamed and removed. A power cut would undo them beneath what this life
 * builds on them, so they are made to last first. */
static int look_for_leftovers(struct data_dir *dir, char *why, size_t why_size)
{
    bool has_failed = false;

    dir->needs_sync = !dir->was_clean && !dir->identity.is_new;
    int err = dir->needs_sync ? failure_mark_look(dir->fs, dir->path, &has_failed) : 0;
    if (err != 0)
        snprintf(why, why_size, "%s cannot be looked into: %s", dir->path, error_text(err));
    atomic_store(&dir->has_failed, has_failed);
    return err;
}

/* The first sync may tell of a failure that came before the folder was opened, and nobody heard of. What that
 * left out the second does not write either; but from now on it is known. */
static int sync_leftovers(struct data_dir *dir)
{
    int err = dir->needs_sync ? data_dir_sync_all(dir) : 0;

    if (err != 0) err = data_dir_sync_all(dir);
    if (err == 0 && dir->needs_sync) atomic_store(&dir->is_synced, true);
    if (err == 0) dir->needs_sync = false;
    return err;
}

/* Whatever it is: somebody has put it there, so it is kept. */
int data_dir_move_away(struct data_dir *dir, const char *name)
{
    char path[PATH_MAX], to[PATH_MAX];

    int err = fs_path(path, "%s/%s", dir->path, name);
    if (err == 0) err = fs_set_aside(dir->fs, path, to);
    if (err == 0) trace(TRACE_WARN, "storage", "%s is no file: it is now %s", path, to);
    return err;
}

void data_dir_distrust_cache(struct data_dir *dir)
{
    dir->needs_sync = true;
}

int data_dir_begin(struct data_dir *dir)
{
    int err = data_dir_remove_marker(dir);
    if (err == 0) err = data_dir_clear_checkpoints(dir);
    return err == 0 ? sync_leftovers(dir) : err;
}

static int find_reserve_limit(struct data_dir *dir, char *why, size_t why_size)
{
    int64_t free_bytes, total_bytes;
    int err = dir->fs->free_bytes(dir->fs, dir->path, &free_bytes, &total_bytes);

    if (err == 0) {
        dir->reserve_limit = total_bytes / 100;
        dir->least_free = total_bytes / 64;
        if (dir->least_free < LEAST_FREE_MIN) dir->least_free = LEAST_FREE_MIN;
        if (dir->least_free > LEAST_FREE_MAX) dir->least_free = LEAST_FREE_MAX;
    } else
        snprintf(why, why_size, "the size of %s is unknown: %s", dir->path, error_text(err));
    return err;
}

int data_dir_open(struct data_dir **dir, struct fs *fs, const char *path, char *why,
                  size_t why_size)
{
    struct data_dir *opened = mem_zalloc(sizeof *opened);

    snprintf(why, why_size, "out of memory");
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->fs = fs;
    opened->lock_fd = -1;
    pthread_mutex_init(&opened->write_lock, NULL);
    pthread_mutex_init(&opened->sweep_lock, NULL);
    atomic_init(&opened->sweeps_no_more, false);
    atomic_init(&opened->has_given_up, false);
    atomic_init(&opened->has_failed, false);
    atomic_init(&opened->is_synced, false);
    atomic_init(&opened->has_links, false);
    pthread_mutex_init(&opened->lock, NULL);
    map_init(&opened->partitions);
    opened->path = mem_strdup(path);
    int err = opened->path == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = file_cache_open(&opened->files, fs, file_cache_default_limit());
    if (err == 0) err = block_cache_open(&opened->blocks, INDEX_BLOCKS);
    if (err == 0) {
        err = make_folders(fs, path);
        if (err != 0) snprintf(why, why_size, "%s cannot be made: %s", path, error_text(err));
    }
    if (err == 0) err = take_lock(opened, why, why_size);
    if (err == 0) err = data_dir_read_identity(opened, why, why_size);
    if (err == 0 && opened->identity.is_new) {
        err = sync_names_above(fs, path);
        if (err != 0) snprintf(why, why_size, "%s cannot be synced: %s", path, error_text(err));
    }
    if (err == 0) err = data_dir_read_marker(opened, why, why_size);
    if (err == 0) err = look_for_leftovers(opened, why, why_size);
    if (err == 0) err = data_dir_read_checkpoints(opened, why, why_size);
    if (err == 0) err = find_reserve_limit(opened, why, why_size);
    if (err != 0) {
        data_dir_close(opened);
        return err;
    }
    if (why_size > 0) why[0] = '\0';
    *dir = opened;
    return 0;
}

void data_dir_close(struct data_dir *dir)
{
    if (dir == NULL) return;
    data_dir_free_checkpoints(dir);
    if (dir->lock_fd >= 0) dir->fs->close(dir->fs, dir->lock_fd);
    pthread_mutex_destroy(&dir->lock);
    pthread_mutex_destroy(&dir->write_lock);
    pthread_mutex_destroy(&dir->sweep_lock);
    file_cache_release(dir->files);
    block_cache_close(dir->blocks);
    mem_free(dir->sisters);
    mem_free(dir->path);
    mem_free(dir);
}

struct fs *data_dir_fs(const struct data_dir *dir)
{
    return dir->fs;
}

struct file_cache *data_dir_files(const struct data_dir *dir)
{
    return dir->files;
}

struct block_cache *data_dir_blocks(const struct data_dir *dir)
{
    return dir->blocks;
}

const char *data_dir_path(const struct data_dir *dir)
{
    return dir->path;
}

const struct data_dir_identity *data_dir_identity(const struct data_dir *dir)
{
    return &dir->identity;
}

bool data_dir_was_clean(const struct data_dir *dir)
{
    return dir->was_clean;
}

int data_dir_probe(struct data_dir *dir)
{
    char path[PATH_MAX];

    int err = fs_path(path, "%s/" PROBE_FILE, dir->path);
    if (err == 0) err = fs_write_file(dir->fs, path, "probe\n", 6, true);
    if (err == 0 || err == ERR_NO_SPACE) err = dir->fs->remove(dir->fs, path);
    if (err == ERR_NOT_FOUND) err = 0;
    return err == 0 ? dir->fs->sync_folder(dir->fs, dir->path) : err;
}

int data_dir_sync_all(struct data_dir *dir)
{
    /* The descriptor is as old as our use of the folder: it hears of all failures since. */
    bool was_owed = atomic_exchange(&dir->owes_sync,
                                    false); /* What comes after this is owed again. */
    int err = dir->fs->sync_all(dir->fs, dir->lock_fd);

    if (err != 0 && was_owed) atomic_store(&dir->owes_lost, true);
    if (err != 0) data_dir_note_failure(dir);
    return err;
}

void data_dir_owe_sync(struct data_dir *dir)
{
    atomic_store(&dir->owes_sync, true);
}

void data_dir_note_failure(struct data_dir *dir)
{
    atomic_store(&dir->has_failed, true);
    failure_mark_leave(dir->fs, dir->path);
}

bool data_dir_has_failed(struct data_dir *dir)
{
    return atomic_load(&dir->has_failed);
}

bool data_dir_syncs_all_logs(struct data_dir *dir)
{
    return !atomic_load(&dir->has_links);
}

bool data_dir_holds_nothing_unsynced(struct data_dir *dir)
{
    return atomic_load(&dir->is_synced) && !atomic_load(&dir->has_failed) &&
           data_dir_syncs_all_logs(dir);
}

void data_dir_note_unsynced(struct data_dir *dir)
{
    atomic_store(&dir->is_synced, false);
}

bool data_dir_take_reserve(struct data_dir *dir, int64_t bytes)
{
    if (atomic_fetch_add(&dir->reserved, bytes) + bytes <= dir->reserve_limit) return true;
    atomic_fetch_sub(&dir->reserved, bytes);
    return false;
}

void data_dir_give_reserve(struct data_dir *dir, int64_t bytes)
{
    atomic_fetch_sub(&dir->reserved, bytes);
}

static void tell_fullness(struct data_dir *dir, bool is_full)
{
    if (atomic_exchange(&dir->is_full, is_full) == is_full) return;
    if (is_full)
        trace(TRACE_WARN, "storage",
              "%s: the disk has less than %" PRId64 " MiB left: records are refused until there is "
              "room again",
              dir->path, dir->least_free >> 20);
    else
        trace(TRACE_INFO, "storage", "%s: there is room again", dir->path);
}

bool data_dir_has_room(struct data_dir *dir, int64_t bytes)
{
    int64_t free_bytes, total_bytes;

    if (atomic_fetch_sub_explicit(&dir->room, bytes, memory_order_relaxed) >= bytes) return true;
    /* If it cannot be told, the write will tell. */
    if (dir->fs->free_bytes(dir->fs, dir->path, &free_bytes, &total_bytes) != 0) return true;
    int64_t room = free_bytes - dir->least_free - bytes;
    atomic_store_explicit(&dir->room,
                          room < 0            ? 0
                          : room < ROOM_BYTES ? room
                                              : ROOM_BYTES,
                          memory_order_relaxed);
    tell_fullness(dir, room < 0);
    return room >= 0;
}
