// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "handlers.h"
#include "repeats.h"

struct delete_call {
    struct meta_request request;
    struct call *call;
    struct meta_delete_topic *topics;
    struct meta_delete_topic *refused; /* Named twice, or by name and id: not deleted. */
    unsigned refused_count;
};

static void answer_topic(struct call *call, int err, struct meta_delete_topic *topic,
                         struct delete_topics_response_topic *answer)
{
    int adopted = call_adopt_topic(call, topic->topic);
    if (err == 0) err = adopted;
    answer->name = topic->name;
    answer->topic_id = topic->id;
    answer->error_code = error_kafka_code(err);
    answer->error_message = err == 0 ? STR_NULL : str_from(error_text(err));
    if (err == 0) {
        answer->name = str_from(topic->topic->name);
        answer->topic_id = topic->topic->id;
    }
}

static void reply(struct delete_call *delete, int request_err)
{
    struct call *call = delete->call;
    unsigned count = delete->request.as.delete_topics.count;
    struct delete_topics_response response;
    message_defaults(&delete_topics_response_shape, &response);
    struct delete_topics_response_topic *answers = arena_calloc(
        &call->arena, count + delete->refused_count + 1u, sizeof *answers);
    for (unsigned i = 0; answers != NULL && i < count; i++) {
        struct meta_delete_topic *topic = &delete->topics[i];
        answer_topic(call, request_err != 0 ? request_err : topic->err, topic, &answers[i]);
    }
    for (unsigned i = 0; answers != NULL && i < delete->refused_count; i++)
        answer_topic(call, ERR_INVALID_REQUEST, &delete->refused[i], &answers[count + i]);
    response.responses.items = answers;
    response.responses.count = (int32_t)(count + delete->refused_count);
    if (answers == NULL)
        call_refuse(call, error_text(ERR_NO_MEMORY));
    else
        api_reply(call, &delete_topics_response_shape, &response);
}

static void deleted(struct meta_request *request)
{
    reply(LIST_OWNER(request, struct delete_call, request), request->err);
}

static int note_topic(struct repeats *repeats, const struct meta_view *view,
                      const struct meta_delete_topic *wanted, struct repeat *note)
{
    const struct meta_topic *topic = str_is_null(wanted->name)
                                         ? NULL
                                         : meta_view_topic(view, wanted->name);
    if (topic != NULL) return repeats_note(repeats, &topic->id, sizeof topic->id, note);
    if (str_is_null(wanted->name))
        return repeats_note(repeats, &wanted->id, sizeof wanted->id, note);
    return repeats_note(repeats, wanted->name.data, (size_t)wanted->name.length, note);
}

/* The first place that names a topic and a later one: if one has its name and the other its id, Kafka
 * answers with both. */
static void join(struct meta_delete_topic *first, const struct meta_delete_topic *later)
{
    if (str_is_null(first->name) == str_is_null(later->name)) return;
    if (str_is_null(first->name))
        first->name = later->name;
    else
        first->id = later->id;
}

/* A topic is named by name or by id, never by both, and once. What is not is refused before the quorum
 * hears of it: `refused` is what is answered at once. */
static int sort_out(struct call *call, struct delete_call *delete)
{
    struct repeats repeats;
    unsigned count = delete->request.as.delete_topics.count, kept = 0;
    struct meta_delete_topic *topics = delete->topics;
    struct repeat *notes = arena_calloc(&call->arena, count + 1u, sizeof *notes);
    delete->refused = arena_calloc(&call->arena, count + 1u, sizeof *delete->refused);
    int err = notes == NULL || delete->refused == NULL ? ERR_NO_MEMORY : 0;
    repeats_init(&repeats);
    for (unsigned i = 0; err == 0 && i < count; i++)
        err = note_topic(&repeats, call_loop(call)->view, &topics[i], &notes[i]);
    for (unsigned i = 0; err == 0 && i < count; i++)
        if (!notes[i].is_first) join(&topics[notes[i].first - notes], &topics[i]);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        bool is_named_once = str_is_null(topics[i].name) != uuid_is_zero(&topics[i].id);
        if (is_named_once && !notes[i].is_repeated)
            topics[kept++] = topics[i];
        else if (notes[i].is_first)
            delete->refused[delete->refused_count++] = topics[i];
    }
    repeats_close(&repeats);
    delete->request.as.delete_topics.count = kept;
    return err;
}

static unsigned convert(const struct delete_topics_request *request, int16_t version,
                        struct meta_delete_topic *topics)
{
    if (version < 6) {
        for (int32_t i = 0; i < request->topic_names.count; i++)
            topics[i].name = request->topic_names.items[i];
        return (unsigned)request->topic_names.count;
    }
    for (int32_t i = 0; i < request->topics.count; i++) {
        topics[i].name = request->topics.items[i].name;
        topics[i].id = request->topics.items[i].topic_id;
    }
    return (unsigned)request->topics.count;
}

void handle_delete_topics(struct api_loop *loop, struct call *call,
                          struct delete_topics_request *request)
{
    size_t most = (size_t)request->topics.count + (size_t)request->topic_names.count;
    struct delete_call *delete = call_alloc(call, 1, sizeof *delete);
    if (delete == NULL) return;
    delete->topics = call_alloc(call, most + 1, sizeof(struct meta_delete_topic));
    if (delete->topics == NULL) return;
    delete->call = call;
    delete->request.kind = META_DELETE_TOPICS;
    delete->request.loop = loop->loop;
    delete->request.done = deleted;
    delete->request.deadline_ms = clock_monotonic_us(loop->api->options.clock) / 1000 +
                                  request->timeout_ms;
    delete->request.as.delete_topics.items = delete->topics;
    delete->request.as.delete_topics.count = convert(request, call->api_version, delete->topics);
    if (!loop->api->options.delete_topics) {
        /* Before version 3 clients do not know the code for it. */
        reply(delete, call->api_version < 3 ? ERR_INVALID_REQUEST : ERR_TOPIC_DELETION_DISABLED);
        return;
    }
    if (sort_out(call, delete) != 0) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return;
    }
    meta_quorum_request(loop->api->options.meta, &delete->request);
}
