// SPDX-License-Identifier: Apache-2.0
/* Logs on a disk that loses power, by seed.
 *
 *     crash [--seed N] [--seeds M] [--damage] [--plant NAME] [-v | -vv]
 *
 * Runs M seeds (1000) from N (0) on. A seed that breaks a promise is printed with what it broke, and the
 * program ends with 1. With --plant it is the other way round: the defect must be found, and in how many
 * seeds is printed. -v prints what happens, -vv
 * also what is done to the disk. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "trace.h"

struct wishes {
    uint64_t seed, seeds;
    bool damage;
    int verbose;
    enum plant plant;
};

static void drop_line(void *context, const char *line)
{
    (void)context;
    (void)line;
}

static bool parse_plant(const char *name, enum plant *plant)
{
    for (int i = 0; i < PLANT_COUNT; i++)
        if (strcmp(name, plant_names[i]) == 0) {
            *plant = (enum plant)i;
            return true;
        }
    return false;
}

static bool parse(struct wishes *wishes, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "-v") == 0) {
            wishes->verbose = 1;
        } else if (strcmp(argv[i], "-vv") == 0) {
            wishes->verbose = 2;
        } else if (strcmp(argv[i], "--damage") == 0) {
            wishes->damage = true;
        } else if (value != NULL && strcmp(argv[i], "--seed") == 0) {
            wishes->seed = strtoull(argv[++i], NULL, 10);
        } else if (value != NULL && strcmp(argv[i], "--seeds") == 0) {
            wishes->seeds = strtoull(argv[++i], NULL, 10);
        } else if (value != NULL && strcmp(argv[i], "--plant") == 0) {
            if (!parse_plant(argv[++i], &wishes->plant)) return false;
        } else {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct world world;
    struct wishes wishes = { .seeds = 1000 };
    uint64_t broken = 0;

    if (!parse(&wishes, argc, argv)) {
        fprintf(stderr,
                "usage: crash [--seed N] [--seeds M] [--damage] [--plant NAME] [-v | -vv]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!wishes.verbose) trace_set_sink(drop_line, NULL);
    for (uint64_t seed = wishes.seed; seed < wishes.seed + wishes.seeds; seed++) {
        bool is_kept = wishes.damage ? damage_run(&world, seed, wishes.verbose)
                                     : world_run(&world, seed, wishes.plant, wishes.verbose);
        if (is_kept) continue;
        broken++;
        if (wishes.plant == PLANT_NONE || wishes.verbose)
            printf("crash: seed %" PRIu64 "%s: %s\n", seed, wishes.damage ? " (--damage)" : "",
                   world.why);
    }
    if (wishes.plant != PLANT_NONE) {
        printf("crash: %s is found by %" PRIu64 " of %" PRIu64 " seeds\n",
               plant_names[wishes.plant], broken, wishes.seeds);
        return broken > 0 ? 0 : 1;
    }
    if (broken > 0)
        printf("crash: %" PRIu64 " of %" PRIu64 " seeds failed\n", broken, wishes.seeds);
    return broken > 0 ? 1 : 0;
}
