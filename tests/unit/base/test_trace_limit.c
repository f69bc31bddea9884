// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "trace_limit.h"

TEST(so_many_lines_in_a_while_and_then_how_many_were_left_out)
{
    struct trace_limit limit = { 0 };
    uint64_t left_out = 99;
    for (int i = 0; i < 3; i++) {
        assert_true(trace_limit_allows(&limit, 3, 1000, 5000 + i, &left_out));
        assert_int_equal(left_out, 0);
    }
    for (int64_t now_ms = 5003; now_ms < 6000; now_ms++)
        assert_false(trace_limit_allows(&limit, 3, 1000, now_ms, &left_out));
    assert_true(trace_limit_allows(&limit, 3, 1000, 6000, &left_out));
    assert_int_equal(left_out, 997);
    assert_true(trace_limit_allows(&limit, 3, 1000, 6001, &left_out));
    assert_int_equal(left_out, 0);
}

TEST(a_line_ends_with_how_many_there_were_more)
{
    char text[TRACE_LEFT_OUT_BYTES];
    assert_string_equal(trace_left_out(text, 0), "");
    assert_string_equal(trace_left_out(text, UINT64_MAX),
                        " (18446744073709551615 more were not told)");
}

TEST(a_kind_that_comes_often_does_not_hide_another)
{
    struct trace_kinds kinds = { 0 };
    uint64_t left_out;
    struct trace_limit *often = trace_kind(&kinds, "malformed request");
    assert_true(trace_limit_allows(often, 1, 1000, 1, &left_out));
    assert_false(trace_limit_allows(often, 1, 1000, 1, &left_out));
    assert_ptr_equal(trace_kind(&kinds, "malformed request"), often);
    assert_true(trace_limit_allows(trace_kind(&kinds, "unknown API"), 1, 1000, 1, &left_out));
}
