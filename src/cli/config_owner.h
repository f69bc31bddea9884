// SPDX-License-Identifier: Apache-2.0
/* Whose settings `sluice config` is about: a topic's, a group's, those of a subscription to clients' metrics,
 * a broker's, or those that all brokers share. */

#ifndef CLI_CONFIG_OWNER_H
#define CLI_CONFIG_OWNER_H

#include "settings_client.h"

/* Whose settings. The struct of every command here begins with it. */
struct config_owner_settings {
    struct common_settings common;
    const char *topic, *broker, *group, *client_metrics; /* All but one are NULL. */
};

struct config_owner {
    enum settings_owner type;
    struct str name;    /* Empty: all brokers. */
    int32_t node_id;    /* Of a broker; -1: any may answer. */
    const char *option; /* By which it was named. */
    const char *kind;   /* "topic ", "broker " or "", for sentences, */
    const char *text;   /* … and this behind it. */
};

/* Complains and returns STATUS_USAGE if the options do not name one owner. */
enum status config_owner_find(const struct config_owner_settings *settings,
                              struct config_owner *owner);

/* Connects to whoever knows that owner's settings: those of a broker, itself only. Returns 0 or an
 * error; talk_close() in any case. */
int config_owner_open(struct talk *talk, const struct common_settings *common,
                      const struct config_owner *owner);

/* Complains of a broker's error, and says what to do next. */
void config_owner_complain(const struct config_owner *owner, const char *failure,
                           int16_t error_code, struct str message);

/* clang-format off */
#define CONFIG_OWNER_OPTIONS \
    { "topic", 't', OPTION_TEXT, offsetof(struct config_owner_settings, topic), 0, 0, \
      "TOPIC", "the settings of this topic" }, \
    { "broker", 'B', OPTION_TEXT, offsetof(struct config_owner_settings, broker), 0, 0, \
      "ID|all", "the settings of this broker, or what was set for all of them" }, \
    { "group", 'g', OPTION_TEXT, offsetof(struct config_owner_settings, group), 0, 0, \
      "GROUP", "the settings of this group, which need not be there yet" }, \
    { "client-metrics", 'c', OPTION_TEXT, offsetof(struct config_owner_settings, client_metrics), 0, 0, \
      "SUBSCRIPTION", "the settings of this subscription to clients' metrics" }
/* clang-format on */

#endif
