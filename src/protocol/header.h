// SPDX-License-Identifier: Apache-2.0
/* What stands before the body in a frame.
 *
 *    request header   v1: int16 API key, int16 API version, int32 correlation id, client id
 *                     v2: the same and a tagged section
 *                     (the client id has an int16 length in both, -1 for null)
 *    response header  v0: int32 correlation id
 *                     v1: the same and a tagged section */

#ifndef PROTOCOL_HEADER_H
#define PROTOCOL_HEADER_H

#include "buffer.h"
#include "bytes.h"
#include "cursor.h"

struct request_header {
    int16_t api_key;
    int16_t api_version;
    int32_t correlation_id;
    struct str client_id; /* May be null. */
};

struct response_header {
    int32_t correlation_id;
};

#define API_KEY_OF_API_VERSIONS 18

/* Which header version goes with a request or response. `flexible_from` is the API's first flexible
 * version; any api_version will do, also one that nobody knows. */
int16_t request_header_version(int16_t api_version, int16_t flexible_from);
int16_t response_header_version(int16_t api_key, int16_t api_version, int16_t flexible_from);

/* Reads key and version, which alone decide the version of the header, and leaves the cursor before
 * them. Returns 0 or ERR_MALFORMED. */
int request_header_peek(const struct cursor *in, int16_t *api_key, int16_t *api_version);

/* Reads a request header of `header_version` (1 or 2); the client id borrows the input. Tagged
 * fields are skipped, there is none that we know. Returns 0 or ERR_MALFORMED. */
int request_header_decode(int16_t header_version, struct cursor *in, struct request_header *header);

/* Returns 0 or ERR_MALFORMED. */
int response_header_decode(int16_t header_version, struct cursor *in,
                           struct response_header *header);

/* Both return 0, ERR_MALFORMED (the client id is longer than an int16 can say) or ERR_NO_MEMORY. */
int request_header_encode(int16_t header_version, const struct request_header *header,
                          struct buffer *out);
int response_header_encode(int16_t header_version, const struct response_header *header,
                           struct buffer *out);

#endif
