// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "meta_fixture.h"

#define GROUP   META_RESOURCE_GROUP
#define METRICS META_RESOURCE_CLIENT_METRICS

/* NULL deletes. */
static void set(struct meta_state *state, enum meta_resource_type type, const char *name,
                const char *setting, const char *value)
{
    struct meta_setting_change one = { setting,
                                       value == NULL ? META_SETTING_DELETE : META_SETTING_SET,
                                       value, NULL };
    struct meta_command command = { .kind = META_RESOURCE_SETTINGS_CHANGED };
    command.as.resource_settings_changed = (struct meta_resource_settings_changed){
        type, name, { .changes = &one, .count = 1 }
    };
    assert_int_equal(apply(state, &command, NULL), 0);
}

static const char *value_of(const struct meta_view *view, enum meta_resource_type type,
                            const char *name, const char *setting)
{
    const struct meta_resource *resource = meta_view_resource(view, type, str_from(name));
    for (unsigned i = 0; resource != NULL && i < resource->setting_count; i++)
        if (strcmp(resource->settings[i].name, setting) == 0) return resource->settings[i].value;
    return "nothing";
}

TEST(a_group_and_a_subscription_of_one_name_are_two)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    set(&state, GROUP, "a", "x", "1");
    set(&state, METRICS, "a", "x", "2");
    set(&state, GROUP, "a", "y", "3");
    struct meta_view *view = meta_view_create(&state, 1, 1);
    assert_int_equal(meta_view_resource_count(view), 2);
    assert_string_equal(value_of(view, GROUP, "a", "x"), "1");
    assert_string_equal(value_of(view, GROUP, "a", "y"), "3");
    assert_string_equal(value_of(view, METRICS, "a", "x"), "2");
    assert_string_equal(value_of(view, METRICS, "a", "y"), "nothing");
    assert_null(meta_view_resource(view, GROUP, STR_LITERAL("")));
    meta_view_unref(view);
    meta_state_close(&state);
}

TEST(a_resource_is_gone_with_its_last_setting)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    set(&state, GROUP, "a", "x", "1");
    set(&state, GROUP, "a", "y", "2");
    struct meta_view *before = meta_view_create(&state, 1, 1);
    set(&state, GROUP, "a", "x", NULL);
    assert_int_equal(state.resources.count, 1);
    set(&state, GROUP, "a", "y", NULL);
    set(&state, GROUP, "b", "y", NULL); /* It never had one. */
    assert_int_equal(state.resources.count, 0);
    assert_null(meta_resources_find(&state.resources, GROUP, STR_LITERAL("a")));

    struct meta_command command = { .kind = META_RESOURCE_SETTINGS_CHANGED };
    set(&state, GROUP, "a", "x", "1");
    command.as.resource_settings_changed = (struct meta_resource_settings_changed){
        GROUP, "a", { .replaces = true }
    };
    assert_int_equal(apply(&state, &command, NULL), 0);
    assert_int_equal(state.resources.count, 0);
    meta_state_close(&state);

    assert_string_equal(value_of(before, GROUP, "a", "y"), "2"); /* A view never changes. */
    assert_int_equal(meta_view_resource_count(before), 1);
    meta_view_unref(before);
}

TEST(all_of_many_resources_are_walked_once)
{
    struct meta_state state;
    char seen[500] = { 0 };
    meta_state_init(&state, fixture_hash_key);
    for (unsigned i = 0; i < sizeof seen; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        set(&state, i % 2 == 0 ? GROUP : METRICS, name, "x", name);
    }
    const struct meta_resource *resource;
    struct meta_resource_cursor cursor = { 0, 0 };
    unsigned count = 0;
    while ((resource = meta_resources_next(&state.resources, &cursor)) != NULL) {
        unsigned number = (unsigned)strtoul(resource->name, NULL, 10);
        assert_int_equal(resource->type, number % 2 == 0 ? GROUP : METRICS);
        assert_string_equal(resource->settings[0].value, resource->name);
        assert_int_equal(seen[number]++, 0);
        count++;
    }
    assert_int_equal(count, sizeof seen);
    assert_int_equal(state.resources.count, sizeof seen);
    meta_state_close(&state);
}

TEST(a_resource_without_memory_stays_as_it_was)
{
    static const struct meta_setting old[] = { { "x", "1" } }, new[] = { { "x", "2" } };
    const struct meta_resource before = { GROUP, "a", old, 1 }, after = { GROUP, "a", new, 1 };
    struct meta_resources resources, copy;
    meta_resources_init(&resources, fixture_hash_key);
    assert_int_equal(meta_resources_put(&resources, &before), 0);
    meta_resources_copy(&copy, &resources);
    for (long nth = 1;; nth++) {
        mem_fail_at(nth);
        int err = meta_resources_put(&resources, &after);
        mem_fail_at(0);
        const struct meta_resource *found = meta_resources_find(&resources, GROUP,
                                                                STR_LITERAL("a"));
        assert_string_equal(found->settings[0].value, err == 0 ? "2" : "1");
        assert_int_equal(resources.count, 1);
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
    }
    meta_resources_close(&resources);
    assert_string_equal(meta_resources_find(&copy, GROUP, STR_LITERAL("a"))->settings[0].value,
                        "1");
    meta_resources_close(&copy);
}
