// SPDX-License-Identifier: Apache-2.0
#include "data_folders.h"

#include <stdio.h>
#include <sys/stat.h>

#include "alloc.h"
#include "clean_start.h"
#include "error.h"
#include "file_cache.h"
#include "trace.h"

#define WHY_SIZE 1024

static int refuse(int err, const char *what, const char *why)
{
    trace(TRACE_ERROR, "broker", "%s: %s", what, why[0] != '\0' ? why : error_text(err));
    return err;
}

/* Paths of one folder may be written in several ways. One that is not there yet is none of the others. */
static bool is_same_folder(const char *path, const char *other)
{
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

/* Its own lock would keep it from being opened a second time, as another process's. */
static int refuse_twin(const struct data_folders *folders, const char *path)
{
    char why[WHY_SIZE];
    for (unsigned i = 0; i < folders->count; i++) {
        if (!is_same_folder(path, data_dir_path(folders->all[i]))) continue;
        snprintf(why, sizeof why, "%s and %s are the same folder: name it once in log.dirs",
                 data_dir_path(folders->all[i]), path);
        return refuse(ERR_EXISTS, "data folder", why);
    }
    return 0;
}

static int open_one(struct data_folders *folders, const char *path)
{
    char why[WHY_SIZE] = "";
    int err = refuse_twin(folders, path);
    if (err != 0) return err;
    err = data_dir_open(&folders->all[folders->count], fs_posix(), path, why, sizeof why);
    if (err != 0) return refuse(err, "data folder", why);
    folders->count++;
    return 0;
}

/* metadata.log.dir comes first: it is one of log.dirs, or one more. */
static int put_metadata_first(struct data_folders *folders, const char *path)
{
    unsigned at = 0;
    while (at < folders->count && !is_same_folder(path, data_dir_path(folders->all[at])))
        at++;
    if (at == folders->count) {
        int err = open_one(folders, path);
        if (err != 0) return err;
        folders->logs = folders->all + 1;
    }
    struct data_dir *metadata = folders->all[at];
    for (; at > 0; at--)
        folders->all[at] = folders->all[at - 1];
    folders->all[0] = metadata;
    return 0;
}

static int begin_one(struct data_dir *dir)
{
    char why[WHY_SIZE];
    int err = data_dir_begin(dir);
    if (err == 0) return 0;
    snprintf(
        why, sizeof why,
        "the mark of its clean stop, .kafka_cleanshutdown, cannot be removed, or what is there "
        "not be synced: %s",
        error_text(err));
    return refuse(err, data_dir_path(dir), why);
}

static int check(struct data_folders *folders, const struct config *config)
{
    int err = config->adopt ? clean_start_adopt(folders->all, folders->count) : 0;
    if (err != 0) return err; /* It was told why. */
    err = clean_start_check(folders->all, folders->count, config->node_id);
    if (err == ERR_INCONSISTENT_CLUSTER_ID) return err; /* It was told why. */
    if (err != 0) return refuse(err, "data folders", "");
    for (unsigned i = 0; err == 0 && i < folders->count; i++)
        err = begin_one(folders->all[i]);
    return err;
}

int data_folders_open(struct data_folders *folders, const struct config *config)
{
    folders->all = mem_calloc(config->log_dir_count + 1u, sizeof *folders->all);
    if (folders->all == NULL) return refuse(ERR_NO_MEMORY, "data folders", "");
    folders->logs = folders->all;
    folders->log_count = config->log_dir_count;
    int err = 0;
    for (unsigned i = 0; err == 0 && i < config->log_dir_count; i++)
        err = open_one(folders, config->log_dirs[i]);
    if (err == 0 && config->metadata_log_dir != NULL)
        err = put_metadata_first(folders, config->metadata_log_dir);
    for (unsigned i = 0; err == 0 && i < folders->count; i++)
        file_cache_set_limit(data_dir_files(folders->all[i]),
                             file_cache_default_limit() / folders->count);
    return err != 0 ? err : check(folders, config);
}

void data_folders_leave(struct data_folders *folders, int64_t broker_epoch)
{
    if (folders->count == folders->log_count) return; /* The partition set left them all. */
    struct data_dir *dir = folders->all[0];
    int err = data_dir_write_checkpoints(dir);
    if (err == 0) err = data_dir_mark_clean(dir, broker_epoch);
    if (err != 0)
        trace(TRACE_WARN, "broker", "%s: not left in order: %s", data_dir_path(dir),
              error_text(err));
}

void data_folders_close(struct data_folders *folders)
{
    for (unsigned i = 0; i < folders->count; i++)
        data_dir_close(folders->all[i]);
    mem_free(folders->all);
    *folders = (struct data_folders){ 0 };
}
