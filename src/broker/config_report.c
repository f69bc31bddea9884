// SPDX-License-Identifier: Apache-2.0
#include "config_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "trace.h"

#define SENTENCE_BYTES 1024

void config_problem(struct config_report *report, const char *format, ...)
{
    char sentence[SENTENCE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (report->is_check) printf("problem: %s\n", sentence);
    if (report->problem_count == 0) snprintf(report->why, report->why_size, "%s", sentence);
    report->problem_count++;
}

/* False: there is no memory. */
static bool keep_warning(struct config_report *report, const char *sentence)
{
    size_t size = (report->warning_count + 1) * sizeof *report->warnings;
    char **longer = mem_realloc(report->warnings, size);
    if (longer == NULL) return false;
    report->warnings = longer;
    char *copy = mem_strdup(sentence);
    if (copy == NULL) return false;
    longer[report->warning_count++] = copy;
    return true;
}

void config_warning(struct config_report *report, const char *format, ...)
{
    char sentence[SENTENCE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (report->is_check)
        printf("warning: %s\n", sentence);
    else if (!keep_warning(report, sentence))
        trace(TRACE_WARN, "config", "%s", sentence);
}

int config_report_end(struct config_report *report)
{
    if (report->problem_count == 0) return 0;
    size_t length = strlen(report->why);
    if (report->is_check)
        snprintf(report->why, report->why_size, "the configuration has %u problem%s",
                 report->problem_count, report->problem_count == 1 ? "" : "s");
    else if (report->problem_count > 1 && length < report->why_size)
        snprintf(report->why + length, report->why_size - length,
                 " (and %u more: --check-config tells all)", report->problem_count - 1);
    return ERR_USAGE;
}
