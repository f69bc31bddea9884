// SPDX-License-Identifier: Apache-2.0
/* Quorums of metadata nodes in virtual time, by seed (docs/testing.md).
 *
 *     meta_sim [--nodes N] [--mode MODE] [--seed N [-v]] [--from N] [--seeds N] [--jobs N]
 *              [--control NAME] [--rules-off NAME,…] [--must-fail]
 *
 * --seed runs one, with -v it says what happens. --must-fail: exits with 0 if a seed failed, and stops
 * at the first that does: for what is broken on purpose. */

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workers.h"

struct arguments {
    struct workers_options workers;
    bool must_fail;
};

static int usage(const char *what)
{
    fprintf(stderr, "meta_sim: %s\n", what);
    return 2;
}

static bool take_one_mode(struct world_options *world, const char *mode)
{
    if (strcmp(mode, "disk") == 0) {
        world->has_disk_trouble = true;
    } else if (strcmp(mode, "snap") == 0) {
        world->has_snapshots = true;
    } else if (strcmp(mode, "members") == 0) {
        world->joiners = 2;
    } else if (strcmp(mode, "grow") == 0) {
        world->nodes = 1;
        world->joiners = 2;
        world->grows = true;
    } else {
        return strcmp(mode, "plain") == 0;
    }
    return true;
}

/* Several, with commas between. */
static bool take_mode(struct world_options *world, char *modes)
{
    bool is_known = true;
    for (char *mode = strtok(modes, ","); mode != NULL; mode = strtok(NULL, ","))
        is_known = take_one_mode(world, mode) && is_known;
    return is_known;
}

static bool take_control(struct world_options *world, const char *name)
{
    static const char *const names[] = { "none", "ack-early", "lose-vote", "lose-entry" };
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            world->control = (enum world_control)i;
            return true;
        }
    return false;
}

/* Names, with commas between. */
static bool take_rules(struct world_options *world, char *names)
{
    static const struct {
        const char *name;
        enum meta_rule rule;
    } rules[] = {
        { "R1", META_RULE_R1 },   { "R2", META_RULE_R2 },     { "R3", META_RULE_R3 },
        { "R4", META_RULE_R4 },   { "R5", META_RULE_R5 },     { "R6a", META_RULE_R6A },
        { "R6b", META_RULE_R6B }, { "R7a", META_RULE_R7A },   { "R7b", META_RULE_R7B },
        { "R7c", META_RULE_R7C }, { "R8", META_RULE_R8 },     { "R9", META_RULE_R9 },
        { "R10", META_RULE_R10 }, { "B15", META_RULE_B15 },   { "B16", META_RULE_B16 },
        { "B17", META_RULE_B17 }, { "push", META_RULE_PUSH }, { "disk", META_RULE_DISK },
    };
    for (char *name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
        uint32_t before = world->rules_off;
        for (unsigned i = 0; i < sizeof rules / sizeof rules[0]; i++)
            if (strcmp(name, rules[i].name) == 0) world->rules_off |= rules[i].rule;
        if (world->rules_off == before) return false;
    }
    return true;
}

static int take_arguments(struct arguments *arguments, int argc, char **argv)
{
    static const struct option options[] = {
        { "nodes", required_argument, NULL, 'n' },
        { "mode", required_argument, NULL, 'm' },
        { "seed", required_argument, NULL, 's' },
        { "from", required_argument, NULL, 'f' },
        { "seeds", required_argument, NULL, 'c' },
        { "jobs", required_argument, NULL, 'j' },
        { "control", required_argument, NULL, 'x' },
        { "must-fail", no_argument, NULL, 'e' },
        { "verbose", no_argument, NULL, 'v' },
        { "rules-off", required_argument, NULL, 'r' },
        { NULL, 0, NULL, 0 },
    };
    struct workers_options *workers = &arguments->workers;
    int option;
    *workers = (struct workers_options){ .first_seed = 1, .seed_count = 100, .processes = 2 };
    workers->world.nodes = 3;
    while ((option = getopt_long(argc, argv, "n:m:s:f:c:j:x:r:ev", options, NULL)) != -1) {
        switch (option) {
        case 'n': workers->world.nodes = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'm':
            if (!take_mode(&workers->world, optarg)) return usage("no such mode");
            break;
        case 's':
            workers->first_seed = strtoull(optarg, NULL, 10);
            workers->seed_count = 1;
            break;
        case 'f': workers->first_seed = strtoull(optarg, NULL, 10); break;
        case 'c': workers->seed_count = strtoull(optarg, NULL, 10); break;
        case 'j': workers->processes = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'x':
            if (!take_control(&workers->world, optarg)) return usage("no such control");
            break;
        case 'r':
            if (!take_rules(&workers->world, optarg)) return usage("no such rule");
            break;
        case 'e': arguments->must_fail = workers->stops_at_first = true; break;
        case 'v': workers->world.is_verbose = true; break;
        default: return 2;
        }
    }
    if (workers->world.nodes < 1 || workers->world.nodes + workers->world.joiners > WORLD_NODES)
        return usage("at most 7 nodes");
    return 0;
}

static int run_one(const struct arguments *arguments)
{
    struct world_counts counts;
    char why[400];
    bool was_kept = world_run(&arguments->workers.world, arguments->workers.first_seed, &counts,
                              why, sizeof why);
    printf("seed %" PRIu64 ": %s\n", arguments->workers.first_seed, was_kept ? "fine" : why);
    return was_kept ? 0 : 1;
}

static void print_result(const struct workers_result *result)
{
    const struct world_counts *counts = &result->counts;
    printf("%" PRIu64 " seeds, %" PRIu64 " failed: %" PRIu64 " commits, %" PRIu64 " told, %" PRIu64
           " elections, %" PRIu64 " changes of members, %" PRIu64 " snapshots restored, %" PRIu64
           " messages; %" PRIu64 " crashes: %" PRIu64 " of power, %" PRIu64
           " of a full disk, %" PRIu64 " of a failed sync\n",
           result->done, result->failed, counts->commits, counts->told, counts->elections,
           counts->changes, counts->restored, counts->messages, counts->crashes, counts->power_cuts,
           counts->full, counts->failed_syncs);
}

int main(int argc, char **argv)
{
    struct arguments arguments = { 0 };
    struct workers_result result;
    int status = take_arguments(&arguments, argc, argv);
    if (status != 0) return status;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (arguments.workers.world.is_verbose) return run_one(&arguments);
    workers_run(&arguments.workers, &result);
    print_result(&result);
    return (result.failed > 0) == arguments.must_fail ? 0 : 1;
}
