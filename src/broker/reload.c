// SPDX-License-Identifier: Apache-2.0
#include "reload.h"

#include <stdio.h>
#include <string.h>

#include "setting.h"
#include "trace.h"
#include "trace_output.h"

#define NAMES_BYTES 1024

static const char *const changeable[] = {
    "sluice.log.file",
    "sluice.log.format",
    "sluice.log.level",
    "sluice.log.slow.request.ms",
};

bool reload_changes(const char *name)
{
    for (size_t i = 0; i < sizeof changeable / sizeof changeable[0]; i++)
        if (strcmp(changeable[i], name) == 0) return true;
    return false;
}

/* ---- what differs ---- */

struct names {
    char text[NAMES_BYTES]; /* "a, b", or "" */
    size_t length;
};

static void names_add(struct names *names, const char *name)
{
    size_t room = sizeof names->text - names->length;
    int length = snprintf(names->text + names->length, room, "%s%s", names->length > 0 ? ", " : "",
                          name);
    if ((size_t)length < room)
        names->length += (size_t)length;
    else
        names->text[names->length] = '\0';
}

/* As it was said, or the default. */
static const char *value_in(const struct config *config, const struct setting *setting)
{
    const char *value = setting->default_value;
    for (unsigned i = 0; i < config->said_count; i++)
        if (strcmp(config->said[2 * i], setting->name) == 0) value = config->said[2 * i + 1];
    return value == NULL ? "" : value;
}

/* The settings that differ, of those that can be changed, or of the others. */
static void compare(const struct config *before, const struct config *after, bool is_changeable,
                    struct names *names)
{
    const struct setting *setting;
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++)
        if (reload_changes(setting->name) == is_changeable &&
            strcmp(value_in(before, setting), value_in(after, setting)) != 0)
            names_add(names, setting->name);
}

/* ---- reading again ---- */

void reload_init(struct reload *reload, const struct config *config)
{
    *reload = (struct reload){ .first = config };
}

void reload_close(struct reload *reload)
{
    if (reload->has_latest) config_close(&reload->latest);
    reload->has_latest = false;
}

const struct config *reload_in_effect(const struct reload *reload)
{
    return reload->has_latest ? &reload->latest : reload->first;
}

void reload_now(struct reload *reload)
{
    struct config fresh = { 0 };
    char why[512] = "";
    if (config_read_again(reload->first, &fresh, why, sizeof why) != 0) {
        trace_output_apply(reload_in_effect(reload));
        trace(TRACE_ERROR, "config", "SIGHUP: the settings stay as they are: %s", why);
        return;
    }
    struct names changed = { .length = 0 }, refused = { .length = 0 };
    compare(reload_in_effect(reload), &fresh, true, &changed);
    compare(reload->first, &fresh, false, &refused);
    reload_close(reload);
    reload->latest = fresh;
    reload->has_latest = true;
    trace_output_apply(&fresh);
    trace(refused.length > 0 ? TRACE_WARN : TRACE_INFO, "config", "SIGHUP: changed: %s%s%s",
          changed.length > 0 ? changed.text : "nothing",
          refused.length > 0 ? "; to be changed by a restart: " : "", refused.text);
}
