// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdlib.h>

#include "roff.h"

static char *output;

static FILE *start(void)
{
    static size_t size;
    return open_memstream(&output, &size);
}

static void assert_written(FILE *out, const char *expected)
{
    fclose(out);
    assert_string_equal(output, expected);
    free(output);
}

TEST(text_does_not_become_a_request)
{
    FILE *out = start();
    roff_text(out, ".dot\n'quote in the middle .\n\\n --x");
    assert_written(out, "\\&.dot\n\\&\\(aqquote in the middle .\n\\en \\-\\-x\n");
}

TEST(lines_stay_as_they_are)
{
    FILE *out = start();
    roff_lines(out, "  a\n  b\n");
    roff_lines(out, "c");
    assert_written(out, ".nf\n  a\n  b\n.fi\n.nf\nc\n.fi\n");
}

TEST(an_entry_has_a_name_and_maybe_a_value)
{
    FILE *out = start();
    roff_entry(out, "--x", "N", "so many");
    roff_entry(out, "-y", "", "yes");
    assert_written(out, ".TP\n\\fB\\-\\-x\\fR \\fIN\\fR\nso many\n.TP\n\\fB\\-y\\fR\nyes\n");
}
