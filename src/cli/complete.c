// SPDX-License-Identifier: Apache-2.0
#include "complete.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "config_owner.h"
#include "list_config_resources.h"
#include "metadata.h"
#include "output.h"
#include "talk.h"

/* Nobody waits longer at a prompt. */
#define TIMEOUT_S 2

/* The words before the one that is completed. */
struct behind {
    const struct option_row *open; /* An option whose value is next; NULL: none is. */
    /* Values of those options; NULL: not named. */
    const char *bootstrap, *topic, *broker, *group, *client_metrics;
    bool only_operands; /* "--" was among them. */
};

static void print_candidate(FILE *out, const char *begun, const char *word, size_t length,
                            const char *meaning)
{
    size_t begun_length = strlen(begun);
    if (begun_length > length || memcmp(word, begun, begun_length) != 0) return;
    int meaning_length = meaning == NULL ? 0 : (int)strcspn(meaning, "\n");
    if (meaning_length > 0)
        fprintf(out, "%.*s\t%.*s\n", (int)length, word, meaning_length, meaning);
    else
        fprintf(out, "%.*s\n", (int)length, word);
}

/* ---- commands ---------------------------------------------------------------------------------- */

/* Where word `n` of a command's name begins; NULL if it has not as many, or the words before it
 * are others. */
static const char *word_behind(const char *name, int n, char **words)
{
    for (int i = 0; i < n; i++) {
        size_t length = strcspn(name, " ");
        if (strlen(words[i]) != length || memcmp(words[i], name, length) != 0) return NULL;
        name += length;
        if (*name == '\0') return NULL;
        name++;
    }
    return name;
}

static void complete_command(int count, char **words, FILE *out)
{
    const char *begun = words[count - 1], *last = "";
    const struct command *command;
    for (unsigned i = 0; (command = commands_at(i)) != NULL; i++) {
        const char *word = word_behind(command->name, count - 1, words);
        if (word == NULL) continue;
        size_t length = strcspn(word, " ");
        bool is_group = word[length] == ' ';
        /* The commands of a group stand together. */
        if (strlen(last) >= length && strncmp(last, word, length) == 0 && is_group) continue;
        last = word;
        print_candidate(out, begun, word, length, is_group ? NULL : command->summary);
    }
    if (count > 1) return;
    print_candidate(out, begun, "help", 4, "what a command does");
    print_candidate(out, begun, "--help", 6, "print all commands");
    print_candidate(out, begun, "--version", 9, "print the version");
}

/* ---- values ------------------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b)
{
    return str_compare(((const struct metadata_response_topic *)a)->name,
                       ((const struct metadata_response_topic *)b)->name);
}

static struct common_settings common_of(const struct behind *behind)
{
    struct common_settings common = { .bootstrap_server = behind->bootstrap,
                                      .timeout_s = TIMEOUT_S };
    options_common_defaults(&common);
    return common;
}

static void complete_topic(const char *begun, const struct behind *behind, FILE *out)
{
    struct common_settings common = common_of(behind);
    struct talk talk;
    struct metadata_request request;
    struct metadata_response response;
    message_defaults(&metadata_request_shape, &request);
    request.allow_auto_topic_creation = false;
    request.topics.count = -1; /* all */
    int err = talk_open(&talk, &common);
    if (err == 0) err = talk_ask(&talk, &admin_metadata, &request, &response);
    if (err == 0 && response.topics.count > 1)
        qsort(response.topics.items, (size_t)response.topics.count, sizeof response.topics.items[0],
              compare_names);
    for (int32_t i = 0; err == 0 && i < response.topics.count; i++) {
        struct str name = response.topics.items[i].name;
        if (name.length > 0) print_candidate(out, begun, name.data, (size_t)name.length, NULL);
    }
    talk_close(&talk, 0); /* a prompt is no place for complaints */
}

static int compare_resources(const void *a, const void *b)
{
    return str_compare(((const struct list_config_resources_response_resource *)a)->resource_name,
                       ((const struct list_config_resources_response_resource *)b)->resource_name);
}

/* A name may hold anything; a shell gets lines, and takes them apart at blanks. */
static bool is_one_word(struct str name)
{
    for (int32_t i = 0; i < name.length; i++)
        if ((uint8_t)name.data[i] <= ' ' || name.data[i] == 0x7f) return false;
    return name.length > 0;
}

/* Groups or subscriptions to client metrics that have settings: of others a broker need not know. */
static void complete_resource(const char *begun, enum settings_owner type,
                              const struct behind *behind, FILE *out)
{
    struct common_settings common = common_of(behind);
    struct talk talk;
    struct list_config_resources_request request;
    struct list_config_resources_response response;
    int8_t wanted = (int8_t)type;
    message_defaults(&list_config_resources_request_shape, &request);
    request.resource_types.items = &wanted;
    request.resource_types.count = 1;
    int err = talk_open(&talk, &common);
    if (err == 0) err = talk_ask(&talk, &admin_list_config_resources, &request, &response);
    if (err == 0 && response.config_resources.count > 1)
        qsort(response.config_resources.items, (size_t)response.config_resources.count,
              sizeof response.config_resources.items[0], compare_resources);
    for (int32_t i = 0; err == 0 && i < response.config_resources.count; i++) {
        struct str name = response.config_resources.items[i].resource_name;
        if (is_one_word(name)) print_candidate(out, begun, name.data, (size_t)name.length, NULL);
    }
    talk_close(&talk, 0);
}

/* The settings of whom the words name, with what stands behind a name. */
static void complete_setting(const char *begun, const struct behind *behind, const char *end,
                             FILE *out)
{
    struct config_owner_settings settings = { common_of(behind), behind->topic, behind->broker,
                                              behind->group, behind->client_metrics };
    unsigned named = (behind->topic != NULL) + (behind->broker != NULL) + (behind->group != NULL) +
                     (behind->client_metrics != NULL);
    struct config_owner owner;
    struct talk talk;
    struct describe_configs_response response;
    if (named != 1 || config_owner_find(&settings, &owner) != STATUS_OK) return;
    int err = config_owner_open(&talk, &settings.common, &owner);
    if (err == 0) err = settings_ask(&talk, owner.type, &owner.name, 1, NULL, false, &response);
    for (int32_t i = 0;
         err == 0 && response.results.count == 1 && i < response.results.items[0].configs.count;
         i++) {
        char word[256];
        struct str name = response.results.items[0].configs.items[i].name;
        int length = snprintf(word, sizeof word, "%.*s%s", name.length, name.data, end);
        if (length < (int)sizeof word) print_candidate(out, begun, word, (size_t)length, NULL);
    }
    talk_close(&talk, 0);
}

static bool has_word(const char *placeholder, const char *word)
{
    return placeholder != NULL && strstr(placeholder, word) != NULL;
}

/* What help calls a value says what it may be. */
static void complete_value(const char *begun, const char *placeholder, bool is_choice,
                           const struct behind *behind, FILE *out)
{
    if (is_choice) {
        for (const char *at = placeholder; *at != '\0';) {
            size_t length = strcspn(at, "|");
            print_candidate(out, begun, at, length, NULL);
            at += length + (at[length] == '|');
        }
    } else if (has_word(placeholder, "TOPIC")) {
        complete_topic(begun, behind, out);
    } else if (has_word(placeholder, "GROUP")) {
        complete_resource(begun, SETTINGS_OF_GROUP, behind, out);
    } else if (has_word(placeholder, "SUBSCRIPTION")) {
        complete_resource(begun, SETTINGS_OF_CLIENT_METRICS, behind, out);
    } else if (has_word(placeholder, "SETTING")) {
        complete_setting(begun, behind, has_word(placeholder, "SETTING=") ? "=" : "", out);
    } else if (has_word(placeholder, "FILE") || has_word(placeholder, "FOLDER")) {
        fputs(COMPLETE_FILES "\n", out);
    }
}

/* ---- behind a command -------------------------------------------------------------------------- */

static const struct option_row *row_of(const struct command *command, const char *word)
{
    const struct option_row *row;
    if (word[0] != '-' || word[1] == '\0') return NULL;
    for (unsigned i = 0; (row = options_row(command, i)) != NULL; i++) {
        if (word[1] == '-' && strcmp(row->name, word + 2) == 0) return row;
        if (row->letter != 0 && word[1] == row->letter && word[2] == '\0') return row;
    }
    return NULL;
}

static void note_value(struct behind *behind, const char *option, size_t length, const char *value)
{
    const struct {
        const char *option;
        const char **value;
    } wanted[] = {
        { "bootstrap-server", &behind->bootstrap },
        { "topic", &behind->topic },
        { "broker", &behind->broker },
        { "group", &behind->group },
        { "client-metrics", &behind->client_metrics },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strlen(wanted[i].option) == length && memcmp(wanted[i].option, option, length) == 0)
            *wanted[i].value = value;
}

static struct behind read_behind(const struct command *command, int count, char **words)
{
    struct behind behind = { .open = NULL };
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        size_t length = strcspn(word, "=");
        if (behind.open != NULL) {
            note_value(&behind, behind.open->name, strlen(behind.open->name), word);
            behind.open = NULL;
        } else if (strcmp(word, "--") == 0) {
            behind.only_operands = true;
        } else if (!behind.only_operands && word[0] == '-' && word[length] == '=') {
            if (length > 2) note_value(&behind, word + 2, length - 2, word + length + 1);
        } else if (!behind.only_operands) {
            const struct option_row *row = row_of(command, word);
            if (row != NULL && row->kind != OPTION_FLAG) behind.open = row;
        }
    }
    return behind;
}

static void complete_option(const struct command *command, const char *begun, FILE *out)
{
    const struct option_row *row;
    char name[64];
    for (unsigned i = 0; (row = options_row(command, i)) != NULL; i++) {
        int length = snprintf(name, sizeof name, "--%s", row->name);
        print_candidate(out, begun, name, (size_t)length, row->help);
    }
    print_candidate(out, begun, "--help", 6, "print its options, with an example");
}

void complete_words(int count, char **words, FILE *out)
{
    int name_words = 0;
    if (count == 0) return;
    const struct command *command = commands_find(count - 1, words, &name_words);
    if (command == NULL) {
        complete_command(count, words, out);
        return;
    }
    const char *begun = words[count - 1];
    struct behind behind = read_behind(command, count - 1 - name_words, words + name_words);
    if (behind.open != NULL)
        complete_value(begun, behind.open->value, behind.open->kind == OPTION_CHOICE, &behind, out);
    else if (begun[0] == '-' && !behind.only_operands)
        complete_option(command, begun, out);
    else
        complete_value(begun, command->operands, command->operands_are_words, &behind, out);
}
