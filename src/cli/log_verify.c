// SPDX-License-Identifier: Apache-2.0
#include "log_verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bytes.h"
#include "data_dir.h"
#include "error.h"
#include "log_verify_inside.h"
#include "meta_log.h"
#include "partition_log.h"

#define RECENT_BYTES_MAX ((size_t)512 << 20)

void verify_tell(struct log_verify *verify, const char *file, int64_t position, int64_t offset,
                 const char *what)
{
    verify->findings++;
    log_output_begin(&verify->output, "finding");
    log_output_text(&verify->output, "file", file);
    if (position >= 0) log_output_number(&verify->output, "position", position);
    if (offset >= 0) log_output_number(&verify->output, "offset", offset);
    log_output_text(&verify->output, "what", what);
    log_output_end(&verify->output);
    log_output_flush(&verify->output);
}

void verify_finding(struct partition_check *check, const char *file, int64_t position,
                    int64_t offset, const char *format, ...)
{
    char path[PATH_MAX], what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (strchr(file, '/') != NULL || fs_path(path, "%s/%s", check->folder, file) != 0)
        verify_tell(check->verify, file, position, offset, what);
    else
        verify_tell(check->verify, path, position, offset, what);
}

void verify_note(struct log_verify *verify, const char *path, const char *what)
{
    log_output_begin(&verify->output, "note");
    log_output_text(&verify->output, "file", path);
    log_output_text(&verify->output, "what", what);
    log_output_end(&verify->output);
    log_output_flush(&verify->output);
}

void verify_name(char name[NAME_MAX + 1], int64_t base_offset, const char *suffix)
{
    snprintf(name, NAME_MAX + 1, "%020" PRId64 "%s", base_offset, suffix);
}

/* ---- checkpoints ---- */

static void check_checkpoints(struct partition_check *check)
{
    const struct {
        enum checkpoint_file file;
        const char *what;
    } told[] = {
        { OF_RECOVERY, "was on the disk up to here: its end is lost" },
        { OF_LOG_START, "is said to begin here" },
        { OF_HIGH_WATERMARK, "is said to be replicated up to here" },
    };
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        int64_t offset = check->points[told[i].file];
        if (offset <= check->next_offset || check->is_in_use) continue;
        char path[PATH_MAX], folder[PATH_MAX];
        log_parent(check->folder, folder);
        if (fs_path(path, "%s/%s", folder, verify_checkpoint_names[told[i].file]) != 0) continue;
        verify_finding(check, path, -1, offset, "%s ends at offset %" PRId64 ", but %s",
                       check->folder, check->next_offset, told[i].what);
    }
}

/* ---- a partition's folder ---- */

static int offsets_add(struct offset_list *list, int64_t offset)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        int64_t *items = mem_realloc(list->items, capacity * sizeof *items);
        if (items == NULL) return ERR_NO_MEMORY;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = offset; /* Names come in order, and so do offsets of 20 digits. */
    return 0;
}

static bool has_offset(const struct offset_list *list, int64_t offset)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle] == offset) return true;
        if (list->items[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static int sort_names(struct partition_check *check, const struct log_names *names)
{
    int err = 0;
    for (size_t i = 0; err == 0 && i < names->count; i++) {
        struct log_file_name name = log_file_name(names->items[i]);
        if (name.is_leftover || name.base_offset < 0) continue;
        if (name.kind == LOG_FILE_BATCHES) err = offsets_add(&check->logs, name.base_offset);
        if (name.kind == LOG_FILE_SNAPSHOT) err = offsets_add(&check->snapshots, name.base_offset);
    }
    return err;
}

/* Files that are in a folder and are nothing wrong: one line for all, since there may be thousands. */
struct tolerated {
    unsigned count;
    const char *last;
};

static void tolerate(struct tolerated *files, const char *name)
{
    files->count++;
    files->last = name;
}

static void tell_tolerated(struct partition_check *check, const struct tolerated *files,
                           const char *why)
{
    char path[PATH_MAX], what[128];
    if (files->count == 0 || fs_path(path, "%s/%s", check->folder, files->last) != 0) return;
    snprintf(what, sizeof what, "%u file%s %s", files->count, files->count == 1 ? " is" : "s are",
             why);
    verify_note(check->verify, files->count == 1 ? path : check->folder, what);
}

static void check_names(struct partition_check *check, const struct log_names *names)
{
    struct tolerated leftovers = { 0, NULL }, set_aside = { 0, NULL };
    for (size_t i = 0; i < names->count; i++) {
        struct log_file_name name = log_file_name(names->items[i]);
        bool is_index = name.kind == LOG_FILE_OFFSET_INDEX || name.kind == LOG_FILE_TIME_INDEX ||
                        name.kind == LOG_FILE_TXN_INDEX;
        if (check->is_in_use) continue;
        if (name.is_leftover)
            tolerate(&leftovers, names->items[i]);
        else if (is_index && name.base_offset >= 0 && !has_offset(&check->logs, name.base_offset))
            verify_finding(check, names->items[i], -1, name.base_offset,
                           "an index whose .log is not here");
        else if (strstr(names->items[i], ".set-aside.") != NULL)
            tolerate(&set_aside, names->items[i]);
        else if (name.kind == LOG_FILE_OTHER)
            verify_finding(check, names->items[i], -1, -1, "no file that belongs here");
    }
    /* A server has such files for a while all the time, and deals with them at its next start. */
    tell_tolerated(check, &leftovers,
                   "left over from what was not completed: the next start sees to that");
    tell_tolerated(check, &set_aside, "set aside by an earlier start, and read by nobody");
}

static void check_topic_id(struct partition_check *check)
{
    struct uuid id;
    int err = partition_log_topic_id(check->verify->fs, check->folder, &id);
    if (err != 0 && err != ERR_NOT_FOUND && err != ERR_NOT_A_FILE)
        verify_finding(check, "partition.metadata", -1, -1, "it holds no topic id");
    if (err == 0) verify_topic_id(check, &id);
}

static void check_epochs_end(struct partition_check *check)
{
    int64_t last = check->epochs.count == 0
                       ? -1
                       : check->epochs.starts[check->epochs.count - 1].start_offset;
    if (last > check->next_offset && !check->is_in_use)
        verify_finding(check, "leader-epoch-checkpoint", -1, last,
                       "the last epoch begins behind the end of the log, %" PRId64,
                       check->next_offset);
}

static int pass_recent(void *context, const struct producer_recent_batch *batch)
{
    (void)context;
    (void)batch;
    return 0;
}

static int check_recent_batches(struct partition_check *check)
{
    char path[PATH_MAX];
    char *data = NULL;
    size_t length = 0;
    int err = fs_path(path, "%s/producer-batches", check->folder);
    if (err == 0) err = fs_read_file(check->verify->fs, path, RECENT_BYTES_MAX, &data, &length);
    if (err == 0 && producer_batches_parse(data, length, pass_recent, NULL) != 0)
        verify_finding(check, "producer-batches", 0, -1, "version, length or CRC is wrong");
    mem_free(data);
    return err == ERR_NOT_FOUND || err == ERR_NOT_A_FILE ? 0 : err;
}

static int check_content(struct partition_check *check)
{
    struct log_names names;
    int err = log_names_read(&names, check->verify->fs, check->folder, LOG_NAMES_OF_FILES);
    if (err == 0) err = sort_names(check, &names);
    if (err == 0) err = verify_no_files(check->verify, check->folder, true);
    if (err == 0) {
        check_names(check, &names);
        check_topic_id(check);
        err = check_recent_batches(check);
    }
    if (err == 0) {
        err = verify_read_epochs(check);
    }
    log_names_close(&names);
    if (check->verify->was_clean && !check->is_in_use)
        check->tail_from = INT64_MAX;
    else if (check->points[OF_RECOVERY] >= 0)
        check->tail_from = check->points[OF_RECOVERY];
    else if (check->logs.count > 0)
        check->tail_from = check->logs.items[check->logs.count - 1];
    for (size_t i = 0; err == 0 && i < check->logs.count && !check->verify->output.failed; i++)
        err = verify_segment(check, i);
    if (err == 0) err = verify_snapshots(check, NULL);
    if (err == 0) {
        check_epochs_end(check);
        check_checkpoints(check);
    }
    return err;
}

static void print_partition(struct partition_check *check)
{
    struct log_output *output = &check->verify->output;
    if (!output->is_json) return; /* For people the summary is enough. */
    log_output_begin(output, "partition");
    log_output_text(output, "folder", check->folder);
    log_output_number(output, "segments", (int64_t)check->logs.count);
    log_output_number(output, "first_offset", check->first_offset);
    log_output_number(output, "end_offset", check->next_offset);
    log_output_end(output);
}

static int verify_partition(struct log_verify *verify, const char *folder, struct str name)
{
    char data_folder[PATH_MAX];
    struct str topic;
    int32_t partition;
    struct partition_check check = {
        .verify = verify,
        .folder = folder,
        .points = { -1, -1, -1, -1 },
        .first_offset = -1,
        .wrong_epoch = -1,
    };
    int err = 0;
    log_parent(folder, data_folder);
    check.is_in_use = log_is_in_use(data_folder);
    if (data_dir_parse_folder(name, &topic, &partition)) {
        check.topic = topic;
        check.is_metadata = str_equals_text(topic, META_LOG_TOPIC);
        err = verify_points_get(verify->points, verify->fs, data_folder, topic, partition,
                                check.points);
    }
    if (err != 0) return err;
    epoch_history_init(&check.epochs);
    buffer_init(&check.data);
    check.crc_buffer = mem_alloc(VERIFY_CRC_BYTES);
    err = check.crc_buffer == NULL ? ERR_NO_MEMORY : producer_history_open(&check.producers);
    if (err == 0) err = check_content(&check);
    if (err == 0) print_partition(&check);
    verify->partitions++;
    producer_history_close(check.producers);
    epoch_history_close(&check.epochs);
    buffer_close(&check.data);
    mem_free(check.crc_buffer);
    mem_free(check.logs.items);
    mem_free(check.snapshots.items);
    return err;
}

/* ---- a data folder ---- */

static int verify_subfolder(struct log_verify *verify, const char *data_folder, const char *name)
{
    char folder[PATH_MAX];
    struct str topic;
    int32_t partition;
    int err = fs_path(folder, "%s/%s", data_folder, name);
    if (err == 0 && data_dir_parse_folder(str_from(name), &topic, &partition))
        return verify_partition(verify, folder, str_from(name));
    if (err != 0) return err;
    if (text_ends_with(name, "-delete") && !log_is_in_use(data_folder))
        verify_note(verify, folder, "left over of a deleted partition: the next start removes it");
    else if (text_ends_with(name, "-stray"))
        verify_note(verify, folder, "put aside: it belongs to no topic that was known");
    else if (text_ends_with(name, "-future"))
        verify_note(verify, folder, "a replica on its way from one data folder to another");
    return 0;
}

static int verify_data_folder(struct log_verify *verify, const char *data_folder,
                              const struct log_names *folders)
{
    int err = verify_beside_partitions(verify, data_folder);
    for (size_t i = 0; err == 0 && i < folders->count && !verify->output.failed; i++) {
        err = verify_subfolder(verify, data_folder, folders->items[i]);
        /* Deleted meanwhile. */
        if (err == ERR_NOT_FOUND && log_is_in_use(data_folder)) err = 0;
    }
    return err;
}

/* ---- which of the two it is ---- */

static bool has_segments(const struct log_names *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct log_file_name name = log_file_name(files->items[i]);
        if ((name.kind == LOG_FILE_BATCHES && name.base_offset >= 0) ||
            strcmp(files->items[i], "partition.metadata") == 0)
            return true;
    }
    return false;
}

static bool is_partition_folder(struct fs *fs, const char *data_folder, const char *name)
{
    char folder[PATH_MAX];
    struct log_names files = { 0 };
    struct str topic;
    int32_t partition;
    bool is_one = data_dir_parse_folder(str_from(name), &topic, &partition) &&
                  fs_path(folder, "%s/%s", data_folder, name) == 0 &&
                  log_names_read(&files, fs, folder, LOG_NAMES_OF_FILES) == 0 &&
                  has_segments(&files);
    log_names_close(&files);
    return is_one;
}

static bool is_data_folder(struct fs *fs, const char *path, const struct log_names *files,
                           const struct log_names *folders)
{
    for (size_t i = 0; i < files->count; i++) {
        enum log_file_kind kind = log_file_name(files->items[i]).kind;
        if (kind == LOG_FILE_CHECKPOINT || kind == LOG_FILE_VOTE || kind == LOG_FILE_PROPERTIES)
            return true;
    }
    for (size_t i = 0; i < folders->count; i++)
        if (is_partition_folder(fs, path, folders->items[i])) return true;
    return false;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* What a call knows of the data folder before it looks at partitions. */
static int open_data_folder(struct log_verify *verify, const char *data_folder)
{
    enum data_dir_mark mark;
    verify->topics = NULL;
    verify->was_clean = data_dir_look_at_mark(verify->fs, data_folder, &mark) == 0 &&
                        mark == DATA_DIR_MARK_HOLDS;
    int err = verify_points_open(&verify->points);
    return err == 0 ? verify_topics_read(&verify->topics, verify->fs, data_folder) : err;
}

static void close_data_folder(struct log_verify *verify)
{
    verify_topics_close(verify->topics);
    verify_points_close(verify->points);
    verify->topics = NULL;
    verify->points = NULL;
}

/* Its name says which partition it is; "." would not. */
static int verify_whole_path(struct log_verify *verify, const char *path,
                             const struct log_names *files, const struct log_names *folders)
{
    char parent[PATH_MAX];
    bool is_partition = has_segments(files);
    if (!is_partition && !is_data_folder(verify->fs, path, files, folders)) return ERR_MALFORMED;
    log_parent(path, parent);
    int err = open_data_folder(verify, is_partition ? parent : path);
    if (err == 0)
        err = is_partition ? verify_partition(verify, path, str_from(name_of(path)))
                           : verify_data_folder(verify, path, folders);
    close_data_folder(verify);
    return err;
}

int log_verify_path(struct log_verify *verify, const char *path)
{
    struct log_names files = { 0 }, folders = { 0 };
    char whole[PATH_MAX];
    int err = log_names_read(&files, verify->fs, path, LOG_NAMES_OF_FILES);
    if (err == 0) err = log_names_read(&folders, verify->fs, path, LOG_NAMES_OF_FOLDERS);
    if (err == 0 && realpath(path, whole) == NULL) err = fs_path(whole, "%s", path);
    if (err == 0) err = verify_whole_path(verify, whole, &files, &folders);
    log_names_close(&files);
    log_names_close(&folders);
    return err;
}

void log_verify_summary(struct log_verify *verify)
{
    struct log_output *output = &verify->output;
    log_output_begin(output, "summary");
    log_output_number(output, "partitions", (int64_t)verify->partitions);
    log_output_number(output, "segments", (int64_t)verify->segments);
    log_output_number(output, "batches", (int64_t)verify->batches);
    log_output_number(output, "records", (int64_t)verify->record_count);
    log_output_number(output, "bytes", (int64_t)verify->bytes);
    log_output_number(output, "findings", (int64_t)verify->findings);
    log_output_end(output);
}
