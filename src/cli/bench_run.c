// SPDX-License-Identifier: Apache-2.0
#include "bench_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "output.h"

#define SHOW_EVERY_US 500000

static void on_delivery(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque)
{
    (void)kafka;
    struct bench *bench = ((struct kafka_watch *)opaque)->owner;
    bench->watch.is_down = false;
    bench->reported++;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (bench->failure == RD_KAFKA_RESP_ERR_NO_ERROR) bench->failure = message->err;
    } else if (bench->began_us != 0 && !bench->settings->end_to_end) { /* and none that warms up */
        latencies_add(bench->latencies,
                      clock_monotonic_us(clock_real()) - (int64_t)(intptr_t)message->_private);
    }
}

static bool open_topic(const struct bench *bench, rd_kafka_t *kafka, rd_kafka_topic_t **topic)
{
    *topic = kafka == NULL ? NULL : rd_kafka_topic_new(kafka, bench->topic_name, NULL);
    if (kafka != NULL && *topic == NULL)
        output_complain("librdkafka does not take topic '%s': %s", bench->topic_name,
                        rd_kafka_err2str(rd_kafka_last_error()));
    return *topic != NULL;
}

bool bench_open_producer(struct bench *bench, int64_t linger_ms)
{
    const struct bench_settings *settings = bench->settings;
    char linger[24], batch[24], timeout_ms[24];
    snprintf(linger, sizeof linger, "%" PRId64, linger_ms);
    snprintf(batch, sizeof batch, "%" PRId64, settings->batch_bytes);
    snprintf(timeout_ms, sizeof timeout_ms, "%" PRId64, settings->common.timeout_s * 1000);
    const struct conf_pair pairs[] = {
        { "acks", settings->acks },
        { "compression.codec", settings->compression },
        { "enable.idempotence", settings->is_idempotent ? "true" : "false" },
        { "linger.ms", linger },
        { "batch.size", batch },
        { "message.timeout.ms", timeout_ms },
        { "message.max.bytes", "1000000000" },        /* the broker decides, not we */
        { "queue.buffering.max.messages", "500000" }, /* never short of a full batch */
        { "queue.buffering.max.kbytes", "1048576" },
        { "socket.nagle.disable", "true" },
        { NULL, NULL },
    };
    rd_kafka_conf_t *conf = kafka_conf_new(&settings->common, pairs, &bench->watch);
    if (conf == NULL) return false;
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    bench->producer = kafka_open(RD_KAFKA_PRODUCER, conf);
    return open_topic(bench, bench->producer, &bench->producer_topic);
}

/* Lets the consumer find out who leads the partitions, which is not to be measured. */
static bool learn_topic(const struct bench *bench)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t error = rd_kafka_metadata(bench->consumer, 0, bench->consumer_topic,
                                                  &metadata,
                                                  (int)bench->settings->common.timeout_s * 1000);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_metadata_destroy(metadata);
        return true;
    }
    output_complain("topic '%s': %s", bench->topic_name, rd_kafka_err2str(error));
    return false;
}

bool bench_open_consumer(struct bench *bench)
{
    static const struct conf_pair pairs[] = {
        { "enable.partition.eof", "true" },
        { "auto.offset.reset", "earliest" },
        { "allow.auto.create.topics", "false" },
        { "queued.min.messages", "1000000" }, /* its default pauses for a second when reached */
        { NULL, NULL },
    };
    rd_kafka_conf_t *conf = kafka_conf_new(&bench->settings->common, pairs, &bench->watch);
    if (conf == NULL) return false;
    bench->consumer = kafka_open(RD_KAFKA_CONSUMER, conf);
    return open_topic(bench, bench->consumer, &bench->consumer_topic) && learn_topic(bench);
}

bool bench_send(struct bench *bench, int32_t partition, char *value)
{
    int64_t now_us = clock_monotonic_us(clock_real());
    while (rd_kafka_produce(bench->producer_topic, partition, 0, value,
                            (size_t)bench->settings->size, NULL, 0,
                            (void *)(intptr_t)now_us) != 0) {
        rd_kafka_resp_err_t error = rd_kafka_last_error();
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            output_complain("a record was not taken: %s", rd_kafka_err2str(error));
            if (error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
                output_hint("see: sluice topic describe %s", bench->topic_name);
            return false;
        }
        rd_kafka_poll(bench->producer, 10);
        if (bench->failure != RD_KAFKA_RESP_ERR_NO_ERROR)
            return true; /* told when reports are waited for */
        now_us = clock_monotonic_us(clock_real());
    }
    return true;
}

bool bench_await_reports(struct bench *bench, int64_t count)
{
    /* message.timeout.ms ends every wait. */
    while (bench->reported < count && bench->failure == RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_poll(bench->producer, 100);
    if (bench->failure == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
    output_complain("a record was not delivered to topic '%s': %s", bench->topic_name,
                    rd_kafka_err2str(bench->failure));
    if (bench->failure == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        output_hint("the topic allows no more: sluice config get --topic %s max.message.bytes",
                    bench->topic_name);
    else if (bench->failure == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
        output_hint("the broker does not keep up: lower --rate or raise --timeout");
    return false;
}

bool bench_begin(struct bench *bench)
{
    if (process_watch_begin(&bench->broker, (pid_t)bench->settings->pid) != 0) return false;
    bench->began_us = bench->shown_us = clock_monotonic_us(clock_real());
    return true;
}

static void clear_progress(void)
{
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

void bench_end(struct bench *bench)
{
    bench->seconds = (double)(clock_monotonic_us(clock_real()) - bench->began_us) / 1e6;
    process_watch_end(&bench->broker);
    clear_progress();
}

static void show_progress(struct bench *bench, int64_t records, int64_t all, int64_t now_us)
{
    double rate = (double)(records - bench->shown_records) * 1e6 /
                  (double)(now_us - bench->shown_us);
    bench->shown_us = now_us;
    bench->shown_records = records;
    if (!isatty(STDERR_FILENO)) return;
    clear_progress();
    fprintf(stderr, "%" PRId64 " records", records);
    if (all > 0) fprintf(stderr, ", %.0f %%", (double)records * 100 / (double)all);
    fprintf(stderr, ", %.0f records/s", rate);
}

bool bench_goes_on(struct bench *bench, int64_t records, int64_t all)
{
    int64_t now_us = clock_monotonic_us(clock_real());
    if (now_us - bench->shown_us < SHOW_EVERY_US) return true;
    show_progress(bench, records, all, now_us);
    process_watch_look(&bench->broker);
    if (stop_signals_came(&bench->signals)) bench->was_stopped = true;
    return !bench->was_stopped;
}
