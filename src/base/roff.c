// SPDX-License-Identifier: Apache-2.0
#include "roff.h"

#include <string.h>

/* Writes up to `end`. `at_line_start`: a dot or an apostrophe would begin a request there. */
static void put(FILE *out, const char *text, const char *end, int at_line_start)
{
    for (; text < end; text++) {
        if (at_line_start && (*text == '.' || *text == '\'')) fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-' || *text == '`' || *text == '\'' || *text == '~' || *text == '^')
            fprintf(out, *text == '-'    ? "\\-"
                         : *text == '`'  ? "\\(ga"
                         : *text == '\'' ? "\\(aq"
                         : *text == '~'  ? "\\(ti"
                                         : "\\(ha");
        else
            fputc(*text, out);
        at_line_start = *text == '\n';
    }
}

void roff_head(FILE *out, const char *program, const char *section, const char *version)
{
    fprintf(out, ".TH %s %s \"\" \"sluice %s\" \"Sluice\"\n", program, section, version);
    fputs(".nh\n.ad l\n", out); /* commands and options are not to be broken */
}

void roff_section(FILE *out, const char *request, const char *text)
{
    fprintf(out, "%s \"", request);
    put(out, text, text + strlen(text), 0);
    fputs("\"\n", out);
}

void roff_text(FILE *out, const char *text)
{
    put(out, text, text + strlen(text), 1);
    fputc('\n', out);
}

void roff_lines(FILE *out, const char *text)
{
    size_t length = strlen(text);
    fputs(".nf\n", out);
    put(out, text, text + length, 1);
    if (length > 0 && text[length - 1] != '\n') fputc('\n', out);
    fputs(".fi\n", out);
}

void roff_entry(FILE *out, const char *name, const char *value, const char *meaning)
{
    fputs(".TP\n\\fB", out);
    put(out, name, name + strlen(name), 0);
    fputs("\\fR", out);
    if (value[0] != '\0') {
        fputs(" \\fI", out);
        put(out, value, value + strlen(value), 0);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    roff_text(out, meaning);
}
