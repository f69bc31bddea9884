// SPDX-License-Identifier: Apache-2.0
/* Changes settings of topics, brokers, groups and client metrics, or gives them their default back. */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "alloc.h"
#include "commands.h"
#include "config_owner.h"
#include "error.h"
#include "output.h"

struct change_settings {
    struct config_owner_settings owner;
    bool dry_run;
};

static int report_changes(const struct change_settings *settings, const struct config_owner *owner,
                          const struct settings_change *changes, unsigned count)
{
    json_t *array = json_array();
    bool as_json = settings->owner.common.as_json;
    for (unsigned i = 0; i < count; i++) {
        const struct settings_change *change = &changes[i];
        struct str value = str_from(change->value);
        if (as_json) {
            json_t *object = json_object();
            if (json_array_append_new(array, object) != 0 ||
                json_set_bytes(object, "name", change->name.data, change->name.length) != 0 ||
                json_set_bytes(object, "value", value.data, value.length) != 0) {
                json_decref(array);
                return ERR_NO_MEMORY;
            }
            continue;
        }
        printf("%s%s: ", owner->kind, owner->text);
        output_text("", change->name);
        if (change->value != NULL)
            output_text("=", value);
        else
            fputs(" is not set any more", stdout);
        puts(settings->dry_run ? " (not done: --dry-run)" : "");
    }
    if (as_json) return json_print(array, true, stdout);
    json_decref(array);
    return 0;
}

static enum status make_changes(const struct change_settings *settings,
                                const struct settings_change *changes, unsigned count)
{
    struct config_owner owner;
    if (config_owner_find(&settings->owner, &owner) != STATUS_OK) return STATUS_USAGE;
    struct talk talk;
    struct incremental_alter_configs_response_resource answer;
    enum status status = STATUS_FAILED;
    int err = config_owner_open(&talk, &settings->owner.common, &owner);
    if (err == 0)
        err = settings_alter(&talk, owner.type, owner.name, changes, count, settings->dry_run,
                             &answer);
    if (err == 0 && answer.error_code != 0) {
        config_owner_complain(&owner, "nothing was changed", answer.error_code,
                              answer.error_message);
    } else if (err == 0) {
        err = report_changes(settings, &owner, changes, count);
        if (err == 0 && output_finish() == 0) status = STATUS_OK;
    }
    return talk_close(&talk, err) == STATUS_OK ? status : STATUS_FAILED;
}

static enum status change(const struct change_settings *settings, const struct operands *operands,
                          bool has_values)
{
    struct settings_change *changes = mem_calloc(operands->count, sizeof *changes);
    enum status status = STATUS_OK;
    if (changes == NULL) {
        output_complain("%s", error_text(ERR_NO_MEMORY));
        return STATUS_FAILED;
    }
    for (unsigned i = 0; i < operands->count && status == STATUS_OK; i++) {
        const char *text = operands->items[i];
        if (!has_values)
            changes[i] = (struct settings_change){ str_from(text), NULL };
        else if (settings_change_parse(text, "config set", &changes[i]) != 0)
            status = STATUS_USAGE;
    }
    if (status == STATUS_OK) status = make_changes(settings, changes, operands->count);
    mem_free(changes);
    return status;
}

static enum status run_set(const void *given, const struct operands *operands)
{
    return change(given, operands, true);
}

static enum status run_unset(const void *given, const struct operands *operands)
{
    return change(given, operands, false);
}

/* clang-format off */
static const struct option_row change_options[] = {
    CONFIG_OWNER_OPTIONS,
    { "dry-run", 0, OPTION_FLAG, offsetof(struct change_settings, dry_run), 0, 0,
      NULL, "only say whether it could be done" },
};
/* clang-format on */

const struct command config_set_command = {
    .name = "config set",
    .operands = "SETTING=VALUE…",
    .least_operands = 1,
    .most_operands = UINT_MAX,
    .summary = "Change settings of a topic, broker or group, all of them or none",
    .about = "What a broker has in its properties file only counts again when it is unset here.\n",
    .example = "  sluice config set --topic orders retention.ms=3600000 cleanup.policy=compact\n"
               "  sluice config set --broker all log.cleaner.threads=2\n"
               "  sluice config set --group payments consumer.session.timeout.ms=50000\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = change_options,
    .option_count = sizeof change_options / sizeof change_options[0],
    .settings_size = sizeof(struct change_settings),
    .run = run_set,
};

const struct command config_unset_command = {
    .name = "config unset",
    .operands = "SETTING…",
    .least_operands = 1,
    .most_operands = UINT_MAX,
    .summary = "Give settings of a topic, broker or group their default back",
    .example = "  sluice config unset --topic orders retention.ms\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = change_options,
    .option_count = sizeof change_options / sizeof change_options[0],
    .settings_size = sizeof(struct change_settings),
    .run = run_unset,
};
