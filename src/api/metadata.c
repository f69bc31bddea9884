// SPDX-License-Identifier: Apache-2.0
#include "alloc.h"
#include "error.h"
#include "handlers.h"
#include "repeats.h"
#include "topic_settings.h"

#define AUTO_CREATE_TIMEOUT_MS 30000
#define AUTO_CREATE_AT_ONCE    1000  /* The next request creates what is left of a longer list. */
#define AUTO_CREATE_UNDER_WAY  10000 /* Of all requests: they come faster than topics are made. */

/* ---- topics that come into being by being asked for ---- */

struct auto_create {
    struct api *api;
    struct meta_request request;
    struct meta_create_topic topic;
    char name[];
};

static void auto_created(struct meta_request *request)
{
    struct auto_create *create = LIST_OWNER(request, struct auto_create, request);
    meta_topic_unref(create->topic.topic);
    atomic_fetch_sub_explicit(&create->api->auto_creates, 1, memory_order_relaxed);
    mem_free(create);
}

/* Nobody waits for it: the client asks again, and finds the topic. */
static void create_topic(struct api_loop *loop, struct str name)
{
    struct api *api = loop->api;
    struct auto_create *create = NULL;
    unsigned others = atomic_fetch_add_explicit(&api->auto_creates, 1, memory_order_relaxed);
    if (others < AUTO_CREATE_UNDER_WAY) create = mem_zalloc(sizeof *create + (size_t)name.length);
    if (create == NULL) {
        atomic_fetch_sub_explicit(&api->auto_creates, 1, memory_order_relaxed);
        return;
    }
    create->api = api;
    memcpy(create->name, name.data, (size_t)name.length);
    create->topic.name = (struct str){ create->name, name.length };
    create->topic.partition_count = -1;
    create->topic.replication_factor = -1;
    create->request.kind = META_CREATE_TOPICS;
    create->request.loop = loop->api->options.main_loop;
    create->request.done = auto_created;
    create->request.deadline_ms = clock_monotonic_us(loop->api->options.clock) / 1000 +
                                  AUTO_CREATE_TIMEOUT_MS;
    create->request.as.create_topics.items = &create->topic;
    create->request.as.create_topics.count = 1;
    meta_quorum_request(loop->api->options.meta, &create->request);
}

/* ---- the answer ---- */

struct answer {
    struct api_loop *loop;
    struct call *call;
    const struct metadata_request *request;
    struct metadata_response response;
    bool by_id;       /* The request has ids of topics: then names do not count. */
    unsigned created; /* Topics that this request brings into being. */
    bool has_failed;  /* Out of memory. */
};

static void *take(struct answer *answer, size_t count, size_t size)
{
    void *memory = arena_calloc(&answer->call->arena, count + 1, size);
    if (memory == NULL) answer->has_failed = true;
    return memory;
}

static void answer_brokers(struct answer *answer)
{
    struct meta_view *view = answer->loop->view;
    unsigned count = meta_view_broker_count(view);
    struct metadata_response_broker *brokers = take(answer, count, sizeof *brokers);
    int32_t told = 0;
    for (unsigned i = 0; brokers != NULL && i < count; i++) {
        const struct meta_broker *broker = meta_view_broker_at(view, i);
        const struct meta_endpoint *endpoint = api_endpoint(answer->call, broker);
        if (broker->fenced || endpoint == NULL) continue;
        brokers[told++] = (struct metadata_response_broker){
            .node_id = broker->id,
            .host = str_from(endpoint->host),
            .port = endpoint->port,
            .rack = str_from(broker->rack),
        };
    }
    answer->response.brokers.items = brokers;
    answer->response.brokers.count = told;
}

/* All but the topics. */
static void answer_common(struct answer *answer)
{
    struct meta_view *view = answer->loop->view;
    message_defaults(&metadata_response_shape, &answer->response);
    answer->response.cluster_id = str_from(meta_view_cluster_id(view));
    answer->response.controller_id = meta_view_controller(view);
    answer->response.cluster_authorized_operations =
        answer->request->include_cluster_authorized_operations ? CLUSTER_OPERATIONS : INT32_MIN;
    answer_brokers(answer);
}

static void answer_partition(struct answer *answer, const struct meta_partition *partition,
                             int32_t index, struct metadata_response_partition *to)
{
    *to = (struct metadata_response_partition){
        .partition_index = index,
        .leader_id = partition->leader,
        .leader_epoch = partition->leader_epoch,
    };
    /* Version 0 knows no other way to say that nobody leads (KAFKA's older clients). */
    if (partition->leader < 0 || !api_broker_is_live(answer->call, partition->leader)) {
        to->error_code = error_kafka_code(ERR_LEADER_NOT_AVAILABLE);
        to->leader_id = -1;
    }
    int32_t *offline = take(answer, partition->replica_count, sizeof *offline);
    int32_t offline_count = 0;
    for (unsigned i = 0; offline != NULL && i < partition->replica_count; i++)
        if (!api_broker_is_live(answer->call, partition->replicas[i]))
            offline[offline_count++] = partition->replicas[i];
    /* The view outlives the answer's encoding, and the arrays have the wire's type. */
    to->replica_nodes.items = (int32_t *)(uintptr_t)partition->replicas;
    to->replica_nodes.count = (int32_t)partition->replica_count;
    to->isr_nodes.items = (int32_t *)(uintptr_t)partition->isr;
    to->isr_nodes.count = (int32_t)partition->isr_count;
    to->offline_replicas.items = offline;
    to->offline_replicas.count = offline_count;
}

static int32_t authorized_operations(const struct answer *answer)
{
    return answer->request->include_topic_authorized_operations ? TOPIC_OPERATIONS : INT32_MIN;
}

static void answer_topic(struct answer *answer, const struct meta_topic *topic,
                         struct metadata_response_topic *to)
{
    to->error_code = 0;
    to->name = str_from(topic->name);
    to->topic_id = topic->id;
    to->is_internal = api_topic_is_internal(to->name);
    to->topic_authorized_operations = authorized_operations(answer);
    struct metadata_response_partition *partitions = take(answer, topic->partition_count,
                                                          sizeof *partitions);
    for (unsigned i = 0; partitions != NULL && i < topic->partition_count; i++)
        answer_partition(answer, &topic->partitions[i], (int32_t)i, &partitions[i]);
    to->partitions.items = partitions;
    to->partitions.count = (int32_t)topic->partition_count;
}

/* A topic of a name that nobody has. */
static void answer_missing(struct answer *answer, struct str name, int err,
                           struct metadata_response_topic *to)
{
    to->error_code = error_kafka_code(err);
    to->name = name;
    to->is_internal = api_topic_is_internal(name);
    to->topic_authorized_operations = authorized_operations(answer);
}

/* Kafka tells no rights on what it cannot name. */
static void answer_unknown_id(const struct uuid *id, struct metadata_response_topic *to)
{
    to->error_code = error_kafka_code(ERR_UNKNOWN_TOPIC_ID);
    to->name = STR_NULL;
    to->topic_id = *id;
    to->topic_authorized_operations = INT32_MIN;
}

static void answer_wanted(struct answer *answer, const struct metadata_request_topic *wanted,
                          struct metadata_response_topic *to)
{
    struct meta_view *view = answer->loop->view;
    if (answer->by_id) {
        const struct meta_topic *topic = meta_view_topic_by_id(view, &wanted->topic_id);
        if (topic != NULL)
            answer_topic(answer, topic, to);
        else
            answer_unknown_id(&wanted->topic_id, to);
        return;
    }
    const struct meta_topic *topic = meta_view_topic(view, wanted->name);
    if (topic != NULL) {
        answer_topic(answer, topic, to);
    } else if (!topic_name_is_legal(wanted->name)) {
        answer_missing(answer, wanted->name, ERR_INVALID_TOPIC, to);
    } else {
        if (answer->request->allow_auto_topic_creation &&
            answer->loop->api->options.auto_create_topics &&
            answer->created++ < AUTO_CREATE_AT_ONCE)
            create_topic(answer->loop, wanted->name);
        answer_missing(answer, wanted->name, ERR_UNKNOWN_TOPIC_OR_PARTITION, to);
    }
}

static void tell_all(struct answer *answer)
{
    struct meta_view *view = answer->loop->view;
    unsigned count = meta_view_topic_count(view);
    struct metadata_response_topic *topics = take(answer, count, sizeof *topics);
    struct meta_topic_cursor cursor = { 0, 0 };
    const struct meta_topic *topic;
    int32_t next = 0;
    while (topics != NULL && (topic = meta_view_next_topic(view, &cursor)) != NULL)
        answer_topic(answer, topic, &topics[next++]);
    answer->response.topics.items = topics;
    answer->response.topics.count = next;
}

static struct kept_answer_key key_of(const struct answer *answer)
{
    const struct metadata_request *request = answer->request;
    return (struct kept_answer_key){
        .view_version = meta_view_version(answer->loop->view),
        .listener = call_listener(answer->call),
        .api_key = answer->call->api_key,
        .version = answer->call->api_version,
        .tells_topic_operations = request->include_topic_authorized_operations,
        .tells_cluster_operations = request->include_cluster_authorized_operations,
    };
}

/* Of many partitions it is encoded once for all who ask. */
static void answer_all_alike(struct answer *answer)
{
    struct kept_answer_key key = key_of(answer);
    struct kept_answers *kept = &answer->loop->kept;
    struct kept_answer *found = kept_answers_find(kept, &key);
    int err = 0;
    if (found == NULL) {
        answer_common(answer);
        tell_all(answer);
        err = answer->has_failed ? ERR_NO_MEMORY
                                 : kept_answers_add(kept, &key, &metadata_response_shape,
                                                    &answer->response, &found);
    }
    if (err != 0)
        call_refuse(answer->call, error_text(err));
    else
        kept_answer_reply(found, answer->call, &metadata_response_shape);
}

static int note_wanted(struct repeats *repeats, const struct metadata_request_topic *wanted,
                       bool by_id, struct repeat *note)
{
    if (by_id) return repeats_note(repeats, &wanted->topic_id, sizeof wanted->topic_id, note);
    return repeats_note(repeats, wanted->name.data, (size_t)wanted->name.length, note);
}

static void answer_named(struct answer *answer)
{
    int32_t count = answer->request->topics.count;
    struct metadata_response_topic *topics = take(answer, (size_t)count, sizeof *topics);
    struct repeat *notes = take(answer, (size_t)count, sizeof *notes);
    struct repeats repeats;
    repeats_init(&repeats);
    int32_t next = 0;
    for (int32_t i = 0; !answer->has_failed && i < count; i++) {
        const struct metadata_request_topic *wanted = &answer->request->topics.items[i];
        if (answer->by_id && uuid_is_zero(&wanted->topic_id)) continue;
        if (note_wanted(&repeats, wanted, answer->by_id, &notes[i]) != 0) answer->has_failed = true;
        /* What is asked for twice is told once. */
        if (notes[i].is_first) answer_wanted(answer, wanted, &topics[next++]);
    }
    repeats_close(&repeats);
    answer->response.topics.items = topics;
    answer->response.topics.count = next;
}

static bool has_ids(const struct metadata_request *request)
{
    for (int32_t i = 0; i < request->topics.count; i++)
        if (!uuid_is_zero(&request->topics.items[i].topic_id)) return true;
    return false;
}

static bool has_names(const struct metadata_request *request)
{
    for (int32_t i = 0; i < request->topics.count; i++)
        if (str_is_null(request->topics.items[i].name)) return false;
    return true;
}

/* Versions 10 and 11 have the field for a topic's id, but may not use it to ask. */
static bool asks_for_what_cannot_be(const struct answer *answer)
{
    bool may_use_ids = answer->call->api_version >= 12;
    if (answer->by_id) return !may_use_ids;
    return !has_names(answer->request);
}

/* Nothing but the error is told, of each topic. */
static void refuse(struct answer *answer)
{
    int32_t count = answer->request->topics.count;
    struct metadata_response_topic *topics = take(answer, (size_t)count, sizeof *topics);
    message_defaults(&metadata_response_shape, &answer->response);
    for (int32_t i = 0; topics != NULL && i < count; i++) {
        const struct metadata_request_topic *wanted = &answer->request->topics.items[i];
        topics[i].error_code = error_kafka_code(ERR_INVALID_REQUEST);
        topics[i].name = str_is_null(wanted->name) ? (struct str){ "", 0 } : wanted->name;
        topics[i].topic_id = wanted->topic_id;
        topics[i].topic_authorized_operations = INT32_MIN;
    }
    answer->response.topics.items = topics;
    answer->response.topics.count = count;
    answer->response.error_code = error_kafka_code(ERR_INVALID_REQUEST);
}

static bool wants_all(const struct call *call, const struct metadata_request *request)
{
    /* Version 0 asks for all topics with an empty list, later ones with null. */
    return request->topics.count < 0 || (call->api_version == 0 && request->topics.count == 0);
}

/* With more topics and partitions than that, others come first. */
#define BULKY_FROM 500

static bool is_bulky(const struct api_loop *loop, const struct call *call,
                     const struct metadata_request *request)
{
    if (wants_all(call, request)) return meta_view_partition_count(loop->view) > BULKY_FROM;
    uint64_t weight = (uint64_t)request->topics.count;
    for (int32_t i = 0; weight <= BULKY_FROM && i < request->topics.count; i++) {
        const struct metadata_request_topic *wanted = &request->topics.items[i];
        const struct meta_topic *topic = str_is_null(wanted->name)
                                             ? meta_view_topic_by_id(loop->view, &wanted->topic_id)
                                             : meta_view_topic(loop->view, wanted->name);
        if (topic != NULL) weight += topic->partition_count;
    }
    return weight > BULKY_FROM;
}

static void answer_now(struct api_loop *loop, struct call *call, const void *with)
{
    const struct metadata_request *request = with;
    struct answer answer = { .loop = loop, .call = call, .request = request };
    answer.by_id = has_ids(request);
    if (wants_all(call, request) && is_bulky(loop, call, request)) {
        answer_all_alike(&answer);
        return;
    }
    answer_common(&answer);
    if (asks_for_what_cannot_be(&answer))
        refuse(&answer);
    else if (wants_all(call, request))
        tell_all(&answer);
    else
        answer_named(&answer);

    if (answer.has_failed)
        call_refuse(call, error_text(ERR_NO_MEMORY));
    else
        api_reply(call, &metadata_response_shape, &answer.response);
}

void handle_metadata(struct api_loop *loop, struct call *call, struct metadata_request *request)
{
    if (is_bulky(loop, call, request))
        api_answer_later(loop, call, request, answer_now);
    else
        answer_now(loop, call, request);
}
