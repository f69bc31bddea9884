// SPDX-License-Identifier: Apache-2.0
/* The commands that main.c offers; each is defined in the file of its first word. */

#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

extern const struct command topic_create_command, topic_list_command, topic_describe_command,
    topic_delete_command, produce_command, consume_command, log_dump_command, log_verify_command;

#endif
