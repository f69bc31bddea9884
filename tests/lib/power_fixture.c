// SPDX-License-Identifier: Apache-2.0
#include "power_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "batch_builder.h"
#include "error.h"
#include "runner.h"
#include "trace.h"

struct power_fixture power;

static void drop_line(void *context, const char *line)
{
    (void)context;
    (void)line;
}

int power_try_open(void)
{
    char why[256];
    struct partition_log_open_options options = {
        .clock = &power.clock.clock,
        .topic = "orders",
        .topic_id = power.topic_id,
        .settings = power.settings,
        .cut_only_from = power.cut_only_from,
        .may_restart_at = power.may_restart_at,
    };

    int err = data_dir_open(&power.dir, power.fs, POWER_FOLDER, why, sizeof why);
    options.dir = power.dir;
    if (err == 0) err = data_dir_begin(power.dir);
    if (err == 0 && data_dir_identity(power.dir)->is_new)
        err = data_dir_set_identity(power.dir, "cluster", 1);
    if (err == 0) err = partition_log_open(&power.log, &options, &power.recovery);
    return err;
}

void power_open(void)
{
    assert_int_equal(power_try_open(), 0);
}

void power_start(uint64_t seed)
{
    if (getenv("SLUICE_TRACE") == NULL) trace_set_sink(drop_line, NULL);
    fs_sim_close(power.sim);
    power.sim = fs_sim_open(&(struct fs_sim_options){ .seed = seed, .names = FS_SIM_NAMES_EACH });
    power.fs = fs_sim_fs(power.sim);
    clock_manual_init(&power.clock, POWER_BEGIN_MS);
    topic_settings_defaults(&power.settings);
    power.settings.segment_bytes = 1000;
    power.settings.index_interval_bytes = 100;
    power.settings.file_delete_delay_ms = 0;
    memset(power.topic_id.bytes, 1, sizeof power.topic_id.bytes);
    power.next_time = POWER_BEGIN_MS;
    power.cut_only_from = -1;
    power.may_restart_at = 0;
    power_open();
}

void power_close(void)
{
    partition_log_close(power.log);
    data_dir_close(power.dir);
    power.log = NULL;
    power.dir = NULL;
}

void power_kill(void)
{
    fs_sim_kill(power.sim);
    power_close();
    fs_sim_restart(power.sim);
}

void power_lose(void)
{
    fs_sim_cut_power(power.sim);
    power_close();
    fs_sim_restart(power.sim);
}

void power_stop(void)
{
    assert_int_equal(partition_log_checkpoint(power.log), 0);
    partition_log_close(power.log);
    power.log = NULL;
    assert_int_equal(data_dir_write_checkpoints(power.dir), 0);
    assert_int_equal(data_dir_mark_clean(power.dir, 1), 0);
    power_close();
}

void power_checkpoint(void)
{
    assert_int_equal(partition_log_checkpoint(power.log), 0);
    assert_int_equal(data_dir_write_checkpoints(power.dir), 0);
}

int power_append(struct power_batch wish)
{
    static const uint8_t value[100];
    static const uint8_t abort_marker[4]; /* Version 0, type 0. */
    bool is_marker = (wish.attributes & BATCH_CONTROL) != 0;
    struct batch_builder builder;
    struct buffer data;
    struct log_append *rest;

    batch_builder_init(&builder);
    buffer_init(&data);
    builder.attributes = wish.attributes;
    if (wish.producer_id > 0) {
        builder.producer_id = wish.producer_id;
        builder.producer_epoch = 0;
        builder.base_sequence = wish.sequence;
    }
    for (int32_t i = 0; i < (wish.records == 0 ? 1 : wish.records); i++)
        batch_builder_append(&builder, power.next_time++,
                             is_marker ? (struct bytes){ abort_marker, sizeof abort_marker }
                                       : BYTES_NULL,
                             (struct bytes){ value, sizeof value }, NULL, 0);
    assert_int_equal(batch_builder_finish(&builder, &data), 0);
    if (wish.offset >= 0) record_batch_set_position(data.data, wish.offset, wish.epoch);
    struct log_append appended = { .data = data.data, .from_client = wish.offset < 0 };
    assert_int_equal(record_batch_read_header(&appended.batch, data.data, data.length), 0);
    assert_int_equal(
        partition_log_append(power.log, &appended, wish.epoch, POWER_BEGIN_MS, true, &rest), 0);
    batch_builder_close(&builder);
    buffer_close(&data);
    return appended.err != 0 ? appended.err : appended.is_repeat ? ERR_DUPLICATE_RESOURCE : 0;
}

void power_append_many(int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(power_append((struct power_batch){ .offset = -1 }), 0);
}

int64_t power_end(void)
{
    return partition_log_end_offset(power.log);
}

int64_t power_start_offset(void)
{
    return partition_log_start_offset(power.log);
}

int64_t power_find_time(int64_t timestamp)
{
    struct log_position position;

    assert_int_equal(partition_log_find_timestamp(power.log, timestamp, INT64_MAX, true, &position),
                     0);
    return position.offset;
}

int64_t power_find_newest(void)
{
    struct log_position position;

    assert_int_equal(partition_log_find_max_timestamp(power.log, INT64_MAX, true, &position), 0);
    return position.offset;
}

void power_retain(void)
{
    int64_t next_ms;

    assert_int_equal(
        partition_log_retain(power.log, power_end(), clock_wall_ms(&power.clock.clock), &next_ms),
        0);
}

bool power_has(const char *path)
{
    bool exists = false;

    assert_int_equal(power.fs->exists(power.fs, path, &exists), 0);
    return exists;
}

void power_end_disk(void)
{
    fs_sim_close(power.sim);
    power.sim = NULL;
}
