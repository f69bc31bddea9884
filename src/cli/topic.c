// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "admin_client.h"
#include "buffer.h"
#include "commands.h"
#include "create_topics.h"
#include "delete_topics.h"
#include "error.h"
#include "metadata.h"
#include "output.h"
#include "uuid.h"

/* Decoding a reply takes a small multiple of its bytes. */
#define ARENA_LIMIT ((size_t)1024 * 1024 * 1024)

/* A connection and the memory of what is said over it. */
struct talk {
    struct admin_client client;
    struct arena arena;
};

static int talk_open(struct talk *talk, const struct common_settings *common)
{
    arena_init(&talk->arena, NULL, 0, ARENA_LIMIT);
    return admin_client_open(&talk->client, common->bootstrap_server, common->timeout_s * 1000);
}

static int talk_call(struct talk *talk, const struct admin_api *api, int16_t version,
                     const void *request, void *response)
{
    return admin_client_call(&talk->client, api, version, request, &talk->arena, response);
}

/* Complains if `err` is an error of the connection; closes all. */
static enum status talk_close(struct talk *talk, int err)
{
    if (err != 0) {
        output_complain("%s",
                        talk->client.failure[0] != '\0' ? talk->client.failure : error_text(err));
        if (talk->client.hint[0] != '\0') output_hint("%s", talk->client.hint);
    }
    admin_client_close(&talk->client);
    arena_close(&talk->arena);
    return err == 0 ? STATUS_OK : STATUS_FAILED;
}

/* What cannot be written shows in output_finish(). */
static void print_name(const char *prefix, struct str name)
{
    fputs(prefix, stdout);
    if (name.length > 0)
        output_bytes(stdout, isatty(STDOUT_FILENO), name.data, (size_t)name.length);
}

/* "topic 'x' was not created: …", in the broker's words if it has any, and what to do. */
static void complain_of_topic(struct str name, const char *what, int16_t error_code,
                              struct str message)
{
    enum err err = error_from_kafka_code(error_code);
    if (err == ERR_UNKNOWN_TOPIC_OR_PARTITION)
        output_complain("topic '%.*s' %s: it does not exist", name.length, name.data, what);
    else if (message.length > 0)
        output_complain("topic '%.*s' %s: %.*s", name.length, name.data, what, message.length,
                        message.data);
    else
        output_complain("topic '%.*s' %s: %s", name.length, name.data, what, error_text(err));
    switch (err) {
    case ERR_UNKNOWN_TOPIC_OR_PARTITION: output_hint("see: sluice topic list"); break;
    case ERR_TOPIC_ALREADY_EXISTS:
        output_hint("see: sluice topic describe %.*s", name.length, name.data);
        break;
    case ERR_INVALID_TOPIC:
        output_hint("a name has 1 to 249 letters, digits, dots, dashes and underscores");
        break;
    case ERR_INVALID_REPLICATION_FACTOR:
        output_hint(
            "there are not that many brokers; leave --replication-factor out for the default");
        break;
    case ERR_REQUEST_TIMED_OUT:
        output_hint("it may happen yet; see: sluice topic describe %.*s", name.length, name.data);
        break;
    default: break;
    }
}

/* ---- create ------------------------------------------------------------------------------------ */

struct create_settings {
    struct common_settings common;
    int64_t partitions;
    int64_t replication_factor;
    struct text_list configs;
};

static int create_request(struct talk *talk, const struct create_settings *settings,
                          const char *name, struct create_topics_request *request)
{
    message_defaults(&create_topics_request_shape, request);
    int err = array_make(&create_topics_request_topic_shape, 1, &talk->arena, &request->topics);
    if (err != 0) return err;
    struct create_topics_request_topic *topic = &request->topics.items[0];
    topic->name = str_from(name);
    topic->num_partitions = (int32_t)settings->partitions;
    topic->replication_factor = (int16_t)settings->replication_factor;
    request->timeout_ms = (int32_t)settings->common.timeout_s * 1000;
    err = array_make(&create_topics_request_config_shape, (int32_t)settings->configs.count,
                     &talk->arena, &topic->configs);
    for (unsigned i = 0; err == 0 && i < settings->configs.count; i++) {
        const char *pair = settings->configs.items[i], *value;
        size_t name_length;
        err = text_split_pair(pair, &name_length, &value);
        if (err != 0) break;
        topic->configs.items[i].name = (struct str){ pair, (int32_t)name_length };
        topic->configs.items[i].value = str_from(value);
    }
    return err;
}

static enum status report_created(const struct create_topics_response *response)
{
    enum status status = STATUS_OK;
    for (int32_t i = 0; i < response->topics.count; i++) {
        const struct create_topics_response_topic *topic = &response->topics.items[i];
        if (topic->error_code != 0) {
            complain_of_topic(topic->name, "was not created", topic->error_code,
                              topic->error_message);
            status = STATUS_FAILED;
            continue;
        }
        print_name("created topic ", topic->name);
        if (topic->num_partitions > 0) /* version 4 does not tell */
            printf(": %" PRId32 " partition%s, replication factor %d", topic->num_partitions,
                   topic->num_partitions == 1 ? "" : "s", topic->replication_factor);
        putchar('\n');
    }
    return output_finish() == 0 ? status : STATUS_FAILED;
}

static enum status check_configs(const struct text_list *configs)
{
    size_t name_length;
    const char *value;
    for (unsigned i = 0; i < configs->count; i++)
        if (text_split_pair(configs->items[i], &name_length, &value) != 0) {
            output_complain("--config takes NAME=VALUE, not '%s'", configs->items[i]);
            return STATUS_USAGE;
        }
    return STATUS_OK;
}

static enum status run_create(const void *given, const struct operands *operands)
{
    const struct create_settings *settings = given;
    if (check_configs(&settings->configs) != STATUS_OK) return STATUS_USAGE;

    struct talk talk;
    struct create_topics_request request;
    struct create_topics_response response;
    int16_t version = 0;
    enum status status = STATUS_FAILED;
    int err = talk_open(&talk, &settings->common);
    if (err == 0) err = admin_client_version(&talk.client, &admin_create_topics, &version);
    if (err == 0) err = create_request(&talk, settings, operands->items[0], &request);
    if (err == 0) err = talk_call(&talk, &admin_create_topics, version, &request, &response);
    if (err == 0) status = report_created(&response);
    return talk_close(&talk, err) == STATUS_OK ? status : STATUS_FAILED;
}

/* clang-format off */
static const struct option_row create_options[] = {
    { "partitions", 'p', OPTION_NUMBER, offsetof(struct create_settings, partitions), 1, INT32_MAX,
      "N", "how many partitions (the broker's default)" },
    { "replication-factor", 'r', OPTION_NUMBER, offsetof(struct create_settings, replication_factor), 1, INT16_MAX,
      "N", "on how many brokers each lies (the broker's default)" },
    { "config", 'c', OPTION_LIST, offsetof(struct create_settings, configs), 0, 0,
      "NAME=VALUE", "a setting of the topic; may be repeated" },
};
/* clang-format on */

static const struct create_settings create_defaults = {
    .common = { .timeout_s = DEFAULT_TIMEOUT_S },
    .partitions = -1, /* as the protocol says "the default" */
    .replication_factor = -1,
};

const struct command topic_create_command = {
    .name = "topic create",
    .operands = "NAME",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "Create a topic",
    .example = "  sluice topic create orders --partitions 6 --config retention.ms=86400000\n",
    .options = create_options,
    .option_count = sizeof create_options / sizeof create_options[0],
    .defaults = &create_defaults,
    .settings_size = sizeof create_defaults,
    .run = run_create,
};

/* ---- list and describe ------------------------------------------------------------------------- */

struct show_settings {
    struct common_settings common;
    bool as_json;
};

static int compare_topics(const void *a, const void *b)
{
    struct str left = ((const struct metadata_response_topic *)a)->name;
    struct str right = ((const struct metadata_response_topic *)b)->name;
    int32_t shorter = left.length < right.length ? left.length : right.length;
    int order = shorter <= 0 ? 0 : memcmp(left.data, right.data, (size_t)shorter);
    return order != 0 ? order : (left.length > right.length) - (left.length < right.length);
}

static int compare_partitions(const void *a, const void *b)
{
    int32_t left = ((const struct metadata_response_partition *)a)->partition_index;
    int32_t right = ((const struct metadata_response_partition *)b)->partition_index;
    return (left > right) - (left < right);
}

/* Asks for the topics named, or for all if there is no name; sorts what comes. */
static int ask_metadata(struct talk *talk, const struct operands *names,
                        struct metadata_response *response)
{
    struct metadata_request request;
    int16_t version = 0;
    int err = admin_client_version(&talk->client, &admin_metadata, &version);
    if (err != 0) return err;
    message_defaults(&metadata_request_shape, &request);
    request.allow_auto_topic_creation = false;
    request.topics.count = -1; /* all */
    if (names->count > 0)
        err = array_make(&metadata_request_topic_shape, (int32_t)names->count, &talk->arena,
                         &request.topics);
    for (unsigned i = 0; err == 0 && i < names->count; i++)
        request.topics.items[i].name = str_from(names->items[i]);
    if (err == 0) err = talk_call(talk, &admin_metadata, version, &request, response);
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

static json_t *json_of_topic(const struct metadata_response_topic *topic, bool with_partitions)
{
    json_t *object = json_pack("{s:s%, s:b}", "name", topic->name.data,
                               (size_t)(topic->name.length < 0 ? 0 : topic->name.length),
                               "internal", topic->is_internal);
    if (object == NULL) return NULL;
    int failed = 0;
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
    } else {
        failed |= json_object_set_new(object, "partitions", json_integer(topic->partitions.count));
    }
    if (failed == 0) return object;
    json_decref(object);
    return NULL;
}

static int print_topics_json(const struct metadata_response *response, bool with_partitions)
{
    json_t *array = json_array();
    for (int32_t i = 0; i < response->topics.count; i++) {
        const struct metadata_response_topic *topic = &response->topics.items[i];
        if (topic->error_code != 0) continue;
        if (json_array_append_new(array, json_of_topic(topic, with_partitions)) != 0) {
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

static int print_description(const struct metadata_response_topic *topic)
{
    static const char *const headings[] = { ">PARTITION", ">LEADER", ">EPOCH",
                                            "REPLICAS",   "ISR",     "STATE" };
    bool to_terminal = isatty(STDOUT_FILENO);
    char id[UUID_TEXT_SIZE];
    uuid_print(&topic->topic_id, id);
    print_name("topic ", topic->name);
    printf(", id %s, %" PRId32 " partition%s, replication factor %" PRId32 "%s\n",
           uuid_is_zero(&topic->topic_id) ? "unknown" : id, topic->partitions.count,
           topic->partitions.count == 1 ? "" : "s", replication_of(topic),
           topic->is_internal ? ", internal" : "");

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
        complain_of_topic(topic->name, "cannot be described", topic->error_code, STR_NULL);
        status = STATUS_FAILED;
    }
    return status;
}

static int print_descriptions(const struct metadata_response *response)
{
    bool is_first = true;
    int err = 0;
    for (int32_t i = 0; err == 0 && i < response->topics.count; i++) {
        if (response->topics.items[i].error_code != 0) continue;
        if (!is_first) putchar('\n');
        is_first = false;
        err = print_description(&response->topics.items[i]);
    }
    return err;
}

static enum status show(const struct show_settings *settings, const struct operands *names,
                        bool with_partitions)
{
    struct talk talk;
    struct metadata_response response;
    enum status status = STATUS_OK;
    int err = talk_open(&talk, &settings->common);
    if (err == 0) err = ask_metadata(&talk, names, &response);
    if (err == 0 && settings->as_json)
        err = print_topics_json(&response, with_partitions);
    else if (err == 0)
        err = with_partitions ? print_descriptions(&response) : print_list(&response);
    if (err == 0 && output_finish() != 0) status = STATUS_FAILED;
    if (err == 0 && with_partitions && complain_of_unknown(&response) != STATUS_OK)
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

static const struct option_row show_options[] = {
    { "json", 'j', OPTION_FLAG, offsetof(struct show_settings, as_json), 0, 0, NULL,
      "for programs: an array of topics" },
};

static const struct show_settings show_defaults = { .common = { .timeout_s = DEFAULT_TIMEOUT_S } };

const struct command topic_list_command = {
    .name = "topic list",
    .operands = "",
    .summary = "List the topics",
    .example = "  sluice topic list\n"
               "  sluice topic list --json | jq -r '.[].name'\n",
    .options = show_options,
    .option_count = 1,
    .defaults = &show_defaults,
    .settings_size = sizeof show_defaults,
    .run = run_list,
};

const struct command topic_describe_command = {
    .name = "topic describe",
    .operands = "[NAME...]",
    .most_operands = 1000,
    .summary = "Show the partitions of all topics, or of those named",
    .example = "  sluice topic describe orders\n",
    .options = show_options,
    .option_count = 1,
    .defaults = &show_defaults,
    .settings_size = sizeof show_defaults,
    .run = run_describe,
};

/* ---- delete ------------------------------------------------------------------------------------ */

struct delete_settings {
    struct common_settings common;
};

static int delete_request(struct talk *talk, const struct operands *names, int16_t version,
                          int64_t timeout_s, struct delete_topics_request *request)
{
    message_defaults(&delete_topics_request_shape, request);
    request->timeout_ms = (int32_t)timeout_s * 1000;
    if (version >= 6) { /* names moved into structs then, so that ids can stand beside them */
        int err = array_make(&delete_topics_request_topic_shape, (int32_t)names->count,
                             &talk->arena, &request->topics);
        for (unsigned i = 0; err == 0 && i < names->count; i++)
            request->topics.items[i].name = str_from(names->items[i]);
        return err;
    }
    request->topic_names.items = arena_calloc(&talk->arena, names->count,
                                              sizeof *request->topic_names.items);
    if (request->topic_names.items == NULL) return ERR_NO_MEMORY;
    request->topic_names.count = (int32_t)names->count;
    for (unsigned i = 0; i < names->count; i++)
        request->topic_names.items[i] = str_from(names->items[i]);
    return 0;
}

static enum status report_deleted(const struct delete_topics_response *response)
{
    enum status status = STATUS_OK;
    for (int32_t i = 0; i < response->responses.count; i++) {
        const struct delete_topics_response_topic *topic = &response->responses.items[i];
        if (topic->error_code == 0) {
            print_name("deleted topic ", topic->name);
            putchar('\n');
            continue;
        }
        complain_of_topic(topic->name, "was not deleted", topic->error_code, topic->error_message);
        status = STATUS_FAILED;
    }
    return output_finish() == 0 ? status : STATUS_FAILED;
}

static enum status run_delete(const void *given, const struct operands *operands)
{
    const struct delete_settings *settings = given;
    struct talk talk;
    struct delete_topics_request request;
    struct delete_topics_response response;
    int16_t version = 0;
    enum status status = STATUS_FAILED;
    int err = talk_open(&talk, &settings->common);
    if (err == 0) err = admin_client_version(&talk.client, &admin_delete_topics, &version);
    if (err == 0)
        err = delete_request(&talk, operands, version, settings->common.timeout_s, &request);
    if (err == 0) err = talk_call(&talk, &admin_delete_topics, version, &request, &response);
    if (err == 0) status = report_deleted(&response);
    return talk_close(&talk, err) == STATUS_OK ? status : STATUS_FAILED;
}

static const struct delete_settings delete_defaults = { .common = {
                                                            .timeout_s = DEFAULT_TIMEOUT_S } };

const struct command topic_delete_command = {
    .name = "topic delete",
    .operands = "NAME...",
    .least_operands = 1,
    .most_operands = 1000,
    .summary = "Delete topics and all that is in them",
    .example = "  sluice topic delete orders orders-old\n",
    .defaults = &delete_defaults,
    .settings_size = sizeof delete_defaults,
    .run = run_delete,
};
