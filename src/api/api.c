// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include "alloc.h"
#include "dispatch.h"
#include "error.h"
#include "handlers.h"
#include "header.h"

static void server_call(struct net_server *server, struct call *call)
{
    (void)server;
    struct api_loop *loop = net_loop_context(call->loop);
    call->begun_us = request_stats_begin(&loop->stats, loop->api->options.clock);
    api_dispatch(loop, call);
}

static int64_t slow_limit_ms(const struct api_loop *loop)
{
    return atomic_load_explicit(&loop->api->slow_limit_ms, memory_order_relaxed);
}

static void server_burst_end(struct net_server *server, struct net_loop *net_loop)
{
    (void)server;
    struct api_loop *loop = net_loop_context(net_loop);
    struct clock *clock = loop->api->options.clock;
    int64_t begun_us = loop->stats.burst_begun_us;
    api_flush_burst(loop);
    int64_t duration_us = request_stats_end_burst(&loop->stats, clock);
    slow_requests_note_burst(&loop->slow, &loop->stats, duration_us, slow_limit_ms(loop),
                             begun_us + duration_us);
}

static void server_ended(struct net_server *server, struct call *call, bool is_refused)
{
    (void)server;
    struct api_loop *loop = net_loop_context(call->loop);
    struct clock *clock = loop->api->options.clock;
    int64_t duration_us = request_stats_end(&loop->stats, api_row_index(call->api_key),
                                            call->begun_us, is_refused, clock);
    if (duration_us >= 0)
        slow_requests_note(&loop->slow, call, duration_us, slow_limit_ms(loop),
                           call->begun_us + duration_us);
}

static int server_open_loop(struct net_server *server, struct net_loop *net_loop)
{
    struct api *api = LIST_OWNER(server, struct api, server);
    struct api_loop *loop = mem_zalloc(sizeof *loop);
    if (loop == NULL) return ERR_NO_MEMORY;
    loop->api = api;
    loop->net_loop = net_loop;
    loop->loop = net_loop_base(net_loop);
    map_init(&loop->partitions);
    list_init(&loop->burst);
    list_init(&loop->burst_calls);
    list_init(&loop->pending_calls);
    later_init(&loop->bulky, loop->loop);
    net_loop_set_context(net_loop, loop);
    loop->next = atomic_load(&api->loops);
    atomic_store(&api->loops, loop); /* Nobody else adds any. */
    atomic_fetch_add(&api->loop_count, 1);
    return 0;
}

int api_open(struct api **api)
{
    struct api *created = mem_zalloc(sizeof *created);
    if (created == NULL) return ERR_NO_MEMORY;
    api_set_slow_limit(created, -1);
    created->server.open_loop = server_open_loop;
    created->server.call = server_call;
    created->server.burst_end = server_burst_end;
    created->server.ended = server_ended;
    *api = created;
    return 0;
}

void api_set_options(struct api *api, const struct api_options *options)
{
    api->options = *options;
}

void api_set_slow_limit(struct api *api, int64_t limit_ms)
{
    atomic_store_explicit(&api->slow_limit_ms, limit_ms, memory_order_relaxed);
}

static void forget_partitions(struct api_loop *loop)
{
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;
    while (map_next(&loop->partitions, &cursor, &key, &key_length, &value)) {
        struct api_partition *known = value;
        partition_unref(known->partition);
        mem_free(known);
    }
    map_close(&loop->partitions);
    map_init(&loop->partitions);
}

void api_close(struct api *api)
{
    if (api == NULL) return;
    struct api_loop *loop = atomic_load(&api->loops);
    while (loop != NULL) {
        struct api_loop *next = loop->next;
        forget_partitions(loop);
        map_close(&loop->partitions);
        kept_answers_close(&loop->kept);
        meta_view_unref(loop->view);
        mem_free(loop);
        loop = next;
    }
    mem_free(api);
}

struct net_server *api_server(struct api *api)
{
    return &api->server;
}

void api_stats(const struct api *api, unsigned kind, struct api_stats *stats)
{
    unsigned count;
    const struct api_row *rows = api_rows(&count);
    *stats = (struct api_stats){ .name = kind < count ? rows[kind].name : "unknown" };
    for (const struct api_loop *loop = atomic_load(&api->loops); loop != NULL; loop = loop->next) {
        const struct request_stats *loop_stats = &loop->stats;
        histogram_read(&loop_stats->durations[kind], &stats->durations);
        stats->refused += counter_read(&loop_stats->refused[kind]);
    }
}

/* ---- for handlers ---- */

void api_reply_version(struct call *call, const struct message_shape *shape, int16_t version,
                       const void *response)
{
    struct response_header header = { .correlation_id = call->correlation_id };
    int16_t header_version = response_header_version(call->api_key, version, shape->flexible_from);
    int err = response_header_encode(header_version, &header, &call->reply.bytes);
    if (err == 0) err = message_encode(shape, version, response, &call->reply);
    if (err == 0)
        call_reply(call);
    else
        call_refuse(call, error_text(err));
}

void api_reply(struct call *call, const struct message_shape *shape, const void *response)
{
    api_reply_version(call, shape, call->api_version, response);
}

struct bulky_call {
    struct later_task task;
    struct call *call;
    const void *with;
    void (*answer)(struct api_loop *loop, struct call *call, const void *with);
};

static void answer_bulky(struct later_task *task)
{
    struct bulky_call *bulky = LIST_OWNER(task, struct bulky_call, task);
    struct call *call = bulky->call;
    struct api_loop *loop = call_loop(call);
    if (call->connection == NULL) {
        call_end_silently(call);
        return;
    }
    meta_quorum_refresh(loop->api->options.meta, &loop->view);
    bulky->answer(loop, call, bulky->with);
}

void api_answer_later(struct api_loop *loop, struct call *call, const void *with,
                      void (*answer)(struct api_loop *loop, struct call *call, const void *with))
{
    struct bulky_call *bulky = call_alloc(call, 1, sizeof *bulky);
    if (bulky == NULL) return;
    bulky->task.run = answer_bulky;
    bulky->call = call;
    bulky->with = with;
    bulky->answer = answer;
    later_add(&loop->bulky, &bulky->task);
}

void *call_alloc(struct call *call, size_t count, size_t size)
{
    void *memory = arena_calloc(&call->arena, count, size);
    if (memory == NULL) call_refuse(call, error_text(ERR_NO_MEMORY));
    return memory;
}

static void release_topic(void *topic)
{
    meta_topic_unref(topic);
}

int call_adopt_topic(struct call *call, struct meta_topic *topic)
{
    if (topic == NULL) return 0;
    int err = arena_adopt(&call->arena, topic, 0, release_topic);
    if (err != 0) meta_topic_unref(topic);
    return err;
}

struct partition_key {
    struct uuid topic_id;
    int32_t index;
};

struct api_partition *api_find_partition(struct api_loop *loop, const struct uuid *topic_id,
                                         int32_t index)
{
    struct partition_key key;
    memset(&key, 0, sizeof key);
    key.topic_id = *topic_id;
    key.index = index;
    struct api_partition *known = map_get(&loop->partitions, &key, sizeof key);
    if (known != NULL) return known;

    struct partition_set *set = loop->api->options.partitions;
    /* Partitions that were deleted meanwhile are given up together, now and then. */
    if (list_is_empty(&loop->burst) && loop->partitions.count > 2 * partition_set_count(set) + 64)
        forget_partitions(loop);
    struct partition *partition = partition_set_find(set, topic_id, index);
    if (partition == NULL) return NULL;
    known = mem_zalloc(sizeof *known);
    if (known == NULL || map_put(&loop->partitions, &key, sizeof key, known, NULL) != 0) {
        mem_free(known);
        partition_unref(partition);
        return NULL;
    }
    known->partition = partition;
    known->end = &known->first;
    list_init(&known->burst);
    return known;
}

int api_find_named(struct api_loop *loop, const struct meta_topic *topic, int32_t index,
                   struct api_partition **partition)
{
    if (topic == NULL || index < 0 || (unsigned)index >= topic->partition_count)
        return ERR_UNKNOWN_TOPIC_OR_PARTITION;
    struct api_partition *known = api_find_partition(loop, &topic->id, index);
    if (known == NULL) return ERR_NOT_LEADER_OR_FOLLOWER;
    *partition = known;
    return 0;
}

const struct meta_endpoint *api_endpoint(const struct call *call, const struct meta_broker *broker)
{
    const struct api_options *options = &call_loop(call)->api->options;
    unsigned listener = call_listener(call);
    if (broker == NULL || listener >= options->listener_count) return NULL;
    for (unsigned i = 0; i < broker->endpoint_count; i++)
        if (strcmp(broker->endpoints[i].listener, options->listeners[listener]) == 0)
            return &broker->endpoints[i];
    return NULL;
}

bool api_broker_is_live(const struct call *call, int32_t broker)
{
    const struct meta_broker *known = meta_view_broker(call_loop(call)->view, broker);
    return known != NULL && !known->fenced && api_endpoint(call, known) != NULL;
}

bool api_topic_is_internal(struct str topic)
{
    static const char *const internal[] = { "__consumer_offsets", "__transaction_state",
                                            "__share_group_state" };
    for (size_t i = 0; i < sizeof internal / sizeof internal[0]; i++)
        if (str_equals_text(topic, internal[i])) return true;
    return false;
}

unsigned api_leader_endpoint(const struct call *call, int32_t leader,
                             struct node_endpoint *endpoint)
{
    const struct meta_broker *broker = meta_view_broker(call_loop(call)->view, leader);
    const struct meta_endpoint *address = api_endpoint(call, broker);
    if (address == NULL) return 0;
    *endpoint = (struct node_endpoint){
        .node_id = leader,
        .host = str_from(address->host),
        .port = address->port,
        .rack = str_from(broker->rack),
    };
    return 1;
}
