// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "error.h"

TEST(success_is_no_error_for_a_client)
{
    assert_int_equal(error_kafka_code(0), 0);
    assert_string_equal(error_name(0), "ERR_NONE");
    assert_int_equal(error_from_kafka_code(0), ERR_NONE);
}

TEST(kafkas_errors_carry_kafkas_codes)
{
    assert_int_equal(error_kafka_code(ERR_CORRUPT_MESSAGE), 2);
    assert_int_equal(error_kafka_code(ERR_REQUEST_TIMED_OUT), 7);
    assert_int_equal(error_kafka_code(ERR_REBOOTSTRAP_REQUIRED), 129);
    assert_int_equal(error_from_kafka_code(129), ERR_REBOOTSTRAP_REQUIRED);
}

TEST(every_error_has_a_name_and_a_sentence_of_its_own)
{
    for (int err = 0; err < ERR_COUNT; err++) {
        assert_memory_equal(error_name(err), "ERR_", 4);
        assert_true(strlen(error_text(err)) > 0);
        for (int other = 0; other < err; other++) {
            assert_string_not_equal(error_name(err), error_name(other));
            assert_string_not_equal(error_text(err), error_text(other));
        }
    }
}

TEST(no_two_errors_of_kafkas_share_a_code_and_each_code_leads_back)
{
    bool is_known[256] = { false };
    for (int err = 0; err < ERR_COUNT; err++) {
        int16_t code = error_kafka_code(err);
        if (code == -1) continue;
        assert_in_range(code, 0, 255);
        assert_false(is_known[code]);
        is_known[code] = true;
        assert_int_equal(error_from_kafka_code(code), err);
    }
}

TEST(our_own_errors_are_unexpected_to_a_client)
{
    assert_int_equal(error_kafka_code(ERR_NO_MEMORY), -1);
    assert_int_equal(error_kafka_code(ERR_NEEDS_IO), -1);
    assert_int_equal(error_from_kafka_code(-1), ERR_UNKNOWN_SERVER_ERROR);
}

TEST(a_number_that_is_no_error_is_an_unexpected_one)
{
    static const int numbers[] = { -1, ERR_COUNT, INT_MAX, INT_MIN };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_int_equal(error_kafka_code(numbers[i]), -1);
        assert_string_equal(error_name(numbers[i]), "ERR_UNKNOWN_SERVER_ERROR");
        assert_string_equal(error_text(numbers[i]), error_text(ERR_UNKNOWN_SERVER_ERROR));
    }
    assert_int_equal(error_from_kafka_code(INT16_MAX), ERR_UNKNOWN_SERVER_ERROR);
    assert_int_equal(error_from_kafka_code(INT16_MIN), ERR_UNKNOWN_SERVER_ERROR);
}

TEST(the_systems_errors_are_translated)
{
    assert_int_equal(error_from_errno(ENOSPC), ERR_NO_SPACE);
    assert_int_equal(error_from_errno(EDQUOT), ERR_NO_SPACE);
    assert_int_equal(error_from_errno(ENOMEM), ERR_NO_MEMORY);
    assert_int_equal(error_from_errno(ENOENT), ERR_NOT_FOUND);
    assert_int_equal(error_from_errno(EEXIST), ERR_EXISTS);
    assert_int_equal(error_from_errno(EIO), ERR_IO);
    assert_int_equal(error_from_errno(0), ERR_IO);
}
