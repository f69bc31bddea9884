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
    int8_t unknown_operation; /* Of a change; 0 (which is known): there is none. */
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

/* Room for `count` resources, in the call's arena like all of this. NULL: no memory, the call has ended. */
struct config_changes *config_changes_new(struct call *call, int32_t count, bool validate_only,
                                          void (*reply)(struct config_changes *changes));

/* One of them, with room for `count` changes. 0 or ERR_NO_MEMORY. */
int config_change_init(struct config_change *item, struct call *call, int8_t resource_type,
                       struct str resource_name, int32_t count);

/* Checks, asks the quorum for what is legal, and calls `reply` once, now or later, which ends the call. */
void config_changes_run(struct api_loop *loop, struct config_changes *changes);

#endif
