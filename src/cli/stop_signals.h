// SPDX-License-Identifier: Apache-2.0
/* SIGINT and SIGTERM as something that is looked for now and then, so that a command ends politely. */

#ifndef CLI_STOP_SIGNALS_H
#define CLI_STOP_SIGNALS_H

#include <stdbool.h>

struct stop_signals {
    int fd; /* A signalfd; -1: not open. */
};

void stop_signals_init(struct stop_signals *signals);

/* From now on the signals do not end the process. Threads that are started later inherit that, so call
 * it before there are any. Returns 0, or ERR_IO after complaining. */
int stop_signals_open(struct stop_signals *signals);
void stop_signals_close(struct stop_signals *signals);

/* Does not wait. Tells once of each signal. */
bool stop_signals_came(const struct stop_signals *signals);

#endif
