// SPDX-License-Identifier: Apache-2.0
/* What a change makes of the settings of a broker, before anybody grants it. */

#ifndef API_BROKER_OUTCOME_H
#define API_BROKER_OUTCOME_H

#include <stdbool.h>

#include "arena.h"
#include "broker_config.h"
#include "config_change.h"

/* `before` may be NULL: nothing is set. `change` has only operations that there are. The texts of
 * `outcome` are in the arena or in `before`. 0 or ERR_NO_MEMORY. */
int broker_outcome(const struct meta_broker_settings *before, const struct config_change *change,
                   bool replaces, struct arena *arena, struct meta_broker_settings *outcome);

#endif
