// SPDX-License-Identifier: Apache-2.0
/* How memory goes in and out of libraft 0.22.1 (tests/unit/meta/test_raft_ownership.c proves it):
 *
 *  (a) Payloads stay with us. What libraft is given as an entry's batch is one byte from
 *      raft_malloc(); only the payload of a configuration is ever read by it, during the step, in
 *      its own encoding.
 *  (b) SUBMIT: array and batch stay ours. RECEIVE of entries: the array stays ours; the batch is
 *      ours again if the step brought new entries, otherwise libraft has freed it. START: both stay
 *      ours, but if it fails libraft has freed both.
 *  (c) A new leader's barrier: libraft's struct, its batch is ours to free.
 *  (d) A configuration or snapshot configuration that goes in is libraft's from then on.
 *  (e) RECEIVE of a snapshot: it is given neither data nor a configuration, which it would lose where
 *      it is installing one already. The configuration goes in when the snapshot is installed.
 *
 * Ids: libraft's are above 0, node ids are not, so ours is one less. Addresses: libraft wants each
 * to be another one and does nothing else with them, so it gets the number as text; the real ones
 * are in the members' entry. */

#include "meta_raft.h"

#include <assert.h>
#include <inttypes.h>
#include <raft.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "trace.h"

/* git main changed who owns what under the same number, so this is not enough; the test is. */
_Static_assert(RAFT_VERSION_NUMBER == 2201, "the rules in here hold for libraft 0.22.1");
_Static_assert((int)META_ENTRY_COMMAND == RAFT_COMMAND && (int)META_ENTRY_BARRIER == RAFT_BARRIER &&
                   (int)META_ENTRY_MEMBERS == RAFT_CHANGE,
               "types of entries are libraft's");
_Static_assert((int)META_STANDBY == RAFT_STANDBY && (int)META_VOTER == RAFT_VOTER,
               "roles are libraft's");

#define VOTE_VERSION          2
#define VOTE_RESULT_VERSION   2
#define APPEND_RESULT_VERSION 2
#define FEATURES              1

struct meta_raft {
    struct raft raft;
    struct meta_raft_options options;
    struct raft_message *messages; /* Of the last step. */
    struct meta_entry barrier;     /* A new leader's, in the last step. */
};

/* Entries in both shapes, as they go into one step. */
struct both_entries {
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

/* ---- shapes ---- */

/* By DESIGN 7.6 a voter that lost its disk must never vote again by itself: if the members name us
 * with another disk than the one that we have, we are a stand-by as far as our libraft knows. */
static int role_of(const struct meta_raft *raft, const struct meta_member *member)
{
    const struct meta_core_options *options = &raft->options.core;
    bool is_other_disk = member->node_id == options->node_id &&
                         !uuid_is_zero(&member->directory_id) &&
                         !uuid_equal(&member->directory_id, &options->directory_id) &&
                         (options->rules_off & META_RULE_DISK) == 0;
    return is_other_disk ? RAFT_STANDBY : (int)member->role;
}

static int configuration_from(const struct meta_raft *raft,
                              struct raft_configuration *configuration, struct bytes payload)
{
    struct meta_members members;
    raft_configuration_init(configuration);
    int err = meta_members_decode(&members, payload);
    for (unsigned i = 0; err == 0 && i < members.count; i++) {
        char address[16];
        snprintf(address, sizeof address, "%" PRId32, members.members[i].node_id);
        if (raft_configuration_add(configuration, raft_id_of(members.members[i].node_id), address,
                                   role_of(raft, &members.members[i])) != 0)
            err = ERR_NO_MEMORY;
    }
    if (err != 0) raft_configuration_close(configuration);
    return err;
}

static int metadata_from(const struct meta_raft *raft, struct raft_snapshot_metadata *metadata,
                         const struct meta_core_snapshot *snapshot)
{
    *metadata = (struct raft_snapshot_metadata){
        .index = (raft_index)snapshot->index,
        .term = (raft_term)snapshot->term,
        .configuration_index = (raft_index)snapshot->members_index,
    };
    return configuration_from(raft, &metadata->configuration, snapshot->members);
}

/* One entry as libraft is to see it: by (a). */
static int entry_to_raft(const struct meta_raft *raft, struct raft_entry *to,
                         const struct meta_entry *from, void *batch)
{
    *to = (struct raft_entry){
        .term = (raft_term)from->term,
        .type = (enum raft_entry_type)from->type,
        .batch = batch,
    };
    if (from->type != META_ENTRY_MEMBERS) return 0;
    struct raft_configuration configuration;
    int err = configuration_from(raft, &configuration, from->payload);
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

static int both_open(const struct meta_raft *raft, struct both_entries *both,
                     const struct meta_entry *entries, unsigned count)
{
    *both = (struct both_entries){ .entries = entries };
    if (count == 0) return 0;
    void *batch = raft_malloc(1);
    both->raft = mem_calloc(count, sizeof *both->raft);
    int err = batch == NULL || both->raft == NULL ? ERR_NO_MEMORY : 0;
    while (err == 0 && both->count < count) {
        err = entry_to_raft(raft, &both->raft[both->count], &entries[both->count], batch);
        if (err == 0) both->count++;
    }
    if (err == 0) return 0;
    configurations_free(both->raft, both->count);
    mem_free(both->raft);
    raft_free(batch);
    return err;
}

/* All but the batch. */
static void both_close(struct both_entries *both)
{
    configurations_free(both->raft, both->count);
    mem_free(both->raft);
}

void meta_raft_message(const struct meta_raft *raft, unsigned number, struct meta_message *to)
{
    const struct raft_message *from = &raft->messages[number];
    *to = (struct meta_message){
        .from = raft->options.core.node_id,
        .to = node_id_of(from->server_id),
    };
    switch (from->type) {
    case RAFT_APPEND_ENTRIES:
        to->type = META_MESSAGE_APPEND;
        to->term = (int64_t)from->append_entries.term;
        to->as.append.previous_index = (int64_t)from->append_entries.prev_log_index;
        to->as.append.previous_term = (int64_t)from->append_entries.prev_log_term;
        to->as.append.leader_commit = (int64_t)from->append_entries.leader_commit;
        to->as.append.entry_count = from->append_entries.n_entries;
        break;
    case RAFT_APPEND_ENTRIES_RESULT:
        to->type = META_MESSAGE_APPEND_RESULT;
        to->term = (int64_t)from->append_entries_result.term;
        to->as.append_result.rejected = (int64_t)from->append_entries_result.rejected;
        to->as.append_result.last_index = (int64_t)from->append_entries_result.last_log_index;
        break;
    case RAFT_REQUEST_VOTE:
        to->type = META_MESSAGE_VOTE;
        to->term = (int64_t)from->request_vote.term;
        to->as.vote.candidate = node_id_of(from->request_vote.candidate_id);
        to->as.vote.last_index = (int64_t)from->request_vote.last_log_index;
        to->as.vote.last_term = (int64_t)from->request_vote.last_log_term;
        to->as.vote.disrupt_leader = from->request_vote.disrupt_leader;
        to->as.vote.is_pre_vote = from->request_vote.pre_vote;
        break;
    case RAFT_REQUEST_VOTE_RESULT:
        to->type = META_MESSAGE_VOTE_RESULT;
        to->term = (int64_t)from->request_vote_result.term;
        to->as.vote_result.is_granted = from->request_vote_result.vote_granted;
        to->as.vote_result.is_pre_vote = from->request_vote_result.pre_vote;
        break;
    case RAFT_INSTALL_SNAPSHOT:
        to->type = META_MESSAGE_SNAPSHOT;
        to->term = (int64_t)from->install_snapshot.term;
        to->as.snapshot.index = (int64_t)from->install_snapshot.last_index;
        to->as.snapshot.last_term = (int64_t)from->install_snapshot.last_term;
        to->as.snapshot.members = to->as.snapshot.image = BYTES_NULL;
        break;
    case RAFT_TIMEOUT_NOW:
        to->type = META_MESSAGE_TIMEOUT_NOW;
        to->term = (int64_t)from->timeout_now.term;
        to->as.timeout_now.last_index = (int64_t)from->timeout_now.last_log_index;
        to->as.timeout_now.last_term = (int64_t)from->timeout_now.last_log_term;
        break;
    }
}

/* What has no entries in it; those of an append are added by receive_append(). */
static void message_to_raft(struct raft_message *to, const struct meta_message *from,
                            const char *address)
{
    raft_term term = (raft_term)from->term;
    *to = (struct raft_message){ .server_id = raft_id_of(from->from), .server_address = address };
    switch (from->type) {
    case META_MESSAGE_APPEND:
        to->type = RAFT_APPEND_ENTRIES;
        to->append_entries = (struct raft_append_entries){
            .term = term,
            .prev_log_index = (raft_index)from->as.append.previous_index,
            .prev_log_term = (raft_term)from->as.append.previous_term,
            .leader_commit = (raft_index)from->as.append.leader_commit,
        };
        break;
    case META_MESSAGE_APPEND_RESULT:
        to->type = RAFT_APPEND_ENTRIES_RESULT;
        to->append_entries_result = (struct raft_append_entries_result){
            .version = APPEND_RESULT_VERSION,
            .term = term,
            .rejected = (raft_index)from->as.append_result.rejected,
            .last_log_index = (raft_index)from->as.append_result.last_index,
            .features = FEATURES,
        };
        break;
    case META_MESSAGE_VOTE:
        to->type = RAFT_REQUEST_VOTE;
        to->request_vote = (struct raft_request_vote){
            .version = VOTE_VERSION,
            .term = term,
            .candidate_id = raft_id_of(from->as.vote.candidate),
            .last_log_index = (raft_index)from->as.vote.last_index,
            .last_log_term = (raft_term)from->as.vote.last_term,
            .disrupt_leader = from->as.vote.disrupt_leader,
            .pre_vote = from->as.vote.is_pre_vote,
        };
        break;
    case META_MESSAGE_VOTE_RESULT:
        to->type = RAFT_REQUEST_VOTE_RESULT;
        to->request_vote_result = (struct raft_request_vote_result){
            .version = VOTE_RESULT_VERSION,
            .term = term,
            .vote_granted = from->as.vote_result.is_granted,
            .pre_vote = from->as.vote_result.is_pre_vote,
            .features = FEATURES,
        };
        break;
    case META_MESSAGE_TIMEOUT_NOW:
        to->type = RAFT_TIMEOUT_NOW;
        to->timeout_now = (struct raft_timeout_now){
            .term = term,
            .last_log_index = (raft_index)from->as.timeout_now.last_index,
            .last_log_term = (raft_term)from->as.timeout_now.last_term,
        };
        break;
    case META_MESSAGE_SNAPSHOT: /* By (e). */
        to->type = RAFT_INSTALL_SNAPSHOT;
        to->install_snapshot = (struct raft_install_snapshot){
            .term = term,
            .last_index = (raft_index)from->as.snapshot.index,
            .last_term = (raft_term)from->as.snapshot.last_term,
            .conf_index = (raft_index)from->as.snapshot.members_index,
        };
        break;
    }
}

/* ---- steps ---- */

static void event_init(struct raft_event *event, int64_t now_ms, enum raft_event_type type)
{
    *event = (struct raft_event){ .time = (raft_time)now_ms, .type = type };
}

static int error_of(const struct raft_event *event, int rv)
{
    switch (rv) {
    case 0: return 0;
    case RAFT_NOTLEADER: return ERR_NOT_CONTROLLER;
    case RAFT_CANTCHANGE: return ERR_BUSY;
    case RAFT_BADID: return ERR_VOTER_NOT_FOUND;
    case RAFT_NOMEM: return ERR_NO_MEMORY;
    }
    trace(TRACE_ERROR, "quorum", "libraft refuses event %d: %s", (int)event->type,
          raft_strerror(rv));
    return ERR_CORRUPT_MESSAGE;
}

/* What is to be appended: entries that we gave, or a new leader's barrier. */
static void orders_take_entries(struct meta_raft *raft, const struct raft_update *update,
                                const struct both_entries *given, struct meta_raft_orders *orders)
{
    orders->entries_index = (int64_t)update->entries.index;
    orders->entry_count = update->entries.n;
    if (given != NULL && given->count > 0) {
        orders->entries = given->entries + (update->entries.batch - given->raft);
        return;
    }
    assert(update->entries.n == 1 && update->entries.batch[0].type == RAFT_BARRIER);
    raft->barrier = (struct meta_entry){
        .term = (int64_t)update->entries.batch[0].term,
        .type = META_ENTRY_BARRIER,
        .payload = BYTES_NULL,
    };
    orders->entries = &raft->barrier;
    raft_free(update->entries.batch[0].batch); /* By (c). */
}

/* The only call of raft_step(). */
static int raft_do(struct meta_raft *raft, struct raft_event *event,
                   const struct both_entries *given, struct meta_raft_orders *orders)
{
    struct raft_update update;
    memset(&update, 0, sizeof update);
    *orders = (struct meta_raft_orders){ 0 };
    int rv = raft_step(&raft->raft, event, &update);
    orders->has_vote = (update.flags & (RAFT_UPDATE_CURRENT_TERM | RAFT_UPDATE_VOTED_FOR)) != 0;
    orders->installs_snapshot = (update.flags & RAFT_UPDATE_SNAPSHOT) != 0;
    if (update.flags & RAFT_UPDATE_ENTRIES) orders_take_entries(raft, &update, given, orders);
    raft->messages = update.messages.batch;
    if (update.flags & RAFT_UPDATE_MESSAGES) orders->message_count = update.messages.n;
    return error_of(event, rv);
}

int meta_raft_tick(struct meta_raft *raft, int64_t now_ms, bool asks_first,
                   struct meta_raft_orders *orders)
{
    struct raft_event event;
    if (asks_first && raft->raft.state == RAFT_CANDIDATE) {
        raft->raft.candidate_state.in_pre_vote = true;
        raft->raft.candidate_state.disrupt_leader = false;
    }
    event_init(&event, now_ms, RAFT_TIMEOUT);
    return raft_do(raft, &event, NULL, orders);
}

int meta_raft_persisted(struct meta_raft *raft, int64_t now_ms, int64_t index,
                        struct meta_raft_orders *orders)
{
    struct raft_event event;
    event_init(&event, now_ms, RAFT_PERSISTED_ENTRIES);
    event.persisted_entries.index = (raft_index)index;
    return raft_do(raft, &event, NULL, orders);
}

int meta_raft_submit(struct meta_raft *raft, int64_t now_ms, const struct meta_entry *entries,
                     unsigned count, struct meta_raft_orders *orders)
{
    struct both_entries both;
    struct raft_event event;
    *orders = (struct meta_raft_orders){ 0 };
    int err = both_open(raft, &both, entries, count);
    if (err != 0) return err;
    event_init(&event, now_ms, RAFT_SUBMIT);
    event.submit.entries = both.raft;
    event.submit.n = count;
    err = raft_do(raft, &event, &both, orders);
    raft_free(both.raft[0].batch); /* By (b). */
    both_close(&both);
    return err;
}

int meta_raft_members_agreed(struct meta_raft *raft, int64_t now_ms, int64_t index,
                             struct bytes members, struct meta_raft_orders *orders)
{
    struct raft_event event;
    *orders = (struct meta_raft_orders){ 0 };
    event_init(&event, now_ms, RAFT_CONFIGURATION);
    event.configuration.index = (raft_index)index;
    int err = configuration_from(raft, &event.configuration.conf, members);
    return err == 0 ? raft_do(raft, &event, NULL, orders) : err; /* By (d). */
}

int meta_raft_snapshot_taken(struct meta_raft *raft, int64_t now_ms,
                             const struct meta_core_snapshot *snapshot, int64_t first_index,
                             struct meta_raft_orders *orders)
{
    struct raft_event event;
    *orders = (struct meta_raft_orders){ 0 };
    event_init(&event, now_ms, RAFT_SNAPSHOT);
    event.snapshot.trailing = (unsigned)(snapshot->index - first_index + 1);
    int err = metadata_from(raft, &event.snapshot.metadata, snapshot);
    return err == 0 ? raft_do(raft, &event, NULL, orders) : err; /* By (d). */
}

int meta_raft_snapshot_installed(struct meta_raft *raft, int64_t now_ms,
                                 const struct meta_core_snapshot *snapshot,
                                 struct meta_raft_orders *orders)
{
    struct raft_event event;
    *orders = (struct meta_raft_orders){ 0 };
    event_init(&event, now_ms, RAFT_PERSISTED_SNAPSHOT);
    event.persisted_snapshot.last = true;
    int err = metadata_from(raft, &event.persisted_snapshot.metadata, snapshot);
    return err == 0 ? raft_do(raft, &event, NULL, orders) : err; /* By (d). */
}

int meta_raft_transfer(struct meta_raft *raft, int64_t now_ms, int32_t node_id,
                       struct meta_raft_orders *orders)
{
    struct raft_event event;
    event_init(&event, now_ms, RAFT_TRANSFER);
    event.transfer.server_id = raft_id_of(node_id);
    return raft_do(raft, &event, NULL, orders);
}

static int receive_append(struct meta_raft *raft, struct raft_event *event,
                          const struct meta_message *from, struct meta_raft_orders *orders)
{
    struct both_entries both;
    int err = both_open(raft, &both, from->as.append.entries, from->as.append.entry_count);
    if (err != 0) return err;
    void *batch = both.count > 0 ? both.raft[0].batch : NULL;
    event->receive.message->append_entries.entries = both.raft;
    event->receive.message->append_entries.n_entries = both.count;
    err = raft_do(raft, event, &both, orders);
    if (orders->entry_count > 0) raft_free(batch); /* By (b). */
    both_close(&both);
    return err;
}

int meta_raft_receive(struct meta_raft *raft, int64_t now_ms, const struct meta_message *message,
                      struct meta_raft_orders *orders)
{
    struct raft_message raft_message;
    struct raft_event event;
    char address[16];
    *orders = (struct meta_raft_orders){ 0 };
    snprintf(address, sizeof address, "%" PRId32, message->from);
    message_to_raft(&raft_message, message, address);
    event_init(&event, now_ms, RAFT_RECEIVE);
    event.receive.message = &raft_message;
    if (message->type == META_MESSAGE_APPEND) return receive_append(raft, &event, message, orders);
    return raft_do(raft, &event, NULL, orders);
}

int meta_raft_receive_vote(struct meta_raft *raft, int64_t now_ms,
                           const struct meta_message *message, bool votes_always,
                           bool forgets_leader, struct meta_raft_orders *orders)
{
    struct raft *core = &raft->raft;
    bool is_follower = core->state == RAFT_FOLLOWER;
    struct raft_server self = { .id = core->id, .address = core->address, .role = RAFT_VOTER };
    struct raft_configuration kept = core->configuration;
    bool is_swapped = votes_always && is_follower && raft_role(core) != RAFT_VOTER;
    if (is_swapped) core->configuration = (struct raft_configuration){ &self, 1 };
    raft_id leader = 0;
    if (forgets_leader && is_follower) {
        leader = core->follower_state.current_leader.id;
        core->follower_state.current_leader.id = 0;
    }

    int err = meta_raft_receive(raft, now_ms, message, orders);
    if (is_swapped) core->configuration = kept;
    if (leader != 0 && core->state == RAFT_FOLLOWER &&
        core->follower_state.current_leader.id == 0 &&
        core->follower_state.current_leader.address != NULL)
        core->follower_state.current_leader.id = leader;
    return err;
}

/* ---- open, start ---- */

int meta_raft_open(struct meta_raft **raft, const struct meta_raft_options *options)
{
    const struct meta_core_options *core = &options->core;
    struct meta_raft *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    char address[16];
    snprintf(address, sizeof address, "%" PRId32, core->node_id);
    if (raft_init(&opened->raft, NULL, NULL, raft_id_of(core->node_id), address) != 0) {
        mem_free(opened);
        return ERR_NO_MEMORY;
    }
    opened->options = *options;
    opened->raft.tracer = NULL; /* It would print into one static buffer, from any thread. */
    raft_seed(&opened->raft, core->seed);
    raft_set_election_timeout(&opened->raft, (unsigned)core->election_timeout_ms);
    raft_set_heartbeat_timeout(&opened->raft, (unsigned)core->heartbeat_ms);
    raft_set_install_snapshot_timeout(&opened->raft, (unsigned)options->snapshot_timeout_ms);
    raft_set_pre_vote(&opened->raft, true);
    /* Its default of 32 entries is a round trip for each 32. */
    raft_set_max_inflight_entries(&opened->raft, META_MESSAGE_MAX_ENTRIES);
    /* B7: no raft_set_capacity_threshold(). With it, an election while disks are low fails
     * half way; who is low on space refuses writes before they get here. */
    *raft = opened;
    return 0;
}

void meta_raft_close(struct meta_raft *raft)
{
    if (raft == NULL) return;
    raft_close(&raft->raft, NULL);
    mem_free(raft);
}

/* One chunk of the stored log, in libraft's shape. */
static int start_read(const struct meta_raft *raft, struct meta_raft_reader *reader,
                      int64_t first_index, unsigned count, struct raft_entry *to, void *batch)
{
    struct meta_entry entries[META_RAFT_READ];
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    int err = reader->read(reader, first_index, count, entries, &arena);
    for (unsigned i = 0; err == 0 && i < count; i++)
        err = entry_to_raft(raft, &to[i], &entries[i], batch);
    arena_close(&arena);
    return err;
}

static int start_term(const struct meta_core_stored *stored, struct meta_raft_reader *reader,
                      struct raft_event *event)
{
    int64_t term = stored->term;
    int32_t voted_for = term == 0 ? META_NOBODY : stored->voted_for;
    int err = reader->begin(reader, &term, &voted_for);
    event->start.term = (raft_term)term;
    event->start.voted_for = raft_id_of(voted_for);
    return err;
}

static int start_load(const struct meta_raft *raft, const struct meta_core_stored *stored,
                      struct meta_raft_reader *reader, struct raft_event *event)
{
    int64_t count = stored->last_index - stored->first_index + 1;
    event->start.start_index = (raft_index)stored->first_index;
    if (count <= 0) return start_term(stored, reader, event);
    /* From raft_malloc(): if the start fails libraft frees array and batch, by (b). */
    event->start.entries = raft_calloc((size_t)count, sizeof *event->start.entries);
    void *batch = raft_malloc(1);
    int err = event->start.entries == NULL || batch == NULL ? ERR_NO_MEMORY : 0;
    for (int64_t done = 0; err == 0 && done < count; done += META_RAFT_READ) {
        unsigned chunk = count - done < META_RAFT_READ ? (unsigned)(count - done) : META_RAFT_READ;
        err = start_read(raft, reader, stored->first_index + done, chunk,
                         event->start.entries + done, batch);
    }
    if (err == 0) err = start_term(stored, reader, event);
    event->start.n_entries = (unsigned)count;
    if (err == 0) return 0;
    if (event->start.entries != NULL) configurations_free(event->start.entries, (unsigned)count);
    raft_free(event->start.entries);
    raft_free(batch);
    return err;
}

static int start_step(struct meta_raft *raft, struct raft_event *event,
                      struct meta_raft_orders *orders)
{
    unsigned count = event->start.n_entries;
    /* The payloads are freed first where libraft frees the array that points to them. */
    struct raft_buffer *payloads = count == 0 ? NULL : raft_calloc(count, sizeof *payloads);
    void *batch = count == 0 ? NULL : event->start.entries[0].batch;
    if (count > 0 && payloads == NULL) {
        configurations_free(event->start.entries, count);
        raft_free(event->start.entries);
        raft_free(batch);
        if (event->start.metadata != NULL)
            raft_configuration_close(&event->start.metadata->configuration);
        return ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < count; i++)
        payloads[i] = event->start.entries[i].buf;

    int err = raft_do(raft, event, NULL, orders);
    for (unsigned i = 0; i < count; i++)
        raft_free(payloads[i].base);
    raft_free(payloads);
    if (err == 0 && count > 0) { /* By (b). */
        raft_free(event->start.entries);
        raft_free(batch);
    }
    return err;
}

static int start_metadata(const struct meta_raft *raft, const struct meta_core_stored *stored,
                          struct raft_snapshot_metadata *metadata)
{
    struct meta_core_snapshot snapshot = {
        .index = stored->snapshot_index,
        .term = stored->snapshot_term,
        .members_index = stored->snapshot_members_index,
    };
    struct buffer encoded;
    buffer_init(&encoded);
    meta_members_encode(stored->snapshot_members, &encoded);
    snapshot.members = (struct bytes){ encoded.data, (int32_t)encoded.length };
    int err = encoded.failed ? ERR_NO_MEMORY : metadata_from(raft, metadata, &snapshot);
    buffer_close(&encoded);
    return err;
}

int meta_raft_start(struct meta_raft *raft, int64_t now_ms, const struct meta_core_stored *stored,
                    struct meta_raft_reader *reader, struct meta_raft_orders *orders)
{
    struct raft_snapshot_metadata metadata;
    struct raft_event event;
    int err = 0;
    *orders = (struct meta_raft_orders){ 0 };
    event_init(&event, now_ms, RAFT_START);
    if (stored->snapshot_index > 0) {
        err = start_metadata(raft, stored, &metadata);
        if (err != 0) return err;
        event.start.metadata = &metadata;
    }
    err = start_load(raft, stored, reader, &event);
    if (err == 0) return start_step(raft, &event, orders);
    if (event.start.metadata != NULL) raft_configuration_close(&metadata.configuration);
    return err;
}

/* ---- questions ---- */

enum meta_core_role meta_raft_role(const struct meta_raft *raft)
{
    switch (raft->raft.state) {
    case RAFT_LEADER: return META_LEADER;
    case RAFT_CANDIDATE: return META_CANDIDATE;
    default: return META_FOLLOWER;
    }
}

int64_t meta_raft_term(const struct meta_raft *raft)
{
    return (int64_t)raft_current_term(&raft->raft);
}

int32_t meta_raft_voted_for(const struct meta_raft *raft)
{
    return node_id_of(raft_voted_for(&raft->raft));
}

/* libraft's questions do not say that they change nothing. */
static struct raft *asked(const struct meta_raft *raft)
{
    return (struct raft *)&raft->raft;
}

int32_t meta_raft_leader(const struct meta_raft *raft)
{
    raft_id id = 0;
    const char *address = NULL;
    raft_leader(asked(raft), &id, &address);
    return node_id_of(id);
}

int32_t meta_raft_transferee(const struct meta_raft *raft)
{
    return node_id_of(raft_transferee(&raft->raft));
}

int64_t meta_raft_last_index(const struct meta_raft *raft)
{
    return (int64_t)raft_last_index(asked(raft));
}

int64_t meta_raft_stored_index(const struct meta_raft *raft)
{
    return (int64_t)raft->raft.last_stored;
}

int64_t meta_raft_commit_index(const struct meta_raft *raft)
{
    return (int64_t)raft_commit_index(&raft->raft);
}

int64_t meta_raft_deadline_ms(const struct meta_raft *raft)
{
    return (int64_t)raft_timeout(&raft->raft);
}

bool meta_raft_is_changing(const struct meta_raft *raft)
{
    return raft->raft.configuration_uncommitted_index != 0;
}

int64_t meta_raft_match_index(const struct meta_raft *raft, int32_t node_id)
{
    raft_index match = 0;
    if (raft_match_index(&raft->raft, raft_id_of(node_id), &match) != 0) return -1;
    return (int64_t)match;
}

unsigned meta_raft_member_count(const struct meta_raft *raft)
{
    return raft->raft.configuration.n;
}

int32_t meta_raft_member_at(const struct meta_raft *raft, unsigned position)
{
    return node_id_of(raft->raft.configuration.servers[position].id);
}

unsigned meta_raft_voter_count(const struct meta_raft *raft)
{
    unsigned count = 0;
    for (unsigned i = 0; i < raft->raft.configuration.n; i++)
        if (raft->raft.configuration.servers[i].role == RAFT_VOTER) count++;
    return count;
}
