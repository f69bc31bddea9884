// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "meta_fixture.h"

static const struct meta_setting before[] = { { "cleanup.policy", "delete" },
                                              { "retention.ms", "1" },
                                              { "segment.ms", "2" } };

/* What one change makes of `before`, as "name=value" with spaces between. */
static const char *after(bool replaces, struct meta_setting_change change)
{
    static char text[256];
    struct meta_settings_change changes = { replaces, &change, 1 };
    struct meta_setting *settings;
    struct arena arena;
    unsigned count;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(meta_settings_apply(before, 3, &changes, &arena, &settings, &count), 0);
    text[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        if (i > 0) strcat(text, " ");
        strcat(strcat(strcat(text, settings[i].name), "="), settings[i].value);
    }
    arena_close(&arena);
    return text;
}

static struct meta_setting_change change(const char *name, enum meta_setting_op op,
                                         const char *value, const char *list)
{
    return (struct meta_setting_change){ name, op, value, list };
}

TEST(settings_are_set_and_deleted_and_stay_ascending)
{
    assert_string_equal(after(false, change("flush.ms", META_SETTING_SET, "9", NULL)),
                        "cleanup.policy=delete flush.ms=9 retention.ms=1 segment.ms=2");
    assert_string_equal(after(false, change("retention.ms", META_SETTING_SET, "9", NULL)),
                        "cleanup.policy=delete retention.ms=9 segment.ms=2");
    assert_string_equal(after(false, change("retention.ms", META_SETTING_DELETE, NULL, NULL)),
                        "cleanup.policy=delete segment.ms=2");
    assert_string_equal(after(false, change("unknown", META_SETTING_DELETE, NULL, NULL)),
                        "cleanup.policy=delete retention.ms=1 segment.ms=2");
}

TEST(what_replaces_leaves_nothing_else)
{
    assert_string_equal(after(true, change("flush.ms", META_SETTING_SET, "9", NULL)), "flush.ms=9");
}

TEST(items_are_added_to_a_list_once_and_taken_from_it)
{
    static const char *rest = " retention.ms=1 segment.ms=2";
    static const struct {
        enum meta_setting_op op;
        const char *value, *result;
    } steps[] = {
        { META_SETTING_APPEND, "compact", "cleanup.policy=delete,compact" },
        { META_SETTING_APPEND, " delete , compact,compact", "cleanup.policy=delete,compact" },
        { META_SETTING_APPEND, "", "cleanup.policy=delete," }, /* An empty item. */
        { META_SETTING_APPEND, ",a,,b,,", "cleanup.policy=delete,,a,b" },
        { META_SETTING_APPEND, ",,", "cleanup.policy=delete" },
        { META_SETTING_SUBTRACT, "delete", "cleanup.policy=" },
        { META_SETTING_SUBTRACT, "", "cleanup.policy=delete" },
        { META_SETTING_SUBTRACT, "compact", "cleanup.policy=delete" },
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const char *result = after(false,
                                   change("cleanup.policy", steps[i].op, steps[i].value, "x"));
        assert_memory_equal(result, steps[i].result, strlen(steps[i].result));
        assert_string_equal(result + strlen(steps[i].result), rest);
    }
}

TEST(a_list_that_is_not_set_begins_with_the_default)
{
    assert_string_equal(after(true, change("list", META_SETTING_APPEND, "c", "a,b")), "list=a,b,c");
    assert_string_equal(after(true, change("list", META_SETTING_SUBTRACT, "a", "a,b")), "list=b");
    assert_string_equal(after(true, change("list", META_SETTING_APPEND, "a", NULL)), "list=a");
}

static void set_broker(struct meta_state *state, int32_t broker, const char *name,
                       const char *value)
{
    struct meta_setting_change one = change(
        name, value == NULL ? META_SETTING_DELETE : META_SETTING_SET, value, NULL);
    struct meta_command command = { .kind = META_BROKER_SETTINGS_CHANGED };
    command.as.broker_settings_changed = (struct meta_broker_settings_changed){
        broker, { .changes = &one, .count = 1 }
    };
    assert_int_equal(apply(state, &command, NULL), 0);
}

TEST(brokers_have_settings_until_the_last_is_deleted)
{
    struct meta_state state, older;
    meta_state_init(&state, fixture_hash_key);
    set_broker(&state, 3, "a", "1");
    set_broker(&state, META_EVERY_BROKER, "a", "2");
    set_broker(&state, 1, "b", "3");
    meta_state_copy(&older, &state);
    set_broker(&state, 3, "a", NULL);
    assert_int_equal(meta_broker_settings_count(state.broker_settings), 2);
    assert_null(meta_broker_settings_find(state.broker_settings, 3));
    assert_string_equal(
        meta_broker_settings_find(state.broker_settings, META_EVERY_BROKER)->settings[0].value,
        "2");
    assert_string_equal(meta_broker_settings_find(older.broker_settings, 3)->settings[0].value,
                        "1");
    set_broker(&state, 1, "b", NULL);
    set_broker(&state, META_EVERY_BROKER, "a", NULL);
    assert_null(state.broker_settings);
    meta_state_close(&older);
    meta_state_close(&state);
}

TEST(a_topic_that_is_gone_has_no_settings_to_change)
{
    struct meta_setting_change one = change("retention.ms", META_SETTING_SET, "5", NULL);
    struct meta_command command = { .kind = META_TOPIC_SETTINGS_CHANGED };
    struct meta_changes changes;
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    meta_changes_init(&changes);
    brokers_join(&state, 1);
    assert_int_equal(topic_create(&state, "a", 1, 2, NULL), 0);
    command.as.topic_settings_changed = (struct meta_topic_settings_changed){
        id_of(2), { .changes = &one, .count = 1 }
    };
    assert_int_equal(apply(&state, &command, &changes), ERR_UNKNOWN_TOPIC_OR_PARTITION);
    assert_int_equal(changes.count, 0);

    command.as.topic_settings_changed.id = id_of(1);
    assert_int_equal(apply(&state, &command, &changes), 0);
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.items[0].before->setting_count, 0);
    assert_string_equal(changes.items[0].after->settings[0].value, "5");
    assert_int_equal(changes.items[0].after->partition_count, 2);
    meta_changes_close(&changes);
    meta_state_close(&state);
}

TEST(changing_settings_survives_a_lack_of_memory)
{
    struct meta_setting_change one = change("a", META_SETTING_APPEND, "1", "0");
    struct meta_settings_change changes = { false, &one, 1 };
    struct meta_broker_settings_list *list = NULL;
    for (long at = 1;; at++) {
        struct meta_setting *settings;
        struct arena arena;
        unsigned count;
        arena_init(&arena, NULL, 0, SIZE_MAX);
        mem_fail_at(at);
        int err = meta_settings_apply(before, 3, &changes, &arena, &settings, &count);
        if (err == 0) {
            struct meta_broker_settings one_broker = { 1, count, settings };
            err = meta_broker_settings_replace(NULL, &one_broker, &list);
        }
        mem_fail_at(0);
        arena_close(&arena);
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
        assert_null(list);
    }
    meta_broker_settings_unref(list);
}
