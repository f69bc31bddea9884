// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "fs_sim.h"
#include "meta_entry.h"
#include "meta_vote.h"
#include "trace.h"

#define FILE_MAX (META_VOTE_COPIES * META_VOTE_COPY_SPACING)
#define OF_BEFORE \
    (META_VOTE_COPY_SPACING + META_VOTE_COPY_SIZE) /* So long was a file of two copies. */

static char path[1024];
static char why[512];
static unsigned lines;

static void count_lines(void *context, const char *line)
{
    (void)context;
    (void)line;
    lines++;
}

static int vote_open(struct meta_vote *vote)
{
    trace_set_sink(count_lines, NULL);
    lines = 0;
    int err = meta_vote_open(vote, fs_posix(), path, why, sizeof why);
    trace_set_sink(NULL, NULL);
    return err;
}

static void new_path(void)
{
    snprintf(path, sizeof path, "%s/quorum-state", test_folder());
}

/* All bytes of the file, and back. */
static size_t file_read(uint8_t bytes[FILE_MAX])
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, FILE_MAX, file);
    fclose(file);
    return length;
}

static void file_write(const uint8_t *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

/* A file that says term 7, vote 3, then term 8, vote 4. */
static size_t two_votes(uint8_t bytes[FILE_MAX])
{
    struct meta_vote vote;
    new_path();
    assert_int_equal(vote_open(&vote), 0);
    assert_int_equal(meta_vote_store(&vote, 7, 3, 70), 0);
    assert_int_equal(meta_vote_store(&vote, 8, 4, 80), 0);
    meta_vote_close(&vote);
    return file_read(bytes);
}

TEST(a_new_file_says_that_nothing_was_ever_stored)
{
    struct meta_vote vote;
    new_path();
    assert_int_equal(vote_open(&vote), 0);
    assert_int_equal(vote.term, 0);
    assert_int_equal(vote.voted_for, META_NOBODY);
    assert_int_equal(vote.persisted_index, 0);
    meta_vote_close(&vote);
    meta_vote_close(&vote);
}

TEST(what_was_stored_comes_back)
{
    struct meta_vote vote;
    new_path();
    for (int64_t term = 1; term < 10; term++) {
        assert_int_equal(vote_open(&vote), 0);
        assert_int_equal(vote.term, term - 1);
        assert_int_equal(meta_vote_store(&vote, term, (int32_t)term % 3, term * 10), 0);
        meta_vote_close(&vote);
        assert_int_equal(vote_open(&vote), 0);
        assert_int_equal(vote.voted_for, term % 3);
        assert_int_equal(vote.persisted_index, term * 10);
        assert_int_equal(lines, 0);
        meta_vote_close(&vote);
    }
}

TEST(the_file_never_grows)
{
    uint8_t bytes[FILE_MAX];
    size_t length = two_votes(bytes);
    struct meta_vote vote;
    assert_int_equal(vote_open(&vote), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(meta_vote_store(&vote, 9 + i, 0, 0), 0);
    meta_vote_close(&vote);
    assert_int_equal(file_read(bytes), length);
}

TEST(a_damaged_copy_gives_way_to_the_other)
{
    uint8_t bytes[FILE_MAX];
    two_votes(bytes);
    for (int copy = 0; copy < 2; copy++) {
        bool is_newest = copy == 0; /* The sequence began at 2 and was raised twice. */
        for (size_t at = 0; at < META_VOTE_COPY_SIZE; at++) {
            struct meta_vote vote;
            uint8_t *byte = &bytes[(size_t)copy * META_VOTE_COPY_SPACING + at];
            *byte ^= 0x10;
            file_write(bytes, OF_BEFORE);
            *byte ^= 0x10;
            assert_int_equal(vote_open(&vote), 0);
            assert_int_equal(vote.term, is_newest ? 7 : 8);
            assert_int_equal(vote.voted_for, is_newest ? 3 : 4);
            assert_int_equal(lines, 1);
            /* It goes on from there, into the damaged copy or over the good older one. */
            assert_int_equal(meta_vote_store(&vote, 9, 5, 0), 0);
            meta_vote_close(&vote);
            assert_int_equal(vote_open(&vote), 0);
            assert_int_equal(vote.term, 9);
            meta_vote_close(&vote);
        }
    }
}

TEST(a_damaged_copy_is_known_from_the_third)
{
    uint8_t bytes[FILE_MAX];
    size_t length = two_votes(bytes);
    for (size_t copy = 0; copy < META_VOTE_COPIES; copy++) {
        struct meta_vote vote;
        uint8_t *byte = &bytes[copy * META_VOTE_COPY_SPACING + 20];
        *byte ^= 0x10;
        file_write(bytes, length);
        *byte ^= 0x10;
        for (int life = 0; life < 2; life++) { /* The second finds what the first has mended. */
            assert_int_equal(vote_open(&vote), 0);
            assert_int_equal(vote.term, 8);
            assert_int_equal(vote.voted_for, 4);
            assert_int_equal(vote.persisted_index, 80);
            meta_vote_close(&vote);
        }
        assert_int_equal(file_read(bytes), length);
        two_votes(bytes);
    }
}

TEST(what_was_noted_is_known_until_another_vote_is_stored)
{
    struct meta_vote vote;
    uint8_t bytes[FILE_MAX];
    two_votes(bytes);
    assert_int_equal(vote_open(&vote), 0);
    assert_int_equal(meta_vote_note(&vote, 95), 0);
    assert_int_equal(vote.persisted_index, 80);
    assert_int_equal(vote.noted_index, 95);
    meta_vote_close(&vote);
    assert_int_equal(vote_open(&vote), 0);
    assert_int_equal(vote.term, 8);
    assert_int_equal(vote.voted_for, 4);
    assert_int_equal(vote.persisted_index, 95);
    assert_int_equal(meta_vote_note(&vote, 99), 0);
    size_t length = file_read(bytes);
    assert_int_equal(meta_vote_store(&vote, 8, 4, 60), 0); /* A part of the log is to be removed. */
    meta_vote_close(&vote);
    /* A power cut may leave the note of before: it is the earlier vote's. */
    uint8_t note[META_VOTE_COPY_SIZE];
    memcpy(note, bytes + length - sizeof note, sizeof note);
    assert_int_equal(file_read(bytes), length);
    memcpy(bytes + length - sizeof note, note, sizeof note);
    file_write(bytes, length);
    assert_int_equal(vote_open(&vote), 0);
    assert_int_equal(vote.persisted_index, 60);
    meta_vote_close(&vote);
}

TEST(a_file_of_two_copies_gets_the_third)
{
    struct meta_vote vote;
    uint8_t bytes[FILE_MAX];
    two_votes(bytes);
    file_write(bytes, OF_BEFORE);
    assert_int_equal(vote_open(&vote), 0);
    assert_int_equal(lines, 0);
    assert_int_equal(vote.persisted_index, 80);
    assert_int_equal(meta_vote_note(&vote, 81), 0);
    meta_vote_close(&vote);
    assert_int_equal(vote_open(&vote), 0);
    assert_int_equal(lines, 0);
    assert_int_equal(vote.persisted_index, 81);
    meta_vote_close(&vote);
}

TEST(a_write_that_was_cut_short_leaves_the_vote_before)
{
    uint8_t before[FILE_MAX], after[FILE_MAX];
    struct meta_vote vote;
    size_t length = two_votes(before);
    assert_int_equal(vote_open(&vote), 0);
    assert_int_equal(meta_vote_store(&vote, 9, 5, 90), 0);
    meta_vote_close(&vote);
    assert_int_equal(file_read(after), length);
    for (size_t written = 0; written <= META_VOTE_COPY_SIZE; written++) {
        uint8_t torn[FILE_MAX];
        memcpy(torn, before, length);
        memcpy(torn + META_VOTE_COPY_SPACING, after + META_VOTE_COPY_SPACING, written);
        file_write(torn, length);
        assert_int_equal(vote_open(&vote), 0);
        assert_true(vote.term == 8 || (vote.term == 9 && vote.voted_for == 5));
        if (written == META_VOTE_COPY_SIZE) assert_int_equal(vote.term, 9);
        meta_vote_close(&vote);
    }
}

/* A sync that failed may have left the vote in the page cache, where the next life finds it. */
TEST(what_was_found_outlives_a_loss_of_power)
{
    static const char file[] = "/disk/quorum-state";
    struct fs_sim_fault fault = { .calls = FS_SIM_SYNC, .nth = 1, .error = ERR_IO };
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct fs_sim *disk = fs_sim_open(&(struct fs_sim_options){ .seed = seed });
        struct fs *fs = fs_sim_fs(disk);
        struct meta_vote vote;
        assert_int_equal(fs->make_folder(fs, "/disk"), 0);
        assert_int_equal(fs->sync_folder(fs, "/"), 0);
        assert_int_equal(meta_vote_open(&vote, fs, file, why, sizeof why), 0);
        assert_int_equal(meta_vote_store(&vote, 5, 1, 0), 0);
        fs_sim_fail(disk, &fault);
        assert_int_equal(meta_vote_store(&vote, 6, 2, 0), ERR_IO);
        fs_sim_fail(disk, NULL);
        fs_sim_kill(disk);
        meta_vote_close(&vote);
        fs_sim_restart(disk);
        assert_int_equal(meta_vote_open(&vote, fs, file, why, sizeof why), 0);
        int64_t term = vote.term;
        fs_sim_cut_power(disk);
        meta_vote_close(&vote);
        fs_sim_restart(disk);
        assert_int_equal(meta_vote_open(&vote, fs, file, why, sizeof why), 0);
        assert_int_equal(vote.term, term);
        meta_vote_close(&vote);
        fs_sim_close(disk);
    }
}

TEST(two_damaged_copies_are_refused_with_a_sentence)
{
    uint8_t bytes[FILE_MAX];
    struct meta_vote vote;
    size_t length = two_votes(bytes);
    bytes[20] ^= 1;
    bytes[META_VOTE_COPY_SPACING + 30] ^= 1;
    file_write(bytes, length);
    assert_int_equal(vote_open(&vote), ERR_CORRUPT_MESSAGE);
    assert_non_null(strstr(why, "both copies"));
    file_write(bytes, 0); /* Emptied by somebody. */
    assert_int_equal(vote_open(&vote), ERR_CORRUPT_MESSAGE);
    meta_vote_close(&vote);
}

TEST(copies_in_each_others_places_are_refused)
{
    uint8_t bytes[FILE_MAX], swapped[FILE_MAX] = { 0 };
    struct meta_vote vote;
    size_t length = two_votes(bytes);
    memcpy(swapped, bytes + META_VOTE_COPY_SPACING, META_VOTE_COPY_SIZE);
    memcpy(swapped + META_VOTE_COPY_SPACING, bytes, META_VOTE_COPY_SIZE);
    file_write(swapped, length);
    assert_int_equal(vote_open(&vote), ERR_CORRUPT_MESSAGE);
}
