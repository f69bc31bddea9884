// SPDX-License-Identifier: Apache-2.0
/* Does the log agree with its model? */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "error.h"

#define NAME          "%s-%d: "
#define OF(partition) (partition)->topic, (partition)->number

/* The first batch that ends at or above `offset`, by index. */
static size_t batch_at(const struct partition *partition, int64_t offset)
{
    size_t index = 0;

    while (index < partition->batches.count && partition->batches.list[index].last_offset < offset)
        index++;
    return index;
}

int read_range(struct world *world, struct partition *partition, int64_t from, size_t max_bytes,
               struct buffer *out, int64_t *next_offset)
{
    struct log_read read = {
        .from_offset = from,
        .below_offset = INT64_MAX,
        .max_bytes = max_bytes,
        .at_least_one = true,
        .may_block = percent(world, 50),
    };
    size_t got = 0;
    int err = partition_log_read(partition->log, &read);

    if (err == ERR_NEEDS_IO && !read.may_block) {
        read.may_block = true;
        err = partition_log_read(partition->log, &read);
    }
    if (err != 0) return err;
    if (read.slice.length > 0) {
        uint8_t *to = buffer_extend(out, read.slice.length);
        promise(world, to != NULL, "memory");
        err = world->fs->read(world->fs, read.slice.fd, to, read.slice.length, read.slice.offset,
                              &got);
        if (err == 0 && got != read.slice.length) err = ERR_CORRUPT_MESSAGE;
    }
    file_slice_release(&read.slice);
    *next_offset = read.next_offset;
    return err;
}

/* All batches from the start to the end, in world->scratch[7]. */
static void read_all(struct world *world, struct partition *partition)
{
    int64_t end = partition_log_end_offset(partition->log);
    int64_t at = partition_log_start_offset(partition->log);

    world->scratch[7].length = 0;
    while (at < end) {
        int64_t next = at;
        int err = read_range(world, partition, at, (size_t)chance(world, 60000), &world->scratch[7],
                             &next);
        promise(world, err == 0, NAME "reading at %" PRId64 " fails: %s", OF(partition), at,
                error_name(err));
        if (next == at) break; /* A hole at the end: the model knows whether one may be there. */
        at = next;
    }
}

/* ---- what it says of its content */

struct best {
    int64_t offset, timestamp;
    int32_t epoch;
};

/* By the model: the first record from offset `from` on that is not older than `timestamp`, or if that is -1
 * the newest. */
static struct best find_record(const struct partition *partition, int64_t from, int64_t timestamp)
{
    struct best best = { -1, -1, -1 };

    for (size_t i = 0; i < partition->batches.count; i++) {
        const struct model_batch *batch = &partition->batches.list[i];
        for (int k = 0; k < batch->record_count; k++) {
            int64_t offset = batch->records[k].offset;
            bool append_time = (batch->header.attributes & BATCH_LOG_APPEND_TIME) != 0;
            int64_t time = append_time ? batch->header.max_timestamp : batch->records[k].timestamp;
            if (offset < from || offset >= partition->end) continue;
            if (timestamp >= 0 && time >= timestamp)
                return (struct best){ offset, time, batch->header.leader_epoch };
            if (timestamp < 0 && time > best.timestamp)
                best = (struct best){ offset, time, batch->header.leader_epoch };
        }
    }
    return best;
}

static void check_times(struct world *world, struct partition *partition)
{
    struct log_position position;
    int64_t timestamp = clock_wall_ms(&world->clock.clock) + 1000;

    if (partition->batches.count > 0) {
        const struct model_batch *batch =
            &partition->batches.list[chance(world, partition->batches.count)];
        timestamp = batch->header.max_timestamp - (int64_t)chance(world, 1000);
    }
    struct best best = find_record(partition, partition->start, timestamp);
    int err = partition_log_find_timestamp(partition->log, timestamp, partition->end, true,
                                           &position);
    promise(world, err == 0, NAME "finding a time fails: %s", OF(partition), error_name(err));
    promise(world, position.offset == best.offset && position.timestamp == best.timestamp,
            NAME "time %" PRId64 " is found at offset %" PRId64 " (%" PRId64 "), is at %" PRId64
                 " (%" PRId64 ")",
            OF(partition), timestamp, position.offset, position.timestamp, best.offset,
            best.timestamp);
    best = find_record(partition, partition->start, -1);
    err = partition_log_find_max_timestamp(partition->log, partition->end, true, &position);
    promise(world, err == 0, NAME "finding the newest fails: %s", OF(partition), error_name(err));
    /* What a new beginning that was cut short has left of the old log is no longer in the model. */
    if (position.offset >= 0 && position.offset < partition->floor) return;
    /* One below the start counts while its segment is there, which the model does not know. */
    if (position.offset >= 0 && position.offset < partition->start &&
        position.timestamp >= best.timestamp)
        best = find_record(partition, position.offset, position.timestamp);
    promise(world, position.offset == best.offset && position.timestamp == best.timestamp,
            NAME "the newest is found at offset %" PRId64 " (%" PRId64 "), is at %" PRId64
                 " (%" PRId64 ")",
            OF(partition), position.offset, position.timestamp, best.offset, best.timestamp);
}

static void check_epochs(struct world *world, const struct partition *partition)
{
    int32_t last = -1;

    for (size_t i = 0; i < partition->batches.count; i++) {
        const struct model_batch *batch = &partition->batches.list[i];
        if (batch->base_offset < partition->start) continue;
        last = batch->header.leader_epoch;
        int32_t epoch = partition_log_epoch_of(partition->log, batch->base_offset);
        promise(world, epoch == last, NAME "offset %" PRId64 " is of epoch %d, they say %d",
                OF(partition), batch->base_offset, last, epoch);
    }
    /* An epoch whose records were cut or lost may be left, as one that has none yet. */
    int32_t known = partition_log_last_epoch(partition->log);
    promise(world, known >= last && (last < 0 || known <= partition->epoch),
            NAME "the last epoch is %d, they say %d", OF(partition), last, known);
}

static void check_repeat(struct world *world, const struct partition *partition,
                         const struct model_batch *batch, bool must_know)
{
    struct producer_verdict verdict;

    producer_history_check(partition_log_producers(partition->log), &batch->header, &verdict);
    if (verdict.is_repeat || must_know)
        promise(world, verdict.is_repeat && verdict.base_offset == batch->base_offset,
                NAME "producer %" PRId64 "'s batch at %" PRId64 " is not known to repeat (%" PRId64
                     ", %s)",
                OF(partition), batch->header.producer_id, batch->base_offset, verdict.base_offset,
                error_name(verdict.err));
}

static void check_producer(struct world *world, const struct partition *partition, int64_t id)
{
    const struct model_batch *newest = model_newest(partition, id);
    struct producer_verdict verdict;

    if (newest == NULL) return;
    bool must_know = newest->base_offset >= partition->highest_start;
    check_repeat(world, partition, newest, must_know);
    if (!must_know) return;

    /* A snapshot knows one batch of each producer, memory five (DESIGN 5.4). */
    int known = 1;
    for (size_t i = partition->batches.count; i > 0 && known < 5; i--) {
        const struct model_batch *batch = &partition->batches.list[i - 1];
        if (batch >= newest || batch->header.producer_id != id ||
            (batch->header.attributes & BATCH_CONTROL) != 0)
            continue;
        if (batch->life < partition->remembered_since ||
            batch->header.producer_epoch != newest->header.producer_epoch)
            break;
        check_repeat(world, partition, batch, true);
        known++;
    }
    struct record_batch next = newest->header;
    next.base_sequence = record_batch_last_sequence(&newest->header) + 1;
    producer_history_check(partition_log_producers(partition->log), &next, &verdict);
    promise(world, verdict.err == 0 && !verdict.is_repeat,
            NAME "producer %" PRId64 "'s next batch is refused: %s", OF(partition), id,
            error_name(verdict.err));
    next.base_sequence += 7;
    producer_history_check(partition_log_producers(partition->log), &next, &verdict);
    promise(world, verdict.err == ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
            NAME "producer %" PRId64 "'s gap is not seen: %s", OF(partition), id,
            error_name(verdict.err));
}

/* What was opened below the start may be forgotten, for good if the start goes back; then its later
 * batches open it. */
static void check_open_transactions(struct world *world, const struct partition *partition)
{
    int64_t first = partition_log_first_unstable_offset(partition->log, INT64_MAX);
    int64_t least = -1;
    bool is_known = first < 0;

    for (int64_t id = 1000; id < 1000 + WORLD_PRODUCERS; id++) {
        int64_t since = model_open_since(partition, id, partition->highest_start);
        if (since >= 0 && since < partition->start) since = partition->start;
        if (model_open_since(partition, id, first) == first ||
            (first == partition->start && model_open_since(partition, id, 0) >= 0))
            is_known = true;
        if (since >= 0 && (least < 0 || since < least)) least = since;
    }
    promise(world, is_known && (least < 0 || (first >= 0 && first <= least)),
            NAME "the oldest open transaction begins at %" PRId64 ", they say %" PRId64,
            OF(partition), least, first);
}

static bool is_listed(const struct aborted_list *list, const struct model_aborted *aborted)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].producer_id == aborted->producer_id &&
            list->items[i].first_offset == aborted->first_offset &&
            list->items[i].last_offset == aborted->last_offset)
            return true;
    return false;
}

/* A consumer of committed records hears of each transaction that was aborted, and of no other. */
static void check_aborted(struct world *world, struct partition *partition)
{
    struct log_aborted wanted = {
        .from_offset = partition->start,
        .below_offset = partition->end,
        .limit = SIZE_MAX,
        .may_block = true,
    };
    struct model_aborted aborted[MODEL_ABORTED_MAX];
    size_t count = model_find_aborted(partition, aborted);
    size_t expected = 0, unknown = 0;
    int err = partition_log_aborted(partition->log, &wanted);

    promise(world, err == 0, NAME "finding what was aborted fails: %s", OF(partition),
            error_name(err));
    for (size_t i = 0; i < wanted.list.count; i++)
        say(world, NAME "aborted: producer %" PRId64 ", %" PRId64 " to %" PRId64, OF(partition),
            wanted.list.items[i].producer_id, wanted.list.items[i].first_offset,
            wanted.list.items[i].last_offset);
    for (size_t i = 0; i < count; i++) {
        if (aborted[i].last_offset < partition->start) continue;
        bool is_there = is_listed(&wanted.list, &aborted[i]);
        expected += is_there;
        /* The beginning of one that began below the start may be forgotten. */
        if (aborted[i].first_offset < partition->highest_start)
            unknown += !is_there;
        else if (!is_there) {
            log_aborted_release(&wanted);
            promise(world, false, NAME "the transaction aborted at %" PRId64 " is not known to be",
                    OF(partition), aborted[i].last_offset);
        }
    }
    size_t listed = wanted.list.count;
    log_aborted_release(&wanted);
    promise(world, listed <= expected + unknown,
            NAME "%zu transactions are said to be aborted, %zu are", OF(partition), listed,
            expected + unknown);
}

static void check_all(struct world *world, struct partition *partition)
{
    for (int i = 0; i < 3; i++)
        check_times(world, partition);
    check_epochs(world, partition);
    /* After a refusal they may know of what was not written, until the next append. */
    for (int64_t id = 1000; id < 1000 + WORLD_PRODUCERS && partition->refused.count == 0; id++)
        check_producer(world, partition, id);
    check_open_transactions(world, partition);
    check_aborted(world, partition);
}

/* ---- what is in it */

/* One that was refused, and was written all the same. */
static const struct model_batch *find_refused(const struct partition *partition,
                                              const struct record_batch *batch)
{
    for (size_t i = 0; i < partition->refused.count; i++) {
        const struct model_batch *refused = &partition->refused.list[i];
        if (refused->base_offset == batch->base_offset && refused->size == batch->size &&
            memcmp(refused->data, batch->data, batch->size) == 0)
            return refused;
    }
    return NULL;
}

/* ---- what a pass of compaction may have left */

static bool is_same_bytes(struct bytes a, struct bytes b)
{
    return a.length == b.length && (a.length <= 0 || memcmp(a.data, b.data, (size_t)a.length) == 0);
}

/* The records of `left` are those of `batch`, in the same order, and what is missing may be. How many are. */
static int compare_records(struct world *world, const struct partition *partition,
                           const struct model_batch *batch, const struct record_batch *left)
{
    struct record_walk *walks[2] = { NULL, NULL };
    struct record was, is;
    struct record_batch before = batch->header;
    int missing = 0;

    before.data = batch->data;
    int err = record_walk_open(&walks[0], &before, INT32_MAX);
    if (err == 0) err = record_walk_open(&walks[1], left, INT32_MAX);
    int next = err == 0 ? record_walk_next(walks[1], &is) : err;
    bool is_right = err == 0;
    for (int k = 0; is_right && k < batch->record_count; k++) {
        is_right = record_walk_next(walks[0], &was) == 0;
        if (is_right && next == 0 && is.offset == was.offset) {
            is_right = is_same_bytes(is.key, was.key) && is_same_bytes(is.value, was.value) &&
                       is.timestamp == was.timestamp;
            next = record_walk_next(walks[1], &is);
        } else if (is_right) {
            is_right = batch->records[k].may_go;
            missing++;
        }
    }
    record_walk_close(walks[0]);
    record_walk_close(walks[1]);
    promise(world, is_right && next == ERR_NOT_FOUND,
            NAME "the batch at %" PRId64 " has lost a record that had to stay, or has another",
            OF(partition), batch->base_offset);
    return missing;
}

static bool has_tombstone(const struct model_batch *batch)
{
    for (int k = 0; k < batch->record_count; k++)
        if (batch->records[k].is_tombstone && batch->records[k].covered_ms >= 0) return true;
    return false;
}

/* A batch that is not byte for byte what it was. Either records are gone, or it was given a delete horizon for a
 * tombstone; all else of its header that says something of offsets, epochs and producers is as it was. */
static void check_cleaned(struct world *world, const struct partition *partition,
                          const struct model_batch *batch, const struct record_batch *left)
{
    int missing = compare_records(world, partition, batch, left);
    int changed = batch->header.attributes ^ left->attributes;
    int allowed = 0;

    if (has_tombstone(batch)) allowed |= BATCH_DELETE_HORIZON;
    /* A bare header has no codec, and no horizon. */
    if (left->record_count == 0) allowed |= BATCH_CODEC_MASK | BATCH_DELETE_HORIZON;
    promise(world,
            (changed & ~allowed) == 0 && (missing > 0 || changed != 0) &&
                left->base_offset == batch->base_offset &&
                record_batch_last_offset(left) == batch->last_offset &&
                left->leader_epoch == batch->header.leader_epoch &&
                left->producer_id == batch->header.producer_id &&
                left->producer_epoch == batch->header.producer_epoch &&
                left->base_sequence == batch->header.base_sequence,
            NAME "the batch at %" PRId64 " is not what a pass may leave of it", OF(partition),
            batch->base_offset);
}

/* Batches of the model in front of one that was read: each of their records may be gone, and is from now on. */
static void take_away_gone(struct world *world, struct partition *partition, size_t index,
                           const struct record_batch *next)
{
    struct model_batches *batches = &partition->batches;

    while (index < batches->count && batches->list[index].last_offset < next->base_offset) {
        const struct model_batch *batch = &batches->list[index];
        bool may_go = true; /* A batch without records may. */
        for (int k = 0; k < batch->record_count; k++)
            may_go = may_go && batch->records[k].may_go;
        promise(world, may_go, NAME "the batch at %" PRId64 " is missing; the next is at %" PRId64,
                OF(partition), batch->base_offset, next->base_offset);
        model_remove(batches, index);
    }
}

/* What is there was not taken away by any pass so far, and only a later one may do it. */
static void note_present(struct model_batch *batch)
{
    for (int k = 0; k < batch->record_count; k++)
        batch->records[k].may_go = false;
}

/* Compares what was read with the model from its start on; how many batches of the model it has got to.
 * A batch behind the model's end must be one that was refused; it joins the model. */
static size_t compare(struct world *world, struct partition *partition, int64_t start)
{
    const struct buffer *data = &world->scratch[7];
    size_t index = batch_at(partition, start);

    for (size_t at = 0; at < data->length;) {
        struct record_batch batch;
        int err = record_batch_read_header(&batch, data->data + at, data->length - at);
        promise(world, err == 0 && batch.size <= data->length - at, NAME "what is read is no batch",
                OF(partition));
        if (partition->is_compacted) take_away_gone(world, partition, index, &batch);
        if (index == partition->batches.count) {
            const struct model_batch *refused = find_refused(partition, &batch);
            promise(world, refused != NULL && batch.base_offset >= partition->end,
                    NAME "a batch at %" PRId64 " that nobody appended", OF(partition),
                    batch.base_offset);
            model_add(world, &partition->batches, refused->data, refused->size);
            partition->end = record_batch_last_offset(&batch) + 1;
        }
        struct model_batch *expected = &partition->batches.list[index];
        promise(world, batch.base_offset == expected->base_offset,
                NAME "the batch at %" PRId64 " is missing; the next is at %" PRId64, OF(partition),
                expected->base_offset, batch.base_offset);
        bool is_same = batch.size == expected->size &&
                       memcmp(data->data + at, expected->data, expected->size) == 0;
        promise(world, is_same || partition->is_compacted,
                NAME "the batch at %" PRId64 " is not what was appended", OF(partition),
                batch.base_offset);
        if (!is_same) {
            check_cleaned(world, partition, expected, &batch);
            model_replace(world, expected, data->data + at, batch.size);
        }
        if (!partition->is_being_compacted) note_present(expected);
        at += batch.size;
        index++;
    }
    return index;
}

void check_log(struct world *world, struct partition *partition)
{
    promise(world,
            partition_log_start_offset(partition->log) == partition->start &&
                partition_log_end_offset(partition->log) == partition->end,
            NAME "holds %" PRId64 " to %" PRId64 ", should hold %" PRId64 " to %" PRId64,
            OF(partition), partition_log_start_offset(partition->log),
            partition_log_end_offset(partition->log), partition->start, partition->end);
    if (fs_sim_is_off(world->disk)) return;
    world_hold_fault(world);
    read_all(world, partition);
    size_t index = compare(world, partition, partition->start);
    promise(world, index == partition->batches.count, NAME "ends before the batch at %" PRId64,
            OF(partition),
            index < partition->batches.count ? partition->batches.list[index].base_offset : -1);
    check_all(world, partition);
    world_let_fault(world);
}

/* ---- after it was opened */

/* May it be as it is because of a change that the end of the last life met? */
static bool is_changed_log(struct partition *partition, int64_t start, int64_t end)
{
    if (partition->is_being_deleted && start == 0 && end == 0) {
        partition->epoch = 0;
        model_begin_at(partition, 0);
        return true;
    }
    if (partition->restarting_at >= 0 && start == end && end == partition->restarting_at) {
        model_begin_at(partition, end);
        return true;
    }
    return false;
}

static void check_range(struct world *world, const struct partition *partition, int64_t start,
                        int64_t end)
{
    bool is_restarting = partition->restarting_at >= 0; /* Any part of the old log may be left. */

    /* Where nothing was durable, the names of the first segments may be lost, and those of later ones not. */
    promise(world,
            is_restarting ||
                (start >= partition->durable_start &&
                 (start <= partition->start || partition->durable <= partition->start)),
            NAME "begins at %" PRId64 ", should be between %" PRId64 " and %" PRId64, OF(partition),
            start, partition->durable_start, partition->start);
    int64_t durable = partition->durable;
    if (is_restarting || partition->is_being_deleted) durable = partition->floor;
    promise(world, end >= durable, NAME "ends at %" PRId64 ", was durable up to %" PRId64,
            OF(partition), end, durable);
    if (world->last_ending != ENDS_WITHOUT_POWER)
        promise(world, end >= model_boundary(partition, partition->end),
                NAME "ends at %" PRId64 " after a kill or a clean stop, not at %" PRId64,
                OF(partition), end, partition->end);
}

static void adopt(struct partition *partition, size_t index, int64_t start, int64_t end)
{
    while (partition->batches.count > index)
        free(partition->batches.list[--partition->batches.count].data);
    model_clear(&partition->refused);
    if (start < partition->start) { /* For epochs from there on, until a checkpoint has them. */
        partition->may_read_again = true;
        partition->was_checkpointed = false;
    }
    partition->start = start;
    if (partition->durable_start > start) partition->durable_start = start;
    if (partition->highest_start < start) partition->highest_start = start;
    partition->end = end;
    partition->restarting_at = -1;
    partition->is_being_deleted = false;
    if (partition->durable > end) partition->durable = model_boundary(partition, end);
}

void check_recovered(struct world *world, struct partition *partition,
                     const struct partition_log_recovery *recovery)
{
    int64_t start = partition_log_start_offset(partition->log);
    int64_t end = partition_log_end_offset(partition->log);

    say(world,
        NAME "opened: %" PRId64 " to %" PRId64 " (was %" PRId64 " to %" PRId64
             ", durable to %" PRId64 ", recovery point %" PRId64 "), cut %" PRId64 " bytes",
        OF(partition), start, end, partition->start, partition->end, partition->durable,
        partition->recovery_point, recovery->cut_bytes);
    partition->remembered_since = world->life;
    world_hold_fault(world);
    if (!is_changed_log(partition, start, end)) {
        check_range(world, partition, start, end);
        read_all(world, partition);
        size_t index = compare(world, partition, start);
        promise(world, end <= partition->end, NAME "ends at %" PRId64 ", not above %" PRId64,
                OF(partition), end, partition->end);
        if (index < partition->batches.count)
            promise(world, partition->batches.list[index].last_offset >= end,
                    NAME "lacks the batch at %" PRId64 ", and ends at %" PRId64, OF(partition),
                    partition->batches.list[index].base_offset, end);
        adopt(partition, index, start, end);
        check_all(world, partition);
    }
    promise(world, partition_log_failed(partition->log) == 0, NAME "is out of use", OF(partition));
    model_note_flushed(world, partition);
    world_let_fault(world);
}

/* ---- what was read for it */

/* Where in the segment does the first batch begin that ends at or above `offset`? Its size if none. */
static int64_t position_of(struct world *world, int fd, int64_t offset)
{
    int64_t position = 0;

    for (;;) {
        uint8_t bytes[RECORD_BATCH_HEADER_SIZE];
        struct record_batch batch;
        size_t got = 0;
        int err = world->fs->read(world->fs, fd, bytes, sizeof bytes, position, &got);
        if (err != 0 || got < sizeof bytes || record_batch_read_header(&batch, bytes, got) != 0 ||
            record_batch_last_offset(&batch) >= offset)
            return position;
        position += (int64_t)batch.size;
    }
}

/* Nothing below the recovery point is read again, but for what lies between it and the last entry of
 * the index in front of it (DESIGN 4.4), and first headers, which tell what a suspicious index or epoch
 * file is worth. */
void check_reads_at_open(struct world *world)
{
    if (world->was_full || world->has_failed || fs_sim_has_failed(world->disk)) return;
    world_hold_fault(world);
    for (size_t i = 0; i < world->seen_count; i++) {
        const struct log_read_seen *seen = &world->seen[i];
        const struct partition *partition = seen->partition;
        char path[PATH_MAX];
        int fd;
        if (seen->position == 0 || partition->may_read_again ||
            seen->base_offset >= partition->recovery_point ||
            fs_path(path, WORLD_FOLDER "/%s-%d/%020" PRId64 ".log", OF(partition),
                    seen->base_offset) != 0 ||
            world->fs->open(world->fs, path, FS_READ, &fd) != 0)
            continue;
        int64_t least = position_of(world, fd, partition->recovery_point) -
                        partition->settings.index_interval_bytes - 2 * BATCH_BYTES_MAX;
        world->fs->close(world->fs, fd);
        promise(world, seen->position >= least,
                NAME "position %" PRId64 " of segment %" PRId64
                     " is read, far below the recovery point %" PRId64,
                OF(partition), seen->position, seen->base_offset, partition->recovery_point);
    }
    world_let_fault(world);
}
