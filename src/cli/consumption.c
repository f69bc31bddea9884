// SPDX-License-Identifier: Apache-2.0
#include "consumption.h"

#include <inttypes.h>
#include <stdio.h>

#include "alloc.h"
#include "clock.h"
#include "error.h"
#include "output.h"
#include "record_json.h"

/* ---- where to begin and to end ----------------------------------------------------------------- */

/* Asks for the offset of each partition's end (`time_ms` -1), or of its first record of `time_ms` or
 * later, -1 if there is none. Complains on failure. */
static int ask_offsets(struct consumption *consumption, int64_t time_ms, int64_t *offsets)
{
    int32_t count = consumption->partition_count;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    for (int32_t i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, consumption->topic_name,
                                          consumption->first_partition + i)
            ->offset = time_ms;
    rd_kafka_resp_err_t error = rd_kafka_offsets_for_times(
        consumption->kafka, list, (int)consumption->settings->common.timeout_s * 1000);
    for (int i = 0; i < list->cnt && error == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
        error = list->elems[i].err;
        offsets[list->elems[i].partition - consumption->first_partition] = list->elems[i].offset;
    }
    rd_kafka_topic_partition_list_destroy(list);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
    output_complain("the offsets of topic '%s' cannot be found out: %s", consumption->topic_name,
                    rd_kafka_err2str(error));
    output_hint("--timeout SECONDS waits longer");
    return ERR_IO;
}

static int find_beginning(struct consumption *consumption, int64_t *offsets)
{
    int err = 0;
    if (consumption->from.kind == POSITION_TIME)
        err = ask_offsets(consumption, consumption->from.value, offsets);
    for (int32_t i = 0; err == 0 && i < consumption->partition_count; i++) {
        int64_t *from = &consumption->readings[i].from;
        switch (consumption->from.kind) {
        case POSITION_BEGINNING: *from = RD_KAFKA_OFFSET_BEGINNING; break;
        case POSITION_END: *from = RD_KAFKA_OFFSET_END; break;
        case POSITION_OFFSET: *from = consumption->from.value; break;
        case POSITION_LAST: *from = RD_KAFKA_OFFSET_TAIL(consumption->from.value); break;
        case POSITION_TIME: *from = offsets[i] < 0 ? RD_KAFKA_OFFSET_END : offsets[i]; break;
        }
    }
    return err;
}

static int find_end(struct consumption *consumption, int64_t *offsets)
{
    enum position_kind kind = consumption->until.kind;
    bool by_time = kind == POSITION_TIME;
    int err = 0;
    if (consumption->settings->follows && consumption->settings->until == NULL) return 0;
    if (by_time) consumption->until_ms = consumption->until.value;
    if (kind != POSITION_OFFSET)
        err = ask_offsets(consumption, by_time ? consumption->until.value : -1, offsets);
    for (int32_t i = 0; err == 0 && i < consumption->partition_count; i++) {
        int64_t *until = &consumption->readings[i].until;
        if (kind == POSITION_OFFSET)
            *until = consumption->until.value;
        else if (kind == POSITION_LAST)
            *until = offsets[i] - consumption->until.value;
        else if (offsets[i] >= 0)
            *until = offsets[i];
    }
    return err;
}

static int find_places(struct consumption *consumption)
{
    int64_t *offsets = mem_calloc((size_t)consumption->partition_count, sizeof *offsets);
    if (offsets == NULL) {
        output_complain("%s", error_text(ERR_NO_MEMORY));
        return ERR_NO_MEMORY;
    }
    for (int32_t i = 0; i < consumption->partition_count; i++)
        consumption->readings[i].until = INT64_MAX;
    int err = find_beginning(consumption, offsets);
    if (err == 0) err = find_end(consumption, offsets);
    mem_free(offsets);
    return err;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static bool open_kafka(struct consumption *consumption)
{
    bool is_number = consumption->from.kind == POSITION_OFFSET;
    const struct conf_pair pairs[] = {
        { "enable.partition.eof", "true" },
        /* An offset that was asked for and is not there is an error, not another offset. */
        { "auto.offset.reset", is_number ? "error" : "earliest" },
        { "queued.min.messages", "1000000" }, /* its default pauses for a second when reached */
        { "fetch.wait.max.ms", "100" },
        { "allow.auto.create.topics", "false" },
        { "check.crcs", "true" },
        { NULL, NULL },
    };
    rd_kafka_conf_t *conf = kafka_conf_new(&consumption->settings->common, pairs,
                                           &consumption->watch);
    if (conf == NULL) return false;
    consumption->kafka = kafka_open(RD_KAFKA_CONSUMER, conf);
    if (consumption->kafka == NULL) return false;
    consumption->queue = rd_kafka_queue_new(consumption->kafka);
    consumption->topic = rd_kafka_topic_new(consumption->kafka, consumption->topic_name, NULL);
    if (consumption->topic == NULL)
        output_complain("librdkafka does not take topic '%s': %s", consumption->topic_name,
                        rd_kafka_err2str(rd_kafka_last_error()));
    return consumption->topic != NULL;
}

/* Partitions are read without a group: nothing is committed, nobody else is disturbed. */
static bool start_partitions(struct consumption *consumption)
{
    for (int32_t i = 0; i < consumption->partition_count; i++) {
        struct reading *reading = &consumption->readings[i];
        int32_t partition = consumption->first_partition + i;
        if (rd_kafka_consume_start_queue(consumption->topic, partition, reading->from,
                                         consumption->queue) != 0) {
            output_complain("partition %" PRId32 " cannot be read: %s", partition,
                            rd_kafka_err2str(rd_kafka_last_error()));
            return false;
        }
        reading->is_started = true;
    }
    return true;
}

static void stop_partition(struct consumption *consumption, struct reading *reading)
{
    if (!reading->is_started) return;
    reading->is_started = false;
    rd_kafka_consume_stop(consumption->topic, consumption->first_partition +
                                                  (int32_t)(reading - consumption->readings));
}

static void end_partition(struct consumption *consumption, struct reading *reading)
{
    if (reading->is_done) return;
    reading->is_done = true;
    consumption->done_count++;
    stop_partition(consumption, reading);
}

/* `next_offset` is the first that is not there yet. */
static void note_end(struct consumption *consumption, struct reading *reading, int64_t next_offset)
{
    reading->is_at_end = true;
    if (!consumption->settings->follows || next_offset >= reading->until)
        end_partition(consumption, reading);
}

/* Who follows up to a time is done when that time has come and no more is there. */
static void end_by_clock(struct consumption *consumption)
{
    if (clock_wall_ms(clock_real()) < consumption->until_ms) return;
    for (int32_t i = 0; i < consumption->partition_count; i++)
        if (consumption->readings[i].is_at_end)
            end_partition(consumption, &consumption->readings[i]);
}

static int print_record(struct consumption *consumption, rd_kafka_message_t *message)
{
    int err = consumption->settings->common.as_json
                  ? record_json_print(message, stdout)
                  : format_print(&consumption->format, message, consumption->to_terminal, stdout);
    if (err != 0 && err != ERR_IO) output_complain("%s", error_text(err));
    return err;
}

static int take_record(struct consumption *consumption, struct reading *reading,
                       rd_kafka_message_t *message)
{
    rd_kafka_timestamp_type_t kind;
    reading->is_at_end = false;
    if (message->offset >= reading->until ||
        rd_kafka_message_timestamp(message, &kind) >= consumption->until_ms) {
        end_partition(consumption, reading);
        return 0;
    }
    consumption->taken++;
    if (message->offset + 1 >= reading->until) end_partition(consumption, reading);
    return print_record(consumption, message);
}

/* Returns 0, or an error that ends the command, after complaining. */
static int take_message(struct consumption *consumption, rd_kafka_message_t *message)
{
    int32_t i = message->partition - consumption->first_partition;
    if (i < 0 || i >= consumption->partition_count) return 0;
    struct reading *reading = &consumption->readings[i];
    if (reading->is_done) return 0; /* what was fetched beyond */
    switch (message->err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR: return take_record(consumption, reading, message);
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        note_end(consumption, reading, message->offset);
        return 0;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        output_complain("partition %" PRId32 " has no offset %" PRId64, message->partition,
                        consumption->from.value);
        output_hint("--from beginning shows what is there; with --offsets, where it is");
        return ERR_OFFSET_OUT_OF_RANGE;
    default:
        output_complain("topic '%s', partition %" PRId32 ": %s", consumption->topic_name,
                        message->partition, rd_kafka_message_errstr(message));
        return ERR_IO;
    }
}

static bool is_done(const struct consumption *consumption)
{
    const struct consume_settings *settings = consumption->settings;
    if (settings->count >= 0 && consumption->taken >= settings->count) return true;
    return consumption->done_count == consumption->partition_count;
}

/* Who follows waits for a lost broker for ever; who wants to reach an end does not. */
static bool has_waited_enough(const struct consumption *consumption, int64_t last_word_us)
{
    const struct consume_settings *settings = consumption->settings;
    if (settings->follows || !consumption->watch.is_down ||
        clock_monotonic_us(clock_real()) - last_word_us < settings->common.timeout_s * 1000000)
        return false;
    output_complain("no broker has answered for %" PRId64 " s", settings->common.timeout_s);
    output_hint("is it still running? --timeout SECONDS waits longer");
    return true;
}

static enum status take_all(struct consumption *consumption)
{
    int64_t last_word_us = clock_monotonic_us(clock_real());
    while (!is_done(consumption)) {
        rd_kafka_message_t *message = rd_kafka_consume_queue(consumption->queue, 0);
        if (message == NULL) { /* what is there is shown before we wait */
            if (output_finish() != 0) return STATUS_FAILED;
            if (stop_signals_came(&consumption->signals)) return STATUS_OK;
            end_by_clock(consumption);
            rd_kafka_poll(consumption->kafka, 0);
            if (has_waited_enough(consumption, last_word_us)) return STATUS_FAILED;
            message = rd_kafka_consume_queue(consumption->queue, 100);
        }
        if (message == NULL) continue;
        consumption->watch.is_down = false;
        last_word_us = clock_monotonic_us(clock_real());
        int err = take_message(consumption, message);
        rd_kafka_message_destroy(message);
        if (err != 0) {
            output_finish();
            return STATUS_FAILED;
        }
        if (consumption->taken % 1024 == 0 && stop_signals_came(&consumption->signals)) break;
    }
    return output_finish() == 0 ? STATUS_OK : STATUS_FAILED;
}

enum status consumption_run(struct consumption *consumption)
{
    if (!open_kafka(consumption) || find_places(consumption) != 0 || !start_partitions(consumption))
        return STATUS_FAILED;
    return take_all(consumption);
}

void consumption_close(struct consumption *consumption)
{
    for (int32_t i = 0; consumption->readings != NULL && i < consumption->partition_count; i++)
        stop_partition(consumption, &consumption->readings[i]);
    if (consumption->queue != NULL) rd_kafka_queue_destroy(consumption->queue);
    if (consumption->topic != NULL) rd_kafka_topic_destroy(consumption->topic);
    if (consumption->kafka != NULL) rd_kafka_destroy(consumption->kafka);
    stop_signals_close(&consumption->signals);
    format_close(&consumption->format);
    mem_free(consumption->readings);
}
