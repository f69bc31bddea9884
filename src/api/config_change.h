// SPDX-License-Identifier: Apache-2.0
/* What AlterConfigs and IncrementalAlterConfigs share: from what a request asks to what is answered. */

#ifndef API_CONFIG_CHANGE_H
#define API_CONFIG_CHANGE_H

#include "api.h"

/* One resource of a request, and what became of it. */
struct config_change {
    int8_t resource_type;
    struct str resource_name;
    struct meta_wanted_change *changes;
    unsigned change_count;
    bool is_illegal; /* A change is of a kind that there is not. */
    /* The answer: */
    int err;
    struct str why; /* Null where there is none. */
};

struct config_changes {
    struct call *call;
    struct config_change *items;
    unsigned count;
    bool replaces; /* What a request does not name is gone. */
    bool validate_only;
    void (*reply)(struct config_changes *changes);

    struct meta_request request; /* Its own, from here on. */
    struct meta_alter_settings *wanted;
    struct config_change **asked; /* The item of each of `wanted`. */
};

/* Checks, asks the quorum for what is legal, and calls `reply` once, now or later, which ends the call.
 * All of it lives in the call's arena. */
void config_changes_run(struct api_loop *loop, struct config_changes *changes);

#endif
