// SPDX-License-Identifier: Apache-2.0
#include "kafka_conf.h"

#include "output.h"

static void on_log(const rd_kafka_t *kafka, int level, const char *facility, const char *text)
{
    (void)kafka, (void)level, (void)facility, (void)text; /* what matters comes as an error */
}

static void on_error(rd_kafka_t *kafka, int error, const char *reason, void *opaque)
{
    (void)kafka;
    struct kafka_watch *watch = opaque;
    if (error != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || watch->is_down) return;
    watch->is_down = true;
    output_complain("lost the broker, trying again: %s", reason);
}

static bool set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char problem[256];
    if (rd_kafka_conf_set(conf, name, value, problem, sizeof problem) == RD_KAFKA_CONF_OK)
        return true;
    output_complain("librdkafka refuses %s=%s: %s", name, value, problem);
    return false;
}

rd_kafka_conf_t *kafka_conf_new(const struct common_settings *common, const struct conf_pair *pairs,
                                struct kafka_watch *watch)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_opaque(conf, watch);
    rd_kafka_conf_set_log_cb(conf, on_log);
    rd_kafka_conf_set_error_cb(conf, on_error);
    bool is_set = set(conf, "bootstrap.servers", common->bootstrap_server) &&
                  set(conf, "client.id", "sluice") && set(conf, "reconnect.backoff.max.ms", "1000");
    for (; is_set && pairs->name != NULL; pairs++)
        is_set = set(conf, pairs->name, pairs->value);
    if (is_set) return conf;
    rd_kafka_conf_destroy(conf);
    return NULL;
}

rd_kafka_t *kafka_open(rd_kafka_type_t type, rd_kafka_conf_t *conf)
{
    char problem[256];
    rd_kafka_t *kafka = rd_kafka_new(type, conf, problem, sizeof problem);
    if (kafka != NULL) return kafka;
    rd_kafka_conf_destroy(conf);
    output_complain("librdkafka does not start: %s", problem);
    return NULL;
}
