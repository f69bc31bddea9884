// SPDX-License-Identifier: Apache-2.0
/* How long one record takes that is alone under way: until it is acknowledged, or until a consumer
 * has it. */

#include "bench_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "output.h"

/* The first tenth is not counted: caches and connections are cold. */
#define WARM_UP 10

/* What a consumer knows the record by. */
#define MARK_BYTES 16

static int64_t now_us(void)
{
    return clock_monotonic_us(clock_real());
}

/* Waits until the consumer has the record with this mark. False after complaining. */
static bool await_record(struct bench *bench, int32_t partition, const char *mark)
{
    int64_t timeout_us = bench->settings->common.timeout_s * 1000000, began_us = now_us();
    for (;;) {
        rd_kafka_message_t *message = rd_kafka_consume(bench->consumer_topic, partition, 100);
        bool is_it = message != NULL && message->err == RD_KAFKA_RESP_ERR_NO_ERROR &&
                     message->len >= MARK_BYTES && memcmp(message->payload, mark, MARK_BYTES) == 0;
        bool is_bad = message != NULL && message->err != RD_KAFKA_RESP_ERR_NO_ERROR &&
                      message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF;
        if (is_bad)
            output_complain("topic '%s', partition %" PRId32 ": %s", bench->topic_name, partition,
                            rd_kafka_message_errstr(message));
        if (message != NULL) rd_kafka_message_destroy(message);
        if (is_it || is_bad) return is_it;
        rd_kafka_poll(bench->producer, 0); /* a bad delivery report shows here */
        if (bench->failure != RD_KAFKA_RESP_ERR_NO_ERROR)
            return bench_await_reports(bench, bench->reported + 1);
        if (now_us() - began_us < timeout_us) continue;
        output_complain("a record has not come for %" PRId64 " s",
                        bench->settings->common.timeout_s);
        output_hint("--timeout SECONDS waits longer");
        return false;
    }
}

/* Opens a consumer at the partition's end. It must have asked where that is before the first
 * record. */
static bool follow(struct bench *bench, int32_t partition)
{
    int64_t low, high;
    if (!bench_open_consumer(bench)) return false;
    rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
        bench->consumer, bench->topic_name, partition, &low, &high,
        (int)bench->settings->common.timeout_s * 1000);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR &&
        rd_kafka_consume_start(bench->consumer_topic, partition, high) != 0)
        error = rd_kafka_last_error();
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
    output_complain("partition %" PRId32 " cannot be read: %s", partition, rd_kafka_err2str(error));
    return false;
}

static bool send_one(struct bench *bench, int32_t partition, int64_t number)
{
    char mark[MARK_BYTES + 1];
    bool end_to_end = bench->settings->end_to_end;
    if (end_to_end) {
        snprintf(mark, sizeof mark, "%016" PRIx64, (uint64_t)(number ^ bench->began_us));
        memcpy(bench->values, mark, MARK_BYTES);
    }
    int64_t sent_us = now_us();
    if (!bench_send(bench, partition, bench->values)) return false;
    if (end_to_end && !await_record(bench, partition, mark)) return false;
    if (end_to_end && bench->began_us != 0) latencies_add(bench->latencies, now_us() - sent_us);
    return bench_await_reports(bench, number + 1);
}

bool bench_latency(struct bench *bench)
{
    const struct bench_settings *settings = bench->settings;
    int32_t partition = settings->partition < 0 ? 0 : (int32_t)settings->partition;
    int64_t warm_up = settings->records / WARM_UP + 1;
    bool is_good = !settings->end_to_end || follow(bench, partition);
    if (is_good) is_good = bench_open_producer(bench, 0);
    for (int64_t i = 0; is_good && i < warm_up + settings->records; i++) {
        if (i == warm_up) is_good = bench_begin(bench);
        if (is_good) is_good = send_one(bench, partition, i);
        if (i < warm_up || !is_good) continue;
        bench->records++;
        bench->bytes += settings->size;
        if (!bench_goes_on(bench, bench->records, settings->records)) break;
    }
    if (bench->began_us != 0) bench_end(bench);
    if (bench->consumer_topic != NULL) rd_kafka_consume_stop(bench->consumer_topic, partition);
    return is_good;
}
