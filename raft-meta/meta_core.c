// SPDX-License-Identifier: Apache-2.0
/* How memory goes in and out of libraft 0.22.1 (tests/unit/meta/test_raft_ownership.c proves it):
 *
 *  (a) Payloads stay with us. What libraft is given as an entry's batch is one byte from
 *      raft_malloc(); only the payload of a configuration is ever read by it, during the step, in
 *  its own encoding. (b) SUBMIT: array and batch stay ours. RECEIVE of entries: the array stays
 *      ours; the batch is ours again if the step brought new entries, otherwise libraft has freed
 *      it. START: both stay ours, but if it fails libraft has freed both.
 *  (c) A new leader's barrier: libraft's struct, its batch is ours to free.
 *  (d) A configuration or snapshot configuration that goes in is libraft's from then on.
 *
 * Ids: libraft's are above 0, node ids are not, so ours is one less. Addresses: libraft wants each
 * to be another one and does nothing else with them, so it gets the number as text; the real ones
 * are in the members' entry. */

#include "meta_core.h"

#include <assert.h>
#include <inttypes.h>
#include <raft.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "pending_writes.h"
#include "trace.h"

/* git main changed who owns what under the same number, so this is not enough; the test is. */
_Static_assert(RAFT_VERSION_NUMBER == 2201, "the rules in here hold for libraft 0.22.1");
_Static_assert((int)META_ENTRY_COMMAND == RAFT_COMMAND && (int)META_ENTRY_BARRIER == RAFT_BARRIER &&
                   (int)META_ENTRY_MEMBERS == RAFT_CHANGE,
               "types of entries are libraft's");
_Static_assert((int)META_STANDBY == RAFT_STANDBY && (int)META_VOTER == RAFT_VOTER,
               "roles are libraft's");

#define READ_AT_ONCE          64
#define VOTE_VERSION          2
#define VOTE_RESULT_VERSION   2
#define APPEND_RESULT_VERSION 2
#define FEATURES              1

struct meta_core {
    struct raft raft;
    struct meta_core_io *io;
    int32_t node_id;
    int failed;
    int64_t now_ms;
    int64_t last_index;
    int64_t commit_index;
    int64_t applied_index;
    int64_t snapshot_index;
    int64_t snapshot_term;
    int64_t caught_up_index; /* Applied up to here means caught up; -1: not known yet. */
    int64_t leader_heard_ms;
    struct pending_writes writes;
    /* As last told by role_changed(). */
    enum meta_core_role told_role;
    int64_t told_term;
    int32_t told_leader;
};

/* Entries in both shapes, as they go into one step. */
struct core_entries {
    const struct meta_entry *entries;
    struct raft_entry *raft;
    unsigned count;
};

static raft_id raft_id_of(int32_t node_id)
{
    return node_id == META_NOBODY ? 0 : (raft_id)node_id + 1;
}

static int32_t node_id_of(raft_id id)
{
    return id == 0 ? META_NOBODY : (int32_t)(id - 1);
}

static int core_fail(struct meta_core *core, int err)
{
    if (core->failed == 0) core->failed = err;
    return core->failed;
}

/* ---- shapes ---- */

static int configuration_from(struct raft_configuration *configuration, struct bytes payload)
{
    struct meta_members members;
    raft_configuration_init(configuration);
    int err = meta_members_decode(&members, payload);
    for (unsigned i = 0; err == 0 && i < members.count; i++) {
        char address[16];
        snprintf(address, sizeof address, "%" PRId32, members.members[i].node_id);
        if (raft_configuration_add(configuration, raft_id_of(members.members[i].node_id), address,
                                   (int)members.members[i].role) != 0)
            err = ERR_NO_MEMORY;
    }
    if (err != 0) raft_configuration_close(configuration);
    return err;
}

/* One entry as libraft is to see it: by (a). */
static int entry_to_raft(struct raft_entry *to, const struct meta_entry *from, void *batch)
{
    *to = (struct raft_entry){
        .term = (raft_term)from->term,
        .type = (enum raft_entry_type)from->type,
        .batch = batch,
    };
    if (from->type != META_ENTRY_MEMBERS) return 0;
    struct raft_configuration configuration;
    int err = configuration_from(&configuration, from->payload);
    if (err != 0) return err;
    if (raft_configuration_encode(&configuration, &to->buf) != 0) err = ERR_NO_MEMORY;
    raft_configuration_close(&configuration);
    return err;
}

/* The encoded configurations; they are not needed after the step. */
static void configurations_free(struct raft_entry *entries, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (entries[i].type == RAFT_CHANGE) raft_free(entries[i].buf.base);
        entries[i].buf.base = NULL;
    }
}

static int entries_open(struct core_entries *both, const struct meta_entry *entries, unsigned count)
{
    *both = (struct core_entries){ .entries = entries };
    if (count == 0) return 0;
    void *batch = raft_malloc(1);
    both->raft = mem_calloc(count, sizeof *both->raft);
    int err = batch == NULL || both->raft == NULL ? ERR_NO_MEMORY : 0;
    while (err == 0 && both->count < count) {
        err = entry_to_raft(&both->raft[both->count], &entries[both->count], batch);
        if (err == 0) both->count++;
    }
    if (err == 0) return 0;
    configurations_free(both->raft, both->count);
    mem_free(both->raft);
    raft_free(batch);
    return err;
}

/* All but the batch. */
static void entries_close(struct core_entries *both)
{
    configurations_free(both->raft, both->count);
    mem_free(both->raft);
}

/* ---- orders of a step ---- */

static int core_append(struct meta_core *core, int64_t index, const struct meta_entry *entries,
                       unsigned count)
{
    if (index > core->last_index + 1 || index <= core->commit_index) return ERR_CORRUPT_MESSAGE;
    uint64_t number = 0;
    pending_writes_clip(&core->writes, index);
    int err = pending_writes_add(&core->writes, index + count - 1, &number);
    if (err == 0) err = core->io->append(core->io, number, index, entries, count);
    if (err == 0) core->last_index = index + count - 1;
    return err;
}

static int core_order_append(struct meta_core *core, const struct raft_update *update,
                             const struct core_entries *given)
{
    int64_t index = (int64_t)update->entries.index;
    if (given != NULL && given->count > 0) {
        size_t skipped = (size_t)(update->entries.batch - given->raft);
        return core_append(core, index, given->entries + skipped, update->entries.n);
    }
    assert(update->entries.n == 1 && update->entries.batch[0].type == RAFT_BARRIER);
    struct meta_entry barrier = {
        .term = (int64_t)update->entries.batch[0].term,
        .type = META_ENTRY_BARRIER,
        .payload = BYTES_NULL,
    };
    raft_free(update->entries.batch[0].batch); /* By (c). */
    return core_append(core, index, &barrier, 1);
}

static bool message_from_raft(struct meta_message *to, const struct raft_message *from)
{
    switch (from->type) {
    case RAFT_APPEND_ENTRIES:
        to->type = META_MESSAGE_APPEND;
        to->term = (int64_t)from->append_entries.term;
        to->as.append.previous_index = (int64_t)from->append_entries.prev_log_index;
        to->as.append.previous_term = (int64_t)from->append_entries.prev_log_term;
        to->as.append.leader_commit = (int64_t)from->append_entries.leader_commit;
        to->as.append.entry_count = from->append_entries.n_entries;
        return true;
    case RAFT_APPEND_ENTRIES_RESULT:
        to->type = META_MESSAGE_APPEND_RESULT;
        to->term = (int64_t)from->append_entries_result.term;
        to->as.append_result.rejected = (int64_t)from->append_entries_result.rejected;
        to->as.append_result.last_index = (int64_t)from->append_entries_result.last_log_index;
        return true;
    case RAFT_REQUEST_VOTE:
        to->type = META_MESSAGE_VOTE;
        to->term = (int64_t)from->request_vote.term;
        to->as.vote.candidate = node_id_of(from->request_vote.candidate_id);
        to->as.vote.last_index = (int64_t)from->request_vote.last_log_index;
        to->as.vote.last_term = (int64_t)from->request_vote.last_log_term;
        to->as.vote.disrupt_leader = from->request_vote.disrupt_leader;
        to->as.vote.is_pre_vote = from->request_vote.pre_vote;
        return true;
    case RAFT_REQUEST_VOTE_RESULT:
        to->type = META_MESSAGE_VOTE_RESULT;
        to->term = (int64_t)from->request_vote_result.term;
        to->as.vote_result.is_granted = from->request_vote_result.vote_granted;
        to->as.vote_result.is_pre_vote = from->request_vote_result.pre_vote;
        return true;
    case RAFT_TIMEOUT_NOW:
        to->type = META_MESSAGE_TIMEOUT_NOW;
        to->term = (int64_t)from->timeout_now.term;
        to->as.timeout_now.last_index = (int64_t)from->timeout_now.last_log_index;
        to->as.timeout_now.last_term = (int64_t)from->timeout_now.last_log_term;
        return true;
    default: return false;
    }
}

static int core_send(struct meta_core *core, const struct raft_message *from)
{
    struct arena arena;
    struct meta_message message = { .from = core->node_id, .to = node_id_of(from->server_id) };
    /* Snapshots are asked for only where the log was cut in front, which nobody does yet. */
    if (!message_from_raft(&message, from)) return ERR_UNSUPPORTED_VERSION;

    /* R3: a denied pre-vote repeats the request's term. A pre-candidate with the best log but an
     * old term would never learn the newer one, and nobody could ever be elected. */
    if (message.type == META_MESSAGE_VOTE_RESULT && message.as.vote_result.is_pre_vote &&
        !message.as.vote_result.is_granted && meta_core_term(core) > message.term)
        message.term = meta_core_term(core);

    if (message.type != META_MESSAGE_APPEND || message.as.append.entry_count == 0) {
        core->io->send(core->io, &message);
        return 0;
    }

    /* Filled in now: later the log may be another one. */
    arena_init(&arena, NULL, 0, SIZE_MAX);
    struct meta_entry *entries = arena_calloc(&arena, message.as.append.entry_count,
                                              sizeof *entries);
    int err = entries == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0)
        err = core->io->read(core->io, message.as.append.previous_index + 1,
                             message.as.append.entry_count, entries, &arena);
    message.as.append.entries = entries;
    if (err == 0) core->io->send(core->io, &message);
    arena_close(&arena);
    return err;
}

static int core_term_of(struct meta_core *core, int64_t index, int64_t *term)
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
static int core_push_to(struct meta_core *core, raft_id id, int64_t match)
{
    struct meta_message message = {
        .type = META_MESSAGE_APPEND,
        .from = core->node_id,
        .to = node_id_of(id),
        .term = meta_core_term(core),
        .as.append = { .previous_index = match, .leader_commit = core->commit_index },
    };
    int err = core_term_of(core, match, &message.as.append.previous_term);
    if (err == 0) core->io->send(core->io, &message);
    return err;
}

/* The commit index has moved: whoever holds entries that are newly committed hears of it at once,
 * not with the next heartbeat. */
static int core_push_commit(struct meta_core *core, int64_t old_commit)
{
    int err = 0;
    for (unsigned i = 0; err == 0 && i < core->raft.configuration.n; i++) {
        raft_id id = core->raft.configuration.servers[i].id;
        raft_index match = 0;
        if (id == core->raft.id || raft_match_index(&core->raft, id, &match) != 0 ||
            (int64_t)match <= old_commit)
            continue;
        err = core_push_to(core, id, (int64_t)match);
    }
    return err;
}

static void core_tell_role(struct meta_core *core)
{
    enum meta_core_role role = meta_core_role(core);
    int64_t term = meta_core_term(core);
    int32_t leader = meta_core_leader(core);
    if (role == core->told_role && term == core->told_term && leader == core->told_leader) return;
    /* Everything that was committed before lies below a new leader's first entry, or is among what
     * it found in its log. */
    if (role == META_LEADER && (core->told_role != META_LEADER || core->told_term != term))
        core->caught_up_index = core->last_index;
    core->told_role = role;
    core->told_term = term;
    core->told_leader = leader;
    core->io->role_changed(core->io);
}

static int core_order_all(struct meta_core *core, const struct raft_update *update,
                          const struct core_entries *given)
{
    int err = 0;
    if (update->flags & (RAFT_UPDATE_CURRENT_TERM | RAFT_UPDATE_VOTED_FOR))
        err = core->io->store_vote(core->io, meta_core_term(core),
                                   node_id_of(raft_voted_for(&core->raft)));
    if (err == 0 && (update->flags & RAFT_UPDATE_ENTRIES))
        err = core_order_append(core, update, given);
    if (err == 0 && (update->flags & RAFT_UPDATE_MESSAGES))
        for (unsigned i = 0; err == 0 && i < update->messages.n; i++)
            err = core_send(core, &update->messages.batch[i]);

    /* Entries that the core has and we do not would be committed without ever being written. */
    if (err == 0 && (int64_t)raft_last_index(&core->raft) != core->last_index)
        err = ERR_CORRUPT_MESSAGE;

    /* B1b: libraft's may go back after a retransmission. */
    int64_t old_commit = core->commit_index;
    if ((int64_t)raft_commit_index(&core->raft) > old_commit)
        core->commit_index = (int64_t)raft_commit_index(&core->raft);
    if (err == 0 && core->commit_index > old_commit && core->raft.state == RAFT_LEADER)
        err = core_push_commit(core, old_commit);
    return err;
}

static void core_event_init(const struct meta_core *core, struct raft_event *event,
                            enum raft_event_type type)
{
    *event = (struct raft_event){ .time = (raft_time)core->now_ms, .type = type };
}

/* The only call of raft_step(). `answer` (may be NULL) gets what it returned; who asks for it can
 * do with RAFT_NOTLEADER, which is no failure then. */
static int core_step(struct meta_core *core, struct raft_event *event,
                     const struct core_entries *given, bool *has_new_entries, int *answer)
{
    struct raft_update update;
    memset(&update, 0, sizeof update);
    int rv = raft_step(&core->raft, event, &update);
    if (has_new_entries != NULL) *has_new_entries = (update.flags & RAFT_UPDATE_ENTRIES) != 0;
    if (answer != NULL) *answer = rv;

    /* Also after an error: flags may be set, and the world has seen part of it. */
    int err = core_order_all(core, &update, given);
    if (err != 0) return core_fail(core, err);
    if (rv != 0 && !(rv == RAFT_NOTLEADER && answer != NULL)) {
        trace(TRACE_ERROR, "quorum", "libraft refuses event %d: %s", (int)event->type,
              raft_strerror(rv));
        return core_fail(core, rv == RAFT_NOMEM ? ERR_NO_MEMORY : ERR_CORRUPT_MESSAGE);
    }
    return 0;
}

/* ---- committed entries ---- */

static int core_agree_members(struct meta_core *core, int64_t index, struct bytes payload)
{
    struct raft_event event;
    core_event_init(core, &event, RAFT_CONFIGURATION);
    event.configuration.index = (raft_index)index;
    int err = configuration_from(&event.configuration.conf, payload);
    if (err == 0) err = core_step(core, &event, NULL, NULL, NULL); /* By (d). */
    return err;
}

/* Also after a step that committed nothing new: the one before may have been refused half way. A
 * configuration is agreed before the core sees another message (R6). */
static int core_apply(struct meta_core *core)
{
    int err = core->failed;
    while (err == 0 && core->applied_index < core->commit_index) {
        struct meta_entry entries[READ_AT_ONCE];
        struct arena arena;
        int64_t left = core->commit_index - core->applied_index;
        unsigned count = left < READ_AT_ONCE ? (unsigned)left : READ_AT_ONCE;
        arena_init(&arena, NULL, 0, SIZE_MAX);
        err = core->io->read(core->io, core->applied_index + 1, count, entries, &arena);
        for (unsigned i = 0; err == 0 && i < count; i++) {
            err = core->io->apply(core->io, core->applied_index + 1, &entries[i]);
            if (err == 0) core->applied_index++;
            if (err == 0 && entries[i].type == META_ENTRY_MEMBERS)
                err = core_agree_members(core, core->applied_index, entries[i].payload);
        }
        arena_close(&arena);
    }
    if (err != 0) return core_fail(core, err);
    core_tell_role(core);
    return 0;
}

static int core_begin(struct meta_core *core, int64_t now_ms)
{
    if (now_ms > core->now_ms) core->now_ms = now_ms; /* Never backwards. */
    return core->failed;
}

/* ---- open, start ---- */

int meta_core_open(struct meta_core **core, const struct meta_core_options *options,
                   struct meta_core_io *io)
{
    struct meta_core *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    char address[16];
    snprintf(address, sizeof address, "%" PRId32, options->node_id);
    if (raft_init(&opened->raft, NULL, NULL, raft_id_of(options->node_id), address) != 0) {
        mem_free(opened);
        return ERR_NO_MEMORY;
    }
    opened->raft.tracer = NULL; /* It would print into one static buffer, from any thread. */
    raft_seed(&opened->raft, options->seed);
    raft_set_election_timeout(&opened->raft, (unsigned)options->election_timeout_ms);
    raft_set_heartbeat_timeout(&opened->raft, (unsigned)options->heartbeat_ms);
    raft_set_pre_vote(&opened->raft, true);
    /* Its default of 32 entries is a round trip for each 32. */
    raft_set_max_inflight_entries(&opened->raft, META_MESSAGE_MAX_ENTRIES);
    /* No raft_set_capacity_threshold(). With it, an election while disks are low fails
     * half way; who is low on space refuses writes before they get here. */
    opened->io = io;
    pending_writes_init(&opened->writes);
    opened->node_id = options->node_id;
    opened->caught_up_index = -1;
    opened->leader_heard_ms = INT64_MIN / 2;
    opened->told_leader = META_NOBODY;
    *core = opened;
    return 0;
}

void meta_core_close(struct meta_core *core)
{
    if (core == NULL) return;
    raft_close(&core->raft, NULL);
    pending_writes_close(&core->writes);
    mem_free(core);
}

/* One chunk of the stored log, in libraft's shape. */
static int start_read(struct meta_core *core, int64_t first_index, unsigned count, int64_t max_term,
                      struct raft_entry *to, void *batch)
{
    struct meta_entry entries[READ_AT_ONCE];
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    int err = core->io->read(core->io, first_index, count, entries, &arena);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        bool is_first = first_index + i == 1;
        if (entries[i].term < 1 || entries[i].term > max_term ||
            (first_index + i > 1 && i > 0 && entries[i].term < entries[i - 1].term) ||
            (is_first && entries[i].type != META_ENTRY_MEMBERS))
            err = ERR_CORRUPT_MESSAGE;
        else
            err = entry_to_raft(&to[i], &entries[i], batch);
    }
    arena_close(&arena);
    return err;
}

static int start_load(struct meta_core *core, const struct meta_core_stored *stored,
                      struct raft_event *event)
{
    int64_t count = stored->last_index - stored->first_index + 1;
    event->start.start_index = (raft_index)stored->first_index;
    if (count <= 0) return 0;
    /* From raft_malloc(): if the start fails libraft frees array and batch, by (b). */
    event->start.entries = raft_calloc((size_t)count, sizeof *event->start.entries);
    void *batch = raft_malloc(1);
    if (event->start.entries == NULL || batch == NULL) {
        raft_free(event->start.entries);
        raft_free(batch);
        return ERR_NO_MEMORY;
    }
    int err = 0;
    int64_t done = 0;
    while (err == 0 && done < count) {
        unsigned chunk = count - done < READ_AT_ONCE ? (unsigned)(count - done) : READ_AT_ONCE;
        err = start_read(core, stored->first_index + done, chunk, stored->term,
                         event->start.entries + done, batch);
        done += chunk;
    }
    event->start.n_entries = (unsigned)count;
    if (err == 0) return 0;
    configurations_free(event->start.entries, event->start.n_entries);
    raft_free(event->start.entries);
    raft_free(batch);
    return err;
}

static int start_snapshot(const struct meta_core_stored *stored,
                          struct raft_snapshot_metadata *metadata)
{
    *metadata = (struct raft_snapshot_metadata){
        .index = (raft_index)stored->snapshot_index,
        .term = (raft_term)stored->snapshot_term,
        .configuration_index = (raft_index)stored->snapshot_members_index,
    };
    struct buffer encoded;
    buffer_init(&encoded);
    meta_members_encode(stored->snapshot_members, &encoded);
    int err = encoded.failed ? ERR_NO_MEMORY : 0;
    if (err == 0)
        err = configuration_from(&metadata->configuration,
                                 (struct bytes){ encoded.data, (int32_t)encoded.length });
    buffer_close(&encoded);
    return err;
}

static int start_step(struct meta_core *core, struct raft_event *event)
{
    unsigned count = event->start.n_entries;
    /* The payloads are freed first where libraft frees the array that points to them. */
    struct raft_buffer *payloads = count == 0 ? NULL : raft_calloc(count, sizeof *payloads);
    if (count > 0 && payloads == NULL) return ERR_NO_MEMORY;
    void *batch = count == 0 ? NULL : event->start.entries[0].batch;
    for (unsigned i = 0; i < count; i++)
        payloads[i] = event->start.entries[i].buf;

    int answer = 0;
    int err = core_step(core, event, NULL, NULL, &answer);
    for (unsigned i = 0; i < count; i++)
        raft_free(payloads[i].base);
    raft_free(payloads);
    if (answer == 0 && count > 0) { /* By (b). */
        raft_free(event->start.entries);
        raft_free(batch);
    }
    return err;
}

int meta_core_start(struct meta_core *core, int64_t now_ms, const struct meta_core_stored *stored)
{
    struct raft_event event;
    struct raft_snapshot_metadata metadata;
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    core_event_init(core, &event, RAFT_START);
    core->last_index = stored->last_index;
    core->snapshot_index = core->commit_index = core->applied_index = stored->snapshot_index;
    core->snapshot_term = stored->snapshot_term;

    event.start.term = (raft_term)stored->term;
    event.start.voted_for = raft_id_of(stored->term == 0 ? META_NOBODY : stored->voted_for);
    if (stored->term > 0) {
        /* R5: a single voter elects itself in the term that it finds. Had it lost entries that it
         * had sent but not stored, the same index and term would be given twice, to different
         * entries. */
        event.start.term++;
        event.start.voted_for = 0;
        err = core->io->store_vote(core->io, stored->term + 1, META_NOBODY);
    }
    if (err == 0 && stored->snapshot_index > 0) {
        err = start_snapshot(stored, &metadata);
        event.start.metadata = &metadata;
    }
    if (err == 0) {
        err = start_load(core, stored, &event);
        if (err != 0 && event.start.metadata != NULL)
            raft_configuration_close(&metadata.configuration);
    }
    if (err != 0) return core_fail(core, err);
    err = start_step(core, &event);
    return err == 0 ? core_apply(core) : core_fail(core, err);
}

/* ---- time, disk, submissions ---- */

int meta_core_tick(struct meta_core *core, int64_t now_ms)
{
    struct raft_event event;
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    /* R9: past the pre-vote a candidate stays in real elections and raises the term at each
     * timeout, also one that was removed and does not know it. Each new round asks first. */
    if (core->raft.state == RAFT_CANDIDATE) {
        core->raft.candidate_state.in_pre_vote = true;
        core->raft.candidate_state.disrupt_leader = false;
    }
    core_event_init(core, &event, RAFT_TIMEOUT);
    err = core_step(core, &event, NULL, NULL, NULL);
    return err == 0 ? core_apply(core) : err;
}

int meta_core_persisted(struct meta_core *core, int64_t now_ms, uint64_t write)
{
    struct raft_event event;
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    int64_t index = pending_writes_take(&core->writes, write);
    /* Nothing new, or what it wrote was overwritten: libraft would meet that with an assert. */
    if (index <= (int64_t)core->raft.last_stored || index > core->last_index) return 0;
    core_event_init(core, &event, RAFT_PERSISTED_ENTRIES);
    event.persisted_entries.index = (raft_index)index;
    err = core_step(core, &event, NULL, NULL, NULL);
    return err == 0 ? core_apply(core) : err;
}

int meta_core_submit(struct meta_core *core, int64_t now_ms, struct meta_entry *entries,
                     unsigned count, int64_t *first_index)
{
    struct raft_event event;
    struct core_entries both;
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    if (count == 0) return 0;
    for (unsigned i = 0; i < count; i++) {
        entries[i].type = META_ENTRY_COMMAND;
        entries[i].term = meta_core_term(core);
    }
    err = entries_open(&both, entries, count);
    if (err != 0) return core_fail(core, err);
    core_event_init(core, &event, RAFT_SUBMIT);
    event.submit.entries = both.raft;
    event.submit.n = count;
    int64_t index = core->last_index + 1;
    int answer = 0;
    err = core_step(core, &event, &both, NULL, &answer);
    raft_free(both.raft[0].batch); /* By (b). */
    entries_close(&both);
    if (err == 0) err = core_apply(core);
    if (err == 0 && answer == RAFT_NOTLEADER) err = ERR_NOT_CONTROLLER;
    if (err == 0) *first_index = index;
    return err;
}

/* ---- messages ---- */

static void core_drop(const struct meta_core *core, const struct meta_message *message,
                      const char *why)
{
    trace(TRACE_WARN, "quorum",
          "node %" PRId32 ": dropped message %d of node %" PRId32 " in term %" PRId64 ": %s",
          core->node_id, (int)message->type, message->from, message->term, why);
}

static int core_step_message(struct meta_core *core, struct raft_message *message,
                             const struct core_entries *given, bool *has_new_entries)
{
    struct raft_event event;
    core_event_init(core, &event, RAFT_RECEIVE);
    event.receive.message = message;
    int err = core_step(core, &event, given, has_new_entries, NULL);
    return err == 0 ? core_apply(core) : err;
}

static int receive_chunk(struct meta_core *core, const char *address,
                         const struct meta_message *message, int64_t previous_index,
                         int64_t previous_term, unsigned skip, unsigned count)
{
    struct core_entries both;
    bool has_new_entries = false;
    int err = entries_open(&both, message->as.append.entries + skip, count);
    if (err != 0) return core_fail(core, err);
    void *batch = count > 0 ? both.raft[0].batch : NULL;
    struct raft_message raft_message = {
        .type = RAFT_APPEND_ENTRIES,
        .server_id = raft_id_of(message->from),
        .server_address = address,
        .append_entries = {
            .term = (raft_term)message->term,
            .prev_log_index = (raft_index)previous_index,
            .prev_log_term = (raft_term)previous_term,
            .leader_commit = (raft_index)message->as.append.leader_commit,
            .entries = both.raft,
            .n_entries = count,
        },
    };
    err = core_step_message(core, &raft_message, &both, &has_new_entries);
    if (has_new_entries) raft_free(batch); /* By (b). */
    entries_close(&both);
    return err;
}

static int receive_append(struct meta_core *core, const char *address,
                          const struct meta_message *message)
{
    unsigned count = message->as.append.entry_count, skip = 0;
    int64_t previous_index = message->as.append.previous_index;
    int64_t previous_term = message->as.append.previous_term;
    int err = 0;

    /* Two leaders in one term. libraft has only an assert for it. */
    if (core->raft.state == RAFT_LEADER && message->term == meta_core_term(core)) {
        trace(TRACE_ERROR, "quorum",
              "node %" PRId32 " claims to lead in term %" PRId64 ", as we do", message->from,
              message->term);
        return 0;
    }
    core->leader_heard_ms = core->now_ms;
    if (core->caught_up_index < 0) core->caught_up_index = message->as.append.leader_commit;

    /* R1: what we have committed every later leader has too. So a message that begins below our
     * commit index is taken to begin there: libraft would reject it where the log was cut in front,
     * and the leader then trips over its own idea of what we hold; or would take the commit
     * index back, or append at the wrong index. */
    if (previous_index < core->commit_index) {
        int64_t known = core->commit_index - previous_index;
        skip = known < count ? (unsigned)known : count;
        previous_index = core->commit_index;
        err = core_term_of(core, previous_index, &previous_term);
        if (err != 0) return core_fail(core, err);
    }

    do {
        /* R6: a configuration that is not the first of its message would be remembered under the
         * index of the first. */
        unsigned chunk = count > skip ? 1 : 0;
        while (skip + chunk < count &&
               message->as.append.entries[skip + chunk].type != META_ENTRY_MEMBERS)
            chunk++;
        err = receive_chunk(core, address, message, previous_index, previous_term, skip, chunk);
        skip += chunk;
        previous_index += chunk;
        if (chunk > 0) previous_term = message->as.append.entries[skip - 1].term;
    } while (err == 0 && skip < count && meta_core_term(core) == message->term);
    return err;
}

static int receive_append_result(struct meta_core *core, const char *address,
                                 const struct meta_message *message)
{
    int64_t rejected = message->as.append_result.rejected;
    int64_t last_index = message->as.append_result.last_index;
    raft_index match = 0;
    if (core->raft.state == RAFT_LEADER && message->term == meta_core_term(core)) {
        if (raft_match_index(&core->raft, raft_id_of(message->from), &match) != 0) return 0;
        /* Nobody holds more of our log than we do, or can reject what we never sent. */
        if (last_index > core->last_index || rejected > core->last_index) {
            core_drop(core, message, "it is about entries that we do not have");
            return 0;
        }
        /* R2: late or repeated; libraft would set next below match. It becomes a success that tells
         * nothing. */
        if (rejected > 0 && rejected <= (int64_t)match) rejected = last_index = 0;
    }
    struct raft_message raft_message = {
        .type = RAFT_APPEND_ENTRIES_RESULT,
        .server_id = raft_id_of(message->from),
        .server_address = address,
        .append_entries_result = {
            .version = APPEND_RESULT_VERSION,
            .term = (raft_term)message->term,
            .rejected = (raft_index)rejected,
            .last_log_index = (raft_index)last_index,
            .features = FEATURES,
        },
    };
    int64_t old_commit = core->commit_index;
    int64_t old_match = (int64_t)match;
    int err = core_step_message(core, &raft_message, NULL, NULL);
    if (err != 0 || core->commit_index != old_commit ||
        raft_match_index(&core->raft, raft_message.server_id, &match) != 0)
        return err;
    /* It was not needed for the majority, and now has entries that were committed without it. */
    if ((int64_t)match > old_match && old_match < core->commit_index) {
        err = core_push_to(core, raft_message.server_id, (int64_t)match);
        if (err != 0) core_fail(core, err);
    }
    return err;
}

static int receive_vote(struct meta_core *core, const char *address,
                        const struct meta_message *message)
{
    struct raft *raft = &core->raft;
    struct raft_message raft_message = {
        .type = RAFT_REQUEST_VOTE,
        .server_id = raft_id_of(message->from),
        .server_address = address,
        .request_vote = {
            .version = VOTE_VERSION,
            .term = (raft_term)message->term,
            .candidate_id = raft_id_of(message->as.vote.candidate),
            .last_log_index = (raft_index)message->as.vote.last_index,
            .last_log_term = (raft_term)message->as.vote.last_term,
            .disrupt_leader = message->as.vote.disrupt_leader,
            .pre_vote = message->as.vote.is_pre_vote,
        },
    };
    bool is_follower = raft->state == RAFT_FOLLOWER;

    /* R8: a node votes although its own, perhaps old, configuration does not list it as a voter;
     * who asks knows better, and counts only whom its configuration lists. */
    struct raft_server self = { .id = raft->id, .address = raft->address, .role = RAFT_VOTER };
    struct raft_configuration kept = raft->configuration;
    bool is_swapped = is_follower && raft_role(raft) != RAFT_VOTER;
    if (is_swapped) raft->configuration = (struct raft_configuration){ &self, 1 };

    /* R10: a leader not heard of for an election timeout no longer stands in the way of a vote;
     * those who have no vote themselves would never forget it. */
    raft_id leader = 0;
    if (is_follower && core->now_ms - core->leader_heard_ms >= (int64_t)raft->election_timeout) {
        leader = raft->follower_state.current_leader.id;
        raft->follower_state.current_leader.id = 0;
    }

    struct raft_event event;
    core_event_init(core, &event, RAFT_RECEIVE);
    event.receive.message = &raft_message;
    int err = core_step(core, &event, NULL, NULL, NULL);
    if (is_swapped) raft->configuration = kept;
    if (leader != 0 && raft->state == RAFT_FOLLOWER &&
        raft->follower_state.current_leader.id == 0 &&
        raft->follower_state.current_leader.address != NULL)
        raft->follower_state.current_leader.id = leader;
    return err == 0 ? core_apply(core) : err;
}

static int receive_vote_result(struct meta_core *core, const char *address,
                               const struct meta_message *message)
{
    /* R4: when we are no candidate libraft reads a field that is not there. */
    if (core->raft.state != RAFT_CANDIDATE) return 0;
    if (message->as.vote_result.is_granted && message->term > meta_core_term(core) + 1) {
        core_drop(core, message, "it grants a vote in a term that nobody asked for");
        return 0;
    }
    struct raft_message raft_message = {
        .type = RAFT_REQUEST_VOTE_RESULT,
        .server_id = raft_id_of(message->from),
        .server_address = address,
        .request_vote_result = {
            .version = VOTE_RESULT_VERSION,
            .term = (raft_term)message->term,
            .vote_granted = message->as.vote_result.is_granted,
            .pre_vote = message->as.vote_result.is_pre_vote,
            .features = FEATURES,
        },
    };
    return core_step_message(core, &raft_message, NULL, NULL);
}

static int receive_timeout_now(struct meta_core *core, const char *address,
                               const struct meta_message *message)
{
    struct raft_message raft_message = {
        .type = RAFT_TIMEOUT_NOW,
        .server_id = raft_id_of(message->from),
        .server_address = address,
        .timeout_now = {
            .term = (raft_term)message->term,
            .last_log_index = (raft_index)message->as.timeout_now.last_index,
            .last_log_term = (raft_term)message->as.timeout_now.last_term,
        },
    };
    return core_step_message(core, &raft_message, NULL, NULL);
}

/* R2: libraft's own answer to a request of an old term has fields that were never set. */
static void answer_stale(struct meta_core *core, const struct meta_message *message)
{
    struct meta_message answer = {
        .type = META_MESSAGE_APPEND_RESULT,
        .from = core->node_id,
        .to = message->from,
        .term = meta_core_term(core),
        .as.append_result = { .rejected = 1, .last_index = 0 },
    };
    core->io->send(core->io, &answer);
}

int meta_core_receive(struct meta_core *core, int64_t now_ms, const struct meta_message *message)
{
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    if (meta_message_check(message) != 0 || message->to != core->node_id) {
        core_drop(core, message, "it makes no sense");
        return 0;
    }
    char address[16];
    snprintf(address, sizeof address, "%" PRId32, message->from);
    switch (message->type) {
    case META_MESSAGE_APPEND:
        if (message->term >= meta_core_term(core)) return receive_append(core, address, message);
        answer_stale(core, message);
        return 0;
    case META_MESSAGE_APPEND_RESULT: return receive_append_result(core, address, message);
    case META_MESSAGE_VOTE: return receive_vote(core, address, message);
    case META_MESSAGE_VOTE_RESULT: return receive_vote_result(core, address, message);
    case META_MESSAGE_TIMEOUT_NOW: return receive_timeout_now(core, address, message);
    }
    return 0;
}

/* ---- questions ---- */

int64_t meta_core_deadline_ms(const struct meta_core *core)
{
    if (core->failed != 0) return INT64_MAX;
    /* Alone there is nobody to send to and nobody to hear from. */
    if (core->raft.state == RAFT_LEADER && core->raft.configuration.n == 1) return INT64_MAX;
    /* It may lie in the past for good. */
    int64_t deadline_ms = (int64_t)raft_timeout(&core->raft);
    return deadline_ms > core->now_ms ? deadline_ms : core->now_ms + 1;
}

int meta_core_failed(const struct meta_core *core)
{
    return core->failed;
}

enum meta_core_role meta_core_role(const struct meta_core *core)
{
    switch (core->raft.state) {
    case RAFT_LEADER: return META_LEADER;
    case RAFT_CANDIDATE: return META_CANDIDATE;
    default: return META_FOLLOWER;
    }
}

int64_t meta_core_term(const struct meta_core *core)
{
    return (int64_t)raft_current_term(&core->raft);
}

int32_t meta_core_leader(const struct meta_core *core)
{
    raft_id id = 0;
    const char *address = NULL;
    raft_leader((struct raft *)&core->raft, &id, &address); /* Asking changes nothing. */
    return node_id_of(id);
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
    return raft_transferee(&core->raft) != 0;
}

bool meta_core_is_caught_up(const struct meta_core *core)
{
    return core->caught_up_index >= 0 && core->applied_index >= core->caught_up_index &&
           meta_core_leader(core) != META_NOBODY;
}

int64_t meta_core_match_index(const struct meta_core *core, int32_t node_id)
{
    raft_index match = 0;
    return raft_match_index(&core->raft, raft_id_of(node_id), &match) == 0 ? (int64_t)match : -1;
}

unsigned meta_core_member_count(const struct meta_core *core)
{
    return core->raft.configuration.n;
}

unsigned meta_core_voter_count(const struct meta_core *core)
{
    unsigned count = 0;
    for (unsigned i = 0; i < core->raft.configuration.n; i++)
        if (core->raft.configuration.servers[i].role == RAFT_VOTER) count++;
    return count;
}
