// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "handlers.h"
#include "repeats.h"

struct grow_call {
    struct meta_request request;
    struct call *call;
    struct meta_add_partitions *topics; /* Those that the quorum hears of, … */
    struct str *repeated;               /* … and those that are named more than once. */
    unsigned repeated_count;
    const struct create_partitions_request_topic *named; /* All, as the request has them. */
    unsigned named_count;
};

static void answer_topic(struct create_partitions_response_topic *answer, struct str name, int err,
                         const char *why)
{
    /* A full disk passes: with this code clients try again. */
    answer->error_code = error_kafka_code(err == ERR_NO_SPACE ? ERR_KAFKA_STORAGE_ERROR : err);
    answer->error_message = STR_NULL; /* As in Kafka, of an unknown topic too. */
    if (err != 0 && err != ERR_UNKNOWN_TOPIC_OR_PARTITION)
        answer->error_message = str_from(why[0] != '\0' ? why : error_text(err));
    answer->name = name;
}

static unsigned answer_each(const struct grow_call *grow,
                            struct create_partitions_response_topic *answers)
{
    unsigned count = grow->request.as.add_partitions.count;
    for (unsigned i = 0; i < grow->repeated_count; i++)
        answer_topic(&answers[i], grow->repeated[i], ERR_INVALID_REQUEST,
                     "The request names this topic more than once.");
    for (unsigned i = 0; i < count; i++) {
        const struct meta_add_partitions *topic = &grow->topics[i];
        answer_topic(&answers[grow->repeated_count + i], topic->name, topic->err, topic->why);
    }
    return count + grow->repeated_count;
}

/* As in Kafka, what is named twice is told twice then. */
static unsigned refuse_all(const struct grow_call *grow,
                           struct create_partitions_response_topic *answers)
{
    for (unsigned i = 0; i < grow->named_count; i++)
        answer_topic(&answers[i], grow->named[i].name, grow->request.err, grow->topics[0].why);
    return grow->named_count;
}

static void grown(struct meta_request *request)
{
    struct grow_call *grow = LIST_OWNER(request, struct grow_call, request);
    struct call *call = grow->call;
    struct create_partitions_response response;
    message_defaults(&create_partitions_response_shape, &response);
    struct create_partitions_response_topic *answers = call_alloc(call, grow->named_count + 1u,
                                                                  sizeof *answers);
    if (answers == NULL) return;
    response.results.items = answers;
    response.results.count = (int32_t)(request->err != 0 ? refuse_all(grow, answers)
                                                         : answer_each(grow, answers));
    api_reply(call, &create_partitions_response_shape, &response);
}

/* 0 or ERR_NO_MEMORY. */
static int convert(struct arena *arena, const struct create_partitions_request_topic *wanted,
                   struct meta_add_partitions *topic)
{
    *topic = (struct meta_add_partitions){ .name = wanted->name,
                                           .count = wanted->count,
                                           .is_by_hand = wanted->assignments.count >= 0 };
    if (!topic->is_by_hand) return 0;
    size_t count = (size_t)wanted->assignments.count;
    struct meta_assignment *assignments = arena_calloc(arena, count + 1, sizeof *assignments);
    if (assignments == NULL) return ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        assignments[i].brokers = wanted->assignments.items[i].broker_ids.items;
        assignments[i].broker_count = (unsigned)wanted->assignments.items[i].broker_ids.count;
    }
    topic->assignments = assignments;
    topic->assignment_count = (unsigned)count;
    return 0;
}

/* What is named once goes to the quorum; what is not is told once. 0 or ERR_NO_MEMORY. */
static int sort_out(struct arena *arena, const struct create_partitions_request *request,
                    struct grow_call *grow)
{
    size_t count = (size_t)request->topics.count;
    struct repeats repeats;
    struct repeat *notes = arena_calloc(arena, count + 1, sizeof *notes);
    grow->topics = arena_calloc(arena, count + 1, sizeof *grow->topics);
    grow->repeated = arena_calloc(arena, count + 1, sizeof *grow->repeated);
    if (notes == NULL || grow->topics == NULL || grow->repeated == NULL) return ERR_NO_MEMORY;
    int err = 0;
    repeats_init(&repeats);
    for (size_t i = 0; err == 0 && i < count; i++) {
        struct str name = request->topics.items[i].name;
        err = repeats_note(&repeats, name.data, (size_t)name.length, &notes[i]);
    }
    unsigned kept = 0;
    for (size_t i = 0; err == 0 && i < count; i++) {
        const struct create_partitions_request_topic *wanted = &request->topics.items[i];
        if (!notes[i].is_repeated)
            err = convert(arena, wanted, &grow->topics[kept++]);
        else if (notes[i].is_first)
            grow->repeated[grow->repeated_count++] = wanted->name;
    }
    repeats_close(&repeats);
    grow->request.as.add_partitions.items = grow->topics;
    grow->request.as.add_partitions.count = kept;
    return err;
}

void handle_create_partitions(struct api_loop *loop, struct call *call,
                              struct create_partitions_request *request)
{
    struct grow_call *grow = call_alloc(call, 1, sizeof *grow);
    if (grow == NULL) return;
    if (sort_out(&call->arena, request, grow) != 0) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return;
    }
    grow->call = call;
    grow->named = request->topics.items;
    grow->named_count = (unsigned)request->topics.count;
    grow->request.kind = META_ADD_PARTITIONS;
    grow->request.loop = loop->loop;
    grow->request.done = grown;
    grow->request.deadline_ms = clock_monotonic_us(loop->api->options.clock) / 1000 +
                                request->timeout_ms;
    grow->request.as.add_partitions.validate_only = request->validate_only;
    meta_quorum_request(loop->api->options.meta, &grow->request);
}
