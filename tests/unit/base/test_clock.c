// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "clock.h"

TEST(the_machines_clock_runs_and_does_not_go_back)
{
    struct clock *clock = clock_real();
    int64_t last_us = clock_monotonic_us(clock);
    assert_true(clock_wall_ms(clock) > INT64_C(1704067200000)); /* 2024 */
    for (int i = 0; i < 1000; i++) {
        int64_t now_us = clock_monotonic_us(clock);
        assert_true(now_us >= last_us);
        last_us = now_us;
    }
}

TEST(a_manual_clock_stands_still_until_it_is_moved)
{
    struct clock_manual manual;
    clock_manual_init(&manual, 5000);
    int64_t start_us = clock_monotonic_us(&manual.clock);
    assert_int_equal(clock_wall_ms(&manual.clock), 5000);
    assert_int_equal(clock_monotonic_us(&manual.clock), start_us);

    clock_manual_advance_ms(&manual, 7);
    assert_int_equal(clock_wall_ms(&manual.clock), 5007);
    assert_int_equal(clock_monotonic_us(&manual.clock), start_us + 7000);
}
