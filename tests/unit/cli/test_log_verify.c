// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "bytes.h"
#include "crc32c.h"
#include "error.h"
#include "log_tool_fixture.h"

static struct tool tool;

/* That one thing is wrong, and what: the line has the words. */
static void assert_one_finding(const char *file, const char *what)
{
    uint64_t findings = 0;
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    if (findings != 1 || tool_count(&tool, what) != 1 || tool_count(&tool, file) != 1)
        fail_msg("expected one finding, '%s' in %s, not:\n%s", what, file, tool.said);
    tool_end(&tool);
}

static void assert_fine(void)
{
    uint64_t findings = 0;
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    if (findings != 0) fail_msg("expected no finding, not:\n%s", tool.said);
}

TEST(nothing_is_wrong_with_kafkas_own_folder)
{
    tool_start(&tool);
    assert_fine();
    assert_int_equal(tool_count(&tool, "segments=3 batches=14 records=45"), 1);
    tool_end(&tool);
}

TEST(a_partitions_folder_is_looked_at_by_itself)
{
    uint64_t findings = 0;
    tool_start(&tool);
    assert_int_equal(tool_verify(&tool, "orders-0", &findings), 0);
    assert_int_equal(findings, 0);
    assert_int_equal(tool_count(&tool, "partitions=1"), 1);
    tool_end(&tool);
}

TEST(a_wrong_crc_is_found)
{
    tool_start(&tool);
    tool_flip(&tool, FIRST_LOG, 124 + 70, 1);
    assert_one_finding(FIRST_LOG " position=124 offset=3", "the CRC of this batch is wrong");
}

TEST(bytes_between_batches_are_found)
{
    uint64_t findings = 0;
    tool_start(&tool);
    tool_flip(&tool, FIRST_LOG, 124 + 16, 0x40); /* Magic. */
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(tool_count(&tool, "position=124 offset=3 what=124 bytes are no batch"), 1);
    assert_int_equal(tool_count(&tool, "where no batch begins"), 1); /* The index knew it. */
    tool_end(&tool);
}

TEST(a_tail_that_was_cut_is_found)
{
    uint64_t findings = 0;
    tool_start(&tool);
    tool_cut(&tool, LAST_LOG, 300);
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(tool_count(&tool, "bytes are no whole batch"), 1);
    assert_int_equal(tool_count(&tool, "its end is lost"), 1);
    tool_end(&tool);
}

TEST(a_tail_that_is_being_written_is_no_finding)
{
    char path[PATH_MAX];
    int fd = -1;
    tool_start(&tool);
    tool_cut(&tool, LAST_LOG, 300);
    tool_cut(&tool, "orders-0/00000000000000000024.index", 0);
    tool_cut(&tool, "orders-0/00000000000000000024.timeindex", 0);
    assert_int_equal(fs_path(path, "%s/.lock", tool.data), 0);
    assert_int_equal(fs_posix()->open(fs_posix(), path, FS_CREATE, &fd), 0);
    assert_int_equal(fs_posix()->lock(fs_posix(), fd), 0);
    assert_fine();
    fs_posix()->close(fs_posix(), fd);
    tool_end(&tool);
}

TEST(a_batch_that_is_missing_is_found)
{
    uint64_t findings = 0;
    uint8_t base[8];
    tool_start(&tool);
    store_i64(base, 10);
    tool_store(&tool, FIRST_LOG, 372, base, sizeof base); /* Was 9: the CRC does not cover it. */
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(tool_count(&tool, "offsets from 9 on are missing"), 1);
    assert_int_equal(tool_count(&tool, "offsets do not ascend"), 1);
    tool_end(&tool);
}

TEST(what_compaction_took_is_not_missing)
{
    uint64_t findings = 0;
    tool_start(&tool);
    tool_remove(&tool, SECOND_LOG);
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(tool_count(&tool, "no checkpoint tells of a compaction"), 1);
    tool_write(&tool, "cleaner-offset-checkpoint", "0\n1\norders 0 24\n");
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(tool_count(&tool, "no checkpoint tells of a compaction"), 0);
    tool_end(&tool);
}

TEST(an_index_entry_of_another_batch_is_found)
{
    tool_start(&tool);
    tool_flip(&tool, "orders-0/00000000000000000000.index", 8 + 3, 1); /* 8 becomes 9. */
    assert_one_finding(".index position=8 offset=9", "a batch that ends at offset 8");
}

TEST(an_index_entry_between_batches_is_found)
{
    tool_start(&tool);
    tool_flip(&tool, "orders-0/00000000000000000000.index", 8 + 7, 1);
    assert_one_finding(".index position=8 offset=8", "position 249, where no batch begins");
}

TEST(an_index_behind_the_end_is_found)
{
    uint64_t findings = 0;
    static const uint8_t entry[] = { 0, 0, 0, 90, 0, 0, 60, 0 };
    tool_start(&tool);
    tool_store(&tool, "orders-0/00000000000000000000.index", 32, entry, sizeof entry);
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(findings, 1);
    assert_int_equal(tool_count(&tool, "position=32 offset=90"), 1);
    tool_end(&tool);
}

TEST(a_wrong_time_is_found)
{
    tool_start(&tool);
    tool_flip(&tool, "orders-0/00000000000000000000.timeindex", 7, 1);
    assert_one_finding(".timeindex position=0 offset=5", "but that batch has 1700000001002");
}

TEST(a_missing_index_is_found)
{
    tool_start(&tool);
    tool_remove(&tool, "orders-0/00000000000000000018.index");
    assert_one_finding("00000000000000000018.index", "no offset index");
}

TEST(an_index_without_its_log_is_found)
{
    tool_start(&tool);
    tool_write(&tool, "orders-0/00000000000000000031.timeindex", "");
    assert_one_finding("00000000000000000031.timeindex", "whose .log is not here");
}

TEST(a_damaged_snapshot_is_found)
{
    tool_start(&tool);
    tool_flip(&tool, "orders-0/00000000000000000024.snapshot", 20, 1);
    assert_one_finding("00000000000000000024.snapshot", "CRC of the snapshot is wrong");
}

TEST(a_snapshot_that_does_not_fit_the_log_is_found)
{
    uint8_t bytes[10 + 46];
    char path[PATH_MAX];
    tool_start(&tool);
    assert_int_equal(fs_path(path, "%s/orders-0/00000000000000000018.snapshot", tool.data), 0);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    fclose(file);
    store_i32(bytes + 10 + 10, load_i32(bytes + 10 + 10) + 1);
    store_i32(bytes + 2, (int32_t)crc32c(bytes + 6, sizeof bytes - 6));
    tool_store(&tool, "orders-0/00000000000000000018.snapshot", 0, bytes, sizeof bytes);
    assert_one_finding("00000000000000000018.snapshot", "producer 4711: last sequence 6");
}

TEST(an_abort_that_is_none_is_found)
{
    tool_start(&tool);
    tool_flip(&tool, "orders-0/00000000000000000018.txnindex", 9, 1); /* 9000 becomes 9001. */
    assert_one_finding("00000000000000000018.txnindex position=0",
                       "no transaction of producer 900");
}

TEST(epochs_that_do_not_fit_the_log_are_found)
{
    uint64_t findings = 0;
    tool_start(&tool);
    tool_write(&tool, "orders-0/leader-epoch-checkpoint", "0\n1\n7 4\n");
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_true(findings >= 1);
    assert_int_equal(tool_count(&tool, "leader epoch 0, but leader-epoch-checkpoint says 7"), 1);
    tool_write(&tool, "orders-0/leader-epoch-checkpoint", "0\n3\n7 4\n");
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(findings, 1);
    assert_int_equal(tool_count(&tool, "no list of ascending epochs"), 1);
    tool_end(&tool);
}

TEST(checkpoints_ahead_of_the_log_are_found)
{
    tool_start(&tool);
    tool_write(&tool, "recovery-point-offset-checkpoint", "0\n1\norders 0 46\n");
    assert_one_finding("recovery-point-offset-checkpoint", "its end is lost");
    tool_start(&tool);
    tool_write(&tool, "replication-offset-checkpoint", "0\n2\norders 0 45\nelsewhere 1 3\n");
    assert_one_finding("replication-offset-checkpoint", "its partition is not here");
    tool_start(&tool);
    tool_write(&tool, "log-start-offset-checkpoint", "0\n1\n");
    uint64_t findings = 0;
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(tool_count(&tool, "is no checkpoint"), 1);
    tool_end(&tool);
}

/* A running Kafka has thousands of them when a topic is cleaned or shortened: no finding, and not a line each. */
TEST(leftovers_are_told_in_one_line_and_are_no_finding)
{
    tool_start(&tool);
    tool_write(&tool, "orders-0/00000000000000000005.log.cleaned", "");
    assert_fine();
    assert_int_equal(tool_count(&tool, "00000000000000000005.log.cleaned"), 1);
    tool_write(&tool, "orders-0/00000000000000000006.log.deleted", "");
    tool_write(&tool, "orders-0/00000000000000000006.index.deleted", "");
    assert_fine();
    assert_int_equal(tool_count(&tool, "3 files are left over"), 1);
    tool_end(&tool);
}

TEST(a_segment_of_which_cleaning_left_nothing_is_no_finding)
{
    uint64_t findings = 0;
    tool_start(&tool);
    tool_write(&tool, "orders-0/00000000000000000001.log", "");
    tool_write(&tool, "orders-0/00000000000000000001.index", "");
    tool_write(&tool, "orders-0/00000000000000000001.timeindex", "");
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(tool_count(&tool, "the segment is empty, and others follow"), 1);
    tool_write(&tool, "cleaner-offset-checkpoint", "0\n1\norders 0 24\n");
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(tool_count(&tool, "the segment is empty, and others follow"), 0);
    tool_end(&tool);
}

static void leave_mark(const char *text)
{
    tool_write(&tool, ".kafka_cleanshutdown", text);
}

/* As a start does: it would check the logs as after a kill. */
TEST(a_mark_of_a_clean_stop_with_other_recovery_points_is_told)
{
    static const char notice[] = "it is not the one that the last clean stop left";
    char text[128];
    static const char points[] = "0\n1\norders 0 45\n";
    tool_start(&tool);
    snprintf(text, sizeof text, "{\"version\":0,\"brokerEpoch\":1,\"recoveryPointsCrc\":\"%08x\"}",
             (unsigned)crc32c(points, sizeof points - 1));
    tool_write(&tool, "recovery-point-offset-checkpoint", points);
    leave_mark(text);
    assert_fine();
    assert_int_equal(tool_count(&tool, notice), 0);
    tool_write(&tool, "recovery-point-offset-checkpoint", "0\n1\norders 0 44\n");
    assert_fine();
    assert_int_equal(tool_count(&tool, notice), 1);
    leave_mark("{\"version\":0,\"brokerEpoch\":1}"); /* Kafka's goes with any. */
    assert_fine();
    assert_int_equal(tool_count(&tool, notice), 0);
    tool_end(&tool);
}

/* What the next checkpoint would bring may be missing then, here all three epochs. */
TEST(a_mark_of_a_clean_stop_proves_nothing_of_logs_with_other_recovery_points)
{
    uint64_t findings = 0;
    tool_start(&tool);
    tool_write(&tool, "recovery-point-offset-checkpoint", "0\n1\norders 0 0\n");
    tool_write(&tool, "orders-0/leader-epoch-checkpoint", "0\n0\n");
    leave_mark("{\"version\":0,\"brokerEpoch\":1}");
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(findings, 3);
    leave_mark("{\"version\":0,\"brokerEpoch\":1,\"recoveryPointsCrc\":\"00000001\"}");
    assert_fine();
    tool_end(&tool);
}

/* Its folder alone, without the checkpoint that would tell. */
TEST(an_empty_segment_is_no_finding_where_the_operator_knows_of_a_compaction)
{
    struct log_verify how = { .gaps_are_fine = true };
    tool_start(&tool);
    tool_write(&tool, "orders-0/00000000000000000001.log", "");
    assert_int_equal(tool_verify_as(&tool, "orders-0", &how), 0);
    assert_int_equal(tool_count(&tool, "the segment is empty, and others follow"), 0);
    tool_end(&tool);
}

/* A large folder takes minutes, and who waits for them sees what was found so far. */
TEST(a_finding_is_out_before_the_rest_is_looked_at)
{
    uint64_t findings = 0;
    tool_start(&tool);
    tool_remove(&tool, "orders-0/00000000000000000018.index");
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(findings, 1);
    assert_true(tool.flushed > 0);
    tool_write(&tool, "orders-0/00000000000000000018.index", "");
    tool_write(&tool, "orders-0/00000000000000000005.log.deleted", "");
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(findings, 0);
    assert_true(tool.flushed > 0); /* A note. */
    tool_end(&tool);
}

/* A file with a hole of a terabyte, say. */
TEST(what_is_longer_than_any_segment_is_not_read_to_its_end)
{
    uint64_t findings = 0;
    tool_start(&tool);
    tool_cut(&tool, "orders-0/00000000000000000024.index", (long)1 << 40);
    tool_cut(&tool, "orders-0/00000000000000000024.timeindex", (long)1 << 40);
    tool_cut(&tool, "orders-0/00000000000000000018.txnindex", (long)1 << 40);
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    assert_int_equal(findings, 3);
    assert_int_equal(tool_count(&tool, "the rest is not looked at"), 3);
    /* As many entries as 64 MiB hold, of 8, of 12 and of 34 bytes. */
    assert_int_equal(tool_count(&tool, "position=67108864 "), 1);
    assert_int_equal(tool_count(&tool, "position=67108860 "), 2);
    tool_end(&tool);
}

TEST(epochs_in_front_of_all_that_are_known_are_no_finding)
{
    tool_start(&tool);
    tool_write(&tool, "orders-0/leader-epoch-checkpoint", "0\n1\n3 24\n");
    assert_fine();
    tool_end(&tool);
}

TEST(what_is_no_log_is_not_looked_at)
{
    uint64_t findings = 0;
    tool_start(&tool);
    assert_int_equal(tool_verify(&tool, test_folder(), &findings), ERR_MALFORMED);
    assert_int_equal(tool_verify(&tool, "/nowhere/at/all", &findings), ERR_NOT_FOUND);
    tool_end(&tool);
}
