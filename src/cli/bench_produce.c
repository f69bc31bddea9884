// SPDX-License-Identifier: Apache-2.0
/* How fast records go in, from the first that is handed over to the last delivery report. */

#include "bench_run.h"

#include "clock.h"

/* Signals and progress are looked after once in so many records. */
#define LOOK_EVERY 256

/* With a rate, waits until the next record is due. */
static void await_turn(const struct bench *bench, int64_t sent)
{
    int64_t rate = bench->settings->rate;
    if (rate == 0) return;
    int64_t due_us = bench->began_us + sent / rate * 1000000 + sent % rate * 1000000 / rate;
    for (;;) {
        int64_t left_us = due_us - clock_monotonic_us(clock_real());
        if (left_us <= 0 || bench->failure != RD_KAFKA_RESP_ERR_NO_ERROR) return;
        rd_kafka_poll(bench->producer, left_us > 100000 ? 100 : (int)(left_us + 999) / 1000);
    }
}

static bool send_all(struct bench *bench, int32_t partition)
{
    const struct bench_settings *settings = bench->settings;
    size_t at = 0;
    int64_t sent = 0;
    bool looks_often = settings->rate > 0 && settings->rate < 10 * LOOK_EVERY;
    while (sent < settings->records && bench->failure == RD_KAFKA_RESP_ERR_NO_ERROR) {
        await_turn(bench, sent);
        if (!bench_send(bench, partition, bench->values + at)) return false;
        sent++;
        at = (at + (size_t)settings->size) % BENCH_VALUES_BYTES;
        if (sent % LOOK_EVERY != 0 && !looks_often) continue;
        rd_kafka_poll(bench->producer, 0);
        if (!bench_goes_on(bench, sent, settings->records)) break;
    }
    bench->records = sent;
    bench->bytes = sent * settings->size;
    return true;
}

bool bench_produce(struct bench *bench)
{
    int32_t partition = (int32_t)bench->settings->partition; /* -1 is librdkafka's "any" */
    if (!bench_open_producer(bench, bench->settings->linger_ms)) return false;
    /* One that is not counted opens the connection to a leader. */
    if (!bench_send(bench, partition, bench->values) || !bench_await_reports(bench, 1) ||
        !bench_begin(bench))
        return false;
    bool is_good = send_all(bench, partition) && bench_await_reports(bench, 1 + bench->records);
    bench_end(bench);
    return is_good;
}
