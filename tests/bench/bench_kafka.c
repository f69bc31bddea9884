// SPDX-License-Identifier: Apache-2.0
/* What users of librdkafka see of a broker: rates and latency.
 *
 * The calls are those that librdkafka 2.0 and 2.8 have in common. Consuming takes the partition
 * directly, without a group: nothing but fetching is measured. */

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "bench.h"
#include "error.h"

#define WAIT_MS          20000
#define RECORDS_QUEUED   "500000" /* Enough for the client never to be short of a full batch. */
#define RECORDS_PER_CALL 1000

struct kafka {
    rd_kafka_t *handle;
    rd_kafka_topic_t *topic;
    char *value;
    int64_t reported;            /* Delivery reports so far, good and bad. */
    rd_kafka_resp_err_t failure; /* The first bad one. */
};

struct conf_pair {
    const char *name;
    const char *value;
};

static void on_delivery(rd_kafka_t *handle, const rd_kafka_message_t *message, void *opaque)
{
    (void)handle;
    struct kafka *kafka = opaque;
    kafka->reported++;
    if (message->err != 0 && kafka->failure == 0) kafka->failure = message->err;
}

static void kafka_close(struct kafka *kafka)
{
    if (kafka->topic != NULL) rd_kafka_topic_destroy(kafka->topic);
    if (kafka->handle != NULL) rd_kafka_destroy(kafka->handle);
    mem_free(kafka->value);
}

/* `pairs` end with a name that is NULL. Waits until the topic is known. */
static int kafka_open(struct kafka *kafka, rd_kafka_type_t type,
                      const struct bench_settings *settings, const struct conf_pair *pairs)
{
    char why[256] = "out of memory";
    *kafka = (struct kafka){ .value = mem_alloc((size_t)settings->size) };
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    bool is_good = kafka->value != NULL &&
                   rd_kafka_conf_set(conf, "bootstrap.servers", settings->bootstrap, why,
                                     sizeof why) == RD_KAFKA_CONF_OK;
    for (const struct conf_pair *pair = pairs; is_good && pair->name != NULL; pair++)
        is_good = rd_kafka_conf_set(conf, pair->name, pair->value, why, sizeof why) ==
                  RD_KAFKA_CONF_OK;
    if (is_good) {
        memset(kafka->value, 'x', (size_t)settings->size);
        rd_kafka_conf_set_opaque(conf, kafka);
        if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
        kafka->handle = rd_kafka_new(type, conf, why, sizeof why);
    }
    if (kafka->handle == NULL) {
        rd_kafka_conf_destroy(conf);
        return complain("librdkafka does not start: %s", why);
    }
    const struct rd_kafka_metadata *metadata = NULL;
    kafka->topic = rd_kafka_topic_new(kafka->handle, settings->topic, NULL);
    rd_kafka_resp_err_t error = kafka->topic == NULL
                                    ? rd_kafka_last_error()
                                    : rd_kafka_metadata(kafka->handle, 0, kafka->topic, &metadata,
                                                        WAIT_MS);
    if (error != 0) return complain("topic '%s': %s", settings->topic, rd_kafka_err2str(error));
    rd_kafka_metadata_destroy(metadata);
    return 0;
}

static int producer_open(struct kafka *kafka, const struct bench_settings *settings,
                         int64_t linger_ms)
{
    char acks[24], linger[24], batch_bytes[24], message_bytes[24];
    snprintf(acks, sizeof acks, "%" PRId64, settings->acks);
    snprintf(linger, sizeof linger, "%" PRId64, linger_ms);
    snprintf(batch_bytes, sizeof batch_bytes, "%" PRId64, settings->batch_bytes);
    /* The least that lets a record of this size, or a full batch, through. */
    int64_t most = settings->size + 1024 > 1000000 ? settings->size + 1024 : 1000000;
    snprintf(message_bytes, sizeof message_bytes, "%" PRId64, most);
    const struct conf_pair pairs[] = {
        { "acks", acks },
        { "linger.ms", linger },
        { "batch.size", batch_bytes },
        { "message.max.bytes", message_bytes },
        { "batch.num.messages", "1000000" }, /* The size alone decides when a batch is full. */
        { "queue.buffering.max.messages", RECORDS_QUEUED },
        { "queue.buffering.max.kbytes", "2097151" },
        { "socket.nagle.disable", "true" },
        { NULL, NULL },
    };
    return kafka_open(kafka, RD_KAFKA_PRODUCER, settings, pairs);
}

/* Waits for `count` delivery reports in all. */
static int await_reports(struct kafka *kafka, int64_t count)
{
    int64_t last_seen = kafka->reported, deadline_ns = now_ns() + WAIT_MS * INT64_C(1000000);
    while (kafka->reported < count && kafka->failure == 0) {
        rd_kafka_poll(kafka->handle, 1000);
        if (kafka->reported > last_seen) {
            last_seen = kafka->reported;
            deadline_ns = now_ns() + WAIT_MS * INT64_C(1000000);
        } else if (now_ns() > deadline_ns) {
            return complain("no delivery report for %d s", WAIT_MS / 1000);
        }
    }
    if (kafka->failure == 0) return 0;
    return complain("a record was not delivered: %s", rd_kafka_err2str(kafka->failure));
}

static int send_one(struct kafka *kafka, const struct bench_settings *settings)
{
    if (rd_kafka_produce(kafka->topic, 0, 0, kafka->value, (size_t)settings->size, NULL, 0, NULL) ==
        0)
        return 0;
    return complain("a record was not taken: %s", rd_kafka_err2str(rd_kafka_last_error()));
}

/* Hands over `count` records, waiting while librdkafka's queue is full. Values are borrowed. */
static int send_many(struct kafka *kafka, const struct bench_settings *settings, int64_t count)
{
    static rd_kafka_message_t messages[RECORDS_PER_CALL];
    while (count > 0 && kafka->failure == 0) {
        int wanted = count < RECORDS_PER_CALL ? (int)count : RECORDS_PER_CALL;
        for (int i = 0; i < wanted; i++)
            messages[i] = (rd_kafka_message_t){ .payload = kafka->value,
                                                .len = (size_t)settings->size };
        int taken = rd_kafka_produce_batch(kafka->topic, 0, 0, messages, wanted);
        for (int i = 0; taken < wanted && i < wanted; i++)
            if (messages[i].err != 0 && messages[i].err != RD_KAFKA_RESP_ERR__QUEUE_FULL)
                return complain("a record was not taken: %s", rd_kafka_err2str(messages[i].err));
        count -= taken;
        rd_kafka_poll(kafka->handle, taken < wanted ? 10 : 0);
    }
    return 0;
}

int measure_produce(const struct bench_settings *settings, struct findings *findings)
{
    struct kafka kafka;
    struct span span;
    int err = producer_open(&kafka, settings, settings->linger_ms);
    if (err == 0) err = send_one(&kafka, settings); /* Opens the connection to the leader. */
    if (err == 0) err = await_reports(&kafka, 1);
    span_begin(&span, settings->pid);
    if (err == 0) err = send_many(&kafka, settings, settings->records);
    if (err == 0) err = await_reports(&kafka, 1 + settings->records);
    span_end(&span);
    if (err == 0) findings_add_flow(findings, settings->records, settings->size, &span);
    kafka_close(&kafka);
    return err;
}

int measure_latency(const struct bench_settings *settings, struct findings *findings)
{
    if (settings->raw) return measure_raw_latency(settings, findings);
    struct kafka kafka;
    int64_t warm_up = settings->records / 10, count = settings->records + warm_up;
    int64_t *durations_ns = mem_calloc((size_t)settings->records, sizeof *durations_ns);
    int err = producer_open(&kafka, settings, 0);
    if (err == 0 && durations_ns == NULL) err = complain("out of memory");
    for (int64_t i = 0; err == 0 && i < count; i++) {
        int64_t began_ns = now_ns();
        err = send_one(&kafka, settings);
        if (err == 0) err = await_reports(&kafka, i + 1);
        if (i >= warm_up && err == 0) durations_ns[i - warm_up] = now_ns() - began_ns;
    }
    if (err == 0) findings_add_latency(findings, durations_ns, (size_t)settings->records);
    mem_free(durations_ns);
    kafka_close(&kafka);
    return err;
}

/* Is it a record of the size that was asked for? Complains otherwise. */
static bool message_is_right(const rd_kafka_message_t *message, int64_t size)
{
    if (message->err != 0)
        complain("%s", rd_kafka_message_errstr(message));
    else if (message->len != (size_t)size)
        complain("a record of %zu bytes, not %" PRId64, message->len, size);
    else
        return true;
    return false;
}

/* Takes what is there, at least one record, and adds their number to `*received`. */
static int receive_some(struct kafka *kafka, int64_t size, int64_t *received)
{
    static rd_kafka_message_t *messages[RECORDS_PER_CALL];
    int64_t deadline_ns = now_ns() + WAIT_MS * INT64_C(1000000);
    ssize_t count = 0;
    while (count == 0) {
        count = rd_kafka_consume_batch(kafka->topic, 0, 1000, messages, RECORDS_PER_CALL);
        if (count < 0) return complain("%s", rd_kafka_err2str(rd_kafka_last_error()));
        if (count == 0 && now_ns() > deadline_ns)
            return complain("no record for %d s", WAIT_MS / 1000);
    }
    bool are_right = true;
    for (ssize_t i = 0; i < count; i++) {
        are_right = are_right && message_is_right(messages[i], size);
        rd_kafka_message_destroy(messages[i]);
    }
    *received += count;
    return are_right ? 0 : ERR_IO;
}

/* The rate is that from the first records to the last, for finding out where they are takes as long
 * for few as for many. Processor time is all of it. */
int measure_consume(const struct bench_settings *settings, struct findings *findings)
{
    static const struct conf_pair pairs[] = {
        /* By default librdkafka stops fetching at 100,000 records and looks again a second later. */
        { "queued.min.messages", "1000000" },
        { NULL, NULL },
    };
    struct kafka kafka;
    struct span span;
    int64_t received = 0, first_ns = 0;
    int err = kafka_open(&kafka, RD_KAFKA_CONSUMER, settings, pairs);
    span_begin(&span, settings->pid);
    if (err == 0 && rd_kafka_consume_start(kafka.topic, 0, RD_KAFKA_OFFSET_BEGINNING) != 0)
        err = complain("%s", rd_kafka_err2str(rd_kafka_last_error()));
    bool has_started = err == 0;
    while (err == 0 && received < settings->records) {
        err = receive_some(&kafka, settings->size, &received);
        if (first_ns == 0) first_ns = now_ns();
    }
    span_end(&span);
    if (err == 0) {
        findings_add(findings, "first_record_ms", (double)(first_ns - span.began_ns) / 1e6);
        span.seconds -= (double)(first_ns - span.began_ns) / 1e9;
        findings_add_flow(findings, received, settings->size, &span);
    }
    if (has_started) rd_kafka_consume_stop(kafka.topic, 0);
    kafka_close(&kafka);
    return err;
}
