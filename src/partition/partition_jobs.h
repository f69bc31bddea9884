// SPDX-License-Identifier: Apache-2.0
/* What the pool does for a partition: open, queued appends, flush, checkpoint, retention, close. */

#ifndef PARTITION_PARTITION_JOBS_H
#define PARTITION_PARTITION_JOBS_H

#include "partition.h"

void partition_jobs_init(struct partition *partition);

/* Submits the job that appends what is queued. Caller holds the lock; the queue is not empty. */
void partition_start_queued_appends(struct partition *partition);

/* Begins a flush if flush.messages, flush.ms=0 or a stop asks for one and none runs; one that runs looks
 * again itself when it ends. Caller holds the lock. */
void partition_flush_if_due(struct partition *partition);

/* Answers everything queued with `err`. Caller holds the lock. */
void partition_refuse_queue(struct partition *partition, int err);

/* Lets the log know the settings and, on a leader, the epoch that begins (KIP-101). Nobody else writes to
 * it. Caller holds the lock. */
void partition_tell_log(struct partition *partition);

/* The first and the last job: partition_open.c. */
void partition_run_open(struct job *job);
void partition_run_close(struct job *job);
void partition_start_closing(struct partition *partition);

/* What a sync that begins now covers of the window; to be removed from it when the sync has ended. Caller
 * holds the lock. */
int64_t partition_begin_sync(struct partition *partition);

/* From now on this replica is offline. Caller holds the lock. */
void partition_go_offline(struct partition *partition);

/* After the log refused or failed: remembers that this replica is offline. Caller holds the lock. */
void partition_note_failure(struct partition *partition);

#endif
