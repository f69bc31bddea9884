// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "gather.h"
#include "handlers.h"
#include "partition_read.h"

#define REPLICA_CONSUMER -1

struct lookup_part {
    struct partition *partition;
    struct partition_lookup lookup;
    struct gathered_part gathered;
    struct list_offsets_response_partition *answer;
};

struct lookup_call {
    struct call *call;
    struct api_loop *loop;
    struct job job;
    struct message looked_up;
    unsigned part_count;
    struct lookup_part *parts;
    struct list_offsets_response response;
};

static void finish(struct lookup_call *lookups)
{
    for (unsigned i = 0; i < lookups->part_count; i++) {
        struct lookup_part *part = &lookups->parts[i];
        if (part->partition == NULL) continue;
        int err = part->lookup.err;
        part->answer->error_code = error_kafka_code(err);
        if (err == 0) {
            part->answer->offset = part->lookup.position.offset;
            part->answer->timestamp = part->lookup.position.timestamp;
            if (lookups->call->api_version >= 4) /* Older ones cannot say it. */
                part->answer->leader_epoch = part->lookup.position.leader_epoch;
        }
        partition_unref(part->partition);
    }
    api_reply(lookups->call, &list_offsets_response_shape, &lookups->response);
}

static void pool_has_looked(struct message *message)
{
    finish(LIST_OWNER(message, struct lookup_call, looked_up));
}

static void look_on_pool(struct job *job)
{
    struct lookup_call *lookups = LIST_OWNER(job, struct lookup_call, job);
    for (unsigned i = 0; i < lookups->part_count; i++) {
        struct lookup_part *part = &lookups->parts[i];
        if (part->partition == NULL || part->lookup.err != ERR_NEEDS_IO) continue;
        part->lookup.may_block = true;
        partition_find_offset(part->partition, &part->lookup);
    }
    loop_post(lookups->loop->loop, &lookups->looked_up);
}

/* Which special timestamps a version knows (KIP-734, KIP-405, KIP-1005). */
static bool timestamp_is_known(int64_t timestamp, int16_t version)
{
    switch (timestamp) {
    case TIMESTAMP_LATEST:
    case TIMESTAMP_EARLIEST: return true;
    case TIMESTAMP_MAX: return version >= 7;
    case TIMESTAMP_EARLIEST_LOCAL: return version >= 8;
    case TIMESTAMP_LATEST_TIERED: return version >= 9;
    case TIMESTAMP_EARLIEST_PENDING_UPLOAD: return version >= 11;
    default: return timestamp >= 0;
    }
}

/* What is asked for, as it will be answered. 0 or ERR_NO_MEMORY. */
static int gather(const struct list_offsets_request *request, struct gathered_topic *topics,
                  struct lookup_part *parts)
{
    struct gathering gathering;
    gathering_init(&gathering);
    int err = 0;
    unsigned next = 0;
    for (int32_t i = 0; err == 0 && i < request->topics.count; i++) {
        const struct list_offsets_request_topic *topic = &request->topics.items[i];
        err = gather_topic(&gathering, false, NULL, topic->name, &topics[i]);
        for (int32_t k = 0; err == 0 && k < topic->partitions.count; k++)
            err = gather_part(&gathering, topic->partitions.items[k].partition_index,
                              &parts[next++].gathered);
    }
    gathering_close(&gathering);
    return err;
}

static int find_part(struct lookup_call *lookups, struct str topic_name,
                     const struct list_offsets_request_partition *wanted, bool is_repeated,
                     struct partition **partition)
{
    if (is_repeated) return ERR_INVALID_REQUEST;
    if (!timestamp_is_known(wanted->timestamp, lookups->call->api_version))
        return ERR_UNSUPPORTED_VERSION;
    const struct meta_topic *topic = meta_view_topic(lookups->loop->view, topic_name);
    struct api_partition *known = NULL;
    int err = api_find_named(lookups->loop, topic, wanted->partition_index, &known);
    if (err == 0) *partition = partition_ref(known->partition);
    return err;
}

/* Looks as far as memory reaches; true if the pool must go on. */
static bool begin_part(struct lookup_call *lookups, struct lookup_part *part,
                       const struct list_offsets_request *request, struct str topic,
                       const struct list_offsets_request_partition *wanted,
                       struct list_offsets_response_partition *answer)
{
    part->answer = answer;
    answer->partition_index = wanted->partition_index;
    answer->offset = answer->timestamp = -1;
    answer->leader_epoch = -1;
    int err = find_part(lookups, topic, wanted, part->gathered.repeat.is_repeated,
                        &part->partition);
    if (err != 0) {
        answer->error_code = error_kafka_code(err);
        return false;
    }
    part->lookup.timestamp = wanted->timestamp;
    part->lookup.current_leader_epoch = wanted->current_leader_epoch;
    /* As in Kafka it is only asked of consumers. */
    part->lookup.read_committed = request->isolation_level == 1 &&
                                  request->replica_id == REPLICA_CONSUMER;
    partition_find_offset(part->partition, &part->lookup);
    return part->lookup.err == ERR_NEEDS_IO;
}

void handle_list_offsets(struct api_loop *loop, struct call *call,
                         struct list_offsets_request *request)
{
    unsigned part_count = 0;
    for (int32_t i = 0; i < request->topics.count; i++)
        part_count += (unsigned)request->topics.items[i].partitions.count;
    struct lookup_call *lookups = arena_zalloc(&call->arena, sizeof *lookups);
    struct lookup_part *parts = arena_calloc(&call->arena, part_count + 1u, sizeof *parts);
    struct gathered_topic *gathered = arena_calloc(&call->arena, (size_t)request->topics.count + 1,
                                                   sizeof *gathered);
    struct list_offsets_response_topic *topics = arena_calloc(
        &call->arena, (size_t)request->topics.count + 1, sizeof *topics);
    struct list_offsets_response_partition *answers = arena_calloc(&call->arena, part_count + 1u,
                                                                   sizeof *answers);
    if (lookups == NULL || parts == NULL || gathered == NULL || topics == NULL || answers == NULL ||
        gather(request, gathered, parts) != 0) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return;
    }
    message_defaults(&list_offsets_response_shape, &lookups->response);
    lookups->call = call;
    lookups->loop = loop;
    lookups->parts = parts;
    lookups->part_count = part_count;
    job_init(&lookups->job, look_on_pool);
    lookups->job.is_urgent = true;
    message_init(&lookups->looked_up, pool_has_looked);
    lookups->response.topics.items = topics;
    lookups->response.topics.count = gather_places(gathered, request->topics.count);

    bool needs_pool = false;
    unsigned next = 0;
    for (int32_t i = 0; i < request->topics.count; i++) {
        const struct list_offsets_request_topic *wanted = &request->topics.items[i];
        if (gathered[i].answer >= 0) {
            struct list_offsets_response_topic *topic = &topics[gathered[i].answer];
            topic->name = wanted->name;
            topic->partitions.items = &answers[gathered[i].begin];
            topic->partitions.count = (int32_t)gathered[i].part_count;
        }
        for (int32_t k = 0; k < wanted->partitions.count; k++, next++)
            if (parts[next].gathered.repeat.is_first)
                needs_pool |= begin_part(lookups, &parts[next], request, wanted->name,
                                         &wanted->partitions.items[k],
                                         &answers[gather_take_place(&parts[next].gathered)]);
    }
    if (needs_pool)
        executor_submit(loop->api->options.disk, &lookups->job);
    else
        finish(lookups);
}
