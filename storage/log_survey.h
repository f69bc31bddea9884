// SPDX-License-Identifier: Apache-2.0
/* What must be known of a log before it is taken over: how far its leader epochs and producer ids have
 * come, so that ours go on behind them.
 *
 * Only reads, and headers only, above what the newest producer snapshot covers. */

#ifndef STORAGE_LOG_SURVEY_H
#define STORAGE_LOG_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "fs.h"

struct log_survey {
    unsigned segment_count;
    int32_t last_epoch;       /* -1: none. */
    int64_t last_producer_id; /* -1: none. */
    bool has_old_format;      /* Messages of before Kafka 0.11, which we do not read. */
};

/* `snapshot_is_complete`: everything in the log was there when the newest snapshot was written, which is
 * so after a clean stop. Blocks. 0, ERR_NO_MEMORY, ERR_IO, … */
int log_survey(struct fs *fs, const char *folder, bool snapshot_is_complete,
               struct log_survey *survey);

#endif
