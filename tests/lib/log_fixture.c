// SPDX-License-Identifier: Apache-2.0

#include "log_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch_builder.h"
#include "error.h"
#include "trace.h"

static void drop_line(void *context, const char *line)
{
    (void)context;
    (void)line;
}

void folder_fixture_start(struct folder_fixture *fixture, size_t file_limit, uint32_t block_limit)
{
    struct fs *fs = &fixture->disk.fs;

    if (getenv("SLUICE_TRACE") == NULL) trace_set_sink(drop_line, NULL);
    fs_fault_init(&fixture->disk);
    assert_int_equal(file_cache_open(&fixture->files, fs, file_limit), 0);
    assert_int_equal(block_cache_open(&fixture->blocks, block_limit), 0);
    assert_int_equal(
        segment_folder_open(&fixture->folder, fs, fixture->files, fixture->blocks, test_folder()),
        0);
}

void folder_fixture_stop(struct folder_fixture *fixture)
{
    assert_int_equal(atomic_load(&fixture->disk.open_files), 0);
    segment_folder_release(fixture->folder);
    file_cache_release(fixture->files);
    block_cache_close(fixture->blocks);
}

void fixture_init(struct log_fixture *fixture, const char *path)
{
    /* What storage says about damage that a test made is no news; SLUICE_TRACE shows it. */
    if (getenv("SLUICE_TRACE") == NULL) trace_set_sink(drop_line, NULL);
    memset(fixture, 0, sizeof *fixture);
    snprintf(fixture->path, sizeof fixture->path, "%s", path);
    assert_int_equal(fs_path(fixture->folder, "%s/" FIXTURE_TOPIC "-0", path), 0);
    fs_fault_init(&fixture->disk);
    clock_manual_init(&fixture->clock, FIXTURE_NOW_MS);
    topic_settings_defaults(&fixture->settings);
    fixture->settings.index_interval_bytes = 100;
    memset(fixture->topic_id.bytes, 7, sizeof fixture->topic_id.bytes);
    fixture->cut_only_from = -1;
}

int fixture_open(struct log_fixture *fixture)
{
    char why[256];
    struct partition_log_open_options options = {
        .clock = &fixture->clock.clock,
        .topic = FIXTURE_TOPIC,
        .partition = 0,
        .topic_id = fixture->topic_id,
        .settings = fixture->settings,
        .cut_only_from = fixture->cut_only_from,
        .may_restart_at = fixture->may_restart_at,
        .producer_expiration_ms = fixture->producer_expiration_ms,
    };

    int err = data_dir_open(&fixture->dir, &fixture->disk.fs, fixture->path, why, sizeof why);
    if (err != 0) return err;
    options.dir = fixture->dir;
    err = data_dir_begin(fixture->dir);
    if (err == 0) err = partition_log_open(&fixture->log, &options, &fixture->recovery);
    if (err != 0) {
        data_dir_close(fixture->dir);
        fixture->dir = NULL;
    }
    return err;
}

void fixture_write_metadata(const struct log_fixture *fixture)
{
    char id[UUID_TEXT_SIZE], text[64], path[PATH_MAX];
    uuid_print(&fixture->topic_id, id);
    int length = snprintf(text, sizeof text, "version: 0\ntopic_id: %s", id);
    assert_int_equal(fs_path(path, "%s/partition.metadata", fixture->folder), 0);
    assert_int_equal(fs_write_file(fs_posix(), path, text, (size_t)length, false), 0);
}

void fixture_start(struct log_fixture *fixture)
{
    fixture_init(fixture, test_folder());
    assert_int_equal(fixture_open(fixture), 0);
}

void fixture_close(struct log_fixture *fixture)
{
    partition_log_close(fixture->log);
    data_dir_close(fixture->dir);
    fixture->log = NULL;
    fixture->dir = NULL;
}

void fixture_stop(struct log_fixture *fixture)
{
    assert_int_equal(partition_log_checkpoint(fixture->log), 0);
    partition_log_close(fixture->log);
    fixture->log = NULL;
    assert_int_equal(data_dir_write_checkpoints(fixture->dir), 0);
    assert_int_equal(data_dir_mark_clean(fixture->dir, 1), 0);
    fixture_close(fixture);
}

void fixture_reopen(struct log_fixture *fixture)
{
    assert_int_equal(fixture_open(fixture), 0);
}

void fixture_kill_only(struct log_fixture *fixture)
{
    const char *copy = test_folder();

    /* Checkpoints that were set but not written die too: the copy has the files only. */
    copy_tree(fixture->path, copy);
    fixture_close(fixture);
    snprintf(fixture->path, sizeof fixture->path, "%s", copy);
    assert_int_equal(fs_path(fixture->folder, "%s/" FIXTURE_TOPIC "-0", copy), 0);
}

void fixture_kill(struct log_fixture *fixture)
{
    fixture_kill_only(fixture);
    fixture_reopen(fixture);
}

void batch_spec_build(const struct batch_spec *spec, struct buffer *out)
{
    static uint8_t value[1 << 20];
    struct batch_builder builder;
    int32_t count = spec->record_count == 0 ? 1 : spec->record_count;
    int64_t timestamp = spec->timestamp == 0 ? FIXTURE_NOW_MS : spec->timestamp;

    assert_true(spec->value_bytes <= sizeof value);
    batch_builder_init(&builder);
    builder.attributes = spec->attributes;
    if (spec->producer_id != 0) {
        builder.producer_id = spec->producer_id;
        builder.producer_epoch = spec->producer_epoch;
        builder.base_sequence = spec->base_sequence;
    }
    for (int32_t i = 0; i < count; i++) {
        memset(value, 'a' + (int)((timestamp + i) % 26), spec->value_bytes);
        batch_builder_append(&builder, timestamp + i, BYTES_NULL,
                             (struct bytes){ value, (int32_t)spec->value_bytes }, NULL, 0);
    }
    assert_int_equal(batch_builder_finish(&builder, out), 0);
    batch_builder_close(&builder);
}

int fixture_append_as(struct log_fixture *fixture, const struct batch_spec *spec,
                      int32_t leader_epoch)
{
    struct buffer data;
    struct log_append *rest;

    buffer_init(&data);
    batch_spec_build(spec, &data);
    struct log_append append = { .data = data.data, .from_client = true };
    assert_int_equal(record_batch_read_header(&append.batch, data.data, data.length), 0);
    int err = partition_log_append(fixture->log, &append, leader_epoch,
                                   clock_wall_ms(&fixture->clock.clock), true, &rest);
    assert_true(err == 0 && rest == NULL);
    buffer_close(&data);
    return append.err;
}

int fixture_append(struct log_fixture *fixture, const struct batch_spec *spec)
{
    return fixture_append_as(fixture, spec, 0);
}

void marker_spec_build(const struct marker_spec *spec, int64_t base_offset, struct buffer *out)
{
    uint8_t key[4] = { 0 }, value[6] = { 0 };
    struct batch_builder builder;

    store_i16(key + 2, spec->is_commit);
    store_i32(value + 2, spec->coordinator_epoch);
    batch_builder_init(&builder);
    builder.base_offset = base_offset;
    builder.attributes = BATCH_CONTROL | BATCH_TRANSACTIONAL;
    builder.producer_id = spec->producer_id;
    builder.producer_epoch = spec->producer_epoch;
    batch_builder_append(&builder, spec->timestamp == 0 ? FIXTURE_NOW_MS : spec->timestamp,
                         (struct bytes){ key, 4 }, (struct bytes){ value, 6 }, NULL, 0);
    assert_int_equal(batch_builder_finish(&builder, out), 0);
    batch_builder_close(&builder);
}

int fixture_append_marker(struct log_fixture *fixture, const struct marker_spec *spec)
{
    struct buffer data;
    struct log_append *rest;

    buffer_init(&data);
    marker_spec_build(spec, partition_log_end_offset(fixture->log), &data);
    struct log_append append = { .data = data.data };
    assert_int_equal(record_batch_read_header(&append.batch, data.data, data.length), 0);
    int err = partition_log_append(fixture->log, &append, 0, clock_wall_ms(&fixture->clock.clock),
                                   true, &rest);
    assert_true(err == 0 && rest == NULL);
    buffer_close(&data);
    return append.err;
}

void fixture_append_many(struct log_fixture *fixture, int count, size_t value_bytes)
{
    for (int i = 0; i < count; i++) {
        struct batch_spec spec = {
            .timestamp = FIXTURE_NOW_MS + partition_log_end_offset(fixture->log),
            .value_bytes = value_bytes,
        };
        assert_int_equal(fixture_append(fixture, &spec), 0);
    }
}

int fixture_read(struct log_fixture *fixture, struct log_read *read, struct buffer *out)
{
    int err = partition_log_read(fixture->log, read);

    if (err == 0 && read->slice.length > 0) {
        uint8_t *to = buffer_extend(out, read->slice.length);
        assert_non_null(to);
        struct fs *real = fixture->disk.real;
        size_t got = 0;
        assert_int_equal(
            real->read(real, read->slice.fd, to, read->slice.length, read->slice.offset, &got), 0);
        assert_int_equal(got, read->slice.length);
    }
    if (err == 0) file_slice_release(&read->slice);
    return err;
}

/* Counts and checks the batches of a slice. */
static int check_batches(const struct buffer *data, int64_t from_offset, int64_t next_offset)
{
    int count = 0;
    int64_t last_offset = -1;

    for (size_t at = 0; at < data->length; count++) {
        struct record_batch batch;
        assert_int_equal(record_batch_read_header(&batch, data->data + at, data->length - at), 0);
        assert_true(batch.size <= data->length - at);
        assert_true(record_batch_crc_is_right(&batch));
        assert_true(batch.base_offset > last_offset);
        last_offset = record_batch_last_offset(&batch);
        assert_true(last_offset >= from_offset && last_offset < next_offset);
        at += batch.size;
    }
    return count;
}

int fixture_read_all(struct log_fixture *fixture, size_t max_bytes, struct buffer *out)
{
    int64_t offset = partition_log_start_offset(fixture->log);
    int count = 0;

    while (offset < partition_log_end_offset(fixture->log)) {
        struct buffer piece;
        struct log_read read = {
            .from_offset = offset,
            .below_offset = INT64_MAX,
            .max_bytes = max_bytes,
            .at_least_one = true,
            .may_block = true,
        };
        buffer_init(&piece);
        assert_int_equal(fixture_read(fixture, &read, &piece), 0);
        count += check_batches(&piece, offset, read.next_offset);
        if (out != NULL) buffer_put(out, piece.data, piece.length);
        bool is_done = read.next_offset == offset; /* A hole at the end. */
        offset = read.next_offset;
        buffer_close(&piece);
        if (is_done) break;
    }
    return count;
}

static void load(const char *path, struct buffer *out)
{
    int fd = open(path, O_RDONLY);
    uint8_t piece[4096];
    ssize_t got;

    assert_true(fd >= 0);
    while ((got = read(fd, piece, sizeof piece)) > 0)
        buffer_put(out, piece, (size_t)got);
    close(fd);
}

static void save(const char *path, const void *data, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, length), length);
    close(fd);
}

void copy_tree(const char *from, const char *to)
{
    DIR *folder = opendir(from);
    const struct dirent *entry;

    assert_non_null(folder);
    mkdir(to, 0755);
    while ((entry = readdir(folder)) != NULL) {
        char source[PATH_MAX], target[PATH_MAX];
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        assert_int_equal(fs_path(source, "%s/%s", from, entry->d_name), 0);
        assert_int_equal(fs_path(target, "%s/%s", to, entry->d_name), 0);
        assert_int_equal(stat(source, &status), 0);
        if (S_ISDIR(status.st_mode)) {
            copy_tree(source, target);
        } else {
            struct buffer data;
            buffer_init(&data);
            load(source, &data);
            save(target, data.data, data.length);
            buffer_close(&data);
        }
    }
    closedir(folder);
}

void fixture_file(const struct log_fixture *fixture, const char *name, char path[PATH_MAX])
{
    assert_int_equal(fs_path(path, "%s/%s", fixture->folder, name), 0);
}

bool fixture_has_file(const struct log_fixture *fixture, const char *name)
{
    char path[PATH_MAX];

    fixture_file(fixture, name, path);
    return access(path, F_OK) == 0;
}

int64_t fixture_file_size(const struct log_fixture *fixture, const char *name)
{
    char path[PATH_MAX];
    struct stat status;

    fixture_file(fixture, name, path);
    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

void fixture_load_file(const struct log_fixture *fixture, const char *name, struct buffer *out)
{
    char path[PATH_MAX];

    fixture_file(fixture, name, path);
    load(path, out);
}

void fixture_save_file(const struct log_fixture *fixture, const char *name, const void *data,
                       size_t length)
{
    char path[PATH_MAX];

    fixture_file(fixture, name, path);
    save(path, data, length);
}

void fixture_remove_file(const struct log_fixture *fixture, const char *name)
{
    char path[PATH_MAX];

    fixture_file(fixture, name, path);
    assert_int_equal(unlink(path), 0);
}
