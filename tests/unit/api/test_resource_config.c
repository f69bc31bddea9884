// SPDX-License-Identifier: Apache-2.0
/* What settings groups and subscriptions to clients' metrics may have, with the errors of a Kafka 4.4. */

#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "meta_quorum.h"
#include "resource_config.h"

#define ROW(row_name, row_value)                                                          \
    {                                                                                     \
        .name = row_name, .type = CONFIG_TYPE_INT, .value = row_value, .said = row_value, \
        .default_value = "1", .documentation = "", .is_told = true                        \
    }

/* Of a broker that lets a group's members be silent for longer than its clients may by default. */
static const struct broker_config_row broker_rows[] = {
    ROW("group.consumer.heartbeat.interval.ms", "5000"),
    ROW("group.consumer.max.heartbeat.interval.ms", "100000"),
    ROW("group.consumer.max.session.timeout.ms", "90000"),
    ROW("group.consumer.min.heartbeat.interval.ms", "100"),
    ROW("group.consumer.min.session.timeout.ms", "10"),
    ROW("group.consumer.session.timeout.ms", "45000"),
    ROW("group.share.heartbeat.interval.ms", "5000"),
    ROW("group.share.session.timeout.ms", "45000"),
    ROW("group.streams.assignors", "sticky, other"),
    ROW("group.streams.heartbeat.interval.ms", "5000"),
    ROW("group.streams.max.standby.replicas", "2"),
    ROW("group.streams.min.task.offset.interval.ms", "15000"),
    ROW("group.streams.session.timeout.ms", "45000"),
};
static const struct broker_config broker = { .rows = broker_rows,
                                             .count = sizeof broker_rows / sizeof broker_rows[0] };

typedef int check(const void *broker_config, const struct meta_setting *settings, unsigned count,
                  char *why, size_t why_size);

/* There is a sentence if and only if they are refused. */
static int answer_two(check *checks, const char *name, const char *value, const char *other,
                      const char *other_value)
{
    const struct meta_setting settings[] = { { name, value }, { other, other_value } };
    char why[META_WHY_SIZE] = "";
    int err = checks(&broker, settings, other == NULL ? 1 : 2, why, sizeof why);
    assert_true((why[0] != '\0') == (err != 0));
    return err == 0 ? 0 : error_kafka_code(err);
}

static int group(const char *name, const char *value)
{
    return answer_two(group_config_check, name, value, NULL, NULL);
}

static int metrics(const char *name, const char *value)
{
    return answer_two(client_metrics_config_check, name, value, NULL, NULL);
}

TEST(what_a_group_may_have_depends_on_the_broker)
{
    assert_int_equal(group("consumer.session.timeout.ms", "90000"), 0);
    assert_int_equal(group("consumer.session.timeout.ms", "90001"), 40);
    assert_int_equal(group("consumer.heartbeat.interval.ms", "100"), 0);
    assert_int_equal(group("consumer.heartbeat.interval.ms", "99"), 40);
    assert_int_equal(group("streams.num.standby.replicas", "2"), 0);
    assert_int_equal(group("streams.num.standby.replicas", "3"), 40);
    assert_int_equal(group("streams.task.offset.interval.ms", "15000"), 0);
    assert_int_equal(group("streams.task.offset.interval.ms", "14999"), 40);
    assert_int_equal(group("streams.assignor.name", "other"), 0);
    assert_int_equal(group("streams.assignor.name", "third"), 40);
}

TEST(a_member_says_that_it_is_there_before_it_is_missed)
{
    static const char heartbeat[] = "consumer.heartbeat.interval.ms",
                      timeout[] = "consumer.session.timeout.ms";
    assert_int_equal(group(heartbeat, "44999"), 0);
    assert_int_equal(group(heartbeat, "45000"), 40); /* The broker's timeout. */
    assert_int_equal(group(timeout, "5001"), 0);
    assert_int_equal(group(timeout, "5000"), 40);
    assert_int_equal(answer_two(group_config_check, heartbeat, "50000", timeout, "50001"), 0);
    assert_int_equal(answer_two(group_config_check, heartbeat, "50000", timeout, "50000"), 40);
    assert_int_equal(group("share.session.timeout.ms", "5000"), 40);
    assert_int_equal(group("streams.session.timeout.ms", "5000"), 40);
}

TEST(a_groups_values_are_of_their_types)
{
    static const struct {
        const char *name, *legal, *illegal;
    } cases[] = {
        { "consumer.assignment.interval.ms", "0", "-1" },
        { "consumer.assignment.interval.ms", "+2147483647", "2147483648" },
        { "consumer.assignor.offload.enable", "TRUE", "yes" },
        { "errors.deadletterqueue.topic.name", "_a", "__a" },
        { "errors.deadletterqueue.topic.name", "", "__" },
        { "share.auto.offset.reset", "earliest", "Earliest" },
        { "share.auto.offset.reset", "by_duration:PT1H", "by_duration:" },
        { "share.auto.offset.reset", "by_duration:P1DT-24H", "by_duration:P1DT-25H" },
        { "share.delivery.count.limit", "2", "1" },
        { "share.isolation.level", "read_committed", "READ_COMMITTED" },
        { "streams.acceptable.recovery.lag", "9223372036854775807", "9223372036854775808" },
        { "streams.rack.aware.assignment.tags", "a, b", "a, a" },
        { "streams.rack.aware.assignment.tags", "", "," },
        { "streams.rack.aware.assignment.tags", "a", "a," },
        { "share.renew.acknowledge.enable", "false", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(group(cases[i].name, cases[i].legal), 0);
        if (group(cases[i].name, cases[i].illegal) != 40)
            fail_msg("%s=%s is taken", cases[i].name, cases[i].illegal);
    }
    assert_int_equal(group("no.such", "1"), 40);
    assert_int_equal(group("group.consumer.session.timeout.ms", "50000"), 40);
    assert_int_equal(group("", "1"), 40);
}

TEST(a_subscription_says_which_clients_push_what_and_when)
{
    static const struct {
        const char *name, *value;
        int code;
    } cases[] = {
        { "interval.ms", "100", 0 },
        { "interval.ms", "3600000", 0 },
        { "interval.ms", "99", 42 },
        { "interval.ms", "3600001", 42 },
        { "interval.ms", "-1", 42 },
        { "interval.ms", "x", 40 },
        { "interval.ms", "2147483648", 40 },
        { "metrics", "", 0 },
        { "metrics", "*", 0 },
        { "metrics", "a,a", 0 },
        { "metrics", "a,", 40 },
        { "metrics", ",", 40 },
        { "match", "", 0 },
        { "match", "client_id=a.*,client_source_port=[0-9]+", 0 },
        { "match", " client_id = a ", 0 },
        { "match", "client_id=a==", 0 },
        { "match", "client_id", 40 },
        { "match", "client_id=", 40 },
        { "match", "=", 40 },
        { "match", "=a", 40 },
        { "match", "client_id=a=b", 40 },
        { "match", "client_id==a", 40 },
        { "match", "CLIENT_ID=a", 40 },
        { "match", "client_id=a,client_id=[", 40 },
        { "match", "client_id=a,", 40 },
        { "no.such", "1", 42 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (metrics(cases[i].name, cases[i].value) != cases[i].code)
            fail_msg("%s=%s: not %d", cases[i].name, cases[i].value, cases[i].code);
}

TEST(a_subscriptions_errors_come_in_kafkas_order)
{
    check *checks = client_metrics_config_check;
    assert_int_equal(answer_two(checks, "interval.ms", "x", "no.such", "1"), 42);
    assert_int_equal(answer_two(checks, "interval.ms", "x", "match", "x"), 40);
    assert_int_equal(answer_two(checks, "interval.ms", "1", "match", "x"), 42);
    assert_int_equal(answer_two(checks, "interval.ms", "1", "metrics", ","), 40);
}

TEST(the_broker_says_what_a_group_has_by_default)
{
    struct config_synonym synonyms[CONFIG_SYNONYMS_MAX];
    struct broker_config_layers layers = { NULL, NULL };
    const struct resource_config_row *row = resource_config_find(
        &group_config, STR_LITERAL("consumer.session.timeout.ms"));
    assert_int_equal(group_config_defaults(row, &broker, layers, synonyms), 2);
    assert_string_equal(synonyms[0].name, "group.consumer.session.timeout.ms");
    assert_string_equal(synonyms[0].value, "45000");
    assert_int_equal(synonyms[0].source, CONFIG_SOURCE_STATIC);
    row = resource_config_find(&group_config, STR_LITERAL("share.isolation.level"));
    assert_int_equal(group_config_defaults(row, &broker, layers, synonyms), 1);
    assert_string_equal(synonyms[0].name, "share.isolation.level");
    assert_int_equal(synonyms[0].source, CONFIG_SOURCE_DEFAULT);
}

TEST(rows_stand_in_order_and_take_their_own_defaults)
{
    static const struct resource_config *const tables[] = { &group_config, &client_metrics_config };
    for (size_t t = 0; t < 2; t++)
        for (unsigned i = 0; i < tables[t]->count; i++) {
            const struct resource_config_row *row = &tables[t]->rows[i];
            const struct meta_setting setting = { row->name, row->default_value };
            char why[META_WHY_SIZE];
            if (i > 0) assert_true(strcmp(tables[t]->rows[i - 1].name, row->name) < 0);
            if (row->default_value == NULL) continue;
            assert_int_equal(resource_config_check_values(tables[t], &setting, 1, why, sizeof why),
                             0);
        }
}

/* A quorum waits for the check: as long as a value may be, not as long as its items squared. */
TEST(a_long_list_of_tags_is_checked_at_once)
{
    enum { ITEMS = 200000, WIDTH = 7 };
    char *tags = mem_alloc(ITEMS * WIDTH + 1);
    for (unsigned i = 0; i < ITEMS; i++)
        snprintf(tags + (size_t)i * WIDTH, WIDTH + 1, "%06u,", i);
    tags[ITEMS * WIDTH - 1] = '\0';
    assert_int_equal(group("streams.rack.aware.assignment.tags", tags), 0);
    memcpy(tags + (ITEMS - 1) * WIDTH, "000000", 6);
    assert_int_equal(group("streams.rack.aware.assignment.tags", tags), 40);
    mem_free(tags);
}
