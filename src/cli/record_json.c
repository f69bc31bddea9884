// SPDX-License-Identifier: Apache-2.0
#include "record_json.h"

#include <string.h>

#include "base64.h"
#include "error.h"
#include "output.h"

/* ---- printing ---------------------------------------------------------------------------------- */

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

/* ---- reading ----------------------------------------------------------------------------------- */

static int is_no(const char *name, const char *what, char problem[PROBLEM_SIZE])
{
    snprintf(problem, PROBLEM_SIZE, "\"%s\" is no %s", name, what);
    return ERR_MALFORMED;
}

/* The bytes of `name`, which may be text, null or missing, or base64 under that name with
 * "_base64" behind. */
static int take_bytes(const json_t *object, const char *name, struct buffer *decoded,
                      struct str *bytes, char problem[PROBLEM_SIZE])
{
    char long_name[32];
    snprintf(long_name, sizeof long_name, "%s_base64", name);
    const json_t *text = json_object_get(object, name);
    const json_t *encoded = json_object_get(object, long_name);
    *bytes = STR_NULL;
    if (json_is_string(text)) {
        *bytes = (struct str){ json_string_value(text), (int32_t)json_string_length(text) };
        return 0;
    }
    if (text != NULL && !json_is_null(text)) return is_no(name, "text", problem);
    if (encoded == NULL || json_is_null(encoded)) return 0;
    if (!json_is_string(encoded) ||
        base64_decode(decoded, json_string_value(encoded), json_string_length(encoded)) != 0)
        return is_no(long_name, "base64", problem);
    /* Bytes of no length point somewhere, as those of null do not. */
    if (decoded->failed || !buffer_reserve(decoded, 1)) return ERR_NO_MEMORY;
    *bytes = (struct str){ (const char *)decoded->data, (int32_t)decoded->length };
    return 0;
}

static int take_headers(struct record_json *record, char problem[PROBLEM_SIZE])
{
    const json_t *array = json_object_get(record->object, "headers");
    size_t count = json_array_size(array);
    int err = 0;
    if (array != NULL && !json_is_array(array)) return is_no("headers", "array", problem);
    if (count > 0) record->headers = rd_kafka_headers_new(count);
    for (size_t i = 0; i < count && err == 0; i++) {
        const json_t *header = json_array_get(array, i);
        struct str name, value;
        struct buffer decoded;
        if (!json_is_object(header)) return is_no("headers", "array of objects", problem);
        buffer_init(&decoded);
        const json_t *name_text = json_object_get(header, "name");
        name = (struct str){ json_string_value(name_text), (int32_t)json_string_length(name_text) };
        err = name.data == NULL ? is_no("name", "text", problem)
                                : take_bytes(header, "value", &decoded, &value, problem);
        if (err == 0)
            rd_kafka_header_add(record->headers, name.data, name.length, value.data,
                                value.length < 0 ? 0 : value.length);
        buffer_close(&decoded);
    }
    return err;
}

int record_json_parse(struct record_json *record, struct str line, char problem[PROBLEM_SIZE])
{
    json_error_t error;
    *record = (struct record_json){ .timestamp_ms = 0 };
    buffer_init(&record->key_bytes);
    buffer_init(&record->value_bytes);
    record->object = json_loadb(line.length > 0 ? line.data : "", (size_t)line.length,
                                JSON_ALLOW_NUL, &error);
    if (record->object == NULL) {
        snprintf(problem, PROBLEM_SIZE, "it is no JSON: %s", error.text);
        return ERR_MALFORMED;
    }
    if (!json_is_object(record->object)) {
        snprintf(problem, PROBLEM_SIZE, "it is no JSON object");
        return ERR_MALFORMED;
    }
    const json_t *timestamp = json_object_get(record->object, "timestamp");
    int err = take_bytes(record->object, "key", &record->key_bytes, &record->key, problem);
    if (err == 0)
        err = take_bytes(record->object, "value", &record->value_bytes, &record->value, problem);
    if (err == 0) err = take_headers(record, problem);
    if (err == 0 && timestamp != NULL && !json_is_integer(timestamp))
        err = is_no("timestamp", "whole number", problem);
    if (err == 0 && json_integer_value(timestamp) > 0)
        record->timestamp_ms = json_integer_value(timestamp);
    return err;
}

void record_json_close(struct record_json *record)
{
    if (record->headers != NULL) rd_kafka_headers_destroy(record->headers);
    record->headers = NULL;
    json_decref(record->object);
    record->object = NULL;
    buffer_close(&record->key_bytes);
    buffer_close(&record->value_bytes);
}
