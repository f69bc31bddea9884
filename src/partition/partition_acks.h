// SPDX-License-Identifier: Apache-2.0
/* When an append is acknowledged: at once, once it is on disk, or once the ISR has it (DESIGN 4.6, 5.2).
 *
 *    acks=0                            at once
 *    acks=1                            at once; under flush.*: when the log is flushed beyond it
 *    acks=all                          when the high watermark has passed it
 *
 * Whoever has to wait is kept in order of offsets, so a flush or a higher watermark answers a run from
 * the front of the list and looks at nobody else. All calls under the partition's lock but the last. */

#ifndef PARTITION_PARTITION_ACKS_H
#define PARTITION_PARTITION_ACKS_H

#include "partition_append.h"

/* Has the topic flush.messages or flush.ms? Then nothing counts before it is on disk. */
bool partition_waits_for_flushes(const struct partition *partition);

/* Must a flush begin now, for what was appended and not flushed? */
bool partition_flush_is_due(const struct partition *partition);

/* Keeps an append that went well until it may be acknowledged; it is pending as long. False: it may be now, or its time is up
 * (log.err). */
bool partition_hold_ack(struct partition *partition, struct append *append);

/* Answers those whose condition has come true. */
void partition_release_acks(struct partition *partition);

/* Answers all with `err`: the records may be there, and may be lost. */
void partition_refuse_acks(struct partition *partition, int err);

/* The ISR has become too small for those with acks=all (20). */
void partition_refuse_acks_all(struct partition *partition, int err);

/* The append's time is up. True: it is the caller's again, with ERR_REQUEST_TIMED_OUT. False: its answer
 * is under way, or it is not written yet and will not wait any longer when it is. Takes the lock. */
bool partition_stop_waiting_for_ack(struct append *append);

#endif
