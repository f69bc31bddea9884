// SPDX-License-Identifier: Apache-2.0
/* Whatever happened to a log: how far it is stable, and what was aborted, is what its batches say. */

#include "runner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "error.h"
#include "fs_sim.h"
#include "log_fixture.h"
#include "partition_log.h"

static struct log_fixture fixture;

/* ---- what the batches say */

#define PRODUCERS        6 /* Ids 1 to 6. */
#define TRANSACTIONS_MAX 1000

static struct aborted_transaction
    all[TRANSACTIONS_MAX]; /* Ended ones; the last field: was aborted. */
static size_t ended_count;
static int64_t open_from[PRODUCERS + 1]; /* -1: none. */

static void note_batch(const struct record_batch *batch)
{
    int64_t *first = &open_from[batch->producer_id];
    if ((batch->attributes & BATCH_CONTROL) == 0) {
        if (*first < 0) *first = batch->base_offset;
        return;
    }
    /* The marker's record: length, attributes, deltas and key length take a byte each; then the key. */
    bool is_commit = batch->data[RECORD_BATCH_HEADER_SIZE + 5 + 3] == 1;
    if (*first < 0) return;
    assert_true(ended_count < TRANSACTIONS_MAX);
    all[ended_count++] = (struct aborted_transaction){ batch->producer_id, *first,
                                                       batch->base_offset, !is_commit };
    *first = -1;
}

static void read_the_batches(void)
{
    struct buffer data;
    ended_count = 0;
    for (int i = 0; i <= PRODUCERS; i++)
        open_from[i] = -1;
    buffer_init(&data);
    fixture_read_all(&fixture, 1 << 20, &data);
    for (size_t at = 0; at < data.length;) {
        struct record_batch batch;
        assert_int_equal(record_batch_read_header(&batch, data.data + at, data.length - at), 0);
        if (batch.producer_id > 0 && (batch.attributes & BATCH_TRANSACTIONAL) != 0)
            note_batch(&batch);
        at += batch.size;
    }
    buffer_close(&data);
}

static int64_t end_offset(void)
{
    return partition_log_end_offset(fixture.log);
}

static int64_t high_watermark; /* It never goes back while the log is open. */

static void assert_stable_offsets(void)
{
    int64_t last = high_watermark + rand() % (end_offset() - high_watermark + 1);
    for (; high_watermark <= last; high_watermark++) {
        int64_t expected = -1;
        for (int i = 1; i <= PRODUCERS; i++)
            if (open_from[i] >= 0 && (expected < 0 || open_from[i] < expected))
                expected = open_from[i];
        for (size_t i = 0; i < ended_count; i++)
            if (all[i].last_offset >= high_watermark &&
                (expected < 0 || all[i].first_offset < expected))
                expected = all[i].first_offset;
        int64_t found = partition_log_first_unstable_offset(fixture.log, high_watermark);
        if (found != expected)
            fail_msg("below %ld: unstable from %ld, not %ld", (long)high_watermark, (long)found,
                     (long)expected);
    }
    high_watermark = last;
}

static void assert_aborted_in(int64_t from, int64_t below)
{
    struct log_aborted wanted = { from, below, SIZE_MAX, true, { 0 } };
    size_t expected = 0;
    assert_int_equal(partition_log_aborted(fixture.log, &wanted), 0);
    for (size_t i = 0; i < ended_count; i++) {
        if (!all[i].last_stable_offset || all[i].last_offset < from || all[i].first_offset >= below)
            continue;
        expected++;
        bool is_there = false;
        for (size_t k = 0; k < wanted.list.count; k++)
            is_there |= wanted.list.items[k].producer_id == all[i].producer_id &&
                        wanted.list.items[k].first_offset == all[i].first_offset &&
                        wanted.list.items[k].last_offset == all[i].last_offset;
        if (!is_there)
            fail_msg("[%ld, %ld): that of producer %ld at %ld is missing", (long)from, (long)below,
                     (long)all[i].producer_id, (long)all[i].first_offset);
    }
    assert_int_equal(wanted.list.count, expected);
    for (size_t k = 1; k < wanted.list.count; k++)
        assert_true(wanted.list.items[k].first_offset > wanted.list.items[k - 1].first_offset);
    log_aborted_release(&wanted);
}

static void assert_as_the_batches_say(void)
{
    read_the_batches();
    int64_t start = partition_log_start_offset(fixture.log);
    int64_t step = end_offset() - start > 60 ? 7 : 1;
    for (int64_t from = start; from < end_offset(); from += step)
        for (int64_t below = from + 1; below <= end_offset(); below += step)
            assert_aborted_in(from, below);
    assert_stable_offsets();
}

/* ---- making some */

static int32_t next_sequence[PRODUCERS + 1];

static int produce_in_transaction(int64_t producer_id)
{
    struct batch_spec spec = {
        .timestamp = FIXTURE_NOW_MS + end_offset(),
        .value_bytes = 30,
        .producer_id = producer_id,
        .base_sequence = next_sequence[producer_id],
        .attributes = BATCH_TRANSACTIONAL,
    };
    int err = fixture_append(&fixture, &spec);
    if (err == 0) next_sequence[producer_id]++;
    return err;
}

static int end_transaction(int64_t producer_id, bool is_commit)
{
    return fixture_append_marker(
        &fixture, &(struct marker_spec){ .producer_id = producer_id, .is_commit = is_commit });
}

/* What ended below the snapshot that it was opened with is taken for replicated, as in Kafka. */
static void reopen(void)
{
    fixture_reopen(&fixture);
    high_watermark = end_offset();
}

static void start(int32_t segment_bytes)
{
    high_watermark = 0;
    memset(next_sequence, 0, sizeof next_sequence);
    srand((unsigned)test_seed());
    fixture_init(&fixture, test_folder());
    fixture.settings.segment_bytes = segment_bytes;
    assert_int_equal(fixture_open(&fixture), 0);
}

/* Something of everything, by chance; the number of appends that were acknowledged. */
static int work(int count)
{
    int acknowledged = 0;
    for (int i = 0; i < count; i++) {
        int64_t producer_id = 1 + rand() % PRODUCERS;
        int err;
        if (rand() % 5 < 3)
            err = produce_in_transaction(producer_id);
        else if (rand() % 4 > 0)
            err = end_transaction(producer_id, rand() % 3 == 0);
        else
            err = fixture_append(&fixture, &(struct batch_spec){ .value_bytes = 50 });
        acknowledged += err == 0;
    }
    return acknowledged;
}

TEST(a_log_knows_what_is_stable_and_what_was_aborted)
{
    start(1200);
    for (int round = 0; round < 6; round++) {
        work(40);
        assert_as_the_batches_say();
    }
    fixture_close(&fixture);
}

TEST(so_it_does_after_a_stop_a_kill_and_without_checkpoint)
{
    for (int way = 0; way < 3; way++) {
        start(1500);
        for (int round = 0; round < 5; round++) {
            work(30);
            if (rand() % 2) assert_int_equal(partition_log_checkpoint(fixture.log), 0);
            if (rand() % 2) assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
            work(10);
            if (way == 0) fixture_stop(&fixture);
            if (way == 1) fixture_kill_only(&fixture);
            if (way == 2) fixture_close(&fixture);
            reopen();
            assert_as_the_batches_say();
        }
        fixture_close(&fixture);
    }
}

TEST(what_was_replayed_may_not_be_replicated_yet)
{
    start(1500);
    work(60);
    fixture_kill_only(&fixture);
    reopen();
    high_watermark = 0;
    assert_as_the_batches_say();
    fixture_close(&fixture);
}

TEST(so_it_does_after_a_truncation)
{
    start(1200);
    for (int round = 0; round < 12; round++) {
        work(30);
        if (rand() % 3 == 0) assert_int_equal(partition_log_checkpoint(fixture.log), 0);
        int64_t offset = end_offset() - rand() % 40;
        assert_int_equal(partition_log_truncate(fixture.log, offset < 0 ? 0 : offset), 0);
        if (high_watermark > end_offset()) high_watermark = end_offset();
        memset(next_sequence, 0, sizeof next_sequence);
        assert_as_the_batches_say();
        /* Their sequences have gone back too: go on with what the log knows. */
        fixture_stop(&fixture);
        reopen();
        assert_as_the_batches_say();
    }
    fixture_close(&fixture);
}

static void find_txn_indexes(char names[][64], int *count)
{
    *count = 0;
    for (int64_t base = 0; base < end_offset() && *count < 50; base++) {
        char name[64];
        snprintf(name, sizeof name, "%020ld.txnindex", (long)base);
        if (fixture_has_file(&fixture, name)) snprintf(names[(*count)++], 64, "%s", name);
    }
}

static void spoil(const char *name, int way)
{
    struct buffer data;
    buffer_init(&data);
    fixture_load_file(&fixture, name, &data);
    if (way == 0) data.length -= 1 + (size_t)rand() % 33;
    if (way == 1) data.data[(size_t)rand() % (data.length / 34) * 34] ^= 1;
    if (way == 2) memset(data.data, 0, data.length);
    fixture_save_file(&fixture, name, data.data, data.length);
    buffer_close(&data);
}

TEST(a_bad_transaction_index_is_built_again)
{
    char names[50][64];
    int count;
    for (int way = 0; way < 6; way++) {
        start(1200);
        work(150);
        if (way < 3)
            fixture_stop(&fixture);
        else
            fixture_kill_only(&fixture);
        reopen();
        find_txn_indexes(names, &count);
        assert_true(count > 3);
        fixture_stop(&fixture);
        for (int i = 0; i < count; i += 2)
            spoil(names[i], way % 3);
        if (way >= 3) fixture_remove_file(&fixture, "../.kafka_cleanshutdown");
        reopen();
        assert_as_the_batches_say();
        /* And it stays so: also on disk. */
        fixture_kill_only(&fixture);
        reopen();
        assert_as_the_batches_say();
        fixture_close(&fixture);
    }
}

TEST(index_files_may_be_removed_while_nobody_uses_them)
{
    char names[50][64];
    int count;
    start(1200);
    work(150);
    fixture_stop(&fixture);
    reopen();
    find_txn_indexes(names, &count);
    fixture_stop(&fixture);
    for (int i = 0; i < count; i++) {
        char name[64];
        fixture_remove_file(&fixture, names[i]);
        snprintf(name, sizeof name, "%.20s.index", names[i]);
        fixture_remove_file(&fixture, name);
    }
    reopen();
    assert_as_the_batches_say();
    fixture_close(&fixture);
}

TEST(without_snapshots_transactions_are_known_from_the_batches)
{
    start(1200);
    work(150);
    fixture_stop(&fixture);
    for (int64_t offset = 0; offset <= 200; offset++) {
        char name[64];
        snprintf(name, sizeof name, "%020ld.snapshot", (long)offset);
        if (fixture_has_file(&fixture, name)) fixture_remove_file(&fixture, name);
    }
    reopen();
    assert_as_the_batches_say();
    fixture_close(&fixture);
}

/* Whatever fails: what is there afterwards is told right. */
static void fail_every_operation(int error, bool keeps_failing)
{
    for (long nth = 1;; nth++) {
        memset(next_sequence, 0, sizeof next_sequence);
        high_watermark = 0;
        srand((unsigned)test_seed());
        fixture_init(&fixture, test_folder());
        fixture.settings.segment_bytes = 700;
        fixture.disk.writes_a_part = true;
        fixture.disk.keeps_failing = keeps_failing;
        fs_fault_fail_at(&fixture.disk, nth, error);
        int acknowledged = 0;
        int err = fixture_open(&fixture);
        if (err == 0) {
            acknowledged = work(20);
            partition_log_flush(fixture.log);
            acknowledged += work(10);
            partition_log_checkpoint(fixture.log);
            acknowledged += work(5);
        }
        bool has_failed = atomic_load(&fixture.disk.has_failed);
        fs_fault_fail_at(&fixture.disk, 0, error);
        if (err == 0 && partition_log_failed(fixture.log) == 0) assert_as_the_batches_say();
        if (err == 0) fixture_kill_only(&fixture);
        reopen();
        assert_true(end_offset() >= acknowledged);
        assert_as_the_batches_say();
        fixture_close(&fixture);
        assert_int_equal(atomic_load(&fixture.disk.open_files), 0);
        if (!has_failed) break;
    }
}

TEST(one_failing_operation_makes_no_transaction_unknown)
{
    fail_every_operation(ERR_IO, false);
}

TEST(a_disk_that_fills_up_makes_no_transaction_unknown)
{
    fail_every_operation(ERR_NO_SPACE, true);
}

TEST(a_disk_that_is_full_for_a_moment_makes_no_transaction_unknown)
{
    fail_every_operation(ERR_NO_SPACE, false);
}

TEST(lack_of_memory_makes_no_transaction_unknown)
{
    int err;
    long nth = 1;
    do {
        struct marker_spec spec = { .producer_id = 1 };
        struct buffer marker;
        struct log_append *rest;
        start(1 << 20);
        assert_int_equal(produce_in_transaction(1), 0);
        buffer_init(&marker);
        marker_spec_build(&spec, 1, &marker);
        struct log_append append = { .data = marker.data };
        assert_int_equal(record_batch_read_header(&append.batch, marker.data, marker.length), 0);
        mem_fail_at(nth++);
        err = partition_log_append(fixture.log, &append, 0, FIXTURE_NOW_MS, true, &rest);
        mem_fail_at(0);
        assert_int_equal(err, 0);
        assert_true(append.err == 0 || append.err == ERR_NO_MEMORY);
        err = append.err;
        assert_as_the_batches_say();
        if (err != 0) assert_int_equal(end_transaction(1, false), 0);
        assert_as_the_batches_say();
        buffer_close(&marker);
        fixture_close(&fixture);
    } while (err != 0);
    assert_true(nth > 3);
}

/* ---- power cuts */

/* Producers go on where the log says. */
static void go_on(void)
{
    for (int i = 1; i <= PRODUCERS; i++) {
        struct producer_snapshot found;
        bool is_known = producer_history_find(partition_log_producers(fixture.log), i, &found);
        next_sequence[i] = is_known ? found.last_sequence + 1 : 0;
    }
}

/* A life on the simulated disk: some work, some of it made durable; ends when the power goes. */
static void live(struct fs_sim *sim)
{
    high_watermark = end_offset();
    go_on();
    while (!fs_sim_is_off(sim)) {
        work(1 + rand() % 8);
        int way = rand() % 5;
        if (way == 0) partition_log_flush(fixture.log);
        if (way == 1) partition_log_checkpoint(fixture.log);
        if (way == 2) data_dir_write_checkpoints(fixture.dir);
        if (way == 3 && rand() % 4 == 0) {
            int64_t offset = end_offset() - rand() % 10;
            if (partition_log_truncate(fixture.log, offset < 0 ? 0 : offset) == 0) go_on();
        }
    }
    fixture_close(&fixture);
}

static void survive_power_cuts(unsigned seed)
{
    struct fs_sim_options options = { .seed = seed };
    struct fs_sim *sim = fs_sim_open(&options);
    srand(seed);
    fixture_init(&fixture, "/data");
    fixture.settings.segment_bytes = 900;
    fixture.disk.real = fs_sim_fs(sim);
    fixture.disk.syncs_indeed = true;
    for (int lives = 0; lives < 4; lives++) {
        fs_sim_cut_power_at(sim, 1 + rand() % 250);
        if (fixture_open(&fixture) == 0) live(sim);
        if (!fs_sim_is_off(sim)) fs_sim_cut_power(sim);
        fs_sim_cut_power_at(sim, 0);
        fs_sim_restart(sim);
        int err = fixture_open(&fixture);
        if (err == ERR_INCONSISTENT_TOPIC_ID) { /* Torn before its first flush: nobody's. */
            assert_int_equal(fs_remove_tree(fs_sim_fs(sim), fixture.folder), 0);
            err = fixture_open(&fixture);
        }
        if (err != 0) fail_msg("seed %u: it cannot be opened", seed);
        high_watermark = end_offset();
        assert_as_the_batches_say();
        fixture_close(&fixture);
    }
    assert_int_equal(fs_sim_misuses(sim), 0);
    fs_sim_close(sim);
}

TEST(after_a_power_cut_transactions_are_what_the_batches_say)
{
    for (unsigned seed = 1; seed <= 150; seed++)
        survive_power_cuts((unsigned)test_seed() + seed);
}

/* ---- threads */

#define PAIRS 400 /* Of a batch and its abort marker, at offsets 2n and 2n + 1. */

static atomic_bool is_over;

static void *complaint(const char *what)
{
    return (void *)(uintptr_t)what;
}

/* Whatever is stable when it looks has all that was aborted in it. */
static void *look(void *argument)
{
    (void)argument;
    while (!atomic_load(&is_over)) {
        int64_t below = end_offset() / 2 * 2;
        struct log_aborted wanted = { below / 3, below, SIZE_MAX, true, { 0 } };
        int64_t unstable = partition_log_first_unstable_offset(fixture.log, below);
        if (unstable >= 0 && unstable < below) return complaint("it is less stable than it was");
        if (partition_log_aborted(fixture.log, &wanted) != 0) return complaint("the search failed");
        bool are_all = (int64_t)wanted.list.count == below / 2 - below / 3 / 2;
        log_aborted_release(&wanted);
        if (!are_all) return complaint("one is missing");
    }
    return NULL;
}

static void *flush(void *argument)
{
    (void)argument;
    while (!atomic_load(&is_over))
        if (partition_log_flush(fixture.log) != 0) return complaint("the flush failed");
    return NULL;
}

TEST(who_searches_beside_the_writer_finds_what_was_aborted)
{
    pthread_t threads[3];
    start(2000);
    atomic_store(&is_over, false);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < 2 ? look : flush, NULL), 0);
    for (int i = 0; i < PAIRS; i++) {
        assert_int_equal(produce_in_transaction(1), 0);
        assert_int_equal(end_transaction(1, false), 0);
        if (i % 50 == 49) assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 3; i++) {
        void *what;
        assert_int_equal(pthread_join(threads[i], &what), 0);
        if (what != NULL) fail_msg("%s", (const char *)what);
    }
    fixture_close(&fixture);
}

/* ---- rules */

TEST(a_marker_that_ends_nothing_aborts_nothing)
{
    start(1 << 20);
    assert_int_equal(end_transaction(1, false), 0);
    assert_as_the_batches_say();
    fixture_stop(&fixture);
    assert_false(fixture_has_file(&fixture, "00000000000000000000.txnindex"));
}

TEST(a_segment_in_which_nothing_was_aborted_has_no_file)
{
    start(1 << 20);
    assert_int_equal(produce_in_transaction(1), 0);
    assert_int_equal(end_transaction(1, true), 0);
    fixture_stop(&fixture);
    assert_false(fixture_has_file(&fixture, "00000000000000000000.txnindex"));
}

TEST(nothing_is_stable_before_the_start)
{
    start(1 << 20);
    assert_int_equal(produce_in_transaction(1), 0);
    fixture_append_many(&fixture, 5, 30);
    assert_int_equal(partition_log_first_unstable_offset(fixture.log, 6), 0);
    assert_int_equal(partition_log_raise_start(fixture.log, 3), 0);
    assert_int_equal(partition_log_first_unstable_offset(fixture.log, 6), 3);
    fixture_close(&fixture);
}

TEST(a_search_that_may_not_wait_says_so)
{
    start(1 << 20);
    assert_int_equal(produce_in_transaction(1), 0);
    assert_int_equal(end_transaction(1, false), 0);
    struct log_aborted wanted = { 0, 2, SIZE_MAX, false, { 0 } };
    assert_int_equal(partition_log_aborted(fixture.log, &wanted), 0);
    assert_int_equal(wanted.list.count, 1);
    log_aborted_release(&wanted);
    assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    assert_int_equal(partition_log_aborted(fixture.log, &wanted), ERR_NEEDS_IO);
    wanted.limit = 0;
    wanted.may_block = true;
    assert_int_equal(partition_log_aborted(fixture.log, &wanted), ERR_LIMIT);
    fixture_close(&fixture);
}

TEST(a_removed_segment_takes_its_transaction_index_with_it)
{
    int64_t next_ms;
    start(400);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(produce_in_transaction(1), 0);
        assert_int_equal(end_transaction(1, false), 0);
    }
    assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    assert_true(fixture_has_file(&fixture, "00000000000000000000.txnindex"));
    assert_int_equal(partition_log_raise_start(fixture.log, 10), 0);
    assert_int_equal(partition_log_retain(fixture.log, end_offset(), FIXTURE_NOW_MS, &next_ms), 0);
    assert_false(fixture_has_file(&fixture, "00000000000000000000.txnindex"));
    assert_true(fixture_has_file(&fixture, "00000000000000000000.txnindex.deleted"));
    assert_int_equal(
        partition_log_retain(fixture.log, end_offset(), FIXTURE_NOW_MS + 3600000, &next_ms), 0);
    assert_false(fixture_has_file(&fixture, "00000000000000000000.txnindex.deleted"));
    fixture_close(&fixture);
}
