// SPDX-License-Identifier: Apache-2.0
#include <assert.h>

#include "error.h"
#include "meta_core_impl.h"

static int snapshot_remember(struct meta_core *core, const struct meta_core_snapshot *snapshot)
{
    struct buffer copy;
    buffer_init(&copy);
    buffer_put(&copy, snapshot->members.data, (size_t)snapshot->members.length);
    if (copy.failed) {
        buffer_close(&copy);
        return ERR_NO_MEMORY;
    }
    buffer_close(&core->snapshot_members);
    core->snapshot_members = copy;
    core->snapshot_index = snapshot->index;
    core->snapshot_term = snapshot->term;
    core->snapshot_members_index = snapshot->members_index;
    return 0;
}

bool meta_core_snapshot_point(const struct meta_core *core, struct meta_core_snapshot *point)
{
    int64_t index = core->applied_index;
    const struct member_record *members = member_history_at(&core->members, index);
    /* What is not durable here could be gone after a crash, and the snapshot be ahead of the log. */
    if (core->failed != 0 || core->is_installing || index <= core->snapshot_index ||
        index > meta_raft_stored_index(core->raft) || members == NULL)
        return false;
    *point = (struct meta_core_snapshot){
        .index = index,
        .term = core->applied_term,
        .members_index = members->index,
        .members = member_record_payload(members),
    };
    return true;
}

int meta_core_snapshot_taken(struct meta_core *core, int64_t now_ms,
                             const struct meta_core_snapshot *snapshot, int64_t first_index)
{
    struct meta_raft_orders orders;
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    if (core->is_installing || snapshot->index <= core->snapshot_index) return 0;
    assert(first_index >= core->first_index && first_index <= snapshot->index);
    err = snapshot_remember(core, snapshot);
    if (err != 0) return core_fail(core, err);
    err = meta_raft_snapshot_taken(core->raft, core->now_ms, snapshot, first_index, &orders);
    core->first_index = first_index;
    return core_after(core, err, &orders, NULL);
}

int core_install(struct meta_core *core, const struct meta_message *message)
{
    struct meta_core_snapshot snapshot = {
        .index = message->as.snapshot.index,
        .term = message->as.snapshot.last_term,
        .members_index = message->as.snapshot.members_index,
        .members = message->as.snapshot.members,
    };
    pending_writes_clip(&core->writes, 1); /* None of them counts any more. */
    int err = snapshot_remember(core, &snapshot);
    if (err == 0)
        err = member_history_restart(&core->members, snapshot.members_index, snapshot.members);
    core->is_installing = true;
    core->last_index = snapshot.index;
    core->first_index = snapshot.index + 1;
    return err == 0 ? core->io->install(core->io, message) : err;
}

int meta_core_snapshot_installed(struct meta_core *core, int64_t now_ms)
{
    struct meta_raft_orders orders;
    struct meta_core_snapshot snapshot = {
        .index = core->snapshot_index,
        .term = core->snapshot_term,
        .members_index = core->snapshot_members_index,
        .members = { core->snapshot_members.data, (int32_t)core->snapshot_members.length },
    };
    int err = core_begin(core, now_ms);
    if (err != 0) return err;
    assert(core->is_installing);
    core->is_installing = false;
    core->applied_index = snapshot.index;
    core->applied_term = snapshot.term;
    err = meta_raft_snapshot_installed(core->raft, core->now_ms, &snapshot, &orders);
    return core_after(core, err, &orders, NULL);
}

void meta_core_snapshot_sending(struct meta_core *core, int32_t node_id, bool is_sending)
{
    struct core_peer *peer = core_peer(core, node_id);
    if (peer != NULL) peer->is_snapshot_sending = is_sending;
}

bool meta_core_is_installing(const struct meta_core *core)
{
    return core->is_installing;
}

int64_t meta_core_snapshot_index(const struct meta_core *core)
{
    return core->snapshot_index;
}
