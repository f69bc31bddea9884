// SPDX-License-Identifier: Apache-2.0
#include "fetch_session.h"

#include <assert.h>
#include <stdatomic.h>

#include "alloc.h"
#include "error.h"
#include "siphash.h"

#define INITIAL_EPOCH 0
#define FINAL_EPOCH   (-1)
#define BY_ID         13 /* From this version on topics have ids and no names (KIP-516). */
#define KEY_SIZE_MAX  (INT16_MAX + (int)sizeof(int32_t)) /* Names are shorter in all versions. */

/* What the map takes for an entry beside the key, about. */
#define ENTRY_BYTES 64

struct fetch_session {
    atomic_int references;
    int32_t id;
    bool by_id; /* Topics are named by id. */
    int64_t created_ms;

    pthread_mutex_t lock; /* Of what follows. */
    int32_t epoch;        /* Of the next request. */
    struct list partitions;
    struct map by_key;
    uint64_t bytes;

    /* Under the lock of all sessions: */
    struct list used; /* Behind those that were used earlier. */
    int64_t used_ms;
    bool is_counted; /* Not removed. */
    bool is_evictable;
    unsigned counted_size;
    uint64_t counted_bytes;
};

struct fetch_sessions {
    pthread_mutex_t lock;
    struct clock *clock;
    unsigned slots;
    uint64_t max_bytes, bytes;
    struct map by_id;
    struct list used; /* All of them, the one that was not used for longest first. */
    uint64_t id_key[2], ids;
};

/* ---- one session ---- */

/* A topic as a request names it, and a partition of it. */
struct part_name {
    struct uuid topic_id;
    struct str topic;
    int32_t index;
};

static size_t make_key(bool by_id, const struct part_name *name, uint8_t *key)
{
    size_t length = by_id ? sizeof name->topic_id : (size_t)name->topic.length;
    memcpy(key, by_id ? (const void *)&name->topic_id : name->topic.data, length);
    store_i32(key + length, name->index);
    return length + sizeof name->index;
}

static uint64_t cost_of(const struct fetch_session *session, const struct part_name *name)
{
    size_t name_bytes = session->by_id ? sizeof name->topic_id : 2 * (size_t)name->topic.length;
    return sizeof(struct session_partition) + ENTRY_BYTES + name_bytes;
}

static struct fetch_session *session_new(bool by_id, int64_t now_ms)
{
    struct fetch_session *session = mem_zalloc(sizeof *session);
    if (session == NULL) return NULL;
    atomic_init(&session->references, 1);
    session->by_id = by_id;
    session->created_ms = now_ms;
    session->epoch = INITIAL_EPOCH + 1;
    session->bytes = sizeof *session;
    pthread_mutex_init(&session->lock, NULL);
    list_init(&session->partitions);
    list_init(&session->used);
    map_init(&session->by_key);
    return session;
}

void fetch_session_unref(struct fetch_session *session)
{
    if (session == NULL || atomic_fetch_sub(&session->references, 1) != 1) return;
    struct list *node;
    while ((node = list_pop_front(&session->partitions)) != NULL)
        mem_free(LIST_OWNER(node, struct session_partition, node));
    map_close(&session->by_key);
    pthread_mutex_destroy(&session->lock);
    mem_free(session);
}

static void set_wish(struct session_partition *partition,
                     const struct fetch_request_partition *wanted)
{
    partition->current_leader_epoch = wanted->current_leader_epoch;
    partition->fetch_offset = wanted->fetch_offset;
    partition->last_fetched_epoch = wanted->last_fetched_epoch;
    partition->max_bytes = wanted->partition_max_bytes;
}

static struct session_partition *partition_new(const struct fetch_session *session,
                                               const struct part_name *name)
{
    size_t length = session->by_id ? 0 : (size_t)name->topic.length;
    struct session_partition *partition = mem_zalloc(sizeof *partition + length);
    if (partition == NULL) return NULL;
    char *text = (char *)(partition + 1);
    if (length > 0) memcpy(text, name->topic.data, length);
    partition->topic = (struct str){ text, (int32_t)length };
    partition->topic_id = name->topic_id;
    partition->index = name->index;
    partition->told_high_watermark = partition->told_log_start_offset = -1;
    return partition;
}

/* Adds it, or changes what is wanted of it. NULL: no memory. */
static struct session_partition *session_put(struct fetch_session *session,
                                             const struct part_name *name,
                                             const struct fetch_request_partition *wanted)
{
    uint8_t key[KEY_SIZE_MAX];
    size_t length = make_key(session->by_id, name, key);
    struct session_partition *partition = map_get(&session->by_key, key, length);
    if (partition == NULL) {
        partition = partition_new(session, name);
        if (partition == NULL) return NULL;
        if (map_put(&session->by_key, key, length, partition, NULL) != 0) {
            mem_free(partition);
            return NULL;
        }
        list_push_back(&session->partitions, &partition->node);
        session->bytes += cost_of(session, name);
    }
    set_wish(partition, wanted);
    return partition;
}

static void session_drop(struct fetch_session *session, const struct part_name *name)
{
    uint8_t key[KEY_SIZE_MAX];
    size_t length = make_key(session->by_id, name, key);
    struct session_partition *partition = map_remove(&session->by_key, key, length);
    if (partition == NULL) return;
    list_remove(&partition->node);
    mem_free(partition);
    session->bytes -= cost_of(session, name);
}

static int session_change(struct fetch_session *session, const struct fetch_request *request)
{
    for (int32_t i = 0; i < request->topics.count; i++) {
        const struct fetch_request_topic *topic = &request->topics.items[i];
        struct part_name name = { topic->topic_id, topic->topic, 0 };
        for (int32_t k = 0; k < topic->partitions.count; k++) {
            name.index = topic->partitions.items[k].partition;
            if (session_put(session, &name, &topic->partitions.items[k]) == NULL)
                return ERR_NO_MEMORY;
        }
    }
    for (int32_t i = 0; i < request->forgotten_topics_data.count; i++) {
        const struct fetch_request_forgotten_topic *topic =
            &request->forgotten_topics_data.items[i];
        struct part_name name = { topic->topic_id, topic->topic, 0 };
        for (int32_t k = 0; k < topic->partitions.count; k++) {
            name.index = topic->partitions.items[k];
            session_drop(session, &name);
        }
    }
    return 0;
}

struct list *fetch_session_partitions(struct fetch_session *session)
{
    return &session->partitions;
}

unsigned fetch_session_size(const struct fetch_session *session)
{
    return (unsigned)session->by_key.count;
}

int32_t fetch_session_id(const struct fetch_session *session)
{
    return session->id;
}

static int32_t epoch_after(int32_t epoch)
{
    return epoch == INT32_MAX ? INITIAL_EPOCH + 1 : epoch + 1;
}

bool fetch_session_lock(struct fetch_session *session, int32_t request_epoch)
{
    pthread_mutex_lock(&session->lock);
    if (session->epoch == epoch_after(request_epoch)) return true;
    pthread_mutex_unlock(&session->lock);
    return false;
}

void fetch_session_unlock(struct fetch_session *session)
{
    pthread_mutex_unlock(&session->lock);
}

static void remember(struct session_partition *partition,
                     const struct fetch_response_partition *answer)
{
    /* When the error has passed, that must be told. */
    partition->told_high_watermark = answer->error_code != 0 ? -1 : answer->high_watermark;
    partition->told_log_start_offset = answer->log_start_offset;
}

bool fetch_session_tell(struct fetch_session *session, struct session_partition *partition,
                        const struct fetch_response_partition *answer, int64_t record_bytes)
{
    bool is_news = record_bytes > 0 || answer->error_code != 0 ||
                   answer->high_watermark != partition->told_high_watermark ||
                   answer->log_start_offset != partition->told_log_start_offset ||
                   answer->preferred_read_replica >= 0 || answer->diverging_epoch.epoch >= 0;
    remember(partition, answer);
    if (record_bytes > 0) {
        list_remove(&partition->node);
        list_push_back(&session->partitions, &partition->node);
    }
    return is_news;
}

/* ---- all sessions ---- */

int fetch_sessions_open(struct fetch_sessions **sessions, unsigned slots, uint64_t max_bytes,
                        struct clock *clock)
{
    struct fetch_sessions *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    pthread_mutex_init(&opened->lock, NULL);
    opened->clock = clock;
    opened->slots = slots;
    opened->max_bytes = max_bytes;
    map_init(&opened->by_id);
    list_init(&opened->used);
    siphash_random_key(opened->id_key);
    *sessions = opened;
    return 0;
}

/* Its reference is the caller's to give back, outside of the lock. */
static void take_out(struct fetch_sessions *sessions, struct fetch_session *session)
{
    map_remove(&sessions->by_id, &session->id, sizeof session->id);
    list_remove(&session->used);
    session->is_counted = false;
    sessions->bytes -= session->counted_bytes;
}

void fetch_sessions_close(struct fetch_sessions *sessions)
{
    if (sessions == NULL) return;
    while (!list_is_empty(&sessions->used)) {
        struct fetch_session *session = LIST_OWNER(sessions->used.next, struct fetch_session, used);
        take_out(sessions, session);
        fetch_session_unref(session);
    }
    map_close(&sessions->by_id);
    pthread_mutex_destroy(&sessions->lock);
    mem_free(sessions);
}

unsigned fetch_sessions_count(struct fetch_sessions *sessions)
{
    pthread_mutex_lock(&sessions->lock);
    unsigned count = (unsigned)sessions->by_id.count;
    pthread_mutex_unlock(&sessions->lock);
    return count;
}

static int64_t now_ms(const struct fetch_sessions *sessions)
{
    return clock_monotonic_us(sessions->clock) / 1000;
}

/* With a reference for the caller; NULL: there is none. */
static struct fetch_session *find(struct fetch_sessions *sessions, int32_t id)
{
    pthread_mutex_lock(&sessions->lock);
    struct fetch_session *session = map_get(&sessions->by_id, &id, sizeof id);
    if (session != NULL) atomic_fetch_add(&session->references, 1);
    pthread_mutex_unlock(&sessions->lock);
    return session;
}

static void remove_session(struct fetch_sessions *sessions, struct fetch_session *session)
{
    pthread_mutex_lock(&sessions->lock);
    bool was_counted = session->is_counted;
    if (was_counted) take_out(sessions, session);
    pthread_mutex_unlock(&sessions->lock);
    if (was_counted) fetch_session_unref(session);
}

void fetch_sessions_remove(struct fetch_sessions *sessions, int32_t id)
{
    struct fetch_session *session = find(sessions, id);
    if (session == NULL) return;
    remove_session(sessions, session);
    fetch_session_unref(session);
}

/* Notes that the session was used, and what it is now. False: it needs more memory than there is for all of
 * them. The caller holds its lock, or nobody else knows it. */
static bool touch(struct fetch_sessions *sessions, struct fetch_session *session)
{
    pthread_mutex_lock(&sessions->lock);
    bool fits = true;
    if (session->is_counted) {
        session->used_ms = now_ms(sessions);
        session->is_evictable = session->used_ms - session->created_ms > FETCH_SESSION_EVICTION_MS;
        session->counted_size = (unsigned)session->by_key.count;
        sessions->bytes += session->bytes - session->counted_bytes;
        session->counted_bytes = session->bytes;
        list_remove(&session->used);
        list_push_back(&sessions->used, &session->used);
        fits = sessions->bytes <= sessions->max_bytes;
    }
    pthread_mutex_unlock(&sessions->lock);
    return fits;
}

bool fetch_request_is_full(const struct fetch_request *request)
{
    return request->session_epoch == INITIAL_EPOCH || request->session_epoch == FINAL_EPOCH;
}

/* The session is locked. */
static int begin(struct fetch_sessions *sessions, struct fetch_session *session,
                 const struct fetch_request *request, int16_t version)
{
    if (session->epoch != request->session_epoch) return ERR_INVALID_FETCH_SESSION_EPOCH;
    if (session->by_id != (version >= BY_ID)) return ERR_FETCH_SESSION_TOPIC_ID_ERROR;
    session->epoch = epoch_after(session->epoch);
    int err = session_change(session, request);
    if (err == 0 && !touch(sessions, session)) err = ERR_NO_MEMORY;
    if (err == 0 && session->by_key.count > 0) return 0;
    remove_session(sessions, session);
    return err == 0 ? ERR_NOT_FOUND : ERR_FETCH_SESSION_ID_NOT_FOUND;
}

int fetch_session_begin(struct fetch_sessions *sessions, const struct fetch_request *request,
                        int16_t version, struct fetch_session **session)
{
    struct fetch_session *found = find(sessions, request->session_id);
    if (found == NULL) return ERR_FETCH_SESSION_ID_NOT_FOUND;
    pthread_mutex_lock(&found->lock);
    int err = begin(sessions, found, request, version);
    if (err == 0) {
        *session = found;
        return 0;
    }
    pthread_mutex_unlock(&found->lock);
    fetch_session_unref(found);
    if (err != ERR_NOT_FOUND) return err;
    *session = NULL; /* Nothing is left in it. */
    return 0;
}

/* Whose slot a session of `size` partitions may have: one that was not used for long, or a smaller one that
 * was there for long. NULL: nobody's. Kafka's rules; followers, whom they prefer, have none here yet. */
static struct fetch_session *find_victim(struct fetch_sessions *sessions, unsigned size)
{
    if (list_is_empty(&sessions->used)) return NULL;
    struct fetch_session *oldest = LIST_OWNER(sessions->used.next, struct fetch_session, used);
    if (now_ms(sessions) - oldest->used_ms > FETCH_SESSION_EVICTION_MS) return oldest;
    struct fetch_session *smallest = NULL;
    for (struct list *node = sessions->used.next; node != &sessions->used; node = node->next) {
        struct fetch_session *session = LIST_OWNER(node, struct fetch_session, used);
        if (!session->is_evictable || session->counted_size >= size) continue;
        if (smallest == NULL || session->counted_size < smallest->counted_size) smallest = session;
    }
    return smallest;
}

/* Positive, and nobody's: whoever guesses one would disturb another's session. */
static int32_t new_id(struct fetch_sessions *sessions)
{
    int32_t id;
    do {
        sessions->ids++;
        uint64_t mixed = siphash_64(sessions->id_key, &sessions->ids, sizeof sessions->ids);
        id = (int32_t)(mixed & INT32_MAX);
    } while (id == 0 || map_get(&sessions->by_id, &id, sizeof id) != NULL);
    return id;
}

/* Makes room for the session if there may be, and puts it in; the reference is the table's then. */
static bool admit(struct fetch_sessions *sessions, struct fetch_session *session,
                  struct fetch_session **victim)
{
    unsigned size = (unsigned)session->by_key.count;
    if (sessions->by_id.count >= sessions->slots) {
        *victim = find_victim(sessions, size);
        if (*victim == NULL) return false;
        take_out(sessions, *victim);
    }
    if (sessions->bytes + session->bytes > sessions->max_bytes) return false;
    session->id = new_id(sessions);
    if (map_put(&sessions->by_id, &session->id, sizeof session->id, session, NULL) != 0)
        return false;
    session->is_counted = true;
    session->used_ms = session->created_ms;
    session->counted_size = size;
    session->counted_bytes = session->bytes;
    sessions->bytes += session->bytes;
    list_push_back(&sessions->used, &session->used);
    return true;
}

/* Would it be in vain to make one? */
static bool has_no_room(struct fetch_sessions *sessions, unsigned size)
{
    pthread_mutex_lock(&sessions->lock);
    bool none = (sessions->by_id.count >= sessions->slots && find_victim(sessions, size) == NULL) ||
                sessions->bytes + (uint64_t)size * sizeof(struct session_partition) >
                    sessions->max_bytes;
    pthread_mutex_unlock(&sessions->lock);
    return none;
}

static int fill(struct fetch_session *session, const struct fetch_request *request,
                const struct fetch_response_partition *answers)
{
    for (int32_t i = 0; i < request->topics.count; i++) {
        const struct fetch_request_topic *topic = &request->topics.items[i];
        struct part_name name = { topic->topic_id, topic->topic, 0 };
        for (int32_t k = 0; k < topic->partitions.count; k++, answers++) {
            name.index = topic->partitions.items[k].partition;
            struct session_partition *partition = session_put(session, &name,
                                                              &topic->partitions.items[k]);
            if (partition == NULL) return ERR_NO_MEMORY;
            remember(partition, answers);
            partition->was_known = answers->error_code != error_kafka_code(ERR_UNKNOWN_TOPIC_ID);
        }
    }
    return 0;
}

int32_t fetch_session_create(struct fetch_sessions *sessions, const struct fetch_request *request,
                             int16_t version, const struct fetch_response_partition *answers)
{
    unsigned size = 0;
    for (int32_t i = 0; i < request->topics.count; i++)
        size += (unsigned)request->topics.items[i].partitions.count;
    if (has_no_room(sessions, size)) return 0;
    struct fetch_session *session = session_new(version >= BY_ID, now_ms(sessions));
    if (session == NULL) return 0;
    struct fetch_session *victim = NULL;
    int32_t id = 0;
    if (fill(session, request, answers) == 0) {
        pthread_mutex_lock(&sessions->lock);
        if (admit(sessions, session, &victim)) id = session->id;
        pthread_mutex_unlock(&sessions->lock);
    }
    fetch_session_unref(victim);
    if (id == 0) fetch_session_unref(session);
    return id;
}
