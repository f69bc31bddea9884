// SPDX-License-Identifier: Apache-2.0
#include "vectors.h"

#include <stdio.h>
#include <stdlib.h>

#include "runner.h"

void vector_fail(const struct vector *vector, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail_msg("%s: %s", vector->label, text);
    abort(); /* Not reached: fail_msg() leaves the test. */
}

uint8_t *exact_copy(const void *data, size_t length)
{
    uint8_t *copy = malloc(length);
    assert_true(copy != NULL || length == 0);
    if (length > 0) memcpy(copy, data, length);
    return copy;
}

uint8_t *bytes_from_hex(const char *hex, size_t *length)
{
    size_t size = strlen(hex) / 2;
    uint8_t *data = malloc(size);
    assert_true(data != NULL || size == 0);
    for (size_t i = 0; i < size; i++) {
        char digits[] = { hex[2 * i], hex[2 * i + 1], '\0' };
        data[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    *length = size;
    return data;
}

int64_t vector_integer(const struct vector *vector, const char *key)
{
    const json_t *value = json_object_get(vector->json, key);
    if (!json_is_integer(value)) vector_fail(vector, "no number %s", key);
    return json_integer_value(value);
}

const char *vector_text(const struct vector *vector, const char *key)
{
    const char *text = json_string_value(json_object_get(vector->json, key));
    if (text == NULL) vector_fail(vector, "no text %s", key);
    return text;
}

static const char *text_or(const json_t *json, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text != NULL ? text : otherwise;
}

static void vector_check(const json_t *json, void (*check)(const struct vector *vector))
{
    const json_t *version = json_object_get(json, "version");
    const json_t *key = json_object_get(json, "key");
    const char *kind = text_or(json, "kind", text_or(json, "header", ""));
    struct vector vector = {
        .json = json,
        .test_case = text_or(json, "case", ""),
        .version = json_is_integer(version) ? (int16_t)json_integer_value(version) : -1,
        .api = json_is_integer(key) ? wire_api_by_key((int)json_integer_value(key)) : NULL,
        .fields = json_object_get(json, "fields"),
    };
    if (vector.api != NULL)
        vector.shape = strcmp(kind, "request") == 0 ? vector.api->request : vector.api->response;
    snprintf(vector.label, sizeof vector.label, "%s %s v%d %s", text_or(json, "api", "header"),
             kind, vector.version, vector.test_case);

    uint8_t *data = bytes_from_hex(vector_text(&vector, "hex"), &vector.length);
    vector.data = data;
    check(&vector);
    free(data);
}

void vectors_each(const char *file, void (*check)(const struct vector *vector))
{
    FILE *lines = fopen(test_data(file), "r");
    if (lines == NULL) fail_msg("%s cannot be opened", file);
    char *line = NULL;
    size_t capacity = 0;
    unsigned count = 0;
    for (ssize_t length; (length = getline(&line, &capacity, lines)) > 0; count++) {
        json_error_t error;
        json_t *json = json_loadb(line, (size_t)length, JSON_ALLOW_NUL, &error);
        if (json == NULL) fail_msg("%s, line %u: %s", file, count + 1, error.text);
        vector_check(json, check);
        json_decref(json);
    }
    free(line);
    fclose(lines);
    assert_true(count > 0);
}
