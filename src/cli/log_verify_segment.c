// SPDX-License-Identifier: Apache-2.0
/* One segment: its batches in order, and both indexes beside them, each read once from front to end.
 * All ascend, so an entry that is passed without its batch points to none. */

#include <inttypes.h>

#include "alloc.h"
#include "batch_scan.h"
#include "error.h"
#include "log_dump.h"
#include "log_meta.h"
#include "log_verify_inside.h"
#include "offset_index.h"
#include "time_index.h"
#include "txn_index.h"

struct segment_check {
    struct partition_check *check;
    char name[NAME_MAX + 1];
    int64_t base_offset;
    bool is_last;
    struct entry_reader offsets, times, aborts;
    int64_t max_timestamp; /* So far. */
    int64_t last_entry_offset, last_entry_position;
    int64_t last_time_offset, last_timestamp;
    struct batch_scan scan;
};

/* ---- indexes ---- */

static void offset_entry_ascends(struct segment_check *segment,
                                 const struct offset_index_entry *entry)
{
    if (entry->last_offset <= segment->last_entry_offset ||
        entry->position <= segment->last_entry_position)
        verify_finding(segment->check, segment->offsets.name, segment->offsets.at,
                       entry->last_offset, "entries do not ascend");
    segment->last_entry_offset = entry->last_offset;
    segment->last_entry_position = entry->position;
}

/* Entries up to the batch at `position`; NULL: to the end. */
static void pass_offset_entries(struct segment_check *segment, const struct record_batch *batch,
                                int64_t position)
{
    struct entry_reader *reader = &segment->offsets;
    const uint8_t *bytes;
    while ((bytes = entry_reader_peek(reader)) != NULL) {
        struct offset_index_entry entry = offset_index_read_entry(bytes, segment->base_offset);
        if (batch != NULL && entry.position > position) return;
        offset_entry_ascends(segment, &entry);
        if (batch == NULL || entry.position != position)
            verify_finding(segment->check, reader->name, reader->at, entry.last_offset,
                           "it points to position %" PRId64 ", where no batch begins",
                           entry.position);
        else if (entry.last_offset != record_batch_last_offset(batch))
            verify_finding(segment->check, reader->name, reader->at, entry.last_offset,
                           "it points to a batch that ends at offset %" PRId64,
                           record_batch_last_offset(batch));
        entry_reader_next(reader);
    }
}

static void time_entry_ascends(struct segment_check *segment, const struct time_index_entry *entry)
{
    if (entry->offset < segment->last_time_offset || entry->timestamp <= segment->last_timestamp)
        verify_finding(segment->check, segment->times.name, segment->times.at, entry->offset,
                       "entries do not ascend");
    segment->last_time_offset = entry->offset;
    segment->last_timestamp = entry->timestamp;
}

/* Entries of offsets up to the batch's last one. */
static void pass_time_entries(struct segment_check *segment, const struct record_batch *batch,
                              bool batch_is_right)
{
    struct entry_reader *reader = &segment->times;
    const uint8_t *bytes;
    while ((bytes = entry_reader_peek(reader)) != NULL) {
        struct time_index_entry entry = time_index_read_entry(bytes, segment->base_offset);
        if (batch != NULL && entry.offset > record_batch_last_offset(batch)) return;
        time_entry_ascends(segment, &entry);
        if (batch == NULL || entry.offset < batch->base_offset)
            verify_finding(segment->check, reader->name, reader->at, entry.offset,
                           "no batch holds this offset");
        else if (batch_is_right && entry.timestamp != batch->max_timestamp)
            verify_finding(segment->check, reader->name, reader->at, entry.offset,
                           "timestamp %" PRId64 ", but that batch has %" PRId64, entry.timestamp,
                           batch->max_timestamp);
        else if (batch_is_right && entry.timestamp < segment->max_timestamp)
            verify_finding(segment->check, reader->name, reader->at, entry.offset,
                           "timestamp %" PRId64 ", but %" PRId64 " lies before it", entry.timestamp,
                           segment->max_timestamp);
        entry_reader_next(reader);
    }
}

/* Aborted transactions that end in this batch, or should have ended in front of it. */
static void pass_aborts(struct segment_check *segment, const struct record_batch *batch)
{
    struct entry_reader *reader = &segment->aborts;
    const uint8_t *bytes;
    while ((bytes = entry_reader_peek(reader)) != NULL) {
        struct aborted_transaction entry;
        int err = txn_index_read_entry(bytes, &entry);
        if (err != 0)
            verify_finding(segment->check, reader->name, reader->at, entry.last_offset,
                           "this entry cannot be right");
        else if (batch != NULL && entry.last_offset > record_batch_last_offset(batch))
            return;
        else if (batch == NULL || entry.last_offset < batch->base_offset ||
                 (batch->attributes & BATCH_CONTROL) == 0 ||
                 batch->producer_id != entry.producer_id)
            verify_finding(segment->check, reader->name, reader->at, entry.last_offset,
                           "no transaction of producer %" PRId64 " ends here", entry.producer_id);
        entry_reader_next(reader);
    }
}

/* ---- the inside of a batch ---- */

static int load_batch(struct segment_check *segment, const struct record_batch *header,
                      int64_t position, struct record_batch *batch)
{
    struct partition_check *check = segment->check;
    struct fs *fs = check->verify->fs;
    size_t got = 0;
    check->data.length = 0;
    uint8_t *bytes = buffer_extend(&check->data, header->size);
    if (bytes == NULL) return ERR_NO_MEMORY;
    int err = fs->read(fs, segment->scan.fd, bytes, header->size, position, &got);
    if (err != 0) return err;
    if (got < header->size || record_batch_read_header(batch, bytes, got) != 0 ||
        batch->size != got)
        return ERR_CORRUPT_MESSAGE; /* It changed under our eyes. */
    return 0;
}

static void check_records(struct segment_check *segment, const struct record_batch *batch,
                          int64_t position)
{
    struct partition_check *check = segment->check;
    bool are_entries = check->is_metadata && (batch->attributes & BATCH_CONTROL) == 0;
    struct record_walk *walk = NULL;
    struct record record;
    int64_t count = 0, next_offset = batch->base_offset;
    int err = record_walk_open(&walk, batch, LOG_BATCH_MAX);
    while (err == 0 && (err = record_walk_next(walk, &record)) == 0) {
        if (record.offset < next_offset || record.offset > record_batch_last_offset(batch))
            verify_finding(check, segment->name, position, record.offset,
                           "a record's offset does not fit into its batch");
        else
            next_offset = record.offset + 1;
        int entry = are_entries ? log_meta_entry(NULL, batch, &record) : 0;
        if (entry != 0)
            verify_finding(check, segment->name, position, record.offset, "%s",
                           entry == ERR_UNSUPPORTED_VERSION
                               ? "an entry that this version does not know"
                               : "a record that is no entry of the metadata log");
        count++;
    }
    record_walk_close(walk);
    if (err != ERR_NOT_FOUND)
        verify_finding(check, segment->name, position, batch->base_offset,
                       "its records cannot be read to their end: %s", error_text(err));
    else if (count != batch->record_count)
        verify_finding(check, segment->name, position, batch->base_offset,
                       "it counts %" PRId32 " records and holds %" PRId64, batch->record_count,
                       count);
}

static int look_inside(struct segment_check *segment, const struct record_batch *header,
                       int64_t position)
{
    struct partition_check *check = segment->check;
    bool is_marker = header->producer_id >= 0 && (header->attributes & BATCH_CONTROL) != 0;
    bool walks = check->verify->records || check->is_metadata;
    struct record_batch batch = *header;
    int err = 0;
    if ((walks || is_marker) && (int64_t)header->size > LOG_BATCH_MAX) {
        verify_finding(check, segment->name, position, header->base_offset,
                       "the batch is too large to look into");
        return 0;
    }
    if (walks || is_marker) err = load_batch(segment, header, position, &batch);
    if (err == ERR_CORRUPT_MESSAGE) return 0;
    if (err == 0 && walks) check_records(segment, &batch, position);
    if (err == 0 && check->producers != NULL)
        err = producer_history_add(check->producers, &batch, batch.max_timestamp);
    /* From here on some would be forgotten. */
    if (check->producers != NULL && producer_history_count(check->producers) >= PRODUCERS_MAX) {
        producer_history_close(check->producers);
        check->producers = NULL;
    }
    return err;
}

/* ---- batches ---- */

static void check_offsets(struct segment_check *segment, const struct record_batch *batch,
                          int64_t position)
{
    struct partition_check *check = segment->check;
    int64_t base = batch->base_offset;
    if (base < segment->base_offset)
        verify_finding(check, segment->name, position, base,
                       "the batch belongs in front of this segment");
    else if (base < check->next_offset)
        verify_finding(check, segment->name, position, base,
                       "offsets do not ascend: the batch before ends at %" PRId64,
                       check->next_offset - 1);
    else if (record_batch_last_offset(batch) - segment->base_offset > INT32_MAX)
        verify_finding(check, segment->name, position, base,
                       "the offset is too far from the segment's first for its index");
    else if (base > check->next_offset && !check->is_behind_damage &&
             !check->verify->gaps_are_fine && check->next_offset >= check->points[OF_CLEANER])
        verify_finding(check, segment->name, position, base,
                       "offsets from %" PRId64 " on are missing in front of it, and no "
                       "checkpoint tells of a compaction",
                       check->next_offset);
}

static int pass_batch(struct segment_check *segment, const struct record_batch *batch,
                      int64_t position)
{
    struct partition_check *check = segment->check;
    int crc = batch_scan_check_crc(&segment->scan, batch, position, check->crc_buffer,
                                   VERIFY_CRC_BYTES);
    if (crc != 0 && crc != ERR_CORRUPT_MESSAGE) return crc;
    check->verify->batches++;
    check->verify->record_count += batch->record_count > 0 ? (uint64_t)batch->record_count : 0;
    check_offsets(segment, batch, position);
    int err = verify_snapshots(check, batch);
    pass_offset_entries(segment, batch, position);
    if (crc == 0 && record_batch_newest(batch) > segment->max_timestamp)
        segment->max_timestamp = batch->max_timestamp;
    pass_time_entries(segment, batch, crc == 0);
    pass_aborts(segment, batch);
    if (crc != 0)
        verify_finding(check, segment->name, position, batch->base_offset,
                       "the CRC of this batch is wrong");
    if (err == 0 && crc == 0) {
        verify_epoch(check, segment->name, position, batch);
        err = look_inside(segment, batch, position);
    }
    if (check->first_offset < 0) check->first_offset = batch->base_offset;
    if (record_batch_last_offset(batch) >= check->next_offset)
        check->next_offset = record_batch_last_offset(batch) + 1;
    check->is_behind_damage = false;
    return err;
}

/* Whether what cannot be read may be a batch that is just being written. */
static bool may_be_growing(const struct segment_check *segment)
{
    struct fs *fs = segment->check->verify->fs;
    uint8_t header[RECORD_BATCH_OVERHEAD];
    size_t got = 0;
    int64_t left = segment->scan.end - segment->scan.position;
    if (!segment->is_last || !segment->check->is_in_use) return false;
    if (left < RECORD_BATCH_HEADER_SIZE) return true;
    return fs->read(fs, segment->scan.fd, header, sizeof header, segment->scan.position, &got) ==
               0 &&
           got == sizeof header && (int64_t)load_i32(header + 8) + RECORD_BATCH_OVERHEAD > left;
}

static int skip_damage(struct segment_check *segment)
{
    struct partition_check *check = segment->check;
    int64_t from = segment->scan.position;
    if (may_be_growing(segment)) return ERR_NOT_FOUND;
    int err = batch_scan_skip_damage(&segment->scan, check->crc_buffer, VERIFY_CRC_BYTES);
    if (err == 0)
        verify_finding(check, segment->name, from, check->next_offset,
                       "%" PRId64 " bytes are no batch; the next one begins behind them",
                       segment->scan.position - from);
    else if (err == ERR_NOT_FOUND)
        verify_finding(check, segment->name, from, check->next_offset,
                       "the last %" PRId64 " bytes are no whole batch", segment->scan.end - from);
    check->is_behind_damage = true;
    return err;
}

static int pass_batches(struct segment_check *segment)
{
    int err = 0;
    while (err == 0) {
        struct record_batch batch;
        int64_t position;
        err = batch_scan_next(&segment->scan, &batch, &position);
        if (err == ERR_CORRUPT_MESSAGE)
            err = skip_damage(segment);
        else if (err == 0)
            err = pass_batch(segment, &batch, position);
    }
    return err == ERR_NOT_FOUND ? 0 : err;
}

/* ---- the segment ---- */

static void check_presence(struct segment_check *segment)
{
    struct partition_check *check = segment->check;
    if (check->is_in_use || segment->scan.end == 0) return;
    if (segment->offsets.fd < 0 && !segment->offsets.is_no_file)
        verify_finding(check, segment->offsets.name, -1, segment->base_offset,
                       "the segment has no offset index; it is built again when a broker starts");
    if (segment->times.fd < 0 && !segment->times.is_no_file)
        verify_finding(check, segment->times.name, -1, segment->base_offset,
                       "the segment has no time index; it is built again when a broker starts");
}

/* The cleaner may have left nothing of it but its place. */
static void check_emptiness(struct segment_check *segment)
{
    struct partition_check *check = segment->check;
    bool may_be_cleaned = check->verify->gaps_are_fine ||
                          segment->base_offset < check->points[OF_CLEANER];
    if (segment->scan.end == 0 && !segment->is_last && !may_be_cleaned)
        verify_finding(check, segment->name, 0, segment->base_offset,
                       "the segment is empty, and others follow");
}

/* Indexes first: what they hold by then, the log holds too. */
static int open_files(struct segment_check *segment, int *fd)
{
    struct partition_check *check = segment->check;
    struct fs *fs = check->verify->fs;
    char path[PATH_MAX];
    int64_t size = 0;
    int err = entry_reader_open(&segment->offsets, check, segment->base_offset, ".index",
                                OFFSET_INDEX_ENTRY_SIZE);
    if (err == 0)
        err = entry_reader_open(&segment->times, check, segment->base_offset, ".timeindex",
                                TIME_INDEX_ENTRY_SIZE);
    if (err == 0)
        err = entry_reader_open(&segment->aborts, check, segment->base_offset, ".txnindex",
                                TXN_INDEX_ENTRY_SIZE);
    if (err == 0) err = fs_path(path, "%s/%s", check->folder, segment->name);
    if (err == 0) err = fs->open(fs, path, FS_READ, fd);
    if (err == 0) err = fs->size(fs, *fd, &size);
    if (err != 0) return err;
    size = verify_bounded_size(check, segment->name, size, LOG_FILE_MAX);
    batch_scan_init(&segment->scan, fs, *fd, 0, size, true);
    return 0;
}

int verify_segment(struct partition_check *check, size_t index)
{
    int fd = -1;
    struct segment_check *segment = mem_zalloc(sizeof *segment);
    if (segment == NULL) return ERR_NO_MEMORY;
    segment->check = check;
    segment->base_offset = check->logs.items[index];
    segment->is_last = index + 1 == check->logs.count;
    segment->offsets.check = segment->times.check = segment->aborts.check = check;
    segment->offsets.fd = segment->times.fd = segment->aborts.fd = -1;
    segment->max_timestamp = segment->last_timestamp = segment->last_entry_offset = -1;
    segment->last_time_offset = -1;
    verify_name(segment->name, segment->base_offset, ".log");

    int err = open_files(segment, &fd);
    if (err == 0) {
        check->verify->segments++;
        check->verify->bytes += (uint64_t)segment->scan.end;
        check_presence(segment);
        check_emptiness(segment);
        if (index == 0 && check->next_offset < segment->base_offset)
            check->next_offset = segment->base_offset;
        err = pass_batches(segment);
    }
    if (err == 0) {
        pass_offset_entries(segment, NULL, 0);
        pass_time_entries(segment, NULL, true);
        pass_aborts(segment, NULL);
        err = segment->offsets.err != 0 ? segment->offsets.err
              : segment->times.err != 0 ? segment->times.err
                                        : segment->aborts.err;
    }
    if (err == ERR_NOT_FOUND && check->is_in_use) err = 0; /* Retention was faster. */
    if (fd >= 0) check->verify->fs->close(check->verify->fs, fd);
    entry_reader_close(&segment->offsets);
    entry_reader_close(&segment->times);
    entry_reader_close(&segment->aborts);
    mem_free(segment);
    return err;
}
