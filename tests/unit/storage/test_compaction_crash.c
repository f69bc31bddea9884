// SPDX-License-Identifier: Apache-2.0
/* A pass of compaction that a power cut, a kill or a failing disk ends at any of its changes to the disk:
 * of each key the last record is there afterwards, no record twice, none that never was; and the next pass
 * comes to the same end as one that nothing disturbed. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "compaction_fixture.h"
#include "error.h"
#include "fs_sim.h"

#define SEGMENTS 7
#define BATCHES  4 /* Of a segment. */
#define KEYS     6

static struct log_fixture fixture;
static struct fs_sim *sim;
static char before[8192],
    after[8192]; /* The log's text: all that was appended, and what should stay. */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void use_disk(struct fs_sim *disk)
{
    sim = disk;
    fixture_init(&fixture, "/d");
    fixture.disk.real = fs_sim_fs(sim);
    fixture.disk.syncs_indeed = true;
    fixture.settings.segment_bytes = 1000; /* Several groups. */
    fixture.settings.delete_retention_ms = 1000;
}

/* A log whose closed segments hold a few keys again and again, also of an aborted transaction. */
static void fill(uint64_t seed)
{
    uint64_t random = seed * 2 + 1;
    int32_t sequence = 0;

    for (int i = 0; i < SEGMENTS; i++) {
        compaction_roll(&fixture);
        for (int j = 0; j < BATCHES; j++) {
            char records[64];
            struct batch_spec spec = { .attributes = (int16_t)(next_random(&random) % 5) };
            unsigned a = (unsigned)(next_random(&random) % KEYS);
            unsigned b = (unsigned)(next_random(&random) % KEYS);
            snprintf(records, sizeof records,
                     next_random(&random) % 8 == 0 ? "k%u=%d k%u" : "k%u=%d k%u=x", a,
                     i * BATCHES + j, b);
            bool is_transaction = next_random(&random) % 6 == 0;
            if (is_transaction) {
                spec.producer_id = 9;
                spec.base_sequence = sequence;
                spec.attributes |= BATCH_TRANSACTIONAL;
                sequence += 2;
            }
            compaction_append_as(&fixture, records, &spec);
            if (is_transaction)
                compaction_append_marker(&fixture, 9, next_random(&random) % 2 == 0);
        }
    }
}

static struct fs_sim *make_disk(uint64_t seed)
{
    use_disk(fs_sim_open(&(struct fs_sim_options){ .seed = seed }));
    struct fs *fs = fs_sim_fs(sim);
    assert_int_equal(fs->make_folder(fs, "/d"), 0);
    assert_int_equal(fs->sync_folder(fs, "/"), 0);
    assert_int_equal(fixture_open(&fixture), 0);
    fill(seed);
    snprintf(before, sizeof before, "%s", compaction_text(&fixture));
    fixture_stop(&fixture);
    return sim;
}

static void close_all(void)
{
    if (fixture.log != NULL) fixture_close(&fixture);
}

/* Where a word is in a text, as a whole word; NULL: it is not. */
static const char *find_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *found = strstr(text, word); found != NULL; found = strstr(found + 1, word))
        if ((found == text || found[-1] == ' ') && (found[length] == ' ' || found[length] == '\0'))
            return found;
    return NULL;
}

/* Are the words of a text those of another, in its order, perhaps not all? */
static bool is_part(const char *part, const char *whole)
{
    static char copy[8192];
    snprintf(copy, sizeof copy, "%s", part);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        if (word[0] == '[') continue; /* A batch that was emptied is no record. */
        const char *found = find_word(whole, word);
        if (found == NULL) return false;
        whole = found + strlen(word);
    }
    return true;
}

static void assert_part_of(const char *part, const char *whole)
{
    if (!is_part(part, whole)) fail_msg("%s\n is not in\n%s", part, whole);
}

/* What must be true after any end of a pass. */
static void check(void)
{
    static char found[8192];

    snprintf(found, sizeof found, "%s", compaction_text(&fixture));
    assert_part_of(found, before);
    assert_part_of(after, found);
    compaction_run(&fixture);
    snprintf(found, sizeof found, "%s", compaction_text(&fixture));
    assert_part_of(found, after);
    assert_part_of(after, found);
}

/* The undisturbed pass. Returns how many changes of the disk it takes. */
static long measure(struct fs_sim *disk, uint64_t seed)
{
    use_disk(fs_sim_copy(disk, seed));
    fixture_reopen(&fixture);
    long changes = fs_sim_changes(sim);
    compaction_run(&fixture);
    changes = fs_sim_changes(sim) - changes;
    snprintf(after, sizeof after, "%s", compaction_text(&fixture));
    assert_true(strlen(after) < strlen(before));
    fixture_close(&fixture);
    fs_sim_close(sim);
    return changes;
}

static void power_cut_at(struct fs_sim *disk, uint64_t seed, long nth)
{
    use_disk(fs_sim_copy(disk, seed));
    fixture_reopen(&fixture);
    fs_sim_cut_power_at(sim, nth);
    struct compaction_options options = compaction_plain(&fixture);
    (void)compaction_pass(&fixture, &options, NULL);
    if (!fs_sim_is_off(sim)) fs_sim_cut_power(sim);
    close_all();
    fs_sim_restart(sim);
    assert_int_equal(fixture_open(&fixture), 0);
    check();
    fixture_close(&fixture);
    assert_int_equal(fs_sim_misuses(sim), 0);
    fs_sim_close(sim);
}

TEST(a_power_cut_at_any_moment_of_a_pass_loses_nothing)
{
    uint64_t first = test_seed() % 1000000;
    for (uint64_t seed = first; seed < first + 3; seed++) {
        struct fs_sim *disk = make_disk(seed);
        long changes = measure(disk, seed);
        assert_true(changes > 50);
        for (long nth = 1; nth <= changes + 1; nth++)
            power_cut_at(disk, seed * 1000 + (uint64_t)nth, nth);
        fs_sim_close(disk);
    }
}

/* The next life completes what it finds, and the power goes again meanwhile. */
TEST(a_power_cut_while_the_log_opens_after_one_loses_nothing)
{
    uint64_t seed = test_seed() % 1000000;
    struct fs_sim *disk = make_disk(seed);
    long changes = measure(disk, seed);
    for (long nth = 1; nth <= changes; nth += 2) {
        bool has_opened = false;
        use_disk(fs_sim_copy(disk, seed * 1000 + (uint64_t)nth));
        fixture_reopen(&fixture);
        fs_sim_cut_power_at(sim, nth);
        struct compaction_options options = compaction_plain(&fixture);
        (void)compaction_pass(&fixture, &options, NULL);
        close_all();
        fs_sim_restart(sim);
        for (long again = 1; !has_opened; again++) {
            fs_sim_cut_power_at(sim, again);
            has_opened = fixture_open(&fixture) == 0;
            fs_sim_cut_power_at(sim, 0);
            if (!has_opened) fs_sim_restart(sim);
        }
        check();
        fixture_close(&fixture);
        fs_sim_close(sim);
    }
    fs_sim_close(disk);
}

/* Calls on the disk since names were last durable. */
static unsigned names_open;
static unsigned renames_of_cleaned;

static void look_at_names(void *context, const struct fs_sim_event *event)
{
    (void)context;
    bool is_cleaned = text_ends_with(event->path, ".cleaned");
    if (event->call == FS_SIM_CREATE && is_cleaned) names_open++;
    if (event->call == FS_SIM_SYNC_FOLDER) names_open = 0;
    if (event->call != FS_SIM_RENAME || !is_cleaned) return;
    renames_of_cleaned++;
    if (names_open != 0) fail_msg("%s is renamed before all its parts have a name", event->path);
}

/* A disk may bring a later name to safety before an earlier one. */
TEST(the_parts_of_a_new_segment_are_there_before_the_first_is_renamed)
{
    struct fs_sim *disk = make_disk(81);
    use_disk(fs_sim_copy(disk, 81));
    fixture_reopen(&fixture);
    names_open = renames_of_cleaned = 0;
    fs_sim_set_hook(sim, look_at_names, NULL);
    compaction_run(&fixture);
    fs_sim_set_hook(sim, NULL, NULL);
    assert_true(renames_of_cleaned >= 4);
    fixture_close(&fixture);
    fs_sim_close(sim);
    fs_sim_close(disk);
}

static long changes_left;

static void kill_when_due(void *context, const struct fs_sim_event *event)
{
    (void)context;
    if ((event->call & FS_SIM_CHANGES) && --changes_left == 0) fs_sim_kill(sim);
}

TEST(a_kill_at_any_moment_of_a_pass_loses_nothing)
{
    struct fs_sim *disk = make_disk(31);
    long changes = measure(disk, 31);
    for (long nth = 1; nth <= changes; nth++) {
        use_disk(fs_sim_copy(disk, (uint64_t)nth));
        fixture_reopen(&fixture);
        changes_left = nth;
        fs_sim_set_hook(sim, kill_when_due, NULL);
        struct compaction_options options = compaction_plain(&fixture);
        (void)compaction_pass(&fixture, &options, NULL);
        close_all();
        fs_sim_set_hook(sim, NULL, NULL);
        fs_sim_restart(sim);
        assert_int_equal(fixture_open(&fixture), 0);
        check();
        fixture_close(&fixture);
        fs_sim_close(sim);
    }
    fs_sim_close(disk);
}

static void fail_at(struct fs_sim *disk, long nth, int error)
{
    use_disk(fs_sim_copy(disk, (uint64_t)nth));
    fixture_reopen(&fixture);
    struct fs_sim_fault fault = { .calls = FS_SIM_CHANGES, .nth = nth, .error = error };
    fs_sim_fail(sim, &fault);
    struct compaction_options options = compaction_plain(&fixture);
    int err = compaction_pass(&fixture, &options, NULL);
    fs_sim_fail(sim, NULL);
    if (partition_log_failed(fixture.log) != 0) {
        assert_int_not_equal(err, 0);
        fs_sim_cut_power(sim);
        close_all();
        fs_sim_restart(sim);
        assert_int_equal(fixture_open(&fixture), 0);
    }
    check();
    fixture_close(&fixture);
    fs_sim_close(sim);
}

TEST(a_disk_that_fails_at_any_moment_of_a_pass_loses_nothing)
{
    struct fs_sim *disk = make_disk(41);
    long changes = measure(disk, 41);
    for (long nth = 1; nth <= changes; nth++) {
        fail_at(disk, nth, ERR_IO);
        fail_at(disk, nth, ERR_NO_SPACE);
    }
    fs_sim_close(disk);
}

TEST(a_disk_without_room_for_a_pass_keeps_the_log_in_use)
{
    struct fs_sim *disk = make_disk(51);
    measure(disk, 51);
    use_disk(fs_sim_copy(disk, 51));
    fixture_reopen(&fixture);
    struct compaction_options options = compaction_plain(&fixture);
    struct fs_sim_fault fault = { .calls = FS_SIM_WRITE,
                                  .suffix = ".cleaned",
                                  .nth = 1,
                                  .keeps_failing = true,
                                  .error = ERR_NO_SPACE };
    fs_sim_fail(sim, &fault);
    assert_int_equal(compaction_pass(&fixture, &options, NULL), ERR_NO_SPACE);
    assert_int_equal(partition_log_failed(fixture.log), 0);
    compaction_append(&fixture, "k1=last");
    fs_sim_fail(sim, NULL);
    fixture_close(&fixture);
    fs_sim_close(sim);
    fs_sim_close(disk);
}

/* Segments that lie over each other cannot: a pass looks at each for itself. */
static bool can_be_read(void)
{
    int64_t end = partition_log_end_offset(fixture.log);
    int err = 0;

    for (int64_t offset = 0; offset < end && err == 0;) {
        struct log_read read = { .from_offset = offset,
                                 .below_offset = INT64_MAX,
                                 .max_bytes = 300,
                                 .at_least_one = true,
                                 .may_block = true };
        err = partition_log_read(fixture.log, &read);
        if (err == 0) file_slice_release(&read.slice);
        if (err == 0 && read.next_offset <= offset) err = ERR_NOT_FOUND;
        offset = read.next_offset;
    }
    return err == 0;
}

/* Of all power cuts in a pass, how many lose something if these syncs only say that they were done? */
static unsigned count_losses(unsigned calls, const char *suffix)
{
    unsigned losses = 0;
    struct fs_sim *disk = make_disk(61);
    long changes = measure(disk, 61);
    for (long nth = 1; nth <= changes + 1; nth++) {
        use_disk(fs_sim_copy(disk, (uint64_t)nth));
        fixture_reopen(&fixture);
        fs_sim_ignore(sim, calls, suffix);
        fs_sim_cut_power_at(sim, nth);
        struct compaction_options options = compaction_plain(&fixture);
        (void)compaction_pass(&fixture, &options, NULL);
        if (!fs_sim_is_off(sim)) fs_sim_cut_power(sim);
        close_all();
        fs_sim_restart(sim);
        if (fixture_open(&fixture) != 0) {
            losses++;
        } else {
            options = compaction_plain(&fixture);
            /* A pass checks every batch. */
            if (compaction_pass(&fixture, &options, NULL) != 0 || !can_be_read() ||
                !is_part(after, compaction_text(&fixture)))
                losses++;
            fixture_close(&fixture);
        }
        fs_sim_close(sim);
    }
    fs_sim_close(disk);
    return losses;
}

/* The gates of the tests above: a disk that only says that it synced is found out. */
TEST(a_pass_that_did_not_sync_would_be_found_out)
{
    assert_int_equal(count_losses(0, ""), 0);
    assert_true(count_losses(FS_SIM_SYNC, ".log.cleaned") > 0);
}

TEST(a_pass_that_did_not_sync_the_names_would_be_found_out)
{
    assert_true(count_losses(FS_SIM_SYNC_FOLDER, "orders-0") > 0);
}
