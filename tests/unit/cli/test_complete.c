// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "complete.h"

/* What is offered for a line whose words stand between blanks; a blank at its end begins a new
 * one. Only the words, with blanks between. */
static const char *offered(const char *line)
{
    static char text[256], result[4096];
    char *words[16], *output = NULL;
    int count = 0;
    size_t size;
    snprintf(text, sizeof text, "%s", line);
    for (char *at = text; count < 16; *at++ = '\0') {
        words[count++] = at;
        at = strchr(at, ' ');
        if (at == NULL) break;
    }
    FILE *out = open_memstream(&output, &size);
    complete_words(count, words, out);
    fclose(out);
    result[0] = '\0';
    for (char *row = strtok(output, "\n"); row != NULL; row = strtok(NULL, "\n")) {
        row[strcspn(row, "\t")] = '\0';
        if (result[0] != '\0') strcat(result, " ");
        strcat(result, row);
    }
    free(output);
    return result;
}

TEST(the_first_words_of_commands_are_offered_once)
{
    assert_string_equal(offered("to"), "topic");
    assert_string_equal(offered("con"), "consume config");
    assert_string_equal(offered("--v"), "--version");
    assert_string_equal(offered("x"), "");
}

TEST(behind_them_their_second_words)
{
    assert_string_equal(offered("topic "), "create list describe alter delete");
    assert_string_equal(offered("topic de"), "describe delete");
    assert_string_equal(offered("bench l"), "latency");
    assert_string_equal(offered("nothing "), "");
}

TEST(behind_a_command_its_options)
{
    assert_string_equal(offered("topic create x --p"), "--partitions");
    assert_string_equal(offered("log verify --"), "--records --compacted --json --help");
    assert_string_equal(offered("log verify -- -"), ":files");
}

TEST(a_value_is_one_of_its_words)
{
    assert_string_equal(offered("produce x --acks "), "0 1 all");
    assert_string_equal(offered("produce x -z l"), "lz4");
    assert_string_equal(offered("completion "), "bash zsh fish");
    assert_string_equal(offered("produce x --rate "), "");
}

TEST(files_are_left_to_the_shell)
{
    assert_string_equal(offered("log dump "), ":files");
    assert_string_equal(offered("produce x --file a"), ":files");
}

/* Nobody listens on port 1. */
TEST(a_broker_that_does_not_answer_has_no_topics_to_offer)
{
    assert_string_equal(offered("consume -b 127.0.0.1:1 "), "");
    assert_string_equal(offered("topic delete a --bootstrap-server=127.0.0.1:1 "), "");
}

TEST(what_an_option_means_stands_behind_it)
{
    char topic[] = "topic", create[] = "create", begun[] = "--dr";
    char *words[] = { topic, create, begun }, *output = NULL;
    size_t size;
    FILE *out = open_memstream(&output, &size);
    complete_words(3, words, out);
    fclose(out);
    assert_string_equal(output, "--dry-run\tonly say whether it could be created\n");
    free(output);
}
