// SPDX-License-Identifier: Apache-2.0
/* SIGHUP: the settings are read again, those that can be changed so are, and one line tells what became of
 * the others. */

#ifndef BROKER_RELOAD_H
#define BROKER_RELOAD_H

#include "config.h"

struct reload {
    const struct config *first; /* What the broker was started with; borrowed. */
    struct config latest;       /* What was read since, if anything was. */
    bool has_latest;
};

void reload_init(struct reload *reload, const struct config *config);
void reload_close(struct reload *reload);

/* Is it a setting that SIGHUP changes? */
bool reload_changes(const char *name);

/* What was read last and is right: of the settings that SIGHUP changes, what holds now. Valid until the next
 * reload_now(). */
const struct config *reload_in_effect(const struct reload *reload);

/* Reads again, and puts what can change into effect. If anything is wrong, nothing changes but that the log
 * file is opened anew. Waits for the file to be read. */
void reload_now(struct reload *reload);

#endif
