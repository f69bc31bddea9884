// SPDX-License-Identifier: Apache-2.0
/* Which leader epoch began at which offset of a log (KIP-101), and its file leader-epoch-checkpoint.
 *
 * Epochs and start offsets both ascend. Not shared between threads; the partition log guards it. */

#ifndef STORAGE_EPOCH_HISTORY_H
#define STORAGE_EPOCH_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

struct epoch_start {
    int32_t epoch;
    int64_t start_offset;
};

struct epoch_history {
    struct epoch_start *starts;
    size_t count;
    size_t capacity;
};

void epoch_history_init(struct epoch_history *history);
void epoch_history_close(struct epoch_history *history);

/* Room for one more, so that the next epoch_history_begin() cannot fail. 0 or ERR_NO_MEMORY. */
int epoch_history_reserve(struct epoch_history *history);

/* `epoch` writes from `start_offset` on. Returns whether that is news; an epoch not above the last one
 * changes nothing. There must be room. */
bool epoch_history_begin(struct epoch_history *history, int32_t epoch, int64_t start_offset);

int32_t epoch_history_last(const struct epoch_history *history); /* -1 if empty. */

/* The epoch that holds `offset`; -1 if it lies before the first. */
int32_t epoch_history_of(const struct epoch_history *history, int64_t offset);

/* The largest epoch not above `epoch`, and where the one after it begins (`log_end` if none does). If
 * `epoch` lies before the first: itself and the start of the first, as Kafka answers. -1 and -1 if
 * nothing is known. */
void epoch_history_end_of(const struct epoch_history *history, int32_t epoch, int64_t log_end,
                          int32_t *found_epoch, int64_t *end_offset);

/* Forgets epochs that begin at or above `end_offset`. Returns whether there were any. */
bool epoch_history_truncate(struct epoch_history *history, int64_t end_offset);

/* The log now begins at `start_offset`: the epoch that holds it begins there, earlier ones go.
 * Returns whether anything changed. */
bool epoch_history_raise_start(struct epoch_history *history, int64_t start_offset);

/* The lines of the checkpoint file, and back. Reading replaces the content; ERR_MALFORMED or
 * ERR_NO_MEMORY leave it as it was. */
void epoch_history_print(const struct epoch_history *history, struct buffer *lines);
int epoch_history_parse(struct epoch_history *history, const char *text, size_t length);

#endif
