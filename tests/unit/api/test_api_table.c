// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "dispatch.h"

TEST(keys_are_unique_and_ascend)
{
    unsigned count;
    const struct api_row *rows = api_rows(&count);
    assert_true(count > 0);
    for (unsigned i = 1; i < count; i++)
        assert_true(rows[i - 1].key < rows[i].key);
}

TEST(every_served_version_is_one_that_both_shapes_have)
{
    unsigned count;
    const struct api_row *rows = api_rows(&count);
    for (unsigned i = 0; i < count; i++) {
        for (int16_t version = rows[i].first; version <= rows[i].last; version++) {
            assert_true(versions_hold(rows[i].request->versions, version));
            assert_true(versions_hold(rows[i].response->versions, version));
        }
        assert_true(rows[i].told_first <= rows[i].first);
    }
}

TEST(a_row_is_found_by_its_key_and_nothing_else_is)
{
    unsigned count;
    const struct api_row *rows = api_rows(&count);
    for (unsigned i = 0; i < count; i++)
        assert_ptr_equal(api_row(rows[i].key), &rows[i]);
    assert_null(api_row(-1));
    assert_null(api_row(INT16_MAX));
}

/* librdkafka before 2.11 stops compressing if Produce 0 is missing, although nobody accepts it. */
TEST(produce_is_told_from_version_zero)
{
    assert_int_equal(api_row(0)->told_first, 0);
    assert_int_equal(api_row(0)->first, 3);
}
