// SPDX-License-Identifier: Apache-2.0
/* That a topic's settings do what they say. `Setting:` above a test names those that it fails without;
 * scripts/check-settings.sh compares them with what the program honours. */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "broker_inside.h"
#include "config_calls.h"

#define MAX_SETTINGS 4
#define FIRST_INDEX  "%.*s-0/00000000000000000000.index"
#define FIRST_LOG    "%.*s-0/00000000000000000000.log"
#define NAME(topic)  (topic).name.length, (topic).name.data
#define HOUR_MS      INT64_C(3600000)

static int64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct topic topic_of(struct test_client *client, const char *name, const char *value)
{
    struct topic_setting settings[] = { { name, value }, { NULL, NULL } };
    return topic_new_with(client, 1, settings);
}

static struct topic topic_of_two(struct test_client *client, const char *name, const char *value,
                                 const char *other, const char *other_value)
{
    struct topic_setting settings[] = { { name, value }, { other, other_value }, { NULL, NULL } };
    return topic_new_with(client, 1, settings);
}

/* A broker of the test's own whose housekeeping is in a hurry, and its folder of a partition. */
static struct test_client *open_hasty(struct test_broker *broker)
{
    static const char *const hasty[] = { "log.retention.check.interval.ms=10",
                                         "sluice.flush.interval.ms=10", NULL };
    test_broker_open(broker, hasty);
    return client_open(broker->port);
}

static void close_hasty(struct test_broker *broker, struct test_client *client)
{
    client_close(client);
    test_broker_stop(broker);
}

static unsigned files_of(const struct test_broker *broker, struct topic topic, const char *suffix)
{
    char folder[300];
    snprintf(folder, sizeof folder, "%.*s-0", NAME(topic));
    return broker_files_like(broker, folder, suffix);
}

/* `count` batches with a record of so many bytes, a millisecond apart from `first_ms` on. */
static void put(struct test_client *client, struct topic topic, int count, int32_t bytes,
                int64_t first_ms)
{
    for (int i = 0; i < count; i++)
        produce(client, topic, 0,
                batch_build(&client->arena, (struct batch){ .value_bytes = bytes,
                                                            .first_timestamp = first_ms + i }));
}

/* ---- segments ---- */

/* Setting: segment.bytes */
TEST(a_segment_ends_at_its_size)
{
    struct test_broker broker;
    struct test_client *client = open_hasty(&broker);
    struct topic small = topic_of(client, "segment.bytes", "1048576"), large = topic_new(client, 1);
    put(client, small, 5, 400000, wall_ms());
    put(client, large, 5, 400000, wall_ms());
    assert_int_equal(files_of(&broker, small, ".log"), 3);
    assert_int_equal(files_of(&broker, large, ".log"), 1);
    close_hasty(&broker, client);
}

/* Setting: segment.ms */
TEST(a_segment_ends_at_its_age)
{
    struct test_broker broker;
    struct test_client *client = open_hasty(&broker);
    struct topic brief = topic_of(client, "segment.ms", "1000"), usual = topic_new(client, 1);
    int64_t now = wall_ms();
    put(client, brief, 1, 10, now - 5000);
    put(client, brief, 1, 10, now);
    put(client, usual, 1, 10, now - 5000);
    put(client, usual, 1, 10, now);
    assert_int_equal(files_of(&broker, brief, ".log"), 2);
    assert_int_equal(files_of(&broker, usual, ".log"), 1);
    close_hasty(&broker, client);
}

/* Of ten partitions whose segments may end up to an hour early, some do, and not all at once.
 *
 * Setting: segment.jitter.ms */
TEST(segments_end_earlier_by_chance)
{
    struct test_broker broker;
    struct test_client *client = open_hasty(&broker);
    struct topic_setting settings[] = { { "segment.ms", "3600000" },
                                        { "segment.jitter.ms", "3600000" },
                                        { NULL, NULL } };
    struct topic topic = topic_new_with(client, 10, settings);
    int64_t now = wall_ms();
    unsigned early = 0;
    for (int32_t i = 0; i < 10; i++) {
        char folder[300];
        for (int k = 0; k < 2; k++)
            produce(client, topic, i,
                    batch_build(&client->arena,
                                (struct batch){ .first_timestamp = now - (1 - k) * HOUR_MS / 2 }));
        snprintf(folder, sizeof folder, "%.*s-%d", NAME(topic), i);
        early += broker_files_like(&broker, folder, ".log") == 2;
    }
    assert_in_range(early, 1, 9);
    close_hasty(&broker, client);
}

/* Setting: segment.index.bytes */
TEST(a_segment_ends_when_its_index_is_full)
{
    struct test_broker broker;
    struct test_client *client = open_hasty(&broker);
    struct topic small = topic_of_two(client, "segment.index.bytes", "60", "index.interval.bytes",
                                      "0");
    struct topic large = topic_of(client, "index.interval.bytes", "0");
    put(client, small, 20, 10, wall_ms());
    put(client, large, 20, 10, wall_ms());
    assert_true(files_of(&broker, small, ".log") > 3);
    assert_int_equal(files_of(&broker, large, ".log"), 1);
    close_hasty(&broker, client);
}

/* Setting: index.interval.bytes */
TEST(an_index_has_an_entry_for_each_interval)
{
    struct test_broker broker;
    struct test_client *client = open_hasty(&broker);
    struct topic dense = topic_of(client, "index.interval.bytes", "100");
    struct topic usual = topic_new(client, 1);
    put(client, dense, 20, 1000, wall_ms());
    put(client, usual, 20, 1000, wall_ms());
    close_hasty(&broker, client);
    assert_int_equal(broker_file_size(&broker, FIRST_INDEX, NAME(dense)), 19 * 8);
    assert_in_range(broker_file_size(&broker, FIRST_INDEX, NAME(usual)), 3 * 8, 5 * 8);
}

/* Setting: preallocate */
TEST(a_segment_may_take_all_its_space_at_once)
{
    struct test_broker broker;
    struct test_client *client = open_hasty(&broker);
    struct topic whole = topic_of_two(client, "preallocate", "true", "segment.bytes", "4194304");
    put(client, whole, 1, 10, wall_ms());
    AWAIT(broker_file_disk_bytes(&broker, FIRST_LOG, NAME(whole)) >= 4 << 20);
    assert_true(broker_file_size(&broker, FIRST_LOG, NAME(whole)) < 1000);
    close_hasty(&broker, client);
    assert_true(broker_file_disk_bytes(&broker, FIRST_LOG, NAME(whole)) < 1 << 20);
}

/* ---- what goes ---- */

/* Setting: retention.bytes */
TEST(what_is_too_much_is_removed)
{
    struct test_broker broker;
    struct test_client *client = open_hasty(&broker);
    struct topic topic = topic_of_two(client, "retention.bytes", "1000000", "segment.bytes",
                                      "1048576");
    put(client, topic, 8, 500000, wall_ms());
    /* Of four segments the last one is enough. */
    AWAIT(list_offset(client, LIST_OFFSETS_NEWEST, topic, 0, -2).offset == 6);
    close_hasty(&broker, client);
}

/* Setting: retention.ms */
TEST(what_is_too_old_is_removed)
{
    struct test_broker broker;
    struct test_client *client = open_hasty(&broker);
    struct topic topic = topic_of(client, "retention.ms", "1000");
    put(client, topic, 3, 10, wall_ms() - 5000);
    AWAIT(list_offset(client, LIST_OFFSETS_NEWEST, topic, 0, -2).offset == 3);
    close_hasty(&broker, client);
}

/* Setting: file.delete.delay.ms */
TEST(a_removed_segment_stays_on_the_disk_for_a_while)
{
    struct test_broker broker;
    struct test_client *client = open_hasty(&broker);
    struct topic at_once = topic_of_two(client, "file.delete.delay.ms", "0", "retention.ms",
                                        "1000");
    struct topic later = topic_of(client, "retention.ms", "1000");
    put(client, at_once, 1, 10, wall_ms() - 5000);
    put(client, later, 1, 10, wall_ms() - 5000);
    AWAIT(list_offset(client, LIST_OFFSETS_NEWEST, at_once, 0, -2).offset == 1);
    AWAIT(list_offset(client, LIST_OFFSETS_NEWEST, later, 0, -2).offset == 1);
    AWAIT(broker_file_size(&broker, FIRST_LOG, NAME(at_once)) == -1); /* It has another name now. */
    AWAIT(files_of(&broker, at_once, ".log.deleted") == 0);
    AWAIT(files_of(&broker, later, ".log.deleted") == 1); /* Hidden first, then renamed. */
    close_hasty(&broker, client);
}

/* ---- what is taken ---- */

static int put_at(struct test_client *client, struct topic topic, int64_t timestamp)
{
    struct records records = batch_build(&client->arena,
                                         (struct batch){ .first_timestamp = timestamp });
    return produce_to(client, PRODUCE_NEWEST, topic, 0, -1, records).error_code;
}

/* Setting: message.timestamp.before.max.ms, message.timestamp.after.max.ms */
TEST(a_time_too_far_from_now_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic strict = topic_of_two(client, "message.timestamp.before.max.ms", "600000",
                                       "message.timestamp.after.max.ms", "600000");
    struct topic lax = topic_of(client, "message.timestamp.after.max.ms", "360000000");
    int64_t now = wall_ms();
    assert_int_equal(put_at(client, strict, now - HOUR_MS / 2), 32);
    assert_int_equal(put_at(client, strict, now - HOUR_MS / 10), 0);
    assert_int_equal(put_at(client, strict, now + HOUR_MS / 2), 32);
    assert_int_equal(put_at(client, strict, now + HOUR_MS / 10), 0);
    assert_int_equal(put_at(client, lax, now - 24 * HOUR_MS), 0);
    assert_int_equal(put_at(client, lax, now + 24 * HOUR_MS), 0);
    client_close(client);
}

/* The batch as a producer with that codec would send it. */
static struct records compressed(struct test_client *client, const char *codec,
                                 struct records batch)
{
    struct topic topic = topic_of(client, "compression.type", codec);
    int64_t offset = produce(client, topic, 0, batch);
    struct records stored = records_copy(&client->arena, fetch(client, topic, 0, offset).records);
    memset((uint8_t *)(uintptr_t)stored.data, 0, 8); /* Base offset. */
    return stored;
}

/* Setting: max.decompressed.message.bytes */
TEST(a_batch_that_opens_to_too_much_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic strict = topic_of(client, "max.decompressed.message.bytes", "10000");
    struct topic usual = topic_new(client, 1);
    struct records batch = compressed(
        client, "gzip", batch_build(&client->arena, (struct batch){ .value_bytes = 20000 }));
    assert_true(batch.length < 10000);
    assert_int_not_equal(produce_to(client, PRODUCE_NEWEST, strict, 0, -1, batch).error_code, 0);
    assert_int_equal(produce_to(client, PRODUCE_NEWEST, usual, 0, -1, batch).error_code, 0);
    client_close(client);
}

/* ---- what is made of it ---- */

/* Text that repeats itself now and then: there is something for a better level to find. */
static struct records prose(struct test_client *client)
{
    struct records batch = batch_build(&client->arena,
                                       (struct batch){ .record_count = 1, .value_bytes = 60000 });
    uint8_t *data = (uint8_t *)(uintptr_t)batch.data;
    uint32_t state = 7;
    for (int32_t i = BATCH_HEADER_BYTES + 20; i < batch.length - 1; i++) {
        state = state * 1664525 + 1013904223;
        data[i] = (uint8_t)("etaoin shrdlu"[(state >> 24) % 13]);
        uint32_t back = 200 + (state >> 8) % 5000;
        if ((state >> 20) % 4 == 0 && i - (int32_t)back > BATCH_HEADER_BYTES + 20)
            for (int k = 0; k < 12 && i < batch.length - 1; k++, i++)
                data[i] = data[i - (int32_t)back];
    }
    records_repair_crc(batch);
    return batch;
}

/* Setting: compression.gzip.level, compression.lz4.level, compression.zstd.level */
TEST(levels_decide_how_much_is_saved)
{
    static const struct {
        const char *codec, *setting, *least, *most;
    } levels[] = { { "gzip", "compression.gzip.level", "1", "9" },
                   { "lz4", "compression.lz4.level", "1", "17" },
                   { "zstd", "compression.zstd.level", "-1000", "19" } };
    struct test_client *client = client_open(shared_broker_port());
    struct records batch = prose(client);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        int32_t lengths[2];
        for (int k = 0; k < 2; k++) {
            struct topic topic = topic_of_two(client, "compression.type", levels[i].codec,
                                              levels[i].setting,
                                              k == 0 ? levels[i].least : levels[i].most);
            lengths[k] = fetch(client, topic, 0, produce(client, topic, 0, batch)).records.length;
        }
        if (lengths[1] >= lengths[0] - 1000)
            fail_msg("%s: %d and %d", levels[i].setting, lengths[0], lengths[1]);
    }
    client_close(client);
}
