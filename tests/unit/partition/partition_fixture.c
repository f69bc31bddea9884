// SPDX-License-Identifier: Apache-2.0
#include "partition_fixture.h"

#include <stdio.h>

#include "alloc.h"

static void hand_submit(struct executor *executor, struct job *job)
{
    struct hand_pool *pool = LIST_OWNER(executor, struct hand_pool, executor);
    list_push_back(&pool->jobs, &job->node);
}

void run_jobs(struct hand_pool *pool)
{
    struct list *node;
    while ((node = list_pop_front(&pool->jobs)) != NULL) {
        struct job *job = LIST_OWNER(node, struct job, node);
        pool->ran++;
        job->run(job);
    }
}

static void count_dirty(struct partition_owner *owner, struct partition *partition)
{
    (void)partition;
    LIST_OWNER(owner, struct partition_fixture, owner)->dirty_count++;
}

static void count_opened(struct partition_owner *owner, struct partition *partition, int err)
{
    (void)partition;
    struct partition_fixture *fixture = LIST_OWNER(owner, struct partition_fixture, owner);
    fixture->opened_count++;
    fixture->opened_err = err;
}

static void count_closed(struct partition_owner *owner, struct partition *partition)
{
    (void)partition;
    LIST_OWNER(owner, struct partition_fixture, owner)->closed_count++;
}

static void count_hurry(struct partition_owner *owner)
{
    LIST_OWNER(owner, struct partition_fixture, owner)->hurry_count++;
}

static void count_failed(struct partition_owner *owner, struct partition *partition)
{
    (void)partition;
    LIST_OWNER(owner, struct partition_fixture, owner)->failed_count++;
}

void fixture_open(struct partition_fixture *fixture)
{
    static int number;
    char path[512], why[256];
    memset(fixture, 0, sizeof *fixture);
    snprintf(path, sizeof path, "%s/partition-%d", test_folder(), number++);
    clock_manual_init(&fixture->clock, 1700000000000);
    fixture->pool.executor.submit = hand_submit;
    list_init(&fixture->pool.jobs);
    assert_int_equal(loop_open(&fixture->loop, "test", &fixture->clock.clock), 0);
    assert_int_equal(data_dir_open(&fixture->dir, fs_posix(), path, why, sizeof why), 0);
    fixture->owner.dirty = count_dirty;
    fixture->owner.opened = count_opened;
    fixture->owner.closed = count_closed;
    fixture->owner.failed = count_failed;
    fixture->owner.hurry = count_hurry;
    struct topic_settings settings;
    topic_settings_defaults(&settings);
    struct partition_role role = { true, 1, 3, 1, 1 };
    struct uuid id = { { 7 } };
    assert_int_equal(partition_create(&fixture->partition, &fixture->owner, &fixture->pool.executor,
                                      &fixture->clock.clock, fixture->dir, "t", 0, &id, &settings,
                                      &role),
                     0);
}

void fixture_serve(struct partition_fixture *fixture)
{
    partition_start_opening(fixture->partition, NULL);
    run_jobs(&fixture->pool);
    assert_int_equal(fixture->opened_err, 0);
}

void append_now(struct partition_fixture *fixture, struct append *append)
{
    partition_append(fixture->partition, append);
    run_jobs(&fixture->pool);
    loop_turn(fixture->loop);
    assert_false(append->is_pending);
}

void append_records(struct partition_fixture *fixture, int count)
{
    struct append *append = new_append(fixture, "value", count);
    append_now(fixture, append);
    assert_int_equal(append->log.err, 0);
    free_append(append);
}

void fixture_close(struct partition_fixture *fixture)
{
    partition_retire(fixture->partition, false);
    run_jobs(&fixture->pool);
    loop_turn(fixture->loop);
    partition_unref(fixture->partition);
    run_jobs(&fixture->pool);
    data_dir_close(fixture->dir);
    loop_close(fixture->loop);
}

uint8_t *batch_of(const char *text, int count, size_t *size)
{
    struct batch_builder builder;
    struct buffer out;
    batch_builder_init(&builder);
    buffer_init(&out);
    struct bytes value = { (const uint8_t *)text, (int32_t)strlen(text) };
    for (int i = 0; i < count; i++)
        batch_builder_append(&builder, 1700000000000, BYTES_NULL, value, NULL, 0);
    assert_int_equal(batch_builder_finish(&builder, &out), 0);
    batch_builder_close(&builder);
    *size = out.length;
    return out.data;
}

static void note_done(struct append *append)
{
    (void)append;
}

struct append *new_append(struct partition_fixture *fixture, const char *text, int count)
{
    size_t size;
    uint8_t *data = batch_of(text, count, &size);
    struct append *append = mem_zalloc(sizeof *append);
    append_init(append, fixture->partition, data, size, 9, fixture->loop, note_done);
    append->owned = data;
    assert_true(partition_check(append));
    assert_int_equal(append->log.err, 0);
    return append;
}

void free_append(struct append *append)
{
    append_close(append);
    mem_free(append);
}

int read_from(struct partition_fixture *fixture, int64_t offset, size_t *length)
{
    struct partition_read read = {
        .from_offset = offset,
        .current_leader_epoch = -1,
        .last_fetched_epoch = -1,
        .max_bytes = 1 << 20,
        .at_least_one = true,
    };
    partition_read(fixture->partition, &read);
    *length = read.slice.length;
    file_slice_release(&read.slice);
    return read.err;
}
