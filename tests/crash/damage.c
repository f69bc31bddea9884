// SPDX-License-Identifier: Apache-2.0
/* Files that somebody damaged while the broker was down: torn, cut, lengthened, emptied, removed, bits turned
 * over. Whatever it is, opening ends well or says why not, what lies above the recovery point is right or
 * not there, and what can be built again from the data is. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "crash.h"
#include "error.h"
#include "trace.h"

enum damaged_kind {
    DAMAGED_LOG,
    DAMAGED_INDEX,
    DAMAGED_TIME_INDEX,
    DAMAGED_TXN_INDEX,
    DAMAGED_SNAPSHOT,
    DAMAGED_EPOCHS,
    DAMAGED_METADATA,
    DAMAGED_CHECKPOINT,
    DAMAGED_IDENTITY,
    DAMAGED_COUNT
};

static const char *const suffixes[DAMAGED_COUNT] = {
    [DAMAGED_LOG] = ".log",
    [DAMAGED_INDEX] = ".index",
    [DAMAGED_TIME_INDEX] = ".timeindex",
    [DAMAGED_TXN_INDEX] = ".txnindex",
    [DAMAGED_SNAPSHOT] = ".snapshot",
    [DAMAGED_EPOCHS] = "leader-epoch-checkpoint",
    [DAMAGED_METADATA] = "partition.metadata",
    [DAMAGED_CHECKPOINT] = "-offset-checkpoint",
    [DAMAGED_IDENTITY] = "meta.properties",
};

static unsigned lines; /* In the trace, since something was opened. */

static void count_line(void *context, const char *line)
{
    const struct world *world = context;

    lines++;
    say(world, "%s", line);
}

/* ---- choosing a file */

struct choice {
    struct world *world;
    const char *folder;
    const char *suffix;
    uint64_t seen;
    char path[PATH_MAX];
};

static int look_at_file(void *context, const struct fs_entry *entry)
{
    struct choice *choice = context;
    size_t length = strlen(entry->name);
    size_t suffix_length = strlen(choice->suffix);

    if (entry->is_folder || length < suffix_length ||
        strcmp(entry->name + length - suffix_length, choice->suffix) != 0)
        return 0;
    choice->seen++;
    if (chance(choice->world, choice->seen) != 0) return 0; /* Each is as likely. */
    return fs_path(choice->path, "%s/%s", choice->folder, entry->name);
}

static bool choose_file(struct world *world, const struct partition *partition,
                        enum damaged_kind kind, char path[PATH_MAX])
{
    char folder[PATH_MAX];
    bool exists = false;
    bool is_shared = kind == DAMAGED_CHECKPOINT || kind == DAMAGED_IDENTITY;
    int err = is_shared
                  ? fs_path(folder, WORLD_FOLDER)
                  : fs_path(folder, WORLD_FOLDER "/%s-%d", partition->topic, partition->number);
    struct choice choice = { .world = world, .folder = folder, .suffix = suffixes[kind] };

    if (err == 0) err = world->fs->exists(world->fs, folder, &exists);
    if (err == 0 && exists) err = world->fs->list(world->fs, folder, look_at_file, &choice);
    promise(world, err == 0, "a folder can be listed: %s", error_name(err));
    memcpy(path, choice.path, sizeof choice.path);
    return choice.seen > 0;
}

/* ---- damaging it */

/* Returns whether all that is left of the file is in front of the damage. */
static bool change_bytes(struct world *world, char *data, size_t *length, size_t room)
{
    size_t at = (size_t)chance(world, *length);
    unsigned how = (unsigned)chance(world, 6);

    switch (how) {
    case 0: data[at] = (char)(data[at] ^ (1 << chance(world, 8))); break;
    case 1: *length = at; break;
    case 2: memset(data + at, 0, *length - at); break;
    case 3:
        for (; at < *length && !percent(world, 3); at++)
            data[at] = (char)chance(world, 256);
        break;
    case 4:
        for (; *length < room; ++*length)
            data[*length] = (char)chance(world, 256);
        break;
    default: *length = 0; break;
    }
    return how == 1 || how == 2 || how == 4 || how == 5;
}

/* Returns whether what is left of the file lies in front of the damage. */
static bool damage(struct world *world, const char *path, enum damaged_kind kind)
{
    char *text = NULL;
    size_t length = 0;
    size_t more = (size_t)chance(world, 200);

    if (percent(world, 10)) {
        say(world, "%s is removed", path);
        promise(world, world->fs->remove(world->fs, path) == 0, "a file can be removed");
        return true;
    }
    if (kind < DAMAGED_METADATA && kind != DAMAGED_LOG && percent(world, 10)) {
        say(world, "%s is a folder", path);
        promise(world,
                world->fs->remove(world->fs, path) == 0 &&
                    world->fs->make_folder(world->fs, path) == 0,
                "a folder can take the place of a file");
        return true;
    }
    int err = fs_read_file(world->fs, path, 1 << 20, &text, &length);
    promise(world, err == 0, "a file can be read: %s", error_name(err));
    char *data = malloc(length + more + 1);
    if (data == NULL) abort();
    memcpy(data, text, length);
    mem_free(text);
    size_t before = length;
    bool is_at_end = length == 0 || change_bytes(world, data, &length, length + more);
    say(world, "%s is damaged: %zu bytes, were %zu", path, length, before);
    err = fs_write_file(world->fs, path, data, length, true);
    free(data);
    promise(world, err == 0, "a file can be written: %s", error_name(err));
    return is_at_end;
}

/* ---- looking at what is left */

/* Offset and leader epoch lie before what the CRC covers: a bit of them that turns over is not always seen.
 * All the rest must be that of one batch. */
static bool is_same_batch(const struct model_batch *expected, const uint8_t *data, size_t size)
{
    return expected->size == size && memcmp(expected->data + 8, data + 8, 4) == 0 &&
           memcmp(expected->data + 16, data + 16, size - 16) == 0;
}

static bool was_appended(const struct partition *partition, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < partition->batches.count; i++)
        if (is_same_batch(&partition->batches.list[i], data, size)) return true;
    return false;
}

/* All that is read from `from` on must be what was appended; how far it goes. */
static void check_right(struct world *world, struct partition *partition, int64_t from)
{
    int64_t end = partition_log_end_offset(partition->log);
    struct buffer *data = &world->scratch[7];

    for (int64_t at = from; at < end;) {
        int64_t next = at;
        data->length = 0;
        int err = read_range(world, partition, at, 60000, data, &next);
        promise(world, err == 0, "%s-%d: reading at %" PRId64 " fails: %s", partition->topic,
                partition->number, at, error_name(err));
        for (size_t done = 0; done < data->length;) {
            struct record_batch batch;
            err = record_batch_read_header(&batch, data->data + done, data->length - done);
            promise(world, err == 0 && batch.size <= data->length - done,
                    "%s-%d: what is read at %" PRId64 " is no batch", partition->topic,
                    partition->number, at);
            promise(world, was_appended(partition, data->data + done, batch.size),
                    "%s-%d: the batch at %" PRId64 " is not what was appended", partition->topic,
                    partition->number, batch.base_offset);
            done += batch.size;
        }
        if (next <= at) break;
        at = next;
    }
}

/* Headers of whole batches, and nothing else? */
static bool are_batches(const struct buffer *data)
{
    size_t done = 0;

    while (done < data->length) {
        struct record_batch batch;
        if (record_batch_read_header(&batch, data->data + done, data->length - done) != 0 ||
            batch.size > data->length - done)
            return false;
        done += batch.size;
    }
    return true;
}

/* What damaged data answers must only end, and be no more than it is. What lies behind the last whole batch of
 * a segment is no answer. */
static void use_it_all(struct world *world, struct partition *partition, bool is_at_end)
{
    struct log_position position;
    int64_t at = partition_log_start_offset(partition->log);
    int64_t end = partition_log_end_offset(partition->log);
    int64_t next = at;

    for (int turns = 0; at < end && turns < 10000; turns++) {
        struct buffer *data = &world->scratch[7];
        data->length = 0;
        int err = read_range(world, partition, at, percent(world, 50) ? 5000 : 60000, data, &next);
        promise(world, err != 0 || !is_at_end || are_batches(data),
                "%s-%d: what is read at %" PRId64 " is no batch, and goes to a client",
                partition->topic, partition->number, at);
        at = err == 0 && next > at ? next : at + 1;
    }
    partition_log_find_timestamp(partition->log, clock_wall_ms(&world->clock.clock), end, true,
                                 &position);
    partition_log_find_max_timestamp(partition->log, end, true, &position);
}

/* Derived from the data, and checked against it or against a checksum of its own. */
static bool is_built_again(enum damaged_kind kind)
{
    return kind == DAMAGED_INDEX || kind == DAMAGED_SNAPSHOT;
}

static void check_damaged(struct world *world, struct partition *partition, enum damaged_kind kind,
                          bool is_at_end, int64_t trusted, int opened)
{
    /* Another topic's folder is put aside by the caller, who then says so. */
    promise(world, opened == 0 || lines > 0 || opened == ERR_INCONSISTENT_TOPIC_ID,
            "%s-%d: opening fails with %s and without a word", partition->topic, partition->number,
            error_name(opened));
    promise(world,
            opened == 0 || opened == ERR_CORRUPT_MESSAGE || opened == ERR_INCONSISTENT_TOPIC_ID ||
                opened == ERR_MALFORMED,
            "%s-%d: opening damaged files fails with %s", partition->topic, partition->number,
            error_name(opened));
    promise(world, opened == 0 || !is_built_again(kind), "%s-%d: damage to a %s is fatal",
            partition->topic, partition->number, suffixes[kind]);
    if (opened != 0) return;
    int64_t start = partition_log_start_offset(partition->log);
    int64_t end = partition_log_end_offset(partition->log);
    if (kind != DAMAGED_LOG && kind != DAMAGED_CHECKPOINT) {
        /* A gap at the end, left by a cut, is nobody's. */
        promise(world,
                end <= partition->end && end >= model_boundary(partition, partition->end) &&
                    start <= partition->start,
                "%s-%d: damage to a %s changes the range: %" PRId64 " to %" PRId64,
                partition->topic, partition->number, suffixes[kind], start, end);
        check_right(world, partition, start);
    } else if (kind == DAMAGED_LOG) {
        check_right(world, partition, trusted > start ? trusted : start);
    }
    use_it_all(world, partition, is_at_end || kind != DAMAGED_LOG);
}

/* ---- a seed */

static void live(struct world *world)
{
    struct partition_log_recovery recovery;
    int err = world_open_dir(world);

    for (int i = 0; i < world->partition_count && err == 0; i++)
        err = world_open_log(world, &world->partitions[i], &recovery);
    promise(world, err == 0, "opening fails: %s", error_name(err));
    unsigned actions = 20 + (unsigned)chance(world, 80);
    while (actions-- > 0)
        promise(world, act(world), "a life without faults ends");
    fs_sim_set_total_bytes(world->disk, 0);
    for (int i = 0; i < world->partition_count;
         i++) /* The model learns what compaction has left. */
        if (world->partitions[i].log != NULL) check_log(world, &world->partitions[i]);
    if (percent(world, 50)) {
        err = world_stop_cleanly(world);
    } else {
        for (int i = 0; i < world->partition_count && err == 0; i++)
            if (world->partitions[i].log != NULL)
                err = partition_log_flush(world->partitions[i].log);
        fs_sim_kill(world->disk);
    }
    promise(world, err == 0, "the life does not end well: %s", error_name(err));
    world_close(world);
    fs_sim_restart(world->disk);
    world->was_marked_clean = false; /* Damage to a checkpoint is a reason to doubt the stop. */
}

static void run_damage(struct world *world)
{
    enum damaged_kind kind = (enum damaged_kind)chance(world, DAMAGED_COUNT);
    struct partition_log_recovery recovery;
    char path[PATH_MAX];
    char why[256];

    live(world);
    struct partition *partition =
        &world->partitions[chance(world, (uint64_t)world->partition_count)];
    if (!choose_file(world, partition, kind, path)) return;
    bool is_at_end = damage(world, path, kind);

    lines = 0;
    int err = data_dir_open(&world->dir, world->fs, WORLD_FOLDER, why, sizeof why);
    promise(world, err == 0 || why[0] != '\0', "a data folder is refused without a word");
    promise(world, err == 0 || kind == DAMAGED_CHECKPOINT || kind == DAMAGED_IDENTITY,
            "damage to a %s is fatal to its data folder: %s", suffixes[kind], why);
    if (err != 0) return;
    promise(world, data_dir_begin(world->dir) == 0, "a data folder begins");
    err = world_open_log(world, partition, &recovery);
    int64_t trusted = partition->recovery_point;
    check_damaged(world, partition, kind, is_at_end, trusted, err);
    world_close(world);
}

bool damage_run(struct world *world, uint64_t seed, int verbose)
{
    world_begin(world, seed, PLANT_NONE, verbose);
    world->life = 1;
    world->keeps_power = true;
    trace_set_sink(count_line, world);
    bool is_kept = setjmp(world->broken) == 0;
    if (is_kept) run_damage(world);
    world_end(world);
    return is_kept;
}
