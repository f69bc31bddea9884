// SPDX-License-Identifier: Apache-2.0
/* May settings be changed as a request asks, and to which changes does that come? */

#ifndef ALTER_SETTINGS_H
#define ALTER_SETTINGS_H

#include "arena.h"
#include "controller.h"
#include "meta_command.h"

/* Checks one item and fills in the command that grants it; memory comes from the arena. A broker's
 * settings are taken as they are: who asks has checked them. What a resource would have is for
 * wanted->check() to allow. The answer is wanted->err and wanted->why, in the order in which Kafka
 * checks. Returns wanted->err. */
int controller_alter_settings(const struct controller *controller,
                              struct meta_alter_settings *wanted, struct arena *arena,
                              struct meta_command *command);

/* Do the settings that a topic has itself, each of them right, go together? 0, or ERR_INVALID_CONFIG with a
 * sentence. */
int alter_settings_fit(const struct meta_setting *settings, unsigned count, char *why,
                       size_t why_size);

#endif
