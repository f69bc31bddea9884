// SPDX-License-Identifier: Apache-2.0
#include "record_json.h"

#include <jansson.h>
#include <string.h>

#include "error.h"
#include "output.h"

static int32_t length_or_null(const void *data, size_t length)
{
    return data == NULL ? -1 : (int32_t)length;
}

static int add_headers(json_t *object, rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers;
    json_t *array = json_array();
    if (json_object_set_new(object, "headers", array) != 0) return ERR_NO_MEMORY;
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
    const char *name;
    const void *value;
    size_t length;
    for (size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &length) == RD_KAFKA_RESP_ERR_NO_ERROR;
         i++) {
        json_t *header = json_object();
        if (json_array_append_new(array, header) != 0) return ERR_NO_MEMORY;
        int err = json_set_bytes(header, "name", name, (int32_t)strlen(name));
        if (err == 0) err = json_set_bytes(header, "value", value, length_or_null(value, length));
        if (err != 0) return err;
    }
    return 0;
}

int record_json_print(rd_kafka_message_t *message, FILE *out)
{
    rd_kafka_timestamp_type_t kind;
    int64_t timestamp = rd_kafka_message_timestamp(message, &kind);
    json_t *object = json_pack(
        "{s:i, s:I, s:I, s:s}", "partition", message->partition, "offset",
        (json_int_t)message->offset, "timestamp", (json_int_t)timestamp, "timestamp_type",
        kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? "LogAppendTime" : "CreateTime");
    if (object == NULL) return ERR_NO_MEMORY;
    int err = json_set_bytes(object, "key", message->key,
                             length_or_null(message->key, message->key_len));
    if (err == 0)
        err = json_set_bytes(object, "value", message->payload,
                             length_or_null(message->payload, message->len));
    if (err == 0) err = add_headers(object, message);
    if (err == 0) return json_print(object, false, out);
    json_decref(object);
    return err;
}
