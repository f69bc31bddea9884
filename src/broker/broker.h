// SPDX-License-Identifier: Apache-2.0
/* The whole server: opens everything in order, runs, closes in reverse. */

#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H

#include "config.h"

struct broker;

/* Opens data folders, quorum and listeners; clients are accepted once the metadata has caught up (DESIGN
 * 7.5). Borrows `config`. On failure one sentence has been traced. 0 or an err. Blocks. */
int broker_open(struct broker **broker, const struct config *config);

/* Returns after SIGTERM or SIGINT. 0 or an err. */
int broker_run(struct broker *broker);

/* Politely: answers what can be answered, flushes, leaves the clean marker. NULL is fine. */
void broker_close(struct broker *broker);

#endif
