// SPDX-License-Identifier: Apache-2.0
/* SIGTERM, SIGINT and SIGHUP as events of a loop.
 *
 * They are blocked in all threads and read from a descriptor, so that no handler runs in between:
 * what comes before the loop runs waits, and no call of any thread is interrupted. */

#ifndef BROKER_SIGNALS_H
#define BROKER_SIGNALS_H

#include <stdbool.h>
#include <uv.h>

#include "loop.h"

struct signals {
    uv_poll_t poll;
    int fd;
    bool is_open;
    void (*asked)(struct signals *signals, int number); /* On the loop. */
};

/* From here on a SIGHUP waits for signals_open(), where the process would end of it. First thing of all. 0 or
 * ERR_IO. */
int signals_hold_reload(void);

/* To be called by the main thread while it is the only one: others begin with its mask. 0 or ERR_IO. */
int signals_open(struct signals *signals, struct loop *loop,
                 void (*asked)(struct signals *signals, int number));

/* Before the loop is closed. The signals stay blocked. Fine if it is not open. */
void signals_close(struct signals *signals);

#endif
