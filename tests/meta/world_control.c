// SPDX-License-Identifier: Apache-2.0
#include "world_control.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "bytes.h"
#include "meta_log.h"
#include "meta_vote.h"
#include "world.h"

#define LOG_FOLDER   WORLD_FOLDER "/" META_LOG_TOPIC "-0"
#define BATCH_LENGTH 12 /* A batch begins with its offset and how many bytes follow. */

void world_control_disk(struct world_node *node)
{
    switch (node->world->options.control) {
    case WORLD_CONTROL_ACK_EARLY: fs_sim_ignore(node->disk, FS_SIM_SYNC, ".log"); break;
    case WORLD_CONTROL_LOSE_VOTE: fs_sim_ignore(node->disk, FS_SIM_SYNC, "quorum-state"); break;
    default: break;
    }
}

static int note_log(void *context, const struct fs_entry *entry)
{
    char *newest = context;
    size_t length = strlen(entry->name);
    if (length > 4 && strcmp(entry->name + length - 4, ".log") == 0 &&
        strcmp(entry->name, newest) > 0)
        snprintf(newest, sizeof entry->name, "%s", entry->name);
    return 0;
}

/* Where the last batch of the file begins; 0: it has one or none. */
static int64_t last_batch(const uint8_t *data, size_t length)
{
    size_t at = 0, last = 0;
    while (length - at > BATCH_LENGTH) {
        int32_t size = load_i32(data + at + 8);
        if (size <= 0 || (size_t)size > length - at - BATCH_LENGTH) break;
        last = at;
        at += BATCH_LENGTH + (size_t)size;
    }
    return (int64_t)last;
}

/* The node itself is not to miss the entry. */
static void lose_note(struct fs *fs)
{
    uint8_t nothing[META_VOTE_COPY_SIZE] = { 0 };
    struct iovec part = { nothing, sizeof nothing };
    int fd = -1;
    if (fs->open(fs, WORLD_FOLDER "/quorum-state", FS_WRITE, &fd) != 0) return;
    fs->write(fs, fd, &part, 1, (META_VOTE_COPIES - 1) * META_VOTE_COPY_SPACING);
    fs->close(fs, fd);
}

static void lose_last_entry(struct world_node *node)
{
    char newest[256] = "", path[600];
    char *data = NULL;
    size_t length = 0;
    int fd = -1;
    struct fs *fs = fs_sim_fs(node->disk);
    if (fs->list(fs, LOG_FOLDER, note_log, newest) != 0 || newest[0] == '\0') return;
    snprintf(path, sizeof path, LOG_FOLDER "/%s", newest);
    if (fs_read_file(fs, path, 64 << 20, &data, &length) != 0) return;
    int64_t at = last_batch((const uint8_t *)data, length);
    if (at > 0 && fs->open(fs, path, FS_WRITE, &fd) == 0) {
        fs->truncate(fs, fd, at);
        fs->sync(fs, fd);
        fs->close(fs, fd);
        lose_note(fs);
        world_tell(node->world, "node %u loses its last entry", node->id);
    }
    mem_free(data);
}

void world_control_starting(struct world_node *node)
{
    if (node->world->options.control == WORLD_CONTROL_LOSE_ENTRY && !node->world->is_quiet &&
        world_percent(node->world, 33))
        lose_last_entry(node);
}
