// SPDX-License-Identifier: Apache-2.0
/* Topics in the order of their names, no more partitions of them than fit into one answer, and a cursor to
 * where the next one goes on (KIP-966). */

#include <stdlib.h>

#include "error.h"
#include "handlers.h"
#include "repeats.h"
#include "topic_settings.h"

struct description {
    struct api_loop *loop;
    struct call *call;
    const struct describe_topic_partitions_request *request;
    struct describe_topic_partitions_response response;
    struct str *names; /* Whom to describe, in order. */
    size_t name_count;
    int32_t left; /* Partitions that still fit. */
};

static int compare_names(struct str a, struct str b)
{
    size_t shorter = (size_t)(a.length < b.length ? a.length : b.length);
    int order = memcmp(a.data, b.data, shorter);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_for_sort(const void *a, const void *b)
{
    return compare_names(*(const struct str *)a, *(const struct str *)b);
}

/* ---- whom to describe ---- */

/* The first names of all, as a heap with the last of them on top: the others need not be sorted. */
static void sink(struct str *heap, size_t count, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && compare_names(heap[child + 1], heap[child]) > 0) child++;
        if (compare_names(heap[child], heap[at]) <= 0) return;
        struct str name = heap[at];
        heap[at] = heap[child];
        heap[child] = name;
        at = child;
    }
}

/* Each topic has a partition: so many topics, and one for the cursor, are all that can be told of. */
static void choose_among_all(struct description *description, struct str from)
{
    struct meta_view *view = description->loop->view;
    size_t most = (size_t)description->left + 1, count = 0;
    struct meta_topic_cursor at = { 0, 0 };
    const struct meta_topic *topic;
    while ((topic = meta_view_next_topic(view, &at)) != NULL) {
        struct str name = str_from(topic->name);
        if (compare_names(name, from) < 0) continue;
        if (count < most) {
            description->names[count++] = name;
            for (size_t i = count == most ? most / 2 : 0; i > 0; i--)
                sink(description->names, most, i - 1);
        } else if (compare_names(name, description->names[0]) < 0) {
            description->names[0] = name;
            sink(description->names, most, 0);
        }
    }
    description->name_count = count;
}

/* Those of the request from there on, each once. 0, ERR_NO_MEMORY, or ERR_INVALID_REQUEST: the cursor's topic
 * is not among them. */
static int choose_among_wanted(struct description *description, struct str from)
{
    const struct describe_topic_partitions_request *request = description->request;
    bool has_cursor = request->cursor == NULL;
    struct repeats repeats;
    struct repeat *notes = arena_calloc(&description->call->arena, (size_t)request->topics.count,
                                        sizeof *notes);
    int err = notes == NULL ? ERR_NO_MEMORY : 0;
    repeats_init(&repeats);
    for (int32_t i = 0; err == 0 && i < request->topics.count; i++) {
        struct str name = request->topics.items[i].name;
        int order = compare_names(name, from);
        if (order < 0) continue;
        has_cursor = has_cursor || order == 0;
        err = repeats_note(&repeats, name.data, (size_t)name.length, &notes[i]);
        if (notes[i].is_first) description->names[description->name_count++] = name;
    }
    repeats_close(&repeats);
    return err == 0 && !has_cursor ? ERR_INVALID_REQUEST : err;
}

static int choose(struct description *description)
{
    const struct describe_topic_partitions_request *request = description->request;
    struct str from = request->cursor == NULL ? STR_LITERAL("") : request->cursor->topic_name;
    bool wants_all = request->topics.count == 0;
    size_t most = wants_all ? (size_t)description->left + 1 : (size_t)request->topics.count;
    description->names = arena_calloc(&description->call->arena, most, sizeof(struct str));
    if (description->names == NULL) return ERR_NO_MEMORY;
    int err = 0;
    if (wants_all)
        choose_among_all(description, from);
    else
        err = choose_among_wanted(description, from);
    if (err == 0 && request->cursor != NULL && request->cursor->partition_index < 0)
        err = ERR_INVALID_REQUEST;
    if (err == 0 && description->name_count > 1)
        qsort(description->names, description->name_count, sizeof(struct str), compare_for_sort);
    return err;
}

/* ---- what is told of them ---- */

static int describe_partition(struct call *call, const struct meta_partition *partition,
                              int32_t index,
                              struct describe_topic_partitions_response_partition *to)
{
    int32_t *offline = arena_calloc(&call->arena, partition->replica_count + 1u, sizeof *offline);
    if (offline == NULL) return ERR_NO_MEMORY;
    *to = (struct describe_topic_partitions_response_partition){
        .partition_index = index,
        .leader_id = partition->leader,
        .leader_epoch = partition->leader_epoch,
    };
    if (partition->leader < 0 || !api_broker_is_live(call, partition->leader)) {
        to->error_code = error_kafka_code(ERR_LEADER_NOT_AVAILABLE);
        to->leader_id = -1;
    }
    for (unsigned i = 0; i < partition->replica_count; i++)
        if (!api_broker_is_live(call, partition->replicas[i]))
            offline[to->offline_replicas.count++] = partition->replicas[i];
    to->offline_replicas.items = offline;
    /* The view outlives the answer's encoding, and the arrays have the wire's type. */
    to->replica_nodes.items = (int32_t *)(uintptr_t)partition->replicas;
    to->replica_nodes.count = (int32_t)partition->replica_count;
    to->isr_nodes.items = (int32_t *)(uintptr_t)partition->isr;
    to->isr_nodes.count = (int32_t)partition->isr_count;
    return 0;
}

/* 0 or ERR_NO_MEMORY. */
static int set_next(struct description *description, struct str name, int32_t index)
{
    struct describe_topic_partitions_response_cursor *next = arena_alloc(&description->call->arena,
                                                                         sizeof *next);
    if (next == NULL) return ERR_NO_MEMORY;
    *next = (struct describe_topic_partitions_response_cursor){ name, index };
    description->response.next_cursor = next;
    return 0;
}

static int describe_topic(struct description *description, const struct meta_topic *topic,
                          int32_t first, struct describe_topic_partitions_response_topic *to)
{
    struct call *call = description->call;
    int32_t all = (int32_t)topic->partition_count;
    int32_t count = first < all ? all - first : 0;
    int err = 0;
    if (count > description->left) {
        count = description->left;
        err = set_next(description, str_from(topic->name), first + count);
    }
    to->topic_id = topic->id;
    to->is_internal = api_topic_is_internal(to->name);
    to->partitions.items = arena_calloc(&call->arena, (size_t)count + 1,
                                        sizeof to->partitions.items[0]);
    if (to->partitions.items == NULL) err = ERR_NO_MEMORY;
    for (int32_t i = 0; err == 0 && i < count; i++)
        err = describe_partition(call, &topic->partitions[first + i], first + i,
                                 &to->partitions.items[i]);
    to->partitions.count = count;
    description->left -= count;
    return err;
}

static int describe_all(struct description *description)
{
    const struct describe_topic_partitions_request_cursor *cursor = description->request->cursor;
    struct describe_topic_partitions_response *response = &description->response;
    int err = 0;
    response->topics.items = arena_calloc(&description->call->arena, description->name_count + 1,
                                          sizeof response->topics.items[0]);
    if (response->topics.items == NULL) return ERR_NO_MEMORY;
    for (size_t i = 0; err == 0 && response->next_cursor == NULL && i < description->name_count;
         i++) {
        struct str name = description->names[i];
        if (description->left == 0) {
            err = set_next(description, name, 0);
            break;
        }
        bool goes_on = cursor != NULL && str_equal(cursor->topic_name, name);
        const struct meta_topic *topic = meta_view_topic(description->loop->view, name);
        struct describe_topic_partitions_response_topic *to =
            &response->topics.items[response->topics.count++];
        to->name = name;
        to->topic_authorized_operations = TOPIC_OPERATIONS;
        if (topic != NULL)
            err = describe_topic(description, topic, goes_on ? cursor->partition_index : 0, to);
        else
            to->error_code = error_kafka_code(
                topic_name_is_legal(name) ? ERR_UNKNOWN_TOPIC_OR_PARTITION : ERR_INVALID_TOPIC);
    }
    return err;
}

/* The cursor cannot be: of each topic that was named the answer says so. */
static int refuse_all(struct description *description)
{
    const struct describe_topic_partitions_request *request = description->request;
    struct describe_topic_partitions_response *response = &description->response;
    response->topics.items = arena_calloc(&description->call->arena,
                                          (size_t)request->topics.count + 1,
                                          sizeof response->topics.items[0]);
    if (response->topics.items == NULL) return ERR_NO_MEMORY;
    response->topics.count = request->topics.count;
    for (int32_t i = 0; i < request->topics.count; i++) {
        response->topics.items[i].name = request->topics.items[i].name;
        response->topics.items[i].error_code = error_kafka_code(ERR_INVALID_REQUEST);
        response->topics.items[i].topic_authorized_operations = INT32_MIN;
    }
    return 0;
}

void handle_describe_topic_partitions(struct api_loop *loop, struct call *call,
                                      struct describe_topic_partitions_request *request)
{
    struct description description = { .loop = loop, .call = call, .request = request };
    int32_t limit = request->response_partition_limit;
    int32_t most = loop->api->options.response_partitions_max;
    description.left = limit < 1 ? 1 : limit > most ? most : limit;
    message_defaults(&describe_topic_partitions_response_shape, &description.response);
    int err = choose(&description);
    if (err == 0)
        err = describe_all(&description);
    else if (err == ERR_INVALID_REQUEST)
        err = refuse_all(&description);
    if (err != 0)
        call_refuse(call, error_text(err));
    else
        api_reply(call, &describe_topic_partitions_response_shape, &description.response);
}
