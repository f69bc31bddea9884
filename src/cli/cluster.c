// SPDX-License-Identifier: Apache-2.0
/* Who is in the cluster, what lies in the brokers' data folders, which APIs they serve. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alloc.h"
#include "api_names.h"
#include "commands.h"
#include "describe_cluster.h"
#include "describe_log_dirs.h"
#include "error.h"
#include "output.h"
#include "talk.h"

struct cluster_settings {
    struct common_settings common;
    bool with_partitions, with_apis;
};

/* What one broker says of its folders. */
struct broker_folders {
    struct talk talk; /* Open as long as the answer is used. */
    int err;          /* It could not be asked: why stands in the talk. */
    struct describe_log_dirs_response answer;
};

/* All that is shown. */
struct cluster {
    const struct cluster_settings *settings;
    struct talk talk;
    struct describe_cluster_response answer;
    struct broker_folders *folders; /* One for each broker of the answer. */
};

/* ---- asking ------------------------------------------------------------------------------------ */

static int compare_brokers(const void *a, const void *b)
{
    int32_t left = ((const struct describe_cluster_response_broker *)a)->broker_id;
    int32_t right = ((const struct describe_cluster_response_broker *)b)->broker_id;
    return (left > right) - (left < right);
}

static int ask_cluster(struct cluster *cluster)
{
    struct describe_cluster_request request;
    int16_t version = 0;
    message_defaults(&describe_cluster_request_shape, &request);
    int err = admin_client_version(&cluster->talk.client, &admin_describe_cluster, &version);
    request.include_fenced_brokers = version >= 2;
    if (err == 0)
        err = talk_ask_in(&cluster->talk, &admin_describe_cluster, version, &request,
                          &cluster->answer);
    if (err != 0) return err;
    if (cluster->answer.error_code != 0) {
        snprintf(cluster->talk.client.failure, sizeof cluster->talk.client.failure,
                 "the cluster cannot be described: %s",
                 error_text(error_from_kafka_code(cluster->answer.error_code)));
        return error_from_kafka_code(cluster->answer.error_code);
    }
    if (cluster->answer.brokers.count > 1)
        qsort(cluster->answer.brokers.items, (size_t)cluster->answer.brokers.count,
              sizeof cluster->answer.brokers.items[0], compare_brokers);
    return 0;
}

/* Each broker knows its own folders only. One that cannot be asked does not hide the others. */
static int ask_folders(struct cluster *cluster)
{
    struct describe_log_dirs_request request;
    int32_t count = cluster->answer.brokers.count;
    message_defaults(&describe_log_dirs_request_shape, &request);
    request.topics.count = -1; /* all */
    cluster->folders = mem_calloc((size_t)(count < 0 ? 0 : count), sizeof *cluster->folders);
    if (cluster->folders == NULL) return ERR_NO_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        const struct describe_cluster_response_broker *broker = &cluster->answer.brokers.items[i];
        struct broker_folders *folders = &cluster->folders[i];
        folders->err = talk_open_at(&folders->talk, broker->host, broker->port,
                                    &cluster->settings->common);
        if (folders->err == 0)
            folders->err = talk_ask(&folders->talk, &admin_describe_log_dirs, &request,
                                    &folders->answer);
        if (folders->err == 0 && folders->answer.error_code != 0) {
            folders->err = error_from_kafka_code(folders->answer.error_code);
            snprintf(folders->talk.client.failure, sizeof folders->talk.client.failure,
                     "broker %" PRId32 " does not tell its folders: %s", broker->broker_id,
                     error_text(folders->err));
        }
    }
    return 0;
}

/* ---- sums -------------------------------------------------------------------------------------- */

struct usage {
    int64_t partitions, bytes;
};

static struct usage usage_of(const struct describe_log_dirs_response_result *folder)
{
    struct usage usage = { 0, 0 };
    for (int32_t i = 0; i < folder->topics.count; i++) {
        const struct describe_log_dirs_response_topic *topic = &folder->topics.items[i];
        for (int32_t at = 0; at < topic->partitions.count; at++)
            usage.bytes += topic->partitions.items[at].partition_size;
        usage.partitions += topic->partitions.count;
    }
    return usage;
}

static const char *state_of(const struct describe_log_dirs_response_result *folder)
{
    if (folder->error_code != 0) return error_text(error_from_kafka_code(folder->error_code));
    return folder->is_cordoned ? "cordoned" : "ok";
}

/* ---- for people -------------------------------------------------------------------------------- */

/* What is not known is -1 in the protocol. */
static void bytes_cell(struct table *table, int64_t bytes)
{
    char text[32];
    output_size(bytes, text);
    table_text(table, str_from(bytes < 0 ? "-" : text));
}

static int print_brokers(const struct cluster *cluster)
{
    static const char *const headings[] = { ">BROKER", "ADDRESS", "RACK", "STATE" };
    struct table table;
    table_init(&table, headings, 4, isatty(STDOUT_FILENO));
    for (int32_t i = 0; i < cluster->answer.brokers.count; i++) {
        const struct describe_cluster_response_broker *broker = &cluster->answer.brokers.items[i];
        char address[300];
        snprintf(address, sizeof address, "%.*s:%" PRId32, broker->host.length, broker->host.data,
                 broker->port);
        table_number(&table, broker->broker_id);
        table_text(&table, str_from(address));
        table_text(&table, broker->rack.length > 0 ? broker->rack : STR_LITERAL("-"));
        table_text(&table, str_from(broker->is_fenced ? "fenced" : "ok"));
    }
    int err = table_print(&table, stdout);
    table_close(&table);
    return err;
}

static int print_folders(const struct cluster *cluster)
{
    static const char *const headings[] = { ">BROKER", "FOLDER", ">PARTITIONS", ">LOGS",
                                            ">FREE",   ">TOTAL", "STATE" };
    struct table table;
    table_init(&table, headings, 7, isatty(STDOUT_FILENO));
    for (int32_t i = 0; i < cluster->answer.brokers.count; i++) {
        const struct broker_folders *folders = &cluster->folders[i];
        for (int32_t at = 0; folders->err == 0 && at < folders->answer.results.count; at++) {
            const struct describe_log_dirs_response_result *folder =
                &folders->answer.results.items[at];
            struct usage usage = usage_of(folder);
            table_number(&table, cluster->answer.brokers.items[i].broker_id);
            table_text(&table, folder->log_dir);
            table_number(&table, usage.partitions);
            bytes_cell(&table, usage.bytes);
            bytes_cell(&table, folder->usable_bytes);
            bytes_cell(&table, folder->total_bytes);
            table_text(&table, str_from(state_of(folder)));
        }
    }
    int err = table_print(&table, stdout);
    table_close(&table);
    return err;
}

static void partition_rows(struct table *table, int32_t broker_id,
                           const struct describe_log_dirs_response_result *folder)
{
    for (int32_t i = 0; i < folder->topics.count; i++) {
        const struct describe_log_dirs_response_topic *topic = &folder->topics.items[i];
        for (int32_t at = 0; at < topic->partitions.count; at++) {
            table_text(table, topic->name);
            table_number(table, topic->partitions.items[at].partition_index);
            table_number(table, broker_id);
            table_text(table, folder->log_dir);
            bytes_cell(table, topic->partitions.items[at].partition_size);
        }
    }
}

static int print_partitions(const struct cluster *cluster)
{
    static const char *const headings[] = { "TOPIC", ">PARTITION", ">BROKER", "FOLDER", ">LOG" };
    struct table table;
    table_init(&table, headings, 5, isatty(STDOUT_FILENO));
    for (int32_t i = 0; i < cluster->answer.brokers.count; i++) {
        const struct broker_folders *folders = &cluster->folders[i];
        for (int32_t at = 0; folders->err == 0 && at < folders->answer.results.count; at++)
            partition_rows(&table, cluster->answer.brokers.items[i].broker_id,
                           &folders->answer.results.items[at]);
    }
    int err = table_print(&table, stdout);
    table_close(&table);
    return err;
}

static int print_apis(const struct cluster *cluster)
{
    static const char *const headings[] = { ">KEY", "API", "VERSIONS" };
    const struct admin_client *client = &cluster->talk.client;
    struct table table;
    table_init(&table, headings, 3, isatty(STDOUT_FILENO));
    for (int key = 0; key < API_KEYS_MAX; key++) {
        struct admin_version_range range = client->versions[key];
        char versions[24];
        if (range.last < range.first) continue;
        snprintf(versions, sizeof versions, range.first == range.last ? "%d" : "%d to %d",
                 range.first, range.last);
        table_number(&table, key);
        table_text(&table, str_from(api_name(key)));
        table_text(&table, str_from(versions));
    }
    int err = table_print(&table, stdout);
    table_close(&table);
    return err;
}

static int print_cluster(const struct cluster *cluster)
{
    output_text("cluster ", cluster->answer.cluster_id);
    printf(", controller %" PRId32 "\n\n", cluster->answer.controller_id);
    int err = print_brokers(cluster);
    putchar('\n');
    if (err == 0) err = print_folders(cluster);
    if (err == 0 && cluster->settings->with_partitions) {
        putchar('\n');
        err = print_partitions(cluster);
    }
    if (err == 0 && cluster->settings->with_apis) {
        putchar('\n');
        err = print_apis(cluster);
    }
    return err;
}

/* ---- for programs ------------------------------------------------------------------------------ */

static int add_partitions(json_t *object, const struct describe_log_dirs_response_result *folder)
{
    json_t *array = json_array();
    int failed = json_object_set_new(object, "logs", array);
    for (int32_t i = 0; i < folder->topics.count; i++) {
        const struct describe_log_dirs_response_topic *topic = &folder->topics.items[i];
        for (int32_t at = 0; at < topic->partitions.count && failed == 0; at++) {
            json_t *log = json_object();
            failed |= json_array_append_new(array, log);
            failed |= json_set_bytes(log, "topic", topic->name.data, topic->name.length);
            failed |= json_object_set_new(
                log, "partition", json_integer(topic->partitions.items[at].partition_index));
            failed |= json_object_set_new(log, "bytes",
                                          json_integer(topic->partitions.items[at].partition_size));
        }
    }
    return failed;
}

static json_t *json_of_size(int64_t bytes)
{
    return bytes < 0 ? json_null() : json_integer(bytes);
}

static json_t *json_of_folders(const struct cluster *cluster, const struct broker_folders *folders)
{
    if (folders->err != 0) return json_null();
    json_t *array = json_array();
    int failed = array == NULL;
    for (int32_t i = 0; i < folders->answer.results.count && failed == 0; i++) {
        const struct describe_log_dirs_response_result *from = &folders->answer.results.items[i];
        struct usage usage = usage_of(from);
        json_t *object = json_object();
        failed |= json_array_append_new(array, object);
        failed |= json_set_bytes(object, "folder", from->log_dir.data, from->log_dir.length);
        failed |= json_object_set_new(object, "state", json_string(state_of(from)));
        failed |= json_object_set_new(object, "partitions", json_integer(usage.partitions));
        failed |= json_object_set_new(object, "log_bytes", json_integer(usage.bytes));
        failed |= json_object_set_new(object, "free_bytes", json_of_size(from->usable_bytes));
        failed |= json_object_set_new(object, "total_bytes", json_of_size(from->total_bytes));
        if (cluster->settings->with_partitions && failed == 0)
            failed = add_partitions(object, from);
    }
    if (failed == 0) return array;
    json_decref(array);
    return NULL;
}

static int add_brokers(json_t *object, const struct cluster *cluster)
{
    json_t *array = json_array();
    int failed = json_object_set_new(object, "brokers", array);
    for (int32_t i = 0; i < cluster->answer.brokers.count && failed == 0; i++) {
        const struct describe_cluster_response_broker *from = &cluster->answer.brokers.items[i];
        json_t *broker = json_object();
        failed |= json_array_append_new(array, broker);
        failed |= json_object_set_new(broker, "id", json_integer(from->broker_id));
        failed |= json_set_bytes(broker, "host", from->host.data, from->host.length);
        failed |= json_object_set_new(broker, "port", json_integer(from->port));
        failed |= json_set_bytes(broker, "rack", from->rack.data, from->rack.length);
        failed |= json_object_set_new(broker, "fenced", json_boolean(from->is_fenced));
        failed |= json_object_set_new(broker, "folders",
                                      json_of_folders(cluster, &cluster->folders[i]));
    }
    return failed;
}

static int add_apis(json_t *object, const struct admin_client *client)
{
    json_t *array = json_array();
    int failed = json_object_set_new(object, "apis", array);
    for (int key = 0; key < API_KEYS_MAX && failed == 0; key++) {
        struct admin_version_range range = client->versions[key];
        if (range.last < range.first) continue;
        failed = json_array_append_new(array, json_pack("{s:i, s:s, s:i, s:i}", "key", key, "name",
                                                        api_name(key), "first", range.first, "last",
                                                        range.last));
    }
    return failed;
}

static int print_cluster_json(const struct cluster *cluster)
{
    json_t *object = json_object();
    int failed = json_set_bytes(object, "id", cluster->answer.cluster_id.data,
                                cluster->answer.cluster_id.length);
    failed |= json_object_set_new(object, "controller",
                                  json_integer(cluster->answer.controller_id));
    if (failed == 0) failed = add_brokers(object, cluster);
    if (failed == 0 && cluster->settings->with_apis)
        failed = add_apis(object, &cluster->talk.client);
    if (failed == 0) return json_print(object, true, stdout);
    json_decref(object);
    return ERR_NO_MEMORY;
}

/* ---- the command ------------------------------------------------------------------------------- */

static enum status run_cluster(const void *given, const struct operands *operands)
{
    (void)operands;
    struct cluster cluster = { .settings = given };
    enum status status = STATUS_OK;
    int err = talk_open(&cluster.talk, &cluster.settings->common);
    if (err == 0) err = ask_cluster(&cluster);
    if (err == 0) err = ask_folders(&cluster);
    if (err == 0)
        err = cluster.settings->common.as_json ? print_cluster_json(&cluster)
                                               : print_cluster(&cluster);
    if (err == 0 && output_finish() != 0) status = STATUS_FAILED;
    for (int32_t i = 0; cluster.folders != NULL && i < cluster.answer.brokers.count; i++)
        if (talk_close(&cluster.folders[i].talk, cluster.folders[i].err) != STATUS_OK)
            status = STATUS_FAILED;
    mem_free(cluster.folders);
    return talk_close(&cluster.talk, err) == STATUS_OK ? status : STATUS_FAILED;
}

/* clang-format off */
static const struct option_row cluster_options[] = {
    { "partitions", 'p', OPTION_FLAG, offsetof(struct cluster_settings, with_partitions), 0, 0,
      NULL, "the size of each log in the folders, too" },
    { "apis", 'a', OPTION_FLAG, offsetof(struct cluster_settings, with_apis), 0, 0,
      NULL, "which versions of which APIs the broker that was asked serves" },
};
/* clang-format on */

const struct command cluster_command = {
    .name = "cluster",
    .operands = "",
    .summary = "Show the cluster's id, controller, brokers and their data folders",
    .about =
        "LOGS is what the logs in a folder take, FREE and TOTAL are those of its file system.\n",
    .example = "  sluice cluster\n"
               "  sluice cluster --apis --json | jq '.apis[] | select(.name == \"Fetch\")'\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = cluster_options,
    .option_count = sizeof cluster_options / sizeof cluster_options[0],
    .settings_size = sizeof(struct cluster_settings),
    .run = run_cluster,
};
