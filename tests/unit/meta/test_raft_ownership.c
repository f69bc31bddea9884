// SPDX-License-Identifier: Apache-2.0
/* Who frees what goes into libraft and comes out of it, as meta_raft.c relies on it. These tests
 * prove it under AddressSanitizer and LeakSanitizer: a wrong line leaks or frees twice. libraft's
 * git main has other rules under the same version number, so a package that was built from it fails
 * here.
 *
 * Besides meta_raft.c this is the only file that includes raft.h. */

#include "runner.h"

#include <raft.h>
#include <string.h>

static struct raft raft;

static void open_raft(void)
{
    assert_int_equal(raft_init(&raft, NULL, NULL, 1, "1"), 0);
    raft.tracer = NULL;
    raft_seed(&raft, 1);
    raft_set_pre_vote(&raft, true);
}

static void add_servers(struct raft_configuration *configuration, unsigned voters)
{
    static const char *const addresses[] = { "1", "2", "3" };
    raft_configuration_init(configuration);
    for (unsigned i = 0; i < voters; i++)
        assert_int_equal(raft_configuration_add(configuration, i + 1, addresses[i], RAFT_VOTER), 0);
}

static struct raft_buffer encode_servers(unsigned voters)
{
    struct raft_configuration configuration;
    struct raft_buffer buffer;
    add_servers(&configuration, voters);
    assert_int_equal(raft_configuration_encode(&configuration, &buffer), 0);
    raft_configuration_close(&configuration);
    return buffer;
}

static int step(struct raft_event *event, struct raft_update *update)
{
    static raft_time now = 1000;
    memset(update, 0, sizeof *update);
    event->time = now += 10;
    return raft_step(&raft, event, update);
}

/* START with entry 1 only: array and batch stay ours, and so does the configuration's encoding. */
static void start(unsigned voters)
{
    struct raft_update update;
    struct raft_buffer encoded = encode_servers(voters);
    struct raft_entry *entries = raft_malloc(sizeof *entries);
    void *batch = raft_malloc(1);
    entries[0] = (struct raft_entry){ 1, RAFT_CHANGE, encoded, batch };
    struct raft_event event = { .type = RAFT_START, .start = { 2, 0, NULL, 1, entries, 1 } };
    assert_int_equal(step(&event, &update), 0);
    raft_free(encoded.base);
    raft_free(batch);
    raft_free(entries);
}

static void close_raft(void)
{
    raft_close(&raft, NULL);
    memset(&raft, 0, sizeof raft); /* What it still points to would not count as leaked. */
}

TEST(start_leaves_entries_and_batch_to_us)
{
    open_raft();
    start(1);
    assert_int_equal(raft_state(&raft), RAFT_LEADER);
    close_raft();
}

TEST(start_that_fails_has_freed_array_and_batch)
{
    struct raft_update update;
    struct raft_buffer bad = { raft_calloc(1, 64), 64 }; /* Not the version that libraft knows. */
    struct raft_entry *entries = raft_malloc(sizeof *entries);
    open_raft();
    entries[0] = (struct raft_entry){ 1, RAFT_CHANGE, bad, raft_malloc(1) };
    struct raft_event event = { .type = RAFT_START, .start = { 2, 0, NULL, 1, entries, 1 } };
    assert_int_equal(step(&event, &update), RAFT_MALFORMED);
    raft_free(bad.base);
    close_raft();
}

TEST(start_takes_the_configuration_of_a_snapshot)
{
    struct raft_update update;
    struct raft_snapshot_metadata metadata = { .index = 10, .term = 2, .configuration_index = 1 };
    open_raft();
    add_servers(&metadata.configuration, 3);
    struct raft_event event = { .type = RAFT_START, .start = { 3, 0, &metadata, 11, NULL, 0 } };
    assert_int_equal(step(&event, &update), 0);
    close_raft();
}

static int submit(struct raft_entry *entries, unsigned count, struct raft_update *update)
{
    struct raft_event event = { .type = RAFT_SUBMIT, .submit = { entries, count } };
    return step(&event, update);
}

TEST(submit_leaves_array_and_batch_to_us)
{
    struct raft_update update;
    open_raft();
    start(1);
    void *batch = raft_malloc(1);
    struct raft_entry entries[2] = {
        { raft_current_term(&raft), RAFT_COMMAND, { NULL, 0 }, batch },
        { raft_current_term(&raft), RAFT_COMMAND, { NULL, 0 }, batch },
    };
    assert_int_equal(submit(entries, 2, &update), 0);
    assert_true(update.flags & RAFT_UPDATE_ENTRIES);
    assert_ptr_equal(update.entries.batch, entries); /* Ours, not a copy. */
    raft_free(batch);

    struct raft_event event = { .type = RAFT_PERSISTED_ENTRIES, .persisted_entries = { 3 } };
    assert_int_equal(step(&event, &update), 0);
    assert_int_equal(raft_commit_index(&raft), 3);
    close_raft();
}

TEST(submit_that_is_refused_leaves_them_too)
{
    struct raft_update update;
    open_raft();
    start(3);
    struct raft_entry entry = { 2, RAFT_COMMAND, { NULL, 0 }, raft_malloc(1) };
    assert_int_equal(submit(&entry, 1, &update), RAFT_NOTLEADER);
    raft_free(entry.batch);
    close_raft();
}

TEST(a_configuration_that_is_agreed_is_taken)
{
    struct raft_update update;
    open_raft();
    start(1);
    struct raft_buffer encoded = encode_servers(2);
    struct raft_entry entry = { raft_current_term(&raft), RAFT_CHANGE, encoded, raft_malloc(1) };
    assert_int_equal(submit(&entry, 1, &update), 0);
    raft_free(entry.batch);
    raft_free(encoded.base);
    struct raft_event event = { .type = RAFT_CONFIGURATION, .configuration = { .index = 2 } };
    add_servers(&event.configuration.conf, 2);
    assert_int_equal(step(&event, &update), 0);
    /* And one that is no news is closed. */
    add_servers(&event.configuration.conf, 2);
    assert_int_equal(step(&event, &update), 0);
    close_raft();
}

static int receive(struct raft_message *message, struct raft_update *update)
{
    struct raft_event event = { .type = RAFT_RECEIVE, .receive = { message } };
    return step(&event, update);
}

static struct raft_message append_message(struct raft_entry *entries, unsigned count)
{
    return (struct raft_message){
        .type = RAFT_APPEND_ENTRIES,
        .server_id = 2,
        .server_address = "2",
        .append_entries = { .term = 3,
                            .prev_log_index = 1,
                            .prev_log_term = 1,
                            .leader_commit = 1,
                            .entries = entries,
                            .n_entries = count },
    };
}

TEST(received_entries_that_are_new_stay_ours)
{
    struct raft_update update;
    open_raft();
    start(3);
    void *batch = raft_malloc(1);
    struct raft_entry entries[2] = { { 3, RAFT_COMMAND, { NULL, 0 }, batch },
                                     { 3, RAFT_COMMAND, { NULL, 0 }, batch } };
    struct raft_message message = append_message(entries, 2);
    assert_int_equal(receive(&message, &update), 0);
    assert_true(update.flags & RAFT_UPDATE_ENTRIES);
    assert_ptr_equal(update.entries.batch, entries);
    raft_free(batch);

    /* The same once more: not new, so libraft frees the batch. */
    entries[0].batch = entries[1].batch = raft_malloc(1);
    assert_int_equal(receive(&message, &update), 0);
    assert_false(update.flags & RAFT_UPDATE_ENTRIES);

    /* Half of it new: the update points into our array. */
    struct raft_entry more[3] = { entries[0], entries[1], { 3, RAFT_COMMAND, { NULL, 0 }, NULL } };
    batch = more[0].batch = more[1].batch = more[2].batch = raft_malloc(1);
    message = append_message(more, 3);
    assert_int_equal(receive(&message, &update), 0);
    assert_ptr_equal(update.entries.batch, &more[2]);
    raft_free(batch);
    close_raft();
}

TEST(received_entries_that_do_not_fit_are_freed)
{
    struct raft_update update;
    open_raft();
    start(3);
    struct raft_entry entry = { 3, RAFT_COMMAND, { NULL, 0 }, raft_malloc(1) };
    struct raft_message message = append_message(&entry, 1);
    message.append_entries.prev_log_index = 7;
    message.append_entries.prev_log_term = 3;
    assert_int_equal(receive(&message, &update), 0);
    assert_false(update.flags & RAFT_UPDATE_ENTRIES);
    close_raft();
}

TEST(received_entries_that_contradict_what_is_committed_are_freed)
{
    struct raft_update update;
    open_raft();
    start(3);
    struct raft_entry entry = { 3, RAFT_COMMAND, { NULL, 0 }, raft_malloc(1) };
    struct raft_message message = append_message(&entry, 1);
    message.append_entries.prev_log_term = 2; /* Entry 1 is of term 1 and committed. */
    assert_int_equal(receive(&message, &update), RAFT_SHUTDOWN);
    close_raft();
}

TEST(the_batch_of_a_new_leaders_barrier_is_ours)
{
    struct raft_update update;
    open_raft();
    start(3);
    void *batch = raft_malloc(1);
    struct raft_entry entry = { 3, RAFT_COMMAND, { NULL, 0 }, batch };
    struct raft_message append = append_message(&entry, 1);
    assert_int_equal(receive(&append, &update), 0);
    raft_free(batch);
    struct raft_event event = { .type = RAFT_PERSISTED_ENTRIES, .persisted_entries = { 2 } };
    assert_int_equal(step(&event, &update), 0);

    for (int phase = 0; phase < 2; phase++) { /* The pre-vote, then the vote. */
        if (phase == 0) {
            event = (struct raft_event){ .time = 0, .type = RAFT_TIMEOUT };
            memset(&update, 0, sizeof update);
            event.time = raft_timeout(&raft) + 1;
            assert_int_equal(raft_step(&raft, &event, &update), 0);
        }
        struct raft_message vote = {
            .type = RAFT_REQUEST_VOTE_RESULT,
            .server_id = 2,
            .server_address = "2",
            .request_vote_result = { .version = 2,
                                     .term = raft_current_term(&raft) + (phase == 0 ? 1 : 0),
                                     .vote_granted = true,
                                     .pre_vote = phase == 0,
                                     .features = 1 },
        };
        event = (struct raft_event){ .type = RAFT_RECEIVE, .receive = { &vote } };
        event.time = raft.now + 1;
        memset(&update, 0, sizeof update);
        assert_int_equal(raft_step(&raft, &event, &update), 0);
    }
    assert_int_equal(raft_state(&raft), RAFT_LEADER);
    assert_true(update.flags & RAFT_UPDATE_ENTRIES);
    assert_int_equal(update.entries.n, 1);
    assert_int_equal(update.entries.batch[0].type, RAFT_BARRIER);
    raft_free(update.entries.batch[0].batch);
    close_raft();
}

/* ---- snapshots ---- */

static struct raft_message snapshot_message(raft_index index)
{
    return (struct raft_message){
        .type = RAFT_INSTALL_SNAPSHOT,
        .server_id = 2,
        .server_address = "2",
        .install_snapshot = { .term = 3, .last_index = index, .last_term = 2, .conf_index = 1 },
    };
}

static void persisted_snapshot(raft_index index, struct raft_update *update)
{
    struct raft_event event = { .type = RAFT_PERSISTED_SNAPSHOT };
    event.persisted_snapshot.metadata = (struct raft_snapshot_metadata){
        .index = index,
        .term = 2,
        .configuration_index = 1,
    };
    event.persisted_snapshot.last = true;
    add_servers(&event.persisted_snapshot.metadata.configuration, 3);
    assert_int_equal(step(&event, update), 0);
}

/* As meta_raft.c does it: the message brings nothing that could be lost, the installation brings the
 * configuration, which is libraft's from then on. */
TEST(a_snapshot_without_data_leaves_nothing_behind)
{
    struct raft_update update;
    open_raft();
    start(3);
    struct raft_message message = snapshot_message(50);
    assert_int_equal(receive(&message, &update), 0);
    assert_true(update.flags & RAFT_UPDATE_SNAPSHOT);
    assert_null(update.snapshot.chunk.base);
    assert_int_equal(update.snapshot.metadata.configuration.n, 0);
    /* The same once more, and a newer one, while it is installed. */
    for (raft_index index = 50; index <= 60; index += 10) {
        message = snapshot_message(index);
        assert_int_equal(receive(&message, &update), 0);
        assert_false(update.flags & RAFT_UPDATE_SNAPSHOT);
    }
    persisted_snapshot(50, &update);
    assert_int_equal(raft_commit_index(&raft), 50);
    message = snapshot_message(50); /* What it has already is answered. */
    assert_int_equal(receive(&message, &update), 0);
    assert_false(update.flags & RAFT_UPDATE_SNAPSHOT);
    assert_int_equal(update.messages.n, 1);
    close_raft();
}

TEST(data_and_configuration_of_a_snapshot_that_is_taken_are_ours_again)
{
    struct raft_update update;
    open_raft();
    start(3);
    struct raft_message message = snapshot_message(50);
    message.install_snapshot.data = (struct raft_buffer){ raft_malloc(8), 8 };
    add_servers(&message.install_snapshot.conf, 3);
    assert_int_equal(receive(&message, &update), 0);
    assert_true(update.flags & RAFT_UPDATE_SNAPSHOT);
    raft_free(update.snapshot.chunk.base);
    raft_configuration_close(&update.snapshot.metadata.configuration);

    /* B15: of one that comes meanwhile libraft frees nothing. */
    message = snapshot_message(60);
    message.install_snapshot.data = (struct raft_buffer){ raft_malloc(8), 8 };
    add_servers(&message.install_snapshot.conf, 3);
    assert_int_equal(receive(&message, &update), 0);
    raft_free(message.install_snapshot.data.base);
    raft_configuration_close(&message.install_snapshot.conf);
    persisted_snapshot(50, &update);

    /* Of one that is not needed it frees all. */
    message = snapshot_message(50);
    message.install_snapshot.data = (struct raft_buffer){ raft_malloc(8), 8 };
    add_servers(&message.install_snapshot.conf, 3);
    assert_int_equal(receive(&message, &update), 0);
    close_raft();
}

TEST(a_snapshot_that_was_taken_gives_its_configuration_away)
{
    struct raft_update update;
    open_raft();
    start(1);
    struct raft_entry entry = {
        raft_current_term(&raft), RAFT_COMMAND, { NULL, 0 }, raft_malloc(1)
    };
    assert_int_equal(submit(&entry, 1, &update), 0);
    raft_free(entry.batch);
    struct raft_event event = { .type = RAFT_PERSISTED_ENTRIES, .persisted_entries = { 2 } };
    assert_int_equal(step(&event, &update), 0);
    for (raft_index index = 1; index <= 2; index++) {
        event = (struct raft_event){ .type = RAFT_SNAPSHOT };
        event.snapshot.metadata = (struct raft_snapshot_metadata){
            .index = index,
            .term = index == 1 ? 1 : 2,
            .configuration_index = index, /* No news, then news. */
        };
        event.snapshot.trailing = 1;
        add_servers(&event.snapshot.metadata.configuration, 1);
        assert_int_equal(step(&event, &update), 0);
    }
    close_raft();
}

TEST(members_that_are_taken_back_are_freed)
{
    struct raft_update update;
    open_raft();
    start(3);
    struct raft_buffer encoded = encode_servers(2);
    struct raft_entry entry = { 3, RAFT_CHANGE, encoded, raft_malloc(1) };
    struct raft_message message = append_message(&entry, 1);
    assert_int_equal(receive(&message, &update), 0);
    assert_true(update.flags & RAFT_UPDATE_ENTRIES);
    raft_free(entry.batch);
    raft_free(encoded.base);
    struct raft_entry other = { 4, RAFT_COMMAND, { NULL, 0 }, raft_malloc(1) };
    message = append_message(&other, 1);
    message.append_entries.term = 4;
    assert_int_equal(receive(&message, &update), 0);
    raft_free(other.batch);
    assert_int_equal(raft.configuration.n, 3);
    close_raft();
}
