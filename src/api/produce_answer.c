// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "gather.h"
#include "produce_call.h"

/* ---- what became of a batch ---- */

void produce_answer_error(struct produce_part *part, int err, const char *why)
{
    struct produce_response_partition *answer = part->answer;
    answer->error_code = error_kafka_code(err);
    answer->base_offset = -1;
    answer->log_append_time_ms = -1;
    answer->log_start_offset = -1;
    answer->error_message = why == NULL ? STR_NULL : str_from(why);
}

void produce_answer_leader(struct produce_part *part, int32_t leader, int32_t leader_epoch)
{
    if (part->produce->call->api_version < 10) return;
    part->answer->current_leader.leader_id = leader;
    part->answer->current_leader.leader_epoch = leader_epoch;
    part->produce->leader_hint = leader;
}

/* KIP-467: which records of the batch were refused. Why is told once, for the partition: clients take
 * that where a record has no words of its own. */
static int answer_record_errors(struct produce_part *part)
{
    const struct batch_verdict *verdict = &part->append.verdict;
    if (verdict->record_error_count == 0) return 0;
    struct produce_response_record_error *errors = arena_calloc(
        &part->produce->call->arena, (size_t)verdict->record_error_count, sizeof *errors);
    if (errors == NULL) return ERR_NO_MEMORY;
    for (int32_t i = 0; i < verdict->record_error_count; i++) {
        errors[i].batch_index = verdict->record_errors[i];
        errors[i].batch_index_error_message = STR_NULL;
    }
    part->answer->record_errors.items = errors;
    part->answer->record_errors.count = verdict->record_error_count;
    return 0;
}

/* Kafka tells a refused batch's producer where the log begins, but for errors that are not the log's. */
static bool tells_log_start(const struct append *append)
{
    switch (append->log.err) {
    case ERR_CORRUPT_MESSAGE:
    case ERR_UNKNOWN_TOPIC_OR_PARTITION:
    case ERR_NOT_LEADER_OR_FOLLOWER:
    case ERR_MESSAGE_TOO_LARGE:
    case ERR_KAFKA_STORAGE_ERROR: return false;
    default: return !append->verdict.is_of_request;
    }
}

void produce_answer_append(struct produce_part *part)
{
    const struct append *append = &part->append;
    int err = append->log.err;
    if (err == 0) {
        part->answer->base_offset = append->log.base_offset;
        part->answer->log_append_time_ms = append->log.append_time_ms;
        part->answer->log_start_offset = append->log_start_offset;
        return;
    }
    produce_answer_error(part, err,
                         append->verdict.why != NULL ? append->verdict.why : error_text(err));
    if (tells_log_start(append)) part->answer->log_start_offset = append->log_start_offset;
    if (err == ERR_NOT_LEADER_OR_FOLLOWER)
        produce_answer_leader(part, append->leader, append->leader_epoch);
    if (answer_record_errors(part) != 0) produce_answer_error(part, ERR_NO_MEMORY, NULL);
}

/* ---- the shape ---- */

/* Up to this many partitions are compared with each other. */
#define FEW_PARTS 16

static bool names_its_topic_again(const struct produce_request *request, int32_t i)
{
    const struct produce_request_topic *topic = &request->topic_data.items[i];
    for (int32_t k = 0; k < i; k++) {
        const struct produce_request_topic *other = &request->topic_data.items[k];
        if (str_equal(topic->name, other->name) && uuid_equal(&topic->topic_id, &other->topic_id))
            return true;
    }
    return false;
}

/* Is everything named once, so that the answer has the request's shape? False, too, if it would take long
 * to find out. */
static bool is_plain(const struct produce_request *request, unsigned part_count)
{
    if (part_count > FEW_PARTS || request->topic_data.count > FEW_PARTS) return false;
    for (int32_t i = 0; i < request->topic_data.count; i++) {
        const struct produce_request_topic *topic = &request->topic_data.items[i];
        if (topic->partition_data.count == 0 || names_its_topic_again(request, i)) return false;
        for (int32_t k = 1; k < topic->partition_data.count; k++)
            for (int32_t m = 0; m < k; m++)
                if (topic->partition_data.items[k].index == topic->partition_data.items[m].index)
                    return false;
    }
    return true;
}

/* From behind: of a partition that is named again the last batch counts, as in Kafka. 0 or ERR_NO_MEMORY. */
static int gather(const struct produce_request *request, int16_t version,
                  struct gathered_topic *topics, struct gathered_part *parts, unsigned part_count)
{
    struct gathering gathering;
    gathering_init(&gathering);
    int err = 0;
    for (int32_t i = request->topic_data.count - 1; err == 0 && i >= 0; i--) {
        const struct produce_request_topic *topic = &request->topic_data.items[i];
        err = gather_topic(&gathering, version >= TOPIC_IDS_SINCE, &topic->topic_id, topic->name,
                           &topics[i]);
        for (int32_t k = topic->partition_data.count - 1; err == 0 && k >= 0; k--)
            err = gather_part(&gathering, topic->partition_data.items[k].index,
                              &parts[--part_count]);
    }
    gathering_close(&gathering);
    return err;
}

static void shape_part(struct produce_call *produce, struct produce_part *part, int32_t index,
                       struct produce_response_partition *answer)
{
    answer->index = index;
    answer->log_append_time_ms = -1;
    answer->log_start_offset = -1;
    answer->error_message = STR_NULL;
    answer->current_leader.leader_id = -1;
    answer->current_leader.leader_epoch = -1;
    part->produce = produce;
    part->answer = answer;
}

bool produce_answer_shape(struct produce_call *produce, const struct produce_request *request,
                          struct produce_response_topic *topics,
                          struct produce_response_partition *answers)
{
    int32_t topic_count = request->topic_data.count;
    struct arena *arena = &produce->call->arena;
    struct gathered_topic *gathered = NULL;
    struct gathered_part *parts = NULL;
    bool plain = is_plain(request, produce->part_count);
    if (!plain) {
        gathered = arena_calloc(arena, (size_t)topic_count + 1, sizeof *gathered);
        parts = arena_calloc(arena, produce->part_count + 1u, sizeof *parts);
        if (gathered == NULL || parts == NULL ||
            gather(request, produce->call->api_version, gathered, parts, produce->part_count) != 0)
            return false;
        topic_count = gather_places(gathered, topic_count);
    }
    unsigned next = 0;
    for (int32_t i = 0; i < request->topic_data.count; i++) {
        const struct produce_request_topic *wanted = &request->topic_data.items[i];
        struct produce_response_topic topic = { .name = wanted->name,
                                                .topic_id = wanted->topic_id };
        topic.partition_responses.items = &answers[plain ? next : gathered[i].begin];
        topic.partition_responses.count = plain ? wanted->partition_data.count
                                                : (int32_t)gathered[i].part_count;
        int32_t place = plain ? i : gathered[i].answer;
        if (place >= 0) topics[place] = topic;
        for (int32_t k = 0; k < wanted->partition_data.count; k++, next++)
            if (plain || parts[next].repeat.is_first)
                shape_part(produce, &produce->parts[next], wanted->partition_data.items[k].index,
                           &answers[plain ? next : gather_take_place(&parts[next])]);
    }
    produce->response.responses.count = topic_count;
    return true;
}
