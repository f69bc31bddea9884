// SPDX-License-Identifier: Apache-2.0
/* Work that may wait for a device, handed to somebody who may wait.
 *
 * The node is embedded in its owner, so submitting never fails and never blocks. */

#ifndef BASE_JOB_H
#define BASE_JOB_H

#include <stdbool.h>

#include "list.h"

struct job {
    struct list node;             /* The executor's while the job is queued. */
    void (*run)(struct job *job); /* On one of the executor's threads. May free the owner. */
    bool is_urgent; /* A client waits for it: runs before what is queued and is not. */
};

/* Before it is submitted for the first time. It is not urgent. */
static inline void job_init(struct job *job, void (*run)(struct job *job))
{
    job->run = run;
    job->is_urgent = false;
}

/* Who runs jobs. The disk pool of storage/ is one; a test may run them by hand. */
struct executor {
    void (*submit)(struct executor *executor, struct job *job); /* Any thread. */
};

static inline void executor_submit(struct executor *executor, struct job *job)
{
    executor->submit(executor, job);
}

#endif
