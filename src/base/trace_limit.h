// SPDX-License-Identifier: Apache-2.0
/* Lines that somebody outside can bring about as often as he likes: so many in a while are told, and then how
 * many were not. Otherwise whoever sends rubbish fills the disk. */

#ifndef BASE_TRACE_LIMIT_H
#define BASE_TRACE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Of lines of one kind; its owner's thread only. All zero is new. */
struct trace_limit {
    int64_t until_ms; /* The end of the while in which … */
    unsigned told;    /* … so many lines were told. */
    uint64_t left_out;
};

/* May there be a line now, when at most `most` may be told within `while_ms`? *left_out: so many like it were
 * not since the last that was. */
bool trace_limit_allows(struct trace_limit *limit, unsigned most, int64_t while_ms, int64_t now_ms,
                        uint64_t *left_out);

/* For the end of a line: "", or that there were more. */
#define TRACE_LEFT_OUT_BYTES 48
const char *trace_left_out(char text[TRACE_LEFT_OUT_BYTES], uint64_t left_out);

/* The same of several kinds, which are told apart by a text of theirs, so that one that comes often does not
 * hide another. All kinds together are limited, too: beyond so many they share. */
#define TRACE_KINDS 16
struct trace_kinds {
    struct trace_limit limits[TRACE_KINDS];
};
struct trace_limit *trace_kind(struct trace_kinds *kinds, const char *kind);

#endif
