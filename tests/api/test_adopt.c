// SPDX-License-Identifier: Apache-2.0
/* sluiced --adopt: what a Kafka left behind is served. The folder is one that Kafka wrote. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api_calls.h"

#define KAFKA_FOLDER     "data/segment-data"
#define LOG_START_OFFSET 4
#define LOG_END_OFFSET   45
#define OPEN_TRANSACTION 24 /* Of a producer that never came back. */

static const struct str orders = { "orders", 6 };

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_int_equal(system(command), 0);
}

static bool exists(const struct test_broker *broker, const char *name)
{
    char path[512];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", broker->folder, name);
    return stat(path, &status) == 0;
}

static bool said(const struct test_broker *broker, const char *words)
{
    char path[256];
    static char text[65536];
    snprintf(path, sizeof path, "%s/output", broker->folder);
    FILE *output = fopen(path, "r");
    assert_non_null(output);
    text[fread(text, 1, sizeof text - 1, output)] = '\0';
    fclose(output);
    return strstr(text, words) != NULL;
}

/* A broker, not started, on a copy of Kafka's folder. */
static void given_kafkas_folder(struct test_broker *broker, bool adopt)
{
    test_broker_prepare_on(broker, NULL, KAFKA_FOLDER);
    broker->adopt = adopt;
}

/* Beside its data folder there is another, `more`. */
static void with_two_folders(struct test_broker *broker, char setting[512])
{
    snprintf(setting, 512, "log.dirs=%s/data,%s/more", broker->folder, broker->folder);
    broker->settings[0] = setting;
}

/* Starts, serves the offsets of groups in so many partitions, one of which has what Kafka wrote, and stops. */
static void assert_offsets_are_in(struct test_broker *broker, int32_t count, int32_t partition)
{
    test_broker_start(broker);
    struct test_client *client = client_open(broker->port);
    struct topic topic = await_topic(client, STR_LITERAL("__consumer_offsets"), count);
    assert_int_equal(end_offset(client, topic, partition), LOG_END_OFFSET);
    client_close(client);
    test_broker_stop(broker);
}

/* All that a reader gets, from the first offset on. */
static struct records read_all(struct test_client *client, struct topic topic, int64_t from)
{
    struct records all = { .length = 0 };
    int64_t offset = from;
    while (offset < LOG_END_OFFSET) {
        struct fetch_response_partition answer = fetch(client, topic, 0, offset);
        assert_int_equal(answer.error_code, 0);
        assert_int_equal(answer.log_start_offset, LOG_START_OFFSET);
        assert_int_equal(answer.last_stable_offset, OPEN_TRANSACTION);
        assert_true(answer.records.length > 0);
        int32_t count = records_batch_count(answer.records);
        offset = batch_last_offset(records_batch(answer.records, count - 1)) + 1;
        uint8_t *joined = client_alloc(client, (size_t)(all.length + answer.records.length), 1);
        if (all.length > 0) memcpy(joined, all.data, (size_t)all.length);
        memcpy(joined + all.length, answer.records.data, (size_t)answer.records.length);
        all = (struct records){ .data = joined, .length = all.length + answer.records.length };
    }
    return all;
}

/* The bytes of Kafka's segments, one after the other, without the first batch: it lies below the
 * start of the log. */
static struct records kafkas_bytes(struct test_client *client)
{
    static const char *const segments[] = { "00000000000000000000", "00000000000000000018",
                                            "00000000000000000024" };
    struct records all = { .data = client_alloc(client, 65536, 1) };
    uint8_t *to = (uint8_t *)(uintptr_t)all.data;
    for (size_t i = 0; i < 3; i++) {
        char name[128];
        snprintf(name, sizeof name, KAFKA_FOLDER "/orders-0/%s.log", segments[i]);
        FILE *file = fopen(test_data(name), "rb");
        assert_non_null(file);
        all.length += (int32_t)fread(to + all.length, 1, (size_t)(65536 - all.length), file);
        fclose(file);
    }
    int32_t first = records_batch(all, 0).length;
    return (struct records){ .data = all.data + first, .length = all.length - first };
}

static void assert_serves_it(struct test_broker *broker)
{
    struct test_client *client = client_open(broker->port);
    struct topic topic = await_topic(client, orders, 1);
    char id[UUID_TEXT_SIZE];
    uuid_print(&topic.id, id);
    assert_string_equal(id, "MkZ0J2mMSiqQXHZLyqsl5g");
    assert_int_equal(end_offset(client, topic, 0), LOG_END_OFFSET);
    struct records got = read_all(client, topic, LOG_START_OFFSET), kafkas = kafkas_bytes(client);
    assert_int_equal(got.length, kafkas.length);
    assert_memory_equal(got.data, kafkas.data, (size_t)got.length);
    client_close(client);
}

TEST(a_kafkas_partition_is_served_to_the_byte)
{
    struct test_broker broker;
    given_kafkas_folder(&broker, true);
    test_broker_start(&broker);
    assert_serves_it(&broker);
    assert_true(exists(&broker, "data/meta.properties.adopted"));
    assert_true(exists(&broker, "data/meta.properties"));
    test_broker_stop(&broker);

    test_broker_start(&broker); /* To adopt it again changes nothing. */
    assert_serves_it(&broker);
    assert_true(said(&broker, "there is nothing to take over"));
    test_broker_kill(&broker);

    broker.adopt = false; /* And it need not be asked for any more. */
    test_broker_start(&broker);
    assert_serves_it(&broker);
    test_broker_stop(&broker);
}

TEST(an_adopted_partition_goes_on_in_a_later_epoch)
{
    struct test_broker broker;
    given_kafkas_folder(&broker, true);
    test_broker_start(&broker);
    struct test_client *client = client_open(broker.port);
    struct topic topic = await_topic(client, orders, 1);
    struct records sent = batch_build(&client->arena, (struct batch){ .record_count = 3 });
    assert_int_equal(produce(client, topic, 0, sent), LOG_END_OFFSET);
    struct records got = fetch(client, topic, 0, LOG_END_OFFSET).records;
    assert_same_batch(records_batch(got, 0), sent);
    assert_int_equal(load_i32(got.data + 12), 4); /* Kafka's last was 3. */
    assert_true(producer_id_new(client) > 9001);  /* One that occurs belongs to somebody. */
    client_close(client);
    test_broker_stop(&broker);
}

TEST(without_being_asked_a_broker_leaves_a_kafkas_folder_alone)
{
    struct test_broker broker;
    given_kafkas_folder(&broker, false);
    assert_true(test_broker_ends_by_itself(&broker) != 0);
    assert_true(said(&broker, "orders-0"));
    assert_true(said(&broker, "--adopt"));
    assert_false(exists(&broker, "data/meta.properties.adopted"));
    assert_false(exists(&broker, "data/quorum-state"));
    run("cd '%s/data' && rm .lock && diff -r . '%s'", broker.folder, test_data(KAFKA_FOLDER));
}

TEST(unknown_partitions_beside_ours_are_named_and_left_alone_until_asked_for)
{
    struct test_broker broker;
    test_broker_open(&broker, NULL);
    test_broker_stop(&broker);
    run("cp -r '%s/orders-0' '%s/data/orders-0'", test_data(KAFKA_FOLDER), broker.folder);
    run("cp -r '%s/orders-0' '%s/data/__transaction_state-7'", test_data(KAFKA_FOLDER),
        broker.folder);
    test_broker_start(&broker);
    struct test_client *client = client_open(broker.port);
    assert_false(topic_exists(client, orders));
    client_close(client);
    test_broker_stop(&broker);
    assert_true(said(&broker, "orders-0"));
    run("diff -r '%s/data/orders-0' '%s/orders-0'", broker.folder, test_data(KAFKA_FOLDER));

    broker.adopt = true;
    test_broker_start(&broker);
    client = client_open(broker.port);
    assert_true(topic_exists(client, orders));
    assert_false(topic_exists(client, STR_LITERAL("__transaction_state")));
    client_close(client);
    test_broker_stop(&broker);
    assert_true(said(&broker, "of __transaction_state alone"));
    run("diff -r '%s/data/__transaction_state-7' '%s/orders-0'", broker.folder,
        test_data(KAFKA_FOLDER));
}

TEST(missing_partitions_are_made_empty_and_a_missing_id_is_made)
{
    struct test_broker broker;
    given_kafkas_folder(&broker, true);
    run("cd '%s/data' && mv orders-0 orders-2 && rm orders-2/partition.metadata *-checkpoint",
        broker.folder);
    test_broker_start(&broker);
    struct test_client *client = client_open(broker.port);
    struct topic topic = await_topic(client, orders, 3);
    assert_int_equal(end_offset(client, topic, 0), 0);
    assert_int_equal(end_offset(client, topic, 1), 0);
    assert_int_equal(end_offset(client, topic, 2), LOG_END_OFFSET);
    assert_false(uuid_is_zero(&topic.id));
    client_close(client);
    test_broker_stop(&broker);
    assert_true(exists(&broker, "data/orders-2/partition.metadata"));

    test_broker_start(&broker);
    client = client_open(broker.port);
    struct topic again = await_topic(client, orders, 3);
    assert_true(uuid_equal(&again.id, &topic.id));
    client_close(client);
    test_broker_stop(&broker);
}

TEST(a_topic_whose_partitions_contradict_each_other_is_left_alone)
{
    struct test_broker broker;
    given_kafkas_folder(&broker, true);
    run("cd '%s/data' && cp -r orders-0 orders-1 && "
        "printf 'version: 0\\ntopic_id: AAAAAAAAAAAAAAAAAAAAAg' >orders-1/partition.metadata",
        broker.folder);
    test_broker_start(&broker);
    struct test_client *client = client_open(broker.port);
    assert_false(topic_exists(client, orders));
    client_close(client);
    test_broker_stop(&broker);
    assert_true(said(&broker, "its partitions say different topic ids"));
    assert_true(exists(&broker, "data/orders-0/00000000000000000018.log"));
    assert_true(exists(&broker, "data/orders-1/00000000000000000018.log"));
}

TEST(several_folders_are_adopted_together)
{
    struct test_broker broker;
    char log_dirs[512];
    given_kafkas_folder(&broker, true);
    run("cp -r '%s' '%s/more' && mv '%s/more/orders-0' '%s/more/orders-1' && rm "
        "%s/more/*-checkpoint",
        test_data(KAFKA_FOLDER), broker.folder, broker.folder, broker.folder, broker.folder);
    with_two_folders(&broker, log_dirs);
    test_broker_start(&broker);
    struct test_client *client = client_open(broker.port);
    struct topic topic = await_topic(client, orders, 2);
    assert_int_equal(end_offset(client, topic, 0), LOG_END_OFFSET);
    assert_int_equal(end_offset(client, topic, 1), LOG_END_OFFSET);
    client_close(client);
    test_broker_stop(&broker);
    assert_true(exists(&broker, "more/meta.properties.adopted"));

    broker.adopt = false;
    test_broker_start(&broker);
    client = client_open(broker.port);
    topic = await_topic(client, orders, 2);
    assert_int_equal(end_offset(client, topic, 1), LOG_END_OFFSET);
    client_close(client);
    test_broker_stop(&broker);
}

TEST(a_partition_that_lies_in_two_folders_is_not_for_us_to_choose)
{
    struct test_broker broker;
    char log_dirs[512];
    given_kafkas_folder(&broker, true);
    run("cp -r '%s' '%s/more'", test_data(KAFKA_FOLDER), broker.folder);
    with_two_folders(&broker, log_dirs);
    assert_true(test_broker_ends_by_itself(&broker) != 0);
    assert_true(said(&broker, "orders-0 is in"));
    assert_true(said(&broker, "one of them is a copy"));
    run("diff -r '%s/more/orders-0' '%s/orders-0'", broker.folder, test_data(KAFKA_FOLDER));
}

TEST(all_partitions_of_two_topics_with_one_name_are_told_of)
{
    struct test_broker broker;
    char log_dirs[512];
    given_kafkas_folder(&broker, true);
    run("cd '%s/data' && cp -r orders-0 orders-1 && mkdir ../more && cp -r orders-* ../more/ && "
        "printf 'version: 0\\ntopic_id: AAAAAAAAAAAAAAAAAAAAQQ\\n' > "
        "../more/orders-1/partition.metadata",
        broker.folder);
    with_two_folders(&broker, log_dirs);
    assert_true(test_broker_ends_by_itself(&broker) != 0);
    assert_true(said(&broker, "orders-0 is in"));
    assert_true(said(&broker, "orders-1 is in"));
    assert_true(said(&broker, "they are of two topics"));
}

/* A Kafka may be told to have another number of them. */
TEST(the_offsets_of_groups_stay_in_as_many_partitions_as_are_there)
{
    struct test_broker broker;
    given_kafkas_folder(&broker, true);
    run("cd '%s/data' && mv orders-0 __consumer_offsets-0 && rm *-checkpoint && "
        "cp -r __consumer_offsets-0 __consumer_offsets-1",
        broker.folder);
    assert_offsets_are_in(&broker, 2, 1);
}

TEST(the_offsets_of_groups_come_along)
{
    struct test_broker broker;
    given_kafkas_folder(&broker, true);
    run("cd '%s/data' && mv orders-0 __consumer_offsets-3 && rm *-checkpoint", broker.folder);
    /* Others are elsewhere; which partition holds a group depends on how many there are: all that Kafka has. */
    assert_offsets_are_in(&broker, 50, 3);
}
