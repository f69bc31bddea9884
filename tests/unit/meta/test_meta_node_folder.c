// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "error.h"
#include "fs_sim.h"
#include "meta_node.h"

#define CLUSTER "aaaaaaaaaaaaaaaaaaaaaw"
#define LOG     "/node/__sluice_metadata-0"

/* A node that is alone with its disk. */
static struct fs_sim *disk;
static struct data_dir *dir;
static struct meta_node *node;
static struct clock_manual manual;
static unsigned sent;
static char why[512];

static void count_sent(struct meta_node_owner *owner, const struct meta_message *message)
{
    (void)owner;
    (void)message;
    sent++;
}

static void ignore_applied(struct meta_node_owner *owner, int64_t index,
                           const struct meta_entry *entry, struct meta_outcome *outcome)
{
    (void)owner;
    (void)index;
    (void)entry;
    (void)outcome;
}

static void ignore(struct meta_node_owner *owner)
{
    (void)owner;
}

static struct meta_node_owner owner = { count_sent, ignore_applied, ignore, ignore, ignore };

static int open_node(const struct meta_members *members)
{
    struct meta_node_options options = {
        .clock = &manual.clock,
        .owner = &owner,
        .node_id = 1,
        .election_timeout_ms = 500,
        .heartbeat_ms = 50,
        .seed = 1,
        .members = members,
        .cluster_id = CLUSTER,
    };
    node = NULL;
    dir = NULL;
    int err = data_dir_open(&dir, fs_sim_fs(disk), "/node", why, sizeof why);
    options.dir = dir;
    return err == 0 ? meta_node_open(&node, &options, why, sizeof why) : err;
}

static void close_node(void)
{
    meta_node_close(node);
    data_dir_close(dir);
    node = NULL;
}

static void new_disk(void)
{
    disk = fs_sim_open(NULL);
    clock_manual_init(&manual, 1700000000000);
    sent = 0;
}

TEST(a_node_that_waits_to_be_taken_in_may_start_again_and_never_campaigns)
{
    static const struct meta_members nobody;
    new_disk();
    for (int life = 0; life < 3; life++) {
        assert_int_equal(open_node(&nobody), 0);
        assert_int_equal(meta_node_start(node), 0);
        for (int i = 0; i < 20; i++) {
            clock_manual_advance_ms(&manual, 1000);
            meta_node_tick(node);
        }
        assert_int_equal(meta_node_failed(node), 0);
        assert_int_equal(meta_core_role(meta_node_core(node)), META_FOLLOWER);
        assert_int_equal(meta_core_last_index(meta_node_core(node)), 0);
        close_node();
        fs_sim_cut_power(disk);
        fs_sim_restart(disk);
    }
    assert_int_equal(sent, 0);
    fs_sim_close(disk);
}

TEST(a_node_that_waits_and_lost_what_it_promised_does_not_start)
{
    static const struct meta_members nobody;
    new_disk();
    assert_int_equal(open_node(&nobody), 0);
    close_node();
    struct fs *fs = fs_sim_fs(disk);
    assert_int_equal(fs->remove(fs, "/node/quorum-state"), 0);
    assert_int_equal(open_node(&nobody), ERR_CORRUPT_MESSAGE);
    assert_non_null(strstr(why, "quorum-state"));
    close_node();
    fs_sim_close(disk);
}

/* Even if it was never started in between. */
TEST(a_voter_misses_its_first_entry_from_the_beginning)
{
    new_disk();
    assert_int_equal(open_node(NULL), 0);
    close_node();
    assert_int_equal(fs_remove_tree(fs_sim_fs(disk), LOG), 0);
    assert_int_equal(open_node(NULL), ERR_CORRUPT_MESSAGE);
    close_node();
    fs_sim_close(disk);
}

TEST(a_folder_whose_making_lost_power_at_any_point_is_made_anew)
{
    bool was_cut = true;
    for (long nth = 1; was_cut; nth++)
        for (uint64_t seed = 1; seed <= 8; seed++) {
            struct fs_sim_options options = { .seed = seed };
            disk = fs_sim_open(&options);
            clock_manual_init(&manual, 1700000000000);
            fs_sim_cut_power_at(disk, nth);
            was_cut = open_node(NULL) != 0;
            fs_sim_cut_power_at(disk, 0);
            fs_sim_cut_power(disk);
            close_node();
            fs_sim_restart(disk);
            if (open_node(NULL) != 0) fail_msg("change %ld, seed %d: %s", nth, (int)seed, why);
            close_node();
            fs_sim_close(disk);
        }
}
