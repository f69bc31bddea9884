// SPDX-License-Identifier: Apache-2.0
/* What was said: names with their values, from the file, the environment and the command line. */

#ifndef BROKER_SETTINGS_H
#define BROKER_SETTINGS_H

#include "config_report.h"
#include "setting.h"

struct setting_value {
    const struct setting *setting;
    bool is_prefixed; /* Said for one listener only (listener.name.x.). */
    char *name;       /* As it was said. */
    char *value;      /* Without white around it. */
    char *origin;     /* "server.properties:12", "SLUICE_NODE_ID", "--set" */
};

struct settings {
    struct setting_value *items; /* In the order in which names first came. */
    unsigned count, capacity;
};

void settings_init(struct settings *settings);
void settings_close(struct settings *settings);

/* Each wins over what was there before, so call them in this order (DESIGN 12). What is not legal
 * goes to the report; 0 or ERR_NO_MEMORY. */
int settings_read_file(struct settings *settings, const char *path, struct config_report *report);
int settings_read_environment(struct settings *settings, char **environment,
                              struct config_report *report);
int settings_read_argument(struct settings *settings, const char *name_and_value,
                           struct config_report *report);

/* The value that was said for all listeners; NULL if none was. */
const struct setting_value *settings_find(const struct settings *settings, const char *name);

/* The same, or the default; NULL if there is none. */
const char *settings_value(const struct settings *settings, const char *name);

#endif
