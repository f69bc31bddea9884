// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "log_dump.h"
#include "log_verify_inside.h"

#define SMALL_FILE_MAX ((size_t)256 << 20)

/* Of an index that is too long so much is read: more than those of full segments have with the usual settings. Its
 * end is looked for from behind, and a hole takes as long to read as data. */
#define LONG_INDEX_BYTES ((int64_t)64 << 20)

int64_t verify_bounded_size(struct partition_check *check, const char *name, int64_t size,
                            int64_t most)
{
    if (size <= LOG_FILE_MAX) return size;
    verify_finding(check, name, most, -1,
                   "it has %" PRId64
                   " bytes, more than Kafka or Sluice write: the rest is not looked at",
                   size);
    return most;
}

/* ---- entries ---- */

/* The length without zeros at the end. */
static size_t used_length(const uint8_t *bytes, size_t length)
{
    /* All alike, and the first is zero? Much faster than to look at each. */
    if (length > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0) return 0;
    while (length > 0 && bytes[length - 1] == 0)
        length--;
    return length;
}

/* Without the zeros that Kafka reserves at the end. */
static int find_length(struct entry_reader *reader, int64_t size)
{
    struct fs *fs = reader->check->verify->fs;
    uint8_t *buffer = reader->check->crc_buffer;
    int64_t end = size;
    while (end > 0) {
        size_t got = 0, length = end < VERIFY_CRC_BYTES ? (size_t)end : VERIFY_CRC_BYTES;
        int err = fs->read(fs, reader->fd, buffer, length, end - (int64_t)length, &got);
        if (err != 0) return err;
        size_t used = used_length(buffer, got);
        end -= (int64_t)(length - used);
        if (used > 0) break;
    }
    int64_t entry = (int64_t)reader->entry_size;
    int64_t whole = (end + entry - 1) / entry * entry;
    reader->length = whole > size ? size / entry * entry : whole;
    if (whole > size && !reader->check->is_in_use)
        verify_finding(reader->check, reader->name, reader->length, -1,
                       "the last entry is not whole");
    return 0;
}

int entry_reader_open(struct entry_reader *reader, struct partition_check *check,
                      int64_t base_offset, const char *suffix, size_t entry_size)
{
    struct fs *fs = check->verify->fs;
    char path[PATH_MAX];
    int64_t size = 0;
    reader->check = check;
    reader->entry_size = entry_size;
    reader->fd = -1;
    reader->length = reader->at = 0;
    reader->chunk_at = 0;
    reader->chunk_length = 0;
    reader->err = 0;
    verify_name(reader->name, base_offset, suffix);
    int err = fs_path(path, "%s/%s", check->folder, reader->name);
    if (err == 0) err = fs->open(fs, path, FS_READ, &reader->fd);
    reader->is_no_file = err == ERR_NOT_A_FILE;
    /* The caller knows whether that is wrong. */
    if (err == ERR_NOT_FOUND || err == ERR_NOT_A_FILE) return 0;
    if (err == 0) err = fs->size(fs, reader->fd, &size);
    if (err != 0) return err;
    int64_t most = LONG_INDEX_BYTES / (int64_t)entry_size * (int64_t)entry_size;
    return find_length(reader, verify_bounded_size(check, reader->name, size, most));
}

void entry_reader_close(struct entry_reader *reader)
{
    struct fs *fs = reader->check->verify->fs;
    if (reader->fd >= 0) fs->close(fs, reader->fd);
    reader->fd = -1;
}

const uint8_t *entry_reader_peek(struct entry_reader *reader)
{
    struct fs *fs = reader->check->verify->fs;
    if (reader->fd < 0 || reader->err != 0 || reader->at >= reader->length) return NULL;
    int64_t within = reader->at - reader->chunk_at;
    if (reader->chunk_length == 0 ||
        within + (int64_t)reader->entry_size > (int64_t)reader->chunk_length) {
        reader->err = fs->read(fs, reader->fd, reader->chunk, ENTRY_CHUNK_BYTES, reader->at,
                               &reader->chunk_length);
        reader->chunk_at = reader->at;
        within = 0;
        if (reader->err != 0 || reader->chunk_length < reader->entry_size) return NULL;
    }
    return reader->chunk + within;
}

void entry_reader_next(struct entry_reader *reader)
{
    reader->at += (int64_t)reader->entry_size;
}

/* ---- leader-epoch-checkpoint ---- */

#define EPOCH_FILE "leader-epoch-checkpoint"

int verify_read_epochs(struct partition_check *check)
{
    char path[PATH_MAX];
    char *text = NULL;
    size_t length = 0;
    int err = fs_path(path, "%s/" EPOCH_FILE, check->folder);
    if (err == 0) err = fs_read_file(check->verify->fs, path, SMALL_FILE_MAX, &text, &length);
    if (err == 0) err = epoch_history_parse(&check->epochs, text, length);
    check->has_epochs = err == 0;
    mem_free(text);
    if (err == ERR_MALFORMED) {
        verify_finding(check, EPOCH_FILE, -1, -1, "it is no list of ascending epochs");
        err = 0;
    }
    return err == ERR_NOT_FOUND || err == ERR_NOT_A_FILE ? 0 : err;
}

void verify_epoch(struct partition_check *check, const char *file, int64_t position,
                  const struct record_batch *batch)
{
    /* The first epoch that is known begins where the log does, and that may be inside a batch. */
    int64_t offset = batch->base_offset < check->points[OF_LOG_START] ? check->points[OF_LOG_START]
                                                                      : batch->base_offset;
    if (!check->has_epochs || batch->leader_epoch < 0 || offset > record_batch_last_offset(batch))
        return;
    int32_t known = epoch_history_of(&check->epochs, offset);
    if (known == batch->leader_epoch || check->wrong_epoch == batch->leader_epoch) return;
    /* Kafka cuts the list where DeleteRecords moves the start, and a kill may bring the start back. */
    if (known < 0 && check->epochs.count > 0) return;
    bool is_news = batch->leader_epoch > epoch_history_last(&check->epochs);
    if (is_news && batch->base_offset >= check->tail_from) return;
    check->wrong_epoch = batch->leader_epoch; /* Once for each is enough. */
    verify_finding(check, file, position, batch->base_offset,
                   "leader epoch %" PRId32 ", but " EPOCH_FILE " says %" PRId32,
                   batch->leader_epoch, known);
}

/* ---- snapshots ---- */

struct snapshot_check {
    struct partition_check *check;
    const char *name;
    int64_t offset; /* In its name. */
};

static int compare_producer(void *context, const struct producer_snapshot *told)
{
    struct snapshot_check *snapshot = context;
    struct partition_check *check = snapshot->check;
    struct producer_snapshot seen;
    if (told->last_offset >= snapshot->offset || told->first_open_offset >= snapshot->offset) {
        verify_finding(check, snapshot->name, -1, told->last_offset,
                       "producer %" PRId64 " is said to have written what lies behind it",
                       told->id);
        return 0;
    }
    /* What lies in front of the log's first batch cannot be compared; nor what compaction took. */
    if (check->producers == NULL || check->first_offset < 0 ||
        told->last_offset < check->first_offset || told->last_offset < check->points[OF_CLEANER])
        return 0;
    if (!producer_history_find(check->producers, told->id, &seen) ||
        seen.last_offset != told->last_offset)
        verify_finding(check, snapshot->name, -1, told->last_offset,
                       "producer %" PRId64 " is said to have written last at this offset, which "
                       "it did not",
                       told->id);
    else if (seen.last_sequence != told->last_sequence)
        verify_finding(check, snapshot->name, -1, told->last_offset,
                       "producer %" PRId64 ": last sequence %" PRId32 ", but the log has %" PRId32,
                       told->id, told->last_sequence, seen.last_sequence);
    if (told->first_open_offset >= check->first_offset &&
        producer_history_find(check->producers, told->id, &seen) &&
        seen.first_open_offset != told->first_open_offset)
        verify_finding(check, snapshot->name, -1, told->first_open_offset,
                       "producer %" PRId64 " is said to have a transaction open from this offset "
                       "on, which it has not",
                       told->id);
    return 0;
}

static int verify_snapshot(struct partition_check *check, int64_t offset)
{
    char name[NAME_MAX + 1], path[PATH_MAX];
    char *data = NULL;
    size_t length = 0;
    verify_name(name, offset, ".snapshot");
    struct snapshot_check snapshot = { check, name, offset };
    int err = fs_path(path, "%s/%s", check->folder, name);
    if (err == 0) err = fs_read_file(check->verify->fs, path, SMALL_FILE_MAX, &data, &length);
    if (err == 0) err = producer_snapshot_parse(data, length, compare_producer, &snapshot);
    mem_free(data);
    if (err == ERR_CORRUPT_MESSAGE) {
        verify_finding(check, name, 0, -1, "version, length or CRC of the snapshot is wrong");
        err = 0;
    }
    return err == ERR_NOT_FOUND && check->is_in_use ? 0 : err; /* Removed meanwhile. */
}

int verify_snapshots(struct partition_check *check, const struct record_batch *batch)
{
    int err = 0;
    while (err == 0 && check->next_snapshot < check->snapshots.count) {
        int64_t offset = check->snapshots.items[check->next_snapshot];
        char name[NAME_MAX + 1];
        if (batch != NULL && batch->base_offset < offset) {
            if (record_batch_last_offset(batch) < offset) return 0;
            verify_name(name, offset, ".snapshot");
            verify_finding(check, name, -1, offset, "its offset lies inside a batch");
        } else if (batch == NULL && offset > check->next_offset && check->logs.count > 0 &&
                   !check->is_in_use) {
            verify_name(name, offset, ".snapshot");
            verify_finding(check, name, -1, offset, "it lies behind the end of the log, %" PRId64,
                           check->next_offset);
        } else {
            err = verify_snapshot(check, offset);
        }
        check->next_snapshot++;
    }
    return err;
}
