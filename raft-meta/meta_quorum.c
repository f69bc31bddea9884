// SPDX-License-Identifier: Apache-2.0
/* The meta thread: after each event that the core was told of, quorum_progress() does what follows.
 *
 *    events     a message of a peer, the timer, a flush that is done, requests that arrived
 *    node       core, vote file, log, committed entries applied to the state (meta_node.h)
 *    progress   view published -> watcher told -> requests answered -> what is still to be said
 *               (cluster id, our own registration) -> timer
 *
 *  (1) A request is answered after the view with its effect can be had and the watcher knows.
 *  (2) The core runs for the first time in meta_quorum_open(), on the caller's thread: what is
 *      wrong with the folder shows there. Nothing else runs then. */

#include "meta_quorum.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "meta_node.h"
#include "meta_requests.h"
#include "trace.h"

#define NOT_SUBMITTED INT64_MAX
#define SPACE_KEPT    (64 << 20) /* Free bytes below which nothing is created any more, */
#define SPACE_FOR_IDS (1 << 20)  /* and below which no producer begins any more. */

struct meta_quorum {
    struct meta_quorum_options options;
    struct arena arena; /* Of the options' texts. */
    struct loop *loop;
    struct meta_node *node;
    struct meta_node_owner owner; /* What the node tells us; its changes are those since the watcher
                                   * was last told. */
    struct meta_requests requests;
    struct timer timer;
    struct message begin, work, stop;

    int64_t registration_index; /* From here on our registration is this life's. */
    bool is_registered;
    bool is_ready;   /* The watcher has been told all there is. */
    bool is_changed; /* Since the view was published. */
    bool is_started;
    bool is_stopping;
    bool is_dead;

    pthread_mutex_t view_lock; /* Held to swap or ref, nothing else. */
    struct meta_view *view;
    struct meta_broker_settings_list *told_settings; /* What the watcher knows. */
    _Atomic uint64_t view_version;
};

static struct meta_quorum *quorum_of_owner(struct meta_node_owner *owner)
{
    return LIST_OWNER(owner, struct meta_quorum, owner);
}

/* ---- what the node tells ---- */

/* A quorum of one has nobody to send to, and no transport. */
static void quorum_send(struct meta_node_owner *owner, const struct meta_message *message)
{
    trace(TRACE_ERROR, "quorum", "node %" PRId32 ": no way to node %" PRId32,
          quorum_of_owner(owner)->options.node_id, message->to);
}

/* Until the watcher has been told of all there is, all that it asks for is what went. */
static void quorum_tell_deleted(struct meta_quorum *quorum)
{
    struct meta_watcher *watcher = quorum->options.watcher;
    struct meta_changes *changes = meta_node_changes(quorum->node);
    for (unsigned i = 0; i < changes->count; i++)
        if (changes->items[i].after == NULL)
            watcher->was_deleted(watcher, changes->items[i].before);
    meta_changes_clear(changes);
}

static void quorum_applied(struct meta_node_owner *owner, int64_t index,
                           const struct meta_entry *entry, struct meta_outcome *outcome)
{
    struct meta_quorum *quorum = quorum_of_owner(owner);
    (void)entry;
    if (!quorum->is_ready) quorum_tell_deleted(quorum);
    meta_requests_applied(&quorum->requests, index, outcome);
    quorum->is_changed = true;
    const struct meta_broker *self = meta_state_broker(meta_node_state(quorum->node),
                                                       quorum->options.node_id);
    if (self != NULL && self->incarnation == index && index >= quorum->registration_index)
        quorum->is_registered = true;
}

/* At the start: what is gone. Later: what another node knew, told as any change is. */
static void quorum_restored(struct meta_node_owner *owner)
{
    struct meta_quorum *quorum = quorum_of_owner(owner);
    if (!quorum->is_ready) quorum_tell_deleted(quorum);
    quorum->is_changed = true;
    const struct meta_broker *self = meta_state_broker(meta_node_state(quorum->node),
                                                       quorum->options.node_id);
    if (self != NULL && self->incarnation >= quorum->registration_index)
        quorum->is_registered = true;
}

static void quorum_role_changed(struct meta_node_owner *owner)
{
    struct meta_quorum *quorum = quorum_of_owner(owner);
    quorum->is_changed = true; /* The controller is another one. */
    if (meta_core_role(meta_node_core(quorum->node)) == META_LEADER) return;
    /* Whether those on their way will be committed is not ours to know any more. */
    meta_requests_fail_all(&quorum->requests, ERR_NOT_CONTROLLER);
    if (!quorum->is_registered) quorum->registration_index = NOT_SUBMITTED;
}

/* ---- views ---- */

static int quorum_publish(struct meta_quorum *quorum)
{
    uint64_t version = atomic_load_explicit(&quorum->view_version, memory_order_relaxed) + 1;
    int32_t leader = meta_core_leader(meta_node_core(quorum->node));
    struct meta_view *view = meta_view_create(meta_node_state(quorum->node), leader, version);
    if (view == NULL) return ERR_NO_MEMORY;
    pthread_mutex_lock(&quorum->view_lock);
    struct meta_view *old = quorum->view;
    quorum->view = view;
    atomic_store_explicit(&quorum->view_version, version, memory_order_release);
    pthread_mutex_unlock(&quorum->view_lock);
    meta_view_unref(old);
    quorum->is_changed = false;
    return 0;
}

struct meta_view *meta_quorum_view(struct meta_quorum *quorum)
{
    pthread_mutex_lock(&quorum->view_lock);
    struct meta_view *view = meta_view_ref(quorum->view);
    pthread_mutex_unlock(&quorum->view_lock);
    return view;
}

void meta_quorum_refresh(struct meta_quorum *quorum, struct meta_view **view)
{
    if (*view != NULL && meta_view_version(*view) ==
                             atomic_load_explicit(&quorum->view_version, memory_order_acquire))
        return;
    struct meta_view *newest = meta_quorum_view(quorum);
    meta_view_unref(*view);
    *view = newest;
}

/* ---- progress ---- */

static void quorum_fail(struct meta_quorum *quorum, int err)
{
    char why[256];
    if (quorum->is_dead) return;
    quorum->is_dead = true;
    timer_cancel(quorum->loop, &quorum->timer);
    struct meta_watcher *watcher = quorum->options.watcher;
    meta_node_explain(quorum->node, err, why, sizeof why);
    watcher->fatal(watcher, err, why);
}

/* Commands that only we can say: the cluster's id if the log has none yet, and that we are here. */
static int quorum_introduce(struct meta_quorum *quorum)
{
    const struct meta_quorum_options *options = &quorum->options;
    const struct data_dir_identity *identity = data_dir_identity(options->dir);
    struct meta_command bootstrap = {
        .kind = META_BOOTSTRAP,
        .as.bootstrap = { str_from(identity->cluster_id) },
    };
    struct meta_command registration = {
        .kind = META_REGISTER_BROKER,
        .as.register_broker = {
            .broker = {
                .id = options->node_id,
                .rack = options->rack,
                .endpoints = options->endpoints,
                .endpoint_count = options->endpoint_count,
            },
            .directory_id = identity->directory_id,
            .page_cache_survived = options->page_cache_survived,
        },
    };
    struct meta_entry entries[2] = { { 0 }, { 0 } };
    unsigned count = 0;
    int64_t first_index = 0;
    struct buffer bytes;
    buffer_init(&bytes);
    size_t split = 0;
    if (meta_node_state(quorum->node)->cluster_id[0] == '\0') {
        meta_command_encode(&bootstrap, &bytes);
        split = bytes.length;
    }
    meta_command_encode(&registration, &bytes);
    int err = bytes.failed ? ERR_NO_MEMORY : 0;
    if (err == 0) {
        if (split > 0) entries[count++].payload = (struct bytes){ bytes.data, (int32_t)split };
        entries[count++].payload = (struct bytes){ bytes.data + split,
                                                   (int32_t)(bytes.length - split) };
        err = meta_node_submit(quorum->node, entries, count, &first_index);
    }
    buffer_close(&bytes);
    if (err == 0) quorum->registration_index = first_index + count - 1;
    return err == ERR_NOT_CONTROLLER ? 0 : err;
}

/* A full disk must not be the end of us (DESIGN 4.7, 7.1), so what is left of it is for what must
 * be written. What deletes may still come: it makes room; and ids as long as records may be written,
 * since a producer that begins needs one. If it cannot be told there is room. */
static void quorum_refuse_growth(struct meta_quorum *quorum)
{
    int64_t free_bytes = 0, total_bytes = 0;
    struct fs *fs = data_dir_fs(quorum->options.dir);
    int err = fs->free_bytes(fs, data_dir_path(quorum->options.dir), &free_bytes, &total_bytes);
    if (err == 0 && free_bytes < SPACE_KEPT)
        meta_requests_refuse_growth(&quorum->requests, free_bytes < SPACE_FOR_IDS, ERR_NO_SPACE);
}

static int quorum_batch(struct meta_quorum *quorum)
{
    struct controller controller = {
        .state = meta_node_state(quorum->node),
        .node_id = quorum->options.node_id,
        .default_partitions = quorum->options.default_partitions,
        .default_replication_factor = quorum->options.default_replication_factor,
    };
    struct meta_entry *entries = NULL;
    unsigned count = 0;
    int64_t first_index = 0;
    if (meta_core_role(meta_node_core(quorum->node)) != META_LEADER || !quorum->is_ready) {
        meta_requests_fail_all(&quorum->requests, ERR_NOT_CONTROLLER);
        return 0;
    }
    quorum_refuse_growth(quorum);
    /* Out of memory: the requests were answered with it. */
    if (meta_requests_build(&quorum->requests, &controller, &entries, &count) != 0) return 0;
    if (count == 0) return 0;
    int err = meta_node_submit(quorum->node, entries, count, &first_index);
    meta_requests_submitted(&quorum->requests, first_index, err);
    return err == ERR_NOT_CONTROLLER ? 0 : err;
}

/* Everything there is, as created: for the first time. */
static int quorum_tell_all(struct meta_quorum *quorum)
{
    struct meta_topic_cursor cursor = { 0, 0 };
    const struct meta_topic *topic;
    int err = 0;
    struct meta_changes *changes = meta_node_changes(quorum->node);
    meta_changes_clear(changes);
    while (err == 0 &&
           (topic = meta_state_next_topic(meta_node_state(quorum->node), &cursor)) != NULL)
        err = meta_changes_add(changes, NULL, topic);
    return err;
}

static void quorum_tell_settings(struct meta_quorum *quorum)
{
    struct meta_watcher *watcher = quorum->options.watcher;
    struct meta_broker_settings_list *settings = meta_node_state(quorum->node)->broker_settings;
    if (settings == quorum->told_settings) return;
    meta_broker_settings_ref(settings);
    meta_broker_settings_unref(quorum->told_settings);
    quorum->told_settings = settings;
    watcher->settings_changed(watcher, quorum->view);
}

static int quorum_tell(struct meta_quorum *quorum)
{
    struct meta_watcher *watcher = quorum->options.watcher;
    struct meta_changes *changes = meta_node_changes(quorum->node);
    bool is_first = !quorum->is_ready && quorum->is_registered &&
                    meta_core_is_caught_up(meta_node_core(quorum->node));
    int err = is_first ? quorum_tell_all(quorum) : 0;
    if (err != 0) return err;
    /* First: topics that are told of take what these say. */
    if (is_first || quorum->is_ready) quorum_tell_settings(quorum);
    if (is_first || changes->count > 0)
        watcher->changed(watcher, quorum->view, changes->items, changes->count);
    meta_changes_clear(changes);
    if (is_first) {
        quorum->is_ready = true;
        watcher->ready(watcher);
    }
    return 0;
}

static void quorum_set_timer(struct meta_quorum *quorum)
{
    int64_t deadline_ms = meta_node_deadline_ms(quorum->node);
    if (deadline_ms == INT64_MAX)
        timer_cancel(quorum->loop, &quorum->timer);
    else
        timer_set(quorum->loop, &quorum->timer, deadline_ms - meta_node_now_ms(quorum->node));
}

static void quorum_progress(struct meta_quorum *quorum)
{
    if (quorum->is_dead) return;
    int err = meta_node_failed(quorum->node);
    if (err == 0 && quorum->is_changed) err = quorum_publish(quorum);
    if (err == 0) err = quorum_tell(quorum);
    if (err == 0) meta_requests_release(&quorum->requests); /* By (1). */
    if (err == 0 && !quorum->is_stopping && quorum->registration_index == NOT_SUBMITTED &&
        meta_core_role(meta_node_core(quorum->node)) == META_LEADER &&
        meta_core_is_caught_up(meta_node_core(quorum->node)))
        err = quorum_introduce(quorum);
    if (err != 0)
        quorum_fail(quorum, err);
    else
        quorum_set_timer(quorum);
}

/* ---- events ---- */

static void quorum_begin(struct message *message)
{
    quorum_progress(LIST_OWNER(message, struct meta_quorum, begin));
}

static void quorum_tick(struct timer *timer)
{
    struct meta_quorum *quorum = LIST_OWNER(timer, struct meta_quorum, timer);
    meta_node_tick(quorum->node);
    quorum_progress(quorum);
}

/* A flush is done. */
static void quorum_moved(struct meta_node_owner *owner)
{
    struct meta_quorum *quorum = quorum_of_owner(owner);
    quorum_progress(quorum);
    if (quorum->is_stopping && !meta_node_is_busy(quorum->node)) loop_stop(quorum->loop);
}

/* All requests that came in this turn, as one batch. */
static void quorum_work(struct message *message)
{
    struct meta_quorum *quorum = LIST_OWNER(message, struct meta_quorum, work);
    if (quorum->is_dead) return;
    int err = meta_requests_has_fresh(&quorum->requests) ? quorum_batch(quorum) : 0;
    if (err != 0)
        quorum_fail(quorum, err);
    else
        quorum_progress(quorum);
}

static void request_expire(struct timer *timer)
{
    struct meta_request *request = LIST_OWNER(timer, struct meta_request, timer);
    struct meta_requests *requests = &request->quorum->requests;
    meta_requests_expire(requests, request);
    meta_requests_release(requests);
}

static void request_arrive(struct message *message)
{
    struct meta_request *request = LIST_OWNER(message, struct meta_request, message);
    struct meta_quorum *quorum = request->quorum;
    meta_requests_take(&quorum->requests, request, request_expire);
    if (quorum->is_stopping) {
        meta_requests_fail_all(&quorum->requests, ERR_CANCELED);
        meta_requests_release(&quorum->requests);
    }
    loop_post(quorum->loop, &quorum->work);
}

void meta_quorum_request(struct meta_quorum *quorum, struct meta_request *request)
{
    request->quorum = quorum;
    message_init(&request->message, request_arrive);
    loop_post(quorum->loop, &request->message);
}

/* ---- open ---- */

static int open_copy_options(struct meta_quorum *quorum, const struct meta_quorum_options *options)
{
    struct meta_quorum_options *copy = &quorum->options;
    struct arena *arena = &quorum->arena;
    struct str text = STR_NULL;
    *copy = *options;
    int err = arena_str(arena, str_from(options->rack), &text);
    copy->rack = text.data;
    struct meta_endpoint *endpoints = arena_calloc(arena, options->endpoint_count,
                                                   sizeof *endpoints);
    if (endpoints == NULL && options->endpoint_count > 0) err = ERR_NO_MEMORY;
    for (unsigned i = 0; err == 0 && i < options->endpoint_count; i++) {
        endpoints[i] = options->endpoints[i];
        err = arena_str(arena, str_from(endpoints[i].listener), &text);
        endpoints[i].listener = text.data;
        if (err == 0) err = arena_str(arena, str_from(endpoints[i].host), &text);
        endpoints[i].host = text.data;
    }
    copy->endpoints = endpoints;
    return err;
}

static int open_node(struct meta_quorum *quorum, char *why, size_t why_size)
{
    const struct meta_quorum_options *options = &quorum->options;
    struct uuid chance;
    quorum->owner = (struct meta_node_owner){ quorum_send, quorum_applied, quorum_role_changed,
                                              quorum_moved, quorum_restored };
    struct meta_node_options node_options = {
        .dir = options->dir,
        .disk = options->disk,
        .mailbox = loop_mailbox(quorum->loop),
        .clock = options->clock,
        .owner = &quorum->owner,
        .node_id = options->node_id,
        .election_timeout_ms = options->election_timeout_ms,
        .heartbeat_ms = options->heartbeat_ms,
        .snapshot_bytes = options->snapshot_bytes,
        .snapshot_interval_ms = options->snapshot_interval_ms,
    };
    int err = uuid_random(&chance);
    if (err != 0) return err;
    memcpy(node_options.hash_key, chance.bytes, sizeof node_options.hash_key);
    err = uuid_random(&chance);
    if (err != 0) return err;
    node_options.seed = (uint32_t)load_i32(chance.bytes);
    err = meta_node_open(&quorum->node, &node_options, why, why_size);
    if (err != 0) return err;
    err = meta_node_start(quorum->node);
    if (err == 0) err = quorum_publish(quorum);
    if (err != 0) meta_node_explain(quorum->node, err, why, why_size);
    return err;
}

static int open_memory(struct meta_quorum *quorum, const struct meta_quorum_options *options)
{
    int err = open_copy_options(quorum, options);
    if (err == 0) err = loop_open(&quorum->loop, "meta", options->clock);
    quorum->requests.loop = quorum->loop;
    return err;
}

int meta_quorum_open(struct meta_quorum **quorum, const struct meta_quorum_options *options,
                     char *why, size_t why_size)
{
    struct meta_quorum *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) {
        snprintf(why, why_size, "%s", error_text(ERR_NO_MEMORY));
        return ERR_NO_MEMORY;
    }
    snprintf(why, why_size, "%s", "");
    opened->registration_index = NOT_SUBMITTED;
    arena_init(&opened->arena, NULL, 0, SIZE_MAX);
    meta_requests_init(&opened->requests, NULL);
    pthread_mutex_init(&opened->view_lock, NULL);
    timer_init(&opened->timer, quorum_tick);
    message_init(&opened->begin, quorum_begin);
    message_init(&opened->work, quorum_work);

    int err = open_memory(opened, options);
    if (err == 0) err = open_node(opened, why, why_size);
    if (err == 0) {
        *quorum = opened;
        return 0;
    }
    if (why_size > 0 && why[0] == '\0') snprintf(why, why_size, "%s", error_text(err));
    opened->is_dead = true;
    meta_quorum_close(opened);
    return err;
}

/* ---- start, stop ---- */

int meta_quorum_start(struct meta_quorum *quorum)
{
    loop_post(quorum->loop, &quorum->begin);
    int err = loop_start(quorum->loop);
    quorum->is_started = err == 0;
    return err;
}

static void quorum_stop(struct message *message)
{
    struct meta_quorum *quorum = LIST_OWNER(message, struct meta_quorum, stop);
    quorum->is_stopping = true;
    timer_cancel(quorum->loop, &quorum->timer);
    meta_requests_fail_all(&quorum->requests, ERR_CANCELED);
    meta_requests_release(&quorum->requests);
    /* Otherwise quorum_moved() does it. */
    if (!meta_node_is_busy(quorum->node)) loop_stop(quorum->loop);
}

void meta_quorum_close(struct meta_quorum *quorum)
{
    if (quorum == NULL) return;
    if (quorum->is_started) {
        message_init(&quorum->stop, quorum_stop);
        loop_post(quorum->loop, &quorum->stop);
    }
    loop_close(quorum->loop);
    if (!quorum->is_dead) meta_node_leave(quorum->node);
    meta_node_close(quorum->node);
    meta_requests_close(&quorum->requests);
    meta_view_unref(quorum->view);
    meta_broker_settings_unref(quorum->told_settings);
    arena_close(&quorum->arena);
    pthread_mutex_destroy(&quorum->view_lock);
    mem_free(quorum);
}
