// SPDX-License-Identifier: Apache-2.0
#include "fuzz_answers.h"

#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "error.h"
#include "fetch.h"
#include "fuzz.h"
#include "fuzz_broker.h"
#include "header.h"
#include "produce.h"
#include "record_batch.h"

#define FETCH   1
#define PRODUCE 0

/* As dispatch.c has them. What lies this near to the limit may be taken or not: some of it is for the call
 * itself. */
#define MEMORY_BASE     65536
#define MEMORY_PER_BYTE 16
#define MEMORY_UNSURE   8192
#define ELEMENTS_MAX    (1u << 18)

/* (3) Beside records: what this broker can tell of its few topics, and of each that was asked for. */
#define ANSWER_BASE     (2 << 20)
#define ANSWER_PER_BYTE 4096

/* ---- what is owed ---- */

static bool decodes(const struct api_row *row, const struct fuzz_owed *owed, struct cursor in,
                    size_t memory, int16_t *acks)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, memory);
    void *request = arena_alloc(&arena, row->request->shape.size);
    bool does = request != NULL && message_decode_limited(row->request, owed->api_version, &in,
                                                          &arena, ELEMENTS_MAX, request) == 0;
    if (does && owed->api_key == PRODUCE) *acks = ((const struct produce_request *)request)->acks;
    arena_close(&arena);
    return does;
}

static enum fuzz_owed_kind kind_of(struct fuzz_owed *owed, struct bytes frame)
{
    struct cursor in = cursor_over(frame.data, (size_t)frame.length);
    struct request_header header;
    int16_t acks = 1;
    if (request_header_peek(&in, &owed->api_key, &owed->api_version) != 0) return FUZZ_OWED_END;
    const struct api_row *row = api_row(owed->api_key);
    if (row == NULL) return FUZZ_OWED_END;
    bool is_served = owed->api_version >= row->first && owed->api_version <= row->last;
    if (!is_served && owed->api_key != API_KEY_OF_API_VERSIONS) return FUZZ_OWED_END;
    int16_t header_version = request_header_version(owed->api_version, row->request->flexible_from);
    if (request_header_decode(header_version, &in, &header) != 0) return FUZZ_OWED_END;
    owed->correlation_id = header.correlation_id;
    if (!is_served) {
        owed->api_version = 0;
        return FUZZ_OWED_ANSWER;
    }
    size_t memory = MEMORY_BASE + (size_t)frame.length * MEMORY_PER_BYTE;
    if (!decodes(row, owed, in, memory + MEMORY_UNSURE, &acks)) return FUZZ_OWED_END;
    if (!decodes(row, owed, in, memory - MEMORY_UNSURE, &acks)) return FUZZ_OWED_ANSWER_OR_END;
    return acks == 0 ? FUZZ_OWED_NOTHING : FUZZ_OWED_ANSWER;
}

bool fuzz_debts_add(struct fuzz_debts *debts, struct bytes frame)
{
    if (debts->count == FUZZ_OWED_MAX) return false;
    struct fuzz_owed owed = { .request_bytes = frame.length };
    owed.kind = kind_of(&owed, frame);
    debts->owed[debts->count++] = owed;
    return true;
}

/* The first one that is not silent; NULL: none. */
static const struct fuzz_owed *next_owed(const struct fuzz_debts *debts)
{
    for (unsigned i = 0; i < debts->count; i++)
        if (debts->owed[i].kind != FUZZ_OWED_NOTHING) return &debts->owed[i];
    return NULL;
}

bool fuzz_debts_are_open(const struct fuzz_debts *debts)
{
    return next_owed(debts) != NULL;
}

bool fuzz_debts_wait_for_quorum(const struct fuzz_debts *debts)
{
    const struct fuzz_owed *next = next_owed(debts);
    return next != NULL && next->api_key != FETCH && next->api_key != PRODUCE;
}

bool fuzz_debts_may_end(const struct fuzz_debts *debts)
{
    const struct fuzz_owed *next = next_owed(debts);
    if (debts->count > 0 && debts->owed[0].kind == FUZZ_OWED_NOTHING) return true;
    return next != NULL && next->kind != FUZZ_OWED_ANSWER;
}

/* ---- what comes ---- */

/* (4) */
static void check_records(const struct fetch_response_partition *partition)
{
    const uint8_t *data = partition->records.data;
    size_t left = partition->records.length < 0 ? 0 : (size_t)partition->records.length;
    int64_t next_offset = INT64_MIN;
    while (left > 0) {
        struct record_batch batch;
        fuzz_promise(record_batch_read_header(&batch, data, left) == 0 && batch.size <= left,
                     "records come as whole batches");
        fuzz_promise(record_batch_crc_is_right(&batch), "a batch has the CRC that it should");
        fuzz_promise(batch.base_offset >= next_offset, "offsets ascend");
        next_offset = record_batch_last_offset(&batch) + 1;
        fuzz_promise(next_offset <= partition->high_watermark, "what is not committed is not told");
        data += batch.size;
        left -= batch.size;
    }
}

static void check_fetch(const struct fetch_response *response)
{
    for (int32_t i = 0; i < response->responses.count; i++)
        for (int32_t k = 0; k < response->responses.items[i].partitions.count; k++)
            check_records(&response->responses.items[i].partitions.items[k]);
}

static void check_length(const struct fuzz_owed *owed, struct bytes answer)
{
    int64_t most = ANSWER_BASE + (int64_t)owed->request_bytes * ANSWER_PER_BYTE;
    fuzz_promise(answer.length <= most, "an answer is not longer than it may be");
}

static void check_body(const struct fuzz_owed *owed, struct cursor *in, int32_t *session_id)
{
    const struct api_row *row = api_row(owed->api_key);
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    void *response = arena_alloc(&arena, row->response->shape.size);
    if (response == NULL) abort();
    fuzz_promise(message_decode(row->response, owed->api_version, in, &arena, response) == 0,
                 "an answer decodes");
    fuzz_promise(cursor_left(in) == 0, "nothing of an answer is left over");
    if (owed->api_key == FETCH) {
        const struct fetch_response *fetch = response;
        check_fetch(fetch);
        if (fetch->error_code == 0) *session_id = fetch->session_id;
    }
    arena_close(&arena);
}

void fuzz_debts_pay(struct fuzz_debts *debts, struct bytes answer, int32_t *session_id)
{
    const struct fuzz_owed *next = next_owed(debts);
    fuzz_promise(next != NULL && next->kind != FUZZ_OWED_END, "no answer comes that is not owed");
    struct fuzz_owed owed = *next;
    unsigned done = (unsigned)(next - debts->owed) + 1;
    debts->count -= done;
    memmove(debts->owed, debts->owed + done, debts->count * sizeof debts->owed[0]);

    struct cursor in = cursor_over(answer.data, (size_t)answer.length);
    struct response_header header;
    int16_t header_version = response_header_version(
        owed.api_key, owed.api_version, api_row(owed.api_key)->response->flexible_from);
    fuzz_promise(response_header_decode(header_version, &in, &header) == 0,
                 "an answer has its header");
    fuzz_promise(header.correlation_id == owed.correlation_id,
                 "an answer has the correlation id of its request");
    check_length(&owed, answer);
    check_body(&owed, &in, session_id);
}
