// SPDX-License-Identifier: Apache-2.0
/* A node and its snapshots on a disk in memory: taken, trimmed behind, found again, passed over when
 * damaged, left for later when the disk is full. */

#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "fs_sim.h"
#include "meta_command.h"
#include "meta_fixture.h"
#include "meta_node.h"
#include "meta_snapshot.h"
#include "trace.h"

#define FOLDER "/data"
#define WORK   8

/* One node, alone or with a node 2 that the test plays; what runs beside it runs when the test pumps. */
static struct rig {
    struct fs_sim *disk;
    struct data_dir *dir;
    struct meta_node *node;
    struct clock_manual clock;
    struct executor executor;
    struct mailbox mailbox;
    struct meta_node_owner owner;
    struct job *jobs[WORK];
    struct message *mail[WORK];
    unsigned job_count, mail_count;
    const struct meta_members *members; /* Of a new folder; NULL: alone. */
    int64_t snapshot_interval_ms;       /* 0: by bytes only. */
    unsigned restored;
    char gone[256]; /* Names of topics that a snapshot says are gone, each with a space behind. */
    char why[512];
} rig;

static void take_job(struct executor *executor, struct job *job)
{
    (void)executor;
    assert_true(rig.job_count < WORK);
    rig.jobs[rig.job_count++] = job;
}

static void take_mail(struct mailbox *mailbox, struct message *message)
{
    (void)mailbox;
    assert_true(rig.mail_count < WORK);
    rig.mail[rig.mail_count++] = message;
}

static void pump(void)
{
    while (rig.job_count + rig.mail_count > 0) {
        if (rig.job_count > 0) {
            struct job *job = rig.jobs[0];
            memmove(rig.jobs, rig.jobs + 1, --rig.job_count * sizeof rig.jobs[0]);
            job->run(job);
        } else {
            struct message *message = rig.mail[0];
            memmove(rig.mail, rig.mail + 1, --rig.mail_count * sizeof rig.mail[0]);
            message->deliver(message);
        }
    }
}

static void owner_send(struct meta_node_owner *owner, const struct meta_message *message)
{
    (void)owner;
    (void)message;
}

static void owner_applied(struct meta_node_owner *owner, int64_t index,
                          const struct meta_entry *entry, struct meta_outcome *outcome)
{
    (void)owner;
    (void)index;
    (void)entry;
    assert_int_equal(outcome->err, 0);
    meta_changes_clear(meta_node_changes(rig.node));
}

static void owner_nothing(struct meta_node_owner *owner)
{
    (void)owner;
}

static void owner_restored(struct meta_node_owner *owner)
{
    struct meta_changes *changes = meta_node_changes(rig.node);
    (void)owner;
    rig.restored++;
    for (unsigned i = 0; i < changes->count; i++) {
        size_t length = strlen(rig.gone);
        if (changes->items[i].after != NULL) continue;
        snprintf(rig.gone + length, sizeof rig.gone - length, "%s ",
                 changes->items[i].before->name);
    }
    meta_changes_clear(changes);
}

/* What opening and starting gave. */
static int open_node(void)
{
    rig.owner = (struct meta_node_owner){ owner_send, owner_applied, owner_nothing, owner_nothing,
                                          owner_restored };
    rig.executor.submit = take_job;
    rig.mailbox.post = take_mail;
    rig.restored = 0;
    rig.gone[0] = '\0';
    struct meta_node_options options = {
        .disk = &rig.executor,
        .mailbox = &rig.mailbox,
        .clock = &rig.clock.clock,
        .owner = &rig.owner,
        .node_id = 1,
        .election_timeout_ms = 300,
        .heartbeat_ms = 40,
        .seed = 7,
        .snapshot_bytes = 2000,
        .snapshot_interval_ms = rig.snapshot_interval_ms,
        .members = rig.members,
    };
    int err = data_dir_open(&rig.dir, fs_sim_fs(rig.disk), FOLDER, rig.why, sizeof rig.why);
    if (err == 0) err = data_dir_begin(rig.dir);
    options.dir = rig.dir;
    if (err == 0) err = meta_node_open(&rig.node, &options, rig.why, sizeof rig.why);
    if (err == 0) err = meta_node_start(rig.node);
    if (err == 0) pump();
    return err;
}

static void open_rig(void)
{
    memset(&rig, 0, sizeof rig);
    clock_manual_init(&rig.clock, 1000000);
    rig.disk = fs_sim_open(NULL);
    assert_int_equal(open_node(), 0);
}

static void close_node(void)
{
    pump();
    meta_node_close(rig.node);
    data_dir_close(rig.dir);
    rig.node = NULL;
    rig.dir = NULL;
}

/* As after a kill. */
static int reopen(void)
{
    close_node();
    fs_sim_kill(rig.disk);
    fs_sim_restart(rig.disk);
    return open_node();
}

static void close_rig(void)
{
    close_node();
    fs_sim_close(rig.disk);
}

static void submit(const struct meta_command *command)
{
    struct buffer bytes;
    int64_t index;
    buffer_init(&bytes);
    meta_command_encode(command, &bytes);
    struct meta_entry entry = { .payload = bytes_in(&bytes) };
    assert_int_equal(meta_node_submit(rig.node, &entry, 1, &index), 0);
    buffer_close(&bytes);
    pump();
}

static void create_topic(uint32_t number)
{
    static const int32_t brokers[] = { 1 };
    static const struct meta_partition partition = { 1, 0, 0, brokers, 1, brokers, 1 };
    char name[16];
    snprintf(name, sizeof name, "t%u", number);
    struct meta_command command = { .kind = META_TOPIC_CREATED };
    command.as.topic_created.topic = (struct meta_topic){
        .id = id_of(number),
        .name = name,
        .partition_count = 1,
        .partitions = &partition,
    };
    submit(&command);
}

static void delete_topic(uint32_t number)
{
    struct meta_command command = { .kind = META_TOPIC_DELETED };
    command.as.topic_deleted.id = id_of(number);
    submit(&command);
}

static int64_t snapshot_index(void)
{
    return meta_core_snapshot_index(meta_node_core(rig.node));
}

/* Producer ids until there is another snapshot. */
static void write_until_a_snapshot(void)
{
    int64_t before = snapshot_index();
    for (int i = 0; i < 100 && snapshot_index() == before; i++) {
        struct meta_command command = { .kind = META_PRODUCER_IDS_TAKEN };
        command.as.producer_ids_taken = (struct meta_producer_ids_taken){ 1, 10 };
        submit(&command);
    }
    assert_true(snapshot_index() > before);
}

static void damage_snapshot(int64_t index)
{
    struct fs *fs = fs_sim_fs(rig.disk);
    struct bytes image;
    assert_int_equal(meta_snapshot_read(fs, FOLDER, index, &image), 0);
    ((uint8_t *)(uintptr_t)image.data)[image.length / 2] ^= 1;
    assert_int_equal(meta_snapshot_write(fs, FOLDER, index, image), 0);
    mem_free((void *)image.data);
}

static void no_lines(void *context, const char *line)
{
    (void)context;
    (void)line;
}

/* Something to know again: topics and producer ids. */
static int64_t taken_ids(void)
{
    return meta_node_state(rig.node)->next_producer_id;
}

TEST(a_node_starts_from_its_newest_snapshot)
{
    open_rig();
    for (uint32_t i = 1; i <= 5; i++)
        create_topic(i);
    write_until_a_snapshot();
    int64_t ids = taken_ids(), index = meta_core_applied_index(meta_node_core(rig.node));
    assert_int_equal(reopen(), 0);
    assert_int_equal(rig.restored, 1);
    assert_int_equal(meta_node_state(rig.node)->topic_count, 5);
    assert_int_equal(taken_ids(), ids);
    assert_true(meta_core_applied_index(meta_node_core(rig.node)) >= index);
    close_rig();
}

TEST(the_log_begins_at_the_snapshot_before_the_newest)
{
    struct meta_entry entry;
    struct arena arena;
    open_rig();
    write_until_a_snapshot();
    int64_t first = snapshot_index();
    write_until_a_snapshot();
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(meta_node_read(rig.node, first, 1, &entry, &arena), 0);
    assert_int_equal(meta_node_read(rig.node, first - 1, 1, &entry, &arena), ERR_NOT_FOUND);
    arena_close(&arena);
    close_rig();
}

/* What the owner's timer does. */
static void wait_ms(int64_t ms)
{
    clock_manual_advance_ms(&rig.clock, ms);
    meta_node_tick(rig.node);
    pump();
}

TEST(what_no_snapshot_covers_does_not_wait_longer_than_the_interval)
{
    open_rig();
    close_node();
    rig.snapshot_interval_ms = 60000;
    assert_int_equal(open_node(), 0);
    wait_ms(1000); /* It leads. */
    create_topic(1);
    assert_in_range(meta_node_deadline_ms(rig.node), 1, meta_node_now_ms(rig.node) + 60000);
    wait_ms(58000);
    assert_int_equal(snapshot_index(), 0);
    wait_ms(2000);
    int64_t index = snapshot_index();
    assert_int_equal(index, meta_core_applied_index(meta_node_core(rig.node)));

    wait_ms(600000); /* Nothing has changed. */
    assert_int_equal(snapshot_index(), index);
    create_topic(2);
    wait_ms(59000); /* It counts from the change on. */
    assert_int_equal(snapshot_index(), index);
    wait_ms(1000);
    assert_true(snapshot_index() > index);
    close_rig();
}

TEST(a_snapshot_that_must_wait_sets_no_timer_that_is_due)
{
    open_rig();
    close_node();
    rig.snapshot_interval_ms = 60000;
    assert_int_equal(open_node(), 0);
    wait_ms(1000);
    create_topic(1);
    clock_manual_advance_ms(&rig.clock, 60000);
    meta_node_tick(rig.node); /* Being taken: the pool has not run yet. */
    assert_true(meta_node_deadline_ms(rig.node) > meta_node_now_ms(rig.node));
    close_rig();
}

TEST(a_damaged_snapshot_is_passed_over)
{
    open_rig();
    create_topic(1);
    write_until_a_snapshot();
    create_topic(2);
    write_until_a_snapshot();
    create_topic(3);
    int64_t ids = taken_ids();
    damage_snapshot(snapshot_index());
    trace_set_sink(no_lines, NULL);
    assert_int_equal(reopen(), 0);
    trace_set_sink(NULL, NULL);
    assert_int_equal(meta_node_state(rig.node)->topic_count, 3);
    assert_int_equal(taken_ids(), ids);
    write_until_a_snapshot();
    assert_int_equal(reopen(), 0);
    assert_int_equal(meta_node_state(rig.node)->topic_count, 3);
    close_rig();
}

TEST(without_any_snapshot_that_the_log_goes_on_from_a_node_does_not_start)
{
    int64_t indexes[META_SNAPSHOTS_KEPT];
    unsigned count = 0;
    open_rig();
    for (int i = 0; i < 3; i++)
        write_until_a_snapshot();
    assert_int_equal(meta_snapshot_list(fs_sim_fs(rig.disk), FOLDER, indexes, 2, &count), 0);
    assert_int_equal(count, 2);
    /* What the log had in front is still in its first segment; with it cut off for good, too. */
    assert_int_equal(data_dir_write_checkpoints(rig.dir), 0);
    damage_snapshot(indexes[0]);
    damage_snapshot(indexes[1]);
    trace_set_sink(no_lines, NULL);
    assert_int_equal(reopen(), ERR_CORRUPT_MESSAGE);
    trace_set_sink(NULL, NULL);
    assert_non_null(strstr(rig.why, "no snapshot"));
    rig.node = NULL;
    close_rig();
}

TEST(a_start_from_a_snapshot_tells_which_topics_are_gone)
{
    open_rig();
    create_topic(1);
    create_topic(2);
    delete_topic(1);
    write_until_a_snapshot();
    delete_topic(2); /* In the log only. */
    assert_int_equal(reopen(), 0);
    assert_string_equal(rig.gone, "t1 ");
    write_until_a_snapshot(); /* What was done at the start is not told for ever. */
    assert_int_equal(reopen(), 0);
    assert_string_equal(rig.gone, "t2 ");
    for (int i = 0; i < 3; i++)
        write_until_a_snapshot();
    assert_int_equal(reopen(), 0);
    assert_string_equal(rig.gone, "");
    close_rig();
}

TEST(a_snapshot_that_does_not_fit_is_left_for_later)
{
    struct fs_sim_fault full = {
        .calls = FS_SIM_WRITE,
        .suffix = ".snapshot.tmp",
        .nth = 1,
        .keeps_failing = true,
        .error = ERR_NO_SPACE,
    };
    open_rig();
    trace_set_sink(no_lines, NULL);
    fs_sim_fail(rig.disk, &full);
    for (int i = 0; i < 60; i++)
        create_topic((uint32_t)i + 1);
    assert_true(fs_sim_has_failed(rig.disk));
    assert_int_equal(snapshot_index(), 0);
    assert_int_equal(meta_node_failed(rig.node), 0);
    fs_sim_fail(rig.disk, NULL);
    trace_set_sink(NULL, NULL);
    write_until_a_snapshot();
    assert_int_equal(reopen(), 0);
    assert_int_equal(meta_node_state(rig.node)->topic_count, 60);
    close_rig();
}

TEST(a_snapshot_whose_sync_fails_ends_the_node)
{
    struct fs_sim_fault fault = {
        .calls = FS_SIM_SYNC,
        .suffix = ".snapshot.tmp",
        .nth = 1,
        .error = ERR_IO,
    };
    open_rig();
    fs_sim_fail(rig.disk, &fault);
    for (int i = 0; i < 60 && meta_node_failed(rig.node) == 0; i++) {
        struct meta_command command = { .kind = META_PRODUCER_IDS_TAKEN };
        command.as.producer_ids_taken = (struct meta_producer_ids_taken){ 1, 10 };
        submit(&command);
    }
    assert_int_equal(meta_node_failed(rig.node), ERR_IO);
    close_rig();
}

TEST(a_snapshot_from_outside_that_is_none_does_no_harm)
{
    struct meta_members members = { .count = 1 };
    struct buffer bytes;
    open_rig();
    create_topic(1);
    members.members[0] = (struct meta_member){ .node_id = 2,
                                               .role = META_VOTER,
                                               .address = STR_LITERAL("") };
    buffer_init(&bytes);
    meta_members_encode(&members, &bytes);
    struct meta_message message = {
        .type = META_MESSAGE_SNAPSHOT,
        .from = 2,
        .to = 1,
        .term = 50,
        .as.snapshot = {
            .index = 1000,
            .last_term = 40,
            .members_index = 1,
            .members = bytes_in(&bytes),
            .image = bytes_in(&bytes), /* Not one. */
        },
    };
    trace_set_sink(no_lines, NULL);
    meta_node_receive(rig.node, &message);
    trace_set_sink(NULL, NULL);
    assert_int_equal(meta_node_failed(rig.node), 0);
    assert_int_equal(meta_node_state(rig.node)->topic_count, 1);
    assert_false(meta_core_is_installing(meta_node_core(rig.node)));
    buffer_close(&bytes);
    close_rig();
}

/* ---- installed ---- */

static void topic_command(uint32_t number, struct buffer *bytes)
{
    static const int32_t brokers[] = { 1 };
    static const struct meta_partition partition = { 1, 0, 0, brokers, 1, brokers, 1 };
    struct meta_command command = { .kind = META_TOPIC_CREATED };
    char name[16];
    snprintf(name, sizeof name, "t%u", number);
    command.as.topic_created.topic = (struct meta_topic){
        .id = id_of(number),
        .name = name,
        .partition_count = 1,
        .partitions = &partition,
    };
    buffer_init(bytes);
    meta_command_encode(&command, bytes);
}

static struct meta_members two_members;
static struct buffer two_members_bytes;

/* Node 1 follows node 2, which told it of topics 1 and 2. */
static void open_rig_with_a_leader(void)
{
    two_members = (struct meta_members){ .count = 2 };
    for (int32_t i = 0; i < 2; i++)
        two_members.members[i] = (struct meta_member){ .node_id = i + 1,
                                                       .role = META_VOTER,
                                                       .address = STR_LITERAL("") };
    buffer_init(&two_members_bytes);
    meta_members_encode(&two_members, &two_members_bytes);
    memset(&rig, 0, sizeof rig);
    rig.members = &two_members;
    clock_manual_init(&rig.clock, 1000000);
    rig.disk = fs_sim_open(NULL);
    assert_int_equal(open_node(), 0);

    struct buffer first, second;
    topic_command(1, &first);
    topic_command(2, &second);
    struct meta_entry entries[] = { { 5, META_ENTRY_COMMAND, bytes_in(&first) },
                                    { 5, META_ENTRY_COMMAND, bytes_in(&second) } };
    struct meta_message append = {
        .type = META_MESSAGE_APPEND,
        .from = 2,
        .to = 1,
        .term = 5,
        .as.append = { 1, 1, 3, entries, 2 },
    };
    meta_node_receive(rig.node, &append);
    pump();
    assert_int_equal(meta_node_state(rig.node)->topic_count, 2);
    buffer_close(&first);
    buffer_close(&second);
}

/* Node 2's state at entry 20: topics 2 and 3. */
static void leader_image(struct buffer *image)
{
    struct meta_state state;
    struct meta_changes gone;
    struct meta_core_snapshot at = { 20, 5, 1, bytes_in(&two_members_bytes) };
    meta_changes_init(&gone);
    meta_state_init(&state, fixture_hash_key);
    assert_int_equal(topic_create(&state, "t2", 2, 1, NULL), 0);
    assert_int_equal(topic_create(&state, "t3", 3, 1, NULL), 0);
    buffer_init(image);
    meta_snapshot_encode(&at, &state, &gone, image);
    assert_false(image->failed);
    meta_state_close(&state);
    meta_changes_close(&gone);
}

static void receive_snapshot(void)
{
    struct buffer image;
    leader_image(&image);
    struct meta_message message = {
        .type = META_MESSAGE_SNAPSHOT,
        .from = 2,
        .to = 1,
        .term = 5,
        .as.snapshot = { 20, 5, 1, bytes_in(&two_members_bytes), bytes_in(&image) },
    };
    meta_node_receive(rig.node, &message);
    buffer_close(&image);
    pump();
}

static void close_rig_with_a_leader(void)
{
    close_rig();
    buffer_close(&two_members_bytes);
}

TEST(a_leaders_snapshot_takes_the_place_of_state_and_log)
{
    open_rig_with_a_leader();
    receive_snapshot();
    assert_int_equal(meta_node_failed(rig.node), 0);
    assert_int_equal(rig.restored, 1);
    assert_string_equal(rig.gone, "t1 ");
    const struct meta_core *core = meta_node_core(rig.node);
    assert_int_equal(meta_core_applied_index(core), 20);
    assert_int_equal(meta_core_last_index(core), 20);
    assert_int_equal(meta_node_state(rig.node)->topic_count, 2);
    assert_non_null(meta_state_topic(meta_node_state(rig.node), STR_LITERAL("t3")));

    /* The next life knows the same, and what may be left of topic 1. */
    assert_int_equal(reopen(), 0);
    assert_string_equal(rig.gone, "t1 ");
    assert_int_equal(meta_core_applied_index(meta_node_core(rig.node)), 20);
    assert_int_equal(meta_node_state(rig.node)->topic_count, 2);
    close_rig_with_a_leader();
}

TEST(a_leaders_snapshot_that_does_not_fit_is_left_for_later)
{
    struct fs_sim_fault full = {
        .calls = FS_SIM_WRITE,
        .suffix = ".snapshot",
        .nth = 1,
        .error = ERR_NO_SPACE,
    };
    open_rig_with_a_leader();
    fs_sim_fail(rig.disk, &full);
    trace_set_sink(no_lines, NULL);
    receive_snapshot();
    trace_set_sink(NULL, NULL);
    assert_int_equal(meta_node_failed(rig.node), 0);
    assert_int_equal(meta_core_applied_index(meta_node_core(rig.node)), 3);
    receive_snapshot(); /* Its leader sends it again. */
    assert_int_equal(meta_core_applied_index(meta_node_core(rig.node)), 20);
    close_rig_with_a_leader();
}

/* Wherever the power goes: all of the old or all of the new, and the node starts. */
TEST(a_power_cut_during_an_installation_leaves_the_old_or_the_new)
{
    unsigned old = 0, new = 0;
    trace_set_sink(no_lines, NULL);
    for (long nth = 1; nth < 60; nth++) {
        open_rig_with_a_leader();
        fs_sim_cut_power_at(rig.disk, nth);
        receive_snapshot();
        bool was_cut = fs_sim_is_off(rig.disk);
        if (!was_cut) fs_sim_cut_power(rig.disk);
        close_node();
        fs_sim_restart(rig.disk);
        assert_int_equal(open_node(), 0);
        int64_t index = meta_node_state(rig.node)->index;
        if (index == 20)
            new ++;
        else
            old++;
        assert_true(index == 20 || (index <= 3 && was_cut));
        close_rig_with_a_leader();
    }
    trace_set_sink(NULL, NULL);
    assert_true(old > 0 && new > 0);
}
