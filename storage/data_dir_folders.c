// SPDX-License-Identifier: Apache-2.0
/* The logs' folders by their names, and those that are on their way out. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checkpoint.h"
#include "data_dir_inside.h"
#include "error.h"
#include "topic_settings.h"
#include "trace.h"

#define DELETE_SUFFIX    "-delete"
#define STRAY_SUFFIX     "-stray"
#define DELETE_ID_LENGTH 33 /* '.' and a uuid in 32 hex digits. */

bool data_dir_parse_folder(struct str name, struct str *topic, int32_t *partition)
{
    int32_t dash = name.length;
    int64_t number;

    while (dash > 0 && name.data[dash - 1] != '-')
        dash--;
    if (dash < 2 || dash == name.length) return false;
    struct str digits = { name.data + dash, name.length - dash };
    if ((digits.length > 1 && digits.data[0] == '0') ||
        checkpoint_number(digits, 0, &number) != 0 || number > INT32_MAX)
        return false;
    *topic = (struct str){ name.data, dash - 1 };
    *partition = (int32_t)number;
    return topic_name_is_legal(*topic);
}

static bool is_deleted_folder(struct str name)
{
    int32_t suffix = (int32_t)sizeof DELETE_SUFFIX - 1;

    return name.length > suffix &&
           memcmp(name.data + name.length - suffix, DELETE_SUFFIX, (size_t)suffix) == 0;
}

struct listing {
    struct data_dir *dir;
    int (*each)(void *context, const char *folder, struct str topic, int32_t partition,
                bool is_deleted);
    void *context;
};

static int list_entry(void *context, const struct fs_entry *entry)
{
    struct listing *listing = context;
    struct str name = str_from(entry->name);
    struct str topic = STR_NULL;
    int32_t partition = -1;

    if (!entry->is_folder) return 0;
    if (is_deleted_folder(name)) {
        name.length -= (int32_t)sizeof DELETE_SUFFIX - 1 + DELETE_ID_LENGTH;
        if (name.length > 0) data_dir_parse_folder(name, &topic, &partition);
        return listing->each(listing->context, entry->name, topic, partition, true);
    }
    if (!data_dir_parse_folder(name, &topic, &partition)) return 0;
    if (entry->is_link) atomic_store(&listing->dir->has_links, true);
    return listing->each(listing->context, entry->name, topic, partition, false);
}

int data_dir_list(struct data_dir *dir,
                  int (*each)(void *context, const char *folder, struct str topic,
                              int32_t partition, bool is_deleted),
                  void *context)
{
    struct listing listing = { dir, each, context };

    return dir->fs->list(dir->fs, dir->path, list_entry, &listing);
}

struct sweep {
    struct data_dir *dir;
    unsigned left; /* So many more may be removed. */
    bool has_more;
};

static int sweep_folder(void *context, const char *folder, struct str topic, int32_t partition,
                        bool is_deleted)
{
    struct sweep *sweep = context;
    char path[PATH_MAX];

    (void)topic;
    (void)partition;
    if (!is_deleted) return 0;
    sweep->has_more = sweep->left == 0;
    if (sweep->has_more || atomic_load(&sweep->dir->sweeps_no_more)) return ERR_CANCELED;
    sweep->left--;
    int err = fs_path(path, "%s/%s", sweep->dir->path, folder);
    return err != 0 ? err : fs_remove_tree(sweep->dir->fs, path);
}

/* Under the old name nothing may be missing after a power cut. */
static int sync_given_up(struct data_dir *dir)
{
    if (!atomic_exchange(&dir->has_given_up, false)) return 0;
    int err = dir->fs->sync_folder(dir->fs, dir->path);
    if (err != 0) atomic_store(&dir->has_given_up, true);
    return err;
}

int data_dir_sweep_deleted(struct data_dir *dir, unsigned most, bool *has_more)
{
    struct sweep sweep = { .dir = dir, .left = most };

    pthread_mutex_lock(&dir->sweep_lock);
    int err = sync_given_up(dir);
    if (err == 0) err = data_dir_list(dir, sweep_folder, &sweep);
    pthread_mutex_unlock(&dir->sweep_lock);
    *has_more = sweep.has_more;
    return err == ERR_CANCELED ? 0 : err;
}

void data_dir_stop_sweeping(struct data_dir *dir)
{
    atomic_store(&dir->sweeps_no_more, true);
}

/* `<topic>-<partition>.<uuid in hex><suffix>`, the topic cut so that the name has at most 255 bytes. */
static int print_put_away(const struct data_dir *dir, const char *topic, int32_t partition,
                          const char *suffix, char path[PATH_MAX])
{
    struct uuid id;
    char hex[33];
    char rest[64];

    int err = uuid_random(&id);
    if (err != 0) return err;
    for (size_t i = 0; i < sizeof id.bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", id.bytes[i]);
    int rest_length = snprintf(rest, sizeof rest, "-%" PRId32 ".%s%s", partition, hex, suffix);
    return fs_path(path, "%s/%.*s%s", dir->path, 255 - rest_length, topic, rest);
}

static int put_away(struct data_dir *dir, const char *topic, int32_t partition, const char *suffix,
                    char to[PATH_MAX])
{
    char from[PATH_MAX];

    int err = fs_path(from, "%s/%s-%" PRId32, dir->path, topic, partition);
    if (err == 0) err = print_put_away(dir, topic, partition, suffix, to);
    if (err == 0) err = dir->fs->rename(dir->fs, from, to);
    data_dir_forget_offsets(dir, topic, partition);
    return err;
}

int data_dir_give_up(struct data_dir *dir, const char *topic, int32_t partition)
{
    char to[PATH_MAX];

    int err = put_away(dir, topic, partition, DELETE_SUFFIX, to);
    if (err == 0) atomic_store(&dir->has_given_up, true);
    return err;
}

int data_dir_set_aside(struct data_dir *dir, const char *topic, int32_t partition)
{
    char to[PATH_MAX];
    int64_t offset = 0;

    data_dir_checkpoint(dir, CHECKPOINT_RECOVERY_POINT, topic, partition, &offset);
    int err = put_away(dir, topic, partition, STRAY_SUFFIX, to);
    if (err == 0) err = dir->fs->sync_folder(dir->fs, dir->path);
    if (err != 0) return err;
    if (offset > 0)
        trace(TRACE_ERROR, "storage",
              "%s-%" PRId32 " holds another topic's log, and is put aside as %s; but a log of "
              "that name was on disk up to offset %" PRId64
              ": it begins anew, and unless its topic was deleted and created again just before a "
              "kill, its records are no more to be seen (has its folder another's name?)",
              topic, partition, to, offset);
    else
        trace(TRACE_WARN, "storage",
              "%s-%" PRId32 " is of an earlier topic, or does not say of which; put aside as %s",
              topic, partition, to);
    return 0;
}
