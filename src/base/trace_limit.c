// SPDX-License-Identifier: Apache-2.0
#include "trace_limit.h"

#include <stdio.h>

bool trace_limit_allows(struct trace_limit *limit, unsigned most, int64_t while_ms, int64_t now_ms,
                        uint64_t *left_out)
{
    if (limit->told == 0 || now_ms >= limit->until_ms) {
        limit->told = 0;
        limit->until_ms = now_ms + while_ms;
    }
    if (limit->told >= most) {
        limit->left_out++;
        return false;
    }
    limit->told++;
    *left_out = limit->left_out;
    limit->left_out = 0;
    return true;
}

const char *trace_left_out(char text[TRACE_LEFT_OUT_BYTES], uint64_t left_out)
{
    text[0] = '\0';
    if (left_out > 0)
        snprintf(text, TRACE_LEFT_OUT_BYTES, " (%llu more were not told)",
                 (unsigned long long)left_out);
    return text;
}

struct trace_limit *trace_kind(struct trace_kinds *kinds, const char *kind)
{
    uint32_t hash = 2166136261u;
    for (; *kind != '\0'; kind++)
        hash = (hash ^ (uint8_t)*kind) * 16777619u;
    return &kinds->limits[(hash ^ hash >> 16) % TRACE_KINDS];
}
