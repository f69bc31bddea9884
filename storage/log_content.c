// SPDX-License-Identifier: Apache-2.0
#include "log_content.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bytes.h"
#include "error.h"
#include "trace.h"

static int offsets_add(struct log_offsets *offsets, int64_t value)
{
    if (offsets->count == offsets->capacity) {
        size_t capacity = offsets->capacity == 0 ? 8 : offsets->capacity * 2;
        int64_t *values = mem_realloc(offsets->values, capacity * sizeof *values);
        if (values == NULL) return ERR_NO_MEMORY;
        offsets->values = values;
        offsets->capacity = capacity;
    }
    offsets->values[offsets->count++] = value;
    return 0;
}

int log_content_compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return left < right ? -1 : left > right;
}

void log_content_close(struct log_content *content)
{
    mem_free(content->logs.values);
    mem_free(content->indexes.values);
    mem_free(content->aborted.values);
    mem_free(content->unfinished.values);
    mem_free(content->torn.values);
}

static bool is_temporary(const char *name)
{
    return text_ends_with(name, ".snapshot.tmp") ||
           strcmp(name, "leader-epoch-checkpoint.tmp") == 0 ||
           strcmp(name, "producer-batches.tmp") == 0;
}

static bool is_leftover(const char *name)
{
    return text_ends_with(name, ".deleted") || is_temporary(name);
}

static bool is_derived_suffix(const char *suffix)
{
    static const char *const suffixes[] = { ".index",        ".timeindex", ".txnindex",
                                            ".txnindex.tmp", ".index.tmp", ".snapshot" };

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(suffix, suffixes[i]) == 0) return true;
    return false;
}

/* Can it be had from the data again, or is it the way to something that can? */
static bool is_derived(const char *name)
{
    const char *suffix = "";

    if (strcmp(name, "producer-batches") == 0 || strcmp(name, "leader-epoch-checkpoint") == 0 ||
        is_temporary(name))
        return true;
    return segment_parse_name(name, &suffix) >= 0 && is_derived_suffix(suffix);
}

/* Named by an offset that no log can go on from. */
static bool is_beyond(const char *name)
{
    const char *suffix = "";

    return segment_name_is_beyond(name, &suffix) &&
           (strcmp(suffix, ".log") == 0 || is_derived_suffix(suffix));
}

static int note_entry(void *context, const struct fs_entry *entry)
{
    struct log_content *content = context;
    const char *suffix = "";
    int64_t base = segment_parse_name(entry->name, &suffix);

    if (base < 0) content->has_others |= is_beyond(entry->name);
    if (!entry->is_file) {
        content->has_others |= is_derived(entry->name);
        return 0;
    }
    if (is_leftover(entry->name)) content->has_leftovers = true;
    if (strcmp(entry->name, "producer-batches") == 0) content->has_batches_file = true;
    if (text_ends_with(entry->name, ".swap") || text_ends_with(entry->name, ".cleaned"))
        content->has_swap = true;
    if (base >= 0 && strcmp(suffix, ".log") == 0) return offsets_add(&content->logs, base);
    if (base >= 0 && strcmp(suffix, ".index") == 0) return offsets_add(&content->indexes, base);
    if (base >= 0 && strcmp(suffix, ".txnindex") == 0) return offsets_add(&content->aborted, base);
    if (base >= 0 && strcmp(suffix, ".txnindex.tmp") == 0)
        return offsets_add(&content->unfinished, base);
    if (base >= 0 && strcmp(suffix, ".index.tmp") == 0) return offsets_add(&content->torn, base);
    if (base < 0 || strcmp(suffix, ".snapshot") != 0) return 0;
    content->snapshot_count++;
    if (base > content->last_snapshot) content->last_snapshot = base;
    return 0;
}

/* A segment on its way out, of which Kafka had renamed the .log and not its index yet: with the .log gone, that would
 * look like the index of a lost one. */
static int remove_indexes_of(struct partition_log *log, const char *name)
{
    char path[PATH_MAX];
    bool exists = true;
    const char *suffix = "";
    int64_t base = segment_parse_name(name, &suffix);

    if (base < 0 || strcmp(suffix, ".log.deleted") != 0) return 0;
    int err = segment_path(log->folder, base, ".log", path);
    if (err == 0) err = log->fs->exists(log->fs, path, &exists);
    return err == 0 && !exists ? segment_remove_files(log->fs, log->folder, base, "") : err;
}

static int remove_leftover(void *context, const struct fs_entry *entry)
{
    struct partition_log *log = context;
    char path[PATH_MAX];

    if (entry->is_folder || !is_leftover(entry->name)) return 0;
    int err = remove_indexes_of(log, entry->name);
    if (err == 0) err = fs_path(path, "%s/%s", log->folder, entry->name);
    return err != 0 ? err : log->fs->remove(log->fs, path);
}

/* Without its file a segment would have no aborted transaction: what is left in its place says that it is to be
 * built again (segment_aborted.h). */
static int note_lost_index(struct partition_log *log, const char *name)
{
    const char *suffix = "";
    char path[PATH_MAX];
    int64_t base = segment_parse_name(name, &suffix);

    if (strcmp(suffix, ".txnindex") != 0) return 0;
    int err = segment_path(log->folder, base, ".txnindex.tmp", path);
    if (err == 0) err = fs_write_file(log->fs, path, "", 0, true);
    return err == 0 ? log->fs->sync_folder(log->fs, log->folder) : err;
}

int log_set_aside(struct partition_log *log, const char *name, char to[PATH_MAX])
{
    char from[PATH_MAX];

    int err = fs_path(from, "%s/%s", log->folder, name);
    return err == 0 ? fs_set_aside(log->fs, from, to) : err;
}

/* Whatever it is: somebody has put it there, so it is kept. */
static int set_aside_other(void *context, const struct fs_entry *entry)
{
    struct partition_log *log = context;
    char to[PATH_MAX];
    bool beyond = is_beyond(entry->name);

    if (!beyond && (entry->is_file || !is_derived(entry->name))) return 0;
    int err = beyond ? 0 : note_lost_index(log, entry->name);
    if (err == 0) err = log_set_aside(log, entry->name, to);
    if (err == 0)
        trace(TRACE_WARN, "storage", "%s/%s %s: it is now %s", log->folder, entry->name,
              beyond ? "is named by an offset that no log can have" : "is no file", to);
    return err;
}

/* Nothing of a log can be opened without it, or it can be had again but is in the way. */
static bool is_of_log(const char *name)
{
    const char *suffix = "";

    return is_derived(name) || strcmp(name, "partition.metadata") == 0 ||
           (segment_parse_name(name, &suffix) >= 0 && strcmp(suffix, ".log") == 0);
}

static int tell_unreadable(void *context, const struct fs_entry *entry)
{
    struct partition_log *log = context;
    char path[PATH_MAX];
    int fd = -1;

    if (!is_of_log(entry->name)) return 0;
    int err = fs_path(path, "%s/%s", log->folder, entry->name);
    if (err == 0) err = log->fs->open(log->fs, path, FS_WRITE, &fd);
    if (err != 0)
        trace(TRACE_ERROR, "storage", "%s cannot be opened: %s", path, error_text(err));
    else
        log->fs->close(log->fs, fd);
    return err;
}

void log_content_tell_unreadable(struct partition_log *log)
{
    (void)log->fs->list(log->fs, log->folder, tell_unreadable, log);
}

static int list_again(struct partition_log *log, struct log_content *content)
{
    content->logs.count = content->indexes.count = 0;
    content->aborted.count = content->unfinished.count = content->torn.count = 0;
    content->last_snapshot = -1;
    content->snapshot_count = 0;
    return log->fs->list(log->fs, log->folder, note_entry, content);
}

int log_content_find(struct partition_log *log, struct log_content *content)
{
    int err = log->fs->list(log->fs, log->folder, note_entry, content);

    if (err == 0 && content->has_others)
        err = log->fs->list(log->fs, log->folder, set_aside_other, log);
    if (err == 0 && content->has_swap) err = log_complete_swap(log);
    if (err == 0 && (content->has_others || content->has_swap)) err = list_again(log, content);
    if (err == 0 && content->has_leftovers) {
        err = log->fs->list(log->fs, log->folder, remove_leftover, log);
        if (err == 0) err = list_again(log, content);
    }
    if (err == 0 && content->logs.count > 0)
        qsort(content->logs.values, content->logs.count, sizeof(int64_t), log_content_compare);
    return err;
}

static bool has_no_bytes(struct fs *fs, const char *folder, int64_t base_offset)
{
    char path[PATH_MAX];
    int64_t size = 0;

    return segment_path(folder, base_offset, ".log", path) == 0 &&
           fs->path_size(fs, path, &size) == 0 && size == 0;
}

enum log_content_kind log_content_kind(struct fs *fs, const char *folder)
{
    struct log_content content = { .last_snapshot = -1 };
    enum log_content_kind kind = LOG_CONTENT_DATA;
    bool is_empty = fs->list(fs, folder, note_entry, &content) == 0;

    for (size_t i = 0; is_empty && i < content.logs.count; i++)
        is_empty = has_no_bytes(fs, folder, content.logs.values[i]);
    if (is_empty)
        kind = content.logs.count == 0 ? LOG_CONTENT_NO_SEGMENT : LOG_CONTENT_EMPTY_SEGMENTS;
    log_content_close(&content);
    return kind;
}
