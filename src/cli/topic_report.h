// SPDX-License-Identifier: Apache-2.0
/* What became of topics that were to be created, altered or deleted: a line for each, a complaint for
 * each that failed, or an array for programs. */

#ifndef CLI_TOPIC_REPORT_H
#define CLI_TOPIC_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "options.h"

struct topic_report {
    bool as_json;
    json_t *array; /* If as_json; NULL after ERR_NO_MEMORY. */
    enum status status;
};

void topic_report_begin(struct topic_report *report, bool as_json);

/* The topic's object, to which more may be added; "name" and "error" (null, or the sentence) are
 * in it. Complains if there is an error. NULL if the report is for people, or without memory.
 * `failure` says what was not done to it: "was not created". */
json_t *topic_report_add(struct topic_report *report, struct str name, const char *failure,
                         int16_t error_code, struct str message);

/* Prints the array, if there is one. */
enum status topic_report_end(struct topic_report *report);

/* "topic 'x' was not created: …", in the broker's words if it has any, and what to do next. */
void topic_complain(struct str name, const char *failure, int16_t error_code, struct str message);

#endif
