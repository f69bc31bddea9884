// SPDX-License-Identifier: Apache-2.0
/* Settings of topics, brokers and the like, as they are asked for and changed over a connection. */

#ifndef CLI_SETTINGS_CLIENT_H
#define CLI_SETTINGS_CLIENT_H

#include <stdbool.h>

#include "describe_configs.h"
#include "incremental_alter_configs.h"
#include "talk.h"

enum settings_owner {
    SETTINGS_OF_TOPIC = 2,
    SETTINGS_OF_BROKER = 4, /* By its id; without a name: of all brokers. */
    SETTINGS_OF_CLIENT_METRICS = 16,
    SETTINGS_OF_GROUP = 32,
};

/* Asks for the settings of `count` owners of one type: those in `keys`, or all if it is empty. Gives a
 * result for each. Returns 0 or an error; errors inside of results are the caller's to find. */
int settings_ask(struct talk *talk, enum settings_owner type, const struct str *names,
                 int32_t count, const struct operands *keys, bool with_documentation,
                 struct describe_configs_response *response);

/* One setting to be given a value, or its default back if `value` is NULL. */
struct settings_change {
    struct str name;
    const char *value;
};

/* Reads "NAME=VALUE" into `change`. Returns 0, or ERR_USAGE after complaining; `option` is what the
 * complaint calls it. */
int settings_change_parse(const char *pair, const char *option, struct settings_change *change);

/* Makes all changes or none. If `dry_run`, only looks whether they are legal. Returns 0 or an error;
 * the answer's error is the caller's to find. */
int settings_alter(struct talk *talk, enum settings_owner type, struct str name,
                   const struct settings_change *changes, unsigned count, bool dry_run,
                   struct incremental_alter_configs_response_resource *answer);

/* Where a value comes from: "topic", "broker", "brokers", "file", "default", "group" … */
const char *settings_source_name(int8_t source);

/* Is it one that somebody has set for this owner, and not what it has without? */
bool settings_is_own(enum settings_owner type, struct str owner,
                     const struct describe_configs_response_config *config);

#endif
