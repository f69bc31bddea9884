// SPDX-License-Identifier: Apache-2.0
/* librdkafka's configuration, as produce and consume share it. */

#ifndef CLI_KAFKA_CONF_H
#define CLI_KAFKA_CONF_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "options.h"

struct conf_pair {
    const char *name, *value;
};

/* What librdkafka's callbacks find. */
struct kafka_watch {
    bool is_down; /* No broker answers; said once, until one does. */
    void *owner;  /* The command's own. */
};

/* Brokers, client id, silence, complaints when all brokers are gone, and `pairs` (ended by a NULL
 * name). `watch` must outlive the handle. NULL after complaining. */
rd_kafka_conf_t *kafka_conf_new(const struct common_settings *common, const struct conf_pair *pairs,
                                struct kafka_watch *watch);

/* Makes the handle out of `conf`, which is used up in any case. NULL after complaining. */
rd_kafka_t *kafka_open(rd_kafka_type_t type, rd_kafka_conf_t *conf);

#endif
