// SPDX-License-Identifier: Apache-2.0
#include "kept_answers.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "file_slice.h"
#include "header.h"

struct kept_answer {
    struct kept_answer_key key;
    unsigned references; /* All of one loop. */
    struct buffer body;
};

static void unref(void *owner)
{
    struct kept_answer *answer = owner;
    if (answer == NULL || --answer->references > 0) return;
    buffer_close(&answer->body);
    mem_free(answer);
}

void kept_answers_close(struct kept_answers *answers)
{
    for (unsigned i = 0; i < KEPT_ANSWERS_MAX; i++) {
        unref(answers->newest_first[i]);
        answers->newest_first[i] = NULL;
    }
}

static bool key_equals(const struct kept_answer_key *a, const struct kept_answer_key *b)
{
    return a->view_version == b->view_version && a->listener == b->listener &&
           a->api_key == b->api_key && a->version == b->version &&
           a->tells_topic_operations == b->tells_topic_operations &&
           a->tells_cluster_operations == b->tells_cluster_operations;
}

struct kept_answer *kept_answers_find(struct kept_answers *answers,
                                      const struct kept_answer_key *key)
{
    struct kept_answer *newest = answers->newest_first[0];
    if (newest != NULL && newest->key.view_version != key->view_version)
        kept_answers_close(answers);
    for (unsigned i = 0; i < KEPT_ANSWERS_MAX && answers->newest_first[i] != NULL; i++)
        if (key_equals(&answers->newest_first[i]->key, key)) return answers->newest_first[i];
    return NULL;
}

int kept_answers_add(struct kept_answers *answers, const struct kept_answer_key *key,
                     const struct message_shape *shape, const void *response,
                     struct kept_answer **answer)
{
    struct encoder encoder;
    struct kept_answer *made = mem_zalloc(sizeof *made);
    encoder_init(&encoder);
    int err = made == NULL ? ERR_NO_MEMORY
                           : message_encode(shape, key->version, response, &encoder);
    if (err == 0 && encoder.bytes.failed) err = ERR_NO_MEMORY;
    if (err != 0) {
        encoder_close(&encoder);
        mem_free(made);
        return err;
    }
    made->key = *key;
    made->references = 1;
    made->body = encoder.bytes; /* With its memory; there are no slices in it. */
    unref(answers->newest_first[KEPT_ANSWERS_MAX - 1]);
    memmove(&answers->newest_first[1], &answers->newest_first[0],
            (KEPT_ANSWERS_MAX - 1) * sizeof answers->newest_first[0]);
    answers->newest_first[0] = made;
    *answer = made;
    return 0;
}

void kept_answer_reply(struct kept_answer *answer, struct call *call,
                       const struct message_shape *shape)
{
    struct response_header header = { .correlation_id = call->correlation_id };
    int16_t header_version = response_header_version(call->api_key, call->api_version,
                                                     shape->flexible_from);
    struct file_slice *slice = arena_alloc(&call->arena, sizeof *slice);
    int err = slice == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = response_header_encode(header_version, &header, &call->reply.bytes);
    if (err == 0) {
        *slice = (struct file_slice){
            .fd = -1,
            .memory = answer->body.data,
            .length = answer->body.length,
            .owner = answer,
            .release = unref,
        };
        err = encoder_splice(&call->reply, slice);
    }
    if (err != 0) {
        call_refuse(call, error_text(err));
        return;
    }
    answer->references++;
    call_reply(call);
}
