// SPDX-License-Identifier: Apache-2.0
/* Quorums of metadata nodes in virtual time, by seed (docs/testing.md).
 *
 *     meta_sim [--nodes N] [--mode MODE] [--seed N [-v]] [--from N] [--seeds N] [--jobs N]
 *              [--control NAME] [--must-fail]
 *
 * --seed runs one, with -v it says what happens. --must-fail: exits with 0 if a seed failed, and stops
 * at the first that does: for what is broken on purpose. */

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"
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

static bool take_mode(struct world_options *world, const char *mode)
{
    if (strcmp(mode, "plain") == 0) return true;
    world->has_snapshots = true;
    if (strcmp(mode, "snap") == 0) return true;
    world->has_snapshots = false;
    if (strcmp(mode, "disk") != 0) return false;
    world->has_disk_trouble = true;
    return true;
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

static int take_arguments(struct arguments *arguments, int argc, char **argv)
{
    static const struct option options[] = {
        { "nodes", required_argument, NULL, 'n' },   { "mode", required_argument, NULL, 'm' },
        { "seed", required_argument, NULL, 's' },    { "from", required_argument, NULL, 'f' },
        { "seeds", required_argument, NULL, 'c' },   { "jobs", required_argument, NULL, 'j' },
        { "control", required_argument, NULL, 'x' }, { "must-fail", no_argument, NULL, 'e' },
        { "verbose", no_argument, NULL, 'v' },       { NULL, 0, NULL, 0 },
    };
    struct workers_options *workers = &arguments->workers;
    int option;
    *workers = (struct workers_options){ .first_seed = 1, .seed_count = 100, .processes = 2 };
    workers->world.nodes = 3;
    while ((option = getopt_long(argc, argv, "n:m:s:f:c:j:x:ev", options, NULL)) != -1) {
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
        case 'e': arguments->must_fail = workers->stops_at_first = true; break;
        case 'v': workers->world.is_verbose = true; break;
        default: return 2;
        }
    }
    if (workers->world.nodes < 1 || workers->world.nodes > WORLD_NODES)
        return usage("1 to 7 nodes");
    return 0;
}

static void drop_line(void *context, const char *line)
{
    (void)context;
    (void)line;
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

int main(int argc, char **argv)
{
    struct arguments arguments = { 0 };
    struct workers_result result;
    int status = take_arguments(&arguments, argc, argv);
    if (status != 0) return status;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (arguments.workers.world.is_verbose) return run_one(&arguments);
    trace_set_sink(drop_line, NULL);
    workers_run(&arguments.workers, &result);
    printf("%" PRIu64 " seeds, %" PRIu64 " failed: %" PRIu64 " commits, %" PRIu64 " told, %" PRIu64
           " elections, %" PRIu64 " crashes (%" PRIu64 " of power, %" PRIu64
           " of a full disk, %" PRIu64 " of a failed sync), %" PRIu64
           " snapshots restored, %" PRIu64 " messages\n",
           result.done, result.failed, result.counts.commits, result.counts.told,
           result.counts.elections, result.counts.crashes, result.counts.power_cuts,
           result.counts.full, result.counts.failed_syncs, result.counts.restored,
           result.counts.messages);
    return (result.failed > 0) == arguments.must_fail ? 0 : 1;
}
