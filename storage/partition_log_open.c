// SPDX-License-Identifier: Apache-2.0
/* Opening a log: whether it is the topic's, what of its folder is wanted, and the steps in order. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "log_content.h"
#include "partition_log_inside.h"
#include "trace.h"

#define METADATA_TEXT_SIZE 64
#define METADATA_MAX_BYTES 4096

/* ---- segments and indexes that do not belong together */

/* Where the segment of an index without a log ended. */
static int64_t lost_end(const struct partition_log *log, const struct log_content *content,
                        int64_t base)
{
    const struct log_offsets *lists[] = { &content->logs, &content->indexes };
    int64_t end = log->recovery_point > base ? log->recovery_point : INT64_MAX;

    for (size_t list = 0; list < 2; list++)
        for (size_t i = 0; i < lists[list]->count; i++)
            if (lists[list]->values[i] > base && lists[list]->values[i] < end)
                end = lists[list]->values[i];
    return end;
}

/* An index in the middle of what is on disk without its log: the log is lost. In front it is so, too, or
 * is what a crash of Kafka left of a removed segment; behind it is of one that was never used. */
static int find_lost_segment(const struct partition_log *log, const struct log_content *content)
{
    const struct log_offsets *logs = &content->logs;

    for (size_t i = 0; i < content->indexes.count && logs->count > 0; i++) {
        int64_t base = content->indexes.values[i];
        if (base < logs->values[0] && base >= log->start_offset)
            trace(TRACE_WARN, "storage",
                  "%s/%020" PRId64 ".log is missing: offsets begin at %" PRId64, log->folder, base,
                  logs->values[0]);
        if (base <= logs->values[0] || base >= log->recovery_point ||
            bsearch(&base, logs->values, logs->count, sizeof base, log_content_compare) != NULL ||
            lost_end(log, content, base) <= log->start_offset) /* It is not wanted any more. */
            continue;
        trace(TRACE_ERROR, "storage",
              "%s/%020" PRId64
              ".log is missing, and its index is there: bring it back from a copy, or "
              "remove %020" PRId64 ".index to go on without its records",
              log->folder, base, base);
        return ERR_CORRUPT_MESSAGE;
    }
    return 0;
}

static bool is_unused(const struct partition_log *log, const struct log_content *content,
                      int64_t base)
{
    const struct log_offsets *logs = &content->logs;

    if (logs->count > 0 &&
        bsearch(&base, logs->values, logs->count, sizeof base, log_content_compare) != NULL)
        return false;
    if (lost_end(log, content, base) <= log->start_offset) return true;
    return base >= log->recovery_point && (logs->count == 0 || base > logs->values[0]);
}

/* Indexes of segments that came to nothing when the process ended, or that lay below the start. Once the
 * recovery point has passed them they would look like those of a lost segment. */
static int remove_unused_indexes(struct partition_log *log, const struct log_content *content)
{
    int err = 0;

    for (size_t i = 0; i < content->indexes.count && err == 0; i++)
        if (is_unused(log, content, content->indexes.values[i]))
            err = segment_remove_files(log->fs, log->folder, content->indexes.values[i], "");
    return err;
}

/* ---- partition.metadata */

/* As Kafka writes it, without a line feed at the end. Returns the length. */
static size_t print_metadata(const struct uuid *topic_id, char text[METADATA_TEXT_SIZE])
{
    char id[UUID_TEXT_SIZE];

    uuid_print(topic_id, id);
    return (size_t)snprintf(text, METADATA_TEXT_SIZE, "version: 0\ntopic_id: %s", id);
}

static int write_metadata(struct partition_log *log, const char *path, const struct uuid *topic_id)
{
    char text[METADATA_TEXT_SIZE];
    size_t length = print_metadata(topic_id, text);

    log->is_new = true;
    return fs_write_file(log->fs, path, text, length, false);
}

int partition_log_set_topic_id(struct fs *fs, const char *folder, const struct uuid *topic_id)
{
    char text[METADATA_TEXT_SIZE];
    char path[PATH_MAX];
    size_t length = print_metadata(topic_id, text);

    int err = fs_path(path, "%s/partition.metadata", folder);
    return err == 0 ? fs_replace_file(fs, path, text, length) : err;
}

static int parse_metadata(const char *text, struct uuid *topic_id)
{
    const char *line = strstr(text, "topic_id: ");
    char id[UUID_TEXT_SIZE];

    if (line == NULL || strlen(line) < strlen("topic_id: ") + UUID_TEXT_SIZE - 1)
        return ERR_MALFORMED;
    memcpy(id, line + strlen("topic_id: "), UUID_TEXT_SIZE - 1);
    id[UUID_TEXT_SIZE - 1] = '\0';
    return uuid_parse(topic_id, id);
}

int partition_log_topic_id(struct fs *fs, const char *folder, struct uuid *topic_id)
{
    char path[PATH_MAX];
    char *text = NULL;
    size_t length;

    int err = fs_path(path, "%s/partition.metadata", folder);
    if (err == 0) err = fs_read_file(fs, path, METADATA_MAX_BYTES, &text, &length);
    if (err == 0) err = parse_metadata(text, topic_id);
    mem_free(text);
    return err;
}

/* A recovery point moves with a flush only; and whoever makes a folder forgets what was noted of an earlier one. */
static bool was_flushed(const struct partition_log *log)
{
    int64_t offset = 0;

    return data_dir_checkpoint(log->dir, CHECKPOINT_RECOVERY_POINT, log->topic, log->partition,
                               &offset) &&
           offset > 0;
}

static int check_metadata(struct partition_log *log, const struct uuid *topic_id)
{
    char path[PATH_MAX];
    struct uuid found;

    if (uuid_is_zero(topic_id)) return 0;
    int err = fs_path(path, "%s/partition.metadata", log->folder);
    if (err == 0 && log->is_new) return write_metadata(log, path, topic_id);
    if (err == 0) err = partition_log_topic_id(log->fs, log->folder, &found);
    if (err == 0 && !uuid_equal(&found, topic_id)) return ERR_INCONSISTENT_TOPIC_ID;
    /* As replace_snapshot(): an earlier sync may have left it out. */
    if (err == 0 && data_dir_has_failed(log->dir))
        return partition_log_set_topic_id(log->fs, log->folder, topic_id);
    if (err == 0) return 0;
    if (err != ERR_NOT_FOUND && err != ERR_MALFORMED && err != ERR_LIMIT) return err;
    /* Not there yet, or torn by a power cut before the first flush: then nothing in the folder was on disk for
     * sure, and it may be that of a topic that was deleted meanwhile, whose records nobody may see again. */
    if (!was_flushed(log) && log_content_kind(log->fs, log->folder) == LOG_CONTENT_DATA)
        return ERR_INCONSISTENT_TOPIC_ID;
    return write_metadata(log, path, topic_id);
}

int partition_log_give_up(struct data_dir *dir, const char *topic, int32_t partition,
                          const struct uuid *topic_id)
{
    char folder[PATH_MAX];
    struct fs *fs = data_dir_fs(dir);
    struct uuid found;

    int err = fs_path(folder, "%s/%s-%" PRId32, data_dir_path(dir), topic, partition);
    if (err != 0) return err;
    err = partition_log_topic_id(fs, folder, &found);
    if (err == 0 && !uuid_equal(&found, topic_id)) err = ERR_INCONSISTENT_TOPIC_ID;
    /* One that was being made when the process ended says nothing and holds nothing; but one that is known to
     * begin elsewhere is of a later topic of that name, and a power cut took its files. */
    int64_t start = 0;
    data_dir_checkpoint(dir, CHECKPOINT_LOG_START, topic, partition, &start);
    if ((err == ERR_NOT_FOUND || err == ERR_MALFORMED) && start == 0 &&
        log_content_kind(fs, folder) == LOG_CONTENT_NO_SEGMENT)
        err = 0;
    return err != 0 ? err : data_dir_give_up(dir, topic, partition);
}

/* ---- opening */

static int create_first_segment(struct partition_log *log)
{
    int err = log_reserve_segment(log);

    if (err == 0)
        err = segment_create(&log->segments[0], log->shared, log->start_offset,
                             clock_wall_ms(log->clock));
    if (err != 0) return err;
    log->segment_count = 1;
    log->end_offset = log->data_end = log->flushed_offset = log->start_offset;
    log->folder_is_dirty = true;
    return 0;
}

static int open_shared(struct partition_log *log)
{
    char path[PATH_MAX];
    int err = fs_path(path, "%s/%s-%" PRId32, data_dir_path(log->dir), log->topic, log->partition);

    if (err == 0)
        err = segment_folder_open(&log->shared, log->fs, data_dir_files(log->dir),
                                  data_dir_blocks(log->dir), path);
    if (err == 0) log->folder = log->shared->path;
    return err;
}

static struct partition_log *log_new(const struct partition_log_open_options *options)
{
    struct partition_log *log = mem_zalloc(sizeof *log);

    if (log == NULL) return NULL;
    log->dir = options->dir;
    log->fs = data_dir_fs(options->dir);
    log->clock = options->clock;
    log->partition = options->partition;
    log->is_strict = options->cut_only_from >= 0;
    log->settings = options->settings;
    log->producer_expiration_ms = options->producer_expiration_ms;
    log->snapshot_offset = log->first_open_offset = -1;
    for (int i = 0; i < LOG_OLD_SNAPSHOTS; i++)
        log->old_snapshots[i] = -1;
    log->aborted_from = INT64_MAX;
    ended_transactions_init(&log->ended);
    ended_transactions_init(&log->replayed);
    pthread_mutex_init(&log->flush_lock, NULL);
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->swapped, NULL);
    epoch_history_init(&log->epochs);
    log->topic = mem_strdup(options->topic);
    int err = log->topic == NULL ? ERR_NO_MEMORY : open_shared(log);
    if (err == 0) err = producer_history_open(&log->producers);
    if (err != 0) {
        log_free(log);
        return NULL;
    }
    return log;
}

/* Checkpoints of a log that was there before say nothing about a new one: they go first, so that no crash
 * leaves the one with the other. */
static int make_folder(struct partition_log *log)
{
    bool exists = false;

    int err = log->fs->exists(log->fs, log->folder, &exists);
    if (err != 0 || exists) return err;
    err = data_dir_forget(log->dir, log->topic, log->partition);
    if (err == 0) err = log->fs->make_folder(log->fs, log->folder);
    log->is_new = err == 0;
    return err;
}

/* The checkpoints' word, as far as the files bear it out. */
static void load_checkpoints(struct partition_log *log)
{
    int64_t offset;

    if (data_dir_checkpoint(log->dir, CHECKPOINT_LOG_START, log->topic, log->partition, &offset))
        log->start_offset = offset;
    if (data_dir_checkpoint(log->dir, CHECKPOINT_RECOVERY_POINT, log->topic, log->partition,
                            &offset))
        log->recovery_point = offset;
}

/* Indexes that an earlier life began to make again, and did not see on disk. */
static int distrust_torn(struct partition_log *log, const struct log_content *content,
                         bool *indexes_are_lost)
{
    const struct log_offsets *logs = &content->logs;
    char path[PATH_MAX];
    int err = 0;

    for (size_t i = 0; i < content->torn.count && err == 0; i++) {
        int64_t base = content->torn.values[i];
        const int64_t *found = logs->count == 0 ? NULL
                                                : bsearch(&base, logs->values, logs->count,
                                                          sizeof base, log_content_compare);
        if (found != NULL) {
            indexes_are_lost[found - logs->values] = true;
            continue;
        }
        err = segment_path(log->folder, base, ".index.tmp", path);
        if (err == 0) err = log->fs->remove(log->fs, path);
        if (err == ERR_NOT_FOUND) err = 0; /* With the other files of the segment. */
    }
    return err;
}

static int open_content(struct partition_log *log, const struct log_content *content,
                        const struct partition_log_open_options *options,
                        struct partition_log_recovery *recovery, bool *indexes_are_lost)
{
    int err = find_lost_segment(log, content);
    if (err == 0) err = remove_unused_indexes(log, content);
    if (err == 0) err = distrust_torn(log, content, indexes_are_lost);
    if (err == 0 && content->logs.count == 0) return create_first_segment(log);
    if (err == 0)
        err = log_open_segments(log, content->logs.values, content->logs.count, options, recovery,
                                indexes_are_lost);
    if (err == 0 && log->start_offset < log->segments[0]->base_offset)
        log->start_offset = log->segments[0]->base_offset;
    return err;
}

/* A new beginning may have been on its way (announce_restart()): what it removed does not come back to be
 * taken for what is appended from now on. And the names that a life before changed in a folder on another disk were
 * not synced with ours. */
static int sync_beginning(struct partition_log *log)
{
    bool may_be_new = log->start_offset > 0 && log->start_offset >= log->recovery_point;

    bool may_be_elsewhere = !data_dir_syncs_all_logs(log->dir);

    if (data_dir_was_clean(log->dir) || (!may_be_new && !may_be_elsewhere)) return 0;
    return log->fs->sync_folder(log->fs, log->folder);
}

/* By the strict rule: is nothing missing in front of the beginning? Whoever begins a log anew lowers the recovery
 * point first. */
static bool may_begin_there(const struct partition_log *log,
                            const struct partition_log_open_options *options)
{
    return log->start_offset <= log->end_offset || (log->start_offset == options->may_restart_at &&
                                                    log->recovery_point <= log->start_offset);
}

static int refuse_end(const struct partition_log *log, struct partition_log_recovery *recovery)
{
    const struct segment *active = log_active(log);

    recovery->refused_segment = active->base_offset;
    recovery->refused_position = active->size;
    recovery->refused_offset = log->end_offset;
    return ERR_CORRUPT_MESSAGE;
}

/* A checkpoint ahead of what is there: (1) does not hold for what is missing. */
static int check_end(struct partition_log *log, const struct partition_log_open_options *options,
                     struct partition_log_recovery *recovery)
{
    bool is_ahead = false;

    if (options->cut_only_from >= 0 &&
        (log->end_offset < options->cut_only_from || !may_begin_there(log, options)))
        return refuse_end(log, recovery);

    if (log->recovery_point > log->end_offset) {
        trace(TRACE_ERROR, "storage",
              "%s: ends at offset %" PRId64 ", but was on disk up to %" PRId64
              ": what lay between is lost",
              log->folder, log->end_offset, log->recovery_point);
        log->recovery_point = log->end_offset;
        is_ahead = true;
    }
    int err = data_dir_set_checkpoint(log->dir, CHECKPOINT_RECOVERY_POINT, log->topic,
                                      log->partition, log->recovery_point);
    /* What is appended below it must not be believed after a crash. */
    if (err == 0 && is_ahead) err = data_dir_write_checkpoints(log->dir);
    return err;
}

/* As Kafka does, those are kept at which a segment begins, and the newest ones; and that at the recovery
 * point, which the next crash may find again. */
static int note_snapshots(struct partition_log *log, const struct log_content *content)
{
    if (log->recovery_point != log->snapshot_offset) log->old_snapshots[0] = log->recovery_point;
    if (content->last_snapshot > log->snapshot_offset && content->last_snapshot <= log->end_offset)
        log->old_snapshots[1] = content->last_snapshot;
    if (content->snapshot_count <= log->segment_count) return 0;
    return log_remove_stray_snapshots(log, content->last_snapshot);
}

/* Snapshots of what is not there any more. They must not come back once there is something else. */
static int remove_overtaken(struct partition_log *log)
{
    int err = log_remove_snapshots(log, -1, log->end_offset);

    return err != 0 ? err : log->fs->sync_folder(log->fs, log->folder);
}

/* The data of a log whose beginning is beyond its end. Most likely it is not wanted: what lay between went with
 * a power cut. But all that says so is one number in a file without a checksum, so it is kept. */
static int set_segments_aside(struct partition_log *log)
{
    unsigned count = 0;
    int err = 0;

    for (size_t i = 0; err == 0 && i < log->segment_count; i++) {
        char name[64], to[PATH_MAX];
        if (log->segments[i]->size == 0) continue;
        snprintf(name, sizeof name, "%020" PRId64 ".log", log->segments[i]->base_offset);
        err = log_set_aside(log, name, to);
        if (err == 0) count++;
        if (err == ERR_EXISTS) err = 0; /* It has come to this a hundred times. */
    }
    if (count > 0)
        trace(TRACE_WARN, "storage",
              "%s: log-start-offset-checkpoint lets it begin at offset %" PRId64
              ", and what is left of it ends at %" PRId64
              ": it begins there without any records; %u files are kept as *.set-aside.*",
              log->folder, log->start_offset, log->end_offset, count);
    return err;
}

/* Offsets below the start were given away, so it stays, whatever is left. */
static int begin_beyond_end(struct partition_log *log)
{
    int err = set_segments_aside(log);
    return err != 0 ? err : partition_log_restart_at(log, log->start_offset);
}

/* Everything that a folder that was there before may hold. */
static int open_old(struct partition_log *log, const struct partition_log_open_options *options,
                    struct partition_log_recovery *recovery)
{
    struct log_content content = { .last_snapshot = -1 };
    bool *are_lost = NULL; /* Of the indexes of each segment. */

    int err = log_content_find(log, &content);
    if (err == 0) {
        are_lost = mem_calloc(content.logs.count + 1, sizeof *are_lost);
        if (are_lost == NULL) err = ERR_NO_MEMORY;
    }
    if (err == 0) err = open_content(log, &content, options, recovery, are_lost);
    if (err == 0) err = sync_beginning(log);
    if (err == 0) err = check_end(log, options, recovery);
    if (err == 0) err = log_load_epochs(log, &recovery->bytes_read);
    if (err == 0 && content.last_snapshot > log->end_offset) err = remove_overtaken(log);
    log->has_batches_file = content.has_batches_file;
    if (err == 0)
        err = log_recover_transactions(
            log, (struct log_bases){ content.aborted.values, content.aborted.count },
            (struct log_bases){ content.unfinished.values, content.unfinished.count }, are_lost);
    if (err == 0) err = note_snapshots(log, &content);
    if (err == 0 && log->start_offset > log->end_offset) err = begin_beyond_end(log);
    mem_free(are_lost);
    log_content_close(&content);
    return err;
}

/* A folder that was made just now. */
static int open_new(struct partition_log *log, const struct partition_log_open_options *options,
                    struct partition_log_recovery *recovery)
{
    int err = create_first_segment(log);
    if (err == 0) err = check_end(log, options, recovery);
    return err;
}

int partition_log_open(struct partition_log **log, const struct partition_log_open_options *options,
                       struct partition_log_recovery *recovery)
{
    struct partition_log *opened = log_new(options);

    *recovery = (struct partition_log_recovery){
        .cut_at_offset = -1,
        .refused_segment = -1,
        .refused_position = -1,
        .refused_offset = -1,
    };
    int err = opened == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = make_folder(opened);
    if (err == 0) {
        bool is_new = opened->is_new;
        load_checkpoints(opened);
        err = check_metadata(opened, &options->topic_id);
        if (err == 0)
            err = is_new ? open_new(opened, options, recovery)
                         : open_old(opened, options, recovery);
    }
    if (err == ERR_IO) data_dir_note_failure(opened->dir);
    if (log_is_of_disk(err)) log_content_tell_unreadable(opened);
    if (err != 0 && opened != NULL) {
        data_dir_note_unsynced(opened->dir); /* What was cut or rebuilt until then. */
        log_free(opened);
    }
    if (err == 0) *log = opened;
    return err;
}
