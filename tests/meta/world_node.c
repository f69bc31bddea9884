// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

/* ---- what the node tells ---- */

static struct world_node *node_of_owner(struct meta_node_owner *owner)
{
    return LIST_OWNER(owner, struct world_node, owner);
}

/* By (1). */
static bool node_is_gone(const struct world_node *node)
{
    return node->is_dying || fs_sim_is_off(node->disk);
}

bool world_node_is_up(const struct world_node *node)
{
    return node->meta != NULL && !node_is_gone(node);
}

static void node_send(struct meta_node_owner *owner, const struct meta_message *message)
{
    struct world_node *node = node_of_owner(owner);
    if (node_is_gone(node)) return;
    if (node->sends_left > 0 && --node->sends_left == 0) {
        world_node_die(node, world_percent(node->world, 50) ? WORLD_KILL : WORLD_POWER);
        return;
    }
    world_oracle_sent(node->world, node, message);
    world_network_send(node->world, message);
}

static void node_applied(struct meta_node_owner *owner, int64_t index,
                         const struct meta_entry *entry, struct meta_outcome *outcome)
{
    struct world_node *node = node_of_owner(owner);
    meta_changes_clear(meta_node_changes(node->meta));
    /* One that stops in order goes on with what the disk still brings, and a snapshot may have it. */
    if (!fs_sim_is_off(node->disk)) world_oracle_applied(node->world, node, index, entry);
    if (node_is_gone(node)) return;
    world_clients_applied(node->world, node, index, entry, outcome);
}

static void node_role_changed(struct meta_node_owner *owner)
{
    struct world_node *node = node_of_owner(owner);
    if (!node_is_gone(node)) world_oracle_role_changed(node->world, node);
}

static void node_restored(struct meta_node_owner *owner)
{
    struct world_node *node = node_of_owner(owner);
    meta_changes_clear(meta_node_changes(node->meta));
    if (!node_is_gone(node)) world_oracle_restored(node->world, node);
}

static void node_moved(struct meta_node_owner *owner)
{
    (void)owner; /* world_node_look() comes after every event. */
}

/* ---- jobs and the way back ---- */

static void works_add(struct world_node *node, struct world_works *works, void *what,
                      int64_t delay_ms)
{
    if (works->count == WORLD_WORK) {
        world_fail(node->world, "node %u: more than %d jobs at a time", node->id, WORLD_WORK);
        return;
    }
    int64_t due_ms = node->world->now_ms + delay_ms;
    int64_t last_ms = works->count == 0 ? 0 : works->items[works->count - 1].due_ms;
    works->items[works->count++] = (struct world_work){ what, due_ms > last_ms ? due_ms : last_ms };
}

static void *works_take(struct world_works *works)
{
    void *what = works->items[0].what;
    works->count--;
    memmove(works->items, works->items + 1, works->count * sizeof works->items[0]);
    return what;
}

static int64_t works_due_ms(const struct world_works *works)
{
    return works->count == 0 ? INT64_MAX : works->items[0].due_ms;
}

static void executor_take(struct executor *executor, struct job *job)
{
    struct world_node *node = LIST_OWNER(executor, struct world_node, executor);
    works_add(node, &node->jobs, job, 1 + (int64_t)world_below(node->world, 8) + node->slow_ms);
}

static void mailbox_take(struct mailbox *mailbox, struct message *message)
{
    struct world_node *node = LIST_OWNER(mailbox, struct world_node, mailbox);
    works_add(node, &node->mail, message, (int64_t)world_below(node->world, 3));
}

static void node_run_job(struct world_node *node)
{
    struct job *job = works_take(&node->jobs);
    job->run(job);
}

static void node_deliver_mail(struct world_node *node)
{
    struct message *message = works_take(&node->mail);
    message->deliver(message);
}

/* ---- life ---- */

void world_node_open(struct world *world, unsigned id)
{
    struct world_node *node = &world->nodes[id];
    struct fs_sim_options options = { .seed = world_random(world) };
    *node = (struct world_node){ .world = world, .id = id, .restart_ms = world->now_ms };
    node->disk = fs_sim_open(&options);
    node->owner = (struct meta_node_owner){ node_send, node_applied, node_role_changed, node_moved,
                                            node_restored };
    node->executor.submit = executor_take;
    node->mailbox.post = mailbox_take;
    world_control_disk(node);
}

/* Of a new folder. */
static void node_members(const struct world_node *node, struct meta_members *members)
{
    unsigned voters = node->world->options.nodes;
    members->count = node->id < voters ? voters : 0;
    for (unsigned i = 0; i < members->count; i++)
        members->members[i] = (struct meta_member){
            .node_id = (int32_t)i,
            .role = META_VOTER,
            .address = STR_LITERAL(""),
        };
}

static int node_open_meta(struct world_node *node, char *why, size_t why_size)
{
    struct world *world = node->world;
    struct meta_members members;
    node_members(node, &members);
    struct meta_node_options options = {
        .dir = node->dir,
        .disk = &node->executor,
        .mailbox = &node->mailbox,
        .clock = &world->clock,
        .owner = &node->owner,
        .node_id = (int32_t)node->id,
        .election_timeout_ms = WORLD_ELECTION_MS,
        .heartbeat_ms = WORLD_HEARTBEAT_MS,
        .seed = (uint32_t)world_random(world),
        .rules_off = world->options.rules_off,
        .snapshot_bytes = world->options.has_snapshots ? 100 + (int64_t)world_below(world, 4000)
                                                       : 0,
        .hash_key = { world_random(world), world_random(world) },
        .members = &members,
        .cluster_id = WORLD_CLUSTER_ID,
    };
    int err = meta_node_open(&node->meta, &options, why, why_size);
    if (err != 0) return err;
    world_oracle_started(world, node);
    err = meta_node_start(node->meta);
    if (err != 0) meta_node_explain(node->meta, err, why, why_size);
    return err;
}

void world_node_start(struct world_node *node)
{
    struct world *world = node->world;
    char why[400] = "";
    node->life++;
    node->is_dying = false;
    node->death = WORLD_POWER; /* Unless it is another one: the disk may switch itself off. */
    node->is_registered = false;
    node->sync_has_failed = false;
    node->sends_left = 0;
    node->restart_ms = INT64_MAX;
    if (fs_sim_is_off(node->disk)) fs_sim_restart(node->disk);
    world_control_starting(node);
    world_nemesis_starting(world, node);
    int err = data_dir_open(&node->dir, fs_sim_fs(node->disk), WORLD_FOLDER, why, sizeof why);
    if (err == 0) err = data_dir_begin(node->dir);
    if (err == 0) err = node_open_meta(node, why, sizeof why);
    world_tell(world, "node %u starts, life %u: %s", node->id, node->life,
               err == 0 ? "" : error_name(err));
    if (err == 0 || node_is_gone(node)) return;
    world_oracle_refused(world, node, err, why);
    world_node_die(node, WORLD_KILL);
}

static bool node_is_idle(const struct world_node *node)
{
    return node->jobs.count == 0 && node->mail.count == 0;
}

/* What was with the disk comes back first, as failed as it is. */
static void node_drain(struct world_node *node)
{
    while (!node_is_idle(node)) {
        if (node->jobs.count > 0) node_run_job(node);
        if (node->mail.count > 0) node_deliver_mail(node);
    }
}

/* Everything in the order in which the broker ends. */
static void node_leave(struct world_node *node)
{
    bool in_order = node->death == WORLD_STOP && node->meta != NULL &&
                    meta_node_failed(node->meta) == 0;
    if (in_order) meta_node_leave(node->meta);
    meta_node_close(node->meta);
    if (in_order && data_dir_write_checkpoints(node->dir) == 0) data_dir_mark_clean(node->dir, -1);
    data_dir_close(node->dir);
    node->meta = NULL;
    node->dir = NULL;
}

static void node_bury(struct world_node *node)
{
    struct world *world = node->world;
    node->is_dying = true;
    if (node->meta != NULL) node_drain(node);
    node_leave(node);
    if (!fs_sim_is_off(node->disk)) fs_sim_kill(node->disk);
    world_network_reset_node(world, node->id);
    world_nemesis_died(world, node);
    node->restart_ms = world->now_ms + 20 +
                       (int64_t)world_below(world, world->is_quiet ? 20 : 1500);
    if (node->is_out_for_good) node->restart_ms = INT64_MAX - 1;
    world->counts.crashes++;
    if (node->death == WORLD_POWER) world->counts.power_cuts++;
}

void world_node_die(struct world_node *node, enum world_death death)
{
    static const char *const names[] = { "is killed", "loses power", "stops" };
    if (node_is_gone(node)) return;
    world_tell(node->world, "node %u %s", node->id, names[death]);
    node->is_dying = true;
    node->death = death;
    if (death == WORLD_POWER) fs_sim_cut_power(node->disk);
    if (death == WORLD_KILL) fs_sim_kill(node->disk);
}

void world_node_look(struct world_node *node)
{
    if (node->restart_ms != INT64_MAX) return; /* Buried, or never was. */
    if (!node_is_gone(node) && meta_node_failed(node->meta) != 0) {
        char why[300];
        meta_node_explain(node->meta, meta_node_failed(node->meta), why, sizeof why);
        world_oracle_failed(node->world, node, meta_node_failed(node->meta), why);
        world_node_die(node, WORLD_KILL); /* The process ends. */
    }
    if (node_is_gone(node)) node_bury(node);
}

void world_node_close(struct world_node *node)
{
    world_node_die(node, WORLD_KILL);
    if (node->restart_ms == INT64_MAX) node_bury(node);
    fs_sim_close(node->disk);
}

/* ---- events ---- */

int64_t world_node_due_ms(const struct world_node *node)
{
    if (node->meta == NULL) return node->restart_ms;
    int64_t due_ms = meta_node_deadline_ms(node->meta);
    int64_t job_ms = works_due_ms(&node->jobs), mail_ms = works_due_ms(&node->mail);
    if (job_ms < due_ms) due_ms = job_ms;
    return mail_ms < due_ms ? mail_ms : due_ms;
}

void world_node_act(struct world_node *node)
{
    int64_t now_ms = node->world->now_ms;
    if (node->meta == NULL) {
        world_node_start(node);
    } else if (works_due_ms(&node->mail) <= now_ms) {
        node_deliver_mail(node);
    } else if (works_due_ms(&node->jobs) <= now_ms) {
        node_run_job(node);
    } else {
        meta_node_tick(node->meta);
    }
}

void world_node_receive(struct world_node *node, const struct meta_message *message)
{
    if (world_node_is_up(node)) meta_node_receive(node->meta, message);
}

bool world_node_leads(const struct world_node *node)
{
    return world_node_is_up(node) && meta_core_role(meta_node_core(node->meta)) == META_LEADER;
}

bool world_node_submit(struct world_node *node, struct meta_entry *entries, unsigned count,
                       int64_t *first_index)
{
    return meta_node_submit(node->meta, entries, count, first_index) == 0;
}
