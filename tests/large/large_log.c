// SPDX-License-Identifier: Apache-2.0
/* Does anything about a log cost more when it is large (DESIGN 4.2, 4.4)? Makes one of a gigabyte, looks at
 * it, lets it grow, and looks again: what a look-up reads, how much memory a log takes, what a clean start
 * opens, and what is read again after a kill. Only counts decide; times are printed beside them. */

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "batch_builder.h"
#include "clock.h"
#include "error.h"
#include "partition_log.h"
#include "sparse_fs.h"

#define TOPIC         "large"
#define START_MS      INT64_C(1700000000000)
#define LOOK_UPS      200
#define COLD_LOOK_UPS 20
#define KILL_BATCHES  50
#define GIGABYTE      INT64_C(1000000000)

static struct sparse_fs disk;
static struct options {
    const char *folder;
    int64_t bytes;
    int32_t batch_bytes;
    int32_t segment_bytes;
} options = { NULL, 100 * GIGABYTE, 65536, 512 << 20 };

static struct large {
    struct data_dir *dir;
    struct partition_log *log;
    struct partition_log_recovery recovery;
    struct topic_settings settings;
    struct buffer batch; /* Zeros, but for its head. */
    uint64_t chance;
} large;

static int failures;

static void die(const char *what, int err)
{
    fprintf(stderr, "large_log: %s: %s\n", what, error_text(err));
    exit(1);
}

static void must(const char *what, int err)
{
    if (err != 0) die(what, err);
}

static void expect(bool holds, const char *promise)
{
    printf("%s  %s\n", holds ? "ok    " : "FAILED", promise);
    if (!holds) failures++;
}

static int64_t chance(int64_t below)
{
    large.chance = large.chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((large.chance >> 33) % (uint64_t)below);
}

static double now_ms(void)
{
    return (double)clock_monotonic_us(clock_real()) / 1e3;
}

/* ---- the log */

static void open_log(void)
{
    struct partition_log_open_options open_options = {
        .dir = large.dir,
        .clock = clock_real(),
        .topic = TOPIC,
        .settings = large.settings,
        .cut_only_from = -1,
    };

    must("opening the log", partition_log_open(&large.log, &open_options, &large.recovery));
}

static void start(void)
{
    char why[256] = "";
    int err = data_dir_open(&large.dir, &disk.fs, options.folder, why, sizeof why);

    if (err == 0) err = data_dir_begin(large.dir);
    if (err != 0) die(why, err);
    open_log();
}

static void stop(void)
{
    must("a checkpoint", partition_log_checkpoint(large.log));
    partition_log_close(large.log);
    must("writing checkpoints", data_dir_write_checkpoints(large.dir));
    must("the clean marker", data_dir_mark_clean(large.dir, 1));
    data_dir_close(large.dir);
}

static int64_t end_offset(void)
{
    return partition_log_end_offset(large.log);
}

/* One millisecond and one record each. */
static void append_batches(int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        struct log_append *rest;
        struct log_append append = { .data = large.batch.data, .from_client = true };
        must("the header",
             record_batch_read_header(&append.batch, large.batch.data, large.batch.length));
        must("appending",
             partition_log_append(large.log, &append, 0, START_MS + end_offset(), true, &rest));
        must("the append", append.err);
    }
}

static void grow_to(int64_t bytes)
{
    while (partition_log_size_bytes(large.log) < bytes) {
        append_batches(4096);
        must("flushing", partition_log_flush(large.log));
    }
    must("a checkpoint", partition_log_checkpoint(large.log));
}

static void make_batch(void)
{
    struct batch_builder builder;
    uint8_t *zeros = calloc(1, (size_t)options.batch_bytes);

    if (zeros == NULL) die("a batch", ERR_NO_MEMORY);
    buffer_init(&large.batch);
    batch_builder_init(&builder);
    batch_builder_append(&builder, START_MS, BYTES_NULL,
                         (struct bytes){ zeros, options.batch_bytes - 80 }, NULL, 0);
    must("a batch", batch_builder_finish(&builder, &large.batch));
    batch_builder_close(&builder);
    free(zeros);
}

/* ---- what is measured */

struct cost {
    long reads_most, reads_sum;
    long bytes_most;
    double micros; /* On average. */
};

struct look {
    int64_t bytes;
    long segments;
    struct cost offset, offset_cold, time, time_first;
    size_t memory;
    double start_ms;
    long start_opens;
};

static long reads(void)
{
    return atomic_load(&disk.counts.log_reads) + atomic_load(&disk.counts.index_reads);
}

static long read_bytes(void)
{
    return atomic_load(&disk.counts.log_bytes) + atomic_load(&disk.counts.index_bytes);
}

static void find_offset(void)
{
    int64_t offset = chance(end_offset());
    struct log_read read = { .from_offset = offset,
                             .below_offset = INT64_MAX,
                             .max_bytes = 1,
                             .at_least_one = true,
                             .may_block = true };

    must("reading", partition_log_read(large.log, &read));
    if (read.next_offset != offset + 1)
        die("a read found another offset", ERR_UNKNOWN_SERVER_ERROR);
    file_slice_release(&read.slice);
}

static void find_time(void)
{
    int64_t offset = chance(end_offset());
    struct log_position position;

    must("looking for a time",
         partition_log_find_timestamp(large.log, START_MS + offset, INT64_MAX, true, &position));
    if (position.offset != offset) die("a time has another offset", ERR_UNKNOWN_SERVER_ERROR);
}

static struct cost measure(void (*look_up)(void), int count, bool is_cold)
{
    struct cost cost = { 0 };

    for (int i = 0; i < count; i++) {
        if (is_cold) { /* Nothing is open, and no block known. */
            partition_log_close(large.log);
            open_log();
        }
        sparse_fs_forget(&disk);
        double before = now_ms();
        look_up();
        cost.micros += (now_ms() - before) * 1000 / count;
        cost.reads_sum += reads();
        if (reads() > cost.reads_most) cost.reads_most = reads();
        if (read_bytes() > cost.bytes_most) cost.bytes_most = read_bytes();
    }
    return cost;
}

/* Stopped, started again cleanly, and looked at. */
static struct look look(const char *name)
{
    struct look seen = { .bytes = partition_log_size_bytes(large.log) };

    seen.segments = (long)(seen.bytes / options.segment_bytes) + 1;
    stop();
    size_t memory_before = mallinfo2().uordblks;
    sparse_fs_forget(&disk);
    double before = now_ms();
    start();
    seen.start_ms = now_ms() - before;
    seen.start_opens = atomic_load(&disk.counts.opens);
    seen.memory = mallinfo2().uordblks - memory_before;
    printf("%s: %.1f GB in about %ld segments\n", name, (double)seen.bytes / GIGABYTE,
           seen.segments);
    expect(atomic_load(&disk.counts.log_reads) == 0, "a clean start reads no log data");
    seen.offset_cold = measure(find_offset, COLD_LOOK_UPS, true);
    seen.offset = measure(find_offset, LOOK_UPS, false);
    seen.time_first = measure(find_time, 1, true);
    measure(find_time, LOOK_UPS, false); /* Now all segments' newest timestamps are known. */
    seen.time = measure(find_time, LOOK_UPS, false);
    return seen;
}

static void print_cost(const char *name, const struct cost *young, const struct cost *old,
                       int count)
{
    printf("%-28s %5.1f %5ld %7ld %8.1f   %5.1f %5ld %7ld %8.1f\n", name,
           (double)young->reads_sum / count, young->reads_most, young->bytes_most, young->micros,
           (double)old->reads_sum / count, old->reads_most, old->bytes_most, old->micros);
}

static void compare(const struct look *young, const struct look *old)
{
    printf("%-28s %28s   %28s\n", "", "young: reads most   bytes  µs",
           "old: reads most   bytes  µs");
    print_cost("offset, nothing open", &young->offset_cold, &old->offset_cold, COLD_LOOK_UPS);
    print_cost("offset", &young->offset, &old->offset, LOOK_UPS);
    print_cost("time, the first", &young->time_first, &old->time_first, 1);
    print_cost("time", &young->time, &old->time, LOOK_UPS);
    printf("%-28s %28zu   %28zu\n", "memory after a start", young->memory, old->memory);
    printf("%-28s %28.1f   %28.1f\n", "clean start, ms", young->start_ms, old->start_ms);
    printf("%-28s %28ld   %28ld\n", "files it opened", young->start_opens, old->start_opens);

    expect(old->offset_cold.reads_most <= young->offset_cold.reads_most + 1,
           "to find an offset where nothing is open costs the same");
    expect(old->offset.reads_most <= young->offset_cold.reads_most + 1,
           "to find an offset costs no more than that");
    /* One more for the offset index than a search for an offset. */
    expect(old->time.reads_most <= 2 * young->offset_cold.reads_most + 1,
           "to find a time costs twice as much at most");
    expect(old->time_first.reads_most <= 2 * young->offset_cold.reads_most + 1 + old->segments,
           "the first time reads the end of each time index in front besides");
    expect(old->memory <= young->memory + (size_t)old->segments * 512,
           "memory grows by less than 512 bytes a segment");
    expect(old->start_opens == young->start_opens, "a clean start opens the same number of files");
}

/* ---- a kill */

/* In a process of its own: appends, of which the first half is synced, and dies. */
static void be_killed(void)
{
    start();
    append_batches(KILL_BATCHES);
    must("a checkpoint", partition_log_checkpoint(large.log));
    must("writing checkpoints", data_dir_write_checkpoints(large.dir));
    append_batches(KILL_BATCHES);
    raise(SIGKILL);
}

static void kill_and_start(void)
{
    int64_t end = end_offset();
    int status = 0;

    stop();
    pid_t child = fork();
    if (child == 0) be_killed();
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
        die("the child was not killed", error_from_errno(errno));
    sparse_fs_forget(&disk);
    double before = now_ms();
    start();
    int64_t unsynced = (int64_t)KILL_BATCHES * (int64_t)large.batch.length;
    long segments = (long)(partition_log_size_bytes(large.log) / options.segment_bytes) + 1;
    printf("after a kill: %.1f ms, %ld bytes read of the log, of which %" PRId64
           " were not synced; %u indexes rebuilt\n",
           now_ms() - before, atomic_load(&disk.counts.log_bytes), unsynced,
           large.recovery.indexes_rebuilt);
    expect(end_offset() == end + 2 * KILL_BATCHES, "nothing of what was written is lost");
    expect(large.recovery.indexes_rebuilt == 0, "no index is taken for a bad one");
    /* Twice: headers are read before CRCs. Besides, the batch in front, and one header a segment. */
    expect(atomic_load(&disk.counts.log_bytes) <=
               2 * (unsynced + options.batch_bytes) + (segments + 1) * 100 + 4096,
           "only what was not synced is read again");
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        long value = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--folder") == 0)
            options.folder = argv[i + 1];
        else if (strcmp(argv[i], "--gigabytes") == 0)
            options.bytes = value * GIGABYTE;
        else if (strcmp(argv[i], "--batch-bytes") == 0)
            options.batch_bytes = (int32_t)value;
        else if (strcmp(argv[i], "--segment-bytes") == 0)
            options.segment_bytes = (int32_t)value;
    }
    if (options.folder == NULL || options.bytes <= 0 || options.batch_bytes < 200 ||
        options.segment_bytes < options.batch_bytes) {
        fprintf(stderr, "large_log --folder PATH [--gigabytes N] [--batch-bytes N] "
                        "[--segment-bytes N]\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    sparse_fs_init(&disk);
    topic_settings_defaults(&large.settings);
    large.settings.segment_bytes = options.segment_bytes;
    large.settings.log_append_time = true;
    large.settings.retention_ms = -1;
    make_batch();
    start();
    grow_to(GIGABYTE);
    struct look young = look("young");
    double before = now_ms();
    grow_to(options.bytes);
    printf("grown in %.1f s\n", (now_ms() - before) / 1000);
    struct look old = look("old");
    compare(&young, &old);
    kill_and_start();
    stop();
    buffer_close(&large.batch);
    return failures == 0 ? 0 : 1;
}
