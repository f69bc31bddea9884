// SPDX-License-Identifier: Apache-2.0
/* A record as one JSON object: what `sluice consume --json` prints. */

#ifndef CLI_RECORD_JSON_H
#define CLI_RECORD_JSON_H

#include <librdkafka/rdkafka.h>
#include <stdio.h>

/* A line with partition, offset, timestamp (ms), timestamp_type, key, value and headers, as
 * json_set_bytes() writes bytes. Returns 0, ERR_NO_MEMORY or ERR_IO. */
int record_json_print(rd_kafka_message_t *message, FILE *out);

#endif
