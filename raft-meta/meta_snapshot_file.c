// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "error.h"
#include "fs.h"
#include "meta_snapshot.h"
#include "trace.h"

#define PREFIX      "metadata-"
#define SUFFIX      ".snapshot"
#define INDEX_SIZE  20
#define NAME_LENGTH (sizeof PREFIX - 1 + INDEX_SIZE + sizeof SUFFIX - 1)

/* What is on its way, and becomes one of the others by a rename. */
#define AHEAD_NAME "metadata-ahead.snapshot"

/* Far above any state that is workable; a bound for what a damaged folder makes us read. */
#define MAX_SIZE INT32_MAX

static int snapshot_path(char path[PATH_MAX], const char *folder, int64_t index)
{
    return fs_path(path, "%s/" PREFIX "%020" PRId64 SUFFIX, folder, index);
}

/* -1: it is no snapshot's name. */
static int64_t index_of(const char *name)
{
    if (strlen(name) != NAME_LENGTH || strncmp(name, PREFIX, sizeof PREFIX - 1) != 0 ||
        strcmp(name + NAME_LENGTH - (sizeof SUFFIX - 1), SUFFIX) != 0)
        return -1;
    int64_t index = 0;
    for (const char *at = name + sizeof PREFIX - 1; *at != '.'; at++) {
        if (*at < '0' || *at > '9' || index > META_MAX_INDEX / 10) return -1;
        index = index * 10 + (*at - '0');
    }
    return index > 0 ? index : -1;
}

struct found {
    int64_t *indexes; /* Newest first. */
    unsigned count, most;
};

static int found_add(void *context, const struct fs_entry *entry)
{
    struct found *found = context;
    int64_t index = entry->is_folder ? -1 : index_of(entry->name);
    unsigned at = 0;
    if (index < 0) return 0;
    while (at < found->count && found->indexes[at] > index)
        at++;
    if (at == found->most) return 0;
    if (found->count < found->most) found->count++;
    memmove(found->indexes + at + 1, found->indexes + at,
            (found->count - at - 1) * sizeof *found->indexes);
    found->indexes[at] = index;
    return 0;
}

int meta_snapshot_list(struct fs *fs, const char *folder, int64_t *indexes, unsigned most,
                       unsigned *count)
{
    struct found found = { indexes, 0, most };
    int err = fs->list(fs, folder, found_add, &found);
    if (err == 0) *count = found.count;
    return err;
}

int meta_snapshot_write(struct fs *fs, const char *folder, int64_t index, struct bytes image)
{
    char path[PATH_MAX];
    int err = snapshot_path(path, folder, index);
    if (err == 0) err = fs_replace_file(fs, path, image.data, (size_t)image.length);
    return err;
}

int meta_snapshot_write_ahead(struct fs *fs, const char *folder, struct bytes image)
{
    char path[PATH_MAX];
    int err = fs_path(path, "%s/" AHEAD_NAME, folder);
    if (err == 0) err = fs_write_file(fs, path, image.data, (size_t)image.length, true);
    return err;
}

int meta_snapshot_put_in_place(struct fs *fs, const char *folder, int64_t index)
{
    char from[PATH_MAX], to[PATH_MAX];
    int err = fs_path(from, "%s/" AHEAD_NAME, folder);
    if (err == 0) err = snapshot_path(to, folder, index);
    if (err == 0) err = fs->rename(fs, from, to);
    if (err == 0) err = fs->sync_folder(fs, folder);
    return err;
}

int meta_snapshot_read(struct fs *fs, const char *folder, int64_t index, struct bytes *image)
{
    char path[PATH_MAX];
    char *text = NULL;
    size_t length = 0;
    int err = snapshot_path(path, folder, index);
    if (err == 0) err = fs_read_file(fs, path, MAX_SIZE - 1, &text, &length);
    if (err == 0) *image = (struct bytes){ (const uint8_t *)text, (int32_t)length };
    return err;
}

struct pruning {
    struct fs *fs;
    const char *folder;
    int64_t oldest_kept;
};

static int remove_it(const struct pruning *pruning, const struct fs_entry *entry)
{
    char path[PATH_MAX];
    int err = fs_path(path, "%s/%s", pruning->folder, entry->name);
    return err == 0 ? pruning->fs->remove(pruning->fs, path) : err;
}

static int prune_one(void *context, const struct fs_entry *entry)
{
    const struct pruning *pruning = context;
    int64_t index = entry->is_folder ? -1 : index_of(entry->name);
    return index > 0 && index < pruning->oldest_kept ? remove_it(pruning, entry) : 0;
}

static int sweep_one(void *context, const struct fs_entry *entry)
{
    bool is_half_done = strcmp(entry->name, AHEAD_NAME) == 0 ||
                        (strncmp(entry->name, PREFIX, sizeof PREFIX - 1) == 0 &&
                         strstr(entry->name, SUFFIX ".") != NULL);
    return is_half_done && !entry->is_folder ? remove_it(context, entry) : 0;
}

int meta_snapshot_sweep(struct fs *fs, const char *folder)
{
    struct pruning pruning = { fs, folder, 0 };
    return fs->list(fs, folder, sweep_one, &pruning);
}

int meta_snapshot_prune(struct fs *fs, const char *folder, unsigned kept)
{
    int64_t indexes[META_SNAPSHOTS_KEPT];
    unsigned count = 0;
    if (kept > META_SNAPSHOTS_KEPT) kept = META_SNAPSHOTS_KEPT;
    int err = meta_snapshot_list(fs, folder, indexes, kept, &count);
    if (err != 0 || count < kept) return err;
    struct pruning pruning = { fs, folder, count == 0 ? INT64_MAX : indexes[count - 1] };
    return fs->list(fs, folder, prune_one, &pruning);
}
