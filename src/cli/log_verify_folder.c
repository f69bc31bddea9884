// SPDX-License-Identifier: Apache-2.0
/* What lies beside the partitions in a data folder. */

#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "checkpoint.h"
#include "data_dir.h"
#include "error.h"
#include "log_meta.h"
#include "log_verify_inside.h"
#include "meta_log.h"
#include "meta_vote.h"

#define IDENTITY_FILE      "meta.properties"
#define VOTE_FILE          "quorum-state"
#define SNAPSHOT_BYTES_MAX ((size_t)1 << 30)

const char *const verify_checkpoint_names[CHECKPOINT_FILES] = {
    [OF_RECOVERY] = "recovery-point-offset-checkpoint",
    [OF_LOG_START] = "log-start-offset-checkpoint",
    [OF_HIGH_WATERMARK] = "replication-offset-checkpoint",
    [OF_CLEANER] = "cleaner-offset-checkpoint",
};

/* ---- checkpoints ---- */

/* Walks a checkpoint file: is each line well, and is its partition here? */
struct line_check {
    struct log_verify *verify;
    const char *data_folder;
    const char *path;
    bool is_in_use;
};

static int check_line(void *context, const struct checkpoint_line *line)
{
    struct line_check *check = context;
    int64_t partition, offset;
    char folder[PATH_MAX];
    bool exists = true;
    if (checkpoint_number(line->columns[1], 0, &partition) != 0 ||
        checkpoint_number(line->columns[2], 0, &offset) != 0)
        return ERR_MALFORMED;
    if (check->is_in_use) return 0; /* It may have been deleted just now. */
    if (fs_path(folder, "%s/%.*s-%" PRId64, check->data_folder, line->columns[0].length,
                line->columns[0].data, partition) != 0)
        return ERR_MALFORMED;
    check->verify->fs->exists(check->verify->fs, folder, &exists);
    if (!exists) verify_tell(check->verify, check->path, -1, offset, "its partition is not here");
    return 0;
}

static int check_checkpoint_files(struct log_verify *verify, const char *data_folder)
{
    int err = 0;
    for (int i = 0; err == 0 && i < CHECKPOINT_FILES; i++) {
        char path[PATH_MAX];
        err = fs_path(path, "%s/%s", data_folder, verify_checkpoint_names[i]);
        struct line_check check = { verify, data_folder, path, log_is_in_use(data_folder) };
        if (err == 0) err = checkpoint_read(verify->fs, path, 3, check_line, &check, NULL);
        if (err == ERR_MALFORMED)
            verify_tell(verify, path, -1, -1, "the text ends early, goes on, or is no checkpoint");
        if (err == ERR_NOT_FOUND || err == ERR_MALFORMED || err == ERR_NOT_A_FILE) err = 0;
    }
    return err;
}

/* ---- whose the folder is, and what the node promised ---- */

static int has_metadata_log(struct log_verify *verify, const char *data_folder, bool *has_it)
{
    char folder[PATH_MAX];
    int err = fs_path(folder, "%s/" META_LOG_TOPIC "-0", data_folder);
    *has_it = false;
    return err == 0 ? verify->fs->exists(verify->fs, folder, has_it) : err;
}

static int has_checkpoints(struct log_verify *verify, const char *data_folder, bool *has_some)
{
    int err = 0;
    *has_some = false;
    for (int i = 0; err == 0 && i < CHECKPOINT_FILES && !*has_some; i++) {
        char path[PATH_MAX];
        err = fs_path(path, "%s/%s", data_folder, verify_checkpoint_names[i]);
        if (err == 0) err = verify->fs->exists(verify->fs, path, has_some);
    }
    return err;
}

/* Partitions alone may be a copy of some of them. And a node's first start writes the file last: one that was
 * ended before begins again, and has no more than the first entry of its log. */
static int check_missing_identity(struct log_verify *verify, const char *data_folder,
                                  const char *path)
{
    bool has_log, has_some = false;
    if (log_is_in_use(data_folder)) return 0;
    int err = has_metadata_log(verify, data_folder, &has_log);
    if (err == 0) err = has_checkpoints(verify, data_folder, &has_some);
    if (err != 0) return err;
    if (has_log && (verify->topics == NULL || verify_topics_index(verify->topics) > 1))
        verify_tell(verify, path, -1, -1,
                    "it is missing beside the metadata log: a start is refused");
    else if (!has_log && has_some)
        verify_tell(verify, path, -1, -1, "it is missing: a start takes the folder for a new one");
    return 0;
}

static int check_identity(struct log_verify *verify, const char *data_folder)
{
    struct data_dir_identity identity;
    const char *wrong = "";
    char path[PATH_MAX], what[128];
    int err = fs_path(path, "%s/" IDENTITY_FILE, data_folder);
    if (err == 0) err = data_dir_look_at_identity(verify->fs, data_folder, &identity, &wrong);
    if (err == ERR_NOT_FOUND) return check_missing_identity(verify, data_folder, path);
    if (err == 0 && identity.cluster_id[0] == '\0') wrong = "cluster.id";
    if (err == 0 && identity.node_id < 0) wrong = "node.id";
    snprintf(what, sizeof what, "its %s is missing or cannot be: a start is refused", wrong);
    if (wrong[0] != '\0') verify_tell(verify, path, -1, -1, what);
    if (err == ERR_LIMIT) verify_tell(verify, path, -1, -1, "it is too long: a start is refused");
    return err == ERR_MALFORMED || err == ERR_LIMIT || err == ERR_NOT_A_FILE ? 0 : err;
}

/* Two copies take turns; the third may be missing, and says nothing without them. */
static void judge_vote(struct log_verify *verify, const char *path, const uint8_t *data,
                       size_t length)
{
    struct meta_vote_copy newest = { 0 };
    unsigned damaged = 0;
    for (int i = 0; i < META_VOTE_COPIES; i++) {
        struct meta_vote_copy copy;
        size_t at = (size_t)i * META_VOTE_COPY_SPACING;
        if (i == 2 && (length <= at || newest.sequence == 0)) break;
        if (length < at + META_VOTE_COPY_SIZE || !meta_vote_read_copy(&copy, i, data + at))
            damaged++;
        else if (copy.sequence >= newest.sequence)
            newest = copy;
    }
    if (newest.sequence == 0)
        verify_tell(verify, path, -1, -1,
                    "both copies of the vote are damaged: a start is refused");
    else if (damaged > 0)
        verify_tell(verify, path, -1, -1, "a copy of the vote is damaged");
    if (newest.sequence > 0 && verify->topics != NULL &&
        newest.term < verify_topics_term(verify->topics))
        verify_tell(verify, path, -1, -1,
                    "its term is older than that of the metadata log: a start is refused");
}

static int read_vote(struct fs *fs, const char *path, uint8_t *data, size_t size, size_t *length)
{
    int fd = -1;
    int err = fs->open(fs, path, FS_READ, &fd);
    if (err == 0) err = fs->read(fs, fd, data, size, 0, length);
    if (fd >= 0) fs->close(fs, fd);
    return err;
}

static int check_vote(struct log_verify *verify, const char *data_folder)
{
    uint8_t data[(META_VOTE_COPIES - 1) * META_VOTE_COPY_SPACING + META_VOTE_COPY_SIZE];
    char path[PATH_MAX];
    size_t length = 0;
    bool has_log = false;
    int err = fs_path(path, "%s/" VOTE_FILE, data_folder);
    if (err == 0) err = read_vote(verify->fs, path, data, sizeof data, &length);
    if (err == 0) judge_vote(verify, path, data, length);
    if (err == ERR_NOT_A_FILE) err = 0;
    if (err != ERR_NOT_FOUND) return err;
    err = has_metadata_log(verify, data_folder, &has_log);
    if (err == 0 && has_log)
        verify_tell(verify, path, -1, -1,
                    "it is missing beside the metadata log: a start is refused");
    return err;
}

/* ---- snapshots of the metadata, the mark ---- */

static int check_snapshots(struct log_verify *verify, const char *data_folder)
{
    struct log_names files;
    int err = log_names_read(&files, verify->fs, data_folder, LOG_NAMES_OF_FILES);
    for (size_t i = 0; err == 0 && i < files.count; i++) {
        char path[PATH_MAX];
        char *data = NULL;
        size_t length = 0;
        struct log_file_name name = log_file_name(files.items[i]);
        if (name.kind != LOG_FILE_METADATA_SNAPSHOT || name.is_leftover) continue;
        err = fs_path(path, "%s/%s", data_folder, files.items[i]);
        if (err == 0) err = fs_read_file(verify->fs, path, SNAPSHOT_BYTES_MAX, &data, &length);
        if (err == 0) err = log_meta_snapshot(NULL, data, length);
        mem_free(data);
        if (err == ERR_CORRUPT_MESSAGE || err == ERR_UNSUPPORTED_VERSION)
            verify_tell(verify, path, -1, -1,
                        err == ERR_CORRUPT_MESSAGE ? "it is no whole snapshot of the metadata"
                                                   : "it holds what this version does not know");
        if (err != ERR_NO_MEMORY && err != ERR_IO) err = 0;
    }
    log_names_close(&files);
    return err;
}

/* Not wrong: the next start reads more, and finds the logs' ends by itself. */
static int check_mark(struct log_verify *verify, const char *data_folder)
{
    enum data_dir_mark mark = DATA_DIR_NO_MARK;
    char path[PATH_MAX];
    int err = fs_path(path, "%s/%s", data_folder, verify_checkpoint_names[OF_RECOVERY]);
    if (err == 0) err = data_dir_look_at_mark(verify->fs, data_folder, &mark);
    if (err == 0 && mark == DATA_DIR_MARK_OF_OTHER_POINTS)
        verify_note(verify, path,
                    "it is not the one that the last clean stop left here: the next start checks "
                    "the logs as after a kill");
    return err;
}

int verify_beside_partitions(struct log_verify *verify, const char *data_folder)
{
    int err = verify_no_files(verify, data_folder, false);
    if (err == 0) err = check_identity(verify, data_folder);
    if (err == 0) err = check_checkpoint_files(verify, data_folder);
    if (err == 0) err = check_mark(verify, data_folder);
    if (err == 0) err = check_vote(verify, data_folder);
    if (err == 0) err = check_snapshots(verify, data_folder);
    return err;
}
