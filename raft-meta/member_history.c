// SPDX-License-Identifier: Apache-2.0
#include "member_history.h"

#include "error.h"

void member_history_init(struct member_history *history)
{
    history->newest.index = history->previous.index = 0;
    buffer_init(&history->newest.payload);
    buffer_init(&history->previous.payload);
}

void member_history_close(struct member_history *history)
{
    buffer_close(&history->newest.payload);
    buffer_close(&history->previous.payload);
}

static int record_set(struct member_record *record, int64_t index, struct bytes payload)
{
    struct buffer copy;
    buffer_init(&copy);
    buffer_put(&copy, payload.data, (size_t)payload.length);
    if (copy.failed) {
        buffer_close(&copy);
        return ERR_NO_MEMORY;
    }
    buffer_close(&record->payload);
    record->payload = copy;
    record->index = index;
    return 0;
}

static void history_swap(struct member_history *history)
{
    struct member_record newest = history->newest;
    history->newest = history->previous;
    history->previous = newest;
}

int member_history_add(struct member_history *history, int64_t index, struct bytes payload)
{
    if (index <= history->newest.index) return 0;
    int err = record_set(&history->previous, index, payload);
    if (err == 0) history_swap(history);
    return err;
}

void member_history_truncate(struct member_history *history, int64_t index)
{
    if (history->newest.index < index) return;
    history_swap(history);
    history->previous.index = 0;
}

int member_history_restart(struct member_history *history, int64_t index, struct bytes payload)
{
    int err = record_set(&history->newest, index, payload);
    if (err == 0) history->previous.index = 0;
    return err;
}

const struct member_record *member_history_at(const struct member_history *history, int64_t index)
{
    if (history->newest.index > 0 && history->newest.index <= index) return &history->newest;
    if (history->previous.index > 0 && history->previous.index <= index) return &history->previous;
    return NULL;
}

struct bytes member_record_payload(const struct member_record *record)
{
    return (struct bytes){ record->payload.data, (int32_t)record->payload.length };
}
