// SPDX-License-Identifier: Apache-2.0
/* What holds for every command of the table, the next one, too. */
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"

#define WORDS_MAX 32

TEST(no_two_options_of_a_command_have_one_name_or_letter)
{
    const struct command *command;
    for (unsigned at = 0; (command = commands_at(at)) != NULL; at++) {
        const struct option_row *row, *other;
        for (unsigned i = 0; (row = options_row(command, i)) != NULL; i++)
            for (unsigned j = 0; j < i; j++) {
                other = options_row(command, j);
                if (strcmp(row->name, other->name) == 0 ||
                    (row->letter != 0 && row->letter == other->letter) || row->letter == 'h')
                    fail_msg("%s: --%s and --%s", command->name, row->name, other->name);
            }
    }
}

TEST(each_option_says_what_it_does_and_what_it_takes)
{
    const struct command *command;
    for (unsigned at = 0; (command = commands_at(at)) != NULL; at++) {
        const struct option_row *row;
        for (unsigned i = 0; (row = options_row(command, i)) != NULL; i++)
            if (row->help == NULL || row->help[0] == '\0' ||
                (row->value == NULL) != (row->kind == OPTION_FLAG))
                fail_msg("%s: --%s", command->name, row->name);
    }
}

TEST(a_command_is_found_by_its_name)
{
    const struct command *command;
    for (unsigned at = 0; (command = commands_at(at)) != NULL; at++) {
        char name[64], *argv[4];
        int argc = 0, words = 0;
        snprintf(name, sizeof name, "%s", command->name);
        for (char *word = strtok(name, " "); word != NULL; word = strtok(NULL, " "))
            argv[argc++] = word;
        assert_ptr_equal(commands_find(argc, argv, &words), command);
        assert_int_equal(words, argc);
    }
}

/* The words of `line` up to what the shell would do something else with, quotes taken off; a number for
 * what $(…) gives. Overwrites the line. */
static int take_words(char *line, char *words[WORDS_MAX])
{
    static char number[] = "1";
    int count = 0;
    for (char *at = line + strspn(line, " "); *at != '\0' && strchr("|><#", *at) == NULL;) {
        char quote = *at == '\'' || *at == '"' ? *at++ : ' ';
        bool is_output = strncmp(at, "$(", 2) == 0;
        assert_true(count < WORDS_MAX);
        words[count++] = is_output ? number : at;
        at += is_output ? strcspn(at, ")") + 1 : strcspn(at, (char[]){ quote, '\0' });
        if (*at != '\0') *at++ = '\0';
        at += strspn(at, " ");
    }
    return count;
}

static void check_example(const struct command *command, char *line)
{
    char *words[WORDS_MAX], problem[PROBLEM_SIZE];
    int name_words = 0, count = take_words(line, words);
    struct operands operands;
    assert_true(count > 1 && strcmp(words[0], "sluice") == 0);
    const struct command *found = commands_find(count - 1, words + 1, &name_words);
    if (found == NULL) fail_msg("%s: the example has no command", command->name);
    void *settings = mem_zalloc(found->settings_size);
    if (options_parse(found, count - 1 - name_words, words + 1 + name_words, settings, &operands,
                      problem) != PARSE_OK)
        fail_msg("%s: %s", command->name, problem);
    options_close(found, settings, &operands);
    mem_free(settings);
}

TEST(each_command_has_an_example_that_would_run)
{
    const struct command *command;
    for (unsigned at = 0; (command = commands_at(at)) != NULL; at++) {
        char *example = mem_strdup(command->example), *rest = example;
        bool names_itself = strstr(example, command->name) != NULL;
        for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
            char *begin = strstr(line, "sluice ");
            if (begin != NULL && line[0] == ' ') check_example(command, begin);
        }
        mem_free(example);
        if (!names_itself) fail_msg("%s: the example is another command's", command->name);
    }
}
