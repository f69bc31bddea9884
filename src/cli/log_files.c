// SPDX-License-Identifier: Apache-2.0
#include "log_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "fs.h"
#include "meta_log.h"
#include "segment.h"

static const struct {
    const char *suffix; /* Behind the base offset, or the whole name. */
    enum log_file_kind kind;
} kinds[] = {
    { ".log", LOG_FILE_BATCHES },
    { ".index", LOG_FILE_OFFSET_INDEX },
    { ".timeindex", LOG_FILE_TIME_INDEX },
    { ".txnindex", LOG_FILE_TXN_INDEX },
    { ".snapshot", LOG_FILE_SNAPSHOT },
    { ".checkpoint", LOG_FILE_KAFKAS_METADATA_SNAPSHOT },
    { "leader-epoch-checkpoint", LOG_FILE_EPOCHS },
    { "recovery-point-offset-checkpoint", LOG_FILE_CHECKPOINT },
    { "log-start-offset-checkpoint", LOG_FILE_CHECKPOINT },
    { "replication-offset-checkpoint", LOG_FILE_CHECKPOINT },
    { "cleaner-offset-checkpoint", LOG_FILE_CHECKPOINT },
    { "partition.metadata", LOG_FILE_PROPERTIES },
    { "meta.properties", LOG_FILE_PROPERTIES },
    { "meta.properties.adopted", LOG_FILE_PROPERTIES },
    { "quorum-state", LOG_FILE_VOTE },
    { "producer-batches", LOG_FILE_RECENT_BATCHES },
};

#define METADATA_SNAPSHOT "metadata-" /* And its index. */

static const char *const leftovers[] = { ".deleted", ".cleaned", ".swap", ".tmp" };

/* The length of a name without what marks it as a leftover. */
static size_t bare_length(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof leftovers / sizeof leftovers[0]; i++) {
        size_t end = strlen(leftovers[i]);
        if (length > end && strcmp(name + length - end, leftovers[i]) == 0) return length - end;
    }
    return length;
}

struct log_file_name log_file_name(const char *path)
{
    struct log_file_name found = { LOG_FILE_OTHER, -1, false };
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    char bare[NAME_MAX + 1];
    const char *suffix = "";

    size_t length = bare_length(name);
    if (length >= sizeof bare) return found;
    found.is_leftover = name[length] != '\0';
    memcpy(bare, name, length);
    bare[length] = '\0';
    found.base_offset = segment_parse_name(bare, &suffix);
    const char *tail = found.base_offset >= 0 ? suffix : bare;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(tail, kinds[i].suffix) == 0) found.kind = kinds[i].kind;
    if (strncmp(bare, METADATA_SNAPSHOT, sizeof METADATA_SNAPSHOT - 1) == 0 &&
        strstr(bare, ".snapshot") != NULL)
        found.kind = LOG_FILE_METADATA_SNAPSHOT;
    /* What is not named by an offset can still be read: offsets then count from 0. */
    const char *dot = strrchr(bare, '.');
    for (size_t i = 0; dot != NULL && found.kind == LOG_FILE_OTHER && i < 6; i++)
        if (strcmp(dot, kinds[i].suffix) == 0) found.kind = kinds[i].kind;
    return found;
}

/* ---- folders ---- */

struct listing {
    struct log_names *names;
    enum log_names_of of;
};

static bool is_wanted(const struct fs_entry *entry, enum log_names_of of)
{
    switch (of) {
    case LOG_NAMES_OF_FILES: return entry->is_file;
    case LOG_NAMES_OF_FOLDERS: return entry->is_folder;
    case LOG_NAMES_OF_NO_FILES: return !entry->is_file;
    default: return !entry->is_folder;
    }
}

static int take_name(void *context, const struct fs_entry *entry)
{
    struct listing *listing = context;
    struct log_names *names = listing->names;
    if (!is_wanted(entry, listing->of)) return 0;
    if (names->count == names->capacity) {
        size_t capacity = names->capacity == 0 ? 32 : names->capacity * 2;
        char **items = mem_realloc(names->items, capacity * sizeof *items);
        if (items == NULL) return ERR_NO_MEMORY;
        names->items = items;
        names->capacity = capacity;
    }
    char *copy = mem_strdup(entry->name);
    if (copy == NULL) return ERR_NO_MEMORY;
    names->items[names->count++] = copy;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int log_names_read(struct log_names *names, struct fs *fs, const char *folder, enum log_names_of of)
{
    struct listing listing = { names, of };
    *names = (struct log_names){ 0 };
    int err = fs->list(fs, folder, take_name, &listing);
    if (err == 0 && names->count > 1)
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    return err;
}

void log_names_close(struct log_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        mem_free(names->items[i]);
    mem_free(names->items);
    *names = (struct log_names){ 0 };
}

void log_parent(const char *path, char parent[PATH_MAX])
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0)
        snprintf(parent, PATH_MAX, ".");
    else
        snprintf(parent, PATH_MAX, "%.*s", (int)length, path);
}

bool log_is_metadata(const char *path)
{
    char folder[PATH_MAX], whole[PATH_MAX];
    log_parent(path, folder);
    /* "." says nothing of its name. */
    if (realpath(folder, whole) == NULL) snprintf(whole, sizeof whole, "%s", folder);
    const char *slash = strrchr(whole, '/');
    const char *name = slash == NULL ? whole : slash + 1;
    return strncmp(name, META_LOG_TOPIC "-", sizeof META_LOG_TOPIC) == 0;
}

bool log_is_in_use(const char *data_folder)
{
    char path[PATH_MAX];
    if (fs_path(path, "%s/.lock", data_folder) != 0) return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    bool is_locked = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    close(fd);
    return is_locked;
}
