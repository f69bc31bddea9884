// SPDX-License-Identifier: Apache-2.0
#include "partition_trim.h"

#include "error.h"

/* Where is the log to begin? What no consumer may see yet is not deleted. */
static int decide(struct partition *partition, int64_t wanted, int64_t *offset)
{
    pthread_mutex_lock(&partition->lock);
    int err = partition_check_leader(partition, -1);
    int policy = partition->settings.cleanup_policy;
    int64_t high_watermark = partition->high_watermark;
    pthread_mutex_unlock(&partition->lock);
    if (err != 0) return err;
    if (!(policy & CLEANUP_DELETE)) return ERR_POLICY_VIOLATION;
    if (wanted == TRIM_TO_HIGH_WATERMARK) wanted = high_watermark;
    if (wanted < 0 || wanted > high_watermark) return ERR_OFFSET_OUT_OF_RANGE;
    *offset = wanted;
    return 0;
}

static void run_trim(struct job *job)
{
    struct partition_trim *trim = LIST_OWNER(job, struct partition_trim, job);
    struct partition *partition = trim->partition;
    int64_t offset = 0;
    bool has_log = partition_begin_writing(partition);
    trim->err = decide(partition, trim->offset, &offset);
    if (has_log) {
        if (trim->err == 0) trim->err = partition_log_raise_start(partition->log, offset);
        trim->start_offset = partition_log_start_offset(partition->log);
        partition_end_writing(partition);
    }
    if (trim->err == 0) partition_retain_soon(partition); /* Whole segments may go at once. */
    trim->done(trim);
    partition_unref(partition);
}

void partition_trim(struct partition *partition, struct partition_trim *trim)
{
    trim->partition = partition_ref(partition);
    job_init(&trim->job, run_trim);
    job_lane_submit(&partition->lane, &trim->job);
}
