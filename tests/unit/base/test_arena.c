// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "arena.h"
#include "error.h"

static bool is_aligned(const void *memory)
{
    return (uintptr_t)memory % 16 == 0;
}

TEST(memory_is_aligned_and_does_not_overlap)
{
    struct arena arena;
    unsigned char *pieces[400];
    arena_init(&arena, NULL, 0, SIZE_MAX);
    for (size_t i = 0; i < 400; i++) {
        pieces[i] = arena_alloc(&arena, i);
        assert_non_null(pieces[i]);
        assert_true(is_aligned(pieces[i]));
        memset(pieces[i], (int)i, i);
    }
    for (size_t i = 0; i < 400; i++)
        for (size_t at = 0; at < i; at++)
            assert_int_equal(pieces[i][at], (unsigned char)i);
    arena_close(&arena);
}

TEST(an_empty_piece_has_an_address_of_its_own)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    void *first = arena_alloc(&arena, 0);
    void *second = arena_alloc(&arena, 0);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    arena_close(&arena);
}

TEST(the_callers_memory_is_used_before_the_heap)
{
    struct arena arena;
    char initial[256];
    arena_init(&arena, initial + 1, sizeof initial - 1, SIZE_MAX);
    for (int i = 0; i < 10; i++) {
        char *piece = arena_alloc(&arena, 20);
        assert_true(is_aligned(piece));
        assert_in_range(piece - initial, 1, (int)sizeof initial - 20);
        if (i == 6) break;
    }
    assert_int_equal(arena.used, 0);
    assert_non_null(arena_alloc(&arena, 200));
    assert_true(arena.used > 0);
    arena_close(&arena);
}

TEST(initial_memory_too_small_to_be_aligned_is_left_alone)
{
    struct arena arena;
    _Alignas(16) char initial[16];
    arena_init(&arena, initial + 1, 15, SIZE_MAX);
    char *piece = arena_alloc(&arena, 1);
    assert_true(piece < initial || piece >= initial + sizeof initial);
    arena_close(&arena);
}

TEST(many_pieces_take_few_blocks)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    mem_fail_at(20); /* 4, 8, ... 256 KiB, and then 256 KiB each: a megabyte needs no 20. */
    for (int i = 0; i < 1024; i++)
        assert_non_null(arena_alloc(&arena, 1024));
    mem_fail_at(0);
    arena_close(&arena);
}

TEST(a_large_piece_does_not_waste_the_block_being_filled)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    char *before = arena_alloc(&arena, 16);
    memset(arena_alloc(&arena, 1000000), 'x', 1000000);
    assert_ptr_equal(arena_alloc(&arena, 16), before + 16);
    arena_close(&arena);
}

TEST(a_large_piece_may_come_first)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    memset(arena_alloc(&arena, 1000000), 'x', 1000000);
    memset(arena_alloc(&arena, 1000000), 'y', 1000000);
    memset(arena_alloc(&arena, 10), 'z', 10);
    arena_close(&arena);
}

TEST(the_limit_is_never_passed)
{
    for (size_t limit = 0; limit < 20000; limit += 333) {
        struct arena arena;
        arena_init(&arena, NULL, 0, limit);
        size_t given = 0;
        while (arena_alloc(&arena, 100) != NULL)
            given += 100;
        assert_true(given <= limit);
        assert_true(arena.used <= limit);
        assert_true(limit < 1000 || given >= limit / 2);
        arena_close(&arena);
    }
}

TEST(sizes_that_overflow_are_refused)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    for (size_t less = 0; less < 31; less++) /* With the head of a block they pass SIZE_MAX. */
        assert_null(arena_alloc(&arena, SIZE_MAX - less));
    assert_null(arena_calloc(&arena, SIZE_MAX / 2 + 1, 2));
    assert_int_equal(arena.used, 0);
    arena_close(&arena);
}

TEST(zeroed_pieces_are_zero_even_in_used_memory)
{
    static const char zeros[200];
    char initial[512];
    struct arena arena;
    memset(initial, 0xff, sizeof initial);
    arena_init(&arena, initial, sizeof initial, SIZE_MAX);
    assert_memory_equal(arena_zalloc(&arena, sizeof zeros), zeros, sizeof zeros);
    assert_memory_equal(arena_calloc(&arena, 10, 20), zeros, sizeof zeros);
    arena_close(&arena);
}

TEST(copies_into_an_arena_keep_null_null_and_end_with_a_nul)
{
    struct arena arena;
    struct str text;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(arena_str(&arena, STR_NULL, &text), 0);
    assert_true(str_is_null(text));
    assert_int_equal(arena_str(&arena, (struct str){ NULL, 0 }, &text), 0);
    assert_int_equal(text.length, 0);
    assert_string_equal(text.data, "");
    assert_int_equal(arena_str(&arena, (struct str){ "orders", 3 }, &text), 0);
    assert_int_equal(text.length, 3);
    assert_string_equal(text.data, "ord");
    assert_memory_equal(arena_dup(&arena, "a\0b", 4), "a\0b", 4);
    assert_non_null(arena_dup(&arena, NULL, 0));
    assert_string_equal(arena_printf(&arena, "%s/%d", "orders", 12), "orders/12");
    arena_close(&arena);
}

static char releases[8];

static void note_release(void *owner)
{
    size_t length = strlen(releases);
    releases[length] = *(const char *)owner;
    releases[length + 1] = '\0';
}

TEST(adopted_memory_is_released_once_the_last_first)
{
    struct arena arena;
    releases[0] = '\0';
    arena_init(&arena, NULL, 0, SIZE_MAX);
    /* The owners lie in the arena: it must still be there when they are released. */
    assert_int_equal(arena_adopt(&arena, arena_dup(&arena, "1", 1), 1, note_release), 0);
    assert_int_equal(arena_adopt(&arena, arena_dup(&arena, "2", 1), 1, note_release), 0);
    assert_int_equal(arena_adopt(&arena, arena_dup(&arena, "3", 1), 1, note_release), 0);
    assert_string_equal(releases, "");
    arena_close(&arena);
    assert_string_equal(releases, "321");
    arena_close(&arena);
    assert_string_equal(releases, "321");
}

/* What note_release() is told. */
static char name_a[] = "a", name_b[] = "b", name_c[] = "c", name_d[] = "d", name_x[] = "x";

TEST(adopted_memory_counts_towards_the_limit)
{
    struct arena arena;
    char initial[512];
    releases[0] = '\0';
    arena_init(&arena, initial, sizeof initial, 10000);
    assert_int_equal(arena_adopt(&arena, name_a, 9000, note_release), 0);
    assert_int_equal(arena.used, 9000);
    assert_int_equal(arena_adopt(&arena, name_b, 1001, note_release), ERR_NO_MEMORY);
    assert_int_equal(arena_adopt(&arena, name_c, SIZE_MAX, note_release), ERR_NO_MEMORY);
    assert_int_equal(arena_adopt(&arena, name_d, 1000, note_release), 0);
    assert_int_equal(arena.used, 10000);
    assert_null(arena_alloc(&arena, sizeof initial));
    arena_close(&arena);
    assert_string_equal(releases, "da");
}

/* Everything an arena can do; whatever fails first is the answer. */
static int fill(struct arena *arena)
{
    struct str text;
    int err = arena_alloc(arena, 5000) == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = arena_alloc(arena, 500000) == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = arena_zalloc(arena, 9000) == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = arena_str(arena, STR_LITERAL("orders"), &text);
    if (err == 0) err = arena_adopt(arena, name_x, 1, note_release);
    if (err == 0) err = arena_printf(arena, "%10000d", 1) == NULL ? ERR_NO_MEMORY : 0;
    return err;
}

TEST(an_arena_that_runs_out_of_memory_leaks_nothing)
{
    for (long nth = 1;; nth++) {
        struct arena arena;
        releases[0] = '\0';
        arena_init(&arena, NULL, 0, SIZE_MAX);
        mem_fail_at(nth);
        int err = fill(&arena);
        mem_fail_at(0);
        bool was_adopted = arena.adopted != NULL;
        arena_close(&arena);
        assert_string_equal(releases, was_adopted ? "x" : "");
        if (err == 0) {
            assert_true(nth > 3);
            break;
        }
        assert_int_equal(err, ERR_NO_MEMORY);
    }
}

TEST(a_closed_arena_may_be_used_again)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_non_null(arena_alloc(&arena, 100000));
    arena_close(&arena);
    assert_int_equal(arena.used, 0);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    memset(arena_alloc(&arena, 10), 1, 10);
    arena_close(&arena);
}
