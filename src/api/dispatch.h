// SPDX-License-Identifier: Apache-2.0
/* From a frame to its handler. */

#ifndef API_DISPATCH_H
#define API_DISPATCH_H

#include "api.h"

struct api_row {
    int16_t key;
    const char *name;
    int16_t first, last; /* Versions served. */
    int16_t told_first;  /* What ApiVersions says. */
    bool keeps_frame;
    bool keeps_order;
    const struct message_shape *request, *response;
    void (*handle)(struct api_loop *loop, struct call *call, void *request);
};

/* All rows, ascending by key. */
const struct api_row *api_rows(unsigned *count);

/* NULL: we do not serve that API. */
const struct api_row *api_row(int16_t key);

/* Which row it is; API_UNKNOWN: none. */
unsigned api_row_index(int16_t key);

/* Reads the header, checks API and version, decodes the body and calls the handler. What is malformed
 * or unknown closes that connection (DESIGN 3.3), but ApiVersions in an unknown version. */
void api_dispatch(struct api_loop *loop, struct call *call);

#endif
