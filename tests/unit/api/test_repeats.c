// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "repeats.h"

TEST(what_comes_twice_is_marked_both_times_and_the_first_is_known)
{
    struct repeats repeats;
    struct repeat notes[3];
    repeats_init(&repeats);

    assert_int_equal(repeats_note(&repeats, "a", 1, &notes[0]), 0);
    assert_int_equal(repeats_note(&repeats, "b", 1, &notes[1]), 0);
    assert_int_equal(repeats_note(&repeats, "a", 1, &notes[2]), 0);

    assert_true(notes[0].is_first && notes[0].is_repeated);
    assert_true(notes[1].is_first && !notes[1].is_repeated);
    assert_true(!notes[2].is_first && notes[2].is_repeated);
    repeats_close(&repeats);
}
