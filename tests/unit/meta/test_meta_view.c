// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "meta_fixture.h"

static void fill(struct meta_state *state, unsigned topics, unsigned partitions)
{
    brokers_join(state, 1);
    for (unsigned i = 0; i < topics; i++) {
        char name[32];
        snprintf(name, sizeof name, "topic.%u", i);
        assert_int_equal(topic_create(state, name, i + 1, partitions, NULL), 0);
    }
}

TEST(a_view_never_changes)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    fill(&state, 100, 1);
    struct meta_view *view = meta_view_create(&state, 1, 1);
    assert_int_equal(topic_delete(&state, 7, NULL), 0);
    assert_int_equal(topic_create(&state, "new", 1000, 1, NULL), 0);
    brokers_join(&state, 3);

    assert_int_equal(meta_view_topic_count(view), 100);
    assert_non_null(meta_view_topic(view, STR_LITERAL("topic.6")));
    assert_null(meta_view_topic(view, STR_LITERAL("new")));
    assert_int_equal(meta_view_broker_count(view), 1);
    assert_null(meta_state_topic(&state, STR_LITERAL("topic.6")));
    meta_state_close(&state);

    /* Also when the state is gone. */
    struct uuid id = id_of(7);
    assert_string_equal(meta_view_topic_by_id(view, &id)->name, "topic.6");
    assert_string_equal(meta_view_broker(view, 1)->endpoints[0].host, "localhost");
    assert_null(meta_view_broker(view, 2));
    meta_view_unref(view);
}

TEST(views_share_what_did_not_change)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    fill(&state, 1000, 2);
    struct meta_view *before = meta_view_create(&state, 1, 1);
    assert_int_equal(topic_delete(&state, 500, NULL), 0);
    struct meta_view *after = meta_view_create(&state, 1, 2);
    unsigned walked = 0;
    for (struct meta_topic_cursor cursor = { 0, 0 };;) {
        const struct meta_topic *topic = meta_view_next_topic(after, &cursor);
        if (topic == NULL) break;
        assert_ptr_equal(topic, meta_view_topic(before, str_from(topic->name)));
        walked++;
    }
    assert_int_equal(walked, 999);
    meta_view_unref(before);
    meta_view_unref(after);
    meta_state_close(&state);
}

TEST(a_topic_outlives_the_views_that_had_it)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    fill(&state, 1, 3);
    struct meta_topic *topic = meta_topic_ref(meta_state_topic(&state, STR_LITERAL("topic.0")));
    assert_int_equal(topic_delete(&state, 1, NULL), 0);
    meta_state_close(&state);
    assert_string_equal(topic->name, "topic.0");
    assert_int_equal(topic->partitions[2].replicas[0], 1);
    meta_topic_unref(topic);
}

TEST(a_hundred_thousand_partitions_are_found_and_changed_one_by_one)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    fill(&state, 10000, 10);
    assert_int_equal(state.partition_count, 100000);
    for (unsigned i = 0; i < 10000; i++) {
        char name[32];
        struct uuid id = id_of(i + 1);
        snprintf(name, sizeof name, "topic.%u", i);
        const struct meta_topic *topic = meta_state_topic(&state, str_from(name));
        assert_non_null(topic);
        assert_ptr_equal(topic, meta_state_topic_by_id(&state, &id));
    }
    /* Each change with a view before it, as the meta thread does it: had it to copy all topics,
     * this would take minutes. */
    struct meta_view *view = NULL;
    for (unsigned i = 0; i < 10000; i++) {
        struct meta_view *next = meta_view_create(&state, 1, i);
        meta_view_unref(view);
        view = next;
        assert_int_equal(topic_delete(&state, i + 1, NULL), 0);
    }
    assert_int_equal(meta_view_topic_count(view), 1);
    assert_int_equal(state.topic_count, 0);
    meta_view_unref(view);
    meta_state_close(&state);
}

static _Atomic(struct meta_view *) handed_over;
static atomic_bool is_over;

static void *read_views(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_over)) {
        struct meta_view *view = atomic_exchange(&handed_over, NULL);
        unsigned walked = 0;
        if (view == NULL) continue;
        for (struct meta_topic_cursor cursor = { 0, 0 };
             meta_view_next_topic(view, &cursor) != NULL;)
            walked++;
        assert_int_equal(walked, meta_view_topic_count(view));
        meta_view_unref(view);
    }
    return NULL;
}

TEST(views_are_read_and_given_back_on_other_threads)
{
    struct meta_state state;
    pthread_t reader;
    meta_state_init(&state, fixture_hash_key);
    brokers_join(&state, 1);
    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&reader, NULL, read_views, NULL), 0);
    for (unsigned i = 0; i < 2000; i++) {
        char name[32];
        snprintf(name, sizeof name, "topic.%u", i % 50);
        if (topic_create(&state, name, i % 50 + 1, 1, NULL) != 0)
            topic_delete(&state, i % 50 + 1, NULL);
        meta_view_unref(atomic_exchange(&handed_over, meta_view_create(&state, 1, i)));
    }
    atomic_store(&is_over, true);
    pthread_join(reader, NULL);
    meta_view_unref(atomic_exchange(&handed_over, NULL));
    meta_state_close(&state);
}

TEST(a_change_without_memory_leaves_the_table_as_it_was)
{
    struct meta_state state;
    meta_state_init(&state, fixture_hash_key);
    fill(&state, 10, 1);
    struct meta_topic *topic = meta_topic_copy(meta_state_topic(&state, STR_LITERAL("topic.3")));
    for (int nth = 1;; nth++) {
        struct shared_table table;
        unsigned count;
        shared_table_init(&table, state.by_name.counting);
        mem_fail_at(nth);
        int err = shared_table_change(&table, 5, NULL, topic);
        mem_fail_at(0);
        shared_table_bucket(&table, 5, &count);
        assert_int_equal(count, err == 0 ? 1 : 0);
        shared_table_close(&table);
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
    }
    meta_topic_unref(topic);
    meta_state_close(&state);
}
