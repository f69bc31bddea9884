// SPDX-License-Identifier: Apache-2.0
#include "log_dump.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "alloc.h"
#include "batch_scan.h"
#include "compress.h"
#include "error.h"
#include "log_meta.h"

#define CRC_BUFFER_BYTES (256 * 1024)

void log_dump_damage(struct log_dump *dump, int64_t position, const char *what)
{
    dump->found_damage = true;
    log_output_begin(&dump->output, "damage");
    if (position >= 0) log_output_number(&dump->output, "position", position);
    log_output_text(&dump->output, "what", what);
    log_output_end(&dump->output);
}

/* ---- records ---- */

static const char *control_type(struct bytes key)
{
    static const char *const names[] = { "abort",           "commit",          "leader_change",
                                         "snapshot_header", "snapshot_footer", "raft_version",
                                         "raft_voters" };
    if (key.length < 4) return "unreadable";
    int16_t type = load_i16(key.data + 2);
    return type < 0 || type >= (int16_t)(sizeof names / sizeof names[0]) ? "unknown" : names[type];
}

static void show_headers(struct log_dump *dump, const struct record *record)
{
    struct log_output *output = &dump->output;
    struct cursor at = cursor_over(record->headers.data,
                                   record->headers.length < 0 ? 0 : (size_t)record->headers.length);
    struct record_header header;
    while (record_next_header(&at, &header) == 0) {
        log_output_begin(output, "header");
        log_output_number(output, "offset", record->offset);
        log_output_bytes(output, "key", header.key.data, header.key.length);
        log_output_bytes(output, "value", header.value.data, header.value.length);
        log_output_end(output);
    }
}

static void show_control(struct log_dump *dump, const struct record *record)
{
    log_output_text(&dump->output, "control", control_type(record->key));
    if (record->key.length >= 4 && record->value.length >= 6 && load_i16(record->key.data + 2) <= 1)
        log_output_number(&dump->output, "coordinator_epoch", load_i32(record->value.data + 2));
}

/* An error of the entry, after what can be told of the record. */
static int show_record(struct log_dump *dump, const struct record_batch *batch,
                       const struct record *record)
{
    struct log_output *output = &dump->output;
    bool is_control = (batch->attributes & BATCH_CONTROL) != 0;
    int err = 0;
    log_output_begin(output, "record");
    log_output_number(output, "offset", record->offset);
    log_output_number(output, "timestamp", record->timestamp);
    log_output_number(output, "key_size", record->key.length);
    log_output_number(output, "value_size", record->value.length);
    log_output_number(output, "headers", record->header_count);
    if (is_control) show_control(dump, record);
    if (dump->is_metadata && !is_control) err = log_meta_entry(output, batch, record);
    if (dump->keys) log_output_bytes(output, "key", record->key.data, record->key.length);
    if (dump->values) log_output_bytes(output, "value", record->value.data, record->value.length);
    log_output_end(output);
    if (dump->headers) show_headers(dump, record);
    return err;
}

static int walk_records(struct log_dump *dump, const struct record_batch *batch, int64_t position)
{
    struct record_walk *walk = NULL;
    struct record record;
    int64_t count = 0;
    int err = record_walk_open(&walk, batch, LOG_BATCH_MAX);
    while (err == 0 && (err = record_walk_next(walk, &record)) == 0) {
        int entry_err = show_record(dump, batch, &record);
        if (entry_err == ERR_UNSUPPORTED_VERSION)
            log_dump_damage(dump, position, "an entry that this version does not know");
        else if (entry_err == ERR_CORRUPT_MESSAGE)
            log_dump_damage(dump, position, "a record that is no entry of the metadata log");
        else
            err = entry_err;
        count++;
    }
    record_walk_close(walk);
    if (err == ERR_INVALID_RECORD)
        log_dump_damage(dump, position, "the records of this batch cannot be read to their end");
    else if (err == ERR_UNSUPPORTED_COMPRESSION_TYPE)
        log_dump_damage(dump, position, "no codec has the number that this batch gives");
    else if (err == ERR_NOT_FOUND && count != batch->record_count)
        log_dump_damage(dump, position, "the batch does not hold the records that it counts");
    return err == ERR_NO_MEMORY ? err : 0;
}

static int show_records(struct log_dump *dump, struct batch_scan *scan,
                        const struct record_batch *batch, int64_t position)
{
    size_t got = 0;
    if ((int64_t)batch->size > LOG_BATCH_MAX) {
        log_dump_damage(dump, position, "the batch is too large to look into");
        return 0;
    }
    dump->data.length = 0;
    uint8_t *bytes = buffer_extend(&dump->data, batch->size);
    if (bytes == NULL) return ERR_NO_MEMORY;
    int err = scan->fs->read(scan->fs, scan->fd, bytes, batch->size, position, &got);
    if (err != 0) return err;
    struct record_batch whole;
    if (got < batch->size || record_batch_read_header(&whole, bytes, got) != 0 ||
        whole.size != got) {
        log_dump_damage(dump, position, "the file is changing while it is read");
        return 0;
    }
    return walk_records(dump, &whole, position);
}

/* ---- batches ---- */

static void show_batch(struct log_dump *dump, const struct record_batch *batch, int64_t position,
                       bool crc_is_right)
{
    struct log_output *output = &dump->output;
    unsigned attributes = (unsigned)batch->attributes;
    const char *codec = codec_name(attributes & BATCH_CODEC_MASK);
    log_output_begin(output, "batch");
    log_output_number(output, "position", position);
    log_output_number(output, "size", (int64_t)batch->size);
    log_output_number(output, "base_offset", batch->base_offset);
    log_output_number(output, "last_offset", record_batch_last_offset(batch));
    log_output_number(output, "count", batch->record_count);
    log_output_number(output, "leader_epoch", batch->leader_epoch);
    log_output_number(output, "magic", batch->magic);
    log_output_text(output, "codec", codec == NULL ? "unknown" : codec);
    log_output_text(output, "timestamp_type",
                    (attributes & BATCH_LOG_APPEND_TIME) != 0 ? "LogAppendTime" : "CreateTime");
    if ((attributes & BATCH_DELETE_HORIZON) != 0)
        log_output_number(output, "delete_horizon", batch->base_timestamp);
    else
        log_output_number(output, "base_timestamp", batch->base_timestamp);
    log_output_number(output, "max_timestamp", batch->max_timestamp);
    log_output_number(output, "producer_id", batch->producer_id);
    log_output_number(output, "producer_epoch", batch->producer_epoch);
    log_output_number(output, "base_sequence", batch->base_sequence);
    log_output_number(output, "last_sequence", record_batch_last_sequence(batch));
    log_output_truth(output, "transactional", (attributes & BATCH_TRANSACTIONAL) != 0);
    log_output_truth(output, "control", (attributes & BATCH_CONTROL) != 0);
    log_output_hex(output, "attributes", attributes & 0xffff);
    log_output_hex(output, "crc", batch->crc);
    log_output_truth(output, "crc_is_right", crc_is_right);
    log_output_end(output);
}

/* What is wrong with the bytes at the scan's position. */
static int explain_damage(struct log_dump *dump, const struct batch_scan *scan)
{
    uint8_t header[RECORD_BATCH_HEADER_SIZE];
    size_t got = 0;
    char what[128];
    int64_t left = scan->end - scan->position;
    int err = scan->fs->read(scan->fs, scan->fd, header, sizeof header, scan->position, &got);
    if (err != 0) return err;
    int64_t length = got >= 12 ? (int64_t)load_i32(header + 8) + RECORD_BATCH_OVERHEAD : 0;
    if (got < sizeof header)
        snprintf(what, sizeof what, "%zu bytes are too few for a batch: the end was cut", got);
    else if (header[16] < 2)
        snprintf(what, sizeof what, "magic %d: a message of an old format, which is not read",
                 header[16]);
    else if (header[16] != 2)
        snprintf(what, sizeof what, "magic %d: no batch begins here", (int8_t)header[16]);
    else if (length < RECORD_BATCH_HEADER_SIZE)
        snprintf(what, sizeof what, "a length of %" PRId64 " is none of a batch", length);
    else if (length > left)
        snprintf(what, sizeof what,
                 "a batch of %" PRId64 " bytes begins, but %" PRId64 " are left: the end was cut",
                 length, left);
    else
        snprintf(what, sizeof what, "offsets that cannot be");
    log_dump_damage(dump, scan->position, what);
    return 0;
}

/* Goes on behind damage. ERR_NOT_FOUND: nothing more can be read. */
static int skip_damage(struct log_dump *dump, struct batch_scan *scan, uint8_t *buffer)
{
    int64_t from = scan->position;
    int err = explain_damage(dump, scan);
    if (err == 0) err = batch_scan_skip_damage(scan, buffer, CRC_BUFFER_BYTES);
    if (err != 0 && err != ERR_NOT_FOUND) return err;
    log_output_begin(&dump->output, "skipped");
    log_output_number(&dump->output, "position", from);
    log_output_number(&dump->output, "size", scan->position - from);
    log_output_truth(&dump->output, "goes_on", err == 0);
    log_output_end(&dump->output);
    return err;
}

int log_dump_batches(struct log_dump *dump, int fd, int64_t size)
{
    struct batch_scan scan;
    struct record_batch batch;
    int64_t position = 0, next_offset = -1;
    uint8_t *buffer = mem_alloc(CRC_BUFFER_BYTES);
    int err = buffer == NULL ? ERR_NO_MEMORY : 0;
    if (size > LOG_FILE_MAX)
        log_dump_damage(dump, LOG_FILE_MAX,
                        "more bytes than Kafka or Sluice write: the rest is not looked at");
    batch_scan_init(&scan, dump->fs, fd, 0, size < LOG_FILE_MAX ? size : LOG_FILE_MAX, true);
    while (err == 0 && !dump->output.failed) {
        err = batch_scan_next(&scan, &batch, &position);
        if (err == ERR_CORRUPT_MESSAGE) {
            err = skip_damage(dump, &scan, buffer);
            continue;
        }
        if (err != 0) break;
        int crc = batch_scan_check_crc(&scan, &batch, position, buffer, CRC_BUFFER_BYTES);
        if (crc != 0 && crc != ERR_CORRUPT_MESSAGE) err = crc;
        if (err == 0) show_batch(dump, &batch, position, crc == 0);
        if (err == 0 && crc != 0) log_dump_damage(dump, position, "the CRC of this batch is wrong");
        if (err == 0 && crc == 0 && batch.base_offset < next_offset)
            log_dump_damage(dump, position, "offsets do not ascend");
        if (err == 0 && crc == 0 && dump->records)
            err = show_records(dump, &scan, &batch, position);
        if (crc == 0) next_offset = record_batch_last_offset(&batch) + 1;
    }
    mem_free(buffer);
    return err == ERR_NOT_FOUND ? 0 : err;
}

/* ---- files ---- */

static int open_file(struct log_dump *dump, const char *path, int *fd, int64_t *size)
{
    struct stat status;
    /* Nothing fails: a pipe, or a device, is only no file of a log. */
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) return ERR_MALFORMED;
    int err = dump->fs->open(dump->fs, path, FS_READ, fd);
    return err == 0 ? dump->fs->size(dump->fs, *fd, size) : err;
}

int log_dump_file(struct log_dump *dump, const char *path)
{
    struct log_file_name name = log_file_name(path);
    int fd = -1;
    int64_t size = 0;
    int err = open_file(dump, path, &fd, &size);
    if (err == 0) {
        log_output_begin(&dump->output, "file");
        log_output_text(&dump->output, "path", path);
        log_output_number(&dump->output, "size", size);
        if (name.base_offset >= 0)
            log_output_number(&dump->output, "base_offset", name.base_offset);
        log_output_end(&dump->output);
        dump->is_metadata = log_is_metadata(path);
        bool has_batches = name.kind == LOG_FILE_BATCHES ||
                           name.kind == LOG_FILE_KAFKAS_METADATA_SNAPSHOT;
        err = has_batches ? log_dump_batches(dump, fd, size) : log_dump_small(dump, name, path);
    }
    if (fd >= 0) dump->fs->close(dump->fs, fd);
    return err;
}
