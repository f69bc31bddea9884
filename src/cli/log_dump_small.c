// SPDX-License-Identifier: Apache-2.0
/* Everything beside the batches: indexes, snapshots, checkpoints, texts, the quorum's vote. */

#include <string.h>

#include "alloc.h"
#include "checkpoint.h"
#include "epoch_history.h"
#include "error.h"
#include "log_dump.h"
#include "log_meta.h"
#include "offset_index.h"
#include "producer_history.h"
#include "time_index.h"
#include "txn_index.h"

#define SMALL_FILE_MAX ((size_t)256 << 20)

/* ---- indexes ---- */

/* Where the last entry was, to see that they ascend. */
struct index_walk {
    struct log_dump *dump;
    int64_t base_offset;
    int64_t at; /* Position in the file. */
    int64_t last_offset, last_value;
};

static void show_offset_entry(struct index_walk *walk, const uint8_t *bytes)
{
    struct log_output *output = &walk->dump->output;
    struct offset_index_entry entry = offset_index_read_entry(bytes, walk->base_offset);
    log_output_begin(output, "index");
    log_output_number(output, "at", walk->at);
    log_output_number(output, "last_offset", entry.last_offset);
    log_output_number(output, "position", entry.position);
    log_output_end(output);
    if (entry.last_offset <= walk->last_offset || entry.position <= walk->last_value)
        log_dump_damage(walk->dump, walk->at, "entries do not ascend");
    walk->last_offset = entry.last_offset;
    walk->last_value = entry.position;
}

static void show_time_entry(struct index_walk *walk, const uint8_t *bytes)
{
    struct log_output *output = &walk->dump->output;
    struct time_index_entry entry = time_index_read_entry(bytes, walk->base_offset);
    log_output_begin(output, "timeindex");
    log_output_number(output, "at", walk->at);
    log_output_number(output, "timestamp", entry.timestamp);
    log_output_number(output, "offset", entry.offset);
    log_output_end(output);
    if (entry.offset < walk->last_offset || entry.timestamp <= walk->last_value)
        log_dump_damage(walk->dump, walk->at, "entries do not ascend");
    walk->last_offset = entry.offset;
    walk->last_value = entry.timestamp;
}

/* The bytes up to the last entry. Zeros behind it are space that Kafka reserved. */
static size_t used_length(const uint8_t *data, size_t length, size_t entry_size)
{
    size_t used = length;
    while (used > 0 && data[used - 1] == 0)
        used--;
    used = (used + entry_size - 1) / entry_size * entry_size;
    return used < length ? used : length;
}

static void show_entries(struct index_walk *walk, size_t entry_size, const uint8_t *data,
                         size_t length)
{
    size_t used = used_length(data, length, entry_size);
    for (size_t at = 0; at + entry_size <= used && !walk->dump->output.failed; at += entry_size) {
        walk->at = (int64_t)at;
        if (entry_size == OFFSET_INDEX_ENTRY_SIZE)
            show_offset_entry(walk, data + at);
        else
            show_time_entry(walk, data + at);
    }
    if (used % entry_size != 0)
        log_dump_damage(walk->dump, (int64_t)(used - used % entry_size),
                        "the last entry is not whole");
}

static void show_index(struct log_dump *dump, int64_t base_offset, size_t entry_size,
                       const uint8_t *data, size_t length)
{
    struct index_walk walk = { .dump = dump,
                               .base_offset = base_offset < 0 ? 0 : base_offset,
                               .last_offset = -1,
                               .last_value = -1 };
    show_entries(&walk, entry_size, data, length);
}

/* ---- transaction index ---- */

static void show_aborted(struct log_dump *dump, const uint8_t *data, size_t length)
{
    struct log_output *output = &dump->output;
    for (size_t at = 0; at + TXN_INDEX_ENTRY_SIZE <= length && !output->failed;
         at += TXN_INDEX_ENTRY_SIZE) {
        struct aborted_transaction entry;
        int err = txn_index_read_entry(data + at, &entry);
        log_output_begin(output, "aborted");
        log_output_number(output, "at", (int64_t)at);
        log_output_number(output, "producer_id", entry.producer_id);
        log_output_number(output, "first_offset", entry.first_offset);
        log_output_number(output, "last_offset", entry.last_offset);
        log_output_number(output, "last_stable_offset", entry.last_stable_offset);
        log_output_end(output);
        if (err != 0) log_dump_damage(dump, (int64_t)at, "this entry cannot be right");
    }
    if (length % TXN_INDEX_ENTRY_SIZE != 0)
        log_dump_damage(dump, (int64_t)(length - length % TXN_INDEX_ENTRY_SIZE),
                        "the last entry is not whole");
}

/* ---- snapshot ---- */

static int show_producer(void *context, const struct producer_snapshot *producer)
{
    struct log_output *output = context;
    log_output_begin(output, "producer");
    log_output_number(output, "producer_id", producer->id);
    log_output_number(output, "producer_epoch", producer->epoch);
    log_output_number(output, "last_sequence", producer->last_sequence);
    log_output_number(output, "last_offset", producer->last_offset);
    log_output_number(output, "offset_delta", producer->offset_delta);
    log_output_number(output, "timestamp", producer->timestamp);
    log_output_number(output, "coordinator_epoch", producer->coordinator_epoch);
    log_output_number(output, "first_open_offset", producer->first_open_offset);
    log_output_end(output);
    return output->failed ? ERR_IO : 0;
}

static void show_snapshot(struct log_dump *dump, const void *data, size_t length)
{
    if (producer_snapshot_parse(data, length, show_producer, &dump->output) == ERR_CORRUPT_MESSAGE)
        log_dump_damage(dump, 0, "version, length or CRC of the snapshot is wrong");
}

static int show_recent(void *context, const struct producer_recent_batch *batch)
{
    struct log_output *output = context;
    log_output_begin(output, "recent_batch");
    log_output_number(output, "producer_id", batch->producer_id);
    log_output_number(output, "producer_epoch", batch->producer_epoch);
    log_output_number(output, "last_sequence", batch->last_sequence);
    log_output_number(output, "last_offset", batch->last_offset);
    log_output_number(output, "offset_delta", batch->offset_delta);
    log_output_number(output, "timestamp", batch->timestamp);
    log_output_end(output);
    return output->failed ? ERR_IO : 0;
}

static void show_recent_batches(struct log_dump *dump, const void *data, size_t length)
{
    if (producer_batches_parse(data, length, show_recent, &dump->output) == ERR_CORRUPT_MESSAGE)
        log_dump_damage(dump, 0, "version, length, CRC or a batch of this file is wrong");
}

static int show_metadata(struct log_dump *dump, const void *data, size_t length)
{
    int err = log_meta_snapshot(&dump->output, data, length);
    if (err == ERR_UNSUPPORTED_VERSION)
        log_dump_damage(dump, 0, "it holds what this version does not know");
    else if (err == ERR_CORRUPT_MESSAGE)
        log_dump_damage(dump, 0, "it is no whole snapshot of the metadata");
    else
        return err;
    return 0;
}

/* ---- texts ---- */

struct line_walk {
    struct log_dump *dump;
    int columns;
};

static int show_line(void *context, const struct checkpoint_line *line)
{
    struct line_walk *walk = context;
    struct log_output *output = &walk->dump->output;
    static const char *const of_epochs[] = { "leader_epoch", "start_offset" };
    static const char *const of_partitions[] = { "topic", "partition", "offset" };
    const char *const *names = walk->columns == 2 ? of_epochs : of_partitions;
    bool is_wrong = false;
    log_output_begin(output, walk->columns == 2 ? "epoch" : "checkpoint");
    for (int i = 0; i < walk->columns; i++) {
        struct str word = line->columns[i];
        int64_t number;
        if (walk->columns == 3 && i == 0) {
            log_output_bytes(output, names[i], word.data, word.length);
        } else if (checkpoint_number(word, 0, &number) == 0) {
            log_output_number(output, names[i], number);
        } else {
            log_output_bytes(output, names[i], word.data, word.length);
            is_wrong = true;
        }
    }
    log_output_end(output);
    if (is_wrong) log_dump_damage(walk->dump, -1, "this line holds what is no number");
    return output->failed ? ERR_IO : 0;
}

static void show_checkpoint(struct log_dump *dump, int columns, const void *data, size_t length)
{
    struct line_walk walk = { dump, columns };
    if (length > 0 &&
        checkpoint_parse(data, length, columns, show_line, &walk, NULL) == ERR_MALFORMED)
        log_dump_damage(dump, -1, "the text ends early, goes on, or is no checkpoint");
}

static void show_text(struct log_dump *dump, const char *text, size_t length)
{
    for (size_t at = 0; at < length && !dump->output.failed;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end == NULL ? length - at : (size_t)(end - text) - at;
        log_output_begin(&dump->output, "line");
        log_output_bytes(&dump->output, "text", text + at, (int32_t)size);
        log_output_end(&dump->output);
        at += size + 1;
    }
}

/* ---- all ---- */

int log_dump_content(struct log_dump *dump, struct log_file_name name, const void *data,
                     size_t length)
{
    switch (name.kind) {
    case LOG_FILE_OFFSET_INDEX:
        show_index(dump, name.base_offset, OFFSET_INDEX_ENTRY_SIZE, data, length);
        break;
    case LOG_FILE_TIME_INDEX:
        show_index(dump, name.base_offset, TIME_INDEX_ENTRY_SIZE, data, length);
        break;
    case LOG_FILE_TXN_INDEX: show_aborted(dump, data, length); break;
    case LOG_FILE_SNAPSHOT: show_snapshot(dump, data, length); break;
    case LOG_FILE_RECENT_BATCHES: show_recent_batches(dump, data, length); break;
    case LOG_FILE_METADATA_SNAPSHOT: return show_metadata(dump, data, length);
    case LOG_FILE_EPOCHS: show_checkpoint(dump, 2, data, length); break;
    case LOG_FILE_CHECKPOINT: show_checkpoint(dump, 3, data, length); break;
    case LOG_FILE_PROPERTIES: show_text(dump, data, length); break;
    case LOG_FILE_VOTE:
        if (length > 0 && *(const char *)data == '{') /* Kafka's is JSON. */
            show_text(dump, data, length);
        else if (!log_meta_vote(&dump->output, data, length))
            dump->found_damage = true;
        break;
    default: return ERR_MALFORMED;
    }
    return 0;
}

int log_dump_small(struct log_dump *dump, struct log_file_name name, const char *path)
{
    char *data = NULL;
    size_t length = 0;
    int err = fs_read_file(dump->fs, path, SMALL_FILE_MAX, &data, &length);
    if (err == 0) err = log_dump_content(dump, name, data, length);
    mem_free(data);
    return err;
}
