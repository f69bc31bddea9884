// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "batch_builder.h"
#include "disk_pool.h"
#include "error.h"
#include "fs_sim.h"
#include "loop.h"
#include "meta_log.h"
#include "trace.h"

static char path[1024];
static char why[512];
static struct fs_sim *disk; /* NULL: the real one. */
static struct data_dir *dir;
static struct meta_log *log_under_test;
static int64_t snapshot_index; /* Of a snapshot that came from elsewhere. */

static void no_lines(void *context, const char *line)
{
    (void)context;
    (void)line;
}

static int open_log_of_term(int64_t term, int64_t persisted_index)
{
    struct fs *fs = disk == NULL ? fs_posix() : fs_sim_fs(disk);
    assert_int_equal(data_dir_open(&dir, fs, path, why, sizeof why), 0);
    trace_set_sink(no_lines, NULL);
    int err = meta_log_open(&log_under_test, dir, clock_real(), term, persisted_index,
                            snapshot_index, why, sizeof why);
    trace_set_sink(NULL, NULL);
    if (err != 0) log_under_test = NULL;
    return err;
}

static int open_log(int64_t persisted_index)
{
    return open_log_of_term(1, persisted_index);
}

static void close_log(void)
{
    meta_log_close(log_under_test);
    log_under_test = NULL;
    data_dir_close(dir);
}

static void new_log(void)
{
    snprintf(path, sizeof path, "%s/node", test_folder());
    assert_int_equal(open_log(0), 0);
}

/* The payload of entry `index`: a size of its own, none for barriers. */
static struct bytes payload_of(int64_t index, int64_t term)
{
    static uint8_t bytes[2000];
    if (index % 5 == 0) return BYTES_NULL;
    memset(bytes, (int)(index * 7 + term), sizeof bytes);
    return (struct bytes){ bytes, (int32_t)(1 + index * 37 % 2000) };
}

static struct meta_entry entry_of(int64_t index, int64_t term)
{
    return (struct meta_entry){ term, index % 5 == 0 ? META_ENTRY_BARRIER : META_ENTRY_COMMAND,
                                payload_of(index, term) };
}

static void append(int64_t from, int64_t to, int64_t term)
{
    for (int64_t index = from; index <= to; index++) {
        struct meta_entry entry = entry_of(index, term);
        assert_int_equal(meta_log_append(log_under_test, index, &entry, 1), 0);
    }
}

static void assert_entry(int64_t index, int64_t term)
{
    struct meta_entry entry, expected = entry_of(index, term);
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(meta_log_read(log_under_test, index, 1, &entry, &arena), 0);
    assert_int_equal(entry.term, term);
    assert_int_equal(entry.type, expected.type);
    assert_int_equal(entry.payload.length, expected.payload.length);
    if (entry.payload.length > 0)
        assert_memory_equal(entry.payload.data, expected.payload.data, entry.payload.length);
    arena_close(&arena);
}

TEST(the_first_index_is_one)
{
    new_log();
    assert_int_equal(meta_log_first_index(log_under_test), 1);
    assert_int_equal(meta_log_last_index(log_under_test), 0);
    assert_int_equal(meta_log_last_term(log_under_test), 0);
    append(1, 3, 1);
    assert_int_equal(meta_log_last_index(log_under_test), 3);
    assert_int_equal(meta_log_last_term(log_under_test), 1);
    close_log();
}

TEST(entries_come_back_from_memory_and_from_the_disk)
{
    new_log();
    append(1, 200, 1);
    append(201, 300, 4);
    for (int64_t index = 1; index <= 300; index++)
        assert_entry(index, index <= 200 ? 1 : 4);
    close_log();
    assert_int_equal(open_log(300), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 300);
    assert_int_equal(meta_log_last_term(log_under_test), 4);
    for (int64_t index = 300; index >= 1; index--)
        assert_entry(index, index <= 200 ? 1 : 4);
    append(301, 310, 5);
    assert_entry(300, 4);
    assert_entry(301, 5);
    struct meta_entry entry;
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(meta_log_read(log_under_test, 311, 1, &entry, &arena), ERR_NOT_FOUND);
    assert_int_equal(meta_log_read(log_under_test, 0, 1, &entry, &arena), ERR_NOT_FOUND);
    arena_close(&arena);
    close_log();
}

TEST(a_run_of_entries_of_several_terms_is_read_across_memory_and_disk)
{
    struct meta_entry entries[50];
    struct arena arena;
    new_log();
    append(1, 30, 1);
    close_log();
    assert_int_equal(open_log(0), 0);
    append(31, 50, 2);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(meta_log_read(log_under_test, 1, 50, entries, &arena), 0);
    for (int64_t index = 1; index <= 50; index++) {
        struct meta_entry expected = entry_of(index, index <= 30 ? 1 : 2);
        assert_int_equal(entries[index - 1].term, expected.term);
        assert_int_equal(entries[index - 1].payload.length, expected.payload.length);
        if (expected.payload.length > 0)
            assert_memory_equal(entries[index - 1].payload.data, expected.payload.data,
                                expected.payload.length);
    }
    arena_close(&arena);
    close_log();
}

TEST(entries_of_several_terms_may_come_in_one_call)
{
    struct meta_entry entries[6];
    static const uint8_t payload[] = { 1, 2, 3 };
    new_log();
    for (int i = 0; i < 6; i++)
        entries[i] = (struct meta_entry){ 1 + i / 2, META_ENTRY_COMMAND, { payload, 3 } };
    assert_int_equal(meta_log_append(log_under_test, 1, entries, 6), 0);
    close_log();
    assert_int_equal(open_log(6), 0);
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(meta_log_read(log_under_test, 1, 6, entries, &arena), 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(entries[i].term, 1 + i / 2);
    arena_close(&arena);
    close_log();
}

TEST(an_append_in_the_middle_replaces_the_rest)
{
    new_log();
    append(1, 100, 1);
    append(41, 45, 2);
    assert_int_equal(meta_log_last_index(log_under_test), 45);
    assert_entry(40, 1);
    assert_entry(41, 2);
    close_log();
    assert_int_equal(open_log(45), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 45);
    assert_entry(40, 1);
    assert_entry(45, 2);
    append(30, 30, 3); /* Also below what is in memory. */
    assert_int_equal(meta_log_last_index(log_under_test), 30);
    assert_entry(29, 1);
    assert_entry(30, 3);
    close_log();
    assert_int_equal(open_log(30), 0);
    assert_entry(30, 3);
    close_log();
}

TEST(an_append_in_the_middle_of_what_came_together_keeps_what_is_before)
{
    struct meta_entry entries[10];
    static const uint8_t payload[] = { 1, 2, 3 };
    new_log();
    for (int i = 0; i < 10; i++)
        entries[i] = (struct meta_entry){ 1, META_ENTRY_COMMAND, { payload, 3 } };
    assert_int_equal(meta_log_append(log_under_test, 1, entries, 10), 0);
    entries[0].term = 2;
    assert_int_equal(meta_log_append(log_under_test, 6, entries, 1), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 6);
    close_log();
    assert_int_equal(open_log(6), 0);
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(meta_log_last_index(log_under_test), 6);
    assert_int_equal(meta_log_read(log_under_test, 1, 6, entries, &arena), 0);
    assert_int_equal(entries[4].term, 1);
    assert_int_equal(entries[5].term, 2);
    arena_close(&arena);
    close_log();
}

static void log_file(char full[1200])
{
    snprintf(full, 1200, "%s/" META_LOG_TOPIC "-0/00000000000000000001.log", path);
}

static long log_file_size(void)
{
    char full[1200];
    log_file(full);
    FILE *file = fopen(full, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    return size;
}

static void flip_byte(long at)
{
    char full[1200];
    log_file(full);
    FILE *file = fopen(full, "r+b");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    int value = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(value ^ 0x40, file);
    fclose(file);
}

TEST(a_torn_tail_is_cut_where_nothing_was_acknowledged)
{
    new_log();
    append(1, 9, 1);
    long size = log_file_size();
    append(11 - 1, 12, 1);
    close_log();
    flip_byte(size + 30); /* In entry 10. */
    assert_int_equal(open_log(9), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 9);
    append(10, 12, 2);
    assert_entry(9, 1);
    assert_entry(12, 2);
    close_log();
}

TEST(a_damaged_or_missing_entry_that_was_acknowledged_is_refused)
{
    new_log();
    append(1, 9, 1);
    long size = log_file_size();
    append(10, 12, 1);
    close_log();
    flip_byte(size + 30);
    assert_int_equal(open_log(10), ERR_CORRUPT_MESSAGE);
    assert_non_null(strstr(why, "knows of 10"));
    close_log();
    flip_byte(size + 30);
    assert_int_equal(open_log(12), 0);
    close_log();
    assert_int_equal(open_log(13), ERR_CORRUPT_MESSAGE);
    close_log();
}

/* Where the batch of each of the first 20 entries begins, and where the last one ends. */
static void log_of_20(long begins[22])
{
    new_log();
    for (int64_t index = 1; index <= 20; index++) {
        begins[index] = log_file_size();
        append(index, index, 1 + index / 8);
        if (index % 3 == 0) /* So 4 to 6 say that 3 was there, and nobody of the last two. */
            assert_int_equal(meta_log_checkpoint(log_under_test), 0);
    }
    begins[21] = log_file_size();
    close_log();
}

TEST(damage_that_a_later_batch_knows_to_have_been_on_the_disk_is_refused)
{
    long begins[22];
    char place[100];
    log_of_20(begins);
    for (int index = 1; index <= 18; index++) {
        /* In front of the CRC and behind it: offset, epoch, and a byte of the middle. */
        long flips[] = { begins[index] + 3, begins[index] + 7, begins[index] + 14,
                         (begins[index] + begins[index + 1]) / 2 };
        snprintf(place, sizeof place, "from entry %d at position %ld on", index, begins[index]);
        for (size_t i = 0; i < sizeof flips / sizeof flips[0]; i++) {
            flip_byte(flips[i]);
            assert_int_equal(open_log(0), ERR_CORRUPT_MESSAGE);
            assert_non_null(strstr(why, place));
            close_log();
            flip_byte(flips[i]);
        }
    }
    assert_int_equal(open_log(0), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 20);
    close_log();
}

TEST(damage_of_which_no_batch_knows_is_a_torn_end)
{
    long begins[22];
    log_of_20(begins);
    flip_byte(begins[19] + 40); /* 20 was written when 18 was on the disk. */
    assert_int_equal(open_log(19), ERR_CORRUPT_MESSAGE); /* The vote file may know. */
    close_log();
    assert_int_equal(open_log(0), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 18);
    assert_entry(18, 3);
    close_log();
}

/* Those of a leader that is none any more may be what is left of a truncation. */
TEST(only_batches_of_the_term_that_was_stored_last_are_asked)
{
    long begins[22];
    log_of_20(begins);
    flip_byte(begins[5] + 40);
    assert_int_equal(open_log_of_term(3, 0), ERR_CORRUPT_MESSAGE); /* 16 to 20 are of term 3. */
    close_log();
    assert_int_equal(open_log_of_term(4, 4), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 4);
    close_log();
}

/* A log of before says nothing of its past. */
TEST(a_log_without_such_knowledge_opens_and_is_cut_as_before)
{
    static const uint8_t payload[] = { 1, 2, 3 };
    struct batch_builder builder;
    struct buffer batches;
    char full[1200];
    new_log();
    close_log();
    batch_builder_init(&builder);
    buffer_init(&batches);
    size_t begins_at = 0;
    for (int64_t index = 1; index <= 20; index++) {
        uint8_t type = META_ENTRY_COMMAND;
        if (index == 11) begins_at = batches.length;
        builder.base_offset = index;
        builder.leader_epoch = 1;
        batch_builder_append(&builder, 1700000000000, (struct bytes){ &type, 1 },
                             (struct bytes){ payload, 3 }, NULL, 0);
        assert_int_equal(batch_builder_finish(&builder, &batches), 0);
    }
    log_file(full);
    FILE *file = fopen(full, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(batches.data, 1, batches.length, file), batches.length);
    fclose(file);
    assert_int_equal(open_log(20), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 20);
    close_log();
    flip_byte((long)begins_at + 40);
    assert_int_equal(open_log(10), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 10);
    close_log();
    buffer_close(&batches);
    batch_builder_close(&builder);
}

TEST(damage_below_the_recovery_point_shows_when_it_is_read)
{
    struct meta_entry entry;
    struct arena arena;
    new_log();
    append(1, 20, 1);
    assert_int_equal(meta_log_checkpoint(log_under_test), 0);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    close_log();
    flip_byte(90);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    if (open_log(20) == 0)
        assert_int_equal(meta_log_read(log_under_test, 1, 1, &entry, &arena), ERR_CORRUPT_MESSAGE);
    arena_close(&arena);
    close_log();
}

/* ---- group commit ---- */

struct flush_count {
    struct meta_log_flusher flusher;
    unsigned flushes;
    uint64_t up_to;
};

static void flush_counted(struct meta_log_flusher *flusher, uint64_t write, int err)
{
    struct flush_count *count = (struct flush_count *)(void *)flusher;
    assert_int_equal(err, 0);
    count->flushes++;
    count->up_to = write;
}

/* An executor that runs a job when it is told to. */
struct slow_executor {
    struct executor executor;
    struct job *job;
};

static void slow_submit(struct executor *executor, struct job *job)
{
    struct slow_executor *slow = (struct slow_executor *)(void *)executor;
    assert_null(slow->job); /* One flush at a time. */
    slow->job = job;
}

TEST(what_comes_during_a_flush_shares_the_next_one)
{
    struct slow_executor slow = { { slow_submit }, NULL };
    struct loop *loop = NULL;
    struct flush_count count = { .flushes = 0 };
    assert_int_equal(loop_open(&loop, "meta", clock_real()), 0);
    count.flusher = (struct meta_log_flusher){ &slow.executor, loop_mailbox(loop), flush_counted };
    new_log();
    meta_log_set_flusher(log_under_test, &count.flusher);
    append(1, 1, 1);
    meta_log_want_flush(log_under_test, 1);
    for (int64_t index = 2; index <= 50; index++) {
        append(index, index, 1);
        meta_log_want_flush(log_under_test, (uint64_t)index);
    }
    assert_true(meta_log_is_flushing(log_under_test));
    for (int i = 0; i < 2; i++) {
        struct job *job = slow.job;
        slow.job = NULL;
        job->run(job);
        loop_turn(loop);
    }
    assert_int_equal(count.flushes, 2);
    assert_int_equal(count.up_to, 50);
    assert_null(slow.job);
    assert_false(meta_log_is_flushing(log_under_test));
    assert_int_equal(meta_log_flushed_index(log_under_test), 50);
    close_log();
    loop_close(loop);
}

TEST(a_log_that_is_larger_than_the_memory_it_may_use_is_read_all_the_same)
{
    struct arena arena;
    struct meta_entry entry;
    static uint8_t large[1 << 20];
    new_log();
    for (int64_t index = 1; index <= 24; index++) {
        memset(large, (int)index, sizeof large);
        struct meta_entry big = { 1, META_ENTRY_COMMAND, { large, sizeof large } };
        assert_int_equal(meta_log_append(log_under_test, index, &big, 1), 0);
    }
    for (int64_t index = 1; index <= 24; index++) {
        arena_init(&arena, NULL, 0, SIZE_MAX);
        assert_int_equal(meta_log_read(log_under_test, index, 1, &entry, &arena), 0);
        assert_int_equal(entry.payload.length, sizeof large);
        assert_int_equal(entry.payload.data[12345], index);
        arena_close(&arena);
    }
    close_log();
}

/* ---- a disk that fails, and the machine stays up */

static void end_life(bool of_the_machine)
{
    if (of_the_machine)
        fs_sim_cut_power(disk);
    else
        fs_sim_kill(disk);
    close_log();
    fs_sim_restart(disk);
}

/* A sync that fails gives up pages that the page cache goes on showing: the next life of the process must
 * not take them for stored. */
TEST(what_the_page_cache_shows_after_a_failed_sync_is_made_durable_at_the_next_start)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct fs_sim_options options = { .seed = seed };
        struct fs_sim_fault fault = { FS_SIM_SYNC, ".log", 1, false, ERR_IO };
        disk = fs_sim_open(&options);
        snprintf(path, sizeof path, "/node");
        assert_int_equal(open_log(0), 0);
        append(1, 20, 1);
        fs_sim_fail(disk, &fault);
        trace_set_sink(no_lines, NULL);
        assert_int_not_equal(meta_log_checkpoint(log_under_test), 0);
        trace_set_sink(NULL, NULL);
        end_life(false);
        assert_int_equal(open_log(0), 0);
        int64_t last_index = meta_log_last_index(log_under_test);
        end_life(true);
        assert_int_equal(open_log(last_index), 0);
        for (int64_t index = 1; index <= last_index; index++)
            assert_entry(index, 1);
        close_log();
        fs_sim_close(disk);
    }
    disk = NULL;
}

TEST(on_a_full_disk_the_last_segment_goes_on_past_its_size)
{
    static uint8_t large[13 << 20];
    struct fs_sim_fault full = {
        .calls = FS_SIM_CREATE,
        .suffix = ".log",
        .nth = 1,
        .keeps_failing = true,
        .error = ERR_NO_SPACE,
    };
    disk = fs_sim_open(NULL);
    snprintf(path, sizeof path, "/data");
    assert_int_equal(open_log(0), 0);
    fs_sim_fail(disk, &full);
    trace_set_sink(no_lines, NULL);
    /* A segment has 64 MiB: the fifth entry would begin another one. */
    for (int64_t index = 1; index <= 7; index++) {
        struct meta_entry entry = { 1, META_ENTRY_COMMAND, { large, sizeof large } };
        assert_int_equal(meta_log_append(log_under_test, index, &entry, 1), 0);
    }
    trace_set_sink(NULL, NULL);
    assert_true(fs_sim_has_failed(disk));
    assert_int_equal(meta_log_last_index(log_under_test), 7);
    assert_int_equal(meta_log_checkpoint(log_under_test), 0);
    fs_sim_fail(disk, NULL);
    assert_int_equal(meta_log_trim(log_under_test, 6), 0); /* There is room again. */
    struct meta_entry entry = { 1, META_ENTRY_COMMAND, { large, sizeof large } };
    assert_int_equal(meta_log_append(log_under_test, 8, &entry, 1), 0);
    close_log();
    assert_int_equal(open_log(7), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 8);
    close_log();
    fs_sim_close(disk);
    disk = NULL;
}

TEST(a_log_that_begins_anew_holds_nothing_of_before)
{
    struct meta_entry entry;
    struct arena arena;
    new_log();
    append(1, 30, 1);
    assert_int_equal(meta_log_restart(log_under_test, 101), 0);
    assert_int_equal(meta_log_first_index(log_under_test), 101);
    assert_int_equal(meta_log_last_index(log_under_test), 100);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(meta_log_read(log_under_test, 30, 1, &entry, &arena), ERR_NOT_FOUND);
    arena_close(&arena);
    append(101, 103, 4);
    assert_entry(102, 4);
    close_log();
    assert_int_equal(open_log(100), 0);
    assert_int_equal(meta_log_first_index(log_under_test), 101);
    assert_entry(103, 4);
    close_log();
}

/* As a power cut leaves one that was to do so. Elsewhere it is an old log beside newer checkpoints. */
TEST(a_log_begins_beyond_its_end_only_behind_a_snapshot)
{
    new_log();
    append(1, 30, 1);
    assert_int_equal(data_dir_set_checkpoint(dir, CHECKPOINT_LOG_START, META_LOG_TOPIC, 0, 41), 0);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    close_log();
    snapshot_index = 45;
    assert_int_equal(open_log(20), ERR_CORRUPT_MESSAGE);
    assert_non_null(strstr(why, "restore it from a copy"));
    close_log();
    snapshot_index = 40;
    assert_int_equal(open_log(20), 0);
    assert_int_equal(meta_log_first_index(log_under_test), 41);
    close_log();
    snapshot_index = 0;
}

TEST(an_older_copy_of_the_log_after_a_clean_stop_is_named)
{
    new_log();
    append(1, 9, 1);
    long older = log_file_size();
    append(10, 12, 1);
    assert_int_equal(meta_log_checkpoint(log_under_test), 0);
    assert_int_equal(data_dir_write_checkpoints(dir), 0);
    assert_int_equal(data_dir_mark_clean(dir, 1), 0);
    close_log();
    char file[1200];
    snprintf(file, sizeof file, "%s/" META_LOG_TOPIC "-0/00000000000000000001.log", path);
    assert_int_equal(truncate(file, older), 0);
    assert_int_equal(open_log(12), ERR_CORRUPT_MESSAGE);
    assert_non_null(strstr(why, "00000000000000000001.log"));
    assert_non_null(strstr(why, "from entry 10 at position"));
    assert_non_null(strstr(why, "restore it from a copy"));
    close_log();
}

TEST(a_trimmed_log_does_not_read_what_lies_in_front)
{
    struct meta_entry entry;
    struct arena arena;
    new_log();
    append(1, 30, 1);
    assert_int_equal(meta_log_trim(log_under_test, 20), 0);
    assert_int_equal(meta_log_first_index(log_under_test), 20);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(meta_log_read(log_under_test, 19, 1, &entry, &arena), ERR_NOT_FOUND);
    arena_close(&arena);
    assert_entry(20, 1);
    append(31, 33, 1);
    assert_entry(33, 1);
    close_log();
}

TEST(segments_in_front_of_what_is_needed_are_removed)
{
    static uint8_t large[13 << 20];
    bool is_there = false;
    disk = fs_sim_open(NULL);
    snprintf(path, sizeof path, "/data");
    assert_int_equal(open_log(0), 0);
    for (int64_t index = 1; index <= 6; index++) { /* The fifth begins the second segment. */
        struct meta_entry entry = { 1, META_ENTRY_COMMAND, { large, sizeof large } };
        assert_int_equal(meta_log_append(log_under_test, index, &entry, 1), 0);
    }
    struct fs *fs = fs_sim_fs(disk);
    const char *first = "/data/__sluice_metadata-0/00000000000000000001.log";
    assert_int_equal(meta_log_trim(log_under_test, 4), 0);
    assert_int_equal(fs->exists(fs, first, &is_there), 0);
    assert_true(is_there); /* The fourth entry is in it. */
    assert_int_equal(meta_log_trim(log_under_test, 6), 0);
    assert_int_equal(fs->exists(fs, first, &is_there), 0);
    assert_false(is_there);
    assert_int_equal(
        fs->exists(fs, "/data/__sluice_metadata-0/00000000000000000001.log.deleted", &is_there), 0);
    assert_false(is_there); /* Nor is it kept under another name. */
    close_log();
    assert_int_equal(open_log(6), 0);
    assert_int_equal(meta_log_last_index(log_under_test), 6);
    close_log();
    fs_sim_close(disk);
    disk = NULL;
}
