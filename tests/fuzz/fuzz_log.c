// SPDX-License-Identifier: Apache-2.0
/* `sluice log dump` on any file of a log: the walk through batches and records, and the readers of
 * everything that lies beside them. It ends well, says nothing that is not JSON where JSON was asked for,
 * and leaves no memory behind. */

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "batch_builder.h"
#include "crc32c.h"
#include "error.h"
#include "fs_sim.h"
#include "fuzz.h"
#include "fuzz_meta_entries.h"
#include "log_dump.h"
#include "meta_entry.h"
#include "meta_snapshot.h"
#include "meta_vote.h"
#include "producer_history.h"
#include "txn_index.h"

const char fuzz_name[] = "fuzz_log";

/* The first byte says how the rest is read, the second what is asked for. */
enum form {
    BATCHES,
    METADATA,
    OFFSETS,
    TIMES,
    ABORTS,
    SNAPSHOT,
    EPOCHS,
    CHECKPOINT,
    TEXT,
    VOTE,
    RECENT,
    STATE,
    FORMS
};

#define WANTS_JSON     1
#define WANTS_RECORDS  2
#define WANTS_CONTENT  4
#define FAILS_TO_ALLOC 8 /* The allocation whose number the third byte says. */
#define HEAD           3

/* ---- good inputs ---- */

static const uint8_t words[] = "a key, a value, a header, and again the same: aaaaaaaaaaaaaaaaa";

static void add_entry(struct batch_builder *builder)
{
    struct buffer payload;
    uint8_t type = (uint8_t)(1 + chance_below(4));
    buffer_init(&payload);
    if (type == META_ENTRY_COMMAND) fuzz_meta_command(&payload);
    if (type == META_ENTRY_MEMBERS) fuzz_meta_members(&payload);
    batch_builder_append(
        builder, 1700000000000, (struct bytes){ &type, 1 },
        (struct bytes){ payload.data, payload.length == 0 ? -1 : (int32_t)payload.length }, NULL,
        0);
    buffer_close(&payload);
}

static void add_marker(struct batch_builder *builder)
{
    uint8_t key[4] = { 0 }, value[6] = { 0 };
    key[3] = (uint8_t)chance_below(8);
    builder->attributes = BATCH_CONTROL | BATCH_TRANSACTIONAL;
    batch_builder_append(builder, 1700000000000,
                         (struct bytes){ key, (int32_t)(4 - 3 * (chance_below(8) == 0)) },
                         (struct bytes){ value, 6 }, NULL, 0);
}

static void add_records(struct batch_builder *builder)
{
    builder->attributes = (int16_t)(chance_below(5) |
                                    (chance_below(4) == 0 ? BATCH_LOG_APPEND_TIME : 0) |
                                    (chance_below(8) == 0 ? BATCH_DELETE_HORIZON : 0));
    for (size_t left = chance_below(8); left > 0; left--) {
        struct bytes key = { words, (int32_t)chance_below(20) - 1 };
        struct bytes value = { words, (int32_t)chance_below(sizeof words) - 1 };
        struct record_header header = { { words, 3 }, { words, (int32_t)chance_below(5) - 1 } };
        batch_builder_append(builder, 1700000000000 + (int64_t)chance_below(100000), key, value,
                             &header, (int32_t)chance_below(2));
    }
}

static void put_batches(struct buffer *input, bool are_entries)
{
    struct batch_builder builder;
    int64_t offset = (int64_t)chance_below(1000);
    batch_builder_init(&builder);
    for (size_t left = chance_below(7); left > 0; left--) {
        builder.base_offset = offset;
        builder.leader_epoch = (int32_t)chance_below(3);
        builder.producer_id = (int64_t)chance_below(3) - 1;
        if (chance_below(4) == 0)
            add_marker(&builder);
        else if (are_entries)
            add_entry(&builder);
        else
            add_records(&builder);
        int32_t count = builder.record_count;
        if (batch_builder_finish(&builder, input) != 0) abort();
        offset += count;
    }
    batch_builder_close(&builder);
}

static void put_ascending(struct buffer *input, size_t width)
{
    int64_t number = 0;
    for (size_t left = chance_below(40); left > 0; left--) {
        number += 1 + (int64_t)chance_below(100);
        if (width == 12) buffer_i64(input, 1700000000000 + number);
        buffer_i32(input, (int32_t)number);
        if (width == 8) buffer_i32(input, (int32_t)number * 61);
        if (width == 34) {
            input->length -= 4;
            buffer_i16(input, 0);
            buffer_i64(input, 5);
            buffer_i64(input, number);
            buffer_i64(input, number + 3);
            buffer_i64(input, number);
        }
    }
    if (chance_below(3) == 0) buffer_put(input, (uint8_t[24]){ 0 }, 24);
}

static void put_snapshot(struct buffer *input)
{
    struct producer_history *history = NULL;
    if (producer_history_open(&history) != 0) abort();
    for (size_t left = chance_below(5); left > 0; left--) {
        struct record_batch batch = { .producer_id = (int64_t)left,
                                      .base_offset = 7 * (int64_t)left,
                                      .attributes = chance_below(2) == 0 ? BATCH_TRANSACTIONAL
                                                                         : 0 };
        if (producer_history_add(history, &batch, 1700000000000) != 0) abort();
    }
    if (producer_history_write(history, input) != 0) abort();
    producer_history_close(history);
}

/* Kinds of our own: see producer_snapshot.c and meta_snapshot.h. */
static void put_recent(struct buffer *input)
{
    struct producer_history *history = NULL;
    size_t count;
    if (producer_history_open(&history) != 0) abort();
    for (size_t left = chance_below(9); left > 0; left--) {
        struct record_batch batch = { .producer_id = (int64_t)(left % 2),
                                      .base_offset = 100 - 7 * (int64_t)left };
        if (producer_history_add(history, &batch, 0) != 0) abort();
    }
    if (producer_history_write_batches(history, input, &count) != 0) abort();
    producer_history_close(history);
}

static void put_state(struct buffer *input)
{
    static const uint64_t hash_key[2] = { 1, 2 };
    struct meta_state state;
    struct meta_changes gone;
    struct buffer members;
    meta_state_init(&state, hash_key);
    meta_changes_init(&gone);
    buffer_init(&members);
    fuzz_meta_members(&members);
    for (size_t left = chance_below(8); left > 0; left--) {
        struct buffer payload;
        struct meta_outcome outcome;
        buffer_init(&payload);
        fuzz_meta_command(&payload);
        struct meta_entry entry = { 1,
                                    META_ENTRY_COMMAND,
                                    { payload.data, (int32_t)payload.length } };
        if (meta_apply(&state, state.index + 1, &entry, NULL, &outcome) != 0) abort();
        meta_outcome_close(&outcome);
        buffer_close(&payload);
    }
    struct meta_core_snapshot at = {
        state.index + 1, 1, 1, { members.data, (int32_t)members.length }
    };
    meta_snapshot_encode(&at, &state, &gone, input);
    buffer_close(&members);
    meta_state_close(&state);
}

static void put_lines(struct buffer *input, bool of_partitions)
{
    char line[64];
    size_t count = chance_below(6);
    int length = snprintf(line, sizeof line, "0\n%zu\n", count);
    buffer_put(input, line, (size_t)length);
    for (size_t i = 0; i < count; i++) {
        length = snprintf(line, sizeof line, of_partitions ? "orders %zu %zu\n" : "%zu %zu\n", i,
                          10 * i);
        buffer_put(input, line, (size_t)length);
    }
}

static void put_vote(struct buffer *input)
{
    uint8_t *file = buffer_extend(input, META_VOTE_COPY_SPACING + META_VOTE_COPY_SIZE);
    memset(file, 0, META_VOTE_COPY_SPACING + META_VOTE_COPY_SIZE);
    for (size_t i = 0; i < 2; i++) {
        uint8_t *copy = file + i * META_VOTE_COPY_SPACING;
        memcpy(copy, "SLQS", 4);
        store_i16(copy + 4, 1);
        store_i64(copy + 8, 4 + (int64_t)i);
        store_i64(copy + 16, 9);
        store_i32(copy + 36, (int32_t)crc32c(copy, 36));
    }
}

void fuzz_make(struct buffer *input)
{
    enum form form = chance_below(2) == 0 ? (enum form)chance_below(2)
                                          : (enum form)chance_below(FORMS);
    buffer_i8(input, (int8_t)form);
    buffer_i8(input, (int8_t)(chance_below(8) | (chance_below(8) == 0 ? FAILS_TO_ALLOC : 0)));
    buffer_i8(input, (int8_t)(1 + chance_below(40)));
    switch (form) {
    case BATCHES: put_batches(input, false); break;
    case METADATA: put_batches(input, true); break;
    case OFFSETS: put_ascending(input, 8); break;
    case TIMES: put_ascending(input, 12); break;
    case ABORTS: put_ascending(input, TXN_INDEX_ENTRY_SIZE); break;
    case SNAPSHOT: put_snapshot(input); break;
    case EPOCHS: put_lines(input, false); break;
    case CHECKPOINT: put_lines(input, true); break;
    case TEXT: buffer_put(input, "version: 0\ntopic_id: AAAA\n", 26); break;
    case RECENT: put_recent(input); break;
    case STATE: put_state(input); break;
    default: put_vote(input); break;
    }
}

void fuzz_mend(uint8_t *data, size_t length)
{
    if (length < HEAD) return;
    uint8_t *file = data + HEAD;
    length -= HEAD;
    if (data[0] % FORMS <= METADATA) fuzz_mend_batches(file, length);
    if (data[0] % FORMS == SNAPSHOT && length >= 10)
        store_i32(file + 2, (int32_t)crc32c(file + 6, length - 6));
    if (data[0] % FORMS == RECENT && length >= 10)
        store_i32(file + 2, (int32_t)crc32c(file + 6, length - 6));
    if (data[0] % FORMS == STATE && length >= 12)
        store_i32(file + 8, (int32_t)crc32c(file + 12, length - 12));
    for (size_t at = 0; data[0] % FORMS == VOTE && at + 40 <= length; at += META_VOTE_COPY_SPACING)
        store_i32(file + at + 36, (int32_t)crc32c(file + at, 36));
}

/* ---- the target ---- */

static int dump_batches(struct log_dump *dump, const uint8_t *data, size_t length)
{
    struct fs_sim *sim = fs_sim_open(NULL);
    struct fs *fs = fs_sim_fs(sim);
    int fd = -1;
    if (fs_write_file(fs, "/log", data, length, false) != 0 ||
        fs->open(fs, "/log", FS_READ, &fd) != 0)
        abort();
    dump->fs = fs;
    int err = log_dump_batches(dump, fd, (int64_t)length);
    fs->close(fs, fd);
    fuzz_promise(fs_sim_misuses(sim) == 0, "descriptors are used as they should");
    fs_sim_close(sim);
    return err;
}

static int dump_content(struct log_dump *dump, enum form form, const uint8_t *data, size_t length)
{
    static const enum log_file_kind kinds[FORMS] = {
        [OFFSETS] = LOG_FILE_OFFSET_INDEX,  [TIMES] = LOG_FILE_TIME_INDEX,
        [ABORTS] = LOG_FILE_TXN_INDEX,      [SNAPSHOT] = LOG_FILE_SNAPSHOT,
        [EPOCHS] = LOG_FILE_EPOCHS,         [CHECKPOINT] = LOG_FILE_CHECKPOINT,
        [TEXT] = LOG_FILE_PROPERTIES,       [VOTE] = LOG_FILE_VOTE,
        [RECENT] = LOG_FILE_RECENT_BATCHES, [STATE] = LOG_FILE_METADATA_SNAPSHOT,
    };
    struct log_file_name name = { kinds[form], 100, false };
    return log_dump_content(dump, name, data, length);
}

static void check_json(char *text)
{
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        json_t *object = json_loads(line, JSON_ALLOW_NUL, NULL);
        fuzz_promise(object != NULL, "each line is JSON");
        json_decref(object);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    if (length < HEAD) return 0;
    enum form form = (enum form)(data[0] % FORMS);
    char *said = NULL;
    size_t said_length = 0;
    struct log_dump dump = {
        .records = (data[1] & WANTS_RECORDS) != 0,
        .keys = (data[1] & WANTS_CONTENT) != 0,
        .values = (data[1] & WANTS_CONTENT) != 0,
        .headers = (data[1] & WANTS_CONTENT) != 0,
        .is_metadata = form == METADATA,
    };
    FILE *to = open_memstream(&said, &said_length);
    if (to == NULL) abort();
    log_output_init(&dump.output, to, (data[1] & WANTS_JSON) != 0);
    buffer_init(&dump.data);
    if ((data[1] & FAILS_TO_ALLOC) != 0) mem_fail_at(data[2]);
    int err = form <= METADATA ? dump_batches(&dump, data + HEAD, length - HEAD)
                               : dump_content(&dump, form, data + HEAD, length - HEAD);
    mem_fail_at(0);
    bool failed = dump.output.failed;
    fuzz_promise(err == 0 || err == ERR_NO_MEMORY, "any bytes can be dumped");
    fuzz_promise((data[1] & FAILS_TO_ALLOC) != 0 || (err == 0 && !failed), "memory suffices");
    log_output_close(&dump.output);
    buffer_close(&dump.data);
    fclose(to);
    if ((data[1] & WANTS_JSON) != 0 && !failed) check_json(said);
    free(said);
    return 0;
}
