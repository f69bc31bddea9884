// SPDX-License-Identifier: Apache-2.0
#include "error.h"
#include "fetch_call.h"

static void answer_part(struct fetch_part *part, int16_t version)
{
    struct fetch_response_partition *answer = part->answer;
    const struct partition_read *read = &part->read;
    int err = part->err != 0 ? part->err : read->err;
    /* Still opening: of the codes that consumers know here, the one that lets all of them ask again. */
    if (err == ERR_LEADER_NOT_AVAILABLE) err = ERR_NOT_LEADER_OR_FOLLOWER;
    answer->error_code = error_kafka_code(err);
    answer->high_watermark = -1;
    answer->records = (struct records){ (const uint8_t *)"", 0, NULL };
    if (part->partition == NULL) return;
    if (err == 0) {
        answer->high_watermark = read->high_watermark;
        answer->last_stable_offset = read->last_stable_offset;
        answer->log_start_offset = read->log_start_offset;
    }
    if (read->has_diverged && version >= 12) {
        answer->diverging_epoch.epoch = read->diverging_epoch;
        answer->diverging_epoch.end_offset = read->diverging_end;
    }
    /* KIP-951 */
    if (version >= 12 && (err == ERR_NOT_LEADER_OR_FOLLOWER || err == ERR_FENCED_LEADER_EPOCH)) {
        answer->current_leader.leader_id = read->leader;
        answer->current_leader.leader_epoch = read->leader_epoch;
    }
}

/* A reader of committed records is given a list, also an empty one. So is, in Kafka, who asks for what is
 * not there. */
static int tell_aborted(struct fetch_call *fetch, struct fetch_part *part)
{
    const struct aborted_list *aborted = &part->read.aborted;
    struct fetch_response_aborted_transaction *told;
    if (part->err != 0 && part->err != ERR_NOT_LEADER_OR_FOLLOWER)
        part->answer->aborted_transactions.count = 0;
    if (part->answer->error_code != 0 || !part->read.read_committed) return 0;
    told = arena_calloc(&fetch->call->arena, aborted->count + 1, sizeof *told);
    if (told == NULL) return ERR_NO_MEMORY;
    for (size_t i = 0; i < aborted->count; i++)
        told[i] = (struct fetch_response_aborted_transaction){ aborted->items[i].producer_id,
                                                               aborted->items[i].first_offset };
    part->answer->aborted_transactions.items = told;
    part->answer->aborted_transactions.count = (int32_t)aborted->count;
    return 0;
}

struct slice_owner {
    struct file_slice slice;
};

static void release_moved(void *owner)
{
    file_slice_release(&((struct slice_owner *)owner)->slice);
}

/* Records leave as slices of the segment (DESIGN 3.2), which belong to the call from here on. */
static int attach_records(struct fetch_call *fetch, struct fetch_part *part)
{
    struct file_slice *slice = &part->read.slice;
    struct arena *arena = &fetch->call->arena;
    struct slice_owner *moved = arena_alloc(arena, sizeof *moved);
    if (moved == NULL) return ERR_NO_MEMORY;
    moved->slice = *slice;
    int err = arena_adopt(arena, moved, 0, release_moved);
    if (err != 0) return err;
    partition_note_fetched(part->partition, slice->length);
    slice->release = NULL;
    part->answer->records = (struct records){ NULL, (int32_t)moved->slice.length, &moved->slice };
    return 0;
}

/* KIP-951 */
static int name_leader(struct fetch_call *fetch)
{
    struct node_endpoint *endpoint = arena_zalloc(&fetch->call->arena, sizeof *endpoint);
    if (endpoint == NULL) return ERR_NO_MEMORY;
    for (unsigned i = 0; i < fetch->part_count; i++) {
        int32_t leader = fetch->parts[i].answer->current_leader.leader_id;
        if (leader < 0) continue;
        fetch->response.node_endpoints.count = (int32_t)api_leader_endpoint(fetch->call, leader,
                                                                            endpoint);
        fetch->response.node_endpoints.items = endpoint;
        break;
    }
    return 0;
}

static bool same_topic(const struct fetch_part *a, const struct fetch_part *b)
{
    return a->topic == b->topic ||
           (uuid_equal(a->topic_id, b->topic_id) && str_equal(*a->topic, *b->topic));
}

/* Parts one after the other that are of one topic stand below one name. `count` is theirs. */
static int name_topics(struct fetch_call *fetch, struct fetch_part **told, unsigned count,
                       struct fetch_response_partition *answers)
{
    unsigned topic_count = 0;
    for (unsigned i = 0; i < count; i++)
        if (i == 0 || !same_topic(told[i - 1], told[i])) topic_count++;
    struct fetch_response_topic *topics = arena_calloc(&fetch->call->arena, topic_count + 1u,
                                                       sizeof *topics);
    if (topics == NULL) return ERR_NO_MEMORY;
    fetch->response.responses.items = topics;
    for (unsigned i = 0; i < count; i++) {
        if (i == 0 || !same_topic(told[i - 1], told[i])) {
            struct fetch_response_topic *topic = &topics[fetch->response.responses.count++];
            topic->topic = *told[i]->topic;
            topic->topic_id = *told[i]->topic_id;
            topic->partitions.items = &answers[i];
        }
        topics[fetch->response.responses.count - 1].partitions.count++;
    }
    return 0;
}

/* What is not told: named again (rule 6), or no news to its session. */
static bool is_left_out(const struct fetch_call *fetch, const struct fetch_part *part)
{
    if (part->again_of != NULL) return true;
    return fetch->session != NULL && !fetch_session_tell(fetch->session, part->cached, part->answer,
                                                         (int64_t)part->read.slice.length);
}

/* Puts what is to be told at the front of `told` and of `answers`, what is not there behind the others;
 * returns how much it is. `answers` may be those of the parts if that moves nothing back. */
static unsigned select_news(struct fetch_call *fetch, struct fetch_part **told,
                            struct fetch_response_partition *answers)
{
    unsigned count = 0;
    for (int absent = 0; absent <= 1; absent++) {
        for (unsigned i = 0; i < fetch->part_count; i++) {
            struct fetch_part *part = &fetch->parts[i];
            if ((part->err != 0) != (absent != 0) || is_left_out(fetch, part)) continue;
            if (&answers[count] != part->answer) answers[count] = *part->answer;
            part->answer = &answers[count];
            told[count++] = part;
        }
    }
    return count;
}

/* Where the answers go in the order in which they are told. NULL: out of memory. */
static struct fetch_response_partition *place_answers(struct fetch_call *fetch,
                                                      struct fetch_response_partition *answers)
{
    bool is_in_order = true;
    for (unsigned i = 0; is_in_order && i < fetch->part_count; i++)
        is_in_order = fetch->parts[i].err == 0 && fetch->parts[i].again_of == NULL;
    if (is_in_order && answers != NULL) return answers;
    return arena_calloc(&fetch->call->arena, fetch->part_count + 1u, sizeof *answers);
}

/* Only a client that will hear of it gets a session. */
static void open_session(struct fetch_call *fetch, const struct fetch_response_partition *answers)
{
    if (fetch->request->session_epoch != 0 || fetch->is_follower || fetch->session != NULL ||
        fetch->call->connection == NULL)
        return;
    fetch->response.session_id = fetch_session_create(fetch->loop->api->options.fetch_sessions,
                                                      fetch->request, fetch->call->api_version,
                                                      answers);
}

int fetch_build_response(struct fetch_call *fetch)
{
    struct fetch_response_partition *answers = fetch->part_count == 0 ? NULL
                                                                      : fetch->parts[0].answer;
    struct fetch_part **told = arena_calloc(&fetch->call->arena, fetch->part_count + 1u,
                                            sizeof *told);
    struct fetch_response_partition *ordered = place_answers(fetch, answers);
    if (told == NULL || ordered == NULL) return ERR_NO_MEMORY;
    for (unsigned i = 0; i < fetch->part_count; i++)
        answer_part(&fetch->parts[i], fetch->call->api_version);
    for (unsigned i = 0; i < fetch->part_count; i++)
        if (fetch->parts[i].again_of != NULL)
            *fetch->parts[i].answer = *fetch->parts[i].again_of->answer;
    if (fetch->session != NULL) {
        fetch->response.session_id = fetch_session_id(fetch->session);
        if (!fetch_session_lock(fetch->session, fetch->request->session_epoch)) {
            fetch->response.error_code = error_kafka_code(ERR_INVALID_FETCH_SESSION_EPOCH);
            return 0;
        }
    }
    unsigned count = select_news(fetch, told, ordered);
    if (fetch->session != NULL) fetch_session_unlock(fetch->session);
    open_session(fetch, answers);
    int err = name_topics(fetch, told, count, ordered);
    if (err == 0 && fetch->call->api_version >= 16) err = name_leader(fetch);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        err = tell_aborted(fetch, told[i]);
        if (err == 0 && told[i]->read.slice.length > 0) err = attach_records(fetch, told[i]);
    }
    return err;
}
