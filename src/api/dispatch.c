// SPDX-License-Identifier: Apache-2.0
#include "dispatch.h"

#include "error.h"
#include "handlers.h"
#include "header.h"

/* A request whose decoded form needs more than this times its frame is refused: no legal one does. */
#define ARENA_PER_FRAME_BYTE 16
#define ARENA_BASE           65536

/* More than a request about each of 100,000 topics has (DESIGN 7.4). Handlers take up to a microsecond
 * and a half for each element, and others wait meanwhile; Kafka refuses arrays above 1,000,000. */
#define REQUEST_ELEMENTS_MAX (1u << 18)

/* What names so much takes a millisecond and more. */
#define BULKY_FRAME_BYTES 16384

#define HANDLER_WRAPPER(key, name, stem, first, last, told, frame, sequence)         \
    static void call_##stem(struct api_loop *loop, struct call *call, void *request) \
    {                                                                                \
        handle_##stem(loop, call, request);                                          \
    }
API_TABLE(HANDLER_WRAPPER)

enum { BORROW = 0, KEEP = 1, OVERTAKE = 0, ORDER = 1 };

static const struct api_row rows[] = {
#define HANDLER_ROW(key, name, stem, first, last, told, frame, sequence) \
    { key,                                                               \
      name,                                                              \
      first,                                                             \
      last,                                                              \
      told,                                                              \
      frame,                                                             \
      sequence,                                                          \
      &stem##_request_shape,                                             \
      &stem##_response_shape,                                            \
      call_##stem },
    API_TABLE(HANDLER_ROW)
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

const struct api_row *api_rows(unsigned *count)
{
    *count = ROW_COUNT;
    return rows;
}

unsigned api_row_index(int16_t key)
{
    for (unsigned i = 0; i < ROW_COUNT; i++)
        if (rows[i].key == key) return i;
    return API_UNKNOWN;
}

const struct api_row *api_row(int16_t key)
{
    unsigned index = api_row_index(key);
    return index == API_UNKNOWN ? NULL : &rows[index];
}

/* Fills in the call's identity; an err if the header is malformed. */
static int read_header(struct call *call, const struct api_row *row, struct cursor *in)
{
    struct request_header header;
    int16_t flexible_from = row->request->flexible_from;
    int err = request_header_decode(request_header_version(call->api_version, flexible_from), in,
                                    &header);
    if (err != 0) return err;
    call->correlation_id = header.correlation_id;
    call->client_id = header.client_id;
    return 0;
}

static void *decode(struct call *call, const struct api_row *row, struct cursor *in)
{
    void *request = arena_alloc(&call->arena, row->request->shape.size);
    if (request == NULL || message_decode_limited(row->request, call->api_version, in, &call->arena,
                                                  REQUEST_ELEMENTS_MAX, request) != 0)
        return NULL;
    return request;
}

static void dispatch_served(struct api_loop *loop, struct call *call, const void *with)
{
    const struct api_row *row = with;
    struct cursor in = cursor_over(call->frame.data, (size_t)call->frame.length);
    if (read_header(call, row, &in) != 0) {
        call_refuse(call, "malformed request header");
        return;
    }
    void *request = decode(call, row, &in);
    if (request == NULL) {
        call_refuse(call, "malformed request");
        return;
    }
    call->arena.limit = SIZE_MAX; /* From here on it is our own doing. */
    row->handle(loop, call, request);
}

void api_dispatch(struct api_loop *loop, struct call *call)
{
    struct cursor in = cursor_over(call->frame.data, (size_t)call->frame.length);
    if (request_header_peek(&in, &call->api_key, &call->api_version) != 0) {
        call_refuse(call, "request too short for a header");
        return;
    }
    const struct api_row *row = api_row(call->api_key);
    if (row == NULL) {
        call_refuse(call, "unknown API");
        return;
    }
    bool is_known = call->api_version >= row->first && call->api_version <= row->last;
    if (!is_known && row->key != API_KEY_OF_API_VERSIONS) {
        call_refuse(call, "unsupported version of that API");
        return;
    }
    call->is_serial = row->keeps_order;
    size_t limit = ARENA_BASE + (size_t)call->frame.length * ARENA_PER_FRAME_BYTE;
    if (limit < call->arena.limit) call->arena.limit = limit;
    if (row->keeps_frame) {
        api_flush_burst(loop); /* It may ask for what was produced just before. */
        if (call_keep_frame(call) != 0) {
            call_refuse(call, "out of memory");
            return;
        }
        if (api_waits_for_produce(loop, call)) return;
    }
    meta_quorum_refresh(loop->api->options.meta, &loop->view);
    /* Nothing of the connection overtakes a call that keeps the order, so that may be put off. */
    bool is_bulky = row->keeps_frame && row->keeps_order && call->frame.length > BULKY_FRAME_BYTES;
    if (is_known && is_bulky)
        api_answer_later(loop, call, row, dispatch_served);
    else if (is_known)
        dispatch_served(loop, call, row);
    else if (read_header(call, row,
                         &(struct cursor){ call->frame.data, call->frame.data + call->frame.length,
                                           false }) == 0)
        handle_unknown_api_versions(loop, call);
    else
        call_refuse(call, "malformed request header");
}
