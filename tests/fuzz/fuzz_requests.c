// SPDX-License-Identifier: Apache-2.0
/* Inputs of fuzz_handler: a few topics with some records to begin with, then requests of the APIs in
 * question, and now and then of all others, since one meets what another left. */

#include "fuzz_requests.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "create_topics.h"
#include "cursor.h"
#include "dispatch.h"
#include "fuzz.h"
#include "fuzz_fields.h"
#include "header.h"
#include "produce.h"

#define CREATE_TOPICS 19
#define PRODUCE       0
#define STEPS_MOST    100

/* ---- which API ---- */

static bool is_wanted(const struct api_row *row)
{
    return fuzz_part == NULL || strcmp(row->name, fuzz_part) == 0;
}

static const struct api_row *some_api(void)
{
    unsigned count;
    const struct api_row *rows = api_rows(&count), *chosen = NULL;
    if (chance_below(4) == 0) return &rows[chance_below(count)];
    size_t wanted = 0;
    for (unsigned i = 0; i < count; i++)
        if (is_wanted(&rows[i]) && chance_below(++wanted) == 0) chosen = &rows[i];
    fuzz_promise(chosen != NULL, "--part names an API that there is");
    return chosen;
}

/* ---- frames ---- */

static void put_frame(struct buffer *input, const struct api_row *row, int16_t version,
                      const void *request)
{
    struct encoder out;
    struct request_header header = { row->key, version, (int32_t)chance(), STR_LITERAL("fuzz") };
    encoder_init(&out);
    int err = request_header_encode(request_header_version(version, row->request->flexible_from),
                                    &header, &out.bytes);
    if (err == 0) err = message_encode(row->request, version, request, &out);
    fuzz_promise(err == 0, "a request that was made encodes");
    buffer_i32(input, (int32_t)out.bytes.length);
    buffer_put(input, out.bytes.data, out.bytes.length);
    encoder_close(&out);
}

/* What lies behind the header is changed where it is, or cut: counts, lengths, ids, anything. */
static void spoil_frame(struct buffer *input, size_t from)
{
    static const uint8_t runs[][8] = { { 0 },
                                       { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
                                       { 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
                                       { 0x80, 0x80, 0x80, 0x80, 0x08 },
                                       { 0xff, 0xff, 0xff, 0xff, 0x0f },
                                       { 0x00, 0x00, 0x00, 0x01 },
                                       { 0x80, 0x00, 0x00, 0x00 } };
    size_t length = input->length - from;
    for (size_t left = 1 + chance_below(3); left > 0; left--) {
        size_t at = 14 + chance_below(length), count = (size_t)1 << chance_below(4);
        if (at + count > length) continue;
        uint8_t *to = input->data + from + at;
        switch (chance_below(4)) {
        case 0: *to = (uint8_t)chance(); break;
        case 1: *to = (uint8_t)(*to + 2 * chance_below(2) - 1); break; /* One more, or less. */
        default: memcpy(to, runs[chance_below(sizeof runs / sizeof runs[0])], count); break;
        }
    }
    if (chance_below(8) == 0) input->length = from + 8 + chance_below(length - 8);
    store_i32(input->data + from - 4, (int32_t)(input->length - from));
}

static void put_request(struct buffer *input, const struct api_row *row)
{
    struct arena arena;
    int16_t version = (int16_t)(row->first +
                                (int16_t)chance_below((size_t)(row->last - row->first + 1)));
    arena_init(&arena, NULL, 0, SIZE_MAX);
    void *request = arena_zalloc(&arena, row->request->shape.size);
    if (request == NULL) abort();
    fuzz_fill(row->request, version, &arena, request);
    size_t from = input->length + 4;
    put_frame(input, row, version, request);
    if (chance_below(6) == 0) spoil_frame(input, from);
    if (chance_below(30) == 0) store_i16(input->data + from + 2, (int16_t)chance_below(20));
    arena_close(&arena);
}

/* ---- the beginning ---- */

static void put_topics(struct buffer *input)
{
    static struct create_topics_request_config compacted[] = {
        { STR_LITERAL("cleanup.policy"), STR_LITERAL("compact") },
        { STR_LITERAL("segment.bytes"), STR_LITERAL("1048576") },
    };
    static struct create_topics_request_config flushed[] = {
        { STR_LITERAL("flush.messages"), STR_LITERAL("1") },
        { STR_LITERAL("compression.type"), STR_LITERAL("lz4") },
        { STR_LITERAL("message.timestamp.type"), STR_LITERAL("LogAppendTime") },
    };
    struct create_topics_request_topic topics[FUZZ_TOPICS] = {
        { .num_partitions = 1, .configs = { compacted, 2 } },
        { .num_partitions = 1, .configs = { flushed, 3 } },
        { .num_partitions = 3 },
    };
    struct create_topics_request request = { .topics = { topics, FUZZ_TOPICS },
                                             .timeout_ms = 60000 };
    for (int32_t i = 0; i < FUZZ_TOPICS; i++) {
        topics[i].name = str_from(fuzz_topics[i]);
        topics[i].replication_factor = 1;
    }
    buffer_i8(input, FUZZ_STEP_SEND * FUZZ_CLIENTS);
    put_frame(input, api_row(CREATE_TOPICS), 7, &request);
    buffer_i8(input, FUZZ_STEP_SETTLE * FUZZ_CLIENTS);
}

static void put_records(struct buffer *input, const char *topic)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    struct produce_request_partition partition = { 0, fuzz_records(&arena) };
    struct produce_request_topic data = { .name = str_from(topic),
                                          .partition_data = { &partition, 1 } };
    struct produce_request request = { STR_NULL, -1, 1000, { &data, 1 } };
    buffer_i8(input, FUZZ_STEP_SEND * FUZZ_CLIENTS);
    put_frame(input, api_row(PRODUCE), 9, &request);
    arena_close(&arena);
}

/* ---- an input ---- */

static void put_step(struct buffer *input, size_t clients)
{
    static const enum fuzz_step often[] = { FUZZ_STEP_TURN, FUZZ_STEP_TURN, FUZZ_STEP_SETTLE };
    size_t client = chance_below(clients);
    if (chance_below(3) != 0) {
        buffer_i8(input, (int8_t)(FUZZ_STEP_SEND * FUZZ_CLIENTS + client));
        put_request(input, some_api());
        if (chance_below(2) == 0) buffer_i8(input, FUZZ_STEP_SETTLE * FUZZ_CLIENTS);
        return;
    }
    enum fuzz_step step = chance_below(2) == 0
                              ? often[chance_below(3)]
                              : (enum fuzz_step)(1 + chance_below(FUZZ_STEP_COUNT - 1));
    if (step == FUZZ_STEP_NO_MEMORY && chance_below(2) == 0) step = FUZZ_STEP_SETTLE;
    buffer_i8(input, (int8_t)(step * FUZZ_CLIENTS + client));
    if (step == FUZZ_STEP_TIME) buffer_i8(input, (int8_t)chance_below(24));
    if (step == FUZZ_STEP_NO_MEMORY) buffer_i8(input, (int8_t)chance());
}

void fuzz_make(struct buffer *input)
{
    size_t clients = 1 + chance_below(FUZZ_CLIENTS);
    buffer_i8(input, (int8_t)chance());
    buffer_i8(input, (int8_t)chance());
    buffer_i8(input, (int8_t)chance());
    buffer_i8(input, (int8_t)(chance_below(8) == 0 ? chance() : 0));
    put_topics(input);
    for (size_t left = chance_below(5); left > 0; left--)
        put_records(input, fuzz_topics[chance_below(FUZZ_TOPICS)]);
    for (size_t left = 1 + chance_below(STEPS_MOST); left > 0; left--)
        put_step(input, clients);
}

/* ---- mending ---- */

/* Where the request in a frame has records; those are batches. */
static void mend_records(struct produce_request *request)
{
    for (int32_t i = 0; i < request->topic_data.count; i++) {
        const struct produce_request_topic *topic = &request->topic_data.items[i];
        for (int32_t k = 0; k < topic->partition_data.count; k++) {
            struct records records = topic->partition_data.items[k].records;
            if (records.length > 0)
                fuzz_mend_batches((uint8_t *)(uintptr_t)records.data, (size_t)records.length);
        }
    }
}

static void mend_frame(const uint8_t *frame, size_t length)
{
    struct cursor in = cursor_over(frame, length);
    struct request_header header;
    int16_t key, version;
    const struct api_row *row = api_row(PRODUCE);
    if (request_header_peek(&in, &key, &version) != 0 || key != PRODUCE || version < row->first ||
        version > row->last ||
        request_header_decode(request_header_version(version, row->request->flexible_from), &in,
                              &header) != 0)
        return;
    struct arena arena;
    struct produce_request request;
    arena_init(&arena, NULL, 0, 16 * length + 65536);
    if (message_decode(row->request, version, &in, &arena, &request) == 0) mend_records(&request);
    arena_close(&arena);
}

void fuzz_mend(uint8_t *data, size_t length)
{
    if (length < FUZZ_HEAD) return;
    struct cursor in = cursor_over(data + FUZZ_HEAD, length - FUZZ_HEAD);
    while (cursor_left(&in) > 0) {
        enum fuzz_step step = (enum fuzz_step)((uint8_t)cursor_i8(&in) / FUZZ_CLIENTS %
                                               FUZZ_STEP_COUNT);
        if (step == FUZZ_STEP_TIME || step == FUZZ_STEP_NO_MEMORY) cursor_i8(&in);
        if (step != FUZZ_STEP_SEND) continue;
        size_t frame_length = (uint32_t)cursor_i32(&in), left = cursor_left(&in);
        if (frame_length > left) frame_length = left;
        const uint8_t *frame = cursor_take(&in, frame_length);
        if (frame_length > 0) mend_frame(frame, frame_length);
    }
}
