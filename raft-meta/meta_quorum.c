// SPDX-License-Identifier: Apache-2.0
/* The meta thread: after each event that the core was told of, quorum_progress() does what follows.
 *
 *    events     a message of a peer, the timer, a flush that is done, requests that arrived
 *    core       orders: vote file, log, committed entries applied to the state (meta_core_io below)
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
#include "meta_apply.h"
#include "meta_core.h"
#include "meta_log.h"
#include "meta_members.h"
#include "meta_requests.h"
#include "meta_vote.h"
#include "trace.h"

#define VOTE_FILE     "quorum-state"
#define NOT_SUBMITTED INT64_MAX
#define SPACE_KEPT    (64 << 20) /* Free bytes below which nothing is created any more, */
#define SPACE_FOR_IDS (1 << 20)  /* and below which no producer begins any more. */

struct meta_quorum {
    struct meta_quorum_options options;
    struct arena arena; /* Of the options' texts. */
    struct loop *loop;
    struct meta_core *core;
    struct meta_core_io io;
    struct meta_log *log;
    struct meta_log_flusher flusher;
    struct meta_vote vote;
    struct meta_state state;
    struct meta_changes changes; /* Since the watcher was last told. */
    struct meta_requests requests;
    struct timer timer;
    struct message begin, work, stop;
    char failure[256]; /* A better sentence than the error's own, or "". */

    int64_t registration_index; /* From here on our registration is this life's. */
    bool is_registered;
    bool is_ready;   /* The watcher has been told all there is. */
    bool is_changed; /* Since the view was published. */
    bool is_started;
    bool is_stopping;
    bool is_dead;

    pthread_mutex_t view_lock; /* Held to swap or ref, nothing else. */
    struct meta_view *view;
    _Atomic uint64_t view_version;
};

static struct meta_quorum *quorum_of_io(struct meta_core_io *io)
{
    return LIST_OWNER(io, struct meta_quorum, io);
}

static int64_t quorum_now_ms(const struct meta_quorum *quorum)
{
    return clock_monotonic_us(quorum->options.clock) / 1000;
}

/* ---- what the core orders ---- */

static int quorum_store_vote(struct meta_core_io *io, int64_t term, int32_t voted_for)
{
    struct meta_quorum *quorum = quorum_of_io(io);
    return meta_vote_store(&quorum->vote, term, voted_for, meta_log_flushed_index(quorum->log));
}

static int quorum_append(struct meta_core_io *io, uint64_t write, int64_t first_index,
                         const struct meta_entry *entries, unsigned count)
{
    struct meta_quorum *quorum = quorum_of_io(io);
    struct meta_vote *vote = &quorum->vote;
    int err = 0;
    /* What is removed need not be there at the next start. */
    if (first_index <= vote->persisted_index)
        err = meta_vote_store(vote, vote->term, vote->voted_for, first_index - 1);
    if (err == 0) err = meta_log_append(quorum->log, first_index, entries, count);
    if (err == 0) meta_log_want_flush(quorum->log, write);
    return err;
}

static int quorum_read(struct meta_core_io *io, int64_t first_index, unsigned count,
                       struct meta_entry *entries, struct arena *arena)
{
    return meta_log_read(quorum_of_io(io)->log, first_index, count, entries, arena);
}

/* A quorum of one has nobody to send to, and no transport. */
static void quorum_send(struct meta_core_io *io, const struct meta_message *message)
{
    trace(TRACE_ERROR, "quorum", "node %" PRId32 ": no way to node %" PRId32,
          quorum_of_io(io)->options.node_id, message->to);
}

/* The cluster that the log belongs to is the one that the folder names. */
static int quorum_check_cluster(struct meta_quorum *quorum)
{
    const char *cluster_id = data_dir_identity(quorum->options.dir)->cluster_id;
    if (quorum->state.cluster_id[0] == '\0' || strcmp(quorum->state.cluster_id, cluster_id) == 0)
        return 0;
    snprintf(quorum->failure, sizeof quorum->failure,
             "%s: meta.properties names cluster %s, but the metadata log is of cluster %s; one of "
             "the two was copied here from elsewhere",
             data_dir_path(quorum->options.dir), cluster_id, quorum->state.cluster_id);
    return ERR_INCONSISTENT_CLUSTER_ID;
}

/* Until the watcher has been told of all there is, all that it asks for is what went. */
static void quorum_tell_deleted(struct meta_quorum *quorum)
{
    struct meta_watcher *watcher = quorum->options.watcher;
    for (unsigned i = 0; i < quorum->changes.count; i++)
        if (quorum->changes.items[i].after == NULL)
            watcher->was_deleted(watcher, quorum->changes.items[i].before);
    meta_changes_clear(&quorum->changes);
}

static int quorum_apply(struct meta_core_io *io, int64_t index, const struct meta_entry *entry)
{
    struct meta_quorum *quorum = quorum_of_io(io);
    struct meta_outcome outcome;
    int err = meta_apply(&quorum->state, index, entry, &quorum->changes, &outcome);
    if (!quorum->is_ready) quorum_tell_deleted(quorum);
    if (err == ERR_UNSUPPORTED_VERSION || err == ERR_MALFORMED)
        snprintf(quorum->failure, sizeof quorum->failure,
                 "entry %" PRId64 " of the metadata log is of a kind or version that this program "
                 "does not know: run the version that wrote it, or a newer one",
                 index);
    if (err != 0) return err;
    meta_requests_applied(&quorum->requests, index, &outcome);
    meta_outcome_close(&outcome);
    quorum->is_changed = true;
    const struct meta_broker *self = meta_state_broker(&quorum->state, quorum->options.node_id);
    if (self != NULL && self->incarnation == index && index >= quorum->registration_index)
        quorum->is_registered = true;
    return quorum_check_cluster(quorum);
}

static void quorum_role_changed(struct meta_core_io *io)
{
    struct meta_quorum *quorum = quorum_of_io(io);
    quorum->is_changed = true; /* The controller is another one. */
    if (meta_core_role(quorum->core) == META_LEADER) return;
    /* Whether those on their way will be committed is not ours to know any more. */
    meta_requests_fail_all(&quorum->requests, ERR_NOT_CONTROLLER);
    if (!quorum->is_registered) quorum->registration_index = NOT_SUBMITTED;
}

/* ---- views ---- */

static int quorum_publish(struct meta_quorum *quorum)
{
    uint64_t version = atomic_load_explicit(&quorum->view_version, memory_order_relaxed) + 1;
    struct meta_view *view = meta_view_create(&quorum->state, meta_core_leader(quorum->core),
                                              version);
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
    if (quorum->is_dead) return;
    quorum->is_dead = true;
    timer_cancel(quorum->loop, &quorum->timer);
    struct meta_watcher *watcher = quorum->options.watcher;
    if (quorum->failure[0] == '\0')
        snprintf(quorum->failure, sizeof quorum->failure, "%s: the metadata log: %s",
                 data_dir_path(quorum->options.dir), error_text(err));
    watcher->fatal(watcher, err, quorum->failure);
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
    if (quorum->state.cluster_id[0] == '\0') {
        meta_command_encode(&bootstrap, &bytes);
        split = bytes.length;
    }
    meta_command_encode(&registration, &bytes);
    int err = bytes.failed ? ERR_NO_MEMORY : 0;
    if (err == 0) {
        if (split > 0) entries[count++].payload = (struct bytes){ bytes.data, (int32_t)split };
        entries[count++].payload = (struct bytes){ bytes.data + split,
                                                   (int32_t)(bytes.length - split) };
        err = meta_core_submit(quorum->core, quorum_now_ms(quorum), entries, count, &first_index);
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
        .state = &quorum->state,
        .node_id = quorum->options.node_id,
        .default_partitions = quorum->options.default_partitions,
        .default_replication_factor = quorum->options.default_replication_factor,
    };
    struct meta_entry *entries = NULL;
    unsigned count = 0;
    int64_t first_index = 0;
    if (meta_core_role(quorum->core) != META_LEADER || !quorum->is_ready) {
        meta_requests_fail_all(&quorum->requests, ERR_NOT_CONTROLLER);
        return 0;
    }
    quorum_refuse_growth(quorum);
    /* Out of memory: the requests were answered with it. */
    if (meta_requests_build(&quorum->requests, &controller, &entries, &count) != 0) return 0;
    if (count == 0) return 0;
    int err = meta_core_submit(quorum->core, quorum_now_ms(quorum), entries, count, &first_index);
    meta_requests_submitted(&quorum->requests, first_index, err);
    return err == ERR_NOT_CONTROLLER ? 0 : err;
}

/* Everything there is, as created: for the first time. */
static int quorum_tell_all(struct meta_quorum *quorum)
{
    struct meta_topic_cursor cursor = { 0, 0 };
    const struct meta_topic *topic;
    int err = 0;
    meta_changes_clear(&quorum->changes);
    while (err == 0 && (topic = meta_state_next_topic(&quorum->state, &cursor)) != NULL)
        err = meta_changes_add(&quorum->changes, NULL, topic);
    return err;
}

static int quorum_tell(struct meta_quorum *quorum)
{
    struct meta_watcher *watcher = quorum->options.watcher;
    bool is_first = !quorum->is_ready && quorum->is_registered &&
                    meta_core_is_caught_up(quorum->core);
    int err = is_first ? quorum_tell_all(quorum) : 0;
    if (err != 0) return err;
    if (is_first || quorum->changes.count > 0)
        watcher->changed(watcher, quorum->view, quorum->changes.items, quorum->changes.count);
    meta_changes_clear(&quorum->changes);
    if (is_first) {
        quorum->is_ready = true;
        watcher->ready(watcher);
    }
    return 0;
}

static void quorum_set_timer(struct meta_quorum *quorum)
{
    int64_t deadline_ms = meta_core_deadline_ms(quorum->core);
    if (deadline_ms == INT64_MAX)
        timer_cancel(quorum->loop, &quorum->timer);
    else
        timer_set(quorum->loop, &quorum->timer, deadline_ms - quorum_now_ms(quorum));
}

static void quorum_progress(struct meta_quorum *quorum)
{
    if (quorum->is_dead) return;
    int err = meta_core_failed(quorum->core);
    if (err == 0 && quorum->is_changed) err = quorum_publish(quorum);
    if (err == 0) err = quorum_tell(quorum);
    if (err == 0) meta_requests_release(&quorum->requests); /* By (1). */
    if (err == 0 && !quorum->is_stopping && quorum->registration_index == NOT_SUBMITTED &&
        meta_core_role(quorum->core) == META_LEADER && meta_core_is_caught_up(quorum->core))
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
    meta_core_tick(quorum->core, quorum_now_ms(quorum));
    quorum_progress(quorum);
}

static void quorum_flushed(struct meta_log_flusher *flusher, uint64_t write, int err)
{
    struct meta_quorum *quorum = LIST_OWNER(flusher, struct meta_quorum, flusher);
    if (err != 0) {
        snprintf(quorum->failure, sizeof quorum->failure,
                 "%s: the metadata log could not be made durable (%s)",
                 data_dir_path(quorum->options.dir), error_text(err));
        quorum_fail(quorum, err);
    } else if (!quorum->is_dead) {
        meta_core_persisted(quorum->core, quorum_now_ms(quorum), write);
        quorum_progress(quorum);
    }
    if (quorum->is_stopping && !meta_log_is_flushing(quorum->log)) loop_stop(quorum->loop);
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

static int open_files(struct meta_quorum *quorum, char *why, size_t why_size)
{
    struct data_dir *dir = quorum->options.dir;
    char *path = mem_printf("%s/" VOTE_FILE, data_dir_path(dir));
    if (path == NULL) return ERR_NO_MEMORY;
    int err = meta_vote_open(&quorum->vote, data_dir_fs(dir), path, why, why_size);
    mem_free(path);
    if (err == 0)
        err = meta_log_open(&quorum->log, dir, quorum->options.clock, quorum->vote.persisted_index,
                            why, why_size);
    return err;
}

/* A new folder: a quorum of this node alone. Its cluster id is written last; a folder without one
 * that holds no more than entry 1 was left in the middle of this, and begins again. */
static int open_format(struct meta_quorum *quorum, char *why, size_t why_size)
{
    struct data_dir *dir = quorum->options.dir;
    if (quorum->vote.term > 1 || meta_log_last_index(quorum->log) > 1) {
        snprintf(why, why_size,
                 "%s: there is a metadata log, but meta.properties does not name its cluster; "
                 "restore meta.properties",
                 data_dir_path(dir));
        return ERR_INCONSISTENT_CLUSTER_ID;
    }
    struct uuid cluster;
    char cluster_id[UUID_TEXT_SIZE];
    struct buffer bytes;
    struct meta_members members = { .count = 1 };
    members.members[0] = (struct meta_member){
        .node_id = quorum->options.node_id,
        .role = META_VOTER,
        .directory_id = data_dir_identity(dir)->directory_id,
        .address = STR_LITERAL(""),
    };
    buffer_init(&bytes);
    meta_members_encode(&members, &bytes);
    struct meta_entry first = {
        .term = 1,
        .type = META_ENTRY_MEMBERS,
        .payload = { bytes.data, (int32_t)bytes.length },
    };
    int err = bytes.failed ? ERR_NO_MEMORY : 0;
    /* Before what it counts on is removed. */
    if (err == 0) err = meta_vote_store(&quorum->vote, 1, META_NOBODY, 0);
    if (err == 0) err = meta_log_append(quorum->log, 1, &first, 1);
    if (err == 0) err = meta_log_checkpoint(quorum->log);
    if (err == 0) err = uuid_random(&cluster);
    if (err == 0) {
        uuid_print(&cluster, cluster_id);
        err = data_dir_set_identity(dir, cluster_id, quorum->options.node_id);
    }
    buffer_close(&bytes);
    if (err != 0) snprintf(why, why_size, "%s: %s", data_dir_path(dir), error_text(err));
    return err;
}

static int open_check(struct meta_quorum *quorum, char *why, size_t why_size)
{
    struct data_dir *dir = quorum->options.dir;
    const struct data_dir_identity *identity = data_dir_identity(dir);
    if (identity->node_id != quorum->options.node_id) {
        snprintf(why, why_size, "%s: this folder is node %" PRId32 "'s, but node.id is %" PRId32,
                 data_dir_path(dir), identity->node_id, quorum->options.node_id);
        return ERR_USAGE;
    }
    if (quorum->vote.term == 0 || meta_log_last_index(quorum->log) < 1) {
        /* A voter that forgot what it agreed to must never vote again by itself (DESIGN 7.6). */
        snprintf(why, why_size,
                 "%s: meta.properties names a cluster, but the metadata log or " VOTE_FILE
                 " is gone; restore them, or begin with an empty folder",
                 data_dir_path(dir));
        return ERR_CORRUPT_MESSAGE;
    }
    if (quorum->vote.term < meta_log_last_term(quorum->log)) {
        snprintf(why, why_size,
                 "%s: " VOTE_FILE " is of term %" PRId64 ", older than the metadata log, which has "
                 "reached term %" PRId64 "; restore it",
                 data_dir_path(dir), quorum->vote.term, meta_log_last_term(quorum->log));
        return ERR_CORRUPT_MESSAGE;
    }
    return 0;
}

static int open_core(struct meta_quorum *quorum, char *why, size_t why_size)
{
    struct uuid chance;
    struct meta_core_options options = {
        .node_id = quorum->options.node_id,
        .election_timeout_ms = quorum->options.election_timeout_ms,
        .heartbeat_ms = quorum->options.heartbeat_ms,
    };
    struct meta_core_stored stored = {
        .term = quorum->vote.term,
        .voted_for = quorum->vote.voted_for,
        .first_index = meta_log_first_index(quorum->log),
        .last_index = meta_log_last_index(quorum->log),
    };
    quorum->io = (struct meta_core_io){
        .store_vote = quorum_store_vote,
        .append = quorum_append,
        .read = quorum_read,
        .send = quorum_send,
        .apply = quorum_apply,
        .role_changed = quorum_role_changed,
    };
    int err = uuid_random(&chance);
    if (err == 0) {
        options.seed = (uint32_t)load_i32(chance.bytes);
        err = meta_core_open(&quorum->core, &options, &quorum->io);
    }
    if (err == 0) err = meta_core_start(quorum->core, quorum_now_ms(quorum), &stored);
    if (err == 0) err = quorum_publish(quorum);
    if (err == 0) return 0;
    if (quorum->failure[0] != '\0')
        snprintf(why, why_size, "%s", quorum->failure);
    else if (err == ERR_CORRUPT_MESSAGE)
        meta_log_explain_damage(quorum->log, why, why_size);
    else
        snprintf(why, why_size, "%s/" META_LOG_TOPIC "-0: %s", data_dir_path(quorum->options.dir),
                 error_text(err));
    return err;
}

static int open_memory(struct meta_quorum *quorum, const struct meta_quorum_options *options)
{
    struct uuid chance;
    uint64_t hash_key[2];
    int err = uuid_random(&chance);
    if (err != 0) return err;
    memcpy(hash_key, chance.bytes, sizeof hash_key);
    meta_state_init(&quorum->state, hash_key);
    err = open_copy_options(quorum, options);
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
    opened->vote.fd = -1;
    opened->registration_index = NOT_SUBMITTED;
    arena_init(&opened->arena, NULL, 0, SIZE_MAX);
    meta_changes_init(&opened->changes);
    meta_requests_init(&opened->requests, NULL);
    pthread_mutex_init(&opened->view_lock, NULL);
    timer_init(&opened->timer, quorum_tick);
    message_init(&opened->begin, quorum_begin);
    message_init(&opened->work, quorum_work);

    int err = open_memory(opened, options);
    if (err == 0) err = open_files(opened, why, why_size);
    if (err == 0)
        err = data_dir_identity(options->dir)->cluster_id[0] == '\0'
                  ? open_format(opened, why, why_size)
                  : open_check(opened, why, why_size);
    if (err == 0) {
        opened->flusher = (struct meta_log_flusher){ options->disk, opened->loop, quorum_flushed };
        meta_log_set_flusher(opened->log, &opened->flusher);
        err = open_core(opened, why, why_size);
    }
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
    /* Otherwise quorum_flushed() does it. */
    if (!meta_log_is_flushing(quorum->log)) loop_stop(quorum->loop);
}

/* What the next start need not look at again. */
static void quorum_leave_in_order(struct meta_quorum *quorum)
{
    struct meta_vote *vote = &quorum->vote;
    int err = meta_log_checkpoint(quorum->log);
    if (err == 0)
        err = meta_vote_store(vote, vote->term, vote->voted_for,
                              meta_log_flushed_index(quorum->log));
    if (err != 0)
        trace(TRACE_ERROR, "quorum", "%s: the metadata log could not be flushed: %s",
              data_dir_path(quorum->options.dir), error_text(err));
}

void meta_quorum_close(struct meta_quorum *quorum)
{
    if (quorum == NULL) return;
    if (quorum->is_started) {
        message_init(&quorum->stop, quorum_stop);
        loop_post(quorum->loop, &quorum->stop);
    }
    loop_close(quorum->loop);
    if (!quorum->is_dead) quorum_leave_in_order(quorum);
    meta_core_close(quorum->core);
    meta_log_close(quorum->log);
    meta_vote_close(&quorum->vote);
    meta_requests_close(&quorum->requests);
    meta_changes_close(&quorum->changes);
    meta_view_unref(quorum->view);
    meta_state_close(&quorum->state);
    arena_close(&quorum->arena);
    pthread_mutex_destroy(&quorum->view_lock);
    mem_free(quorum);
}
