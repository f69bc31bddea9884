// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "handlers.h"
#include "partition_read.h"

static int find_end(struct api_loop *loop, const struct meta_topic *topic,
                    const struct offset_for_leader_epoch_request_partition *wanted,
                    struct partition_epoch_end *end)
{
    struct api_partition *known = NULL;
    int err = api_find_named(loop, topic, wanted->partition, &known);
    if (err != 0) return err;
    end->epoch = wanted->leader_epoch;
    end->current_leader_epoch = wanted->current_leader_epoch;
    partition_find_epoch_end(known->partition, end);
    return end->err;
}

static void answer_topic(struct api_loop *loop,
                         const struct offset_for_leader_epoch_request_topic *wanted,
                         struct offset_for_leader_epoch_response_partition *answers)
{
    const struct meta_topic *topic = meta_view_topic(loop->view, wanted->topic);
    for (int32_t i = 0; i < wanted->partitions.count; i++) {
        struct partition_epoch_end end = { .found_epoch = -1, .end_offset = -1 };
        int err = find_end(loop, topic, &wanted->partitions.items[i], &end);
        answers[i] = (struct offset_for_leader_epoch_response_partition){
            .error_code = error_kafka_code(err),
            .partition = wanted->partitions.items[i].partition,
            .leader_epoch = end.found_epoch,
            .end_offset = end.end_offset,
        };
    }
}

void handle_offset_for_leader_epoch(struct api_loop *loop, struct call *call,
                                    struct offset_for_leader_epoch_request *request)
{
    struct offset_for_leader_epoch_response response;
    message_defaults(&offset_for_leader_epoch_response_shape, &response);
    struct offset_for_leader_epoch_response_topic *topics = call_alloc(
        call, (size_t)request->topics.count + 1, sizeof *topics);
    if (topics == NULL) return;
    for (int32_t i = 0; i < request->topics.count; i++) {
        const struct offset_for_leader_epoch_request_topic *wanted = &request->topics.items[i];
        topics[i].topic = wanted->topic;
        topics[i].partitions.count = wanted->partitions.count;
        topics[i].partitions.items = call_alloc(call, (size_t)wanted->partitions.count + 1,
                                                sizeof topics[i].partitions.items[0]);
        if (topics[i].partitions.items == NULL) return;
        answer_topic(loop, wanted, topics[i].partitions.items);
    }
    response.topics.items = topics;
    response.topics.count = request->topics.count;
    api_reply(call, &offset_for_leader_epoch_response_shape, &response);
}
