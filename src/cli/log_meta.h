// SPDX-License-Identifier: Apache-2.0
/* What an entry of the metadata log says. */

#ifndef CLI_LOG_META_H
#define CLI_LOG_META_H

#include "log_output.h"
#include "record_batch.h"

/* Adds type and content of the entry that a record holds to the line. 0, or ERR_CORRUPT_MESSAGE where
 * it holds none, ERR_UNSUPPORTED_VERSION where a newer Sluice has written it, ERR_NO_MEMORY. With
 * `output` NULL only looks. */
int log_meta_entry(struct log_output *output, const struct record_batch *batch,
                   const struct record *record);

/* Prints the bytes of a quorum-state file, a line for each copy. Returns whether all are whole. */
bool log_meta_vote(struct log_output *output, const void *data, size_t length);

/* Prints a snapshot of the metadata; NULL only looks. 0, or as for an entry. */
int log_meta_snapshot(struct log_output *output, const void *data, size_t length);

#endif
