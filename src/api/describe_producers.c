// SPDX-License-Identifier: Apache-2.0
#include "alloc.h"
#include "error.h"
#include "handlers.h"
#include "partition_producers.h"

/* So many producers are told of in one answer, 36 bytes each: ten partitions may be full of them. */
#define PRODUCERS_IN_ANSWER (10ll * PRODUCERS_MAX)

struct producers_part {
    struct partition_producers producers;
    struct producers_call *call;
    struct describe_producers_response_partition *answer;
};

struct producers_call {
    struct call *call;
    struct api_loop *loop;
    struct message listed;
    atomic_uint open_count; /* Parts on their way, and one for whoever starts them. */
    atomic_llong left;
    unsigned part_count;
    struct producers_part *parts;
    struct describe_producers_response response;
};

/* 0 or ERR_NO_MEMORY. */
static int answer_producers(struct call *call, struct producers_part *part)
{
    const struct partition_producers *listed = &part->producers;
    struct describe_producers_response_producer *to = arena_calloc(&call->arena, listed->count + 1,
                                                                   sizeof *to);
    if (to == NULL) return ERR_NO_MEMORY;
    for (size_t i = 0; i < listed->count; i++) {
        const struct producer_snapshot *producer = &listed->items[i];
        to[i] = (struct describe_producers_response_producer){
            .producer_id = producer->id,
            .producer_epoch = producer->epoch,
            .last_sequence = producer->last_sequence,
            .last_timestamp = producer->timestamp,
            .coordinator_epoch = producer->coordinator_epoch,
            .current_txn_start_offset = producer->first_open_offset,
        };
    }
    part->answer->active_producers.items = to;
    part->answer->active_producers.count = (int32_t)listed->count;
    return 0;
}

static void reply(struct message *message)
{
    struct producers_call *listing = LIST_OWNER(message, struct producers_call, listed);
    struct call *call = listing->call;
    int failed = 0;
    for (unsigned i = 0; i < listing->part_count; i++) {
        struct producers_part *part = &listing->parts[i];
        int err = part->producers.err;
        if (err == ERR_LIMIT)
            part->answer->error_message = STR_LITERAL("Too many producers for one answer: ask for "
                                                      "fewer partitions at once.");
        part->answer->error_code = error_kafka_code(err);
        if (failed == 0 && err == 0) failed = answer_producers(call, part);
        mem_free(part->producers.items);
    }
    if (failed != 0)
        call_refuse(call, error_text(failed));
    else
        api_reply(call, &describe_producers_response_shape, &listing->response);
}

static void one_less(struct producers_call *listing)
{
    if (atomic_fetch_sub(&listing->open_count, 1) == 1)
        loop_post(listing->loop->loop, &listing->listed);
}

static void part_done(struct partition_producers *producers)
{
    one_less(LIST_OWNER(producers, struct producers_part, producers)->call);
}

static void start_part(struct producers_part *part, struct str name, const struct meta_topic *topic,
                       int32_t index)
{
    struct api_partition *known = NULL;
    part->answer->partition_index = index;
    part->answer->error_message = STR_NULL;
    part->producers.left = &part->call->left;
    part->producers.done = part_done;
    part->producers.err = topic != NULL || topic_name_is_legal(name)
                              ? api_find_named(part->call->loop, topic, index, &known)
                              : ERR_INVALID_TOPIC;
    /* Kafka says more than the code where the topic is not there, and only then. */
    if (topic == NULL) part->answer->error_message = str_from(error_text(part->producers.err));
    if (part->producers.err != 0) return;
    atomic_fetch_add(&part->call->open_count, 1);
    partition_list_producers(known->partition, &part->producers);
}

void handle_describe_producers(struct api_loop *loop, struct call *call,
                               struct describe_producers_request *request)
{
    unsigned count = 0;
    for (int32_t i = 0; i < request->topics.count; i++)
        count += (unsigned)request->topics.items[i].partition_indexes.count;
    struct producers_call *listing = arena_zalloc(&call->arena, sizeof *listing);
    struct producers_part *parts = arena_calloc(&call->arena, count + 1u, sizeof *parts);
    struct describe_producers_response_topic *topics = arena_calloc(
        &call->arena, (size_t)request->topics.count + 1, sizeof *topics);
    struct describe_producers_response_partition *answers = arena_calloc(&call->arena, count + 1u,
                                                                         sizeof *answers);
    if (listing == NULL || parts == NULL || topics == NULL || answers == NULL) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return;
    }
    message_defaults(&describe_producers_response_shape, &listing->response);
    listing->response.topics.items = topics;
    listing->response.topics.count = request->topics.count;
    listing->call = call;
    listing->loop = loop;
    listing->parts = parts;
    message_init(&listing->listed, reply);
    atomic_init(&listing->open_count, 1);
    atomic_init(&listing->left, PRODUCERS_IN_ANSWER);
    for (int32_t i = 0; i < request->topics.count; i++) {
        const struct describe_producers_request_topic *wanted = &request->topics.items[i];
        const struct meta_topic *topic = meta_view_topic(loop->view, wanted->name);
        topics[i].name = wanted->name;
        topics[i].partitions.items = &answers[listing->part_count];
        topics[i].partitions.count = wanted->partition_indexes.count;
        for (int32_t k = 0; k < wanted->partition_indexes.count; k++) {
            struct producers_part *part = &parts[listing->part_count];
            part->call = listing;
            part->answer = &answers[listing->part_count++];
            start_part(part, wanted->name, topic, wanted->partition_indexes.items[k]);
        }
    }
    one_less(listing);
}
