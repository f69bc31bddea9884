// SPDX-License-Identifier: Apache-2.0
#include "production.h"

#include <inttypes.h>
#include <stdio.h>

#include "alloc.h"
#include "clock.h"
#include "output.h"

static void on_delivery(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque)
{
    (void)kafka;
    struct production *production = ((struct kafka_watch *)opaque)->owner;
    production->watch.is_down = false;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        production->delivered++;
    } else if (!production->has_failed) {
        production->has_failed = true;
        production->failed_line = (int64_t)(intptr_t)message->_private;
        production->failure = message->err;
    }
}

bool production_open(struct production *production)
{
    const struct produce_settings *settings = production->settings;
    char timeout_ms[24];
    snprintf(timeout_ms, sizeof timeout_ms, "%" PRId64, settings->common.timeout_s * 1000);
    const struct conf_pair pairs[] = {
        { "acks", settings->acks },
        { "compression.codec", settings->compression },
        { "enable.idempotence", settings->is_idempotent ? "true" : "false" },
        { "message.timeout.ms", timeout_ms },
        { "partitioner", "murmur2_random" },   /* where Java clients put the same key */
        { "message.max.bytes", "1000000000" }, /* the broker decides, not we */
        { "queue.buffering.max.messages", "200000" },
        { NULL, NULL },
    };
    production->watch = (struct kafka_watch){ .owner = production };
    production->began_us = clock_monotonic_us(clock_real());
    rd_kafka_conf_t *conf = kafka_conf_new(&settings->common, pairs, &production->watch);
    if (conf == NULL) return false;
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    production->kafka = kafka_open(RD_KAFKA_PRODUCER, conf);
    if (production->kafka == NULL) return false;
    production->topic = rd_kafka_topic_new(production->kafka, production->topic_name, NULL);
    if (production->topic == NULL)
        output_complain("librdkafka does not take topic '%s': %s", production->topic_name,
                        rd_kafka_err2str(rd_kafka_last_error()));
    return production->topic != NULL;
}

void production_close(struct production *production)
{
    if (production->topic != NULL) rd_kafka_topic_destroy(production->topic);
    if (production->kafka != NULL) rd_kafka_destroy(production->kafka);
    if (production->headers != NULL) rd_kafka_headers_destroy(production->headers);
    stop_signals_close(&production->signals);
    mem_free(production->separator);
}

/* Asking for signals is a call to the kernel, and this is asked for each record. */
#define LOOK_EVERY_US 50000

bool production_goes_on(struct production *production)
{
    int64_t now_us = clock_monotonic_us(clock_real());
    rd_kafka_poll(production->kafka, 0);
    if (now_us - production->looked_us >= LOOK_EVERY_US) {
        production->looked_us = now_us;
        if (stop_signals_came(&production->signals)) production->was_stopped = true;
    }
    return !production->has_failed && !production->was_stopped;
}

/* With a rate, waits until the next record is due. */
static void await_turn(struct production *production)
{
    int64_t rate = production->settings->rate;
    if (rate == 0) return;
    int64_t due_us = production->began_us + production->sent / rate * 1000000 +
                     production->sent % rate * 1000000 / rate;
    while (production_goes_on(production)) {
        int64_t left_us = due_us - clock_monotonic_us(clock_real());
        if (left_us <= 0) break;
        rd_kafka_poll(production->kafka, left_us > 100000 ? 100 : (int)(left_us + 999) / 1000);
    }
}

struct record {
    struct str key, value;
    int64_t timestamp_ms; /* 0: now. */
    const rd_kafka_headers_t *headers;
};

static rd_kafka_resp_err_t send_once(struct production *production, const struct record *record)
{
    struct str key = record->key, value = record->value;
    rd_kafka_headers_t *headers = record->headers == NULL ? NULL
                                                          : rd_kafka_headers_copy(record->headers);
    /* Text of no length points somewhere: what points nowhere is null. */
    rd_kafka_resp_err_t error = rd_kafka_producev(
        production->kafka, RD_KAFKA_V_RKT(production->topic),
        RD_KAFKA_V_PARTITION((int32_t)production->settings->partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_TIMESTAMP(record->timestamp_ms),
        RD_KAFKA_V_KEY((void *)(uintptr_t)key.data, (size_t)(key.length < 0 ? 0 : key.length)),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)value.data,
                         (size_t)(value.length < 0 ? 0 : value.length)),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE((void *)(intptr_t)production->sent),
        RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR && headers != NULL) rd_kafka_headers_destroy(headers);
    return error;
}

static void send_record(struct production *production, const struct record *record)
{
    await_turn(production);
    if (production->has_failed || production->was_stopped) return;
    rd_kafka_resp_err_t error;
    production->sent++;
    while ((error = send_once(production, record)) == RD_KAFKA_RESP_ERR__QUEUE_FULL &&
           production_goes_on(production))
        rd_kafka_poll(production->kafka, 50);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        production->sent_bytes += (record->key.length > 0 ? record->key.length : 0) +
                                  (record->value.length > 0 ? record->value.length : 0);
    } else if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL && production->was_stopped) {
        production->sent--;
    } else if (!production->has_failed) {
        production->has_failed = true;
        production->failed_line = production->sent;
        production->failure = error;
    }
}

static void send_text(struct production *production, struct str key, struct str value)
{
    const char *null_text = production->settings->null_text;
    if (null_text != NULL && str_equals_text(value, null_text)) value = STR_NULL;
    send_record(production, &(struct record){ key, value, 0, production->headers });
}

void production_send_line(struct production *production, struct str line)
{
    struct str key = str_from(production->settings->key), value = line;
    if (production->separator != NULL && line.length > 0) {
        const char *at = memmem(line.data, (size_t)line.length, production->separator,
                                production->separator_length);
        if (at != NULL) {
            key = (struct str){ line.data, (int32_t)(at - line.data) };
            value.data = at + production->separator_length;
            value.length = line.length - key.length - (int32_t)production->separator_length;
        }
    }
    send_text(production, key, value);
}

void production_send_value(struct production *production, struct str value)
{
    send_text(production, str_from(production->settings->key), value);
}

void production_send_json(struct production *production, const struct record_json *record)
{
    struct str key = record->key;
    if (str_is_null(key)) key = str_from(production->settings->key);
    send_record(production, &(struct record){ key, record->value, record->timestamp_ms,
                                              record->headers != NULL ? record->headers
                                                                      : production->headers });
}

bool production_flush(struct production *production)
{
    /* message.timeout.ms ends every wait; the margin is for its bookkeeping. */
    rd_kafka_flush(production->kafka, (int)production->settings->common.timeout_s * 1000 + 5000);
    return production->delivered == production->sent;
}
