// SPDX-License-Identifier: Apache-2.0
/* The quorum: one thread that runs raft, the metadata log and the state machine, and the controller
 * where this node leads.
 *
 *  (1) Topics, brokers and producer-id blocks live here and nowhere else (DESIGN 7.3).
 *  (2) Everybody asks with a request, embedded in whoever waits; the answer comes as a message on
 *      the loop that the request names, after a view that contains the effect can be had.
 *  (3) A failed write or fsync of the metadata log, an unknown command and lack of memory in apply
 *      end the process (`fatal`): a node never skips (DESIGN 7.1, 7.2). */

#ifndef META_QUORUM_H
#define META_QUORUM_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "data_dir.h"
#include "job.h"
#include "loop.h"
#include "meta_settings.h"
#include "meta_view.h"

struct meta_quorum;

/* How others hear of changes: on the meta thread, in order, each exactly once. `view` is borrowed
 * (ref it to keep it), so are the changes. The first call brings every topic there is as created,
 * once this node has caught up. */
struct meta_watcher {
    void (*changed)(struct meta_watcher *watcher, struct meta_view *view,
                    const struct meta_change *changes, unsigned change_count);

    /* Before the first call of `changed`, while snapshot and log are read again: this topic was deleted
     * in an earlier life of this node, which may have ended before its folders were given up (DESIGN
     * 8.5). A snapshot carries those of that life and of the two intervals before it. */
    void (*was_deleted)(struct meta_watcher *watcher, const struct meta_topic *topic);

    /* Once: this node follows a leader, has caught up and is registered and unfenced (DESIGN
     * 7.5). */
    void (*ready)(struct meta_watcher *watcher);

    /* The settings of brokers are others than at the call before, if there was one. */
    void (*settings_changed)(struct meta_watcher *watcher, struct meta_view *view);

    /* Never returns control to the quorum: the process must end. */
    void (*fatal)(struct meta_watcher *watcher, int err, const char *sentence);
};

struct meta_quorum_options {
    struct data_dir *dir;  /* Holds __sluice_metadata-0 and quorum-state. */
    struct executor *disk; /* Where fsyncs of the metadata log run. */
    struct clock *clock;
    int32_t node_id;
    struct meta_watcher *watcher;
    int32_t election_timeout_ms;
    int32_t heartbeat_ms;
    const struct meta_endpoint *endpoints; /* Of this broker, for its registration; copied. */
    unsigned endpoint_count;
    const char *rack;           /* NULL: none; copied. */
    int32_t default_partitions; /* num.partitions */
    int16_t default_replication_factor;
    bool page_cache_survived; /* DESIGN 6.3 */
    int64_t snapshot_bytes;   /* Both as in meta_node.h. */
    int64_t snapshot_interval_ms;
};

/* Recovers log, term and vote from the disk, bootstraps a new folder as a quorum of this node
 * alone. Refuses a folder of another cluster or node. `why` gets a sentence on failure. Blocks.
 * 0 or an err. */
int meta_quorum_open(struct meta_quorum **quorum, const struct meta_quorum_options *options,
                     char *why, size_t why_size);

/* Starts the thread; `changed` and `ready` follow. 0, ERR_IO, ERR_NO_MEMORY. */
int meta_quorum_start(struct meta_quorum *quorum);

/* Ends pending requests with ERR_CANCELED, flushes the log, stops the thread, frees. No request may
 * be handed over any more; the executor and the loops of pending requests must still run. NULL
 * is fine. */
void meta_quorum_close(struct meta_quorum *quorum);

/* The newest view, with a reference for the caller. Any thread. */
struct meta_view *meta_quorum_view(struct meta_quorum *quorum);

/* Replaces *view by the newest one if there is a newer one; costs one atomic load if not. */
void meta_quorum_refresh(struct meta_quorum *quorum, struct meta_view **view);

enum meta_request_kind {
    META_CREATE_TOPICS,
    META_DELETE_TOPICS,
    META_ALLOCATE_PRODUCER_IDS,
    META_ADD_PARTITIONS,
    META_ALTER_SETTINGS,
};

struct meta_assignment {
    int32_t partition;
    const int32_t *brokers;
    unsigned broker_count;
    int32_t
        leader_epoch; /* The first one: above those that its log has, if there is one already. */
};

struct meta_wanted_setting {
    struct str name;
    struct str value; /* Null: the default. */
};

#define META_WHY_SIZE 160

struct meta_create_topic {
    struct str name;
    struct uuid id;                            /* Zeros: a new one. */
    int32_t partition_count;                   /* -1: the default. */
    int16_t replication_factor;                /* -1: the default. */
    const struct meta_assignment *assignments; /* By hand; then the two above must be -1. */
    unsigned assignment_count;
    const struct meta_wanted_setting *settings;
    unsigned setting_count;
    /* The answer: */
    int err;
    char why[META_WHY_SIZE];  /* "" or a sentence. */
    struct meta_topic *topic; /* As created (or as it would be); unref it. NULL on error. */
};

struct meta_delete_topic {
    struct str name; /* Null: by id. */
    struct uuid id;
    /* The answer: */
    int err;
    struct meta_topic *topic; /* The one that is gone; unref it. NULL on error. */
};

struct meta_add_partitions {
    struct str name;
    int32_t count;                             /* How many the topic is to have. */
    bool is_by_hand;                           /* The new ones where the client says: */
    const struct meta_assignment *assignments; /* in their order, whatever `partition` says. */
    unsigned assignment_count;
    /* The answer: */
    int err;
    char why[META_WHY_SIZE]; /* "" or a sentence. */
};

struct meta_wanted_change {
    struct str name;
    enum meta_setting_op op;
    struct str value;
    const char *list; /* Not of a topic: what append and subtract begin with. NULL: no list. */
};

enum meta_settings_owner {
    META_SETTINGS_OF_BROKER,
    META_SETTINGS_OF_TOPIC,
    META_SETTINGS_OF_RESOURCE,
};

struct meta_alter_settings {
    enum meta_settings_owner owner;
    int32_t broker;                        /* Or META_EVERY_BROKER. */
    struct str name;                       /* Of the topic or resource. */
    enum meta_resource_type resource_type; /* And what it is. */

    /* Of a resource: may it have these, all that it would have then, ascending by name? 0, or an error
     * with a sentence. Called on the meta thread, before the request is granted. */
    int (*check)(const void *context, const struct meta_setting *settings, unsigned count,
                 char *why, size_t why_size);
    const void *check_context;
    bool replaces;                            /* What the changes do not name is gone. */
    const struct meta_wanted_change *changes; /* Each name once. */
    unsigned change_count;
    /* The answer: */
    int err;
    char why[META_WHY_SIZE]; /* "" or a sentence. */
};

struct meta_request {
    struct message message; /* The quorum's, both ways. */
    enum meta_request_kind kind;
    struct loop *loop; /* Where `done` is called. */
    void (*done)(struct meta_request *request);
    int64_t deadline_ms; /* On the clock's monotonic time; ERR_REQUEST_TIMED_OUT after it. */
    union {
        struct {
            struct meta_create_topic *items;
            unsigned count;
            bool validate_only;
            bool is_limited; /* A client's: request_size.h has the limit. */
        } create_topics;
        struct {
            struct meta_delete_topic *items;
            unsigned count;
        } delete_topics;
        struct {
            struct meta_add_partitions *items; /* Each of another topic. */
            unsigned count;
            bool validate_only;
        } add_partitions;
        struct {
            struct meta_alter_settings *items;
            unsigned count;
            bool validate_only;
        } alter_settings;
        struct {
            int32_t count; /* How many; the answer gives [first, first + count). */
            int64_t first;
        } producer_ids;
    } as;
    /* Of the whole request: 0, ERR_NOT_CONTROLLER, ERR_REQUEST_TIMED_OUT, ERR_CANCELED,
     * ERR_NO_MEMORY, ERR_NO_SPACE, ERR_POLICY_VIOLATION (it asks for too much).
     * Other than 0 every item has it too, and no topic; what was asked for may happen all the same,
     * unless it is ERR_POLICY_VIOLATION, or ERR_NOT_CONTROLLER on a node that never led. */
    int err;

    /* The quorum's own, from meta_quorum_request() until `done`: */
    struct meta_quorum *quorum;
    struct list node;
    struct timer timer;
    unsigned open_count; /* Commands on their way. */
};

/* Hands the request over; all that it points to must stay until `done`. Any thread. */
void meta_quorum_request(struct meta_quorum *quorum, struct meta_request *request);

#endif
