// SPDX-License-Identifier: Apache-2.0

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "checkpoint.h"
#include "epoch_history.h"
#include "error.h"

void epoch_history_init(struct epoch_history *history)
{
    *history = (struct epoch_history){ 0 };
}

void epoch_history_close(struct epoch_history *history)
{
    mem_free(history->starts);
    epoch_history_init(history);
}

int epoch_history_reserve(struct epoch_history *history)
{
    if (history->count < history->capacity) return 0;
    size_t capacity = history->capacity == 0 ? 2 : history->capacity * 2;
    struct epoch_start *starts = mem_realloc(history->starts, capacity * sizeof *starts);
    if (starts == NULL) return ERR_NO_MEMORY;
    history->starts = starts;
    history->capacity = capacity;
    return 0;
}

bool epoch_history_begin(struct epoch_history *history, int32_t epoch, int64_t start_offset)
{
    if (epoch < 0 || epoch <= epoch_history_last(history)) return false;
    /* An epoch that wrote nothing is replaced by the one that begins at the same place. */
    while (history->count > 0 && history->starts[history->count - 1].start_offset >= start_offset)
        history->count--;
    assert(history->count < history->capacity);
    history->starts[history->count++] = (struct epoch_start){ epoch, start_offset };
    return true;
}

int32_t epoch_history_last(const struct epoch_history *history)
{
    return history->count == 0 ? -1 : history->starts[history->count - 1].epoch;
}

int32_t epoch_history_of(const struct epoch_history *history, int64_t offset)
{
    for (size_t i = history->count; i > 0; i--) {
        if (history->starts[i - 1].start_offset <= offset) return history->starts[i - 1].epoch;
    }
    return -1;
}

void epoch_history_end_of(const struct epoch_history *history, int32_t epoch, int64_t log_end,
                          int32_t *found_epoch, int64_t *end_offset)
{
    int32_t found = -1;
    int64_t end = -1;

    /* Kafka's answer to an epoch that has left the log: nothing of it is above our first offset. */
    if (history->count > 0 && history->starts[0].epoch > epoch) {
        found = epoch;
        end = history->starts[0].start_offset;
    }
    for (size_t i = 0; i < history->count && history->starts[i].epoch <= epoch; i++) {
        found = history->starts[i].epoch;
        end = i + 1 < history->count ? history->starts[i + 1].start_offset : log_end;
    }
    *found_epoch = found;
    *end_offset = end;
}

bool epoch_history_truncate(struct epoch_history *history, int64_t end_offset)
{
    size_t before = history->count;

    while (history->count > 0 && history->starts[history->count - 1].start_offset >= end_offset)
        history->count--;
    return history->count != before;
}

bool epoch_history_raise_start(struct epoch_history *history, int64_t start_offset)
{
    size_t gone = 0;

    while (gone + 1 < history->count && history->starts[gone + 1].start_offset <= start_offset)
        gone++;
    if (history->count == 0 || (gone == 0 && history->starts[0].start_offset >= start_offset))
        return false;
    history->count -= gone;
    memmove(history->starts, history->starts + gone, history->count * sizeof *history->starts);
    history->starts[0].start_offset = start_offset;
    return true;
}

void epoch_history_print(const struct epoch_history *history, struct buffer *lines)
{
    for (size_t i = 0; i < history->count; i++)
        checkpoint_print(lines, "%" PRId32 " %" PRId64 "\n", history->starts[i].epoch,
                         history->starts[i].start_offset);
}

static int parse_line(void *context, const struct checkpoint_line *line)
{
    struct epoch_history *history = context;
    int64_t epoch, start_offset;

    int err = checkpoint_number(line->columns[0], 0, &epoch);
    if (err == 0) err = checkpoint_number(line->columns[1], 0, &start_offset);
    if (err == 0 &&
        (epoch > INT32_MAX || epoch <= epoch_history_last(history) ||
         (history->count > 0 && start_offset < history->starts[history->count - 1].start_offset)))
        err = ERR_MALFORMED;
    if (err == 0) err = epoch_history_reserve(history);
    if (err == 0) epoch_history_begin(history, (int32_t)epoch, start_offset);
    return err;
}

int epoch_history_parse(struct epoch_history *history, const char *text, size_t length)
{
    struct epoch_history parsed;

    epoch_history_init(&parsed);
    int err = checkpoint_parse(text, length, 2, parse_line, &parsed, NULL);
    if (err != 0) {
        epoch_history_close(&parsed);
        return err;
    }
    epoch_history_close(history);
    *history = parsed;
    return 0;
}
