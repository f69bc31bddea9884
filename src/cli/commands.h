// SPDX-License-Identifier: Apache-2.0
/* Every command of the program; each is defined in the file of its first word. */

#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

extern const struct command topic_create_command, topic_list_command, topic_describe_command,
    topic_alter_command, topic_delete_command;
extern const struct command produce_command, consume_command;
extern const struct command config_get_command, config_set_command, config_unset_command;
extern const struct command cluster_command;
extern const struct command bench_produce_command, bench_consume_command, bench_latency_command;
extern const struct command log_dump_command, log_verify_command;
extern const struct command completion_command;

/* In the order in which help lists them; NULL behind the last. */
const struct command *commands_at(unsigned i);

/* Whose name argv[0..argc) begins with, and in how many words; NULL if no command's. */
const struct command *commands_find(int argc, char **argv, int *words);

/* Does `name` have more words behind `group`, as "topic list" has behind "topic"? */
bool commands_is_in(const char *name, const char *group);

#endif
