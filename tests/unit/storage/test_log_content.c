// SPDX-License-Identifier: Apache-2.0
/* What lies in a log's folder that does not belong there. */

#include <stdio.h>
#include <sys/stat.h>

#include "buffer.h"
#include "error.h"
#include "log_fixture.h"
#include "record_batch.h"

static struct log_fixture fixture;

/* Of two producers, one of which aborts a transaction, in two epochs, with everything that a log may have beside
 * its data. */
static void start_with_all_files(void)
{
    fixture_start(&fixture);
    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(fixture_append_as(&fixture,
                                           &(struct batch_spec){ .producer_id = 7,
                                                                 .base_sequence = i,
                                                                 .timestamp = FIXTURE_NOW_MS + i },
                                           i),
                         0);
    assert_int_equal(fixture_append_as(&fixture,
                                       &(struct batch_spec){ .producer_id = 8,
                                                             .attributes = BATCH_TRANSACTIONAL },
                                       2),
                     0);
    assert_int_equal(fixture_append_marker(&fixture, &(struct marker_spec){ .producer_id = 8 }), 0);
    assert_int_equal(partition_log_checkpoint(fixture.log), 0);
    assert_int_equal(data_dir_write_checkpoints(fixture.dir), 0);
    fixture_kill_only(&fixture);
}

static void assert_all_is_known(void)
{
    struct log_aborted wanted = { .below_offset = 5, .limit = 10, .may_block = true };
    struct batch_spec newest = { .producer_id = 7,
                                 .base_sequence = 2,
                                 .timestamp = FIXTURE_NOW_MS + 2 };

    assert_int_equal(partition_log_end_offset(fixture.log), 5);
    assert_int_equal(fixture_read_all(&fixture, 1 << 20, NULL), 5);
    for (int64_t offset = 0; offset < 3; offset++)
        assert_int_equal(partition_log_epoch_of(fixture.log, offset), offset);
    assert_int_equal(partition_log_aborted(fixture.log, &wanted), 0);
    assert_int_equal(wanted.list.count, 1);
    log_aborted_release(&wanted);
    assert_int_equal(partition_log_first_unstable_offset(fixture.log, INT64_MAX), -1);
    assert_int_equal(fixture_append_as(&fixture, &newest, 2), 0);
    assert_int_equal(partition_log_end_offset(fixture.log), 5); /* It repeats. */
}

TEST(a_folder_or_a_pipe_in_the_place_of_what_can_be_had_again_is_set_aside)
{
    static const char *const names[] = {
        "00000000000000000000.index",
        "00000000000000000000.timeindex",
        "00000000000000000000.txnindex",
        "00000000000000000005.snapshot",
        "producer-batches",
        "producer-batches.tmp",
        "leader-epoch-checkpoint",
        "leader-epoch-checkpoint.tmp",
    };

    for (size_t i = 0; i < 2 * sizeof names / sizeof names[0]; i++) {
        char path[PATH_MAX], aside[300];
        const char *name = names[i / 2];
        start_with_all_files();
        fixture_file(&fixture, name, path);
        remove(path);
        assert_int_equal(i % 2 == 0 ? mkdir(path, 0755) : mkfifo(path, 0644), 0);
        fixture_reopen(&fixture);
        assert_all_is_known();
        snprintf(aside, sizeof aside, "%s.set-aside.1", name);
        assert_true(fixture_has_file(&fixture, aside));
        fixture_stop(&fixture); /* And what was missing is there again. */
        fixture_reopen(&fixture);
        assert_all_is_known();
        assert_true(fixture_has_file(&fixture, aside));
        fixture_close(&fixture);
    }
}

TEST(what_is_set_aside_does_not_take_the_place_of_what_was_before)
{
    char path[PATH_MAX];

    start_with_all_files();
    for (int turn = 0; turn < 2; turn++) {
        fixture_file(&fixture, "producer-batches", path);
        remove(path);
        assert_int_equal(mkdir(path, 0755), 0);
        fixture_reopen(&fixture);
        fixture_kill_only(&fixture);
    }
    assert_true(fixture_has_file(&fixture, "producer-batches.set-aside.1"));
    assert_true(fixture_has_file(&fixture, "producer-batches.set-aside.2"));
}

TEST(what_is_named_by_an_offset_that_no_log_can_have_is_set_aside)
{
    static const char *const names[] = {
        "09223372036854775807.log",       "04611686018427387904.log",
        "99999999999999999999.log",       "09223372036854775807.index",
        "09223372036854775807.timeindex", "09223372036854775807.txnindex",
        "09223372036854775807.snapshot",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char aside[300];
        struct buffer segment;
        start_with_all_files();
        buffer_init(&segment);
        fixture_load_file(&fixture, "00000000000000000000.log", &segment);
        fixture_save_file(&fixture, names[i], segment.data, segment.length);
        buffer_close(&segment);
        fixture_reopen(&fixture);
        assert_all_is_known();
        snprintf(aside, sizeof aside, "%s.set-aside.1", names[i]);
        assert_true(fixture_has_file(&fixture, aside));
        assert_false(fixture_has_file(&fixture, names[i]));
        fixture_close(&fixture);
    }
}

/* Of a segment that is no more, of one that is below the start, and of one that then is built again. */
TEST(an_index_that_was_being_built_is_there_or_gone_after_the_next_start)
{
    for (int64_t start = 0; start <= 5; start += 5) {
        start_with_all_files();
        fixture_save_file(&fixture, "00000000000000000003.txnindex.tmp", "", 0);
        fixture_reopen(&fixture);
        fixture_append_many(&fixture, 1, 10);
        fixture.settings.segment_bytes = 200;
        partition_log_set_settings(fixture.log, &fixture.settings);
        fixture_append_many(&fixture, 2, 100);
        assert_int_equal(partition_log_raise_start(fixture.log, start + start / 5), 0);
        fixture_stop(&fixture);
        fixture_save_file(&fixture, "00000000000000000000.txnindex.tmp", "", 0);
        fixture_save_file(&fixture, "leader-epoch-checkpoint.tmp", "", 0);
        fixture_reopen(&fixture);
        assert_false(fixture_has_file(&fixture, "00000000000000000000.txnindex.tmp"));
        assert_false(fixture_has_file(&fixture, "00000000000000000003.txnindex.tmp"));
        assert_false(fixture_has_file(&fixture, "leader-epoch-checkpoint.tmp"));
        fixture_close(&fixture);
    }
}
