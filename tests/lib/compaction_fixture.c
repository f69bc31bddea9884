// SPDX-License-Identifier: Apache-2.0
#include "compaction_fixture.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "batch_builder.h"
#include "error.h"
#include "segment.h"

static int64_t append_built(struct log_fixture *fixture, struct buffer *data)
{
    struct log_append *rest;
    struct log_append append = { .data = data->data, .from_client = true };

    assert_int_equal(record_batch_read_header(&append.batch, data->data, data->length), 0);
    assert_int_equal(partition_log_append(fixture->log, &append, 0,
                                          clock_wall_ms(&fixture->clock.clock), true, &rest),
                     0);
    partition_log_set_settings(fixture->log, &fixture->settings); /* A roll is over. */
    assert_null(rest);
    assert_int_equal(append.err, 0);
    return append.base_offset;
}

int64_t compaction_append_as(struct log_fixture *fixture, const char *records,
                             const struct batch_spec *spec)
{
    struct batch_builder builder;
    struct buffer data;
    int64_t timestamp = spec->timestamp == 0 ? FIXTURE_NOW_MS : spec->timestamp;

    batch_builder_init(&builder);
    buffer_init(&data);
    builder.attributes = spec->attributes;
    if (spec->producer_id != 0) {
        builder.producer_id = spec->producer_id;
        builder.producer_epoch = spec->producer_epoch;
        builder.base_sequence = spec->base_sequence;
    }
    for (const char *at = records; *at != '\0';) {
        size_t length = strcspn(at, " ");
        const char *equals = memchr(at, '=', length);
        size_t key_length = equals == NULL ? length : (size_t)(equals - at);
        struct bytes key = { (const uint8_t *)at, (int32_t)key_length };
        struct bytes value = BYTES_NULL;
        if (equals != NULL)
            value = (struct bytes){ (const uint8_t *)equals + 1,
                                    (int32_t)(length - key_length - 1) };
        batch_builder_append(&builder, timestamp++, key, value, NULL, 0);
        at += length;
        at += strspn(at, " ");
    }
    assert_int_equal(batch_builder_finish(&builder, &data), 0);
    batch_builder_close(&builder);
    int64_t base_offset = append_built(fixture, &data);
    buffer_close(&data);
    return base_offset;
}

int64_t compaction_append(struct log_fixture *fixture, const char *records)
{
    return compaction_append_as(fixture, records, &(struct batch_spec){ .record_count = 0 });
}

int64_t compaction_append_marker(struct log_fixture *fixture, int64_t producer_id, bool is_commit)
{
    struct marker_spec spec = { .producer_id = producer_id, .is_commit = is_commit };
    int64_t offset = partition_log_end_offset(fixture->log);

    assert_int_equal(fixture_append_marker(fixture, &spec), 0);
    return offset;
}

void compaction_roll(struct log_fixture *fixture)
{
    struct topic_settings settings = fixture->settings;

    settings.segment_ms = INT64_MIN / 2; /* Any age is too old. */
    partition_log_set_settings(fixture->log, &settings);
}

static bool never(void *owner)
{
    (void)owner;
    return false;
}

static void spend_nothing(void *owner, int64_t bytes)
{
    (void)owner;
    (void)bytes;
}

struct compaction_options compaction_plain(struct log_fixture *fixture)
{
    return (struct compaction_options){
        .below_offset = partition_log_end_offset(fixture->log),
        .now_ms = clock_wall_ms(&fixture->clock.clock),
        .map_bytes = 1 << 20,
        .map_load = 0.9,
        .buffer_bytes = 4096,
        .is_cancelled = never,
        .spend = spend_nothing,
    };
}

int compaction_pass(struct log_fixture *fixture, const struct compaction_options *options,
                    struct compaction_result *result)
{
    struct compaction *compaction = NULL;
    bool is_ready = true;

    int err = compaction_begin(&compaction, fixture->log, options);
    if (err == ERR_NOT_FOUND) return 0;
    while (err == 0 && is_ready) {
        err = compaction_next(compaction, &is_ready);
        if (err == 0 && is_ready) err = compaction_swap(compaction);
    }
    if (err == 0 && result != NULL) compaction_result(compaction, result);
    compaction_close(compaction);
    return err;
}

void compaction_run(struct log_fixture *fixture)
{
    struct compaction_options options = compaction_plain(fixture);

    assert_int_equal(compaction_pass(fixture, &options, NULL), 0);
}

static char text[1 << 16];
static size_t text_length;

static void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text + text_length, sizeof text - text_length, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < sizeof text - text_length);
    text_length += (size_t)length;
}

static void print_batch(const struct record_batch *batch, int64_t from)
{
    struct record_walk *walk;
    struct record record;
    int err;

    if (batch->record_count == 0)
        print("%s[%" PRId64 "-%" PRId64 "]", text_length > 0 ? " " : "", batch->base_offset,
              record_batch_last_offset(batch));
    assert_int_equal(record_walk_open(&walk, batch, INT64_MAX), 0);
    while ((err = record_walk_next(walk, &record)) == 0) {
        if (record.offset < from) continue;
        print("%s%" PRId64, text_length > 0 ? " " : "", record.offset);
        if (batch->attributes & BATCH_CONTROL)
            print("!");
        else
            print(":%.*s", record.key.length, (const char *)record.key.data);
        if (!(batch->attributes & BATCH_CONTROL) && record.value.length >= 0)
            print("=%.*s", record.value.length, (const char *)record.value.data);
    }
    assert_int_equal(err, ERR_NOT_FOUND);
    record_walk_close(walk);
}

const char *compaction_text_from(struct log_fixture *fixture, int64_t from)
{
    int64_t offset = from;

    text_length = 0;
    text[0] = '\0';
    while (offset < partition_log_end_offset(fixture->log)) {
        struct buffer data;
        struct log_read read = {
            .from_offset = offset,
            .below_offset = INT64_MAX,
            .max_bytes = 300,
            .at_least_one = true,
            .may_block = true,
        };
        buffer_init(&data);
        assert_int_equal(fixture_read(fixture, &read, &data), 0);
        assert_true(read.next_offset > offset);
        for (size_t at = 0; at < data.length;) {
            struct record_batch batch;
            assert_int_equal(record_batch_read_header(&batch, data.data + at, data.length - at), 0);
            assert_true(record_batch_crc_is_right(&batch));
            assert_true(record_batch_last_offset(&batch) >= offset);
            print_batch(&batch, from);
            at += batch.size;
        }
        buffer_close(&data);
        offset = read.next_offset;
    }
    return text;
}

const char *compaction_text(struct log_fixture *fixture)
{
    return compaction_text_from(fixture, partition_log_start_offset(fixture->log));
}

static int compare_offsets(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return left < right ? -1 : left > right;
}

const char *compaction_segments(const struct log_fixture *fixture)
{
    static char bases_text[4096];
    int64_t bases[256];
    size_t count = 0, length = 0;
    DIR *folder = opendir(fixture->folder);
    const struct dirent *entry;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        const char *suffix = "";
        int64_t base_offset = segment_parse_name(entry->d_name, &suffix);
        if (base_offset >= 0 && strcmp(suffix, ".log") == 0 && count < 256)
            bases[count++] = base_offset;
    }
    closedir(folder);
    qsort(bases, count, sizeof bases[0], compare_offsets);
    bases_text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(bases_text + length, sizeof bases_text - length, "%s%" PRId64,
                                   i > 0 ? " " : "", bases[i]);
    return bases_text;
}
