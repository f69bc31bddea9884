// SPDX-License-Identifier: Apache-2.0
#include "trace_output.h"

#include <errno.h>
#include <string.h>

#include "trace.h"

/* The words are those of config_table.h, and were checked. */
static enum trace_level level_of(const char *word)
{
    static const char *const words[] = {
        [TRACE_ERROR] = "error",
        [TRACE_WARN] = "warn",
        [TRACE_INFO] = "info",
        [TRACE_DEBUG] = "debug",
    };
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0) return (enum trace_level)i;
    return TRACE_INFO;
}

int trace_output_apply(const struct config *config)
{
    trace_set_level(level_of(config->log_level));
    trace_set_format(strcmp(config->log_format, "json") == 0 ? TRACE_JSON : TRACE_TEXT);
    int err = trace_set_file(config->log_file);
    if (err != 0) trace(TRACE_ERROR, "broker", "%s: %s", config->log_file, strerror(errno));
    return err;
}
