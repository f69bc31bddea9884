// SPDX-License-Identifier: Apache-2.0
/* Snapshots as the core sees them: when one may be taken, who needs one, and what happens to a node
 * while it installs one (R1, B15). */

#include "runner.h"

#include <string.h>

#include "core_fixture.h"
#include "error.h"

static struct cores cores;

static struct meta_core *core(int32_t id)
{
    return cores.nodes[id].core;
}

static void submit_some(int32_t id, int count)
{
    for (int i = 0; i < count; i++)
        cores_submit(&cores, id);
    cores_settle(&cores);
}

static void heartbeats(int32_t id, int count)
{
    for (int i = 0; i < count; i++) {
        cores_tick(&cores, id);
        cores_settle(&cores);
    }
}

/* Node 2 was away while node 0 wrote so much that its log no longer reaches back. */
static void leave_node_2_behind(void)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    submit_some(0, 2);
    cores_crash(&cores, 2);
    submit_some(0, 10);
    cores_take_snapshot(&cores, 0, meta_core_last_index(core(0)) - 1);
    cores_start(&cores, 2);
}

static struct meta_message snapshot_of(int32_t from, int32_t to)
{
    const struct core_node *node = &cores.nodes[from];
    return (struct meta_message){
        .type = META_MESSAGE_SNAPSHOT,
        .from = from,
        .to = to,
        .term = meta_core_term(core(from)),
        .as.snapshot = {
            .index = node->snapshot.index,
            .last_term = node->snapshot.term,
            .members_index = node->snapshot.members_index,
            .members = node->snapshot.members,
        },
    };
}

/* ---- taken ---- */

TEST(a_snapshot_covers_what_is_applied_and_durable)
{
    struct meta_core_snapshot point;
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    submit_some(0, 3);
    assert_true(meta_core_snapshot_point(core(1), &point));
    assert_int_equal(point.index, meta_core_applied_index(core(1)));
    assert_int_equal(point.term, meta_core_term(core(0)));
    assert_int_equal(point.members_index, 1);
    cores_take_snapshot(&cores, 1, 2);
    assert_int_equal(meta_core_snapshot_index(core(1)), point.index);
    assert_false(meta_core_snapshot_point(core(1), &point)); /* Nothing new. */
    cores_close(&cores);
}

TEST(what_is_committed_but_not_yet_durable_here_is_in_no_snapshot)
{
    struct meta_core_snapshot point;
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    submit_some(0, 1);
    int64_t index = cores_submit(&cores, 0);
    struct meta_message append = *cores_sent(&cores, 0, META_MESSAGE_APPEND);
    append.to = 1;
    append.as.append.leader_commit = index; /* By the others. */
    cores_deliver(&cores, &append);
    assert_int_equal(meta_core_applied_index(core(1)), index);
    assert_false(meta_core_snapshot_point(core(1), &point));
    cores_persist(&cores, 1);
    assert_true(meta_core_snapshot_point(core(1), &point));
    cores_close(&cores);
}

TEST(a_node_starts_from_its_snapshot_and_what_is_left_of_the_log)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    submit_some(0, 5);
    cores_take_snapshot(&cores, 1, 4);
    int64_t index = meta_core_snapshot_index(core(1));
    submit_some(0, 2);
    cores_crash(&cores, 1);
    cores_start(&cores, 1);
    assert_int_equal(meta_core_applied_index(core(1)), index);
    assert_int_equal(meta_core_voter_count(core(1)), 3);
    heartbeats(0, 2);
    submit_some(0, 1);
    assert_int_equal(meta_core_applied_index(core(1)), meta_core_last_index(core(0)));
    assert_int_equal(cores.nodes[1].installs, 0);
    cores_close(&cores);
}

TEST(a_snapshot_carries_the_members_that_it_covers)
{
    struct meta_core_snapshot point;
    struct meta_members wanted, members;
    int64_t index;
    cores_open(&cores, 4, 3);
    cores_elect(&cores, 0);
    submit_some(0, 1);
    assert_int_equal(meta_members_decode(&wanted, cores_members(4, 4)), 0);
    assert_int_equal(meta_core_change_members(core(0), cores.now_ms, &wanted, &index), 0);
    assert_true(meta_core_snapshot_point(core(0), &point));
    assert_int_equal(point.members_index, 1); /* Those that are not agreed are not in it. */
    cores_settle(&cores);
    assert_true(meta_core_snapshot_point(core(0), &point));
    assert_int_equal(point.members_index, index);
    assert_int_equal(meta_members_decode(&members, point.members), 0);
    assert_int_equal(meta_members_voter_count(&members), 4);
    cores_close(&cores);
}

/* ---- installed ---- */

TEST(a_node_that_is_too_far_behind_gets_a_snapshot)
{
    leave_node_2_behind();
    heartbeats(0, 6);
    assert_int_equal(cores.nodes[2].installs, 1);
    assert_int_equal(meta_core_applied_index(core(2)), meta_core_last_index(core(0)));
    assert_int_equal(meta_core_snapshot_index(core(2)), meta_core_snapshot_index(core(0)));
    submit_some(0, 2);
    assert_int_equal(meta_core_applied_index(core(2)), meta_core_last_index(core(0)));
    cores_close(&cores);
}

TEST(an_empty_node_gets_a_snapshot)
{
    leave_node_2_behind();
    cores_crash(&cores, 2);
    cores.nodes[2].term = 0; /* As an empty disk. */
    cores.nodes[2].first_index = 1;
    cores.nodes[2].last_index = 0;
    cores_start(&cores, 2);
    heartbeats(0, 6);
    assert_int_equal(cores.nodes[2].installs, 1);
    assert_int_equal(meta_core_applied_index(core(2)), meta_core_last_index(core(0)));
    assert_int_equal(meta_core_voter_count(core(2)), 3);
    cores_close(&cores);
}

TEST(while_a_snapshot_is_installed_nothing_else_happens)
{
    struct meta_core_snapshot point;
    leave_node_2_behind();
    cores.installs_by_hand = true;
    int64_t applied = meta_core_applied_index(core(2));
    heartbeats(0, 6);
    assert_true(meta_core_is_installing(core(2)));
    int64_t index = meta_core_snapshot_index(core(2));
    submit_some(0, 3);
    heartbeats(0, 40); /* Its leader goes on, and sends it again. */
    struct meta_message again = snapshot_of(0, 2);
    cores_deliver(&cores, &again);
    struct meta_message old = {
        .type = META_MESSAGE_APPEND,
        .from = 0,
        .to = 2,
        .term = meta_core_term(core(0)),
        .as.append = { 1, 1, index, NULL, 0 },
    };
    cores_deliver(&cores, &old);
    assert_int_equal(cores.nodes[2].installs, 1);
    assert_int_equal(meta_core_applied_index(core(2)), applied);
    assert_int_equal(meta_core_last_index(core(2)), index);
    assert_false(meta_core_snapshot_point(core(2), &point));
    assert_int_equal(meta_core_role(core(0)), META_LEADER); /* Its answers still count. */
    cores_settle(&cores);

    cores_finish_install(&cores, 2);
    cores_settle(&cores);
    heartbeats(0, 4);
    assert_int_equal(meta_core_applied_index(core(2)), meta_core_last_index(core(0)));
    cores_close(&cores);
}

TEST(a_write_from_before_the_snapshot_is_not_reported)
{
    leave_node_2_behind();
    cores.installs_by_hand = true;
    struct meta_entry entry = { meta_core_term(core(0)),
                                META_ENTRY_COMMAND,
                                { (const uint8_t *)"x", 1 } };
    struct meta_message append = {
        .type = META_MESSAGE_APPEND,
        .from = 0,
        .to = 2,
        .term = meta_core_term(core(0)),
        .as.append = { meta_core_last_index(core(2)), 3, 1, &entry, 1 },
    };
    append.as.append.previous_term = cores.nodes[2].log[append.as.append.previous_index - 1].term;
    cores_deliver(&cores, &append); /* On its way to the disk. */
    uint64_t write = cores.nodes[2].newest_write;
    struct meta_message snapshot = snapshot_of(0, 2);
    cores_drop_all(&cores);
    cores_deliver(&cores, &snapshot);
    assert_true(meta_core_is_installing(core(2)));
    cores_drop_all(&cores);
    assert_int_equal(meta_core_persisted(core(2), cores.now_ms, write), 0);
    assert_int_equal(cores.queued, 0);
    cores_finish_install(&cores, 2);
    assert_int_equal(cores_sent(&cores, 2, META_MESSAGE_APPEND_RESULT)->as.append_result.last_index,
                     cores.nodes[0].snapshot.index);
    cores_close(&cores);
}

TEST(r1_a_snapshot_of_what_a_node_has_is_not_installed)
{
    cores_open(&cores, 3, 3);
    cores_elect(&cores, 0);
    submit_some(0, 4);
    cores_take_snapshot(&cores, 0, 2);
    submit_some(0, 4);
    cores_take_snapshot(&cores, 1, meta_core_last_index(core(1)) - 1);
    int64_t last = meta_core_last_index(core(1));
    struct meta_message snapshot = snapshot_of(0, 1);
    cores_deliver(&cores, &snapshot);
    assert_int_equal(cores.nodes[1].installs, 0);
    assert_int_equal(meta_core_last_index(core(1)), last);
    assert_int_equal(cores_sent(&cores, 1, META_MESSAGE_APPEND_RESULT)->as.append_result.last_index,
                     last);
    cores_drop_all(&cores);
    cores_elect(&cores, 2); /* R2: now it is of an old leader. */
    cores_drop_all(&cores);
    cores_deliver(&cores, &snapshot);
    assert_int_equal(cores_sent(&cores, 1, META_MESSAGE_APPEND_RESULT)->as.append_result.rejected,
                     1);
    cores_close(&cores);
}

TEST(a_snapshot_that_another_one_overtook_has_no_effect)
{
    struct meta_core_snapshot point;
    uint8_t members[CORE_MEMBERS_BYTES];
    leave_node_2_behind();
    cores_elect(&cores, 0);
    heartbeats(0, 1);
    cores.installs_by_hand = true;
    struct meta_message snapshot = snapshot_of(0, 2);
    bool has_point = meta_core_snapshot_point(core(2), &point);
    if (has_point) {
        memcpy(members, point.members.data, (size_t)point.members.length);
        point.members.data = members;
    } else { /* It had none to take: then one as if it had. */
        point = cores.nodes[0].snapshot;
        point.index = 2;
    }
    cores_deliver(&cores, &snapshot);
    int64_t index = meta_core_snapshot_index(core(2));
    assert_int_equal(meta_core_snapshot_taken(core(2), cores.now_ms, &point, 1), 0);
    assert_int_equal(meta_core_snapshot_index(core(2)), index);
    if (meta_core_is_installing(core(2))) cores_finish_install(&cores, 2);
    assert_int_equal(meta_core_snapshot_taken(core(2), cores.now_ms, &point, 1), 0);
    assert_int_equal(meta_core_snapshot_index(core(2)), index);
    cores_close(&cores);
}

/* ---- sent in pieces ---- */

/* How many snapshots node 0 sends to node 2 in some heartbeats, none of which arrives. */
static unsigned snapshots_sent(bool is_sending)
{
    unsigned sent = 0;
    leave_node_2_behind();
    for (int i = 0; i < 12; i++) {
        cores_tick(&cores, 0);
        for (int j = 0; j < 3 && cores.queued > 0; j++) {
            static struct core_message queue[sizeof cores.queue / sizeof cores.queue[0]];
            unsigned count = cores.queued;
            memcpy(queue, cores.queue, sizeof queue);
            cores_drop_all(&cores);
            for (unsigned k = 0; k < count; k++) {
                struct meta_message *message = &queue[k].message;
                message->as.append.entries = message->type == META_MESSAGE_APPEND
                                                 ? queue[k].entries
                                                 : message->as.append.entries;
                if (message->type != META_MESSAGE_SNAPSHOT) {
                    cores_deliver(&cores, message);
                    continue;
                }
                sent++;
                meta_core_snapshot_sending(core(0), 2, is_sending);
            }
        }
        cores_drop_all(&cores);
    }
    assert_int_equal(meta_core_role(core(0)), META_LEADER);
    return sent;
}

TEST(a_snapshot_on_its_way_is_not_sent_again)
{
    assert_true(snapshots_sent(false) > 1);
    cores_close(&cores);
    assert_int_equal(snapshots_sent(true), 1);
    /* It was lost after all: then it begins again. */
    meta_core_snapshot_sending(core(0), 2, false);
    heartbeats(0, 8);
    assert_int_equal(cores.nodes[2].installs, 1);
    assert_int_equal(meta_core_applied_index(core(2)), meta_core_last_index(core(0)));
    cores_close(&cores);
}
