// SPDX-License-Identifier: Apache-2.0
/* Opening a partition's log in a folder that holds anything. Whatever the bytes are: it opens or says why
 * not; what opens can be read to its end, appended to and stopped; and what was stopped opens again and
 * ends where it ended. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "batch_builder.h"
#include "error.h"
#include "fs_sim.h"
#include "fuzz.h"
#include "fuzz_folder.h"
#include "log_verify.h"
#include "partition_log.h"

const char fuzz_name[] = "fuzz_recovery";

/* In front of the folder: what else is asked, and of which number the allocation is that fails. */
#define HEAD           2
#define FAILS_TO_ALLOC 1
#define IS_STRICT \
    2 /* The metadata log's rule: no cut below the offset that the second byte says. */

static struct clock_manual fuzz_clock;

struct opened {
    struct fs_sim *sim;
    struct data_dir *dir;
    struct partition_log *log;
};

static int open_log(struct opened *opened, int64_t cut_only_from)
{
    char why[256];
    struct partition_log_recovery recovery;
    struct partition_log_open_options options = {
        .clock = &fuzz_clock.clock,
        .topic = "orders",
        .topic_id = { { 7, 7, 7 } },
        .cut_only_from = cut_only_from,
    };
    topic_settings_defaults(&options.settings);
    options.settings.segment_bytes = 600;
    options.settings.index_interval_bytes = 100;
    options.settings.retention_ms = options.settings.retention_bytes = -1;
    opened->dir = NULL;
    opened->log = NULL;
    int err = data_dir_open(&opened->dir, fs_sim_fs(opened->sim), FUZZ_FOLDER, why, sizeof why);
    if (err == 0) err = data_dir_begin(opened->dir);
    options.dir = opened->dir;
    return err == 0 ? partition_log_open(&opened->log, &options, &recovery) : err;
}

static void close_log(struct opened *opened)
{
    partition_log_close(opened->log);
    data_dir_close(opened->dir);
    opened->log = NULL;
    opened->dir = NULL;
}

static int stop_log(struct opened *opened)
{
    int err = partition_log_checkpoint(opened->log);
    partition_log_close(opened->log);
    opened->log = NULL;
    if (err == 0) err = data_dir_write_checkpoints(opened->dir);
    if (err == 0) err = data_dir_mark_clean(opened->dir, 1);
    close_log(opened);
    return err;
}

/* ---- good inputs ---- */

static void build(struct batch_builder *builder, struct buffer *out)
{
    static const uint8_t letters[40] = "what somebody wrote, again and again, i";
    for (size_t left = 1 + chance_below(3); left > 0; left--)
        batch_builder_append(builder, 1700000000000 + (int64_t)chance_below(5000), BYTES_NULL,
                             (struct bytes){ letters, (int32_t)chance_below(sizeof letters) }, NULL,
                             0);
    if (batch_builder_finish(builder, out) != 0) abort();
}

static void append(struct partition_log *log, struct buffer *batch, int32_t leader_epoch,
                   bool is_marker)
{
    struct log_append *rest, append = { .data = batch->data, .from_client = !is_marker };
    if (record_batch_read_header(&append.batch, batch->data, batch->length) != 0) abort();
    (void)partition_log_append(log, &append, leader_epoch, 1700000000000, true, &rest);
}

static void append_marker(struct partition_log *log, struct batch_builder *builder,
                          struct buffer *batch)
{
    uint8_t key[4] = { 0 }, value[6] = { 0 };
    key[3] = (uint8_t)chance_below(2);
    builder->attributes = BATCH_CONTROL | BATCH_TRANSACTIONAL;
    builder->base_offset = partition_log_end_offset(log);
    builder->producer_id = 5;
    builder->producer_epoch = 0;
    batch_builder_append(builder, 1700000000000, (struct bytes){ key, 4 },
                         (struct bytes){ value, 6 }, NULL, 0);
    if (batch_builder_finish(builder, batch) != 0) abort();
    append(log, batch, 1, true);
}

static void fill(struct partition_log *log)
{
    struct batch_builder builder;
    struct buffer batch;
    int32_t sequence = 0;
    buffer_init(&batch);
    batch_builder_init(&builder);
    for (size_t left = chance_below(16); left > 0; left--) {
        batch.length = 0;
        size_t kind = chance_below(4);
        if (kind == 0) {
            append_marker(log, &builder, &batch);
            continue;
        }
        builder.attributes = (int16_t)chance_below(5);
        if (kind == 1) {
            builder.attributes |= BATCH_TRANSACTIONAL;
            builder.producer_id = 5;
            builder.producer_epoch = 0;
            builder.base_sequence = sequence;
        }
        build(&builder, &batch);
        if (kind == 1) sequence += load_i32(batch.data + 57);
        append(log, &batch, left < 6 ? 1 : 0, false);
        if (chance_below(6) == 0 && partition_log_checkpoint(log) != 0) abort();
    }
    batch_builder_close(&builder);
    buffer_close(&batch);
}

/* As if a crash had come between two steps. */
static void leave_over(struct fs *fs)
{
    static const char *const names[] = { "leader-epoch-checkpoint", "00000000000000000000.log",
                                         "00000000000000000000.index", "partition.metadata" };
    static const char *const ends[] = { ".deleted", ".tmp", ".swap", ".cleaned" };
    char from[PATH_MAX], to[PATH_MAX];
    const char *name = names[chance_below(4)];
    if (chance_below(3) != 0) return;
    if (fs_path(from, FUZZ_FOLDER "/orders-0/%s", name) == 0 &&
        fs_path(to, FUZZ_FOLDER "/orders-0/%s%s", name, ends[chance_below(4)]) == 0)
        (void)fs->rename(fs, from, to); /* It need not be there. */
}

void fuzz_make(struct buffer *input)
{
    struct opened opened = { .sim = fs_sim_open(NULL) };
    clock_manual_init(&fuzz_clock, 1700000000000);
    if (open_log(&opened, -1) != 0) abort();
    fill(opened.log);
    int64_t end = partition_log_end_offset(opened.log);
    if (chance_below(4) == 0 &&
        partition_log_raise_start(opened.log, (int64_t)chance_below((size_t)end + 1)) != 0)
        abort();
    bool is_clean = chance_below(2) == 0;
    if (is_clean) {
        if (stop_log(&opened) != 0) abort();
    } else {
        if (partition_log_flush(opened.log) != 0 || data_dir_write_checkpoints(opened.dir) != 0)
            abort();
        close_log(&opened);
    }
    leave_over(fs_sim_fs(opened.sim));
    buffer_i8(input, (int8_t)(chance_below(8) == 0   ? FAILS_TO_ALLOC
                              : chance_below(4) == 0 ? IS_STRICT
                                                     : 0));
    buffer_i8(input, (int8_t)(1 + chance_below(100)));
    fuzz_folder_save(fs_sim_fs(opened.sim), input);
    fs_sim_close(opened.sim);
}

void fuzz_mend(uint8_t *data, size_t length)
{
    if (length > HEAD) fuzz_folder_mend(data + HEAD, length - HEAD);
}

/* ---- the target ---- */

static void read_all(struct partition_log *log)
{
    int64_t end = partition_log_end_offset(log);
    int64_t offset = partition_log_start_offset(log);
    fuzz_promise(offset <= end, "a log begins where it ends, or before");
    while (offset < end) {
        struct log_read read = { .from_offset = offset,
                                 .below_offset = INT64_MAX,
                                 .max_bytes = 300,
                                 .at_least_one = true,
                                 .may_block = true };
        int err = partition_log_read(log, &read);
        if (err != 0) return; /* Damage below the recovery point is found by who reads it. */
        file_slice_release(&read.slice);
        if (read.slice.length == 0) return;
        fuzz_promise(read.next_offset > offset, "who reads goes on");
        offset = read.next_offset;
    }
}

static void look_up(struct partition_log *log)
{
    struct log_position position;
    int32_t epoch;
    int64_t end = partition_log_end_offset(log), where;
    (void)partition_log_find_timestamp(log, 1700000000000, end, true, &position);
    (void)partition_log_find_max_timestamp(log, end, true, &position);
    partition_log_epoch_end(log, 0, &epoch, &where);
    fuzz_promise(where <= end, "an epoch ends with the log, or before");
}

static void append_one(struct partition_log *log)
{
    struct batch_builder builder;
    struct buffer batch;
    struct log_append *rest;
    int64_t end = partition_log_end_offset(log);
    int32_t epoch = partition_log_last_epoch(log);
    buffer_init(&batch);
    batch_builder_init(&builder);
    batch_builder_append(&builder, 1700000000000, BYTES_NULL, BYTES_NULL, NULL, 0);
    if (batch_builder_finish(&builder, &batch) != 0) abort();
    struct log_append append = { .data = batch.data, .from_client = true };
    if (record_batch_read_header(&append.batch, batch.data, batch.length) != 0) abort();
    int err = partition_log_append(log, &append, epoch < 0 ? 0 : epoch, 1700000000000, true, &rest);
    if (err == 0 && append.err == 0)
        fuzz_promise(append.base_offset == end && partition_log_end_offset(log) == end + 1,
                     "what is appended comes behind all else");
    batch_builder_close(&builder);
    buffer_close(&batch);
}

static void use(struct opened *opened)
{
    read_all(opened->log);
    look_up(opened->log);
    append_one(opened->log);
    int64_t end = partition_log_end_offset(opened->log);
    int64_t start = partition_log_start_offset(opened->log);
    if (stop_log(opened) != 0) return;
    int err = open_log(opened, -1);
    fuzz_promise(err == 0, "what was stopped in good order opens");
    fuzz_promise(partition_log_end_offset(opened->log) == end, "it ends where it ended");
    fuzz_promise(partition_log_start_offset(opened->log) == start, "it begins where it began");
}

/* What `sluice log verify` says of it is said to nobody; it changes nothing and ends well. */
static void verify(struct fs_sim *sim)
{
    char *said = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&said, &length);
    struct log_verify verify = { .fs = fs_sim_fs(sim), .records = true };
    long changes = fs_sim_changes(sim);
    if (to == NULL) abort();
    log_output_init(&verify.output, to, false);
    (void)log_verify_path(&verify, FUZZ_FOLDER);
    log_verify_summary(&verify);
    fuzz_promise(!verify.output.failed, "memory suffices");
    fuzz_promise(fs_sim_changes(sim) == changes, "who verifies changes nothing");
    log_output_close(&verify.output);
    fclose(to);
    free(said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    if (length < HEAD) return 0;
    struct opened opened = { .sim = fs_sim_open(NULL) };
    clock_manual_init(&fuzz_clock, 1700000000000);
    fuzz_folder_load(data + HEAD, length - HEAD, fs_sim_fs(opened.sim));
    if (data[1] % 4 == 0) verify(opened.sim);
    if ((data[0] & FAILS_TO_ALLOC) != 0) mem_fail_at(data[1]);
    int err = open_log(&opened, (data[0] & IS_STRICT) != 0 ? data[1] : -1);
    mem_fail_at(0);
    if (err == 0) use(&opened);
    close_log(&opened);
    fuzz_promise(fs_sim_open_files(opened.sim) == 0, "every file is closed");
    fuzz_promise(fs_sim_misuses(opened.sim) == 0, "descriptors are used as they should");
    fs_sim_close(opened.sim);
    return 0;
}
