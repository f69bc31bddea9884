// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "alloc.h"
#include "error.h"
#include "kept_answers.h"
#include "metadata.h"

static struct kept_answers answers;

static struct kept_answer *make(const struct kept_answer_key *key)
{
    struct metadata_response response;
    struct kept_answer *answer = NULL;
    message_defaults(&metadata_response_shape, &response);
    assert_int_equal(kept_answers_add(&answers, key, &metadata_response_shape, &response, &answer),
                     0);
    return answer;
}

TEST(an_answer_is_kept_for_who_asks_the_same_of_the_same_view)
{
    static const struct kept_answer_key key = { .view_version = 7, .version = 9 };
    struct kept_answer_key others[] = { key, key, key, key, key };
    others[0].listener = 1;
    others[1].version = 8;
    others[2].tells_topic_operations = true;
    others[3].tells_cluster_operations = true;
    others[4].api_key = 1;
    assert_null(kept_answers_find(&answers, &key));
    struct kept_answer *answer = make(&key);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_null(kept_answers_find(&answers, &others[i]));
    assert_ptr_equal(kept_answers_find(&answers, &key), answer);

    struct kept_answer_key later = key;
    later.view_version = 8;
    assert_null(kept_answers_find(&answers, &later));
    assert_null(kept_answers_find(&answers, &key)); /* Of a view that nobody has any more. */
    kept_answers_close(&answers);
}

TEST(only_some_answers_are_kept)
{
    struct kept_answer_key keys[KEPT_ANSWERS_MAX + 1];
    for (int16_t i = 0; i <= KEPT_ANSWERS_MAX; i++) {
        keys[i] = (struct kept_answer_key){ .view_version = 1, .version = i };
        make(&keys[i]);
    }
    assert_null(kept_answers_find(&answers, &keys[0]));
    for (int16_t i = 1; i <= KEPT_ANSWERS_MAX; i++)
        assert_non_null(kept_answers_find(&answers, &keys[i]));
    kept_answers_close(&answers);
}

TEST(without_memory_no_answer_is_kept)
{
    static const struct kept_answer_key key = { .view_version = 1, .version = 1 };
    struct metadata_response response;
    struct kept_answer *answer = NULL;
    message_defaults(&metadata_response_shape, &response);
    for (int nth = 1;; nth++) {
        mem_fail_at(nth);
        int err = kept_answers_add(&answers, &key, &metadata_response_shape, &response, &answer);
        mem_fail_at(0);
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
        assert_null(kept_answers_find(&answers, &key));
    }
    assert_ptr_equal(kept_answers_find(&answers, &key), answer);
    kept_answers_close(&answers);
}
