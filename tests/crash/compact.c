// SPDX-License-Identifier: Apache-2.0
/* Compaction among all that is done to a log. No key comes twice and nothing is aborted in the partitions
 * where it runs: so a pass must leave every batch as it is, whatever it is cut short by, while files are
 * replaced and segments become one. (What a pass takes away is the subject of test_compaction_crash.c.) */

#include "compaction.h"
#include "crash.h"
#include "error.h"

#define MAP_BYTES    (64 * 1024)
#define BUFFER_BYTES 4096

static bool is_cancelled(void *owner)
{
    struct world *world = owner;

    return chance(world, 500) == 0;
}

static void spend_nothing(void *owner, int64_t bytes)
{
    (void)owner;
    (void)bytes;
}

/* What the writer does between the steps of a pass. */
static int run_steps(struct world *world, struct partition *partition,
                     struct compaction *compaction)
{
    bool is_ready = true;
    int err = 0;

    while (err == 0 && is_ready) {
        err = compaction_next(compaction, &is_ready);
        if (percent(world, 20)) act_beside(world, partition);
        if (err == 0 && is_ready) err = compaction_swap(compaction);
        if (is_over(world)) break;
    }
    return err;
}

void act_compact(struct world *world, struct partition *partition)
{
    struct compaction *compaction = NULL;
    struct compaction_options options = {
        .below_offset = partition->end,
        .now_ms = clock_wall_ms(&world->clock.clock),
        .map_bytes = percent(world, 50) ? MAP_BYTES : 600 + (int64_t)chance(world, 3000),
        .map_load = 0.9,
        .buffer_bytes = BUFFER_BYTES,
        .owner = world,
        .is_cancelled = is_cancelled,
        .spend = spend_nothing,
    };

    if (!partition->is_compacted) return;
    int err = compaction_begin(&compaction, partition->log, &options);
    if (err == 0) err = run_steps(world, partition, compaction);
    compaction_close(compaction);
    say(world, "%s-%d: compacted: %s", partition->topic, partition->number, error_name(err));
    if (err == ERR_NOT_FOUND || err == ERR_CANCELED) return;
    expect(world, partition, err, "compaction");
    if (err == 0 && !is_over(world)) check_log(world, partition);
}
