// SPDX-License-Identifier: Apache-2.0
/* What an input of fuzz_handler is: requests of a few clients, and what happens between them.
 *
 *    at  size  meaning
 *     0    1   the transport and its chance
 *     1    1   bits: little memory, nothing is in the page cache, a disk that fails is a full one
 *     2    1   how many fetch sessions there may be
 *     3    1   which operation of the second data folder fails; 0: none
 *     4        steps: one byte, client and enum fuzz_step; then what that says */

#ifndef TESTS_FUZZ_REQUESTS_H
#define TESTS_FUZZ_REQUESTS_H

#define FUZZ_HEAD     4
#define FUZZ_CLIENTS  4
#define FUZZ_SESSIONS 4 /* As session ids these are not ids, but say which of the open ones. */

enum fuzz_step {
    FUZZ_STEP_SEND, /* Length (4) and bytes of a request, without the length that goes in front. */
    FUZZ_STEP_TURN,
    FUZZ_STEP_SETTLE,    /* Until all is answered. */
    FUZZ_STEP_TIME,      /* 2^n milliseconds (1) pass. */
    FUZZ_STEP_HOLD_JOBS, /* Of the disk, or not any longer. */
    FUZZ_STEP_DEAF,      /* The client takes nothing, or does again. */
    FUZZ_STEP_LEAVE,
    FUZZ_STEP_NO_MEMORY, /* In a turn the nth (1) allocation fails. */
    FUZZ_STEP_COUNT
};

#endif
