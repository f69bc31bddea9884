// SPDX-License-Identifier: Apache-2.0
/* The mark of a clean stop, `.kafka_cleanshutdown`: Kafka's JSON, with one more member that Kafka passes over.
 *
 *    {"version":0,"brokerEpoch":N,"recoveryPointsCrc":"xxxxxxxx"}
 *
 * After a clean stop the recovery points are taken for the logs' ends, unseen: so the mark says which file of
 * them it goes with, by its CRC-32C in hex (that of no bytes if there was none). With another file in its
 * place, from a copy for example, the folder is not as it was left. Kafka's own mark says nothing of that, nor
 * does that of an earlier Sluice. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "checkpoint.h"
#include "crc32c.h"
#include "data_dir_inside.h"
#include "error.h"
#include "failure_mark.h"
#include "trace.h"

#define CLEAN_MARKER     ".kafka_cleanshutdown"
#define MARKER_MAX_BYTES 4096
#define CRC_MEMBER       "\"recoveryPointsCrc\":\""
#define CRC_DIGITS       8

static int find_crc(struct fs *fs, const char *folder, char digits[CRC_DIGITS + 1])
{
    char path[PATH_MAX];
    char *text = NULL;
    size_t length = 0;

    int err = fs_path(path, "%s/" RECOVERY_POINT_FILE, folder);
    if (err == 0) err = fs_read_file(fs, path, CHECKPOINT_MAX_BYTES, &text, &length);
    if (err == ERR_NOT_FOUND) err = 0;
    if (err == 0)
        snprintf(digits, CRC_DIGITS + 1, "%08" PRIx32, length == 0 ? 0 : crc32c(text, length));
    mem_free(text);
    return err;
}

/* Are the recovery points those that the mark was left with? */
static int check_points(struct fs *fs, const char *folder, const char *marker,
                        enum data_dir_mark *mark)
{
    char digits[CRC_DIGITS + 1] = "";
    const char *member = strstr(marker, CRC_MEMBER);

    if (member == NULL) return 0;
    int err = find_crc(fs, folder, digits);
    if (err == ERR_NOT_A_FILE) err = 0; /* It is told of when it is read. */
    if (err == 0 && strncmp(member + strlen(CRC_MEMBER), digits, CRC_DIGITS) != 0)
        *mark = DATA_DIR_MARK_OF_OTHER_POINTS;
    return err;
}

int data_dir_look_at_mark(struct fs *fs, const char *folder, enum data_dir_mark *mark)
{
    enum data_dir_mark found = DATA_DIR_MARK_HOLDS;
    char path[PATH_MAX];
    char *text = NULL;
    size_t length;

    int err = fs_path(path, "%s/" CLEAN_MARKER, folder);
    if (err == 0) err = fs_read_file(fs, path, MARKER_MAX_BYTES, &text, &length);
    if (err == ERR_NOT_FOUND) found = DATA_DIR_NO_MARK;
    if (err == ERR_NOT_A_FILE) found = DATA_DIR_MARK_IS_NO_FILE;
    if (err == ERR_LIMIT || err == ERR_NOT_FOUND || err == ERR_NOT_A_FILE) err = 0;
    if (err == 0 && text != NULL) err = check_points(fs, folder, text, &found);
    mem_free(text);
    if (err == 0) *mark = found;
    return err;
}

int data_dir_read_marker(struct data_dir *dir, char *why, size_t why_size)
{
    enum data_dir_mark mark = DATA_DIR_NO_MARK;

    int err = data_dir_look_at_mark(dir->fs, dir->path, &mark);
    dir->was_clean = mark == DATA_DIR_MARK_HOLDS;
    dir->marker_is_no_file = mark == DATA_DIR_MARK_IS_NO_FILE;
    if (mark == DATA_DIR_MARK_OF_OTHER_POINTS)
        trace(TRACE_WARN, "storage",
              "%s/" RECOVERY_POINT_FILE
              " is not the one that the last clean stop left there: logs are checked as after a "
              "kill",
              dir->path);
    if (err != 0)
        snprintf(why, why_size,
                 "%s/" CLEAN_MARKER ", or " RECOVERY_POINT_FILE " beside it, cannot be read: %s",
                 dir->path, error_text(err));
    return err;
}

int data_dir_remove_marker(struct data_dir *dir)
{
    char path[PATH_MAX];

    int err = fs_path(path, "%s/" CLEAN_MARKER, dir->path);
    if (err == 0)
        err = dir->marker_is_no_file ? data_dir_move_away(dir, CLEAN_MARKER)
                                     : dir->fs->remove(dir->fs, path);
    if (err == 0) dir->marker_is_no_file = false;
    if (err == 0) err = dir->fs->sync_folder(dir->fs, dir->path);
    return err == ERR_NOT_FOUND ? 0 : err;
}

int data_dir_mark_clean(struct data_dir *dir, int64_t broker_epoch)
{
    char path[PATH_MAX], text[128], digits[CRC_DIGITS + 1];

    int err = failure_mark_remove(dir->fs,
                                  dir->path); /* Everything was written and synced again. */
    if (err == 0) err = fs_path(path, "%s/" CLEAN_MARKER, dir->path);
    if (err == 0) err = find_crc(dir->fs, dir->path, digits);
    if (err != 0) return err;
    int length = snprintf(text, sizeof text,
                          "{\"version\":0,\"brokerEpoch\":%" PRId64 "," CRC_MEMBER "%s\"}",
                          broker_epoch, digits);
    return fs_replace_file(dir->fs, path, text, (size_t)length);
}
