// SPDX-License-Identifier: Apache-2.0
#include "meta_vote.h"

#include <stdio.h>

#include "bytes.h"
#include "crc32c.h"
#include "error.h"
#include "meta_entry.h"
#include "trace.h"

#define VOTE_VERSION 1
#define CRC_AT       36
#define NOTE         2 /* The copy that is not synced. */

static const char magic[4] = { 'S', 'L', 'Q', 'S' };

static void copy_write(const struct meta_vote_copy *copy, uint8_t at[META_VOTE_COPY_SIZE])
{
    memcpy(at, magic, sizeof magic);
    store_i16(at + 4, VOTE_VERSION);
    store_i16(at + 6, 0);
    store_i64(at + 8, copy->sequence);
    store_i64(at + 16, copy->term);
    store_i32(at + 24, copy->voted_for);
    store_i64(at + 28, copy->persisted_index);
    store_i32(at + CRC_AT, (int32_t)crc32c(at, CRC_AT));
}

bool meta_vote_read_copy(struct meta_vote_copy *copy, int number,
                         const uint8_t at[META_VOTE_COPY_SIZE])
{
    if (memcmp(at, magic, sizeof magic) != 0 || load_i16(at + 4) != VOTE_VERSION) return false;
    if ((uint32_t)load_i32(at + CRC_AT) != crc32c(at, CRC_AT)) return false;
    copy->sequence = load_i64(at + 8);
    copy->term = load_i64(at + 16);
    copy->voted_for = load_i32(at + 24);
    copy->persisted_index = load_i64(at + 28);
    return copy->sequence > 0 && (number == NOTE || copy->sequence % 2 == number) &&
           copy->term >= 0 && copy->voted_for >= META_NOBODY && copy->persisted_index >= 0;
}

/* All copies, so that the file never grows again; all of it or nothing. */
static int vote_create(struct fs *fs, const char *path)
{
    uint8_t bytes[NOTE * META_VOTE_COPY_SPACING + META_VOTE_COPY_SIZE] = { 0 };
    struct meta_vote_copy copy = { .sequence = 1, .voted_for = META_NOBODY };
    copy_write(&copy, bytes + META_VOTE_COPY_SPACING);
    copy.sequence = 2;
    copy_write(&copy, bytes);
    copy_write(&copy, bytes + NOTE * META_VOTE_COPY_SPACING);
    return fs_replace_file(fs, path, bytes, sizeof bytes);
}

static int write_copy(struct meta_vote *vote, const struct meta_vote_copy *copy, int64_t number)
{
    uint8_t bytes[META_VOTE_COPY_SIZE];
    copy_write(copy, bytes);
    struct iovec part = { bytes, sizeof bytes };
    return vote->fs->write(vote->fs, vote->fd, &part, 1, number * META_VOTE_COPY_SPACING);
}

static int write_durably(struct meta_vote *vote, const struct meta_vote_copy *copy)
{
    int err = write_copy(vote, copy, copy->sequence % 2);
    return err == 0 ? vote->fs->sync(vote->fs, vote->fd) : err;
}

static int vote_load(struct meta_vote *vote, const char *path, bool *note_is_news)
{
    struct meta_vote_copy newest = { 0 };
    for (int i = 0; i < META_VOTE_COPIES; i++) {
        uint8_t bytes[META_VOTE_COPY_SIZE];
        struct meta_vote_copy copy;
        size_t got = 0;
        int err = vote->fs->read(vote->fs, vote->fd, bytes, sizeof bytes,
                                 (int64_t)i * META_VOTE_COPY_SPACING, &got);
        if (err != 0) return err;
        bool is_missing = got == 0 && i == NOTE;      /* In files of before. */
        if (i == NOTE && newest.sequence == 0) break; /* It may be older than what was lost. */
        if (!is_missing && (got < sizeof bytes || !meta_vote_read_copy(&copy, i, bytes))) {
            trace(TRACE_WARN, "quorum",
                  "%s: the copy at position %d is damaged, as by a write that was cut short", path,
                  i * META_VOTE_COPY_SPACING);
        } else if (!is_missing && copy.sequence >= newest.sequence) {
            *note_is_news = i == NOTE && (copy.sequence > newest.sequence ||
                                          copy.persisted_index > newest.persisted_index);
            newest = copy;
        }
    }
    if (newest.sequence == 0) return ERR_CORRUPT_MESSAGE;
    vote->sequence = newest.sequence;
    vote->term = newest.term;
    vote->voted_for = newest.voted_for;
    vote->persisted_index = vote->noted_index = newest.persisted_index;
    return 0;
}

/* Writes what counts again: of a life whose sync failed it may be in the page cache only, and what this node says
 * from now on rests on it. In its place, so the other one stays, for a write that is cut short; but for what
 * only the third copy says, which takes the place of the older one. */
static int vote_confirm(struct meta_vote *vote, bool note_is_news)
{
    struct meta_vote_copy copy = { vote->sequence, vote->term, vote->voted_for,
                                   vote->persisted_index };
    if (note_is_news)
        return meta_vote_store(vote, vote->term, vote->voted_for, vote->persisted_index);
    return write_durably(vote, &copy);
}

int meta_vote_open(struct meta_vote *vote, struct fs *fs, const char *path, char *why,
                   size_t why_size)
{
    *vote = (struct meta_vote){ .fs = fs, .fd = -1, .voted_for = META_NOBODY };
    bool exists = false, note_is_news = false;
    int err = fs->exists(fs, path, &exists);
    vote->is_new = err == 0 && !exists;
    if (vote->is_new) err = vote_create(fs, path);
    if (err == 0) err = fs->open(fs, path, FS_WRITE, &vote->fd);
    if (err == 0) err = vote_load(vote, path, &note_is_news);
    if (err == 0 && !vote->is_new) err = vote_confirm(vote, note_is_news);
    if (err == ERR_CORRUPT_MESSAGE)
        snprintf(why, why_size,
                 "%s: both copies of this node's vote are damaged; restore the file, or remove the "
                 "node's folder and let it join again from the other nodes",
                 path);
    else if (err != 0)
        snprintf(why, why_size, "%s: %s", path, error_text(err));
    if (err != 0) meta_vote_close(vote);
    return err;
}

int meta_vote_store(struct meta_vote *vote, int64_t term, int32_t voted_for,
                    int64_t persisted_index)
{
    struct meta_vote_copy copy = { vote->sequence + 1, term, voted_for, persisted_index };
    int err = write_durably(vote, &copy);
    if (err != 0) return err;
    vote->sequence = copy.sequence;
    vote->term = term;
    vote->voted_for = voted_for;
    vote->persisted_index = persisted_index;
    return meta_vote_note(vote, persisted_index);
}

int meta_vote_note(struct meta_vote *vote, int64_t persisted_index)
{
    struct meta_vote_copy copy = { vote->sequence, vote->term, vote->voted_for, persisted_index };
    int err = write_copy(vote, &copy, NOTE);
    /* A file of before has no room for it. What the third copy says is true, but of less. */
    if (err == ERR_NO_SPACE) err = 0;
    vote->noted_index = persisted_index;
    return err;
}

void meta_vote_close(struct meta_vote *vote)
{
    if (vote->fd >= 0) vote->fs->close(vote->fs, vote->fd);
    vote->fd = -1;
}
