// SPDX-License-Identifier: Apache-2.0

#include "segment_folder.h"

#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "checkpoint.h"
#include "error.h"

#define OFFSET_DIGITS 20

int segment_folder_open(struct segment_folder **folder, struct fs *fs, struct file_cache *files,
                        struct block_cache *blocks, const char *path)
{
    size_t length = strlen(path);
    struct segment_folder *opened = mem_zalloc(sizeof *opened + length + 1);

    if (opened == NULL) return ERR_NO_MEMORY;
    opened->fs = fs;
    opened->files = file_cache_keep(files);
    opened->blocks = blocks;
    atomic_init(&opened->references, 1);
    pthread_mutex_init(&opened->lock, NULL);
    memcpy(opened->path, path, length + 1);
    *folder = opened;
    return 0;
}

struct segment_folder *segment_folder_keep(struct segment_folder *folder)
{
    atomic_fetch_add_explicit(&folder->references, 1, memory_order_relaxed);
    return folder;
}

void segment_folder_release(struct segment_folder *folder)
{
    if (folder == NULL ||
        atomic_fetch_sub_explicit(&folder->references, 1, memory_order_acq_rel) != 1)
        return;
    file_cache_release(folder->files);
    pthread_mutex_destroy(&folder->lock);
    mem_free(folder);
}

int segment_path(const char *folder, int64_t base_offset, const char *suffix, char path[PATH_MAX])
{
    return fs_path(path, "%s/%020" PRId64 "%s", folder, base_offset, suffix);
}

int64_t segment_parse_name(const char *name, const char **suffix)
{
    int64_t base_offset;

    if (strspn(name, "0123456789") != OFFSET_DIGITS ||
        checkpoint_number((struct str){ name, OFFSET_DIGITS }, 0, &base_offset) != 0 ||
        base_offset > SEGMENT_OFFSET_MAX)
        return -1;
    *suffix = name + OFFSET_DIGITS;
    return base_offset;
}

bool segment_name_is_beyond(const char *name, const char **suffix)
{
    if (strspn(name, "0123456789") != OFFSET_DIGITS || segment_parse_name(name, suffix) >= 0)
        return false;
    *suffix = name + OFFSET_DIGITS;
    return true;
}
