// SPDX-License-Identifier: Apache-2.0
#include "config_owner.h"

#include "error.h"
#include "output.h"

static enum status find_broker(const char *text, struct config_owner *owner)
{
    int64_t node_id = -1;
    if (strcmp(text, "all") == 0) {
        *owner = (struct config_owner){ SETTINGS_OF_BROKER, STR_LITERAL(""), -1, "broker", "",
                                        "all brokers" };
        return STATUS_OK;
    }
    if (text_to_number(text, 0, INT32_MAX, &node_id) != 0) {
        output_complain("--broker takes a broker's id, or all, not '%s'", text);
        output_hint("the ids: sluice cluster");
        return STATUS_USAGE;
    }
    *owner = (struct config_owner){ SETTINGS_OF_BROKER, str_from(text), (int32_t)node_id,
                                    "broker",           "broker ",      text };
    return STATUS_OK;
}

enum status config_owner_find(const struct config_owner_settings *settings,
                              struct config_owner *owner)
{
    const struct config_owner named[] = {
        { SETTINGS_OF_TOPIC, str_from(settings->topic), -1, "topic", "topic ", settings->topic },
        { SETTINGS_OF_GROUP, str_from(settings->group), -1, "group", "group ", settings->group },
        { SETTINGS_OF_CLIENT_METRICS, str_from(settings->client_metrics), -1, "client-metrics",
          "client metrics ", settings->client_metrics },
    };
    const struct config_owner *found = NULL;
    unsigned count = settings->broker != NULL;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (named[i].text == NULL) continue;
        found = &named[i];
        count++;
    }
    if (count != 1) {
        output_complain("whose settings? One of --topic and --broker, --group and --client-metrics "
                        "must say");
        output_hint("--topic orders, --broker 1, or --broker all for what all brokers share");
        return STATUS_USAGE;
    }
    if (found == NULL) return find_broker(settings->broker, owner);
    *owner = *found;
    return STATUS_OK;
}

int config_owner_open(struct talk *talk, const struct common_settings *common,
                      const struct config_owner *owner)
{
    int err = talk_open(talk, common);
    if (err == 0 && owner->node_id >= 0) err = talk_move(talk, owner->node_id, common);
    return err;
}

void config_owner_complain(const struct config_owner *owner, const char *failure,
                           int16_t error_code, struct str message)
{
    enum err err = error_from_kafka_code(error_code);
    if (err == ERR_UNKNOWN_TOPIC_OR_PARTITION)
        output_complain("%s%s: it does not exist", owner->kind, owner->text);
    else if (message.length > 0)
        output_complain("%s%s: %s: %.*s", owner->kind, owner->text, failure, message.length,
                        message.data);
    else
        output_complain("%s%s: %s: %s", owner->kind, owner->text, failure, error_text(err));
    if (err == ERR_UNKNOWN_TOPIC_OR_PARTITION)
        output_hint("see: sluice topic list");
    else if (err == ERR_INVALID_CONFIG || err == ERR_INVALID_REQUEST)
        output_hint("the settings and what they take: sluice config get --%s %s --explain",
                    owner->option, owner->name.length == 0 ? "all" : owner->text);
}
