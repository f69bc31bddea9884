// SPDX-License-Identifier: Apache-2.0
/* What a broker does to its logs, by chance, and what must be the answer. */

#include <inttypes.h>
#include <string.h>

#include "batch_builder.h"
#include "crash.h"
#include "error.h"

/* ---- why an answer may be an error */

bool is_over(const struct world *world)
{
    return fs_sim_is_off(world->disk) || world->has_failed || fs_sim_has_failed(world->disk);
}

void expect(struct world *world, const struct partition *partition, int err, const char *doing)
{
    if (err == 0 || is_over(world)) return;
    promise(world, world->is_full && (err == ERR_NO_SPACE || err == ERR_KAFKA_STORAGE_ERROR),
            "%s-%d: %s fails for no reason: %s", partition->topic, partition->number, doing,
            error_name(err));
    promise(world, partition->log == NULL || partition_log_failed(partition->log) == 0,
            "%s-%d: a full disk is no failure, %s", partition->topic, partition->number, doing);
}

static struct partition *any_partition(struct world *world)
{
    struct partition *partition =
        &world->partitions[chance(world, (uint64_t)world->partition_count)];

    return partition->log == NULL ? NULL : partition;
}

/* ---- appending */

/* In a compacted partition most keys come again, but not those of producers, whose batches stay as they are for
 * what they tell of sequences. */
static bool choose_key(struct world *world, const struct partition *partition,
                       const struct batch_builder *builder, uint8_t key[8])
{
    bool comes_again = partition->is_compacted && builder->producer_id < 0 && percent(world, 70);

    store_i64(key, comes_again ? (int64_t)chance(world, (uint64_t)world->key_count)
                               : (int64_t)(chance(world, UINT64_MAX) >> 2) + WORLD_KEYS);
    return comes_again;
}

static void build(struct world *world, const struct partition *partition,
                  struct batch_builder *builder, struct buffer *out)
{
    static const uint8_t text[VALUE_BYTES_MAX] = "the value of a record";
    int64_t now_ms = clock_wall_ms(&world->clock.clock);
    int records = 1 + (int)chance(world, BATCH_RECORDS);
    bool is_large = percent(world, 40);

    out->length = 0;
    if (percent(world, 15)) builder->attributes |= CODEC_LZ4;
    for (int i = 0; i < records; i++) {
        uint8_t key[8];
        struct bytes value = { text, (int32_t)chance(world, is_large ? VALUE_BYTES_MAX : 60) };
        if (choose_key(world, partition, builder, key) && percent(world, 20)) value = BYTES_NULL;
        batch_builder_append(builder, now_ms + (int64_t)chance(world, 2000) - 1000,
                             (struct bytes){ key, sizeof key }, value, NULL, 0);
    }
    promise(world, batch_builder_finish(builder, out) == 0, "a batch can be built");
}

/* The next batch of a producer, as far as the log's end tells, or one of nobody. */
static void choose_producer(struct world *world, const struct partition *partition,
                            struct batch_builder *builder)
{
    int64_t id = (int64_t)chance(world, WORLD_PRODUCERS + 2);

    if (id >= WORLD_PRODUCERS) return;
    id += 1000;
    const struct model_batch *newest = model_newest(partition, id);
    builder->producer_id = id;
    builder->producer_epoch = newest == NULL ? 0 : newest->header.producer_epoch;
    builder->base_sequence = newest == NULL ? 0 : record_batch_last_sequence(&newest->header) + 1;
    /* What is known of a producer whose batches lie below the start is nobody's promise. */
    if (newest != NULL && (newest->base_offset < partition->highest_start || percent(world, 3))) {
        builder->producer_epoch++;
        builder->base_sequence = 0;
    }
    if (id % 2 == 0 && !partition->is_compacted) builder->attributes |= BATCH_TRANSACTIONAL;
}

static void prepare(struct world *world, struct log_append *append, struct buffer *data)
{
    *append = (struct log_append){ .data = data->data, .from_client = true };
    int err = record_batch_read_header(&append->batch, data->data, data->length);
    promise(world, err == 0, "a batch of ours has a header");
}

/* Appends a chain, first without waiting, then with it, as a loop does. */
static void append_chain(struct world *world, struct partition *partition, struct log_append *first)
{
    struct log_append *rest = first;
    int64_t now_ms = clock_wall_ms(&world->clock.clock);
    bool may_block = percent(world, 30);
    int err = partition_log_append(partition->log, first, partition->epoch, now_ms, may_block,
                                   &rest);

    if (err == ERR_NEEDS_IO && !may_block)
        err = partition_log_append(partition->log, rest, partition->epoch, now_ms, true, &rest);
    promise(world, err == 0 && rest == NULL, "every batch gets its answer: %s", error_name(err));
}

static void note_appended(struct world *world, struct partition *partition,
                          struct log_append *append)
{
    model_clear(&partition->refused);
    promise(world, append->base_offset >= partition->end,
            "%s-%d: offset %" PRId64 " is given a second time", partition->topic, partition->number,
            append->base_offset);
    model_add(world, &partition->batches, append->data, append->batch.size);
    const struct model_batch *batch = &partition->batches.list[partition->batches.count - 1];
    promise(world,
            batch->base_offset == append->base_offset && batch->last_offset == append->last_offset,
            "%s-%d: the answer has the batch's offsets", partition->topic, partition->number);
    partition->end = batch->last_offset + 1;
}

static void note_answers(struct world *world, struct partition *partition, struct log_append *first)
{
    bool is_refused = false;

    for (struct log_append *append = first; append != NULL; append = append->next) {
        if (append->err == ERR_RECORD_LIST_TOO_LARGE && append->from_client &&
            append->batch.size > (size_t)partition->settings.segment_bytes)
            continue;
        say(world,
            "  %" PRId64 " to %" PRId64 " of producer %" PRId64 ", epoch %d, sequence %d%s: %s",
            append->batch.base_offset, record_batch_last_offset(&append->batch),
            append->batch.producer_id, append->batch.producer_epoch, append->batch.base_sequence,
            append->batch.attributes & BATCH_TRANSACTIONAL ? ", transactional" : "",
            error_name(append->err));
        expect(world, partition, append->err, "an append");
        if (append->err != 0) {
            /* A write that failed may have got through all the same, until something overwrites it. */
            model_add(world, &partition->refused, append->data, append->batch.size);
            is_refused = true;
            partition->remembered_since = world->life + 1; /* Producers are read again. */
            continue;
        }
        promise(world, !is_refused, "%s-%d: a batch overtakes one that was refused",
                partition->topic, partition->number);
        promise(world, !append->is_repeat, "%s-%d: a new batch is taken for a repeat",
                partition->topic, partition->number);
        note_appended(world, partition, append);
    }
}

static void append_as_client(struct world *world, struct partition *partition)
{
    struct log_append appends[8];
    int count = 1 + (int)chance(world, 4);

    model_clear(&partition->refused);
    for (int i = 0; i < count; i++) {
        struct batch_builder builder;
        batch_builder_init(&builder);
        /* One of a producer is enough: what the next must be depends on whether it is taken. */
        if (i == 0) choose_producer(world, partition, &builder);
        build(world, partition, &builder, &world->scratch[i]);
        batch_builder_close(&builder);
        prepare(world, &appends[i], &world->scratch[i]);
        appends[i].next = i + 1 < count ? &appends[i + 1] : NULL;
    }
    if (percent(world, 3)) partition->epoch += 1 + (int32_t)chance(world, 3);
    append_chain(world, partition, appends);
    note_answers(world, partition, appends);
    say(world, "%s-%d: appended %d, first answer %s, end %" PRId64, partition->topic,
        partition->number, count, error_name(appends[0].err), partition->end);
}

/* A batch that has its offsets: a follower's copy, or a marker that ends a transaction. */
static void append_placed(struct world *world, struct partition *partition,
                          struct batch_builder *builder, struct buffer *data)
{
    struct log_append append;

    record_batch_set_position(data->data, builder->base_offset, partition->epoch);
    prepare(world, &append, data);
    append.from_client = false;
    model_clear(&partition->refused);
    append_chain(world, partition, &append);
    note_answers(world, partition, &append);
    say(world, "%s-%d: appended at %" PRId64 ": %s, end %" PRId64, partition->topic,
        partition->number, builder->base_offset, error_name(append.err), partition->end);
}

static void append_as_follower(struct world *world, struct partition *partition)
{
    struct batch_builder builder;

    batch_builder_init(&builder);
    choose_producer(world, partition, &builder);
    build(world, partition, &builder, &world->scratch[0]);
    builder.base_offset = partition->end;
    if (percent(world, 30))
        builder.base_offset += (int64_t)chance(world, 50); /* Compacted there. */
    append_placed(world, partition, &builder, &world->scratch[0]);
    batch_builder_close(&builder);
}

static void append_marker(struct world *world, struct partition *partition)
{
    struct batch_builder builder;
    uint8_t key[4], value[6];
    int64_t id = 1000 + (int64_t)chance(world, WORLD_PRODUCERS);
    const struct model_batch *newest = model_newest(partition, id);

    if (model_open_since(partition, id, 0) < 0 || newest == NULL) return;
    batch_builder_init(&builder);
    builder.attributes = BATCH_TRANSACTIONAL | BATCH_CONTROL;
    builder.producer_id = id;
    builder.producer_epoch = newest->header.producer_epoch;
    store_i16(key, 0);
    store_i16(key + 2, (int16_t)chance(world, 2));
    store_i16(value, 0);
    store_i32(value + 2, 1);
    batch_builder_append(&builder, clock_wall_ms(&world->clock.clock),
                         (struct bytes){ key, sizeof key }, (struct bytes){ value, sizeof value },
                         NULL, 0);
    world->scratch[0].length = 0;
    promise(world, batch_builder_finish(&builder, &world->scratch[0]) == 0,
            "a marker can be built");
    builder.base_offset = partition->end;
    append_placed(world, partition, &builder, &world->scratch[0]);
    batch_builder_close(&builder);
}

/* What a producer does that has not heard the answer. */
static void append_repeat(struct world *world, struct partition *partition)
{
    int64_t id = 1000 + (int64_t)chance(world, WORLD_PRODUCERS);
    const struct model_batch *newest = model_newest(partition, id);
    struct log_append append;

    if (newest == NULL || newest->base_offset < partition->highest_start ||
        newest->size > (size_t)partition->settings.segment_bytes)
        return;
    int64_t base_offset = newest->base_offset;
    world->scratch[0].length = 0;
    buffer_put(&world->scratch[0], newest->data, newest->size);
    record_batch_set_position(world->scratch[0].data, 0, 0);
    prepare(world, &append, &world->scratch[0]);
    append_chain(world, partition, &append);
    expect(world, partition, append.err, "a repeat");
    if (append.err != 0) return;
    promise(world, append.is_repeat && append.base_offset == base_offset,
            "%s-%d: a repeat of the batch at %" PRId64 " is answered with %" PRId64 "%s",
            partition->topic, partition->number, base_offset, append.base_offset,
            append.is_repeat ? "" : ", appended again");
}

/* ---- making it last */

static void flush(struct world *world, struct partition *partition)
{
    int err = partition_log_flush(partition->log);

    expect(world, partition, err, "a flush");
    say(world, "%s-%d: flushed: %s", partition->topic, partition->number, error_name(err));
    if (err == 0)
        promise(world, partition_log_flushed_offset(partition->log) == partition->end,
                "%s-%d: a flush reaches the end", partition->topic, partition->number);
}

static void checkpoint(struct world *world, struct partition *partition)
{
    int err = partition_log_checkpoint(partition->log);

    expect(world, partition, err, "a checkpoint");
    say(world, "%s-%d: checkpoint: %s", partition->topic, partition->number, error_name(err));
    if (err == 0) partition->was_checkpointed = true;
}

static void write_checkpoints(struct world *world, struct partition *partition)
{
    int err = data_dir_write_checkpoints(world->dir);

    expect(world, partition, err, "writing the checkpoints");
    say(world, "checkpoints written: %s", error_name(err));
    if (err == 0) model_note_checkpoints(world);
}

/* ---- taking away */

static void retain(struct world *world, struct partition *partition)
{
    int64_t next_ms;
    int64_t below = partition->start +
                    (int64_t)chance(world, (uint64_t)(partition->end - partition->start) + 1);
    int err = partition_log_retain(partition->log, percent(world, 50) ? partition->end : below,
                                   clock_wall_ms(&world->clock.clock), &next_ms);

    expect(world, partition, err, "retention");
    int64_t start = partition_log_start_offset(partition->log);
    if (err != 0 || start > partition->start) { /* A power cut may bring back a part of it. */
        partition->may_read_again = true;
        partition->was_checkpointed = false;
    }
    say(world, "%s-%d: retention: %s, start %" PRId64, partition->topic, partition->number,
        error_name(err), start);
    promise(world, start >= partition->start && start <= partition->end,
            "%s-%d: retention moves the start from %" PRId64 " to %" PRId64, partition->topic,
            partition->number, partition->start, start);
    partition->start = start;
}

static void raise_start(struct world *world, struct partition *partition)
{
    int64_t to = partition->start +
                 (int64_t)chance(world, (uint64_t)(partition->end - partition->start) + 1);
    int err = partition_log_raise_start(partition->log, to);

    expect(world, partition, err, "raising the start");
    say(world, "%s-%d: start raised to %" PRId64, partition->topic, partition->number, to);
    if (err == 0) partition->start = to;
}

static void truncate_log(struct world *world, struct partition *partition)
{
    int64_t length = partition->end - partition->start;
    int64_t back = (int64_t)chance(world, percent(world, 70) ? (uint64_t)(length / 4 + 1)
                                                             : (uint64_t)length + 1);
    int64_t to = partition->end - back;

    /* Where the log ends afterwards depends on what a pass has left in front of it. */
    if (partition->is_compacted) check_log(world, partition);
    if (is_over(world)) return;
    int err = partition_log_truncate(partition->log, to);

    expect(world, partition, err, "truncation");
    say(world, "%s-%d: truncated to %" PRId64 ": %s", partition->topic, partition->number, to,
        error_name(err));
    if (to >= partition->end) return;
    partition->may_read_again = true;
    partition->was_checkpointed = false;
    partition->remembered_since = world->life + 1;
    if (err == 0) {
        model_clear(&partition->refused);
        model_cut(partition, to);
        promise(world, partition_log_end_offset(partition->log) == to,
                "%s-%d: a truncated log ends where it was cut", partition->topic,
                partition->number);
    } else {
        int64_t boundary = model_boundary(partition, to);
        if (partition->durable > boundary) partition->durable = boundary;
    }
}

static void restart_at(struct world *world, struct partition *partition)
{
    int64_t to = percent(world, 50) ? partition->end + (int64_t)chance(world, 1000)
                                    : (int64_t)chance(world, (uint64_t)partition->end + 1);
    if (to == partition->end) to++; /* What a crash leaves could not be told from an emptied log. */
    int err = partition_log_restart_at(partition->log, to);

    expect(world, partition, err, "beginning anew");
    say(world, "%s-%d: restarted at %" PRId64 ": %s", partition->topic, partition->number, to,
        error_name(err));
    if (err == 0)
        model_begin_at(partition, to);
    else if (is_over(world))
        partition->restarting_at = to;
}

static void delete_log(struct world *world, struct partition *partition)
{
    struct partition_log_recovery recovery;
    int err = partition_log_delete(partition->log);

    partition->log = NULL;
    expect(world, partition, err, "deletion");
    say(world, "%s-%d: deleted: %s", partition->topic, partition->number, error_name(err));
    if (err != 0) {
        partition->is_being_deleted = true;
        return;
    }
    if (percent(world, 50)) {
        bool has_more;
        err = data_dir_sweep_deleted(world->dir, 1 + (unsigned)chance(world, 3), &has_more);
        expect(world, partition, err, "the sweep");
    }
    model_begin_at(partition, 0);
    partition->epoch = 0;
    partition->id.bytes[0]++;
    err = world_open_log(world, partition, &recovery);
    expect(world, partition, err, "making a log");
    if (err == 0) check_recovered(world, partition, &recovery);
}

/* ---- the rest of the world */

static void change_settings(struct world *world, struct partition *partition)
{
    partition->settings.segment_bytes = (int32_t)(BATCH_BYTES_MAX + chance(world, 40000));
    partition->settings.retention_bytes = percent(world, 50) ? (int64_t)chance(world, 60000) : -1;
    partition_log_set_settings(partition->log, &partition->settings);
}

static void fill_or_empty(struct world *world)
{
    int64_t room = (int64_t)chance(world, 6) * 4096;

    world->is_full = !world->is_full;
    world->was_full = world->was_full || world->is_full;
    fs_sim_set_total_bytes(world->disk,
                           world->is_full ? fs_sim_used_bytes(world->disk) + room + 4096 : 0);
    say(world, world->is_full ? "the disk gets full" : "there is room again");
}

static void read_some(struct world *world, struct partition *partition)
{
    int64_t next_offset;
    int64_t length = partition->end - partition->start;
    int64_t from = partition->start + (int64_t)chance(world, (uint64_t)length + 1);

    world->scratch[7].length = 0;
    int err = read_range(world, partition, from, (size_t)chance(world, 20000), &world->scratch[7],
                         &next_offset);
    expect(world, partition, err, "a read");
    if (err == 0)
        promise(world, next_offset >= from && next_offset <= partition->end,
                "%s-%d: a read from %" PRId64 " goes on at %" PRId64, partition->topic,
                partition->number, from, next_offset);
}

/* What a failed log must answer. */
static void check_failed(struct world *world)
{
    for (int i = 0; i < world->partition_count; i++) {
        struct partition *partition = &world->partitions[i];
        struct log_append append;
        struct log_append *rest;
        struct batch_builder builder;
        int64_t next_offset;
        if (partition->log == NULL || partition_log_failed(partition->log) == 0) continue;
        batch_builder_init(&builder);
        build(world, partition, &builder, &world->scratch[0]);
        batch_builder_close(&builder);
        prepare(world, &append, &world->scratch[0]);
        int err = partition_log_append(partition->log, &append, partition->epoch, 0, true, &rest);
        promise(world, err == 0 && append.err == ERR_KAFKA_STORAGE_ERROR,
                "%s-%d: a log that failed takes no batch", partition->topic, partition->number);
        err = read_range(world, partition, partition->start, 1000, &world->scratch[7],
                         &next_offset);
        promise(world, err == ERR_KAFKA_STORAGE_ERROR, "%s-%d: a log that failed shows nothing",
                partition->topic, partition->number);
    }
}

struct action {
    unsigned weight;
    void (*take)(struct world *world, struct partition *partition);
};

static const struct action actions[] = {
    { 40, append_as_client },
    { 8, append_as_follower },
    { 6, append_marker },
    { 4, append_repeat },
    { 12, flush },
    { 6, checkpoint },
    { 5, write_checkpoints },
    { 6, retain },
    { 3, raise_start },
    { 5, truncate_log },
    { 1, restart_at },
    { 1, delete_log },
    { 2, change_settings },
    { 8, act_compact },
    { 8, read_some },
    { 2, check_log },
};

void act_beside(struct world *world, struct partition *partition)
{
    static void (*const beside[])(struct world *, struct partition *) = {
        append_as_client, append_as_client, flush, checkpoint, retain, truncate_log,
    };

    if (!is_over(world)) beside[chance(world, sizeof beside / sizeof *beside)](world, partition);
}

bool act(struct world *world)
{
    struct partition *partition = any_partition(world);
    unsigned total = 0;

    if (percent(world, 4)) fill_or_empty(world);
    clock_manual_advance_ms(&world->clock, (int64_t)chance(world, percent(world, 5) ? 5000 : 50));
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        total += actions[i].weight;
    unsigned at = (unsigned)chance(world, total);
    if (partition == NULL) return !is_over(world);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (at < actions[i].weight) {
            actions[i].take(world, partition);
            break;
        }
        at -= actions[i].weight;
    }
    if (partition->highest_start < partition->start) partition->highest_start = partition->start;
    if (fs_sim_is_off(world->disk)) return false;
    if (partition->log != NULL && !is_over(world)) {
        promise(world, partition_log_end_offset(partition->log) == partition->end,
                "%s-%d: the log ends at %" PRId64 ", should end at %" PRId64, partition->topic,
                partition->number, partition_log_end_offset(partition->log), partition->end);
        model_note_flushed(world, partition);
    }
    if (!is_over(world)) return true;
    check_failed(world);
    return false;
}
