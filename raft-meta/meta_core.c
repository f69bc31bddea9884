// SPDX-License-Identifier: Apache-2.0
#include "meta_core.h"

#include <inttypes.h>

#include "alloc.h"
#include "error.h"
#include "meta_core_impl.h"
#include "trace.h"

#define APPLY_AT_ONCE 64

/* One message carries about this much, so that a frame is bounded; libraft counts entries only. */
#define SEND_BYTES   (1 << 20)
#define SEND_ENTRIES 256

/* A snapshot that nobody reported as being sent is sent again after this. */
#define SNAPSHOT_TIMEOUT_MS 30000

int core_fail(struct meta_core *core, int err)
{
    if (core->failed == 0) core->failed = err;
    return core->failed;
}

int core_begin(struct meta_core *core, int64_t now_ms)
{
    if (now_ms > core->now_ms) core->now_ms = now_ms; /* Never backwards. */
    return core->failed;
}

/* ---- orders of a step ---- */

static int core_append(struct meta_core *core, int64_t index, const struct meta_entry *entries,
                       unsigned count)
{
    if (index > core->last_index + 1 || index <= core->commit_index) return ERR_CORRUPT_MESSAGE;
    uint64_t number = 0;
    pending_writes_clip(&core->writes, index);
    member_history_truncate(&core->members, index);
    int err = pending_writes_add(&core->writes, index + count - 1, &number);
    if (err == 0) err = core->io->append(core->io, number, index, entries, count);
    if (err == 0) core->last_index = index + count - 1;
    for (unsigned i = 0; err == 0 && i < count; i++)
        if (entries[i].type == META_ENTRY_MEMBERS)
            err = member_history_add(&core->members, index + i, entries[i].payload);
    return err;
}

static int send_some_entries(struct meta_core *core, struct meta_message *message, unsigned most)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    struct meta_entry *entries = arena_calloc(&arena, most, sizeof *entries);
    unsigned count = 0;
    size_t bytes = 0;
    int err = entries == NULL ? ERR_NO_MEMORY : 0;
    while (err == 0 && count < most && bytes < SEND_BYTES) {
        err = core->io->read(core->io, message->as.append.previous_index + 1 + count, 1,
                             &entries[count], &arena);
        if (err != 0) break;
        if (entries[count].payload.length > 0) bytes += (size_t)entries[count].payload.length;
        count++;
    }
    message->as.append.entries = entries;
    message->as.append.entry_count = count;
    if (err == 0) core->io->send(core->io, message);
    if (err == 0) {
        message->as.append.previous_index += count;
        message->as.append.previous_term = entries[count - 1].term;
    }
    arena_close(&arena);
    return err;
}

/* As several messages where one would be too large. Filled in now: later the log may be another
 * one. */
static int core_send_entries(struct meta_core *core, struct meta_message *message)
{
    int64_t last = message->as.append.previous_index + message->as.append.entry_count;
    int err = 0;
    while (err == 0 && message->as.append.previous_index < last) {
        int64_t left = last - message->as.append.previous_index;
        err = send_some_entries(core, message, left < SEND_ENTRIES ? (unsigned)left : SEND_ENTRIES);
    }
    return err;
}

static void core_send_snapshot(struct meta_core *core, struct meta_message *message)
{
    struct core_peer *peer = core_peer(core, message->to);
    if (peer != NULL && peer->is_snapshot_sending) return;
    message->as.snapshot.members_index = core->snapshot_members_index;
    message->as.snapshot.members = (struct bytes){ core->snapshot_members.data,
                                                   (int32_t)core->snapshot_members.length };
    core->io->send(core->io, message);
}

static int core_send(struct meta_core *core, unsigned number)
{
    struct meta_message message;
    meta_raft_message(core->raft, number, &message);
    message.directory_id = core->options.directory_id;

    /* R3: a denied pre-vote repeats the request's term. A pre-candidate with the best log but an
     * old term would never learn the newer one, and nobody could ever be elected. */
    if (core_keeps(core, META_RULE_R3) && message.type == META_MESSAGE_VOTE_RESULT &&
        message.as.vote_result.is_pre_vote && !message.as.vote_result.is_granted &&
        meta_core_term(core) > message.term)
        message.term = meta_core_term(core);

    if (message.type == META_MESSAGE_APPEND && message.as.append.entry_count > 0)
        return core_send_entries(core, &message);
    if (message.type == META_MESSAGE_SNAPSHOT)
        core_send_snapshot(core, &message);
    else
        core->io->send(core->io, &message);
    return 0;
}

int core_term_of(struct meta_core *core, int64_t index, int64_t *term)
{
    struct arena arena;
    struct meta_entry entry;
    if (index == core->snapshot_index) {
        *term = core->snapshot_term;
        return 0;
    }
    arena_init(&arena, NULL, 0, SIZE_MAX);
    int err = core->io->read(core->io, index, 1, &entry, &arena);
    if (err == 0) *term = entry.term;
    arena_close(&arena);
    return err;
}

/* Tells one follower how far it may apply, by an append without entries behind what it holds. */
int core_push_to(struct meta_core *core, int32_t node_id, int64_t match)
{
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = core->options.node_id,
        .to = node_id,
        .term = meta_core_term(core),
        .directory_id = core->options.directory_id,
        .as.append = { .previous_index = match, .leader_commit = core->commit_index },
    };
    if (!core_keeps(core, META_RULE_PUSH)) return 0;
    /* So far behind that the log no longer begins there: it needs more than to be told. */
    if (match < core->first_index && match != core->snapshot_index) return 0;
    int err = core_term_of(core, match, &message.as.append.previous_term);
    if (err == 0) core->io->send(core->io, &message);
    return err;
}

/* The commit index has moved: whoever holds entries that are newly committed hears of it at once,
 * not with the next heartbeat. */
static int core_push_commit(struct meta_core *core, int64_t old_commit)
{
    int err = 0;
    for (unsigned i = 0; err == 0 && i < meta_raft_member_count(core->raft); i++) {
        int32_t node_id = meta_raft_member_at(core->raft, i);
        int64_t match = meta_raft_match_index(core->raft, node_id);
        if (node_id != core->options.node_id && match > old_commit)
            err = core_push_to(core, node_id, match);
    }
    return err;
}

static int core_carry_out(struct meta_core *core, const struct meta_raft_orders *orders,
                          const struct meta_message *message)
{
    int err = 0;
    if (orders->has_vote)
        err = core->io->store_vote(core->io, meta_core_term(core), meta_raft_voted_for(core->raft));
    if (err == 0 && orders->entry_count > 0)
        err = core_append(core, orders->entries_index, orders->entries, orders->entry_count);
    if (err == 0 && orders->installs_snapshot) err = core_install(core, message);
    for (unsigned i = 0; err == 0 && i < orders->message_count; i++)
        err = core_send(core, i);

    /* B9: entries that libraft has and we do not would be committed without ever being written. */
    if (err == 0 && meta_raft_last_index(core->raft) != core->last_index) err = ERR_CORRUPT_MESSAGE;

    /* B1b: libraft's goes back after a retransmission that R1 did not keep from it. Ours does not. */
    int64_t old_commit = core->commit_index;
    if (meta_raft_commit_index(core->raft) > old_commit)
        core->commit_index = meta_raft_commit_index(core->raft);
    else if (err == 0 && meta_raft_commit_index(core->raft) < old_commit)
        trace(TRACE_ERROR, "quorum",
              "node %" PRId32 ": libraft's commit index went back from %" PRId64 " to %" PRId64,
              core->options.node_id, old_commit, meta_raft_commit_index(core->raft));
    if (err == 0 && core->commit_index > old_commit && meta_core_role(core) == META_LEADER)
        err = core_push_commit(core, old_commit);
    return err;
}

/* ---- committed entries, change of role ---- */

static void core_tell_role(struct meta_core *core)
{
    enum meta_core_role role = meta_core_role(core);
    int64_t term = meta_core_term(core);
    int32_t leader = meta_core_leader(core);
    if (role == core->told_role && term == core->told_term && leader == core->told_leader) return;
    if (role == META_LEADER && (core->told_role != META_LEADER || core->told_term != term)) {
        /* Everything that was committed before lies below a new leader's first entry, or is among
         * what it found in its log. */
        core->caught_up_index = core->last_index;
        core->peer_count = 0;
    }
    core->told_role = role;
    core->told_term = term;
    core->told_leader = leader;
    core->io->role_changed(core->io);
}

static int core_do(struct meta_core *core, int err, const struct meta_raft_orders *orders,
                   const struct meta_message *message)
{
    int carried = core_carry_out(core, orders, message);
    return carried != 0 ? carried : err;
}

static int core_apply_one(struct meta_core *core, const struct meta_entry *entry)
{
    struct meta_raft_orders orders;
    int64_t index = core->applied_index + 1;
    int err = core->io->apply(core->io, index, entry);
    if (err != 0) return err;
    core->applied_index = index;
    core->applied_term = entry->term;
    if (entry->type != META_ENTRY_MEMBERS) return 0;
    err = meta_raft_members_agreed(core->raft, core->now_ms, index, entry->payload, &orders);
    return core_do(core, err, &orders, NULL);
}

/* Also after a step that committed nothing new: the one before may have been refused half way. A
 * configuration is agreed before the core sees another message (R6a). What is committed may lie in a
 * snapshot that is still being installed. */
static int core_apply(struct meta_core *core)
{
    int err = 0;
    while (err == 0 && !core->is_installing && core->applied_index < core->commit_index) {
        struct meta_entry entries[APPLY_AT_ONCE];
        struct arena arena;
        int64_t left = core->commit_index - core->applied_index;
        unsigned count = left < APPLY_AT_ONCE ? (unsigned)left : APPLY_AT_ONCE;
        arena_init(&arena, NULL, 0, SIZE_MAX);
        err = core->io->read(core->io, core->applied_index + 1, count, entries, &arena);
        for (unsigned i = 0; err == 0 && i < count; i++)
            err = core_apply_one(core, &entries[i]);
        arena_close(&arena);
    }
    if (err == 0) core_tell_role(core);
    return err;
}

int core_after(struct meta_core *core, int err, const struct meta_raft_orders *orders,
               const struct meta_message *message)
{
    bool is_refusal = err == ERR_NOT_CONTROLLER || err == ERR_BUSY || err == ERR_VOTER_NOT_FOUND;
    int done = core_do(core, is_refusal ? 0 : err, orders, message);
    if (done == 0) done = core_apply(core);
    if (done != 0) return core_fail(core, done);
    return is_refusal ? err : 0;
}

/* ---- peers ---- */

const struct core_peer *core_peer_known(const struct meta_core *core, int32_t node_id)
{
    for (unsigned i = 0; i < core->peer_count; i++)
        if (core->peers[i].node_id == node_id) return &core->peers[i];
    return NULL;
}

struct core_peer *core_peer(struct meta_core *core, int32_t node_id)
{
    for (unsigned i = 0; i < core->peer_count; i++)
        if (core->peers[i].node_id == node_id) return &core->peers[i];
    struct core_peer *peer = NULL;
    if (core->peer_count < META_MEMBERS_MAX) peer = &core->peers[core->peer_count++];
    for (unsigned i = 0; peer == NULL && i < core->peer_count; i++) /* Of one that went. */
        if (meta_raft_match_index(core->raft, core->peers[i].node_id) < 0) peer = &core->peers[i];
    if (peer == NULL) return NULL;
    *peer = (struct core_peer){ .node_id = node_id, .heard_ms = INT64_MIN / 2 };
    return peer;
}

/* ---- open, start ---- */

int meta_core_open(struct meta_core **core, const struct meta_core_options *options,
                   struct meta_core_io *io)
{
    struct meta_core *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    struct meta_raft_options raft_options = { *options, SNAPSHOT_TIMEOUT_MS };
    int err = meta_raft_open(&opened->raft, &raft_options);
    if (err != 0) {
        mem_free(opened);
        return err;
    }
    opened->io = io;
    opened->options = *options;
    pending_writes_init(&opened->writes);
    member_history_init(&opened->members);
    buffer_init(&opened->snapshot_members);
    opened->caught_up_index = -1;
    opened->leader_heard_ms = INT64_MIN / 2;
    opened->told_leader = META_NOBODY;
    *core = opened;
    return 0;
}

void meta_core_close(struct meta_core *core)
{
    if (core == NULL) return;
    meta_raft_close(core->raft);
    pending_writes_close(&core->writes);
    member_history_close(&core->members);
    buffer_close(&core->snapshot_members);
    mem_free(core);
}

/* The stored log, as it is read for the start. */
struct core_reader {
    struct meta_raft_reader reader;
    struct meta_core *core;
    int64_t term;      /* Of the entry before. */
    int64_t last_term; /* The stored one, above which no entry's is. */
};

static int start_read(struct meta_raft_reader *base, int64_t first_index, unsigned count,
                      struct meta_entry *entries, struct arena *arena)
{
    struct core_reader *reader = (struct core_reader *)(void *)base;
    struct meta_core *core = reader->core;
    int err = core->io->read(core->io, first_index, count, entries, arena);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        bool begins_wrong = first_index + i == 1 && entries[i].type != META_ENTRY_MEMBERS;
        if (entries[i].term < 1 || entries[i].term < reader->term ||
            entries[i].term > reader->last_term || begins_wrong)
            return ERR_CORRUPT_MESSAGE;
        reader->term = entries[i].term;
        if (entries[i].type == META_ENTRY_MEMBERS)
            err = member_history_add(&core->members, first_index + i, entries[i].payload);
    }
    return err;
}

static bool is_only_voter(const struct meta_core *core)
{
    struct meta_members members;
    if (!meta_core_members(core, &members) || meta_members_voter_count(&members) != 1) return false;
    const struct meta_member *self = meta_members_find(&members, core->options.node_id);
    return self != NULL && self->role == META_VOTER;
}

/* R5: a single voter elects itself in the term that it finds. Had it lost entries that it had sent
 * but not stored, the same index and term would be given twice, to different entries. One of several
 * is elected in a new term, by others; a higher one here would only depose their leader. */
static int start_begin(struct meta_raft_reader *base, int64_t *term, int32_t *voted_for)
{
    struct meta_core *core = ((struct core_reader *)(void *)base)->core;
    if (*term == 0 || !core_keeps(core, META_RULE_R5) || !is_only_voter(core)) return 0;
    *term += 1;
    *voted_for = META_NOBODY;
    return core->io->store_vote(core->io, *term, *voted_for);
}

static int start_members(struct meta_core *core, const struct meta_core_stored *stored)
{
    if (stored->snapshot_index == 0) return 0;
    core->snapshot_members_index = stored->snapshot_members_index;
    meta_members_encode(stored->snapshot_members, &core->snapshot_members);
    if (core->snapshot_members.failed) return ERR_NO_MEMORY;
    return member_history_restart(
        &core->members, stored->snapshot_members_index,
        (struct bytes){ core->snapshot_members.data, (int32_t)core->snapshot_members.length });
}

int meta_core_start(struct meta_core *core, int64_t now_ms, const struct meta_core_stored *stored)
{
    struct meta_raft_orders orders;
    struct core_reader reader = { { start_read, start_begin }, core, 0, stored->term };
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    core->first_index = stored->first_index;
    core->last_index = stored->last_index;
    core->snapshot_index = core->commit_index = core->applied_index = stored->snapshot_index;
    core->snapshot_term = core->applied_term = stored->snapshot_term;
    err = start_members(core, stored);
    if (err != 0) return core_fail(core, err);
    err = meta_raft_start(core->raft, core->now_ms, stored, &reader.reader, &orders);
    return core_after(core, err, &orders, NULL);
}

/* ---- time, disk, submissions ---- */

int meta_core_tick(struct meta_core *core, int64_t now_ms)
{
    struct meta_raft_orders orders;
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    /* R9: past the pre-vote a candidate stays in real elections and raises the term at each
     * timeout, also one that was removed and does not know it. Each new round asks first. */
    err = meta_raft_tick(core->raft, core->now_ms, core_keeps(core, META_RULE_R9), &orders);
    return core_after(core, err, &orders, NULL);
}

int meta_core_persisted(struct meta_core *core, int64_t now_ms, uint64_t write)
{
    struct meta_raft_orders orders;
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    int64_t index = pending_writes_take(&core->writes, write);
    /* Nothing new, or what it wrote was overwritten: libraft would meet that with an assert. */
    if (index <= meta_raft_stored_index(core->raft) || index > core->last_index) return 0;
    err = meta_raft_persisted(core->raft, core->now_ms, index, &orders);
    return core_after(core, err, &orders, NULL);
}

int core_submit(struct meta_core *core, struct meta_entry *entries, unsigned count,
                int64_t *first_index)
{
    struct meta_raft_orders orders;
    int64_t index = core->last_index + 1;
    for (unsigned i = 0; i < count; i++)
        entries[i].term = meta_core_term(core);
    int err = meta_raft_submit(core->raft, core->now_ms, entries, count, &orders);
    err = core_after(core, err, &orders, NULL);
    if (err == 0) *first_index = index;
    return err;
}

int meta_core_submit(struct meta_core *core, int64_t now_ms, struct meta_entry *entries,
                     unsigned count, int64_t *first_index)
{
    int err = core_begin(core, now_ms);
    if (err != 0 || count == 0) return err;
    for (unsigned i = 0; i < count; i++)
        entries[i].type = META_ENTRY_COMMAND;
    return core_submit(core, entries, count, first_index);
}

/* ---- questions ---- */

int64_t meta_core_deadline_ms(const struct meta_core *core)
{
    if (core->failed != 0) return INT64_MAX;
    /* Alone there is nobody to send to and nobody to hear from. */
    if (meta_core_role(core) == META_LEADER && meta_raft_member_count(core->raft) == 1)
        return INT64_MAX;
    /* B8: it may lie in the past for good. */
    int64_t deadline_ms = meta_raft_deadline_ms(core->raft);
    return deadline_ms > core->now_ms ? deadline_ms : core->now_ms + 1;
}

int meta_core_failed(const struct meta_core *core)
{
    return core->failed;
}

enum meta_core_role meta_core_role(const struct meta_core *core)
{
    return meta_raft_role(core->raft);
}

int64_t meta_core_term(const struct meta_core *core)
{
    return meta_raft_term(core->raft);
}

int32_t meta_core_leader(const struct meta_core *core)
{
    return meta_raft_leader(core->raft);
}

int64_t meta_core_last_index(const struct meta_core *core)
{
    return core->last_index;
}

int64_t meta_core_applied_index(const struct meta_core *core)
{
    return core->applied_index;
}

bool meta_core_is_transferring(const struct meta_core *core)
{
    return meta_raft_transferee(core->raft) != META_NOBODY;
}

bool meta_core_is_caught_up(const struct meta_core *core)
{
    return core->caught_up_index >= 0 && core->applied_index >= core->caught_up_index &&
           meta_core_leader(core) != META_NOBODY;
}

int64_t meta_core_match_index(const struct meta_core *core, int32_t node_id)
{
    return meta_raft_match_index(core->raft, node_id);
}

unsigned meta_core_member_count(const struct meta_core *core)
{
    return meta_raft_member_count(core->raft);
}

unsigned meta_core_voter_count(const struct meta_core *core)
{
    return meta_raft_voter_count(core->raft);
}
