// SPDX-License-Identifier: Apache-2.0
/* Creates, changes and deletes topics; topic_show.c lists them. */

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "alloc.h"
#include "commands.h"
#include "create_partitions.h"
#include "create_topics.h"
#include "delete_topics.h"
#include "error.h"
#include "output.h"
#include "settings_client.h"
#include "talk.h"
#include "topic_report.h"
#include "uuid.h"

/* ---- create ------------------------------------------------------------------------------------ */

struct create_settings {
    struct common_settings common;
    int64_t partitions;
    int64_t replication_factor;
    struct text_list configs;
    bool dry_run;
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
    request->validate_only = settings->dry_run;
    err = array_make(&create_topics_request_config_shape, (int32_t)settings->configs.count,
                     &talk->arena, &topic->configs);
    for (unsigned i = 0; err == 0 && i < settings->configs.count; i++) {
        struct settings_change change;
        err = settings_change_parse(settings->configs.items[i], "--config", &change);
        if (err != 0) break;
        topic->configs.items[i].name = change.name;
        topic->configs.items[i].value = str_from(change.value);
    }
    return err;
}

static void print_created(const struct create_topics_response_topic *topic, bool dry_run)
{
    output_text(dry_run ? "could create topic " : "created topic ", topic->name);
    if (topic->num_partitions > 0) /* version 4 does not tell */
        printf(": %" PRId32 " partition%s, replication factor %d", topic->num_partitions,
               topic->num_partitions == 1 ? "" : "s", topic->replication_factor);
    putchar('\n');
}

static void add_created(json_t *object, const struct create_topics_response_topic *topic)
{
    char id[UUID_TEXT_SIZE];
    if (topic->error_code != 0) return;
    if (!uuid_is_zero(&topic->topic_id)) {
        uuid_print(&topic->topic_id, id);
        json_object_set_new(object, "id", json_string(id));
    }
    if (topic->num_partitions <= 0) return;
    json_object_set_new(object, "partitions", json_integer(topic->num_partitions));
    json_object_set_new(object, "replication_factor", json_integer(topic->replication_factor));
}

static enum status report_created(const struct create_settings *settings,
                                  const struct create_topics_response *response)
{
    struct topic_report report;
    topic_report_begin(&report, settings->common.as_json);
    for (int32_t i = 0; i < response->topics.count; i++) {
        const struct create_topics_response_topic *topic = &response->topics.items[i];
        json_t *object = topic_report_add(&report, topic->name, "was not created",
                                          topic->error_code, topic->error_message);
        if (object != NULL)
            add_created(object, topic);
        else if (!report.as_json && topic->error_code == 0)
            print_created(topic, settings->dry_run);
    }
    return topic_report_end(&report);
}

static enum status check_configs(const struct text_list *configs)
{
    struct settings_change change;
    for (unsigned i = 0; i < configs->count; i++)
        if (settings_change_parse(configs->items[i], "--config", &change) != 0) return STATUS_USAGE;
    return STATUS_OK;
}

static enum status run_create(const void *given, const struct operands *operands)
{
    const struct create_settings *settings = given;
    if (check_configs(&settings->configs) != STATUS_OK) return STATUS_USAGE;

    struct talk talk;
    struct create_topics_request request;
    struct create_topics_response response;
    enum status status = STATUS_FAILED;
    int err = talk_open(&talk, &settings->common);
    if (err == 0) err = create_request(&talk, settings, operands->items[0], &request);
    if (err == 0) err = talk_ask(&talk, &admin_create_topics, &request, &response);
    if (err == 0) status = report_created(settings, &response);
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
    { "dry-run", 0, OPTION_FLAG, offsetof(struct create_settings, dry_run), 0, 0,
      NULL, "only say whether it could be created" },
};
/* clang-format on */

static const struct create_settings create_defaults = {
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
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = create_options,
    .option_count = sizeof create_options / sizeof create_options[0],
    .defaults = &create_defaults,
    .settings_size = sizeof create_defaults,
    .run = run_create,
};

/* ---- alter ------------------------------------------------------------------------------------- */

struct alter_settings {
    struct common_settings common;
    int64_t partitions; /* 0: as they are. */
    struct text_list configs, unset;
    bool dry_run;
};

/* All that is wanted of the settings; they go to the broker as one change. */
static int read_changes(const struct alter_settings *settings, struct settings_change *changes)
{
    unsigned count = 0;
    for (unsigned i = 0; i < settings->configs.count; i++)
        if (settings_change_parse(settings->configs.items[i], "--config", &changes[count++]) != 0)
            return ERR_USAGE;
    for (unsigned i = 0; i < settings->unset.count; i++)
        changes[count++] = (struct settings_change){ str_from(settings->unset.items[i]), NULL };
    return 0;
}

static int add_partitions(struct talk *talk, const struct alter_settings *settings,
                          const char *name, struct topic_report *report)
{
    struct create_partitions_request request;
    struct create_partitions_response response;
    message_defaults(&create_partitions_request_shape, &request);
    request.timeout_ms = (int32_t)settings->common.timeout_s * 1000;
    request.validate_only = settings->dry_run;
    int err = array_make(&create_partitions_request_topic_shape, 1, &talk->arena, &request.topics);
    if (err != 0) return err;
    request.topics.items[0].name = str_from(name);
    request.topics.items[0].count = (int32_t)settings->partitions;
    request.topics.items[0].assignments.count = -1; /* the broker places them */
    err = talk_ask(talk, &admin_create_partitions, &request, &response);
    for (int32_t i = 0; err == 0 && i < response.results.count; i++) {
        const struct create_partitions_response_topic *topic = &response.results.items[i];
        json_t *object = topic_report_add(report, topic->name, "got no more partitions",
                                          topic->error_code, topic->error_message);
        if (topic->error_code != 0) continue;
        if (object != NULL)
            json_object_set_new(object, "partitions", json_integer(settings->partitions));
        if (report->as_json) continue;
        output_text("topic ", topic->name);
        printf(" %s %" PRId64 " partitions\n", settings->dry_run ? "could have" : "has now",
               settings->partitions);
    }
    return err;
}

static int change_settings(struct talk *talk, const struct alter_settings *settings,
                           const char *name, const struct settings_change *changes,
                           struct topic_report *report)
{
    struct incremental_alter_configs_response_resource answer;
    unsigned count = settings->configs.count + settings->unset.count;
    int err = settings_alter(talk, SETTINGS_OF_TOPIC, str_from(name), changes, count,
                             settings->dry_run, &answer);
    if (err != 0) return err;
    json_t *object = topic_report_add(report, str_from(name), "was not changed", answer.error_code,
                                      answer.error_message);
    if (object != NULL && answer.error_code == 0)
        json_object_set_new(object, "settings_changed", json_integer(count));
    if (answer.error_code != 0 || report->as_json) return 0;
    output_text("topic ", str_from(name));
    printf(": %u setting%s %s\n", count, count == 1 ? "" : "s",
           settings->dry_run ? "could be changed" : "changed");
    return 0;
}

static enum status run_alter(const void *given, const struct operands *operands)
{
    const struct alter_settings *settings = given;
    const char *name = operands->items[0];
    unsigned count = settings->configs.count + settings->unset.count;
    if (settings->partitions == 0 && count == 0) {
        output_complain("nothing is said that should change");
        output_hint("name --partitions, --config or --unset; see: sluice topic alter --help");
        return STATUS_USAGE;
    }
    struct settings_change *changes = mem_calloc(count + 1, sizeof *changes);
    if (changes == NULL) {
        output_complain("%s", error_text(ERR_NO_MEMORY));
        return STATUS_FAILED;
    }
    enum status status = STATUS_USAGE;
    if (read_changes(settings, changes) == 0) {
        struct talk talk;
        struct topic_report report;
        topic_report_begin(&report, settings->common.as_json);
        int err = talk_open(&talk, &settings->common);
        if (err == 0 && count > 0) err = change_settings(&talk, settings, name, changes, &report);
        if (err == 0 && settings->partitions > 0 && report.status == STATUS_OK)
            err = add_partitions(&talk, settings, name, &report);
        status = topic_report_end(&report);
        if (talk_close(&talk, err) != STATUS_OK) status = STATUS_FAILED;
    }
    mem_free(changes);
    return status;
}

/* clang-format off */
static const struct option_row alter_options[] = {
    { "partitions", 'p', OPTION_NUMBER, offsetof(struct alter_settings, partitions), 1, INT32_MAX,
      "N", "how many partitions it shall have; only more than now" },
    { "config", 'c', OPTION_LIST, offsetof(struct alter_settings, configs), 0, 0,
      "NAME=VALUE", "a setting and its new value; may be repeated" },
    { "unset", 'u', OPTION_LIST, offsetof(struct alter_settings, unset), 0, 0,
      "NAME", "a setting that gets its default back; may be repeated" },
    { "dry-run", 0, OPTION_FLAG, offsetof(struct alter_settings, dry_run), 0, 0,
      NULL, "only say whether it could be done" },
};
/* clang-format on */

const struct command topic_alter_command = {
    .name = "topic alter",
    .operands = "TOPIC",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "Give a topic more partitions or other settings",
    .about = "Settings change together or not at all, and before partitions are added. With more "
             "partitions,\n"
             "keys go elsewhere than before.\n",
    .example = "  sluice topic alter orders --partitions 12\n"
               "  sluice topic alter orders --config retention.ms=3600000 --unset cleanup.policy\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .options = alter_options,
    .option_count = sizeof alter_options / sizeof alter_options[0],
    .settings_size = sizeof(struct alter_settings),
    .run = run_alter,
};

/* ---- delete ------------------------------------------------------------------------------------ */

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

static enum status report_deleted(bool as_json, const struct delete_topics_response *response)
{
    struct topic_report report;
    topic_report_begin(&report, as_json);
    for (int32_t i = 0; i < response->responses.count; i++) {
        const struct delete_topics_response_topic *topic = &response->responses.items[i];
        topic_report_add(&report, topic->name, "was not deleted", topic->error_code,
                         topic->error_message);
        if (topic->error_code != 0 || as_json) continue;
        output_text("deleted topic ", topic->name);
        putchar('\n');
    }
    return topic_report_end(&report);
}

static enum status run_delete(const void *given, const struct operands *operands)
{
    const struct common_settings *common = given;
    struct talk talk;
    struct delete_topics_request request;
    struct delete_topics_response response;
    int16_t version = 0;
    enum status status = STATUS_FAILED;
    int err = talk_open(&talk, common);
    if (err == 0) err = admin_client_version(&talk.client, &admin_delete_topics, &version);
    if (err == 0) err = delete_request(&talk, operands, version, common->timeout_s, &request);
    if (err == 0) err = talk_ask_in(&talk, &admin_delete_topics, version, &request, &response);
    if (err == 0) status = report_deleted(common->as_json, &response);
    return talk_close(&talk, err) == STATUS_OK ? status : STATUS_FAILED;
}

const struct command topic_delete_command = {
    .name = "topic delete",
    .operands = "TOPIC…",
    .least_operands = 1,
    .most_operands = UINT_MAX,
    .summary = "Delete topics and all that is in them",
    .example = "  sluice topic delete orders orders-old\n",
    .takes = TAKES_BROKER | TAKES_JSON,
    .settings_size = sizeof(struct common_settings),
    .run = run_delete,
};
