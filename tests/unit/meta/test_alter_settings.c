// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "alter_settings.h"
#include "error.h"
#include "meta_fixture.h"

/* What is answered to one change of topic "there", which has no settings. */
static int answer(const char *topic, const char *name, enum meta_setting_op op, const char *value,
                  struct meta_command *command)
{
    struct meta_wanted_change change = { str_from(name), op, str_from(value), NULL };
    struct meta_alter_settings wanted = {
        .owner = META_SETTINGS_OF_TOPIC,
        .name = str_from(topic),
        .changes = &change,
        .change_count = 1,
    };
    struct meta_command granted;
    struct meta_state state;
    struct arena arena;
    meta_state_init(&state, fixture_hash_key);
    brokers_join(&state, 1);
    topic_create(&state, "there", 1, 1, NULL);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    struct controller controller = { &state, 1, 3, 2 };
    int err = controller_alter_settings(&controller, &wanted, &arena, &granted);
    assert_int_equal(err, wanted.err);
    assert_true((wanted.why[0] == '\0') == (err == 0)); /* A sentence if and only if refused. */
    if (err == 0 && command != NULL) *command = granted;
    arena_close(&arena);
    meta_state_close(&state);
    return err;
}

TEST(what_is_granted_names_the_topic_by_its_id)
{
    struct uuid id = id_of(1);
    struct meta_command command;
    assert_int_equal(answer("there", "retention.ms", META_SETTING_SET, "5", &command), 0);
    assert_int_equal(command.kind, META_TOPIC_SETTINGS_CHANGED);
    assert_true(uuid_equal(&command.as.topic_settings_changed.id, &id));
    assert_int_equal(command.as.topic_settings_changed.change.count, 1);
    assert_false(command.as.topic_settings_changed.change.replaces);
}

TEST(the_setting_is_looked_at_before_the_topic)
{
    assert_int_equal(answer("there", "no.such", META_SETTING_SET, "1", NULL), ERR_INVALID_CONFIG);
    assert_int_equal(answer("gone", "no.such", META_SETTING_SET, "1", NULL), ERR_INVALID_CONFIG);
    assert_int_equal(answer("gone", "retention.ms", META_SETTING_SET, "1", NULL),
                     ERR_UNKNOWN_TOPIC_OR_PARTITION);
    assert_int_equal(answer("there", "no.such", META_SETTING_DELETE, NULL, NULL), 0);
}

TEST(what_a_list_comes_to_must_be_legal)
{
    assert_int_equal(answer("there", "cleanup.policy", META_SETTING_APPEND, "compact", NULL), 0);
    assert_int_equal(answer("there", "cleanup.policy", META_SETTING_APPEND, "other", NULL),
                     ERR_INVALID_CONFIG);
    assert_int_equal(answer("there", "cleanup.policy", META_SETTING_SUBTRACT, "other", NULL), 0);
    assert_int_equal(answer("there", "retention.ms", META_SETTING_APPEND, "5", NULL),
                     ERR_INVALID_CONFIG);
}

TEST(a_broker_is_asked_about_by_its_id)
{
    struct meta_wanted_change change = { STR_LITERAL("log.cleanup.policy"), META_SETTING_APPEND,
                                         STR_LITERAL("compact"), "delete" };
    struct meta_alter_settings wanted = {
        .broker = 7, .replaces = true, .changes = &change, .change_count = 1
    };
    struct meta_command command;
    struct meta_state state;
    struct arena arena;
    meta_state_init(&state, fixture_hash_key);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    struct controller controller = { &state, 1, 3, 2 };
    assert_int_equal(controller_alter_settings(&controller, &wanted, &arena, &command), 0);
    assert_int_equal(command.as.broker_settings_changed.broker, 7);
    assert_true(command.as.broker_settings_changed.change.replaces);
    assert_string_equal(command.as.broker_settings_changed.change.changes[0].list, "delete");

    change.list = NULL; /* It is no list. */
    assert_int_equal(controller_alter_settings(&controller, &wanted, &arena, &command),
                     ERR_INVALID_CONFIG);
    arena_close(&arena);
    meta_state_close(&state);
}

/* Refuses what has more than one setting, and notes what it was asked about. */
static int at_most_one(const void *context, const struct meta_setting *settings, unsigned count,
                       char *why, size_t why_size)
{
    char *told = (char *)(uintptr_t)context;
    told[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        snprintf(told + strlen(told), 64 - strlen(told), "%s=%s ", settings[i].name,
                 settings[i].value);
    if (count <= 1) return 0;
    snprintf(why, why_size, "too many");
    return ERR_INVALID_REQUEST;
}

TEST(a_resource_is_checked_with_all_that_it_would_have)
{
    static const struct meta_setting old[] = { { "a", "1" } };
    const struct meta_resource group = { META_RESOURCE_GROUP, "g", old, 1 };
    struct meta_wanted_change change = { STR_LITERAL("b"), META_SETTING_SET, STR_LITERAL("2"),
                                         NULL };
    char told[64];
    struct meta_alter_settings wanted = {
        .owner = META_SETTINGS_OF_RESOURCE,
        .resource_type = META_RESOURCE_GROUP,
        .name = STR_LITERAL("g"),
        .check = at_most_one,
        .check_context = told,
        .changes = &change,
        .change_count = 1,
    };
    struct meta_command command;
    struct meta_state state;
    struct arena arena;
    meta_state_init(&state, fixture_hash_key);
    assert_int_equal(meta_resources_put(&state.resources, &group), 0);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    struct controller controller = { &state, 1, 3, 2 };
    assert_int_equal(controller_alter_settings(&controller, &wanted, &arena, &command),
                     ERR_INVALID_REQUEST);
    assert_string_equal(wanted.why, "too many");
    assert_string_equal(told, "a=1 b=2 ");

    wanted.replaces = true;
    assert_int_equal(controller_alter_settings(&controller, &wanted, &arena, &command), 0);
    assert_string_equal(told, "b=2 ");
    assert_int_equal(command.kind, META_RESOURCE_SETTINGS_CHANGED);
    assert_int_equal(command.as.resource_settings_changed.type, META_RESOURCE_GROUP);
    assert_string_equal(command.as.resource_settings_changed.name, "g");
    assert_true(command.as.resource_settings_changed.change.replaces);

    wanted.resource_type = META_RESOURCE_CLIENT_METRICS; /* Another one, with nothing yet. */
    wanted.replaces = false;
    assert_int_equal(controller_alter_settings(&controller, &wanted, &arena, &command), 0);
    assert_string_equal(told, "b=2 ");

    change.op = META_SETTING_APPEND; /* It is no list. */
    assert_int_equal(controller_alter_settings(&controller, &wanted, &arena, &command),
                     ERR_INVALID_CONFIG);
    arena_close(&arena);
    meta_state_close(&state);
}
