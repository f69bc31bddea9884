// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <string.h>

/* clang-format off */
static const struct command *const commands[] = {
    &topic_create_command,
    &topic_list_command,
    &topic_describe_command,
    &topic_alter_command,
    &topic_delete_command,
    &produce_command,
    &consume_command,
    &config_get_command,
    &config_set_command,
    &config_unset_command,
    &cluster_command,
    &bench_produce_command,
    &bench_consume_command,
    &bench_latency_command,
    &log_dump_command,
    &log_verify_command,
    &completion_command,
};
/* clang-format on */

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

const struct command *commands_at(unsigned i)
{
    return i < COMMAND_COUNT ? commands[i] : NULL;
}

/* How many words of argv are the command's name; 0 if they are not. */
static int words_matched(const char *name, int argc, char **argv)
{
    int words = 0;
    while (*name != '\0') {
        size_t length = strcspn(name, " ");
        if (words >= argc || strlen(argv[words]) != length ||
            memcmp(argv[words], name, length) != 0)
            return 0;
        words++;
        name += length;
        name += strspn(name, " ");
    }
    return words;
}

const struct command *commands_find(int argc, char **argv, int *words)
{
    for (unsigned i = 0; i < COMMAND_COUNT; i++) {
        *words = words_matched(commands[i]->name, argc, argv);
        if (*words > 0) return commands[i];
    }
    return NULL;
}

bool commands_is_in(const char *name, const char *group)
{
    size_t length = strlen(group);
    return length > 0 && strncmp(name, group, length) == 0 && name[length] == ' ';
}
