// SPDX-License-Identifier: Apache-2.0
#include "log_output.h"

#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "output.h"

void log_output_init(struct log_output *output, FILE *to, bool is_json)
{
    *output = (struct log_output){ .to = to, .is_json = is_json };
    buffer_init(&output->text);
}

void log_output_close(struct log_output *output)
{
    json_decref(output->object);
    output->object = NULL;
    buffer_close(&output->text);
}

static void put_text(struct log_output *output, const char *text)
{
    buffer_put(&output->text, text, strlen(text));
}

static void put_name(struct log_output *output, const char *name)
{
    put_text(output, " ");
    put_text(output, name);
    put_text(output, "=");
}

void log_output_begin(struct log_output *output, const char *kind)
{
    if (output->is_json) {
        output->object = json_object();
        log_output_json(output, "kind", json_string(kind));
    } else {
        output->text.length = 0;
        put_text(output, kind);
    }
}

void log_output_json(struct log_output *output, const char *name, json_t *value)
{
    if (output->is_json) {
        if (value == NULL || json_object_set_new(output->object, name, value) != 0)
            output->failed = true;
        return;
    }
    char *text = value == NULL
                     ? NULL
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
    put_name(output, name);
    if (text == NULL)
        output->failed = true;
    else
        put_text(output, text);
    mem_free(text); /* What json_set_alloc_funcs() was told. */
    json_decref(value);
}

void log_output_number(struct log_output *output, const char *name, int64_t number)
{
    char digits[24];
    if (output->is_json) {
        log_output_json(output, name, json_integer(number));
        return;
    }
    snprintf(digits, sizeof digits, "%" PRId64, number);
    put_name(output, name);
    put_text(output, digits);
}

void log_output_truth(struct log_output *output, const char *name, bool truth)
{
    if (output->is_json) {
        log_output_json(output, name, json_boolean(truth));
        return;
    }
    put_name(output, name);
    put_text(output, truth ? "yes" : "no");
}

void log_output_hex(struct log_output *output, const char *name, uint32_t number)
{
    char digits[12];
    snprintf(digits, sizeof digits, "0x%08" PRIx32, number);
    log_output_text(output, name, digits);
}

void log_output_bytes(struct log_output *output, const char *name, const void *data, int32_t length)
{
    if (output->is_json) {
        if (output->object == NULL || json_set_bytes(output->object, name, data, length) != 0)
            output->failed = true;
        return;
    }
    put_name(output, name);
    if (length < 0)
        put_text(output, "null");
    else
        output_escape(&output->text, data, (size_t)length);
}

void log_output_text(struct log_output *output, const char *name, const char *text)
{
    log_output_bytes(output, name, text, (int32_t)strlen(text));
}

void log_output_end(struct log_output *output)
{
    if (output->is_json) {
        if (json_print(output->object, false, output->to) != 0) output->failed = true;
        output->object = NULL; /* json_print() took it over. */
        return;
    }
    put_text(output, "\n");
    if (output->text.failed ||
        fwrite(output->text.data, 1, output->text.length, output->to) != output->text.length)
        output->failed = true;
}

void log_output_flush(struct log_output *output)
{
    if (fflush(output->to) != 0) output->failed = true;
}
