// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "meta_node_impl.h"
#include "trace.h"

#define VOTE_FILE "quorum-state"

int64_t meta_node_now_ms(const struct meta_node *node)
{
    return clock_monotonic_us(node->options.clock) / 1000;
}

/* ---- what the core orders ---- */

static int node_store_vote(struct meta_core_io *io, int64_t term, int32_t voted_for)
{
    struct meta_node *node = node_of_io(io);
    return meta_vote_store(&node->vote, term, voted_for, meta_log_flushed_index(node->log));
}

static int node_append(struct meta_core_io *io, uint64_t write, int64_t first_index,
                       const struct meta_entry *entries, unsigned count)
{
    struct meta_node *node = node_of_io(io);
    struct meta_vote *vote = &node->vote;
    int err = 0;
    /* What is removed need not be there at the next start. */
    if (first_index <= vote->noted_index)
        err = meta_vote_store(vote, vote->term, vote->voted_for, first_index - 1);
    if (err == 0) err = meta_log_append(node->log, first_index, entries, count);
    if (err == 0) meta_log_want_flush(node->log, write);
    return err;
}

static int node_read(struct meta_core_io *io, int64_t first_index, unsigned count,
                     struct meta_entry *entries, struct arena *arena)
{
    return meta_log_read(node_of_io(io)->log, first_index, count, entries, arena);
}

/* The cluster that the log belongs to is the one that the folder names. */
int meta_node_check_cluster(struct meta_node *node)
{
    const char *cluster_id = data_dir_identity(node->options.dir)->cluster_id;
    if (node->state.cluster_id[0] == '\0' || strcmp(node->state.cluster_id, cluster_id) == 0)
        return 0;
    snprintf(node->failure, sizeof node->failure,
             "%s: meta.properties names cluster %s, but the metadata log is of cluster %s; one of "
             "the two was copied here from elsewhere",
             data_dir_path(node->options.dir), cluster_id, node->state.cluster_id);
    return ERR_INCONSISTENT_CLUSTER_ID;
}

static int node_apply(struct meta_core_io *io, int64_t index, const struct meta_entry *entry)
{
    struct meta_node *node = node_of_io(io);
    struct meta_node_owner *owner = node->options.owner;
    struct meta_outcome outcome;
    unsigned known = node->changes.count;
    int err = meta_apply(&node->state, index, entry, &node->changes, &outcome);
    if (err == 0) err = node_note_applied(node, entry, known);
    if (err == ERR_UNSUPPORTED_VERSION || err == ERR_MALFORMED)
        snprintf(node->failure, sizeof node->failure,
                 "entry %" PRId64 " of the metadata log is of a kind or version that this program "
                 "does not know: run the version that wrote it, or a newer one",
                 index);
    if (err != 0) return err;
    owner->applied(owner, index, entry, &outcome);
    meta_outcome_close(&outcome);
    return meta_node_check_cluster(node);
}

static void node_role_changed(struct meta_core_io *io)
{
    struct meta_node_owner *owner = node_of_io(io)->options.owner;
    owner->role_changed(owner);
}

/* ---- events ---- */

int meta_node_failed(const struct meta_node *node)
{
    return node->failed != 0 ? node->failed : meta_core_failed(node->core);
}

int64_t meta_node_deadline_ms(const struct meta_node *node)
{
    int64_t core_ms = meta_core_deadline_ms(node->core), snapshot_ms = node_snapshot_due_ms(node);
    return snapshot_ms < core_ms ? snapshot_ms : core_ms;
}

void meta_node_tick(struct meta_node *node)
{
    if (node->failed != 0) return;
    meta_core_tick(node->core, meta_node_now_ms(node));
    node_consider_snapshot(node);
}

/* By DESIGN 7.6: a leader that hears of a disk that the members do not name yet, names it. It asks again
 * with the next answer if it is too early. */
static void node_name_disks(struct meta_node *node)
{
    struct meta_members members;
    int64_t index;
    if (meta_core_role(node->core) == META_LEADER &&
        meta_core_learned_members(node->core, &members))
        meta_core_change_members(node->core, meta_node_now_ms(node), &members, &index);
}

void meta_node_receive(struct meta_node *node, const struct meta_message *message)
{
    if (node->failed != 0) return;
    if (message->type == META_MESSAGE_SNAPSHOT)
        node_receive_snapshot(node, message);
    else
        meta_core_receive(node->core, meta_node_now_ms(node), message);
    if (message->type == META_MESSAGE_APPEND_RESULT) node_name_disks(node);
    node_consider_snapshot(node);
}

int meta_node_change_members(struct meta_node *node, const struct meta_members *members,
                             int64_t *index)
{
    if (node->failed != 0) return node->failed;
    return meta_core_change_members(node->core, meta_node_now_ms(node), members, index);
}

int meta_node_transfer(struct meta_node *node, int32_t to)
{
    if (node->failed != 0) return node->failed;
    return meta_core_transfer(node->core, meta_node_now_ms(node), to);
}

void meta_node_snapshot_sending(struct meta_node *node, int32_t to, bool is_sending)
{
    meta_core_snapshot_sending(node->core, to, is_sending);
}

int meta_node_submit(struct meta_node *node, struct meta_entry *entries, unsigned count,
                     int64_t *first_index)
{
    if (node->failed != 0) return node->failed;
    return meta_core_submit(node->core, meta_node_now_ms(node), entries, count, first_index);
}

/* Before anybody hears of it: what is acknowledged is missed if it is gone. */
static int node_note_flushed(struct meta_node *node)
{
    struct meta_vote *vote = &node->vote;
    int64_t flushed_index = meta_log_flushed_index(node->log);
    return flushed_index > vote->noted_index ? meta_vote_note(vote, flushed_index) : 0;
}

static void node_flushed(struct meta_log_flusher *flusher, uint64_t write, int err)
{
    struct meta_node *node = LIST_OWNER(flusher, struct meta_node, flusher);
    struct meta_node_owner *owner = node->options.owner;
    if (err != 0 && meta_node_failed(node) == 0) {
        snprintf(node->failure, sizeof node->failure,
                 "%s: the metadata log could not be made durable (%s)",
                 data_dir_path(node->options.dir), error_text(err));
        node->failed = err;
    }
    if (meta_node_failed(node) == 0) node->failed = node_note_flushed(node);
    if (meta_node_failed(node) == 0) meta_core_persisted(node->core, meta_node_now_ms(node), write);
    node_consider_snapshot(node);
    owner->moved(owner);
}

/* ---- open ---- */

static int open_log(struct meta_node *node, char *why, size_t why_size)
{
    struct data_dir *dir = node->options.dir;
    int64_t newest = 0;
    unsigned count = 0;
    int err = meta_snapshot_list(data_dir_fs(dir), data_dir_path(dir), &newest, 1, &count);
    if (err != 0) {
        snprintf(why, why_size, "%s cannot be looked into: %s", data_dir_path(dir),
                 error_text(err));
        return err;
    }
    return meta_log_open(&node->log, dir, node->options.clock, node->vote.term,
                         node->vote.persisted_index, newest, why, why_size);
}

static int open_files(struct meta_node *node, char *why, size_t why_size)
{
    struct data_dir *dir = node->options.dir;
    char *path = mem_printf("%s/" VOTE_FILE, data_dir_path(dir));
    if (path == NULL) return ERR_NO_MEMORY;
    int err = meta_vote_open(&node->vote, data_dir_fs(dir), path, why, why_size);
    mem_free(path);
    if (err == 0) err = open_log(node, why, why_size);
    if (err == 0) err = node_load_snapshot(node, why, why_size);
    return err;
}

/* Entry 1: who takes part, the same on all that begin together. */
static int format_first_entry(struct meta_node *node)
{
    struct meta_members alone = { .count = 1 };
    struct buffer bytes;
    alone.members[0] = (struct meta_member){
        .node_id = node->options.node_id,
        .role = META_VOTER,
        .directory_id = data_dir_identity(node->options.dir)->directory_id,
        .address = STR_LITERAL(""),
    };
    buffer_init(&bytes);
    meta_members_encode(node->options.members == NULL ? &alone : node->options.members, &bytes);
    struct meta_entry first = {
        .term = 1,
        .type = META_ENTRY_MEMBERS,
        .payload = { bytes.data, (int32_t)bytes.length },
    };
    int err = bytes.failed ? ERR_NO_MEMORY : meta_log_append(node->log, 1, &first, 1);
    buffer_close(&bytes);
    return err;
}

static int format_cluster_id(struct meta_node *node)
{
    char cluster_id[UUID_TEXT_SIZE];
    struct uuid cluster;
    const char *given = node->options.cluster_id;
    int err = given == NULL ? uuid_random(&cluster) : 0;
    if (err == 0 && given == NULL) uuid_print(&cluster, cluster_id);
    if (err == 0)
        err = data_dir_set_identity(node->options.dir, given == NULL ? cluster_id : given,
                                    node->options.node_id);
    return err;
}

/* Term, vote and entry 1 of a voter of the first hour. */
static int format_voter(struct meta_node *node)
{
    /* Before what it counts on is removed. */
    int err = meta_vote_store(&node->vote, 1, META_NOBODY, 0);
    if (err == 0) err = format_first_entry(node);
    if (err == 0) err = meta_log_checkpoint(node->log);
    /* From now on the entry is missed if it is gone. */
    if (err == 0) err = meta_vote_store(&node->vote, 1, META_NOBODY, 1);
    return err;
}

/* A new folder. Its cluster id is written last; a folder without one that holds no more than entry 1
 * was left in the middle of this, and begins again. */
static int open_format(struct meta_node *node, char *why, size_t why_size)
{
    struct data_dir *dir = node->options.dir;
    const struct meta_members *members = node->options.members;
    if (node->vote.term > 1 || meta_log_last_index(node->log) > 1) {
        snprintf(why, why_size,
                 "%s: there is a metadata log, but meta.properties does not name its cluster; "
                 "restore meta.properties",
                 data_dir_path(dir));
        return ERR_INCONSISTENT_CLUSTER_ID;
    }
    int err = members != NULL && members->count == 0 ? 0 : format_voter(node);
    if (err == 0) err = format_cluster_id(node);
    if (err != 0) snprintf(why, why_size, "%s: %s", data_dir_path(dir), error_text(err));
    return err;
}

static int open_check(struct meta_node *node, char *why, size_t why_size)
{
    struct data_dir *dir = node->options.dir;
    const struct data_dir_identity *identity = data_dir_identity(dir);
    if (identity->node_id != node->options.node_id) {
        snprintf(why, why_size, "%s: this folder is node %" PRId32 "'s, but node.id is %" PRId32,
                 data_dir_path(dir), identity->node_id, node->options.node_id);
        return ERR_USAGE;
    }
    if (node->vote.is_new) {
        /* A voter that forgot what it agreed to must never vote again by itself (DESIGN 7.6). A log
         * that is gone was missed when it was opened. */
        snprintf(why, why_size,
                 "%s: meta.properties names a cluster, but " VOTE_FILE
                 " is gone; restore it, or begin with an empty folder",
                 data_dir_path(dir));
        return ERR_CORRUPT_MESSAGE;
    }
    int64_t last_term = meta_log_last_term(node->log);
    if (last_term < node->snapshot.term) last_term = node->snapshot.term;
    if (node->vote.term < last_term) {
        snprintf(why, why_size,
                 "%s: " VOTE_FILE " is of term %" PRId64 ", older than the metadata log, which has "
                 "reached term %" PRId64 "; restore it",
                 data_dir_path(dir), node->vote.term, last_term);
        return ERR_CORRUPT_MESSAGE;
    }
    return 0;
}

static int open_core(struct meta_node *node)
{
    struct meta_core_options options = {
        .node_id = node->options.node_id,
        .election_timeout_ms = node->options.election_timeout_ms,
        .heartbeat_ms = node->options.heartbeat_ms,
        .seed = node->options.seed,
        .directory_id = data_dir_identity(node->options.dir)->directory_id,
        .rules_off = node->options.rules_off,
    };
    node->io = (struct meta_core_io){
        .store_vote = node_store_vote,
        .append = node_append,
        .read = node_read,
        .send = node_send_message,
        .install = node_install_snapshot,
        .apply = node_apply,
        .role_changed = node_role_changed,
    };
    return meta_core_open(&node->core, &options, &node->io);
}

int meta_node_open(struct meta_node **node, const struct meta_node_options *options, char *why,
                   size_t why_size)
{
    struct meta_node *opened = mem_zalloc(sizeof *opened);
    snprintf(why, why_size, "%s", opened == NULL ? error_text(ERR_NO_MEMORY) : "");
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->options = *options;
    opened->vote.fd = -1;
    meta_changes_init(&opened->changes);
    meta_state_init(&opened->state, options->hash_key);
    node_init_snapshots(opened);

    int err = open_files(opened, why, why_size);
    if (err == 0)
        err = data_dir_identity(options->dir)->cluster_id[0] == '\0'
                  ? open_format(opened, why, why_size)
                  : open_check(opened, why, why_size);
    if (err == 0) {
        opened->flusher = (struct meta_log_flusher){ options->disk, options->mailbox,
                                                     node_flushed };
        meta_log_set_flusher(opened->log, &opened->flusher);
        err = open_core(opened);
    }
    if (err == 0) {
        opened->options.members = NULL;
        opened->options.cluster_id = NULL;
        *node = opened;
        return 0;
    }
    if (why_size > 0 && why[0] == '\0') snprintf(why, why_size, "%s", error_text(err));
    meta_node_close(opened);
    return err;
}

/* What the log was found to hold is missed from now on, if it is gone. */
static int note_persisted(struct meta_node *node)
{
    struct meta_vote *vote = &node->vote;
    int64_t persisted_index = meta_log_flushed_index(node->log);
    if (persisted_index <= vote->persisted_index) return 0;
    return meta_vote_store(vote, vote->term, vote->voted_for, persisted_index);
}

int meta_node_start(struct meta_node *node)
{
    struct meta_members members;
    struct meta_core_stored stored = {
        .term = node->vote.term,
        .voted_for = node->vote.voted_for,
        .first_index = meta_log_first_index(node->log),
        .last_index = meta_log_last_index(node->log),
        .snapshot_index = node->snapshot.index,
        .snapshot_term = node->snapshot.term,
        .snapshot_members_index = node->snapshot.members_index,
        .snapshot_members = &members,
    };
    int start_err = note_persisted(node);
    if (start_err == 0) start_err = node_tell_loaded(node, &members);
    if (start_err != 0) return start_err;
    int err = meta_core_start(node->core, meta_node_now_ms(node), &stored);
    if (err != 0 || !meta_core_lost_its_disk(node->core)) return err;
    snprintf(node->failure, sizeof node->failure,
             "%s: the metadata log names another disk for node %" PRId32
             " than meta.properties; one "
             "of the two was copied here from elsewhere, or the disk is a new one: then remove the "
             "node from the quorum, and let it join with an empty folder",
             data_dir_path(node->options.dir), node->options.node_id);
    node->failed = ERR_INCONSISTENT_CLUSTER_ID;
    return node->failed;
}

/* ---- close ---- */

void meta_node_leave(struct meta_node *node)
{
    struct meta_vote *vote = &node->vote;
    int err = meta_log_checkpoint(node->log);
    if (err == 0)
        err = meta_vote_store(vote, vote->term, vote->voted_for, meta_log_flushed_index(node->log));
    if (err != 0)
        trace(TRACE_ERROR, "quorum", "%s: the metadata log could not be flushed: %s",
              data_dir_path(node->options.dir), error_text(err));
}

void meta_node_close(struct meta_node *node)
{
    if (node == NULL) return;
    meta_core_close(node->core);
    meta_log_close(node->log);
    meta_vote_close(&node->vote);
    meta_changes_close(&node->changes);
    node_close_snapshots(node);
    meta_state_close(&node->state);
    mem_free(node);
}

bool meta_node_is_busy(const struct meta_node *node)
{
    return meta_log_is_flushing(node->log) || node->taking.is_running;
}

/* ---- questions ---- */

void meta_node_explain(const struct meta_node *node, int err, char *why, size_t why_size)
{
    if (node->failure[0] != '\0')
        snprintf(why, why_size, "%s", node->failure);
    else if (err == ERR_CORRUPT_MESSAGE)
        meta_log_explain_damage(node->log, why, why_size);
    else
        snprintf(why, why_size, "%s/" META_LOG_TOPIC "-0: %s", data_dir_path(node->options.dir),
                 error_text(err));
}

const struct meta_core *meta_node_core(const struct meta_node *node)
{
    return node->core;
}

const struct meta_state *meta_node_state(const struct meta_node *node)
{
    return &node->state;
}

int meta_node_read(struct meta_node *node, int64_t first_index, unsigned count,
                   struct meta_entry *entries, struct arena *arena)
{
    return meta_log_read(node->log, first_index, count, entries, arena);
}

struct meta_changes *meta_node_changes(struct meta_node *node)
{
    return &node->changes;
}
