// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "alloc.h"
#include "controller.h"
#include "error.h"
#include "meta_fixture.h"

/* Four live brokers, topics "there" and "with.dot", and a question. */
struct question {
    struct meta_state state;
    struct controller controller;
    struct arena arena;
    struct meta_topic topic;
};

static void question_open(struct question *question, int broker_count)
{
    meta_state_init(&question->state, fixture_hash_key);
    brokers_join(&question->state, broker_count);
    topic_create(&question->state, "there", 1, 1, NULL);
    topic_create(&question->state, "with.dot", 2, 1, NULL);
    arena_init(&question->arena, NULL, 0, SIZE_MAX);
    question->controller = (struct controller){ &question->state, 1, 3, 2 };
}

static void question_close(struct question *question)
{
    arena_close(&question->arena);
    meta_state_close(&question->state);
}

static int ask(struct question *question, struct meta_create_topic *wanted)
{
    struct uuid id = id_of(77);
    int err = controller_create_topic(&question->controller, wanted, &id, &question->arena,
                                      &question->topic);
    assert_int_equal(err, wanted->err);
    assert_true((wanted->why[0] == '\0') == (err == 0)); /* A sentence if and only if refused. */
    return err;
}

/* The wire code for a name and counts. */
static int code(const char *name, int32_t partitions, int16_t factor)
{
    struct question question;
    struct meta_create_topic wanted = { .name = str_from(name),
                                        .partition_count = partitions,
                                        .replication_factor = factor };
    question_open(&question, 4);
    int answer = error_kafka_code(ask(&question, &wanted));
    question_close(&question);
    return answer;
}

TEST(names_are_checked_as_in_kafka)
{
    assert_int_equal(code("new", 1, 1), 0);
    assert_int_equal(code("", 1, 1), 17);
    assert_int_equal(code(NULL, 1, 1), 17);
    assert_int_equal(code("..", 1, 1), 17);
    assert_int_equal(code("a/b", 1, 1), 17);
    assert_int_equal(code("there", 1, 1), 36);
    assert_int_equal(code("with_dot", 1, 1), 17);
    assert_int_equal(code("with.dot", 1, 1), 36);
    assert_int_equal(code("__sluice_metadata", 1, 1), 17);
    assert_int_equal(code("__consumer_offsets", 1, 1), 0);
}

TEST(counts_are_checked_as_in_kafka)
{
    assert_int_equal(code("new", 0, 1), 37);
    assert_int_equal(code("new", -2, 1), 37);
    assert_int_equal(code("new", INT32_MAX, 1), 37);
    assert_int_equal(code("new", -1, 1), 0);
    assert_int_equal(code("new", 1, 0), 38);
    assert_int_equal(code("new", 1, -2), 38);
    assert_int_equal(code("new", 1, 5), 38);
    assert_int_equal(code("new", 1, -1), 0);
    assert_int_equal(code("new", 0, 0), 38); /* Kafka looks at this one first. */
}

TEST(defaults_fill_in_what_is_minus_one)
{
    struct question question;
    struct meta_create_topic wanted = { .name = STR_LITERAL("new"),
                                        .partition_count = -1,
                                        .replication_factor = -1 };
    question_open(&question, 4);
    assert_int_equal(ask(&question, &wanted), 0);
    assert_int_equal(question.topic.partition_count, 3);
    assert_int_equal(question.topic.partitions[2].replica_count, 2);
    assert_int_equal(question.topic.partitions[2].replicas[0], 3);
    assert_int_equal(question.topic.partitions[2].leader, 3);
    assert_int_equal(question.topic.partitions[2].isr[1], 4);
    question_close(&question);
}

static int ask_by_hand(const struct meta_assignment *assignments, unsigned count)
{
    struct question question;
    struct meta_create_topic wanted = {
        .name = STR_LITERAL("new"),
        .partition_count = -1,
        .replication_factor = -1,
        .assignments = assignments,
        .assignment_count = count,
    };
    question_open(&question, 4);
    int answer = error_kafka_code(ask(&question, &wanted));
    if (answer == 0) {
        assert_int_equal(question.topic.partition_count, count);
        for (unsigned i = 0; i < count; i++) {
            const struct meta_partition *partition =
                &question.topic.partitions[assignments[i].partition];
            assert_int_equal(partition->replica_count, assignments[i].broker_count);
            assert_memory_equal(partition->replicas, assignments[i].brokers,
                                assignments[i].broker_count * sizeof(int32_t));
            assert_int_equal(partition->leader, assignments[i].brokers[0]);
        }
    }
    question_close(&question);
    return answer;
}

TEST(assignments_by_hand_are_kept_or_refused)
{
    static const int32_t a[] = { 2, 1 }, b[] = { 4, 3 }, twice[] = { 1, 1 }, unknown[] = { 1, 9 };
    static const int32_t many[] = { 1, 2, 3, 4, 1, 2 };
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { 0, a, 2, 0 }, { 1, b, 2, 0 } }, 2),
                     0);
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { 1, a, 2, 0 }, { 0, b, 2, 0 } }, 2),
                     0);
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { 0, a, 2, 0 }, { 2, b, 2, 0 } }, 2),
                     39);
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { 1, a, 2, 0 } }, 1), 39);
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { -1, a, 2, 0 } }, 1), 39);
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { 0, a, 2, 0 }, { 0, b, 2, 0 } }, 2),
                     39);
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { 0, a, 2, 0 }, { 1, b, 1, 0 } }, 2),
                     39);
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { 0, twice, 2, 0 } }, 1), 39);
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { 0, unknown, 2, 0 } }, 1), 39);
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { 0, many, 6, 0 } }, 1), 39);
    assert_int_equal(ask_by_hand((struct meta_assignment[]){ { 0, NULL, 0, 0 } }, 1), 39);
}

TEST(a_topic_that_has_logs_keeps_its_epochs)
{
    static const int32_t here[] = { 1 };
    struct meta_assignment assignments[] = { { 0, here, 1, 0 }, { 1, here, 1, 8 } };
    struct meta_create_topic wanted = { .name = STR_LITERAL("new"),
                                        .partition_count = -1,
                                        .replication_factor = -1,
                                        .assignments = assignments,
                                        .assignment_count = 2 };
    struct question question;
    question_open(&question, 1);
    assert_int_equal(ask(&question, &wanted), 0);
    assert_int_equal(question.topic.partitions[0].leader_epoch, 0);
    assert_int_equal(question.topic.partitions[1].leader_epoch, 8);
    assignments[0].leader_epoch = -1;
    assert_int_equal(error_kafka_code(ask(&question, &wanted)), 39);
    question_close(&question);
}

TEST(an_id_that_another_topic_has_is_refused)
{
    struct meta_create_topic wanted = { .name = STR_LITERAL("new"),
                                        .partition_count = 1,
                                        .replication_factor = 1 };
    struct question question;
    question_open(&question, 1);
    struct meta_topic *there = meta_state_topic(&question.state, (struct str){ "there", 5 });
    assert_int_equal(controller_create_topic(&question.controller, &wanted, &there->id,
                                             &question.arena, &question.topic),
                     ERR_INCONSISTENT_TOPIC_ID);
    assert_non_null(strstr(wanted.why, "there"));
    question_close(&question);
}

TEST(counts_and_assignments_together_are_refused)
{
    static const int32_t brokers[] = { 1 };
    static const struct meta_assignment assignment = { 0, brokers, 1, 0 };
    struct question question;
    struct meta_create_topic wanted = {
        .name = STR_LITERAL("new"),
        .partition_count = 1,
        .replication_factor = -1,
        .assignments = &assignment,
        .assignment_count = 1,
    };
    question_open(&question, 1);
    assert_int_equal(error_kafka_code(ask(&question, &wanted)), 42);
    wanted.partition_count = -1;
    wanted.replication_factor = 1;
    assert_int_equal(error_kafka_code(ask(&question, &wanted)), 42);
    question_close(&question);
}

static int ask_with(const struct meta_wanted_setting *settings, unsigned count,
                    struct question *question)
{
    struct meta_create_topic wanted = {
        .name = STR_LITERAL("new"),
        .partition_count = 1,
        .replication_factor = 1,
        .settings = settings,
        .setting_count = count,
    };
    return error_kafka_code(ask(question, &wanted));
}

TEST(settings_are_checked_sorted_and_kept)
{
    static const struct meta_wanted_setting good[] = {
        { STR_LITERAL("retention.ms"), STR_LITERAL("1000") },
        { STR_LITERAL("max.message.bytes"), STR_LITERAL("2000") },
    };
    static const struct meta_wanted_setting null[] = { { STR_LITERAL("segment.bytes"),
                                                         { NULL, -1 } } };
    static const struct meta_wanted_setting unknown[] = { { STR_LITERAL("no.such.thing"),
                                                            STR_LITERAL("1") } };
    static const struct meta_wanted_setting bad[] = { { STR_LITERAL("retention.ms"),
                                                        STR_LITERAL("soon") } };
    static const struct meta_wanted_setting twice[] = {
        { STR_LITERAL("retention.ms"), STR_LITERAL("1") },
        { STR_LITERAL("retention.ms"), STR_LITERAL("2") },
    };
    static const struct meta_wanted_setting lags[] = {
        { STR_LITERAL("max.compaction.lag.ms"), STR_LITERAL("50") },
        { STR_LITERAL("min.compaction.lag.ms"), STR_LITERAL("100") },
    };
    static const struct meta_wanted_setting nul[] = { { STR_LITERAL("retention.ms"),
                                                        STR_LITERAL("1\0") } };
    struct question question;
    question_open(&question, 1);
    assert_int_equal(ask_with(good, 2, &question), 0);
    assert_int_equal(question.topic.setting_count, 2);
    assert_string_equal(question.topic.settings[0].name, "max.message.bytes");
    assert_string_equal(question.topic.settings[1].value, "1000");
    assert_int_equal(ask_with(null, 1, &question), 40);
    assert_int_equal(ask_with(unknown, 1, &question), 40);
    assert_int_equal(ask_with(bad, 1, &question), 40);
    assert_int_equal(ask_with(twice, 2, &question), 0); /* The last one counts. */
    assert_int_equal(question.topic.setting_count, 1);
    assert_string_equal(question.topic.settings[0].value, "2");
    assert_int_equal(ask_with(lags, 2, &question), 40);
    assert_int_equal(ask_with(nul, 1, &question), 40);
    question_close(&question);
}

/* A command that said less of it than it holds could never be read again, by any node. */
TEST(a_setting_that_no_command_can_hold_is_refused)
{
    static char zeros[INT16_MAX + 1];
    struct meta_wanted_setting setting = { STR_LITERAL("retention.ms"), { zeros, INT16_MAX } };
    struct question question;
    memset(zeros, '0', sizeof zeros);
    question_open(&question, 1);
    assert_int_equal(ask_with(&setting, 1, &question), 0);
    setting.value.length++;
    assert_int_equal(ask_with(&setting, 1, &question), 40);
    question_close(&question);
}

TEST(a_name_that_a_request_has_twice_is_refused_both_times)
{
    struct meta_create_topic items[] = {
        { .name = STR_LITERAL("a") },
        { .name = STR_LITERAL("b") },
        { .name = STR_LITERAL("a") },
        { .name = STR_NULL },
    };
    assert_int_equal(controller_mark_repeated(items, 4), 0);
    assert_int_equal(error_kafka_code(items[0].err), 42);
    assert_int_equal(items[1].err, 0);
    assert_int_equal(error_kafka_code(items[2].err), 42);
    assert_int_equal(items[3].err, 0);
}

TEST(what_is_not_there_cannot_be_deleted)
{
    struct question question;
    const struct meta_topic *topic = NULL;
    question_open(&question, 1);
    struct meta_delete_topic wanted = { .name = STR_LITERAL("absent") };
    controller_delete_topic(&question.controller, &wanted, &topic);
    assert_int_equal(error_kafka_code(wanted.err), 3);
    wanted = (struct meta_delete_topic){ .name = STR_NULL, .id = id_of(55) };
    controller_delete_topic(&question.controller, &wanted, &topic);
    assert_int_equal(error_kafka_code(wanted.err), 100);
    assert_null(topic);

    wanted = (struct meta_delete_topic){ .name = STR_NULL, .id = id_of(1) };
    assert_int_equal(controller_delete_topic(&question.controller, &wanted, &topic), 0);
    assert_string_equal(topic->name, "there");
    wanted = (struct meta_delete_topic){ .name = STR_LITERAL("with.dot") };
    assert_int_equal(controller_delete_topic(&question.controller, &wanted, &topic), 0);
    assert_string_equal(topic->name, "with.dot");
    question_close(&question);
}

TEST(a_fenced_broker_gets_no_replica_by_rule)
{
    struct question question;
    struct meta_command command = {
        .kind = META_REGISTER_BROKER,
        .as.register_broker.broker = { .id = 2, .fenced = true },
    };
    struct meta_create_topic wanted = { .name = STR_LITERAL("new"),
                                        .partition_count = 3,
                                        .replication_factor = 2 };
    question_open(&question, 3);
    assert_int_equal(apply(&question.state, &command, NULL), 0);
    assert_int_equal(ask(&question, &wanted), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(question.topic.partitions[i].replicas[0], i % 2 == 0 ? 1 : 3);
        assert_int_equal(question.topic.partitions[i].replicas[1], i % 2 == 0 ? 3 : 1);
    }
    wanted.replication_factor = 3;
    assert_int_equal(error_kafka_code(ask(&question, &wanted)), 38);
    question_close(&question);
}

/* ---- more partitions ---- */

static int add(struct question *question, struct meta_add_partitions *wanted,
               struct meta_partitions_added *command)
{
    int err = controller_add_partitions(&question->controller, wanted, &question->arena, command);
    assert_int_equal(err, wanted->err);
    assert_true((wanted->why[0] == '\0') == (err == 0));
    return error_kafka_code(err);
}

static int add_code(const char *name, int32_t count)
{
    struct question question;
    struct meta_partitions_added command;
    struct meta_add_partitions wanted = { .name = str_from(name), .count = count };
    question_open(&question, 4);
    int answer = add(&question, &wanted, &command);
    question_close(&question);
    return answer;
}

TEST(a_topic_only_grows)
{
    assert_int_equal(add_code("there", 2), 0);
    assert_int_equal(add_code("there", 1), 37);
    assert_int_equal(add_code("there", 0), 37);
    assert_int_equal(add_code("there", INT32_MIN), 37);
    assert_int_equal(add_code("there", CONTROLLER_MAX_PARTITIONS), 0);
    assert_int_equal(add_code("there", CONTROLLER_MAX_PARTITIONS + 1), 37);
    assert_int_equal(add_code("there", INT32_MAX), 37);
    assert_int_equal(add_code("not there", 2), 3);
    assert_int_equal(add_code("", 2), 3);
    assert_int_equal(add_code(NULL, 2), 3);
}

/* Replica j of partition i is on broker (i + j) mod n, of the new ones too (DESIGN 8.2). */
TEST(placement_goes_on_where_it_ended)
{
    struct question question;
    struct meta_partitions_added command;
    struct meta_add_partitions wanted = { .name = STR_LITERAL("there"), .count = 7 };
    question_open(&question, 4);
    assert_int_equal(add(&question, &wanted, &command), 0);
    assert_int_equal(command.first, 1);
    assert_int_equal(command.count, 6);
    assert_false(command.is_by_hand);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(command.partitions[i].replica_count, 1);
        assert_int_equal(command.partitions[i].replicas[0], 1 + (1 + i) % 4);
        assert_int_equal(command.partitions[i].leader, 1 + (1 + i) % 4);
    }
    question_close(&question);
}

TEST(new_partitions_go_where_the_client_says)
{
    struct question question;
    struct meta_partitions_added command;
    static const int32_t brokers[] = { 3, 2, 9 };
    struct meta_assignment assignments[] = { { .brokers = brokers, .broker_count = 1 },
                                             { .brokers = brokers + 1, .broker_count = 1 } };
    struct meta_add_partitions wanted = { .name = STR_LITERAL("there"),
                                          .count = 3,
                                          .is_by_hand = true,
                                          .assignments = assignments,
                                          .assignment_count = 2 };
    question_open(&question, 4);
    assert_int_equal(add(&question, &wanted, &command), 0);
    assert_true(command.is_by_hand);
    assert_int_equal(command.partitions[0].leader, 3);
    assert_int_equal(command.partitions[1].leader, 2);
    wanted.assignment_count = 1; /* For one of two. */
    assert_int_equal(add(&question, &wanted, &command), 39);
    wanted.assignment_count = 0;
    assert_int_equal(add(&question, &wanted, &command), 39);
    wanted.assignment_count = 2;
    assignments[1].brokers = brokers + 2; /* There is no broker 9. */
    assert_int_equal(add(&question, &wanted, &command), 39);
    assignments[1].brokers = brokers;
    assignments[1].broker_count = 2; /* The topic has one replica of each. */
    assert_int_equal(add(&question, &wanted, &command), 39);
    question_close(&question);
}
