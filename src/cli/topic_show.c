// SPDX-License-Identifier: Apache-2.0
/* Lists and describes topics. */

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "buffer.h"
#include "commands.h"
#include "error.h"
#include "metadata.h"
#include "output.h"
#include "settings_client.h"
#include "talk.h"
#include "topic_report.h"
#include "uuid.h"

static int compare_topics(const void *a, const void *b)
{
    return str_compare(((const struct metadata_response_topic *)a)->name,
                       ((const struct metadata_response_topic *)b)->name);
}

static int compare_partitions(const void *a, const void *b)
{
    int32_t left = ((const struct metadata_response_partition *)a)->partition_index;
    int32_t right = ((const struct metadata_response_partition *)b)->partition_index;
    return (left > right) - (left < right);
}

/* What is known of topics: their partitions and, when they are described, what was set for them. */
struct topics {
    struct metadata_response metadata;
    struct describe_configs_response
        settings; /* In the same order; empty if they cannot be told. */
};

/* Asks for the topics named, or for all if there is no name; sorts what comes. */
static int ask_metadata(struct talk *talk, const struct operands *names,
                        struct metadata_response *response)
{
    struct metadata_request request;
    int err = 0;
    message_defaults(&metadata_request_shape, &request);
    request.allow_auto_topic_creation = false;
    request.topics.count = -1; /* all */
    if (names->count > 0)
        err = array_make(&metadata_request_topic_shape, (int32_t)names->count, &talk->arena,
                         &request.topics);
    for (unsigned i = 0; err == 0 && i < names->count; i++)
        request.topics.items[i].name = str_from(names->items[i]);
    if (err == 0) err = talk_ask(talk, &admin_metadata, &request, response);
    if (err != 0) return err;

    if (response->topics.count > 1)
        qsort(response->topics.items, (size_t)response->topics.count,
              sizeof response->topics.items[0], compare_topics);
    for (int32_t i = 0; i < response->topics.count; i++) {
        struct metadata_response_topic *topic = &response->topics.items[i];
        if (topic->partitions.count > 1)
            qsort(topic->partitions.items, (size_t)topic->partitions.count,
                  sizeof topic->partitions.items[0], compare_partitions);
    }
    return 0;
}

/* Asks what was set for these topics. A broker that does not tell settings is not complained about:
 * the partitions are what was asked for. */
static int ask_settings(struct talk *talk, struct topics *topics)
{
    int16_t version;
    int32_t count = topics->metadata.topics.count;
    topics->settings.results.count = 0;
    if (count <= 0 || admin_client_version(&talk->client, &admin_describe_configs, &version) != 0)
        return 0;
    struct str *names = arena_calloc(&talk->arena, (size_t)count, sizeof *names);
    if (names == NULL) return ERR_NO_MEMORY;
    int32_t known = 0;
    for (int32_t i = 0; i < count; i++)
        if (topics->metadata.topics.items[i].error_code == 0)
            names[known++] = topics->metadata.topics.items[i].name;
    if (known == 0) return 0;
    return settings_ask(talk, SETTINGS_OF_TOPIC, names, known, NULL, false, &topics->settings);
}

static const struct describe_configs_response_result *settings_of(const struct topics *topics,
                                                                  struct str name)
{
    for (int32_t i = 0; i < topics->settings.results.count; i++)
        if (str_equal(topics->settings.results.items[i].resource_name, name))
            return &topics->settings.results.items[i];
    return NULL;
}

static int32_t replication_of(const struct metadata_response_topic *topic)
{
    int32_t most = 0;
    for (int32_t i = 0; i < topic->partitions.count; i++)
        if (topic->partitions.items[i].replica_nodes.count > most)
            most = topic->partitions.items[i].replica_nodes.count;
    return most;
}

static json_t *json_of_nodes(const int32_t *nodes, int32_t count)
{
    json_t *array = json_array();
    for (int32_t i = 0; i < count; i++)
        if (json_array_append_new(array, json_integer(nodes[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *json_of_partition(const struct metadata_response_partition *partition)
{
    const struct metadata_response_partition *from = partition;
    return json_pack("{s:i, s:i, s:i, s:o, s:o, s:o}", "partition", from->partition_index, "leader",
                     from->leader_id, "leader_epoch", from->leader_epoch, "replicas",
                     json_of_nodes(from->replica_nodes.items, from->replica_nodes.count), "isr",
                     json_of_nodes(from->isr_nodes.items, from->isr_nodes.count),
                     "offline_replicas",
                     json_of_nodes(from->offline_replicas.items, from->offline_replicas.count));
}

/* Those that were set for the topic: { "retention.ms": "3600000" } */
static json_t *json_of_settings(const struct describe_configs_response_result *settings)
{
    json_t *object = json_object();
    for (int32_t i = 0; settings != NULL && i < settings->configs.count; i++) {
        const struct describe_configs_response_config *config = &settings->configs.items[i];
        char name[256];
        if (!settings_is_own(SETTINGS_OF_TOPIC, settings->resource_name, config)) continue;
        snprintf(name, sizeof name, "%.*s", config->name.length, config->name.data);
        if (json_set_bytes(object, name, config->value.data, config->value.length) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *json_of_topic(const struct topics *topics,
                             const struct metadata_response_topic *topic, bool with_partitions)
{
    json_t *object = json_object();
    int failed = json_set_bytes(object, "name", topic->name.data, topic->name.length);
    failed |= json_object_set_new(object, "internal", json_boolean(topic->is_internal));
    if (!uuid_is_zero(&topic->topic_id)) {
        char id[UUID_TEXT_SIZE];
        uuid_print(&topic->topic_id, id);
        failed |= json_object_set_new(object, "id", json_string(id));
    }
    failed |= json_object_set_new(object, "replication_factor",
                                  json_integer(replication_of(topic)));
    if (with_partitions) {
        json_t *partitions = json_array();
        for (int32_t i = 0; i < topic->partitions.count; i++)
            failed |= json_array_append_new(partitions,
                                            json_of_partition(&topic->partitions.items[i]));
        failed |= json_object_set_new(object, "partitions", partitions);
        failed |= json_object_set_new(object, "settings",
                                      json_of_settings(settings_of(topics, topic->name)));
    } else {
        failed |= json_object_set_new(object, "partitions", json_integer(topic->partitions.count));
    }
    if (failed == 0) return object;
    json_decref(object);
    return NULL;
}

static int print_topics_json(const struct topics *topics, bool with_partitions)
{
    const struct metadata_response *response = &topics->metadata;
    json_t *array = json_array();
    for (int32_t i = 0; i < response->topics.count; i++) {
        const struct metadata_response_topic *topic = &response->topics.items[i];
        if (topic->error_code != 0) continue;
        if (json_array_append_new(array, json_of_topic(topics, topic, with_partitions)) != 0) {
            json_decref(array);
            return ERR_NO_MEMORY;
        }
    }
    return json_print(array, true, stdout);
}

static int print_list(const struct metadata_response *response)
{
    static const char *const headings[] = { "TOPIC", ">PARTITIONS", ">REPLICATION" };
    struct table table;
    table_init(&table, headings, 3, isatty(STDOUT_FILENO));
    for (int32_t i = 0; i < response->topics.count; i++) {
        const struct metadata_response_topic *topic = &response->topics.items[i];
        table_text(&table, topic->name);
        table_number(&table, topic->partitions.count);
        table_number(&table, replication_of(topic));
    }
    int err = table_print(&table, stdout);
    table_close(&table);
    return err;
}

/* "1,2,3", or "-" for none. */
static void nodes_cell(struct table *table, const int32_t *nodes, int32_t count)
{
    struct buffer text;
    buffer_init(&text);
    for (int32_t i = 0; i < count; i++) {
        char number[16];
        int length = snprintf(number, sizeof number, "%s%" PRId32, i > 0 ? "," : "", nodes[i]);
        buffer_put(&text, number, (size_t)length);
    }
    if (text.failed) table->failed = true;
    table_text(table, text.length == 0
                          ? STR_LITERAL("-")
                          : (struct str){ (const char *)text.data, (int32_t)text.length });
    buffer_close(&text);
}

static void print_settings(const struct describe_configs_response_result *settings)
{
    for (int32_t i = 0; settings != NULL && i < settings->configs.count; i++) {
        const struct describe_configs_response_config *config = &settings->configs.items[i];
        if (!settings_is_own(SETTINGS_OF_TOPIC, settings->resource_name, config)) continue;
        output_text("setting ", config->name);
        output_text("=", config->value);
        putchar('\n');
    }
}

static int print_description(const struct topics *topics,
                             const struct metadata_response_topic *topic)
{
    static const char *const headings[] = { ">PARTITION", ">LEADER", ">EPOCH",
                                            "REPLICAS",   "ISR",     "STATE" };
    bool to_terminal = isatty(STDOUT_FILENO);
    char id[UUID_TEXT_SIZE];
    uuid_print(&topic->topic_id, id);
    output_text("topic ", topic->name);
    printf(", id %s, %" PRId32 " partition%s, replication factor %" PRId32 "%s\n",
           uuid_is_zero(&topic->topic_id) ? "unknown" : id, topic->partitions.count,
           topic->partitions.count == 1 ? "" : "s", replication_of(topic),
           topic->is_internal ? ", internal" : "");
    print_settings(settings_of(topics, topic->name));

    struct table table;
    table_init(&table, headings, 6, to_terminal);
    for (int32_t i = 0; i < topic->partitions.count; i++) {
        const struct metadata_response_partition *partition = &topic->partitions.items[i];
        table_number(&table, partition->partition_index);
        table_number(&table, partition->leader_id);
        table_number(&table, partition->leader_epoch);
        nodes_cell(&table, partition->replica_nodes.items, partition->replica_nodes.count);
        nodes_cell(&table, partition->isr_nodes.items, partition->isr_nodes.count);
        table_text(&table,
                   str_from(partition->error_code == 0
                                ? "ok"
                                : error_text(error_from_kafka_code(partition->error_code))));
    }
    int err = table_print(&table, stdout);
    table_close(&table);
    return err;
}

/* Complains of the topics that the broker has an error for. */
static enum status complain_of_unknown(const struct metadata_response *response)
{
    enum status status = STATUS_OK;
    for (int32_t i = 0; i < response->topics.count; i++) {
        const struct metadata_response_topic *topic = &response->topics.items[i];
        if (topic->error_code == 0) continue;
        topic_complain(topic->name, "cannot be described", topic->error_code, STR_NULL);
        status = STATUS_FAILED;
    }
    return status;
}

static int print_descriptions(const struct topics *topics)
{
    const struct metadata_response *response = &topics->metadata;
    bool is_first = true;
    int err = 0;
    for (int32_t i = 0; err == 0 && i < response->topics.count; i++) {
        if (response->topics.items[i].error_code != 0) continue;
        if (!is_first) putchar('\n');
        is_first = false;
        err = print_description(topics, &response->topics.items[i]);
    }
    return err;
}

static enum status show(const struct common_settings *common, const struct operands *names,
                        bool is_described)
{
    struct talk talk;
    struct topics topics = { .settings.results.count = 0 };
    enum status status = STATUS_OK;
    int err = talk_open(&talk, common);
    if (err == 0) err = ask_metadata(&talk, names, &topics.metadata);
    if (err == 0 && is_described) err = ask_settings(&talk, &topics);
    if (err == 0 && common->as_json)
        err = print_topics_json(&topics, is_described);
    else if (err == 0)
        err = is_described ? print_descriptions(&topics) : print_list(&topics.metadata);
    if (err == 0 && output_finish() != 0) status = STATUS_FAILED;
    if (err == 0 && is_described && complain_of_unknown(&topics.metadata) != STATUS_OK)
        status = STATUS_FAILED;
    return talk_close(&talk, err) == STATUS_OK ? status : STATUS_FAILED;
}

static enum status run_list(const void *given, const struct operands *operands)
{
    return show(given, operands, false);
}

static enum status run_describe(const void *given, const struct operands *operands)
{
    return show(given, operands, true);
}

const struct command topic_list_command = {
    .name = "topic list",
    .operands = "",
    .summary = "List the topics",
    .example = "  sluice topic list\n"
               "  sluice topic list --json | jq -r '.[].name'\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .settings_size = sizeof(struct common_settings),
    .run = run_list,
};

const struct command topic_describe_command = {
    .name = "topic describe",
    .operands = "[TOPIC…]",
    .most_operands = UINT_MAX,
    .summary = "Show partitions and settings of all topics, or of those named",
    .about = "Of settings, those that were set for the topic; all that count for it are shown by\n"
             "sluice config get --topic TOPIC.\n",
    .example = "  sluice topic describe orders\n"
               "  sluice topic describe --json | jq '.[] | {name, settings}'\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .settings_size = sizeof(struct common_settings),
    .run = run_describe,
};
