// SPDX-License-Identifier: Apache-2.0
#include "header.h"

#include "error.h"

int16_t request_header_version(int16_t api_version, int16_t flexible_from)
{
    return api_version >= flexible_from ? 2 : 1;
}

int16_t response_header_version(int16_t api_key, int16_t api_version, int16_t flexible_from)
{
    /* KIP-511: a client that asks for versions cannot know yet what the broker speaks. */
    if (api_key == API_KEY_OF_API_VERSIONS) return 0;
    return api_version >= flexible_from ? 1 : 0;
}

static void header_skip_tags(struct cursor *in)
{
    for (uint32_t count = cursor_uvarint(in); count > 0 && !in->bad; count--) {
        cursor_uvarint(in);
        cursor_take(in, cursor_uvarint(in));
    }
}

int request_header_peek(const struct cursor *in, int16_t *api_key, int16_t *api_version)
{
    struct cursor ahead = *in;
    int16_t key = cursor_i16(&ahead);
    int16_t version = cursor_i16(&ahead);
    if (ahead.bad) return ERR_MALFORMED;
    *api_key = key;
    *api_version = version;
    return 0;
}

int request_header_decode(int16_t header_version, struct cursor *in, struct request_header *header)
{
    struct request_header read;
    read.api_key = cursor_i16(in);
    read.api_version = cursor_i16(in);
    read.correlation_id = cursor_i32(in);
    int16_t length = cursor_i16(in);
    read.client_id = STR_NULL;
    if (length >= 0)
        read.client_id = (struct str){ (const char *)cursor_take(in, (size_t)length), length };
    if (header_version >= 2) header_skip_tags(in);
    if (in->bad) return ERR_MALFORMED;
    *header = read;
    return 0;
}

int response_header_decode(int16_t header_version, struct cursor *in,
                           struct response_header *header)
{
    int32_t correlation_id = cursor_i32(in);
    if (header_version >= 1) header_skip_tags(in);
    if (in->bad) return ERR_MALFORMED;
    header->correlation_id = correlation_id;
    return 0;
}

int request_header_encode(int16_t header_version, const struct request_header *header,
                          struct buffer *out)
{
    struct str client_id = header->client_id;
    if (client_id.length > INT16_MAX) return ERR_MALFORMED;
    buffer_i16(out, header->api_key);
    buffer_i16(out, header->api_version);
    buffer_i32(out, header->correlation_id);
    buffer_i16(out, str_is_null(client_id) ? -1 : (int16_t)client_id.length);
    if (client_id.length > 0) buffer_put(out, client_id.data, (size_t)client_id.length);
    if (header_version >= 2) buffer_uvarint(out, 0); /* No tagged field. */
    return out->failed ? ERR_NO_MEMORY : 0;
}

int response_header_encode(int16_t header_version, const struct response_header *header,
                           struct buffer *out)
{
    buffer_i32(out, header->correlation_id);
    if (header_version >= 1) buffer_uvarint(out, 0); /* No tagged field. */
    return out->failed ? ERR_NO_MEMORY : 0;
}
