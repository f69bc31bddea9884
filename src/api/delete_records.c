// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "handlers.h"
#include "partition_trim.h"
#include "repeats.h"

#define LONGEST_TOPIC_NAME 249

struct trim_part {
    struct partition_trim trim;
    struct trim_call *call;
    struct data_dir *dir; /* Whose checkpoint makes it last; NULL: nothing to wait for. */
    struct delete_records_response_partition *answer;
};

struct trim_call {
    struct call *call;
    struct api_loop *loop;
    struct job job;
    struct message trimmed;
    atomic_uint open_count; /* Parts on their way, and one for whoever starts them. */
    unsigned part_count;
    struct trim_part *parts;
    struct delete_records_response response;
};

static void reply(struct message *message)
{
    struct trim_call *trims = LIST_OWNER(message, struct trim_call, trimmed);
    for (unsigned i = 0; i < trims->part_count; i++) {
        struct trim_part *part = &trims->parts[i];
        int err = part->trim.err == ERR_NO_SPACE ? ERR_KAFKA_STORAGE_ERROR : part->trim.err;
        part->answer->error_code = error_kafka_code(err);
        if (err == 0) part->answer->low_watermark = part->trim.start_offset;
    }
    api_reply(trims->call, &delete_records_response_shape, &trims->response);
}

/* What is answered as deleted stays so: the new starts are on disk first, with one write for each folder
 * and not for each partition. */
static void make_durable(struct job *job)
{
    struct trim_call *trims = LIST_OWNER(job, struct trim_call, job);
    for (unsigned i = 0; i < trims->part_count; i++) {
        struct data_dir *dir = trims->parts[i].dir;
        if (dir == NULL) continue;
        int err = data_dir_write_checkpoints(dir);
        for (unsigned k = i; k < trims->part_count; k++) {
            struct trim_part *part = &trims->parts[k];
            if (part->dir != dir) continue;
            part->dir = NULL;
            if (err != 0) part->trim.err = ERR_KAFKA_STORAGE_ERROR;
        }
    }
    loop_post(trims->loop->loop, &trims->trimmed);
}

static void one_less(struct trim_call *trims)
{
    if (atomic_fetch_sub(&trims->open_count, 1) == 1)
        executor_submit(trims->loop->api->options.disk, &trims->job);
}

static void part_done(struct partition_trim *trim)
{
    struct trim_part *part = LIST_OWNER(trim, struct trim_part, trim);
    if (trim->err == 0) part->dir = trim->partition->dir;
    one_less(part->call);
}

/* ---- the request ---- */

static int find_partition(struct api_loop *loop, struct str topic_name, int32_t index,
                          struct api_partition **known)
{
    const struct meta_topic *topic = meta_view_topic(loop->view, topic_name);
    int err = api_find_named(loop, topic, index, known);
    bool exists = err != ERR_UNKNOWN_TOPIC_OR_PARTITION;
    return exists && api_topic_is_internal(str_from(topic->name)) ? ERR_INVALID_TOPIC : err;
}

static void start_part(struct trim_part *part, struct str topic,
                       const struct delete_records_request_partition *wanted)
{
    struct api_partition *known = NULL;
    part->answer->partition_index = wanted->partition_index;
    part->answer->low_watermark = -1;
    part->trim.offset = wanted->offset;
    part->trim.done = part_done;
    part->trim.err = find_partition(part->call->loop, topic, wanted->partition_index, &known);
    if (part->trim.err != 0) return;
    atomic_fetch_add(&part->call->open_count, 1);
    partition_trim(known->partition, &part->trim);
}

/* Of a partition that is named again only the last one counts: notes it as the first, seen from behind. 0
 * or ERR_NO_MEMORY. */
static int note_repeats(const struct delete_records_request *request, struct repeat *notes,
                        unsigned count)
{
    struct repeats repeats;
    repeats_init(&repeats);
    int err = 0;
    for (int32_t i = request->topics.count - 1; err == 0 && i >= 0; i--) {
        const struct delete_records_request_topic *topic = &request->topics.items[i];
        struct {
            int32_t partition;
            char name[LONGEST_TOPIC_NAME];
        } key;
        size_t length = (size_t)topic->name.length;
        /* Longer names are no topic's: they need not be told apart. */
        if (length > sizeof key.name) length = sizeof key.name;
        memcpy(key.name, topic->name.data, length);
        for (int32_t k = topic->partitions.count - 1; err == 0 && k >= 0; k--) {
            key.partition = topic->partitions.items[k].partition_index;
            err = repeats_note(&repeats, &key, sizeof key.partition + length, &notes[--count]);
        }
    }
    repeats_close(&repeats);
    return err;
}

static void start_all(struct trim_call *trims, const struct delete_records_request *request,
                      const struct repeat *notes, struct delete_records_response_partition *answers)
{
    struct delete_records_response_topic *topics = trims->response.topics.items;
    unsigned next = 0;
    for (int32_t i = 0; i < request->topics.count; i++) {
        const struct delete_records_request_topic *wanted = &request->topics.items[i];
        struct delete_records_response_topic *topic = &topics[trims->response.topics.count];
        topic->name = wanted->name;
        topic->partitions.items = &answers[trims->part_count];
        for (int32_t k = 0; k < wanted->partitions.count; k++) {
            if (!notes[next++].is_first) continue;
            struct trim_part *part = &trims->parts[trims->part_count];
            part->call = trims;
            part->answer = &answers[trims->part_count++];
            topic->partitions.count++;
            start_part(part, wanted->name, &wanted->partitions.items[k]);
        }
        if (topic->partitions.count > 0) trims->response.topics.count++;
    }
}

void handle_delete_records(struct api_loop *loop, struct call *call,
                           struct delete_records_request *request)
{
    unsigned most = 0;
    for (int32_t i = 0; i < request->topics.count; i++)
        most += (unsigned)request->topics.items[i].partitions.count;
    struct trim_call *trims = arena_zalloc(&call->arena, sizeof *trims);
    struct trim_part *parts = arena_calloc(&call->arena, most + 1u, sizeof *parts);
    struct repeat *notes = arena_calloc(&call->arena, most + 1u, sizeof *notes);
    struct delete_records_response_partition *answers = arena_calloc(&call->arena, most + 1u,
                                                                     sizeof *answers);
    struct delete_records_response_topic *topics = arena_calloc(
        &call->arena, (size_t)request->topics.count + 1, sizeof *topics);
    if (trims == NULL || parts == NULL || notes == NULL || answers == NULL || topics == NULL ||
        note_repeats(request, notes, most) != 0) {
        call_refuse(call, error_text(ERR_NO_MEMORY));
        return;
    }
    message_defaults(&delete_records_response_shape, &trims->response);
    trims->response.topics.items = topics;
    trims->call = call;
    trims->loop = loop;
    trims->parts = parts;
    job_init(&trims->job, make_durable);
    message_init(&trims->trimmed, reply);
    atomic_init(&trims->open_count, 1);
    start_all(trims, request, notes, answers);
    one_less(trims);
}
