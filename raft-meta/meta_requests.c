// SPDX-License-Identifier: Apache-2.0
#include "meta_requests.h"

#include <assert.h>
#include <stdio.h>

#include "alloc.h"
#include "alter_settings.h"
#include "error.h"
#include "request_size.h"

#define NOT_YET (-1) /* The index of a proposal whose batch has no place yet. */

void meta_requests_init(struct meta_requests *requests, struct loop *loop)
{
    *requests = (struct meta_requests){ .loop = loop };
    list_init(&requests->fresh);
    list_init(&requests->proposed);
    list_init(&requests->finished);
    buffer_init(&requests->bytes);
    buffer_init(&requests->sizes);
}

void meta_requests_close(struct meta_requests *requests)
{
    assert(list_is_empty(&requests->fresh) && list_is_empty(&requests->proposed) &&
           list_is_empty(&requests->finished));
    mem_free(requests->proposals);
    mem_free(requests->entries);
    buffer_close(&requests->bytes);
    buffer_close(&requests->sizes);
}

/* ---- one request ---- */

static void move_to(struct list *list, struct meta_request *request)
{
    list_remove(&request->node);
    list_push_back(list, &request->node);
}

static void request_finish(struct meta_requests *requests, struct meta_request *request)
{
    timer_cancel(requests->loop, &request->timer);
    move_to(&requests->finished, request);
}

static void create_item_fail(struct meta_create_topic *item, int err)
{
    meta_topic_unref(item->topic);
    item->topic = NULL;
    item->err = err;
    snprintf(item->why, sizeof item->why, "%s", error_text(err));
}

static void alter_item_fail(struct meta_alter_settings *item, int err)
{
    item->err = err;
    snprintf(item->why, sizeof item->why, "%s", error_text(err));
}

static void add_item_fail(struct meta_add_partitions *item, int err)
{
    item->err = err;
    snprintf(item->why, sizeof item->why, "%s", error_text(err));
}

static void request_fail(struct meta_requests *requests, struct meta_request *request, int err)
{
    request->err = err;
    if (request->kind == META_ADD_PARTITIONS)
        for (unsigned i = 0; i < request->as.add_partitions.count; i++)
            add_item_fail(&request->as.add_partitions.items[i], err);
    if (request->kind == META_CREATE_TOPICS)
        for (unsigned i = 0; i < request->as.create_topics.count; i++)
            create_item_fail(&request->as.create_topics.items[i], err);
    if (request->kind == META_DELETE_TOPICS)
        for (unsigned i = 0; i < request->as.delete_topics.count; i++) {
            struct meta_delete_topic *item = &request->as.delete_topics.items[i];
            meta_topic_unref(item->topic);
            item->topic = NULL;
            item->err = err;
        }
    if (request->kind == META_ALTER_SETTINGS)
        for (unsigned i = 0; i < request->as.alter_settings.count; i++)
            alter_item_fail(&request->as.alter_settings.items[i], err);
    request_finish(requests, request);
}

static void request_clear(struct meta_request *request)
{
    request->err = 0;
    request->open_count = 0;
    if (request->kind == META_CREATE_TOPICS)
        for (unsigned i = 0; i < request->as.create_topics.count; i++)
            request->as.create_topics.items[i].topic = NULL;
    if (request->kind == META_DELETE_TOPICS)
        for (unsigned i = 0; i < request->as.delete_topics.count; i++)
            request->as.delete_topics.items[i].topic = NULL;
}

/* ---- proposals ---- */

static struct meta_proposal *proposal_at(struct meta_requests *requests, unsigned position)
{
    return &requests->proposals[(requests->first + position) % requests->capacity];
}

static int proposal_reserve(struct meta_requests *requests)
{
    if (requests->count < requests->capacity) return 0;
    unsigned capacity = requests->capacity == 0 ? 64 : requests->capacity * 2;
    struct meta_proposal *proposals = mem_calloc(capacity, sizeof *proposals);
    if (proposals == NULL) return ERR_NO_MEMORY;
    for (unsigned i = 0; i < requests->count; i++)
        proposals[i] = *proposal_at(requests, i);
    mem_free(requests->proposals);
    requests->proposals = proposals;
    requests->first = 0;
    requests->capacity = capacity;
    return 0;
}

static void proposals_forget(struct meta_requests *requests, const struct meta_request *request)
{
    for (unsigned i = 0; i < requests->count; i++)
        if (proposal_at(requests, i)->request == request) proposal_at(requests, i)->request = NULL;
}

/* Adds a command to the batch. */
static int propose(struct meta_requests *requests, struct meta_request *request, unsigned item,
                   const struct meta_command *command)
{
    size_t before = requests->bytes.length;
    int err = proposal_reserve(requests);
    if (err != 0) return err;
    meta_command_encode(command, &requests->bytes);
    size_t size = requests->bytes.length - before;
    buffer_put(&requests->sizes, &size, sizeof size);
    if (requests->bytes.failed || requests->sizes.failed) return ERR_NO_MEMORY;
    requests->batch_count++;
    requests->count++;
    *proposal_at(requests, requests->count - 1) = (struct meta_proposal){ NOT_YET, request, item };
    request->open_count++;
    return 0;
}

/* ---- from requests to commands ---- */

/* Where the batch ended before a request added to it. */
struct batch_end {
    size_t bytes, sizes;
    unsigned batch_count, count;
};

static struct batch_end batch_end(const struct meta_requests *requests)
{
    return (struct batch_end){ requests->bytes.length, requests->sizes.length,
                               requests->batch_count, requests->count };
}

/* Takes back what was added since. */
static void batch_rewind(struct meta_requests *requests, const struct batch_end *end)
{
    requests->bytes.length = end->bytes;
    requests->sizes.length = end->sizes;
    requests->batch_count = end->batch_count;
    requests->count = end->count;
}

static int build_create(struct meta_requests *requests, const struct controller *controller,
                        struct meta_request *request, unsigned item, uint64_t *records)
{
    struct meta_create_topic *wanted = &request->as.create_topics.items[item];
    struct meta_command command = { .kind = META_TOPIC_CREATED };
    struct uuid id;
    struct arena arena;
    char memory[4096];
    if (wanted->err != 0) return 0; /* Named twice. */
    id = wanted->id;
    int err = uuid_is_zero(&id) ? uuid_random(&id) : 0;
    if (err != 0) {
        create_item_fail(wanted, ERR_UNKNOWN_SERVER_ERROR);
        return 0;
    }
    arena_init(&arena, memory, sizeof memory, SIZE_MAX);
    const struct meta_topic *topic = &command.as.topic_created.topic;
    if (controller_create_topic(controller, wanted, &id, &arena, &command.as.topic_created.topic) ==
        0) {
        *records += request_size_records(topic);
        if (request->as.create_topics.validate_only) {
            wanted->topic = meta_topic_copy(topic);
            if (wanted->topic == NULL) err = ERR_NO_MEMORY;
        } else {
            err = propose(requests, request, item, &command);
        }
    }
    arena_close(&arena);
    return err;
}

static void refuse_creates(struct meta_request *request)
{
    request->err = ERR_POLICY_VIOLATION;
    request->open_count = 0;
    for (unsigned i = 0; i < request->as.create_topics.count; i++) {
        struct meta_create_topic *item = &request->as.create_topics.items[i];
        create_item_fail(item, ERR_POLICY_VIOLATION);
        snprintf(item->why, sizeof item->why,
                 "One request may create %d topics, settings and partitions in all, which no "
                 "setting changes: create a topic with fewer partitions, then add to them.",
                 REQUEST_SIZE_MAX);
    }
}

static int build_creates(struct meta_requests *requests, const struct controller *controller,
                         struct meta_request *request)
{
    struct meta_create_topic *items = request->as.create_topics.items;
    unsigned count = request->as.create_topics.count;
    struct batch_end end = batch_end(requests);
    uint64_t records = 0;
    int err = controller_mark_repeated(items, count);
    bool is_limited = request->as.create_topics.is_limited;
    bool is_too_much = err == 0 && is_limited &&
                       request_size_creates_too_many(items, count, controller->default_partitions);
    for (unsigned i = 0; err == 0 && !is_too_much && i < count; i++) {
        err = build_create(requests, controller, request, i, &records);
        is_too_much = is_limited && records > REQUEST_SIZE_MAX;
    }
    if (err != 0 || !is_too_much) return err;
    batch_rewind(requests, &end);
    refuse_creates(request);
    return 0;
}

static int build_add(struct meta_requests *requests, const struct controller *controller,
                     struct meta_request *request, unsigned item)
{
    struct meta_add_partitions *wanted = &request->as.add_partitions.items[item];
    struct meta_command command = { .kind = META_PARTITIONS_ADDED };
    struct meta_partitions_added *added = &command.as.partitions_added;
    struct arena arena;
    char memory[4096];
    int err = 0;
    arena_init(&arena, memory, sizeof memory, SIZE_MAX);
    if (controller_add_partitions(controller, wanted, &arena, added) == 0 &&
        !request->as.add_partitions.validate_only)
        err = propose(requests, request, item, &command);
    arena_close(&arena);
    return err;
}

static int build_adds(struct meta_requests *requests, const struct controller *controller,
                      struct meta_request *request)
{
    struct meta_add_partitions *items = request->as.add_partitions.items;
    unsigned count = request->as.add_partitions.count;
    int err = 0;
    if (request_size_adds_too_many(controller->state, items, count)) {
        request->err = ERR_POLICY_VIOLATION;
        for (unsigned i = 0; i < count; i++) {
            add_item_fail(&items[i], ERR_POLICY_VIOLATION);
            snprintf(items[i].why, sizeof items[i].why,
                     "One request may add %d partitions, which no setting changes: add them with "
                     "more than one.",
                     REQUEST_SIZE_MAX);
        }
        return 0;
    }
    for (unsigned i = 0; err == 0 && i < count; i++)
        err = build_add(requests, controller, request, i);
    return err;
}

static int build_delete(struct meta_requests *requests, const struct controller *controller,
                        struct meta_request *request, unsigned item)
{
    const struct meta_topic *topic = NULL;
    struct meta_delete_topic *wanted = &request->as.delete_topics.items[item];
    if (controller_delete_topic(controller, wanted, &topic) != 0) return 0;
    struct meta_command command = { .kind = META_TOPIC_DELETED, .as.topic_deleted = { topic->id } };
    return propose(requests, request, item, &command);
}

static int build_producer_ids(struct meta_requests *requests, int32_t broker,
                              struct meta_request *request)
{
    if (request->as.producer_ids.count < 1) {
        request->err = ERR_INVALID_REQUEST;
        return 0;
    }
    struct meta_command command = {
        .kind = META_PRODUCER_IDS_TAKEN,
        .as.producer_ids_taken = { broker, request->as.producer_ids.count },
    };
    return propose(requests, request, 0, &command);
}

static int build_alter(struct meta_requests *requests, const struct controller *controller,
                       struct meta_request *request, unsigned item)
{
    struct meta_command command;
    struct arena arena;
    char memory[4096];
    int err = 0;
    arena_init(&arena, memory, sizeof memory, SIZE_MAX);
    if (controller_alter_settings(controller, &request->as.alter_settings.items[item], &arena,
                                  &command) == 0 &&
        !request->as.alter_settings.validate_only)
        err = propose(requests, request, item, &command);
    arena_close(&arena);
    return err;
}

static int build_request(struct meta_requests *requests, const struct controller *controller,
                         struct meta_request *request)
{
    int err = 0;
    switch (request->kind) {
    case META_CREATE_TOPICS: err = build_creates(requests, controller, request); break;
    case META_ADD_PARTITIONS: err = build_adds(requests, controller, request); break;
    case META_DELETE_TOPICS:
        for (unsigned i = 0; err == 0 && i < request->as.delete_topics.count; i++)
            err = build_delete(requests, controller, request, i);
        break;
    case META_ALLOCATE_PRODUCER_IDS:
        err = build_producer_ids(requests, controller->node_id, request);
        break;
    case META_ALTER_SETTINGS:
        for (unsigned i = 0; err == 0 && i < request->as.alter_settings.count; i++)
            err = build_alter(requests, controller, request, i);
        break;
    }
    return err;
}

static int batch_entries(struct meta_requests *requests, struct meta_entry **entries)
{
    struct meta_entry *grown = mem_realloc(requests->entries,
                                           (requests->batch_count + 1) * sizeof *requests->entries);
    if (grown == NULL) return ERR_NO_MEMORY;
    requests->entries = grown;
    const uint8_t *at = requests->bytes.data;
    for (unsigned i = 0; i < requests->batch_count; i++) {
        size_t size;
        memcpy(&size, requests->sizes.data + i * sizeof size, sizeof size);
        grown[i] = (struct meta_entry){ .type = META_ENTRY_COMMAND,
                                        .payload = { at, (int32_t)size } };
        at += size;
    }
    *entries = grown;
    return 0;
}

/* The newest proposals, whose batch came to nothing, with their requests. */
static void batch_fail(struct meta_requests *requests, int err)
{
    while (requests->count > 0) {
        struct meta_proposal *proposal = proposal_at(requests, requests->count - 1);
        if (proposal->index != NOT_YET) break;
        struct meta_request *request = proposal->request;
        requests->count--;
        if (request == NULL) continue;
        proposals_forget(requests, request);
        request_fail(requests, request, err);
    }
    requests->batch_count = 0;
}

int meta_requests_build(struct meta_requests *requests, const struct controller *controller,
                        struct meta_entry **entries, unsigned *count)
{
    struct list *node;
    int err = 0;
    requests->bytes.length = requests->sizes.length = 0;
    requests->bytes.failed = requests->sizes.failed = false;
    requests->batch_count = 0;
    while (err == 0 && (node = list_pop_front(&requests->fresh)) != NULL) {
        struct meta_request *request = LIST_OWNER(node, struct meta_request, node);
        err = build_request(requests, controller, request);
        list_push_back(&requests->proposed, node);
        if (err == 0 && request->open_count == 0) request_finish(requests, request);
        if (err != 0) {
            proposals_forget(requests, request);
            request_fail(requests, request, err);
        }
    }
    if (err == 0) err = batch_entries(requests, entries);
    if (err != 0) {
        batch_fail(requests, err);
        while ((node = requests->fresh.next) != &requests->fresh)
            request_fail(requests, LIST_OWNER(node, struct meta_request, node), err);
        return err;
    }
    *count = requests->batch_count;
    return 0;
}

void meta_requests_submitted(struct meta_requests *requests, int64_t first_index, int err)
{
    if (err != 0) {
        batch_fail(requests, err);
        return;
    }
    for (unsigned i = 0; i < requests->batch_count; i++)
        proposal_at(requests, requests->count - requests->batch_count + i)->index = first_index + i;
    requests->batch_count = 0;
}

/* ---- from outcomes to answers ---- */

static void answer_create(struct meta_create_topic *item, struct meta_outcome *outcome)
{
    if (outcome->err != 0) {
        create_item_fail(item, outcome->err);
        return;
    }
    item->topic = outcome->topic;
    outcome->topic = NULL;
}

static void answer_delete(struct meta_delete_topic *item, struct meta_outcome *outcome)
{
    item->err = outcome->err;
    /* Somebody else was first; who asked by name has given no id. */
    if (item->err == ERR_UNKNOWN_TOPIC_ID && !str_is_null(item->name))
        item->err = ERR_UNKNOWN_TOPIC_OR_PARTITION;
    item->topic = outcome->topic;
    outcome->topic = NULL;
}

static void answer_add(struct meta_add_partitions *item, const struct meta_outcome *outcome)
{
    /* Deleted meanwhile; it was named by its name. */
    int err = outcome->err == ERR_UNKNOWN_TOPIC_ID ? ERR_UNKNOWN_TOPIC_OR_PARTITION : outcome->err;
    if (err != 0) add_item_fail(item, err);
}

static void answer(struct meta_request *request, unsigned item, struct meta_outcome *outcome)
{
    switch (request->kind) {
    case META_CREATE_TOPICS: answer_create(&request->as.create_topics.items[item], outcome); break;
    case META_ADD_PARTITIONS: answer_add(&request->as.add_partitions.items[item], outcome); break;
    case META_DELETE_TOPICS: answer_delete(&request->as.delete_topics.items[item], outcome); break;
    case META_ALLOCATE_PRODUCER_IDS:
        request->err = outcome->err;
        request->as.producer_ids.first = outcome->first_producer_id;
        break;
    case META_ALTER_SETTINGS:
        if (outcome->err != 0)
            alter_item_fail(&request->as.alter_settings.items[item], outcome->err);
        break;
    }
}

void meta_requests_applied(struct meta_requests *requests, int64_t index,
                           struct meta_outcome *outcome)
{
    while (requests->count > 0) {
        struct meta_proposal proposal = *proposal_at(requests, 0);
        if (proposal.index == NOT_YET || proposal.index > index) return;
        requests->first = (requests->first + 1) % requests->capacity;
        requests->count--;
        if (proposal.request == NULL || proposal.index < index) continue;
        answer(proposal.request, proposal.item, outcome);
        if (--proposal.request->open_count == 0) request_finish(requests, proposal.request);
    }
}

/* ---- all of them ---- */

void meta_requests_take(struct meta_requests *requests, struct meta_request *request,
                        void (*fire)(struct timer *timer))
{
    request_clear(request);
    timer_init(&request->timer, fire);
    list_init(&request->node);
    list_push_back(&requests->fresh, &request->node);
    int64_t delay_ms = request->deadline_ms - loop_now_ms(requests->loop);
    if (delay_ms <= 0)
        request_fail(requests, request, ERR_REQUEST_TIMED_OUT);
    else
        timer_set(requests->loop, &request->timer, delay_ms);
}

bool meta_requests_has_fresh(const struct meta_requests *requests)
{
    return !list_is_empty(&requests->fresh);
}

void meta_requests_refuse_growth(struct meta_requests *requests, bool also_ids, int err)
{
    struct list *node = requests->fresh.next, *next;
    for (; node != &requests->fresh; node = next) {
        struct meta_request *request = LIST_OWNER(node, struct meta_request, node);
        next = node->next;
        if (request->kind == META_CREATE_TOPICS || request->kind == META_ADD_PARTITIONS ||
            request->kind == META_ALTER_SETTINGS ||
            (also_ids && request->kind == META_ALLOCATE_PRODUCER_IDS))
            request_fail(requests, request, err);
    }
}

void meta_requests_fail_all(struct meta_requests *requests, int err)
{
    requests->first = requests->count = 0; /* Nobody waits for them any more. */
    while (!list_is_empty(&requests->proposed))
        request_fail(requests, LIST_OWNER(requests->proposed.next, struct meta_request, node), err);
    while (!list_is_empty(&requests->fresh))
        request_fail(requests, LIST_OWNER(requests->fresh.next, struct meta_request, node), err);
}

void meta_requests_expire(struct meta_requests *requests, struct meta_request *request)
{
    proposals_forget(requests, request);
    request_fail(requests, request, ERR_REQUEST_TIMED_OUT);
}

static void request_done(struct message *message)
{
    struct meta_request *request = LIST_OWNER(message, struct meta_request, message);
    request->done(request);
}

void meta_requests_release(struct meta_requests *requests)
{
    struct list *node;
    while ((node = list_pop_front(&requests->finished)) != NULL) {
        struct meta_request *request = LIST_OWNER(node, struct meta_request, node);
        message_init(&request->message, request_done);
        loop_post(request->loop, &request->message);
    }
}
