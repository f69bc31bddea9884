// SPDX-License-Identifier: Apache-2.0
#include "failure_mark.h"

#include "error.h"
#include "trace.h"

#define NAME ".sluice-write-failed"

void failure_mark_leave(struct fs *fs, const char *folder)
{
    char path[PATH_MAX];

    int err = fs_path(path, "%s/" NAME, folder);
    if (err == 0) err = fs_write_file(fs, path, "", 0, false);
    if (err != 0)
        trace(TRACE_WARN, "storage", "%s: the failure cannot be noted there: %s", folder,
              error_text(err));
}

int failure_mark_look(struct fs *fs, const char *folder, bool *is_there)
{
    char path[PATH_MAX];
    int err = fs_path(path, "%s/" NAME, folder);

    return err != 0 ? err : fs->exists(fs, path, is_there);
}

int failure_mark_remove(struct fs *fs, const char *folder)
{
    char path[PATH_MAX];

    int err = fs_path(path, "%s/" NAME, folder);
    if (err == 0) err = fs->remove(fs, path);
    return err == ERR_NOT_FOUND ? 0 : err;
}
