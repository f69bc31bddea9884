// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "handlers.h"
#include "repeats.h"
#include "topic_config.h"

#define MAX_SETTINGS 64 /* More than there are topic settings. */

struct create_call {
    struct meta_request request;
    struct call *call;
    struct meta_create_topic *topics;
    struct repeat *repeats;
    struct create_topics_response_config *common; /* Of all topics without settings of their own. */
    int32_t common_count;
};

#define CONFIGS_IN_ANSWER 5 /* From this version on. */

/* Every setting with its source (KIP-525). */
static int32_t list_configs(struct call *call, const struct meta_topic *topic,
                            struct create_topics_response_config **list)
{
    const struct api_options *options = &call_loop(call)->api->options;
    struct create_topics_response_config *configs = arena_calloc(&call->arena, MAX_SETTINGS,
                                                                 sizeof *configs);
    struct topic_config_base base = { options->topic_defaults, options->topic_default_count,
                                      broker_config_layers(call_loop(call)->view,
                                                           options->node_id) };
    struct topic_setting_row row;
    int32_t count = 0;
    while (configs != NULL && count < MAX_SETTINGS && topic_settings_row((unsigned)count, &row)) {
        enum config_source source;
        const char *value = topic_config_value(&row, topic, &base, &source);
        configs[count++] = (struct create_topics_response_config){
            .name = str_from(row.name),
            .value = str_from(value),
            .config_source = (int8_t)source,
        };
    }
    *list = configs;
    return count;
}

static void answer_configs(struct create_call *create, const struct meta_topic *topic,
                           struct create_topics_response_topic *answer)
{
    if (create->call->api_version < CONFIGS_IN_ANSWER) return;
    if (topic->setting_count > 0) {
        answer->configs.count = list_configs(create->call, topic, &answer->configs.items);
        return;
    }
    if (create->common == NULL)
        create->common_count = list_configs(create->call, topic, &create->common);
    answer->configs.items = create->common;
    answer->configs.count = create->common_count;
}

static void answer_created(struct create_call *create, const struct meta_topic *topic,
                           struct create_topics_response_topic *answer)
{
    answer->topic_id = topic->id;
    answer->num_partitions = (int32_t)topic->partition_count;
    answer->replication_factor = topic->partition_count > 0
                                     ? (int16_t)topic->partitions[0].replica_count
                                     : -1;
    answer_configs(create, topic, answer);
}

static void created(struct meta_request *request)
{
    struct create_call *create = LIST_OWNER(request, struct create_call, request);
    struct call *call = create->call;
    unsigned count = request->as.create_topics.count;
    struct create_topics_response response;
    message_defaults(&create_topics_response_shape, &response);
    struct create_topics_response_topic *answers = arena_calloc(&call->arena, count + 1u,
                                                                sizeof *answers);
    unsigned next = 0;
    for (unsigned i = 0; answers != NULL && i < count; i++) {
        struct meta_create_topic *topic = &create->topics[i];
        /* The quorum refused both, which is told once; but where all is refused, of each. */
        if (request->err == 0 && !create->repeats[i].is_first) continue;
        struct create_topics_response_topic *answer = &answers[next++];
        int err = request->err != 0 ? request->err : topic->err;
        int adopted = call_adopt_topic(call, topic->topic);
        if (err == 0) err = adopted;
        answer->name = topic->name;
        /* A full disk passes: with this code clients try again. */
        answer->error_code = error_kafka_code(err == ERR_NO_SPACE ? ERR_KAFKA_STORAGE_ERROR : err);
        answer->num_partitions = -1;
        answer->replication_factor = -1;
        answer->error_message = STR_NULL;
        answer->configs.count = 0;
        if (err != 0)
            answer->error_message = str_from(topic->why[0] != '\0' ? topic->why : error_text(err));
        else
            answer_created(create, topic->topic, answer);
    }
    response.topics.items = answers;
    response.topics.count = (int32_t)next;
    if (answers == NULL)
        call_refuse(call, error_text(ERR_NO_MEMORY));
    else
        api_reply(call, &create_topics_response_shape, &response);
}

static int convert_assignments(struct arena *arena,
                               const struct create_topics_request_topic *wanted,
                               struct meta_create_topic *topic)
{
    size_t count = (size_t)wanted->assignments.count;
    struct meta_assignment *assignments = arena_calloc(arena, count + 1, sizeof *assignments);
    if (assignments == NULL) return ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct create_topics_request_assignment *from = &wanted->assignments.items[i];
        assignments[i].partition = from->partition_index;
        assignments[i].brokers = from->broker_ids.items;
        assignments[i].broker_count = (unsigned)from->broker_ids.count;
    }
    topic->assignments = assignments;
    topic->assignment_count = (unsigned)count;
    return 0;
}

static int convert_settings(struct arena *arena, const struct create_topics_request_topic *wanted,
                            struct meta_create_topic *topic)
{
    size_t count = (size_t)wanted->configs.count;
    struct meta_wanted_setting *settings = arena_calloc(arena, count + 1, sizeof *settings);
    if (settings == NULL) return ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        settings[i].name = wanted->configs.items[i].name;
        settings[i].value = wanted->configs.items[i].value;
    }
    topic->settings = settings;
    topic->setting_count = (unsigned)count;
    return 0;
}

static int convert(struct arena *arena, const struct create_topics_request *request,
                   struct meta_create_topic *topics)
{
    int err = 0;
    for (int32_t i = 0; err == 0 && i < request->topics.count; i++) {
        const struct create_topics_request_topic *wanted = &request->topics.items[i];
        topics[i].name = wanted->name;
        topics[i].partition_count = wanted->num_partitions;
        topics[i].replication_factor = wanted->replication_factor;
        err = convert_assignments(arena, wanted, &topics[i]);
        if (err == 0) err = convert_settings(arena, wanted, &topics[i]);
    }
    return err;
}

static int note_repeats(const struct create_topics_request *request, struct repeat *notes)
{
    struct repeats repeats;
    repeats_init(&repeats);
    int err = 0;
    for (int32_t i = 0; err == 0 && i < request->topics.count; i++) {
        struct str name = request->topics.items[i].name;
        err = repeats_note(&repeats, name.data, (size_t)name.length, &notes[i]);
    }
    repeats_close(&repeats);
    return err;
}

void handle_create_topics(struct api_loop *loop, struct call *call,
                          struct create_topics_request *request)
{
    struct create_call *create = call_alloc(call, 1, sizeof *create);
    if (create == NULL) return;
    create->topics = call_alloc(call, (size_t)request->topics.count + 1,
                                sizeof(struct meta_create_topic));
    if (create->topics == NULL) return;
    create->repeats = call_alloc(call, (size_t)request->topics.count + 1, sizeof(struct repeat));
    if (create->repeats == NULL) return;
    if (convert(&call->arena, request, create->topics) != 0 ||
        note_repeats(request, create->repeats) != 0) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return;
    }
    create->call = call;
    create->request.kind = META_CREATE_TOPICS;
    create->request.loop = loop->loop;
    create->request.done = created;
    create->request.deadline_ms = clock_monotonic_us(loop->api->options.clock) / 1000 +
                                  request->timeout_ms;
    create->request.as.create_topics.items = create->topics;
    create->request.as.create_topics.count = (unsigned)request->topics.count;
    create->request.as.create_topics.validate_only = request->validate_only;
    create->request.as.create_topics.is_limited = true;
    meta_quorum_request(loop->api->options.meta, &create->request);
}
