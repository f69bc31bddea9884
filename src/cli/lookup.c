// SPDX-License-Identifier: Apache-2.0
#include "lookup.h"

#include <time.h>

#include "admin_client.h"
#include "error.h"
#include "metadata.h"
#include "output.h"

#define ARENA_LIMIT ((size_t)64 * 1024 * 1024)
#define RETRY_MS    50

/* One question. `*partitions` is valid when 0 is returned and `*topic_error` is 0. */
static int ask_once(struct admin_client *client, const char *topic, bool create, int16_t version,
                    enum err *topic_error, int32_t *partitions)
{
    struct metadata_request_topic name;
    struct metadata_request request;
    struct metadata_response response;
    struct arena arena;
    shape_defaults(&metadata_request_topic_shape, &name);
    message_defaults(&metadata_request_shape, &request);
    name.name = str_from(topic);
    request.topics.items = &name;
    request.topics.count = 1;
    request.allow_auto_topic_creation = create;

    arena_init(&arena, NULL, 0, ARENA_LIMIT);
    int err = admin_client_call(client, &admin_metadata, version, &request, &arena, &response);
    if (err == 0 && response.topics.count == 1) {
        const struct metadata_response_topic *answer = &response.topics.items[0];
        *topic_error = answer->error_code == 0 ? ERR_NONE
                                               : error_from_kafka_code(answer->error_code);
        *partitions = answer->partitions.count;
        for (int32_t i = 0; i < answer->partitions.count && *topic_error == 0; i++)
            if (create && answer->partitions.items[i].leader_id < 0)
                *topic_error = ERR_LEADER_NOT_AVAILABLE; /* just created */
    } else if (err == 0) {
        *topic_error = ERR_UNKNOWN_TOPIC_OR_PARTITION;
    }
    arena_close(&arena);
    return err;
}

static void complain(const char *topic, enum err topic_error)
{
    bool is_missing = topic_error == ERR_UNKNOWN_TOPIC_OR_PARTITION;
    output_complain("topic '%s': %s", topic,
                    is_missing ? "it does not exist" : error_text(topic_error));
    if (is_missing)
        output_hint("create it: sluice topic create %s", topic);
    else if (topic_error == ERR_INVALID_TOPIC)
        output_hint("a name has 1 to 249 letters, digits, dots, dashes and underscores");
}

int lookup_partitions(const struct common_settings *common, const char *topic, bool create,
                      int32_t *partitions)
{
    struct admin_client client;
    int16_t version = 0;
    int32_t found = 0;
    enum err topic_error = ERR_UNKNOWN_TOPIC_OR_PARTITION;
    int err = admin_client_open(&client, common->bootstrap_server, common->timeout_s * 1000);
    if (err == 0) err = admin_client_version(&client, &admin_metadata, &version);
    for (int64_t waited_ms = 0; err == 0 && waited_ms <= common->timeout_s * 1000;
         waited_ms += RETRY_MS) {
        err = ask_once(&client, topic, create, version, &topic_error, &found);
        bool is_on_its_way = topic_error == ERR_LEADER_NOT_AVAILABLE ||
                             (create && topic_error == ERR_UNKNOWN_TOPIC_OR_PARTITION);
        if (err != 0 || !is_on_its_way) break;
        /* A broker that creates no topics says "unknown" for good: two seconds show it. */
        if (topic_error == ERR_UNKNOWN_TOPIC_OR_PARTITION && waited_ms >= 2000) break;
        nanosleep(&(struct timespec){ 0, RETRY_MS * 1000000L }, NULL);
    }
    if (err != 0) {
        output_complain("%s", client.failure[0] != '\0' ? client.failure : error_text(err));
        if (client.hint[0] != '\0') output_hint("%s", client.hint);
    } else if (topic_error != 0) {
        complain(topic, topic_error);
        err = topic_error;
    }
    admin_client_close(&client);
    if (err == 0) *partitions = found;
    return err;
}
