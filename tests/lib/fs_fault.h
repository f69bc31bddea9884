// SPDX-License-Identifier: Apache-2.0
/* A disk for tests that fails when it is told to, knows nothing in its page cache when it is told to,
 * and counts what is done to it. */

#ifndef TESTS_FS_FAULT_H
#define TESTS_FS_FAULT_H

#include <stdatomic.h>

#include "fs.h"

#define FS_FAULT_FILES 4096

struct fs_fault {
    struct fs fs; /* Hand this to what is tested. */
    struct fs *real;

    /* Settings. */
    long fail_at;       /* The nth operation from now fails (1 is the next); 0: none. */
    bool keeps_failing; /* And so do all later ones. */
    int error;          /* With this err. */
    bool writes_a_part; /* A write that fails has written half of its bytes. */
    bool only_writes;  /* Only write(), truncate() and whatever makes a name count as operations. */
    bool syncs_indeed; /* `real` is told to sync; otherwise syncs are only counted. */
    bool nothing_cached; /* read_nowait() always gives ERR_NEEDS_IO. */

    /* Counts; any thread. */
    atomic_long operations;
    atomic_long writes, syncs, opens, reserves, log_reads;
    atomic_int open_files;
    atomic_bool has_failed;
    atomic_bool is_log[FS_FAULT_FILES]; /* By descriptor: its path ends in .log. */
};

void fs_fault_init(struct fs_fault *fault);

/* From now on: the nth operation fails. Starts the count anew. */
void fs_fault_fail_at(struct fs_fault *fault, long nth, int error);

#endif
