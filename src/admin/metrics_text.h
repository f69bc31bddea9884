// SPDX-License-Identifier: Apache-2.0
/* Prometheus' text format, version 0.0.4: families of series, each with its help and its type.
 *
 * One `# HELP` and one `# TYPE` line begin a family; its series follow, one line each. */

#ifndef ADMIN_METRICS_TEXT_H
#define ADMIN_METRICS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "histogram.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* At most two labels; a name of NULL: none. Values may hold anything: what the format, or a terminal, would
 * take amiss is escaped. */
struct metrics_labels {
    const char *name, *value;
    const char *second_name, *second_value;
};

/* `type` is "counter", "gauge" or "histogram". */
void metrics_family(struct buffer *out, const char *name, const char *type, const char *help);

void metrics_u64(struct buffer *out, const char *name, struct metrics_labels labels,
                 uint64_t value);
void metrics_i64(struct buffer *out, const char *name, struct metrics_labels labels, int64_t value);
void metrics_seconds(struct buffer *out, const char *name, struct metrics_labels labels,
                     uint64_t us);

/* All lines of one histogram, in seconds. `name` is without _bucket; `labels` has one at most. */
void metrics_histogram(struct buffer *out, const char *name, struct metrics_labels labels,
                       const struct histogram_sums *sums);

#endif
