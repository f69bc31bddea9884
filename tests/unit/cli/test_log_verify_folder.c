// SPDX-License-Identifier: Apache-2.0
/* What `sluice log verify` says of a data folder where a start refuses, or puts something aside. */

#include <inttypes.h>
#include <sys/stat.h>

#include "batch_builder.h"
#include "buffer.h"
#include "error.h"
#include "log_tool_fixture.h"
#include "meta_batch.h"
#include "meta_command.h"
#include "meta_members.h"
#include "meta_snapshot.h"
#include "meta_vote.h"

#define METADATA     "__sluice_metadata-0/"
#define METADATA_LOG METADATA "00000000000000000001.log"

/* By its partition.metadata. */
#define ORDERS_ID "MkZ0J2mMSiqQXHZLyqsl5g"
#define OTHER_ID  "AAAAAAAAAAAAAAAAAAAAAQ"

static struct tool tool;

static void assert_found(uint64_t wanted, const char *what)
{
    uint64_t findings = 0;
    assert_int_equal(tool_verify(&tool, "", &findings), 0);
    if (findings != wanted || (what != NULL && tool_count(&tool, what) != 1))
        fail_msg("expected %u findings, '%s' once, not:\n%s", (unsigned)wanted,
                 what == NULL ? "" : what, tool.said);
}

static void make_folder(const char *name)
{
    char path[PATH_MAX];
    assert_int_equal(fs_path(path, "%s/%s", tool.data, name), 0);
    assert_int_equal(fs_posix()->make_folder(fs_posix(), path), 0);
}

/* ---- a metadata log ---- */

static struct {
    struct batch_builder builder;
    struct buffer text;
    int64_t term, index;
} metadata;

static void metadata_start(void)
{
    batch_builder_init(&metadata.builder);
    buffer_init(&metadata.text);
    metadata.term = 1;
    metadata.index = 0;
}

static void metadata_put(const struct meta_command *command)
{
    struct buffer payload;
    buffer_init(&payload);
    meta_command_encode(command, &payload);
    struct meta_entry entry = { metadata.term,
                                META_ENTRY_COMMAND,
                                { payload.data, (int32_t)payload.length } };
    metadata.index++;
    assert_int_equal(meta_batch_put(&metadata.builder, &metadata.text, metadata.index, &entry,
                                    metadata.index - 1, 1700000000000),
                     0);
    buffer_close(&payload);
}

static struct meta_command create_command(const char *name, const char *id)
{
    static const int32_t broker[] = { 1 };
    static const struct meta_partition partition = { 1, 0, 0, broker, 1, broker, 1 };
    struct meta_command command = {
        .kind = META_TOPIC_CREATED,
        .as.topic_created.topic = { .name = name, .partition_count = 1, .partitions = &partition }
    };
    assert_int_equal(uuid_parse(&command.as.topic_created.topic.id, id), 0);
    return command;
}

static void metadata_create(const char *name, const char *id)
{
    struct meta_command command = create_command(name, id);
    metadata_put(&command);
}

static void metadata_delete(const char *id)
{
    struct meta_command command = { .kind = META_TOPIC_DELETED };
    assert_int_equal(uuid_parse(&command.as.topic_deleted.id, id), 0);
    metadata_put(&command);
}

/* As a node has it that voted for nobody in that term. */
static void write_vote(int64_t term)
{
    struct meta_vote vote;
    char path[PATH_MAX], why[256];
    assert_int_equal(fs_path(path, "%s/quorum-state", tool.data), 0);
    assert_int_equal(meta_vote_open(&vote, fs_posix(), path, why, sizeof why), 0);
    assert_int_equal(meta_vote_store(&vote, term, META_NOBODY, 0), 0);
    meta_vote_close(&vote);
}

/* With the vote that goes with it. To be called where tool.data is there. */
static void metadata_write(void)
{
    write_vote(1);
    char name[80];
    int64_t first = load_i64(metadata.text.data);
    make_folder(METADATA);
    snprintf(name, sizeof name, METADATA "%020" PRId64 ".log", first);
    tool_write(&tool, name, "");
    tool_store(&tool, name, 0, metadata.text.data, metadata.text.length);
    snprintf(name, sizeof name, METADATA "%020" PRId64 ".index", first);
    tool_write(&tool, name, "");
    snprintf(name, sizeof name, METADATA "%020" PRId64 ".timeindex", first);
    tool_write(&tool, name, "");
    batch_builder_close(&metadata.builder);
    buffer_close(&metadata.text);
}

TEST(a_topic_id_that_is_the_metadatas_is_no_finding)
{
    tool_start(&tool);
    metadata_start();
    metadata_create("orders", ORDERS_ID);
    metadata_create("users", OTHER_ID);
    metadata_write();
    assert_found(0, NULL);
    tool_end(&tool);
}

TEST(a_topic_id_that_is_another_topics_is_found)
{
    tool_start(&tool);
    metadata_start();
    metadata_create("orders", OTHER_ID);
    metadata_create("users", ORDERS_ID);
    metadata_write();
    assert_found(1, "it names topic id " ORDERS_ID
                    ", which is that of users, but by the metadata orders has " OTHER_ID);
    uint64_t findings = 0;
    assert_int_equal(tool_verify(&tool, "orders-0", &findings), 0); /* By itself, too. */
    assert_int_equal(findings, 1);
    tool_end(&tool);
}

/* The next start removes its folder, as the life would have that ended too early. */
TEST(a_topic_id_of_a_topic_that_was_deleted_and_made_again_is_no_finding)
{
    tool_start(&tool);
    metadata_start();
    metadata_create("orders", ORDERS_ID);
    metadata_delete(ORDERS_ID);
    metadata_create("orders", OTHER_ID);
    metadata_write();
    assert_found(0, NULL);
    tool_end(&tool);
}

/* A snapshot after the first `count` entries, of which the log has none any more. */
static void write_snapshot(const struct meta_command *commands, unsigned count)
{
    struct meta_members members = { .count = 1,
                                    .members = { { .node_id = 1,
                                                   .role = META_VOTER,
                                                   .directory_id = { { 1 } },
                                                   .address = STR_LITERAL("localhost:9093") } } };
    static const uint64_t hash_key[2] = { 1, 2 };
    struct buffer encoded, image;
    struct meta_state state;
    struct meta_changes gone;
    buffer_init(&encoded);
    buffer_init(&image);
    meta_changes_init(&gone);
    meta_state_init(&state, hash_key);
    meta_members_encode(&members, &encoded);
    for (unsigned i = 0; i < count; i++) {
        struct meta_outcome outcome;
        struct buffer payload;
        buffer_init(&payload);
        meta_command_encode(&commands[i], &payload);
        struct meta_entry entry = { 1,
                                    META_ENTRY_COMMAND,
                                    { payload.data, (int32_t)payload.length } };
        assert_int_equal(meta_apply(&state, i + 1, &entry, NULL, &outcome), 0);
        meta_outcome_close(&outcome);
        buffer_close(&payload);
    }
    struct meta_core_snapshot at = { count, 1, 1, { encoded.data, (int32_t)encoded.length } };
    meta_snapshot_encode(&at, &state, &gone, &image);
    assert_int_equal(meta_snapshot_write(fs_posix(), tool.data, count,
                                         (struct bytes){ image.data, (int32_t)image.length }),
                     0);
    meta_changes_close(&gone);
    meta_state_close(&state);
    buffer_close(&encoded);
    buffer_close(&image);
}

/* orders is in the snapshot, users in the log behind it. */
static void start_with_snapshot(const char *orders_id, const char *users_id)
{
    tool_start(&tool);
    metadata_start();
    struct meta_command orders = create_command("orders", orders_id);
    write_snapshot(&orders, 1);
    metadata.index = 1;
    metadata_create("users", users_id);
    metadata_write();
}

TEST(topic_ids_are_compared_with_a_snapshot_and_what_the_log_has_behind_it)
{
    start_with_snapshot(ORDERS_ID, OTHER_ID);
    assert_found(0, NULL);
    tool_end(&tool);
    start_with_snapshot(OTHER_ID, ORDERS_ID);
    assert_found(1, "which is that of users, but by the metadata orders has " OTHER_ID);
    tool_end(&tool);
}

/* The log behind the snapshot is not enough. */
TEST(topic_ids_are_not_compared_where_the_snapshot_is_damaged)
{
    tool_start(&tool);
    metadata_start();
    struct meta_command users = create_command("users", OTHER_ID);
    write_snapshot(&users, 1);
    tool_flip(&tool, "metadata-00000000000000000001.snapshot", 40, 1);
    metadata.index = 1;
    metadata_create("orders", OTHER_ID);
    metadata_write();
    assert_found(1, "it is no whole snapshot of the metadata");
    tool_end(&tool);
}

TEST(topic_ids_are_not_compared_with_metadata_that_is_damaged)
{
    tool_start(&tool);
    metadata_start();
    metadata_create("orders", OTHER_ID);
    metadata_create("users", ORDERS_ID);
    metadata_write();
    tool_flip(&tool, METADATA_LOG, 70, 1);
    assert_found(1, "the CRC of this batch is wrong");
    tool_end(&tool);
}

/* ---- meta.properties ---- */

TEST(a_data_folders_identity_that_a_start_refuses_is_found)
{
    static const struct {
        const char *text, *wrong;
    } files[] = {
        { "", "its version is missing or cannot be" },
        { "version=7\ncluster.id=x\nnode.id=1\n", "its version is missing or cannot be" },
        { "version=1\nnode.id=1\n", "its cluster.id is missing or cannot be" },
        { "version=1\ncluster.id=x\n", "its node.id is missing or cannot be" },
        { "version=1\ncluster.id=x\nnode.id=one\n", "its node.id is missing or cannot be" },
        { "version=1\ncluster.id=x\nnode.id=1\ndirectory.id=short\n",
          "its directory.id is missing or cannot be" },
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        tool_start(&tool);
        tool_write(&tool, "meta.properties", files[i].text);
        assert_found(1, files[i].wrong);
        tool_end(&tool);
    }
    tool_start(&tool);
    tool_write(&tool, "meta.properties", "version=0\nbroker.id=1\ncluster.id=x\n"); /* Kafka 2's. */
    assert_found(0, NULL);
    tool_end(&tool);
}

static void start_with_metadata(int entries)
{
    tool_start(&tool);
    metadata_start();
    metadata_create("orders", ORDERS_ID);
    for (int i = 1; i < entries; i++)
        metadata_create("users", OTHER_ID);
    metadata_write();
}

TEST(a_data_folder_without_an_identity_is_found)
{
    tool_start(&tool);
    tool_remove(&tool, "meta.properties");
    assert_found(1, "it is missing: a start takes the folder for a new one");
    tool_remove(&tool, "recovery-point-offset-checkpoint");
    tool_remove(&tool, "log-start-offset-checkpoint");
    tool_remove(&tool, "replication-offset-checkpoint");
    assert_found(0, NULL); /* A copy of partitions. */
    tool_end(&tool);
    start_with_metadata(2);
    tool_remove(&tool, "meta.properties");
    assert_found(1, "it is missing beside the metadata log: a start is refused");
    tool_end(&tool);
}

TEST(a_node_whose_first_start_was_ended_needs_no_identity_yet)
{
    start_with_metadata(1);
    tool_remove(&tool, "meta.properties");
    assert_found(0, NULL);
    tool_end(&tool);
}

/* ---- quorum-state ---- */

TEST(a_vote_that_is_missing_beside_the_metadata_is_found)
{
    start_with_metadata(2);
    tool_remove(&tool, "quorum-state");
    assert_found(1, "it is missing beside the metadata log: a start is refused");
    tool_end(&tool);
}

TEST(a_vote_that_is_damaged_is_found)
{
    start_with_metadata(2);
    tool_flip(&tool, "quorum-state", 20, 1);
    assert_found(1, "a copy of the vote is damaged");
    tool_flip(&tool, "quorum-state", META_VOTE_COPY_SPACING + 20, 1);
    assert_found(1, "both copies of the vote are damaged: a start is refused");
    tool_cut(&tool, "quorum-state", 0);
    assert_found(1, "both copies of the vote are damaged: a start is refused");
    tool_end(&tool);
}

TEST(a_vote_of_before_the_third_copy_is_no_finding)
{
    start_with_metadata(2);
    tool_cut(&tool, "quorum-state", META_VOTE_COPY_SPACING + META_VOTE_COPY_SIZE);
    assert_found(0, NULL);
    tool_cut(&tool, "quorum-state", (long)1 << 40); /* What follows is not read. */
    assert_found(1, "a copy of the vote is damaged");
    tool_end(&tool);
}

/* Put back from an older copy, perhaps: the node may have promised more since. */
TEST(a_vote_that_is_older_than_the_metadata_is_found)
{
    tool_start(&tool);
    metadata_start();
    metadata.term = 3;
    metadata_create("orders", ORDERS_ID);
    metadata_write();
    assert_found(1, "its term is older than that of the metadata log: a start is refused");
    write_vote(3);
    assert_found(0, NULL);
    tool_end(&tool);
}

/* ---- what is no file ---- */

static void put_folder_in_place_of(const char *name)
{
    char path[PATH_MAX];
    assert_int_equal(fs_path(path, "%s/%s", tool.data, name), 0);
    int err = fs_posix()->remove(fs_posix(), path);
    assert_true(err == 0 || err == ERR_NOT_FOUND);
    make_folder(name);
}

/* One finding, and the rest is looked at all the same. */
TEST(a_folder_in_the_place_of_a_file_is_found)
{
    static const struct {
        const char *name, *what;
    } files[] = {
        { "orders-0/00000000000000000018.index", "the next start sets it aside" },
        { "orders-0/00000000000000000018.timeindex", "the next start sets it aside" },
        { "orders-0/00000000000000000018.txnindex", "the next start sets it aside" },
        { "orders-0/00000000000000000018.snapshot", "the next start sets it aside" },
        { "orders-0/leader-epoch-checkpoint", "the next start sets it aside" },
        { "orders-0/producer-batches", "the next start sets it aside" },
        { "orders-0/partition.metadata", "the log cannot be opened" },
        { "orders-0/00000000000000000099.log", "the log cannot be opened" },
        { "recovery-point-offset-checkpoint", "the next start sets it aside" },
        { "replication-offset-checkpoint", "the next start sets it aside" },
        { "cleaner-offset-checkpoint", "the next start sets it aside" },
        { ".kafka_cleanshutdown", "the next start sets it aside" },
        { "log-start-offset-checkpoint", "a start is refused" },
        { "meta.properties", "a start is refused" },
        { "quorum-state", "a start is refused" },
        { "metadata-00000000000000000007.snapshot", "a start passes it over" },
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        tool_start(&tool);
        put_folder_in_place_of(files[i].name);
        assert_found(1, files[i].what);
        assert_int_equal(tool_count(&tool, files[i].name), 1);
        assert_int_equal(tool_count(&tool, "partitions=1 segments=3 batches=14"), 1);
        tool_end(&tool);
    }
}

TEST(a_pipe_in_the_place_of_a_segment_is_found_and_not_waited_for)
{
    char path[PATH_MAX];
    tool_start(&tool);
    assert_int_equal(fs_path(path, "%s/orders-0/00000000000000000099.log", tool.data), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_found(1, "it is no file: the log cannot be opened");
    tool_end(&tool);
}

/* What a start has set aside, and what is no name of a file of ours. */
TEST(a_folder_that_takes_no_files_place_is_no_finding)
{
    tool_start(&tool);
    make_folder("orders-0/00000000000000000018.index.set-aside.1");
    make_folder("orders-0/notes.index");
    make_folder("lost+found");
    assert_found(0, NULL);
    tool_end(&tool);
}

/* Of a name that no segment can have, for example: the start that did so has told of it. */
TEST(a_file_that_a_start_has_set_aside_is_told_and_is_no_finding)
{
    tool_start(&tool);
    tool_write(&tool, "orders-0/09223372036854775807.log.set-aside.1", "");
    assert_found(0, "1 file is set aside by an earlier start");
    tool_write(&tool, "orders-0/09223372036854775807.index.set-aside.1", "");
    assert_found(0, "2 files are set aside by an earlier start");
    tool_write(&tool, "orders-0/notes.txt", "");
    assert_found(1, "no file that belongs here");
    tool_end(&tool);
}
