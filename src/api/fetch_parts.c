// SPDX-License-Identifier: Apache-2.0
#include "alloc.h"
#include "error.h"
#include "fetch_call.h"
#include "gather.h"

#define TOPIC_IDS_SINCE 13 /* KIP-516 */

static int make_parts(struct fetch_call *fetch, unsigned part_count)
{
    fetch->part_count = part_count;
    fetch->parts = mem_calloc(part_count + 1u, sizeof *fetch->parts);
    struct fetch_response_partition *answers = arena_calloc(&fetch->call->arena, part_count + 1u,
                                                            sizeof *answers);
    if (fetch->parts == NULL || answers == NULL) {
        fetch->part_count = 0;
        return ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < part_count; i++)
        fetch->parts[i].answer = &answers[i];
    fetch->waiting_bytes = fetch->call->arena.used + part_count * sizeof *fetch->parts;
    return 0;
}

static int find_part(struct fetch_call *fetch, const struct fetch_part *part, int32_t index,
                     struct api_partition **known)
{
    struct api_loop *loop = fetch->loop;
    bool by_id = fetch->call->api_version >= TOPIC_IDS_SINCE;
    const struct meta_topic *topic = by_id ? meta_view_topic_by_id(loop->view, part->topic_id)
                                           : meta_view_topic(loop->view, *part->topic);
    /* Within a session Kafka remembers the name of an id. */
    bool is_named = !by_id || (part->cached != NULL && part->cached->was_known);
    if (topic == NULL && !is_named) return ERR_UNKNOWN_TOPIC_ID;
    return api_find_named(loop, topic, index, known);
}

/* Every wake looks at all parts: one partition named a million times would make each append cost a million
 * reads. So the first place stands for all (rule 6). */
static void read_once(struct fetch_call *fetch, struct fetch_part *part,
                      struct api_partition *known)
{
    if (known->last_fetch != fetch->loop->fetches) {
        known->last_fetch = fetch->loop->fetches;
        known->named = part;
        part->partition = partition_ref(known->partition);
        return;
    }
    struct fetch_part *first = known->named;
    part->again_of = first;
    first->max_bytes = part->max_bytes;
    first->read.from_offset = part->read.from_offset;
    first->read.current_leader_epoch = part->read.current_leader_epoch;
    first->read.last_fetched_epoch = part->read.last_fetched_epoch;
}

/* Its topic, and what is wanted of it, are set. */
static void begin_part(struct fetch_call *fetch, struct fetch_part *part, int32_t index)
{
    struct fetch_response_partition *answer = part->answer;
    answer->partition_index = index;
    answer->last_stable_offset = answer->log_start_offset = -1;
    answer->diverging_epoch = (struct fetch_response_diverging_epoch){ -1, -1 };
    answer->current_leader = (struct leader_id_and_epoch){ -1, -1 };
    answer->snapshot_id = (struct fetch_response_snapshot_id){ -1, -1 };
    answer->aborted_transactions.count = -1;
    answer->preferred_read_replica = -1;
    list_init(&part->waiter.node);
    part->read.read_committed = fetch->request->isolation_level == 1;
    if (part->read.current_leader_epoch < 0) part->read.current_leader_epoch = -1; /* As Kafka. */
    /* A forged replica fetch would move the high watermark: only our own brokers may (DESIGN 3.4). */
    struct api_partition *known = NULL;
    part->err = fetch->is_follower ? ERR_TOPIC_AUTHORIZATION_FAILED
                                   : find_part(fetch, part, index, &known);
    if (part->err == 0) read_once(fetch, part, known);
}

static unsigned count_requested(const struct fetch_request *request)
{
    unsigned count = 0;
    for (int32_t i = 0; i < request->topics.count; i++)
        count += (unsigned)request->topics.items[i].partitions.count;
    return count;
}

static void begin_requested(struct fetch_call *fetch)
{
    const struct fetch_request *request = fetch->request;
    struct fetch_part *part = fetch->parts;
    for (int32_t i = 0; i < request->topics.count; i++) {
        const struct fetch_request_topic *topic = &request->topics.items[i];
        for (int32_t k = 0; k < topic->partitions.count; k++, part++) {
            const struct fetch_request_partition *wanted = &topic->partitions.items[k];
            part->topic = &topic->topic;
            part->topic_id = &topic->topic_id;
            part->max_bytes = wanted->partition_max_bytes;
            part->read.from_offset = wanted->fetch_offset;
            part->read.current_leader_epoch = wanted->current_leader_epoch;
            part->read.last_fetched_epoch = wanted->last_fetched_epoch;
            begin_part(fetch, part, wanted->partition);
        }
    }
}

/* Rule 6 for what is not there, and so was not found to be named again. 0 or ERR_NO_MEMORY. */
static int merge_absent(struct fetch_call *fetch)
{
    const struct fetch_request *request = fetch->request;
    struct arena *arena = &fetch->call->arena;
    unsigned absent = 0, next = 0;
    for (unsigned i = 0; i < fetch->part_count; i++)
        if (fetch->parts[i].err != 0) absent++;
    if (absent < 2) return 0;
    struct gathered_topic *topics = arena_calloc(arena, (size_t)request->topics.count + 1,
                                                 sizeof *topics);
    struct gathered_part *gathered = arena_calloc(arena, fetch->part_count + 1u, sizeof *gathered);
    if (topics == NULL || gathered == NULL) return ERR_NO_MEMORY;
    struct gathering gathering;
    gathering_init(&gathering);
    int err = 0;
    for (int32_t i = 0; err == 0 && i < request->topics.count; i++) {
        const struct fetch_request_topic *topic = &request->topics.items[i];
        err = gather_topic(&gathering, fetch->call->api_version >= TOPIC_IDS_SINCE,
                           &topic->topic_id, topic->topic, &topics[i]);
        for (int32_t k = 0; err == 0 && k < topic->partitions.count; k++, next++) {
            struct gathered_part *part = &gathered[next];
            if (fetch->parts[next].err == 0) continue;
            err = gather_part(&gathering, topic->partitions.items[k].partition, part);
            if (err == 0 && !part->repeat.is_first)
                fetch->parts[next].again_of =
                    &fetch->parts[LIST_OWNER(part->repeat.first, struct gathered_part, repeat) -
                                  gathered];
        }
    }
    gathering_close(&gathering);
    return err;
}

int fetch_parts_requested(struct fetch_call *fetch)
{
    int err = make_parts(fetch, count_requested(fetch->request));
    if (err != 0) return err;
    begin_requested(fetch);
    return merge_absent(fetch);
}

/* ---- a session's ---- */

struct topic_name {
    struct uuid id;
    struct str name;
};

/* The session may lose the partition before the answer leaves: its topic is copied, once where partitions
 * of one follow each other. */
static int copy_topic(struct fetch_call *fetch, struct fetch_part *part,
                      const struct fetch_part *last, const struct session_partition *cached)
{
    if (last != NULL && uuid_equal(last->topic_id, &cached->topic_id) &&
        str_equal(*last->topic, cached->topic)) {
        part->topic = last->topic;
        part->topic_id = last->topic_id;
        return 0;
    }
    struct topic_name *copy = arena_zalloc(&fetch->call->arena, sizeof *copy);
    if (copy == NULL) return ERR_NO_MEMORY;
    copy->id = cached->topic_id;
    part->topic = &copy->name;
    part->topic_id = &copy->id;
    return arena_str(&fetch->call->arena, cached->topic, &copy->name);
}

int fetch_parts_of_session(struct fetch_call *fetch)
{
    struct list *partitions = fetch_session_partitions(fetch->session);
    int err = make_parts(fetch, fetch_session_size(fetch->session));
    struct fetch_part *part = fetch->parts, *last = NULL;
    for (struct list *node = partitions->next; err == 0 && node != partitions; node = node->next) {
        struct session_partition *cached = LIST_OWNER(node, struct session_partition, node);
        part->cached = cached;
        part->max_bytes = cached->max_bytes;
        part->read.from_offset = cached->fetch_offset;
        part->read.current_leader_epoch = cached->current_leader_epoch;
        part->read.last_fetched_epoch = cached->last_fetched_epoch;
        err = copy_topic(fetch, part, last, cached);
        if (err == 0) begin_part(fetch, part, cached->index);
        if (part->err != ERR_UNKNOWN_TOPIC_ID) cached->was_known = true;
        last = part++;
    }
    return err;
}
