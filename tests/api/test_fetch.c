// SPDX-License-Identifier: Apache-2.0
/* What Fetch promises to consumers. */

#include "api_calls.h"

#define OLDEST                  4
#define WITH_EPOCHS             9
#define WITH_LAST_FETCHED_EPOCH 12

static struct records batch_of(struct test_client *client, int32_t record_count)
{
    return batch_build(&client->arena, (struct batch){ .record_count = record_count });
}

TEST(every_version_returns_the_bytes_that_were_sent)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    struct records sent = batch_of(client, 4);
    produce_some(client, topic, 1, 2);
    produce(client, topic, 1, sent);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = fetch_request(client, topic, 1, 2);
        struct fetch_response_partition answer = fetch_with(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, answer.high_watermark, 6);
        assert_in_version(version, answer.last_stable_offset, 6);
        if (version >= 5) assert_in_version(version, answer.log_start_offset, 0);
        assert_in_version(version, answer.aborted_transactions.count, -1);
        if (version >= 11) assert_in_version(version, answer.preferred_read_replica, -1);
        assert_in_version(version, answer.current_leader.leader_id, -1);
        assert_in_version(version, answer.diverging_epoch.end_offset, -1);
        assert_in_version(version, records_batch_count(answer.records), 1);
        assert_in_version(version, batch_base_offset(answer.records), 2);
        assert_same_batch(answer.records, sent);
    }
    client_close(client);
}

TEST(at_the_end_of_the_log_there_is_nothing)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    produce_some(client, topic, 0, 3);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = fetch_request(client, topic, 0, 3);
        struct fetch_response_partition answer = fetch_with(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, answer.high_watermark, 3);
        assert_in_version(version, answer.records.length, 0);
        request = fetch_request(client, topic, 1, 0); /* The end of an empty log. */
        answer = fetch_with(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, answer.high_watermark, 0);
        assert_in_version(version, answer.records.length, 0);
    }
    client_close(client);
}

TEST(offsets_outside_of_the_log_are_refused)
{
    static const int64_t offsets[] = { 4, INT64_MAX, -1, -2, INT64_MIN };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 3);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
            struct fetch_request request = fetch_request(client, topic, 0, offsets[i]);
            struct fetch_response_partition answer = fetch_with(client, version, &request);
            assert_in_version(version, answer.error_code, 1);
            assert_in_version(version, answer.high_watermark, -1);
            assert_in_version(version, answer.records.length, 0);
        }
    }
    client_close(client);
}

TEST(what_does_not_exist_is_unknown)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct topic unknown = { .name = topic_name_new(), .id = { { 7, 7, 7, 7 } } };
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = fetch_request(client, unknown, 0, 0);
        int16_t error = fetch_with(client, version, &request).error_code;
        assert_in_version(version, error, version < TOPIC_IDS_IN_FETCH ? 3 : 100);
        request = fetch_request(client, topic, 1, 0);
        assert_in_version(version, fetch_with(client, version, &request).error_code, 3);
        request = fetch_request(client, topic, -1, 0);
        assert_in_version(version, fetch_with(client, version, &request).error_code, 3);
    }
    assert_false(topic_exists(client, unknown.name));
    client_close(client);
}

/* KIP-320. */
TEST(a_leader_epoch_that_is_not_the_current_one_is_refused)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    int32_t epoch = leader_epoch_of(client, topic.name);
    for (int16_t version = WITH_EPOCHS; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = fetch_request(client, topic, 0, 0);
        int32_t *current = &request.topics.items[0].partitions.items[0].current_leader_epoch;
        *current = epoch;
        assert_in_version(version, fetch_with(client, version, &request).error_code, 0);
        *current = epoch + 1;
        assert_in_version(version, fetch_with(client, version, &request).error_code, 75);
        if (epoch == 0)
            continue; /* -1 stands for "unchecked"; restarted brokers: test_restart.c. */
        *current = epoch - 1;
        assert_in_version(version, fetch_with(client, version, &request).error_code, 74);
    }
    client_close(client);
}

/* KIP-595: who fetched records of an epoch that ended earlier here is told where; that comes before the
 * offset is looked at. An epoch that has not begun cannot be placed. */
TEST(a_reader_whose_last_epoch_ended_earlier_is_told_where)
{
    static const struct {
        int32_t epochs_on;
        int64_t offset;
        int16_t error_code;
        int64_t end_offset; /* -1: it has not diverged. */
    } cases[] = {
        { 0, 2, 0, -1 }, { 0, 4, 0, -1 }, { 0, 5, 0, 4 }, { 1, 0, 1, -1 }, { 1, 4, 1, -1 }
    };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 4);
    int32_t epoch = leader_epoch_of(client, topic.name);
    for (int16_t version = WITH_LAST_FETCHED_EPOCH; version <= FETCH_NEWEST; version++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            struct fetch_request request = fetch_request(client, topic, 0, cases[i].offset);
            request.topics.items[0].partitions.items[0].last_fetched_epoch = epoch +
                                                                             cases[i].epochs_on;
            struct fetch_response_partition answer = fetch_with(client, version, &request);
            bool has_diverged = cases[i].end_offset >= 0;
            assert_in_version(version, answer.error_code, cases[i].error_code);
            assert_in_version(version, answer.high_watermark, cases[i].error_code == 0 ? 4 : -1);
            assert_in_version(version, answer.diverging_epoch.epoch, has_diverged ? epoch : -1);
            assert_in_version(version, answer.diverging_epoch.end_offset, cases[i].end_offset);
        }
    }
    client_close(client);
}

/* ---- from where, and how much; where limits are: test_fetch_limits.c ---- */

TEST(an_offset_within_a_batch_gets_that_batch)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct records first = batch_of(client, 3), second = batch_of(client, 5);
    produce(client, topic, 0, first);
    produce(client, topic, 0, second);
    produce_some(client, topic, 0, 1);
    for (int64_t offset = 3; offset < 8; offset++) {
        struct fetch_response_partition answer = fetch(client, topic, 0, offset);
        assert_int_equal(answer.error_code, 0);
        assert_int_equal(records_batch_count(answer.records), 2);
        assert_int_equal(batch_base_offset(answer.records), 3);
        assert_same_batch(records_batch(answer.records, 0), second);
    }
    client_close(client);
}

/* So much that it goes out in many writes, some of them straight from the file. */
TEST(megabytes_come_back_as_they_were_sent)
{
    enum { BATCHES = 24, VALUE_BYTES = 300000 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct records sent[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        sent[i] = batch_build(&client->arena, (struct batch){ .value_bytes = VALUE_BYTES + i });
        produce(client, topic, 0, sent[i]);
    }
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version += 7) {
        struct fetch_request request = fetch_request(client, topic, 0, 0);
        struct fetch_response_partition answer = fetch_with(client, version, &request);
        assert_in_version(version, records_batch_count(answer.records), BATCHES);
        for (int i = 0; i < BATCHES; i++) {
            struct records batch = records_batch(answer.records, i);
            assert_in_version(version, batch_base_offset(batch), i);
            assert_same_batch(batch, sent[i]);
        }
    }
    client_close(client);
}

TEST(many_fetches_of_megabytes_in_one_write_are_all_answered)
{
    enum { BATCHES = 4, FETCHES = 20 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    for (int i = 0; i < BATCHES; i++)
        produce(client, topic, 0,
                batch_build(&client->arena, (struct batch){ .value_bytes = 500000 }));
    struct fetch_request request = fetch_request(client, topic, 0, 0);
    struct buffer frames;
    buffer_init(&frames);
    for (int i = 0; i < FETCHES; i++)
        client_encode(client, FETCH, FETCH_NEWEST, &request, &frames);
    client_send_bytes(client, frames.data, frames.length);
    buffer_close(&frames);
    for (int i = 0; i < FETCHES; i++) {
        struct fetch_response response;
        client_receive(client, FETCH, FETCH_NEWEST, &response);
        assert_int_equal(records_batch_count(only_partition(&response).records), BATCHES);
    }
    client_close(client);
}

TEST(a_log_of_many_small_batches_is_read_from_any_offset)
{
    enum { BATCHES = 3000, ROUND = 100 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    struct produce_request to_produce = produce_request(client, topic, 0, batch_of(client, 2));
    for (int sent = 0; sent < BATCHES; sent += ROUND) {
        struct produce_response response;
        for (int i = 0; i < ROUND; i++)
            client_send(client, PRODUCE, PRODUCE_NEWEST, &to_produce);
        for (int i = 0; i < ROUND; i++)
            client_receive(client, PRODUCE, PRODUCE_NEWEST, &response);
    }
    for (int64_t offset = 0; offset < 2 * BATCHES; offset += 37) {
        struct fetch_request request = fetch_request(client, topic, 0, offset);
        request.max_bytes = 1;
        struct fetch_response_partition answer = fetch_with(client, FETCH_NEWEST, &request);
        assert_int_equal(records_batch_count(answer.records), 1);
        assert_int_equal(batch_base_offset(answer.records), offset & ~INT64_C(1));
        assert_int_equal(batch_last_offset(answer.records), offset | 1);
    }
    client_close(client);
}

/* ---- transactions, replicas, sessions ---- */

TEST(a_reader_of_committed_records_gets_a_list_of_aborted_transactions)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 2);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = fetch_request(client, topic, 0, 0);
        request.isolation_level = 1;
        struct fetch_response_partition answer = fetch_with(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, answer.last_stable_offset, 2);
        assert_in_version(version, answer.aborted_transactions.count, 0); /* Not null. */
        assert_in_version(version, records_batch_count(answer.records), 2);
    }
    client_close(client);
}

/* DESIGN 3.4: a forged replica fetch would move the high watermark. */
TEST(a_client_may_not_fetch_as_a_replica)
{
    if (shared_broker_is_foreign()) skip();
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        for (int32_t replica = 0; replica <= 2; replica++) {
            struct fetch_request request = fetch_request(client, topic, 0, 0);
            if (version < 15)
                request.replica_id = replica;
            else
                request.replica_state.replica_id = replica;
            struct fetch_response_partition answer = fetch_with(client, version, &request);
            assert_in_version(version, answer.error_code, 29);
            assert_in_version(version, answer.records.length <= 0, true);
        }
    }
    client_close(client);
}

TEST(a_session_that_nobody_has_is_not_found)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    for (int16_t version = 7; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = fetch_request(client, topic, 0, 0);
        request.session_id = 4711;
        request.session_epoch = 3;
        struct fetch_response response;
        client_call(client, FETCH, version, &request, &response);
        assert_in_version(version, response.error_code, 70);
        assert_in_version(version, response.session_id, 0);
        assert_in_version(version, response.responses.count, 0);
    }
    client_close(client);
}

/* KIP-227: epoch -1 ends a session, and the request itself is answered in full. */
TEST(who_ends_a_session_gets_a_full_answer)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    for (int16_t version = 7; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = fetch_request(client, topic, 0, 0);
        request.session_id = 4711;
        request.session_epoch = -1;
        struct fetch_response_partition answer = fetch_with(client, version, &request);
        assert_in_version(version, answer.error_code, 0);
        assert_in_version(version, records_batch_count(answer.records), 1);
    }
    client_close(client);
}

/* ---- many at once ---- */

TEST(topics_and_partitions_are_answered_in_the_order_of_the_request)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topics[] = { topic_new(client, 3), topic_new(client, 3), topic_new(client, 3) };
    static const int32_t order[] = { 2, 0, 1 };
    for (int t = 0; t < 3; t++)
        produce_some(client, topics[t], 1, t + 1);
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version++) {
        struct fetch_request request = fetch_request(client, topics[0], 0, 0);
        make_array(client, &fetch_request_topic_shape, 3, &request.topics);
        for (int t = 0; t < 3; t++) {
            struct fetch_request part = fetch_partitions(client, topics[order[t]], order, 3);
            request.topics.items[t] = part.topics.items[0];
        }
        struct fetch_response response;
        client_call(client, FETCH, version, &request, &response);
        assert_in_version(version, response.responses.count, 3);
        for (int t = 0; t < 3; t++) {
            struct fetch_response_topic *answer = &response.responses.items[t];
            if (version < TOPIC_IDS_IN_FETCH)
                assert_true(str_equal(answer->topic, topics[order[t]].name));
            else
                assert_true(uuid_equal(&answer->topic_id, &topics[order[t]].id));
            assert_in_version(version, answer->partitions.count, 3);
            for (int32_t i = 0; i < 3; i++) {
                assert_in_version(version, answer->partitions.items[i].partition_index, order[i]);
                assert_in_version(version, records_batch_count(answer->partitions.items[i].records),
                                  order[i] == 1 ? order[t] + 1 : 0);
            }
        }
    }
    client_close(client);
}

TEST(a_hundred_partitions_are_fetched_by_one_request)
{
    enum { PARTITIONS = 100 };
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, PARTITIONS);
    int32_t all[PARTITIONS];
    for (int32_t i = 0; i < PARTITIONS; i++) {
        all[i] = i;
        if (i % 2 == 0) produce_some(client, topic, i, 1);
    }
    for (int16_t version = OLDEST; version <= FETCH_NEWEST; version += 2) {
        struct fetch_request request = fetch_partitions(client, topic, all, PARTITIONS);
        struct fetch_response response;
        client_call(client, FETCH, version, &request, &response);
        assert_in_version(version, response.responses.items[0].partitions.count, PARTITIONS);
        for (int32_t i = 0; i < PARTITIONS; i++) {
            struct fetch_response_partition *answer =
                &response.responses.items[0].partitions.items[i];
            assert_in_version(version, answer->error_code, 0);
            assert_in_version(version, records_batch_count(answer->records), 1 - i % 2);
        }
    }
    client_close(client);
}

TEST(of_a_partition_that_is_named_again_the_last_wish_counts)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    produce_some(client, topic, 0, 3);
    static const int32_t partitions[] = { 0, 1, 0 };
    struct fetch_request request = fetch_partitions(client, topic, partitions, 3);
    request.topics.items[0].partitions.items[0].fetch_offset = 99;
    request.topics.items[0].partitions.items[2].fetch_offset = 2;
    for (int16_t version = 4; version <= FETCH_NEWEST; version++) {
        struct fetch_response response;
        client_call(client, FETCH, version, &request, &response);
        struct fetch_response_partition *answers = response.responses.items[0].partitions.items;
        assert_in_version(version, response.responses.items[0].partitions.count, 2);
        assert_in_version(version, answers[0].partition_index, 0);
        assert_in_version(version, answers[0].error_code, 0);
        assert_in_version(version, batch_base_offset(answers[0].records), 2);
        assert_in_version(version, answers[1].partition_index, 1);
        assert_in_version(version, answers[1].error_code, 0);
    }
    client_close(client);
}

TEST(partitions_that_are_not_there_are_told_behind_the_others)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 1);
    produce_some(client, topic, 0, 1);
    static const int32_t partitions[] = { 7, 0 };
    struct fetch_request request = fetch_partitions(client, topic, partitions, 2);
    for (int16_t version = 4; version <= FETCH_NEWEST; version++) {
        struct fetch_response response;
        client_call(client, FETCH, version, &request, &response);
        struct fetch_response_partition *answers = response.responses.items[0].partitions.items;
        assert_in_version(version, answers[0].partition_index, 0);
        assert_in_version(version, records_batch_count(answers[0].records), 1);
        assert_in_version(version, answers[0].aborted_transactions.count, -1);
        assert_in_version(version, answers[1].partition_index, 7);
        assert_in_version(version, answers[1].error_code, 3);
        assert_in_version(version, answers[1].aborted_transactions.count, 0);
    }
    client_close(client);
}

TEST(good_and_bad_partitions_are_answered_beside_each_other)
{
    struct test_client *client = client_open(shared_broker_port());
    struct topic topic = topic_new(client, 2);
    produce_some(client, topic, 0, 1);
    static const int32_t partitions[] = { 5, 0, 1 };
    struct fetch_request request = fetch_partitions(client, topic, partitions, 3);
    request.topics.items[0].partitions.items[2].fetch_offset = 99;
    struct fetch_response response;
    client_call(client, FETCH, FETCH_NEWEST, &request, &response);
    assert_int_equal(response.responses.items[0].partitions.count, 3);
    for (int32_t i = 0; i < 3; i++) {
        struct fetch_response_partition *answer = &response.responses.items[0].partitions.items[i];
        int32_t index = answer->partition_index;
        assert_int_equal(answer->error_code, index == 5 ? 3 : index == 1 ? 1 : 0);
        assert_int_equal(records_batch_count(answer->records), index == 0 ? 1 : 0);
    }
    client_close(client);
}
