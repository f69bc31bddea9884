// SPDX-License-Identifier: Apache-2.0
/* Snapshots of a node: taken, sent, installed, and found again.
 *
 *  (1) The log goes on from the one before the newest: should the newest be damaged, the node starts
 *      from the other one and reads more.
 *  (2) What the newest covers is known to have been on the disk (`persisted` in the vote file) before
 *      the file is there. So a log that ends below is a damaged one, unless the snapshot came from
 *      another node: then the log may be anything, and is dropped.
 *  (3) One that does not fit on the disk is left for later; nothing depends on it. */

#include <inttypes.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "meta_node_impl.h"
#include "trace.h"

/* As Kafka's metadata.log.max.record.bytes.between.snapshots: reading that much log again at a start
 * takes well under a second. */
#define SNAPSHOT_BYTES (20 << 20)

/* So that its frame has a length in 31 bits. */
#define MAX_IMAGE_BYTES (1 << 30)

/* What an entry costs in the log beside its payload, about. */
#define ENTRY_BYTES 90

static struct fs *node_fs(const struct meta_node *node)
{
    return data_dir_fs(node->options.dir);
}

static const char *node_folder(const struct meta_node *node)
{
    return data_dir_path(node->options.dir);
}

static int64_t snapshot_bytes(const struct meta_node *node)
{
    return node->options.snapshot_bytes > 0 ? node->options.snapshot_bytes : SNAPSHOT_BYTES;
}

void node_init_snapshots(struct meta_node *node)
{
    buffer_init(&node->snapshot_members);
    meta_changes_init(&node->gone);
    meta_changes_init(&node->gone_older);
    meta_changes_init(&node->incoming_gone);
    meta_changes_init(&node->taking.gone);
    buffer_init(&node->taking.members);
}

static void incoming_forget(struct meta_node *node)
{
    meta_changes_clear(&node->incoming_gone);
    if (node->has_incoming) meta_state_close(&node->incoming);
    node->has_incoming = false;
}

void node_close_snapshots(struct meta_node *node)
{
    incoming_forget(node);
    meta_changes_close(&node->incoming_gone);
    meta_changes_close(&node->gone);
    meta_changes_close(&node->gone_older);
    meta_changes_close(&node->taking.gone);
    buffer_close(&node->taking.members);
    buffer_close(&node->snapshot_members);
}

static int changes_add_all(struct meta_changes *to, const struct meta_changes *from)
{
    int err = 0;
    for (unsigned i = 0; err == 0 && i < from->count; i++)
        err = meta_changes_add(to, from->items[i].before, from->items[i].after);
    return err;
}

/* ---- at the start ---- */

/* One that is whole becomes the state. */
static int load_one(struct meta_node *node, int64_t index)
{
    struct bytes image = BYTES_NULL;
    struct meta_core_snapshot at;
    int err = meta_snapshot_read(node_fs(node), node_folder(node), index, &image);
    if (err == 0) err = meta_snapshot_decode(image, &at, &node->state, &node->gone);
    if (err == 0 && at.index != index) err = ERR_CORRUPT_MESSAGE;
    if (err == 0) {
        node->snapshot_members.length = 0;
        buffer_put(&node->snapshot_members, at.members.data, (size_t)at.members.length);
        if (node->snapshot_members.failed) err = ERR_NO_MEMORY;
        node->snapshot = at;
    }
    mem_free((void *)image.data);
    if (err == 0) return 0;
    node->snapshot = (struct meta_core_snapshot){ 0 };
    meta_state_close(&node->state);
    meta_state_init(&node->state, node->options.hash_key);
    meta_changes_clear(&node->gone);
    return err;
}

/* By (2): what the log has is what led to the snapshot, or of no use. */
static int load_fit_log(struct meta_node *node)
{
    int64_t index = node->snapshot.index;
    struct meta_entry entry = { .term = node->snapshot.term };
    struct arena arena;
    int err = 0;
    if (index > meta_log_last_index(node->log)) return meta_log_restart(node->log, index + 1);
    if (index < meta_log_first_index(node->log)) return 0; /* It begins right behind. */
    arena_init(&arena, NULL, 0, SIZE_MAX);
    err = meta_log_read(node->log, index, 1, &entry, &arena);
    arena_close(&arena);
    if (err == 0 && entry.term != node->snapshot.term) err = meta_log_restart(node->log, index + 1);
    return err;
}

int node_load_snapshot(struct meta_node *node, char *why, size_t why_size)
{
    int64_t indexes[META_SNAPSHOTS_KEPT];
    unsigned count = 0, tried = 0;
    int err = meta_snapshot_list(node_fs(node), node_folder(node), indexes, META_SNAPSHOTS_KEPT,
                                 &count);
    int load_err = ERR_NOT_FOUND;
    for (; err == 0 && load_err != 0 && tried < count; tried++) {
        load_err = load_one(node, indexes[tried]);
        if (load_err == ERR_NO_MEMORY || load_err == ERR_UNSUPPORTED_VERSION) err = load_err;
        if (load_err != 0)
            trace(TRACE_WARN, "quorum", "%s/metadata-%020" PRId64 ".snapshot cannot be used: %s",
                  node_folder(node), indexes[tried],
                  load_err == ERR_CORRUPT_MESSAGE ? "it is damaged" : error_text(load_err));
    }
    if (err == 0 && meta_log_first_index(node->log) > node->snapshot.index + 1) {
        snprintf(why, why_size,
                 "%s: the metadata log begins at entry %" PRId64
                 ", and no snapshot of what came before can be used; restore one from a copy, or "
                 "with other voters, remove the node from the quorum and let it join with an empty "
                 "folder",
                 node_folder(node), meta_log_first_index(node->log));
        return ERR_CORRUPT_MESSAGE;
    }
    if (err == 0 && node->snapshot.index > 0) err = load_fit_log(node);
    if (err == ERR_CORRUPT_MESSAGE) { /* The snapshot is whole: it is the log. */
        meta_log_explain_damage(node->log, why, why_size);
        return err;
    }
    if (err == 0) err = meta_snapshot_sweep(node_fs(node), node_folder(node));
    if (err != 0)
        snprintf(
            why, why_size, "%s: a snapshot of the metadata: %s", node_folder(node),
            err == ERR_UNSUPPORTED_VERSION
                ? "it is of a kind or version that this program does not know; run the version "
                  "that wrote it, or a newer one"
                : error_text(err));
    return err;
}

int node_tell_loaded(struct meta_node *node, struct meta_members *members)
{
    struct meta_node_owner *owner = node->options.owner;
    if (node->snapshot.index == 0) return 0;
    int err = meta_members_decode(
        members,
        (struct bytes){ node->snapshot_members.data, (int32_t)node->snapshot_members.length });
    if (err == 0) err = meta_node_check_cluster(node);
    if (err == 0) err = changes_add_all(&node->changes, &node->gone);
    if (err != 0) return err;
    meta_changes_clear(&node->gone); /* What has to be done for them is done by the owner now. */
    owner->restored(owner);
    return 0;
}

/* ---- taken ---- */

int node_note_applied(struct meta_node *node, const struct meta_entry *entry, unsigned known)
{
    int err = 0;
    if (node->bytes_since == 0) node->uncovered_since_ms = meta_node_now_ms(node);
    node->bytes_since += ENTRY_BYTES;
    if (entry->payload.length > 0) node->bytes_since += entry->payload.length;
    for (unsigned i = known; err == 0 && i < node->changes.count; i++)
        if (node->changes.items[i].after == NULL)
            err = meta_changes_add(&node->gone, node->changes.items[i].before, NULL);
    return err;
}

static void taking_run(struct job *job)
{
    struct meta_node *node = LIST_OWNER(job, struct meta_node, taking.job);
    struct node_taking *taking = &node->taking;
    struct buffer image;
    buffer_init(&image);
    meta_snapshot_encode(&taking->at, &taking->state, &taking->gone, &image);
    taking->err = image.failed ? ERR_NO_MEMORY : 0;
    if (taking->err == 0 && image.length > MAX_IMAGE_BYTES) taking->err = ERR_LIMIT;
    if (taking->err == 0)
        taking->err = meta_snapshot_write(node_fs(node), node_folder(node), taking->at.index,
                                          (struct bytes){ image.data, (int32_t)image.length });
    buffer_close(&image);
    mailbox_post(node->options.mailbox, &taking->done);
}

/* It is durable: the log need no longer have what the one before it covers, by (1). */
static int taking_finish(struct meta_node *node)
{
    struct node_taking *taking = &node->taking;
    int64_t first_index = meta_log_first_index(node->log);
    if (taking->at.index <= meta_core_snapshot_index(node->core)) return 0; /* Overtaken. */
    if (node->snapshot.index > first_index) first_index = node->snapshot.index;
    int err = meta_core_snapshot_taken(node->core, meta_node_now_ms(node), &taking->at,
                                       first_index);
    if (err == 0) err = meta_log_trim(node->log, first_index);
    if (err == 0) err = meta_snapshot_prune(node_fs(node), node_folder(node), META_SNAPSHOTS_KEPT);
    node->snapshot = taking->at;
    node->snapshot.members = BYTES_NULL; /* The core has them. */
    return err;
}

static void node_fail(struct meta_node *node, int err)
{
    if (err != 0 && node->failed == 0) node->failed = err;
}

static void taking_done(struct message *message)
{
    struct meta_node *node = LIST_OWNER(message, struct meta_node, taking.done);
    struct meta_node_owner *owner = node->options.owner;
    struct node_taking *taking = &node->taking;
    int err = taking->err;
    taking->is_running = false;
    if (err == ERR_NO_SPACE || err == ERR_NO_MEMORY || err == ERR_LIMIT)
        trace(TRACE_WARN, "quorum", "%s: no snapshot of the metadata is taken for now: %s",
              node_folder(node), error_text(err)); /* By (3). */
    else if (meta_node_failed(node) == 0)
        node_fail(node, err == 0 ? taking_finish(node) : err);
    meta_state_close(&taking->state);
    meta_changes_clear(&taking->gone);
    owner->moved(owner);
}

/* What the job needs, as it is now. */
static int taking_begin(struct meta_node *node, const struct meta_core_snapshot *point)
{
    struct node_taking *taking = &node->taking;
    struct meta_vote *vote = &node->vote;
    int err = 0;
    if (vote->persisted_index < point->index) /* (2) */
        err = meta_vote_store(vote, vote->term, vote->voted_for, meta_log_flushed_index(node->log));
    if (err != 0) return err;
    taking->members.length = 0;
    buffer_put(&taking->members, point->members.data, (size_t)point->members.length);
    if (taking->members.failed) return ERR_NO_MEMORY;
    taking->at = *point;
    taking->at.members.data = taking->members.data;
    err = changes_add_all(&taking->gone, &node->gone_older);
    if (err == 0) err = changes_add_all(&taking->gone, &node->gone);
    if (err != 0) return err;
    /* What was deleted before the last snapshot but one is no longer carried along: the pool was told of
     * it two intervals ago. */
    struct meta_changes older = node->gone_older;
    node->gone_older = node->gone;
    node->gone = older;
    meta_changes_clear(&node->gone);
    meta_state_copy(&taking->state, &node->state);
    return 0;
}

int64_t node_snapshot_due_ms(const struct meta_node *node)
{
    int64_t interval_ms = node->options.snapshot_interval_ms;
    if (interval_ms == 0 || node->bytes_since == 0 || node->taking.is_running ||
        interval_ms > INT64_MAX - node->uncovered_since_ms)
        return INT64_MAX;
    return node->uncovered_since_ms + interval_ms;
}

void node_consider_snapshot(struct meta_node *node)
{
    struct node_taking *taking = &node->taking;
    struct meta_core_snapshot point;
    bool is_overdue = node_snapshot_due_ms(node) <= meta_node_now_ms(node);
    if ((node->bytes_since < snapshot_bytes(node) && !is_overdue) || taking->is_running ||
        meta_node_failed(node) != 0)
        return;
    if (!meta_core_snapshot_point(node->core, &point)) {
        if (is_overdue) node->uncovered_since_ms = meta_node_now_ms(node); /* Nobody spins on it. */
        return;
    }
    node->bytes_since = 0; /* If it fails, too: then it is tried again after as much. */
    int err = taking_begin(node, &point);
    if (err != 0) {
        node_fail(node, err);
        return;
    }
    taking->is_running = true;
    job_init(&taking->job, taking_run);
    list_init(&taking->job.node);
    message_init(&taking->done, taking_done);
    executor_submit(node->options.disk, &taking->job);
}

/* ---- sent ---- */

void node_send_message(struct meta_core_io *io, const struct meta_message *message)
{
    struct meta_node *node = node_of_io(io);
    struct meta_node_owner *owner = node->options.owner;
    struct meta_message with_image = *message;
    if (message->type != META_MESSAGE_SNAPSHOT) {
        owner->send(owner, message);
        return;
    }
    int err = meta_snapshot_read(node_fs(node), node_folder(node), message->as.snapshot.index,
                                 &with_image.as.snapshot.image);
    if (err == 0)
        owner->send(owner, &with_image);
    else
        trace(TRACE_ERROR, "quorum", "%s: the snapshot for node %" PRId32 " cannot be read: %s",
              node_folder(node), message->to, error_text(err));
    mem_free((void *)with_image.as.snapshot.image.data);
}

/* ---- installed ---- */

/* Is it what the message says, and of our cluster? Looks at it as at anything from outside. */
static int incoming_check(struct meta_node *node, const struct meta_message *message)
{
    const char *cluster_id = data_dir_identity(node->options.dir)->cluster_id;
    struct meta_core_snapshot at;
    meta_state_init(&node->incoming, node->options.hash_key);
    node->has_incoming = true;
    int err = meta_snapshot_decode(message->as.snapshot.image, &at, &node->incoming,
                                   &node->incoming_gone);
    if (err != 0) return err;
    if (at.index != message->as.snapshot.index || at.term != message->as.snapshot.last_term ||
        at.members_index != message->as.snapshot.members_index ||
        at.members.length != message->as.snapshot.members.length ||
        memcmp(at.members.data, message->as.snapshot.members.data, (size_t)at.members.length) != 0)
        return ERR_MALFORMED;
    if (node->incoming.cluster_id[0] != '\0' && strcmp(node->incoming.cluster_id, cluster_id) != 0)
        return ERR_INCONSISTENT_CLUSTER_ID;
    return 0;
}

/* What is another one in `after`: every topic that both have, since one cannot tell. */
static int changes_between(struct meta_changes *changes, const struct meta_state *before,
                           const struct meta_state *after)
{
    struct meta_topic_cursor old_cursor = { 0, 0 }, new_cursor = { 0, 0 };
    const struct meta_topic *topic;
    int err = 0;
    while (err == 0 && (topic = meta_state_next_topic(before, &old_cursor)) != NULL)
        err = meta_changes_add(changes, topic, meta_state_topic_by_id(after, &topic->id));
    while (err == 0 && (topic = meta_state_next_topic(after, &new_cursor)) != NULL)
        if (meta_state_topic_by_id(before, &topic->id) == NULL)
            err = meta_changes_add(changes, NULL, topic);
    return err;
}

/* What this node may still have to give up when the snapshot is all that it remembers. */
static int incoming_find_gone(struct meta_node *node)
{
    struct meta_changes changes;
    meta_changes_init(&changes);
    int err = changes_between(&changes, &node->state, &node->incoming);
    for (unsigned i = 0; err == 0 && i < changes.count; i++)
        if (changes.items[i].after == NULL)
            err = meta_changes_add(&node->incoming_gone, changes.items[i].before, NULL);
    if (err == 0) err = changes_add_all(&node->incoming_gone, &node->gone_older);
    if (err == 0) err = changes_add_all(&node->incoming_gone, &node->gone);
    meta_changes_close(&changes);
    return err;
}

/* On the disk before the core gives up what it has: a full disk, say, is no harm now. */
static int incoming_write(struct meta_node *node, const struct meta_message *message)
{
    struct meta_core_snapshot at = {
        .index = message->as.snapshot.index,
        .term = message->as.snapshot.last_term,
        .members_index = message->as.snapshot.members_index,
        .members = message->as.snapshot.members,
    };
    struct buffer image;
    buffer_init(&image);
    int err = incoming_find_gone(node);
    if (err == 0) meta_snapshot_encode(&at, &node->incoming, &node->incoming_gone, &image);
    if (err == 0 && image.failed) err = ERR_NO_MEMORY;
    if (err == 0 && image.length > MAX_IMAGE_BYTES) err = ERR_LIMIT;
    if (err == 0)
        err = meta_snapshot_write_ahead(node_fs(node), node_folder(node),
                                        (struct bytes){ image.data, (int32_t)image.length });
    buffer_close(&image);
    return err;
}

void node_receive_snapshot(struct meta_node *node, const struct meta_message *message)
{
    int64_t now_ms = meta_node_now_ms(node);
    bool is_news = meta_message_check(message) == 0 &&
                   message->term >= meta_core_term(node->core) &&
                   message->as.snapshot.index > meta_core_applied_index(node->core) &&
                   !meta_core_is_installing(node->core);
    int err = is_news ? incoming_check(node, message) : 0;
    if (err == 0 && is_news) err = incoming_write(node, message);
    if (err == 0)
        meta_core_receive(node->core, now_ms, message);
    else if (err == ERR_IO)
        node_fail(node, err);
    else
        trace(TRACE_WARN, "quorum", "%s: a snapshot of node %" PRId32 " is not taken: %s",
              node_folder(node), message->from, error_text(err));
    if (meta_node_failed(node) == 0 && meta_core_is_installing(node->core))
        meta_core_snapshot_installed(node->core, now_ms);
    incoming_forget(node);
}

/* What was deleted meanwhile is found by comparing, and goes into our own next snapshots, too. */
static int install_state(struct meta_node *node)
{
    struct meta_node_owner *owner = node->options.owner;
    unsigned known = node->changes.count;
    int err = changes_between(&node->changes, &node->state, &node->incoming);
    for (unsigned i = known; err == 0 && i < node->changes.count; i++)
        if (node->changes.items[i].after == NULL)
            err = meta_changes_add(&node->gone, node->changes.items[i].before, NULL);
    if (err != 0) return err;
    struct meta_state old = node->state;
    node->state = node->incoming;
    node->has_incoming = false;
    meta_state_close(&old);
    node->bytes_since = 0;
    err = meta_node_check_cluster(node);
    if (err == 0) owner->restored(owner);
    return err;
}

int node_install_snapshot(struct meta_core_io *io, const struct meta_message *message)
{
    struct meta_node *node = node_of_io(io);
    struct meta_vote *vote = &node->vote;
    int64_t index = message->as.snapshot.index;
    int64_t kept = meta_core_applied_index(node->core);
    int err = node->has_incoming ? 0 : ERR_CORRUPT_MESSAGE;
    /* By (2) what the log has is not asked for any more. What is committed may still be: the power may
     * go before the snapshot is in its place. */
    if (err == 0 && vote->noted_index > kept)
        err = meta_vote_store(vote, vote->term, vote->voted_for, kept);
    if (err == 0) err = meta_snapshot_put_in_place(node_fs(node), node_folder(node), index);
    if (err == 0) err = meta_log_restart(node->log, index + 1);
    if (err == 0) err = meta_snapshot_prune(node_fs(node), node_folder(node), 1);
    if (err == 0) err = install_state(node);
    node->snapshot = (struct meta_core_snapshot){ .index = index };
    return err;
}
