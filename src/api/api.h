// SPDX-License-Identifier: Apache-2.0
/* What the handlers of all APIs share: the services of the broker, and what each loop keeps. */

#ifndef API_API_H
#define API_API_H

#include <stdatomic.h>

#include "broker_config.h"
#include "call.h"
#include "kept_answers.h"
#include "later.h"
#include "loop.h"
#include "map.h"
#include "meta_quorum.h"
#include "net.h"
#include "partition_append.h"
#include "partition_set.h"
#include "producer_ids.h"
#include "request_stats.h"
#include "slow_requests.h"

struct api;
struct fetch_sessions;

struct api_options {
    struct meta_quorum *meta;
    struct partition_set *partitions;
    struct producer_ids *producer_ids;
    struct fetch_sessions *fetch_sessions;
    struct clock *clock;
    struct executor *disk;
    struct loop *main_loop; /* Outlives net's loops: for what no connection waits for. */
    int32_t node_id;
    const char *const *listeners; /* Names, by the index that net gives a listener. */
    unsigned listener_count;
    bool auto_create_topics;
    bool delete_topics;
    int32_t fetch_max_bytes;
    int32_t response_partitions_max; /* Of DescribeTopicPartitions. */
    uint64_t waiting_fetch_bytes;    /* Memory that each loop's waiting fetches may have. */
    const struct meta_setting *topic_defaults; /* What the broker's settings say for topics. */
    unsigned topic_default_count;
    const struct broker_config *broker_config;
};

/* A partition as one loop knows it, found without any lock. */
struct api_partition {
    struct partition *partition; /* With a reference. */
    struct append *first, **end; /* Appends put off to the end of the burst. */
    struct list burst;           /* The loop's, while there are any. */
    uint64_t last_fetch;         /* Which named it … */
    struct fetch_part *named;    /* … and where; not to be followed once that has ended. */
};

/* What belongs to one loop; its thread only. */
struct api_loop {
    struct api *api;
    struct api_loop *next; /* All of them; for any thread. */
    struct net_loop *net_loop;
    struct loop *loop;
    struct meta_view *view;    /* Refreshed at the begin of every call. */
    struct map partitions;     /* Topic id and index → struct api_partition. */
    struct list burst;         /* Partitions with appends of this burst. */
    struct list pending_calls; /* Produce calls that wait for the pool. */
    struct list burst_calls;   /* Produce calls of this burst. */
    uint64_t fetches;          /* Counted. */
    uint64_t waiting_bytes;    /* Memory of large fetches that wait. */
    struct later bulky;        /* Calls that take long to answer. */
    struct kept_answers kept;
    struct request_stats stats;
    struct slow_requests slow;
};

struct api {
    struct net_server server; /* What net calls. */
    struct api_options options;
    _Atomic(struct api_loop *) loops; /* One for each of net's. */
    atomic_uint loop_count;
    _Atomic int64_t slow_limit_ms;
    atomic_uint auto_creates; /* Topics that are being created because they were asked about. */
};

/* Opens in two steps, since net needs the server and the services need net's listeners: open, then set the
 * options before net_accept(). 0 or ERR_NO_MEMORY. */
int api_open(struct api **api);

/* Borrows everything in `options`. */
void api_set_options(struct api *api, const struct api_options *options);

/* Requests that take so long or longer get a line (slow_requests.h); below 0, as at first: none. Any thread. */
void api_set_slow_limit(struct api *api, int64_t limit_ms);

/* After net_close() and the end of the quorum, whose last answers have been delivered. NULL is fine. */
void api_close(struct api *api);

struct net_server *api_server(struct api *api);

/* What all loops have counted of one kind of requests (request_stats.h). Any thread. */
struct api_stats {
    const char *name; /* The API's; "unknown". */
    struct histogram_sums durations;
    uint64_t refused;
};
void api_stats(const struct api *api, unsigned kind, struct api_stats *stats);

/* ---- for handlers ---- */

/* Encodes `response` in the call's version as its reply, and ends the call. A response that cannot be
 * encoded closes the connection. */
void api_reply(struct call *call, const struct message_shape *shape, const void *response);

/* The same in another version than the request's (ApiVersions' answer to an unknown version). */
void api_reply_version(struct call *call, const struct message_shape *shape, int16_t version,
                       const void *response);

/* answer() ends the call in a later turn of the loop: for what takes long, so that others come between two
 * such calls. Its frame must be kept, and `with` live as long as it. Who has left meanwhile gets no answer. */
void api_answer_later(struct api_loop *loop, struct call *call, const void *with,
                      void (*answer)(struct api_loop *loop, struct call *call, const void *with));

/* Memory that dies with the call. When there is none the call is refused and NULL returned: return
 * at once. */
void *call_alloc(struct call *call, size_t count, size_t size);

/* The topic's reference is the call's from here on, and lasts until it has ended. NULL is fine. 0, or
 * ERR_NO_MEMORY: it was given back at once. */
int call_adopt_topic(struct call *call, struct meta_topic *topic);

/* The partition as this loop knows it; NULL if this broker does not have it. */
struct api_partition *api_find_partition(struct api_loop *loop, const struct uuid *topic_id,
                                         int32_t index);

/* The same for a partition of a topic that a request names (NULL: there is none). 0,
 * ERR_UNKNOWN_TOPIC_OR_PARTITION, or ERR_NOT_LEADER_OR_FOLLOWER: it is not here. */
int api_find_named(struct api_loop *loop, const struct meta_topic *topic, int32_t index,
                   struct api_partition **partition);

/* Appends everything that produce calls put off: at the end of a burst, and before any other call that
 * must see it. */
void api_flush_burst(struct api_loop *loop);

/* Does an earlier produce call of the same connection still wait for the pool? Then `call`, which must see
 * its records, is dispatched again once that has ended. */
bool api_waits_for_produce(struct api_loop *loop, struct call *call);

/* The address at which clients of the call's listener reach a broker; NULL if it has none there. */
const struct meta_endpoint *api_endpoint(const struct call *call, const struct meta_broker *broker);

/* Registered, not fenced, and to be reached by the call's client. */
bool api_broker_is_live(const struct call *call, int32_t broker);

/* A name for a topic of the broker's own, as clients are told even before there is one. */
bool api_topic_is_internal(struct str topic);

/* What a principal may do where nothing is forbidden: bit n is operation n of Kafka's AclOperation. */
enum {
    TOPIC_OPERATIONS = 3576,   /* Read, write, create, delete, alter, describe, *_configs. */
    CLUSTER_OPERATIONS = 8096, /* Create, alter, describe, cluster action, *_configs, idempotent. */
};

/* For arrays of brokers that an answer names (KIP-951): this one alone. 0 endpoints if unknown. */
struct node_endpoint;
unsigned api_leader_endpoint(const struct call *call, int32_t leader,
                             struct node_endpoint *endpoint);

static inline struct api_loop *call_loop(const struct call *call)
{
    return net_loop_context(call->loop);
}

#endif
