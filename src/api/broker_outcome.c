// SPDX-License-Identifier: Apache-2.0
#include "broker_outcome.h"

#include "error.h"
#include "meta_settings.h"

static int copy_change(const struct meta_wanted_change *wanted, struct arena *arena,
                       struct meta_setting_change *change)
{
    struct str name, value = STR_NULL;
    bool has_value = wanted->op != META_SETTING_DELETE;
    if (arena_str(arena, wanted->name, &name) != 0 ||
        (has_value && arena_str(arena, wanted->value, &value) != 0))
        return ERR_NO_MEMORY;
    *change = (struct meta_setting_change){ name.data, wanted->op, value.data, wanted->list };
    return 0;
}

int broker_outcome(const struct meta_broker_settings *before, const struct config_change *change,
                   bool replaces, struct arena *arena, struct meta_broker_settings *outcome)
{
    static const struct meta_broker_settings nothing;
    struct meta_setting_change *changes = arena_calloc(arena, change->change_count + 1u,
                                                       sizeof *changes);
    if (changes == NULL) return ERR_NO_MEMORY;
    for (unsigned i = 0; i < change->change_count; i++)
        if (copy_change(&change->changes[i], arena, &changes[i]) != 0) return ERR_NO_MEMORY;
    const struct meta_settings_change all = { replaces, changes, change->change_count };
    struct meta_setting *settings;
    unsigned count;
    if (before == NULL) before = &nothing;
    int err = meta_settings_apply(before->settings, before->count, &all, arena, &settings, &count);
    if (err != 0) return err;
    *outcome = *before;
    outcome->settings = settings;
    outcome->count = count;
    return 0;
}
