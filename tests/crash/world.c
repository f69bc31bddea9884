// SPDX-License-Identifier: Apache-2.0
/* A world through its lives. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "error.h"
#include "map.h"

#define BEGIN_MS 1700000000000

const char *const plant_names[PLANT_COUNT] = {
    [PLANT_NONE] = "none",
    [PLANT_SYNC_SKIPPED] = "sync-skipped",
    [PLANT_FOLDER_NOT_SYNCED] = "folder-not-synced",
    [PLANT_ACK_BEFORE_SYNC] = "ack-before-sync",
    [PLANT_POINT_BEFORE_INDEX] = "point-before-index",
    [PLANT_CLEANED_NOT_SYNCED] = "cleaned-not-synced",
    [PLANT_LAST_VALUE_GONE] = "last-value-gone",
    [PLANT_CLEANED_TOO_FAR] = "cleaned-too-far",
};

/* ---- chance and words */

/* splitmix64 */
uint64_t chance(struct world *world, uint64_t below)
{
    uint64_t z = world->chance += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return below == 0 ? 0 : z % below;
}

bool percent(struct world *world, unsigned of_hundred)
{
    return chance(world, 100) < of_hundred;
}

void say(const struct world *world, const char *format, ...)
{
    va_list arguments;

    if (!world->is_verbose) return;
    va_start(arguments, format);
    printf("  [%u] ", world->life);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

void promise(struct world *world, bool is_kept, const char *format, ...)
{
    va_list arguments;

    if (is_kept) return;
    va_start(arguments, format);
    vsnprintf(world->why, sizeof world->why, format, arguments);
    va_end(arguments);
    longjmp(world->broken, 1);
}

/* ---- what is there at the beginning */

static void choose_settings(struct world *world, struct topic_settings *settings)
{
    static const int32_t segment_bytes[] = { 1500, 4000, 20000, 40000, 100000 };

    topic_settings_defaults(settings);
    settings->segment_bytes = segment_bytes[chance(world, 5)];
    settings->index_interval_bytes = (int32_t)(50 + chance(world, 2000));
    if (percent(world, 20)) settings->segment_index_bytes = (int32_t)(60 + chance(world, 200));
    settings->retention_bytes = percent(world, 50) ? (int64_t)chance(world, 60000) : -1;
    settings->retention_ms = percent(world, 50) ? (int64_t)chance(world, 20000) : -1;
    settings->file_delete_delay_ms = percent(world, 50) ? 0 : (int64_t)chance(world, 5000);
    settings->log_append_time = percent(world, 10);
}

static void apply_plant(struct world *world)
{
    switch (world->plant) {
    case PLANT_SYNC_SKIPPED: fs_sim_ignore(world->disk, FS_SIM_SYNC, ".log"); break;
    case PLANT_FOLDER_NOT_SYNCED: fs_sim_ignore(world->disk, FS_SIM_SYNC_FOLDER, ""); break;
    case PLANT_POINT_BEFORE_INDEX:
        fs_sim_ignore(world->disk, FS_SIM_SYNC, ".index");
        fs_sim_ignore(world->disk, FS_SIM_SYNC, ".timeindex");
        fs_sim_ignore(world->disk, FS_SIM_SYNC, ".snapshot");
        break;
    case PLANT_CLEANED_NOT_SYNCED: fs_sim_ignore(world->disk, FS_SIM_SYNC, ".log.cleaned"); break;
    default: break;
    }
}

static const char *call_name(enum fs_sim_call call)
{
    switch (call) {
    case FS_SIM_CREATE: return "make";
    case FS_SIM_WRITE: return "write";
    case FS_SIM_TRUNCATE: return "truncate";
    case FS_SIM_RESERVE: return "reserve";
    case FS_SIM_SYNC: return "sync";
    case FS_SIM_SYNC_FOLDER: return "sync folder";
    case FS_SIM_MAKE_FOLDER: return "make folder";
    case FS_SIM_RENAME: return "rename";
    case FS_SIM_REMOVE: return "remove";
    default: return "call";
    }
}

static void note_read(void *context, const struct fs_sim_event *event)
{
    struct world *world = context;
    char folder[300];

    if ((event->call & FS_SIM_CHANGES) != 0 && world->shows_calls)
        say(world, "      %s %s %" PRId64 " %" PRId64, call_name(event->call), event->path,
            event->offset, event->length);
    if (!world->is_watching || event->call != FS_SIM_READ) return;
    size_t length = strlen(event->path);
    if (length < 24 || strcmp(event->path + length - 4, ".log") != 0) return;
    for (int i = 0; i < world->partition_count; i++) {
        struct partition *partition = &world->partitions[i];
        int folder_length = snprintf(folder, sizeof folder, WORLD_FOLDER "/%s-%d/",
                                     partition->topic, partition->number);
        if (strncmp(event->path, folder, (size_t)folder_length) != 0) continue;
        if (world->seen_count == world->seen_capacity) {
            world->seen_capacity = world->seen_capacity == 0 ? 64 : world->seen_capacity * 2;
            world->seen = realloc(world->seen, world->seen_capacity * sizeof *world->seen);
            if (world->seen == NULL) abort();
        }
        world->seen[world->seen_count++] = (struct log_read_seen){
            partition, strtoll(event->path + folder_length, NULL, 10), event->offset
        };
    }
}

void world_begin(struct world *world, uint64_t seed, enum plant plant, int verbose)
{
    static const char *const topics[WORLD_PARTITIONS] = { "orders", "orders", "a.b-c_d" };

    memset(world, 0, sizeof *world);
    world->seed = seed;
    world->chance = seed * 0x9e3779b97f4a7c15u + 1;
    world->plant = plant;
    world->is_verbose = verbose > 0;
    world->shows_calls = verbose > 1;
    map_seed(seed);
    world->disk = fs_sim_open(&(struct fs_sim_options){
        .seed = seed,
        .reads_are_cold = percent(world, 30),
    });
    world->fs = fs_sim_fs(world->disk);
    fs_sim_set_hook(world->disk, note_read, world);
    apply_plant(world);
    clock_manual_init(&world->clock, BEGIN_MS);
    world->partition_count = 1 + (int)chance(world, WORLD_PARTITIONS);
    world->key_count = 1 + (int)chance(world, WORLD_KEYS);
    for (int i = 0; i < world->partition_count; i++) {
        struct partition *partition = &world->partitions[i];
        partition->topic = topics[i];
        partition->number = i == 1 ? 1 : 0;
        memset(partition->id.bytes, i + 1, sizeof partition->id.bytes);
        choose_settings(world, &partition->settings);
        partition->is_compacted = percent(world, 50);
        partition->settings.delete_retention_ms = (int64_t)chance(world, 5000);
        if (percent(world, 30))
            partition->settings.min_compaction_lag_ms = 1 + (int64_t)chance(world, 3000);
        model_begin_at(partition, 0);
    }
    for (size_t i = 0; i < sizeof world->scratch / sizeof *world->scratch; i++)
        buffer_init(&world->scratch[i]);
}

void world_close(struct world *world)
{
    for (int i = 0; i < world->partition_count; i++) {
        partition_log_close(world->partitions[i].log);
        world->partitions[i].log = NULL;
    }
    data_dir_close(world->dir);
    world->dir = NULL;
}

void world_end(struct world *world)
{
    fs_sim_kill(world->disk);
    world_close(world);
    for (int i = 0; i < world->partition_count; i++) {
        struct partition *partition = &world->partitions[i];
        model_clear(&partition->batches);
        model_clear(&partition->refused);
        free(partition->batches.list);
        free(partition->refused.list);
    }
    for (size_t i = 0; i < sizeof world->scratch / sizeof *world->scratch; i++)
        buffer_close(&world->scratch[i]);
    free(world->seen);
    fs_sim_close(world->disk);
}

/* ---- a life */

int world_open_dir(struct world *world)
{
    char why[256];
    int err = data_dir_open(&world->dir, world->fs, WORLD_FOLDER, why, sizeof why);

    if (err == 0 && world->was_marked_clean)
        promise(world, data_dir_was_clean(world->dir), "a clean stop is known to be one");
    if (err == 0) {
        world->was_marked_clean = false;
        err = data_dir_begin(world->dir);
    }
    if (err == 0 && data_dir_identity(world->dir)->is_new)
        err = data_dir_set_identity(world->dir, "cluster", 1);
    bool has_more = true;
    while (err == 0 && has_more)
        err = data_dir_sweep_deleted(world->dir, UINT_MAX, &has_more);
    return err;
}

/* As the metadata would have it: a power cut may bring back the folder of a log that was deleted. */
static int give_up_earlier(struct world *world, const struct partition *partition)
{
    struct uuid id = partition->id; /* Its first byte counts, the others are as it was at first. */
    int err = 0;

    for (id.bytes[0] = id.bytes[1]; err == 0 && id.bytes[0] != partition->id.bytes[0];
         id.bytes[0]++) {
        err = partition_log_give_up(world->dir, partition->topic, partition->number, &id);
        if (err == ERR_INCONSISTENT_TOPIC_ID || err == ERR_NOT_FOUND || err == ERR_MALFORMED)
            err = 0;
    }
    return err;
}

int world_open_log(struct world *world, struct partition *partition,
                   struct partition_log_recovery *recovery)
{
    struct partition_log_open_options options = {
        .dir = world->dir,
        .clock = &world->clock.clock,
        .topic = partition->topic,
        .partition = partition->number,
        .topic_id = partition->id,
        .settings = partition->settings,
        .cut_only_from = -1,
    };

    partition->recovery_point = 0;
    data_dir_checkpoint(world->dir, CHECKPOINT_RECOVERY_POINT, partition->topic, partition->number,
                        &partition->recovery_point);
    return partition_log_open(&partition->log, &options, recovery);
}

/* As the broker does it with a folder that is not of this topic, or does not say so. */
static int open_or_begin_anew(struct world *world, struct partition *partition,
                              struct partition_log_recovery *recovery)
{
    bool was_deleted = partition->id.bytes[0] != partition->id.bytes[1];
    int err = world_open_log(world, partition, recovery);

    /* A folder that came back without files left its start, which is as good as any. */
    if (err == 0 && was_deleted && partition->end == 0 &&
        partition_log_start_offset(partition->log) > 0)
        model_begin_at(partition, partition_log_start_offset(partition->log));
    if (err != ERR_INCONSISTENT_TOPIC_ID) return err;
    promise(world, partition->durable <= partition->start,
            "%s-%d: a folder that was on disk up to %" PRId64 " is not known again",
            partition->topic, partition->number, partition->durable);
    err = data_dir_set_aside(world->dir, partition->topic, partition->number);
    if (err == 0)
        model_begin_at(partition, 0); /* Nothing is left, deleted records neither. */
    else /* So, or as it was: the fault may have come behind the rename. */
        partition->is_being_deleted = true;
    return err != 0 ? err : world_open_log(world, partition, recovery);
}

int world_stop_cleanly(struct world *world)
{
    int err = 0;

    for (int i = 0; i < world->partition_count && err == 0; i++)
        if (world->partitions[i].log != NULL)
            err = partition_log_checkpoint(world->partitions[i].log);
    for (int i = 0; i < world->partition_count && err == 0; i++) {
        struct partition *partition = &world->partitions[i];
        model_note_flushed(world, partition);
        partition_log_close(partition->log);
        partition->log = NULL;
        partition->durable = model_boundary(partition, partition->end);
        partition->may_read_again = false;
    }
    if (err == 0) err = data_dir_write_checkpoints(world->dir);
    if (err == 0) model_note_checkpoints(world);
    if (err == 0) err = data_dir_mark_clean(world->dir, 1);
    if (err == 0) world->was_marked_clean = true;
    return err;
}

/* A segment of which compaction has left nothing but a bare header has no time in its index, as one whose index
 * was lost: so the header is read. */
static int64_t readable_when_clean(const struct partition *partition)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < partition->batches.count; i++)
        if (partition->batches.list[i].record_count == 0) bytes += 2 * RECORD_BATCH_HEADER_SIZE;
    return bytes;
}

/* Opens everything and looks at it. False: it did not come so far, and for a reason. */
static bool begin_life(struct world *world)
{
    bool was_stopped = world->was_marked_clean;
    int err;

    fs_sim_forget_reads(world->disk);
    world->seen_count = 0;
    world->is_watching = true;
    err = world_open_dir(world);
    /* The sync at the start is tried again when it fails, but what it threw out of the page cache is gone. */
    if (fs_sim_has_failed(world->disk)) world->last_ending = ENDS_WITHOUT_POWER;
    for (int i = 0; i < world->partition_count && err == 0; i++) {
        struct partition_log_recovery recovery;
        struct partition *partition = &world->partitions[i];
        err = give_up_earlier(world, partition);
        if (err == 0) err = open_or_begin_anew(world, partition, &recovery);
        if (err != 0) break;
        if (was_stopped && !world->was_full) /* An index that found no room is looked at again. */
            promise(world, fs_sim_bytes_read(world->disk, ".log") <= readable_when_clean(partition),
                    "%s-%d: after a clean stop no data is read", partition->topic,
                    partition->number);
        world->is_watching = false;
        check_recovered(world, partition, &recovery);
        fs_sim_forget_reads(world->disk);
        world->is_watching = true;
    }
    world->is_watching = false;
    if (err == 0) check_reads_at_open(world);
    if (err == 0) return true;
    promise(world,
            fs_sim_is_off(world->disk) || fs_sim_has_failed(world->disk) || world->has_failed,
            "opening fails for no reason: %s", error_name(err));
    say(world, "opening ended with %s", error_name(err));
    return false;
}

void world_hold_fault(struct world *world)
{
    world->has_failed = world->has_failed || fs_sim_has_failed(world->disk);
    fs_sim_fail(world->disk, NULL);
}

void world_let_fault(struct world *world)
{
    if (!world->has_failed) fs_sim_fail(world->disk, &world->fault);
}

/* What will go wrong in this life. */
static void choose_fate(struct world *world)
{
    world->has_failed = false;
    world->fault = (struct fs_sim_fault){ 0 };
    if (percent(world, 50))
        fs_sim_cut_power_at(world->disk, 1 + (long)chance(world, percent(world, 40) ? 12 : 300));
    if (percent(world, 15)) {
        world->fault = (struct fs_sim_fault){
            .calls = percent(world, 60) ? FS_SIM_SYNC | FS_SIM_WRITE | FS_SIM_RENAME
                                        : FS_SIM_CHANGES | FS_SIM_READ | FS_SIM_OPEN,
            .nth = 1 + (long)chance(world, 150),
            .keeps_failing = percent(world, 50),
            .error = ERR_IO,
        };
    }
    fs_sim_fail(world->disk, &world->fault);
}

static void end_life(struct world *world)
{
    bool has_failed = world->has_failed || fs_sim_has_failed(world->disk);
    enum ending ending = fs_sim_is_off(world->disk) || has_failed ? ENDS_WITHOUT_POWER
                                                                  : (enum ending)chance(world, 3);
    /* What a failed sync left out is then in the page cache only. A disk that takes nothing any more is
     * taken away: nothing can be left on it for the next life to know that it failed. */
    bool outlives_failure = has_failed && !fs_sim_is_off(world->disk) &&
                            !world->fault.keeps_failing && percent(world, 70);

    /* A write that failed may have left a part of an index. */
    for (int i = 0; i < world->partition_count && has_failed; i++) {
        world->partitions[i].may_read_again = true;
        world->partitions[i].was_checkpointed = false;
    }
    fs_sim_cut_power_at(world->disk, 0);
    fs_sim_set_total_bytes(world->disk, 0);
    world->is_full = false;
    if (ending == ENDS_CLEAN) {
        fs_sim_fail(world->disk, NULL);
        int err = world_stop_cleanly(world);
        promise(world, err == 0, "a clean stop fails for no reason: %s", error_name(err));
        world_close(world);
        promise(world, fs_sim_open_files(world->disk) == 0, "%d files are left open",
                fs_sim_open_files(world->disk));
        say(world, "stopped cleanly");
        if (percent(world, 50)) fs_sim_cut_power(world->disk);
    } else if (ending == ENDS_KILLED || outlives_failure) {
        say(world, "killed%s", has_failed ? " after a failure" : "");
        fs_sim_kill(world->disk);
    } else {
        say(world, "power cut%s", has_failed ? " after a failure" : "");
        fs_sim_cut_power(world->disk);
    }
    world->last_ending = ending;
    world_close(world);
    fs_sim_restart(world->disk);
    promise(world, fs_sim_misuses(world->disk) == 0, "a descriptor is used that is not open");
}

static void run_lives(struct world *world)
{
    unsigned lives = 2 + (unsigned)chance(world, 4);

    for (world->life = 1; world->life <= lives; world->life++) {
        choose_fate(world);
        if (begin_life(world)) {
            unsigned actions = (unsigned)chance(world, 60);
            while (actions > 0 && act(world))
                actions--;
        }
        end_life(world);
    }
    /* Whatever it went through, it must be in order in the end. */
    fs_sim_fail(world->disk, NULL);
    world->fault = (struct fs_sim_fault){ 0 };
    world->has_failed = false;
    for (int i = 0; i < 2; i++, world->life++) {
        promise(world, begin_life(world), "the last opening fails");
        int err = world_stop_cleanly(world);
        promise(world, err == 0, "the last stop fails: %s", error_name(err));
        world->last_ending = ENDS_CLEAN;
        world_close(world);
    }
}

bool world_run(struct world *world, uint64_t seed, enum plant plant, int verbose)
{
    world_begin(world, seed, plant, verbose);
    bool is_kept = setjmp(world->broken) == 0;
    if (is_kept) run_lives(world);
    world_end(world);
    return is_kept;
}
