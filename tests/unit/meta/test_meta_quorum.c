// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "controller.h"
#include "error.h"
#include "fs.h"
#include "meta_snapshot.h"
#include "quorum_fixture.h"
#include "trace.h"

static void no_lines(void *context, const char *line)
{
    (void)context;
    (void)line;
}

TEST(an_empty_folder_becomes_a_cluster_of_one)
{
    struct node node;
    node_start(&node, node_path());
    struct meta_view *view = meta_quorum_view(node.quorum);
    assert_int_equal(strlen(meta_view_cluster_id(view)), 22);
    assert_string_equal(meta_view_cluster_id(view), data_dir_identity(node.dir)->cluster_id);
    assert_int_equal(meta_view_controller(view), 1);
    assert_int_equal(meta_view_broker_count(view), 1);
    const struct meta_broker *broker = meta_view_broker(view, 1);
    assert_false(broker->fenced);
    assert_int_equal(broker->incarnation, meta_view_index(view));
    assert_string_equal(broker->endpoints[0].listener, "PLAINTEXT");
    meta_view_unref(view);
    assert_int_equal(node.calls, 1);
    node_stop(&node);
}

TEST(an_answer_comes_after_the_view_and_the_watcher)
{
    struct node node;
    node_start(&node, node_path());
    struct meta_view *view = meta_quorum_view(node.quorum);
    node_create_topic(&node, "orders", 3);
    assert_int_equal(node.created, 1);
    assert_null(meta_view_topic(view, STR_LITERAL("orders")));
    meta_quorum_refresh(node.quorum, &view);
    const struct meta_topic *topic = meta_view_topic(view, STR_LITERAL("orders"));
    assert_non_null(topic);
    assert_int_equal(topic->partitions[2].leader, 1);
    assert_int_equal(node.told_index, meta_view_index(view));
    /* Nothing new: the very same view. */
    struct meta_view *same = view;
    meta_quorum_refresh(node.quorum, &view);
    assert_ptr_equal(view, same);
    meta_view_unref(view);
    node_delete_topic(&node, "orders");
    assert_int_equal(node.deleted, 1);
    assert_false(node_has_topic(&node, "orders"));
    node_stop(&node);
}

static bool has_snapshot(const char *path)
{
    int64_t index;
    unsigned count = 0;
    assert_int_equal(meta_snapshot_list(fs_posix(), path, &index, 1, &count), 0);
    return count > 0;
}

static void restart_and_look(void)
{
    struct node node;
    const char *path = node_path();
    char cluster_id[64];
    node_start(&node, path);
    snprintf(cluster_id, sizeof cluster_id, "%s", data_dir_identity(node.dir)->cluster_id);
    for (int i = 0; i < 20; i++) {
        char name[32];
        snprintf(name, sizeof name, "topic-%d", i);
        node_create_topic(&node, name, i + 1);
    }
    node_delete_topic(&node, "topic-7");
    assert_int_equal(node.were_deleted, 0); /* Told as a change. */
    struct meta_view *view = meta_quorum_view(node.quorum);
    int64_t incarnation = meta_view_broker(view, 1)->incarnation;
    meta_view_unref(view);
    node_stop(&node);

    node_start(&node, path);
    assert_int_equal(node.created, 19); /* The watcher hears of all of them at once, as created. */
    assert_int_equal(node.calls, 1);
    assert_int_equal(node.were_deleted, 1);
    assert_string_equal(node.last_deleted, "topic-7");
    assert_int_equal(node_topic_count(&node), 19);
    assert_false(node_has_topic(&node, "topic-7"));
    view = meta_quorum_view(node.quorum);
    assert_int_equal(meta_view_topic(view, STR_LITERAL("topic-9"))->partition_count, 10);
    assert_int_equal(meta_view_topic(view, STR_LITERAL("topic-9"))->partitions[9].leader_epoch, 0);
    assert_string_equal(meta_view_cluster_id(view), cluster_id);
    assert_true(meta_view_broker(view, 1)->incarnation > incarnation);
    meta_view_unref(view);
    assert_int_equal(node_try_create(&node, "topic-3"), ERR_TOPIC_ALREADY_EXISTS);
    node_stop(&node);
    assert_int_equal(has_snapshot(path), node_snapshot_bytes > 0);
}

TEST(a_restart_brings_everything_back)
{
    restart_and_look();
    node_snapshot_bytes = 800; /* The same out of snapshots. */
    restart_and_look();
    node_snapshot_bytes = 0;
}

TEST(producer_ids_are_never_given_twice)
{
    struct node node;
    const char *path = node_path();
    int64_t expected = 0;
    for (int life = 0; life < 4; life++) {
        node_start(&node, path);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(node_take_producer_ids(&node, 1000), expected);
            expected += 1000;
        }
        node_stop(&node);
    }
}

TEST(what_was_acknowledged_survives_kill_9)
{
    struct node node, survivor;
    const char *path = node_path();
    node_start(&node, path);
    for (int i = 0; i < 30; i++) {
        char name[32];
        snprintf(name, sizeof name, "topic-%d", i);
        node_create_topic(&node, name, 2);
        if (i == 10) node_delete_topic(&node, "topic-3");
        if (i % 7 != 6) continue;
        int64_t given = node_take_producer_ids(&node, 10);
        node_start(&survivor, folder_copy(path)); /* While the other one runs. */
        for (int j = 0; j <= i; j++) {
            snprintf(name, sizeof name, "topic-%d", j);
            assert_int_equal(node_has_topic(&survivor, name), i < 10 || j != 3);
        }
        assert_true(node_take_producer_ids(&survivor, 10) >= given + 10);
        node_stop(&survivor);
    }
    node_stop(&node);
}

TEST(a_broker_whose_page_cache_is_gone_leads_on_in_a_new_epoch)
{
    struct node node;
    const char *path = node_path();
    node_start(&node, path);
    node_create_topic(&node, "a", 2);
    node_stop(&node);

    assert_int_equal(node_open(&node, path, 1, false), 0);
    node_run(&node);
    struct meta_view *view = meta_quorum_view(node.quorum);
    assert_int_equal(meta_view_topic(view, STR_LITERAL("a"))->partitions[1].leader_epoch, 1);
    meta_view_unref(view);
    assert_int_equal(node.created, 1);
    assert_int_equal(node.changed, 0); /* It was told once, as it is now. */
    node_stop(&node);
}

TEST(each_topic_of_a_request_has_its_own_answer)
{
    struct node node;
    static const int32_t nobody[] = { 5 };
    static const struct meta_assignment assignment = { 0, nobody, 1, 0 };
    struct meta_create_topic items[] = {
        { .name = STR_LITERAL("good"), .partition_count = 2, .replication_factor = 1 },
        { .name = STR_LITERAL("twice"), .partition_count = 1, .replication_factor = 1 },
        { .name = STR_LITERAL("bad name"), .partition_count = 1, .replication_factor = 1 },
        { .name = STR_LITERAL("twice"), .partition_count = 1, .replication_factor = 1 },
        { .name = STR_LITERAL("wide"), .partition_count = 1, .replication_factor = 3 },
        { .name = STR_LITERAL("far"),
          .partition_count = -1,
          .replication_factor = -1,
          .assignments = &assignment,
          .assignment_count = 1 },
        { .name = STR_LITERAL("default"), .partition_count = -1, .replication_factor = -1 },
    };
    static const int expected[] = { 0, 42, 17, 42, 38, 39, 0 };
    struct meta_request request = { .kind = META_CREATE_TOPICS,
                                    .as.create_topics = { items, 7, false, false } };
    node_start(&node, node_path());
    node_ask(&node, &request);
    assert_int_equal(request.err, 0);
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(error_kafka_code(items[i].err), expected[i]);
        assert_true((items[i].topic != NULL) == (expected[i] == 0));
        meta_topic_unref(items[i].topic);
    }
    assert_int_equal(node_topic_count(&node), 2);
    node_stop(&node);
}

TEST(validate_only_creates_nothing)
{
    struct node node;
    struct meta_create_topic item = { .name = STR_LITERAL("maybe"),
                                      .partition_count = 4,
                                      .replication_factor = -1 };
    struct meta_request request = { .kind = META_CREATE_TOPICS,
                                    .as.create_topics = { &item, 1, true, false } };
    node_start(&node, node_path());
    node_ask(&node, &request);
    assert_int_equal(item.err, 0);
    assert_int_equal(item.topic->partition_count, 4);
    meta_topic_unref(item.topic);
    assert_int_equal(node_topic_count(&node), 0);
    node_create_topic(&node, "maybe", 1);
    node_ask(&node, &request);
    assert_int_equal(error_kafka_code(item.err), 36);
    node_stop(&node);
}

TEST(topics_grow_and_are_answered_each)
{
    struct node node;
    struct meta_add_partitions items[] = {
        { .name = STR_LITERAL("a"), .count = 4 },
        { .name = STR_LITERAL("b"), .count = 1 },
        { .name = STR_LITERAL("c"), .count = 2 },
    };
    static const int expected[] = { 0, 37, 3 };
    struct meta_request request = { .kind = META_ADD_PARTITIONS,
                                    .as.add_partitions = { items, 3, true } };
    node_start(&node, node_path());
    node_create_topic(&node, "a", 1);
    node_create_topic(&node, "b", 1);
    for (int i = 0; i < 2; i++) {
        node_ask(&node, &request);
        assert_int_equal(request.err, 0);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(error_kafka_code(items[k].err), expected[k]);
            assert_true((items[k].why[0] == '\0') == (expected[k] == 0));
        }
        struct meta_view *view = meta_quorum_view(node.quorum);
        assert_int_equal(meta_view_topic(view, STR_LITERAL("a"))->partition_count, i == 0 ? 1 : 4);
        meta_view_unref(view);
        request.as.add_partitions.validate_only = false;
    }
    node_stop(&node);
}

static int answers;

static void count_answer(struct meta_request *request)
{
    (void)request;
    answers++;
}

/* What it had proposed already goes, and nothing else that is in the same batch. */
TEST(a_client_who_asks_for_too_much_gets_nothing_and_harms_nobody)
{
    struct node node;
    struct meta_create_topic items[] = {
        { .name = STR_LITERAL("before"), .partition_count = 2, .replication_factor = 1 },
        { .name = STR_LITERAL("half"), .partition_count = 5000, .replication_factor = 1 },
        { .name = STR_LITERAL("other"), .partition_count = 5000, .replication_factor = 1 },
        { .name = STR_LITERAL("after"), .partition_count = 3, .replication_factor = 1 },
    };
    struct meta_request requests[] = {
        { .kind = META_CREATE_TOPICS, .as.create_topics = { &items[0], 1, false, true } },
        { .kind = META_CREATE_TOPICS, .as.create_topics = { &items[1], 2, false, true } },
        { .kind = META_CREATE_TOPICS, .as.create_topics = { &items[3], 1, false, true } },
    };
    node_start(&node, node_path());
    answers = 0;
    for (int i = 0; i < 2; i++) {
        requests[i].loop = node.loop;
        requests[i].done = count_answer;
        requests[i].deadline_ms = clock_monotonic_us(clock_real()) / 1000 + 60000;
        meta_quorum_request(node.quorum, &requests[i]);
    }
    node_ask(&node, &requests[2]);
    assert_int_equal(answers, 2);
    assert_int_equal(requests[1].err, ERR_POLICY_VIOLATION);
    for (int i = 0; i < 4; i++) {
        bool is_refused = i == 1 || i == 2;
        assert_int_equal(items[i].err, is_refused ? ERR_POLICY_VIOLATION : 0);
        assert_true((items[i].topic == NULL) == is_refused);
        meta_topic_unref(items[i].topic);
    }
    assert_int_equal(node_topic_count(&node), 2);

    requests[1].as.create_topics.is_limited = false; /* Our own may. */
    node_ask(&node, &requests[1]);
    assert_int_equal(items[1].err, 0);
    assert_int_equal(items[2].err, 0);
    meta_topic_unref(items[1].topic);
    meta_topic_unref(items[2].topic);
    node_stop(&node);
}

TEST(changes_of_settings_in_one_batch_all_count_and_are_told)
{
    struct node node;
    struct meta_wanted_change changes[] = {
        { STR_LITERAL("list"), META_SETTING_APPEND, STR_LITERAL("a"), "" },
        { STR_LITERAL("list"), META_SETTING_APPEND, STR_LITERAL("b"), "" },
        { STR_LITERAL("other"), META_SETTING_SET, STR_LITERAL("1"), NULL },
    };
    struct meta_alter_settings items[3];
    struct meta_request request = { .kind = META_ALTER_SETTINGS,
                                    .as.alter_settings = { items, 3, true } };
    const char *path = node_path();
    for (int i = 0; i < 3; i++)
        items[i] = (struct meta_alter_settings){ .broker = META_EVERY_BROKER,
                                                 .changes = &changes[i],
                                                 .change_count = 1 };
    node_start(&node, path);
    node_ask(&node, &request);
    assert_int_equal(request.err, 0);
    assert_int_equal(node.settings_told, 0); /* It was only validated. */
    request.as.alter_settings.validate_only = false;
    node_ask(&node, &request);
    for (int i = 0; i < 3; i++)
        assert_int_equal(items[i].err, 0);
    assert_true(node.settings_told > 0);
    assert_int_equal(node.setting_count, 2);
    node_stop(&node);

    node_start(&node, path);
    struct meta_view *view = meta_quorum_view(node.quorum);
    const struct meta_broker_settings *all = meta_view_broker_settings(view, META_EVERY_BROKER);
    assert_int_equal(all->count, 2);
    assert_string_equal(all->settings[0].value, "a,b");
    meta_view_unref(view);
    assert_int_equal(node.settings_told, 1); /* Once, before the topics. */
    node_stop(&node);
}

static int take_all(const void *context, const struct meta_setting *settings, unsigned count,
                    char *why, size_t why_size)
{
    (void)context, (void)settings, (void)count;
    (void)why, (void)why_size;
    return 0;
}

TEST(settings_of_groups_survive_a_restart_and_tell_no_broker)
{
    struct node node;
    struct meta_wanted_change change = { STR_LITERAL("a"), META_SETTING_SET, STR_LITERAL("1"),
                                         NULL };
    struct meta_alter_settings item = { .owner = META_SETTINGS_OF_RESOURCE,
                                        .resource_type = META_RESOURCE_GROUP,
                                        .name = STR_LITERAL("g"),
                                        .check = take_all,
                                        .changes = &change,
                                        .change_count = 1 };
    struct meta_request request = { .kind = META_ALTER_SETTINGS,
                                    .as.alter_settings = { &item, 1, false } };
    const char *path = node_path();
    node_start(&node, path);
    node_ask(&node, &request);
    assert_int_equal(request.err, 0);
    assert_int_equal(item.err, 0);
    assert_int_equal(node.settings_told, 0);
    node_stop(&node);

    node_start(&node, path);
    struct meta_view *view = meta_quorum_view(node.quorum);
    const struct meta_resource *group = meta_view_resource(view, META_RESOURCE_GROUP,
                                                           STR_LITERAL("g"));
    assert_non_null(group);
    assert_string_equal(group->settings[0].value, "1");
    meta_view_unref(view);
    node_stop(&node);
}

TEST(one_of_two_deletions_of_a_topic_finds_nothing)
{
    struct node node;
    struct meta_delete_topic items[] = { { .name = STR_LITERAL("a") },
                                         { .name = STR_LITERAL("a") } };
    struct meta_request request = { .kind = META_DELETE_TOPICS, .as.delete_topics = { items, 2 } };
    node_start(&node, node_path());
    node_create_topic(&node, "a", 1);
    node_ask(&node, &request);
    assert_int_equal(items[0].err, 0);
    assert_int_equal(error_kafka_code(items[1].err), 3);
    meta_topic_unref(items[0].topic);
    assert_null(items[1].topic);
    node_stop(&node);
}

TEST(a_request_whose_deadline_has_passed_is_answered_so)
{
    struct node node;
    struct meta_create_topic item = { .name = STR_LITERAL("late"),
                                      .partition_count = 1,
                                      .replication_factor = 1 };
    struct meta_request request = { .kind = META_CREATE_TOPICS,
                                    .deadline_ms = 1,
                                    .as.create_topics = { &item, 1, false, false } };
    node_start(&node, node_path());
    node_ask(&node, &request);
    assert_int_equal(request.err, ERR_REQUEST_TIMED_OUT);
    assert_int_equal(item.err, ERR_REQUEST_TIMED_OUT);
    assert_int_equal(node_topic_count(&node), 0);
    node_stop(&node);
}

/* ---- many at once ---- */

#define MANY 500

struct many {
    struct meta_request request;
    struct meta_create_topic item;
    char name[32];
};

static pthread_mutex_t many_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t many_done = PTHREAD_COND_INITIALIZER;
static unsigned many_left;

static void one_done(struct meta_request *request)
{
    (void)request;
    pthread_mutex_lock(&many_lock);
    many_left--;
    pthread_cond_broadcast(&many_done);
    pthread_mutex_unlock(&many_lock);
}

static void many_ask(struct node *node, struct many *all)
{
    many_left = MANY;
    for (unsigned i = 0; i < MANY; i++) {
        struct many *one = &all[i];
        snprintf(one->name, sizeof one->name, "topic-%u",
                 i % (MANY - 10)); /* The last ten repeat. */
        one->item = (struct meta_create_topic){ .name = str_from(one->name),
                                                .partition_count = 1,
                                                .replication_factor = 1 };
        one->request = (struct meta_request){
            .kind = META_CREATE_TOPICS,
            .loop = node->loop,
            .done = one_done,
            .deadline_ms = INT64_MAX,
            .as.create_topics = { &one->item, 1, false, false },
        };
        meta_quorum_request(node->quorum, &one->request);
    }
}

static void many_wait(void)
{
    pthread_mutex_lock(&many_lock);
    while (many_left > 0)
        pthread_cond_wait(&many_done, &many_lock);
    pthread_mutex_unlock(&many_lock);
}

TEST(of_many_at_once_each_is_answered_once_and_names_stay_unique)
{
    struct node node;
    struct many *all = calloc(MANY, sizeof *all);
    node_start(&node, node_path());
    many_ask(&node, all);
    many_wait();
    unsigned refused = 0;
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(all[i].request.err, 0);
        if (all[i].item.err != 0) {
            assert_int_equal(all[i].item.err, ERR_TOPIC_ALREADY_EXISTS);
            refused++;
        }
        meta_topic_unref(all[i].item.topic);
    }
    assert_int_equal(refused, 10);
    assert_int_equal(node_topic_count(&node), MANY - 10);
    assert_int_equal(node.created, MANY - 10);
    node_stop(&node);
    free(all);
}

TEST(what_is_pending_when_it_closes_is_canceled_or_was_done)
{
    struct node node;
    const char *path = node_path();
    struct many *all = calloc(MANY, sizeof *all);
    node_start(&node, path);
    many_ask(&node, all);
    meta_quorum_close(node.quorum);
    node.quorum = NULL;
    many_wait();
    unsigned created = 0;
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(all[i].request.err == 0 || all[i].request.err == ERR_CANCELED);
        if (all[i].request.err == 0 && all[i].item.err == 0) created++;
        meta_topic_unref(all[i].item.topic);
    }
    node_stop(&node);
    node_start(&node, path);
    assert_true(node_topic_count(&node) >= created);
    node_stop(&node);
    free(all);
}

/* ---- disks that are slow, or fail ---- */

/* Holds jobs back while it is told to. */
struct gate {
    struct executor executor;
    struct executor *behind;
    pthread_mutex_t lock;
    struct list held;
    bool is_shut;
};

static void gate_submit(struct executor *executor, struct job *job)
{
    struct gate *gate = (struct gate *)(void *)executor;
    pthread_mutex_lock(&gate->lock);
    bool is_shut = gate->is_shut;
    if (is_shut) list_push_back(&gate->held, &job->node);
    pthread_mutex_unlock(&gate->lock);
    if (!is_shut) executor_submit(gate->behind, job);
}

static void gate_set(struct gate *gate, bool is_shut)
{
    struct list *node;
    pthread_mutex_lock(&gate->lock);
    gate->is_shut = is_shut;
    while (!is_shut && (node = list_pop_front(&gate->held)) != NULL)
        executor_submit(gate->behind, LIST_OWNER(node, struct job, node));
    pthread_mutex_unlock(&gate->lock);
}

TEST(a_deadline_ends_the_wait_for_a_slow_disk)
{
    struct node node;
    struct gate gate = { .executor = { gate_submit }, .lock = PTHREAD_MUTEX_INITIALIZER };
    struct meta_create_topic item = { .name = STR_LITERAL("slow"),
                                      .partition_count = 1,
                                      .replication_factor = 1 };
    struct meta_request request = { .kind = META_CREATE_TOPICS,
                                    .as.create_topics = { &item, 1, false, false } };
    list_init(&gate.held);
    assert_int_equal(node_open(&node, node_path(), 1, true), 0);
    meta_quorum_close(node.quorum);
    gate.behind = node.options.disk;
    node.options.disk = &gate.executor;
    assert_int_equal(meta_quorum_open(&node.quorum, &node.options, node.why, sizeof node.why), 0);
    node_run(&node);

    gate_set(&gate, true);
    request.deadline_ms = clock_monotonic_us(clock_real()) / 1000 + 20;
    node_ask(&node, &request);
    assert_int_equal(request.err, ERR_REQUEST_TIMED_OUT);
    assert_null(item.topic);
    assert_false(node_has_topic(&node, "slow"));
    gate_set(&gate, false);
    /* It was asked for, so it comes all the same. */
    assert_int_equal(node_try_create(&node, "slow"), ERR_TOPIC_ALREADY_EXISTS);
    node_stop(&node);
}

static atomic_bool syncs_fail;

static int sync_or_fail(struct fs *fs, int fd)
{
    (void)fs;
    return atomic_load(&syncs_fail) ? ERR_IO : fs_posix()->sync(fs_posix(), fd);
}

TEST(a_disk_that_fails_a_flush_ends_the_process_and_acknowledges_nothing)
{
    struct node node;
    struct fs fs = *fs_posix();
    struct meta_create_topic item = { .name = STR_LITERAL("lost"),
                                      .partition_count = 1,
                                      .replication_factor = 1 };
    struct meta_request request = { .kind = META_CREATE_TOPICS,
                                    .deadline_ms = INT64_MAX,
                                    .as.create_topics = { &item, 1, false, false } };
    fs.sync = sync_or_fail;
    atomic_store(&syncs_fail, false);
    assert_int_equal(node_open_on(&node, &fs, node_path(), 1, true), 0);
    node_run(&node);
    node.expects_end = true;
    trace_set_sink(no_lines, NULL);
    atomic_store(&syncs_fail, true);
    node_ask_only(&node, &request);
    node_wait_for_end(&node);
    assert_false(node_has_topic(&node, "lost"));
    meta_quorum_close(node.quorum);
    node.quorum = NULL;
    node_wait_for_answer(&node);
    assert_int_equal(request.err, ERR_CANCELED);
    atomic_store(&syncs_fail, false);
    node_stop(&node);
    trace_set_sink(NULL, NULL);
}

static int almost_no_space(struct fs *fs, const char *path, int64_t *free_bytes,
                           int64_t *total_bytes)
{
    (void)fs;
    (void)path;
    *free_bytes = 2 << 20;
    *total_bytes = 1000000;
    return 0;
}

TEST(on_a_disk_that_is_almost_full_nothing_is_created)
{
    struct node node;
    struct fs full = *fs_posix();
    const char *path = node_path();
    node_start(&node, path);
    node_create_topic(&node, "a", 1);
    node_stop(&node);
    full.free_bytes = almost_no_space;
    assert_int_equal(node_open_on(&node, &full, path, 1, true), 0);
    node_run(&node);
    assert_int_equal(node_try_create(&node, "b"), ERR_NO_SPACE);
    assert_true(node_take_producer_ids(&node, 10) >= 0); /* Who writes to "a" still can. */
    node_delete_topic(&node, "a");
    assert_int_equal(node_topic_count(&node), 0);
    node_stop(&node);
}

/* ---- folders that are not in order ---- */

static void assert_refused(const char *path, int32_t node_id, int expected, const char *part_of_why)
{
    struct node node;
    trace_set_sink(no_lines, NULL);
    int err = node_open(&node, path, node_id, true);
    trace_set_sink(NULL, NULL);
    if (err != expected || strstr(node.why, part_of_why) == NULL)
        fail_msg("%s: %s", error_name(err), node.why);
    node.quorum = NULL;
    node_stop(&node);
}

static const char *folder_with_a_topic(void)
{
    struct node node;
    const char *path = node_path();
    node_start(&node, path);
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "topic-%d", i);
        node_create_topic(&node, name, 1);
    }
    node_stop(&node);
    return path;
}

static void in_folder(const char *path, const char *name, char full[1024])
{
    snprintf(full, 1024, "%s/%s", path, name);
}

TEST(a_folder_of_another_node_is_refused)
{
    assert_refused(folder_with_a_topic(), 2, ERR_USAGE, "node 1's");
}

TEST(a_folder_whose_log_is_of_another_cluster_is_refused)
{
    char from[1024], to[1024], command[2200];
    const char *path = folder_with_a_topic();
    in_folder(folder_with_a_topic(), "meta.properties", from);
    in_folder(path, "meta.properties", to);
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
    assert_refused(path, 1, ERR_INCONSISTENT_CLUSTER_ID, "copied here from elsewhere");
}

TEST(a_voter_that_forgot_its_log_or_its_vote_is_refused)
{
    char full[1024];
    const char *path = folder_with_a_topic();
    in_folder(path, "quorum-state", full);
    assert_int_equal(unlink(full), 0);
    assert_refused(path, 1, ERR_CORRUPT_MESSAGE, "quorum-state");

    path = folder_with_a_topic();
    in_folder(path, "__sluice_metadata-0", full);
    assert_int_equal(fs_remove_tree(fs_posix(), full), 0);
    assert_refused(path, 1, ERR_CORRUPT_MESSAGE, "acknowledged");
}

TEST(a_log_without_the_name_of_its_cluster_is_refused)
{
    char full[1024];
    const char *path = folder_with_a_topic();
    in_folder(path, "meta.properties", full);
    assert_int_equal(unlink(full), 0);
    assert_refused(path, 1, ERR_INCONSISTENT_CLUSTER_ID, "meta.properties");
}

TEST(a_first_start_that_was_cut_short_begins_again)
{
    struct node node;
    char full[1024];
    const char *path = node_path();
    /* Opened, not started: formatted. Without meta.properties it is as after a crash just
     * before. */
    assert_int_equal(node_open(&node, path, 1, true), 0);
    const char *copy = folder_copy(path);
    node_stop(&node);
    in_folder(copy, "meta.properties", full);
    assert_int_equal(unlink(full), 0);
    char command[1200];
    snprintf(command, sizeof command, "cd '%s' && rm -f quorum-state", copy);
    assert_int_equal(system(command), 0);
    node_start(&node, copy);
    node_create_topic(&node, "a", 1);
    node_stop(&node);
}

/* `from_end`: the position counts from the end of the log. */
static void flip_in_log(const char *path, long position, bool from_end)
{
    char full[1024];
    in_folder(path, "__sluice_metadata-0/00000000000000000001.log", full);
    FILE *file = fopen(full, "r+b");
    assert_non_null(file);
    fseek(file, position, from_end ? SEEK_END : SEEK_SET);
    int c = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(c ^ 1, file);
    fclose(file);
}

TEST(a_flipped_byte_in_what_was_acknowledged_is_refused)
{
    const char *path = folder_with_a_topic();
    flip_in_log(path, 150, false); /* In the first batches, far below the end. */
    assert_refused(path, 1, ERR_CORRUPT_MESSAGE, "metadata");
}

/* The last of all, too: nothing in the log behind it knows of it. */
TEST(after_a_kill_nothing_that_was_acknowledged_is_taken_for_a_torn_end)
{
    struct node node;
    const char *path = node_path();
    node_start(&node, path);
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "topic-%d", i);
        node_create_topic(&node, name, 1);
        const char *copy = folder_copy(path);
        flip_in_log(copy, -10, true);
        assert_refused(copy, 1, ERR_CORRUPT_MESSAGE, "damaged");
        copy = folder_copy(path);
        flip_in_log(copy, 250, false);
        assert_refused(copy, 1, ERR_CORRUPT_MESSAGE, "damaged");
    }
    node_stop(&node);
}
