// SPDX-License-Identifier: Apache-2.0
/* How fast records come out: from a topic's beginning up to its end, or so many of them.
 *
 * The rate is that from the first record to the last: finding out where they are takes as long for
 * few as for many, and is told beside it. Processor time is all of it. */

#include "bench_run.h"

#include <inttypes.h>

#include "alloc.h"
#include "clock.h"
#include "error.h"
#include "output.h"

#define RECORDS_PER_CALL 1000

struct reading {
    rd_kafka_queue_t *queue;
    int32_t first, count; /* Partitions. */
    int32_t started, ended;
    int64_t first_us;     /* When the first record came. */
    int64_t last_word_us; /* When anything came. */
};

/* False after complaining. */
static bool take(struct bench *bench, struct reading *reading, const rd_kafka_message_t *message)
{
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        reading->ended++;
    } else if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        output_complain("topic '%s', partition %" PRId32 ": %s", bench->topic_name,
                        message->partition, rd_kafka_message_errstr(message));
        return false;
    } else {
        bench->records++;
        bench->bytes += (int64_t)message->len;
    }
    return true;
}

static bool start(struct bench *bench, struct reading *reading)
{
    reading->queue = rd_kafka_queue_new(bench->consumer);
    for (; reading->started < reading->count; reading->started++)
        if (rd_kafka_consume_start_queue(bench->consumer_topic, reading->first + reading->started,
                                         RD_KAFKA_OFFSET_BEGINNING, reading->queue) != 0) {
            output_complain("partition %" PRId32 " cannot be read: %s",
                            reading->first + reading->started,
                            rd_kafka_err2str(rd_kafka_last_error()));
            return false;
        }
    return true;
}

static bool is_done(const struct bench *bench, const struct reading *reading)
{
    int64_t wanted = bench->settings->records;
    return reading->ended >= reading->count || (wanted > 0 && bench->records >= wanted);
}

static bool has_waited_enough(const struct bench *bench, const struct reading *reading)
{
    int64_t timeout_us = bench->settings->common.timeout_s * 1000000;
    if (clock_monotonic_us(clock_real()) - reading->last_word_us < timeout_us) return false;
    output_complain("nothing has come for %" PRId64 " s", bench->settings->common.timeout_s);
    output_hint("--timeout SECONDS waits longer");
    return true;
}

static void note_first(struct bench *bench, struct reading *reading)
{
    if (reading->first_us != 0 || bench->records == 0) return;
    reading->first_us = clock_monotonic_us(clock_real());
    bench->first_records = bench->records;
    bench->first_bytes = bench->bytes;
}

static bool take_all(struct bench *bench, struct reading *reading)
{
    rd_kafka_message_t **messages = mem_calloc(RECORDS_PER_CALL, sizeof *messages);
    bool is_good = messages != NULL;
    if (!is_good) output_complain("%s", error_text(ERR_NO_MEMORY));
    reading->last_word_us = bench->began_us;
    while (is_good && !is_done(bench, reading)) {
        ssize_t count = rd_kafka_consume_batch_queue(reading->queue, 100, messages,
                                                     RECORDS_PER_CALL);
        if (count > 0) reading->last_word_us = clock_monotonic_us(clock_real());
        for (ssize_t i = 0; i < count; i++) {
            if (is_good && !is_done(bench, reading)) is_good = take(bench, reading, messages[i]);
            rd_kafka_message_destroy(messages[i]);
        }
        note_first(bench, reading);
        rd_kafka_poll(bench->consumer, 0);
        if (!is_good || !bench_goes_on(bench, bench->records, bench->settings->records)) break;
        if (count <= 0 && has_waited_enough(bench, reading)) is_good = false;
    }
    mem_free(messages);
    return is_good;
}

bool bench_consume(struct bench *bench)
{
    int64_t one = bench->settings->partition;
    struct reading reading = { .first = one < 0 ? 0 : (int32_t)one,
                               .count = one < 0 ? bench->partitions : 1 };
    if (!bench_open_consumer(bench) || !bench_begin(bench)) return false;
    bool is_good = start(bench, &reading) && take_all(bench, &reading);
    bench_end(bench);
    if (reading.first_us != 0) {
        bench->first_seconds = (double)(reading.first_us - bench->began_us) / 1e6;
        bench->seconds -= bench->first_seconds;
    }
    for (int32_t i = 0; i < reading.started; i++)
        rd_kafka_consume_stop(bench->consumer_topic, reading.first + i);
    if (reading.queue != NULL) rd_kafka_queue_destroy(reading.queue);
    return is_good;
}
