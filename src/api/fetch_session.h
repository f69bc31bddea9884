// SPDX-License-Identifier: Apache-2.0
/* Fetch sessions (KIP-227): the partitions that a consumer asks for again and again, remembered, so that it
 * names only what changed, and is told only what changed.
 *
 *    epoch 0 ──► answer in full, fetch_session_create() ──► id, epoch 1
 *    epoch n ──► fetch_session_begin(): changes in, epoch n+1 ──► … ──► fetch_session_tell() for each part
 *    epoch 0 or -1 with an id ──► fetch_sessions_remove()
 *
 *  (1) A session belongs to no loop: its consumer may come back on a connection of any of them. It has a
 *      lock of its own; the lock of all sessions is for finding and counting them, and taken last.
 *  (2) Of two requests with the same epoch one wins; a request whose answer is late by an epoch has lost.
 *  (3) A session that was removed goes on for the requests that have a reference to it, and no longer.
 *  (4) As many sessions as there are slots, and all together no more than so many bytes: whoever would need
 *      more is answered in full, with session id 0. */

#ifndef API_FETCH_SESSION_H
#define API_FETCH_SESSION_H

#include <pthread.h>

#include "clock.h"
#include "fetch.h"
#include "list.h"
#include "map.h"

/* A session is not given up for a larger one before (Kafka's min.incremental.fetch.session.eviction.ms). */
#define FETCH_SESSION_EVICTION_MS 120000

struct fetch_sessions;

/* A partition in a session: what the consumer wants of it, and what it was told last. */
struct session_partition {
    struct list node;
    struct uuid topic_id;
    struct str topic; /* Owned, behind this struct. Empty where topics are named by id. */
    int32_t index;
    bool was_known; /* Its topic's id has been that of a topic. */
    int32_t current_leader_epoch;
    int64_t fetch_offset;
    int32_t last_fetched_epoch;
    int32_t max_bytes;
    int64_t told_high_watermark; /* -1: it must be told in any case. */
    int64_t told_log_start_offset;
};

struct fetch_session; /* Opaque; with references. */

/* Borrows the clock. 0 or ERR_NO_MEMORY. */
int fetch_sessions_open(struct fetch_sessions **sessions, unsigned slots, uint64_t max_bytes,
                        struct clock *clock);
void fetch_sessions_close(struct fetch_sessions *sessions); /* NULL is fine. */

unsigned fetch_sessions_count(struct fetch_sessions *sessions);

/* Is it a request in full, which opens a session, closes one, or wants none? */
bool fetch_request_is_full(const struct fetch_request *request);

/* Any thread, as all that follows. No such session is fine. */
void fetch_sessions_remove(struct fetch_sessions *sessions, int32_t id);

/* The session of a request that is not full, with what the request changes. 0 and a session, locked, with a
 * reference; 0 and NULL if nothing is left in it: then it is gone, and the request stands for itself.
 * ERR_FETCH_SESSION_ID_NOT_FOUND, ERR_INVALID_FETCH_SESSION_EPOCH, ERR_FETCH_SESSION_TOPIC_ID_ERROR. Where
 * there is no memory for a change, the session is given up: the first of these. */
int fetch_session_begin(struct fetch_sessions *sessions, const struct fetch_request *request,
                        int16_t version, struct fetch_session **session);

/* Its partitions, in the order in which they are read: a list of struct session_partition. While locked. */
struct list *fetch_session_partitions(struct fetch_session *session);
unsigned fetch_session_size(const struct fetch_session *session);

/* Locks it for the answer to the request that has just begun; false if another has begun since, and then
 * it is not locked. */
bool fetch_session_lock(struct fetch_session *session, int32_t request_epoch);
void fetch_session_unlock(struct fetch_session *session);
void fetch_session_unref(struct fetch_session *session); /* NULL is fine. */
int32_t fetch_session_id(const struct fetch_session *session);

/* Must this answer be told, or does the consumer know it already? Remembers it; a partition with records
 * goes to the end of the list, so that others get their turn. While locked. */
bool fetch_session_tell(struct fetch_session *session, struct session_partition *partition,
                        const struct fetch_response_partition *answer, int64_t record_bytes);

/* The id of a new session of what was asked for in full and answered so, 0 if there is no room for it.
 * `answers` are those of the request's partitions, in its order. */
int32_t fetch_session_create(struct fetch_sessions *sessions, const struct fetch_request *request,
                             int16_t version, const struct fetch_response_partition *answers);

#endif
