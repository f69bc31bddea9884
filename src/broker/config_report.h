// SPDX-License-Identifier: Apache-2.0
/* What is wrong with the settings, and what is worth a warning. */

#ifndef BROKER_CONFIG_REPORT_H
#define BROKER_CONFIG_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Reading goes on after a problem, so that --check-config can tell all of them. */
struct config_report {
    bool is_check; /* Print all to stdout. Otherwise the first */
    char *why;     /* problem goes here, */
    size_t why_size;
    unsigned problem_count;
    char **
        warnings; /* and warnings here, each the taker's to free: nobody knows yet where lines go. */
    unsigned warning_count;
};

void config_problem(struct config_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void config_warning(struct config_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* 0 if there was no problem, otherwise ERR_USAGE with `why` complete. */
int config_report_end(struct config_report *report);

#endif
