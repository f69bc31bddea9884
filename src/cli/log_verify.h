// SPDX-License-Identifier: Apache-2.0
/* Compares all files of a log with each other and says what does not fit.
 *
 * Only reads. A broker may be running there: then the end of the newest segment, what is on its way
 * out, and what the next checkpoint will bring are no findings. Memory is bounded by one batch and
 * what a log's producers take. */

#ifndef CLI_LOG_VERIFY_H
#define CLI_LOG_VERIFY_H

#include "fs.h"
#include "log_output.h"

struct verify_points;
struct verify_topics;

struct log_verify {
    struct log_output output;
    struct fs *fs;
    bool records;       /* Read each record, too. */
    bool gaps_are_fine; /* The operator knows of a compaction that no checkpoint tells of. */

    /* Of the data folder, during a call. */
    struct verify_topics *topics; /* By the metadata; NULL: not known. */
    struct verify_points *points;
    bool was_clean; /* Its clean mark holds. */

    uint64_t findings;
    uint64_t partitions, segments, batches, record_count, bytes;
};

/* A partition's folder or a data folder. 0, or why it could not be read; ERR_MALFORMED: neither. */
int log_verify_path(struct log_verify *verify, const char *path);

/* One line with what was seen and found. */
void log_verify_summary(struct log_verify *verify);

#endif
