// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "alloc.h"

TEST(nothing_at_all_has_a_unique_address)
{
    void *first = mem_alloc(0);
    void *second = mem_zalloc(0);
    void *third = mem_realloc(NULL, 0);
    assert_non_null(first);
    assert_non_null(second);
    assert_non_null(third);
    assert_ptr_not_equal(first, second);
    assert_ptr_not_equal(second, third);
    first = mem_realloc(first, 0);
    assert_non_null(first);
    mem_free(first);
    mem_free(second);
    mem_free(third);
    mem_free(NULL);
}

TEST(memory_that_should_be_zero_is)
{
    static const char zeros[300];
    char *zeroed = mem_zalloc(sizeof zeros);
    char *counted = mem_calloc(3, 100);
    assert_memory_equal(zeroed, zeros, sizeof zeros);
    assert_memory_equal(counted, zeros, sizeof zeros);
    mem_free(zeroed);
    mem_free(counted);
}

TEST(a_product_that_overflows_is_refused)
{
    assert_null(mem_calloc(SIZE_MAX / 2 + 1, 2));
    assert_null(mem_calloc(SIZE_MAX, SIZE_MAX));
}

TEST(copies_are_equal_and_apart)
{
    char *text = mem_strdup("orders");
    char *bytes = mem_dup("a\0b", 4);
    char *nothing = mem_dup(NULL, 0);
    char *printed = mem_printf("%s-%d", text, 7);
    assert_string_equal(text, "orders");
    assert_memory_equal(bytes, "a\0b", 4);
    assert_non_null(nothing);
    assert_string_equal(printed, "orders-7");
    mem_free(text);
    mem_free(bytes);
    mem_free(nothing);
    mem_free(printed);
}

TEST(only_the_chosen_allocation_fails)
{
    mem_fail_at(2);
    void *first = mem_alloc(1);
    void *second = mem_alloc(1);
    void *third = mem_alloc(1);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    mem_free(first);
    mem_free(third);
}

TEST(zero_calls_the_failure_off)
{
    mem_fail_at(1);
    mem_fail_at(0);
    void *memory = mem_alloc(1);
    assert_non_null(memory);
    mem_free(memory);
}

TEST(every_way_to_allocate_can_fail)
{
    mem_fail_at(1);
    assert_null(mem_alloc(1));
    mem_fail_at(1);
    assert_null(mem_zalloc(1));
    mem_fail_at(1);
    assert_null(mem_calloc(1, 1));
    mem_fail_at(1);
    assert_null(mem_dup("a", 1));
    mem_fail_at(1);
    assert_null(mem_strdup("a"));
    mem_fail_at(1);
    assert_null(mem_printf("%d", 1));
}

TEST(what_could_not_grow_is_still_there)
{
    char *text = mem_strdup("kept");
    mem_fail_at(1);
    assert_null(mem_realloc(text, 100000));
    assert_string_equal(text, "kept");
    mem_free(text);
}

static void *allocate_once(void *unused)
{
    (void)unused;
    return mem_alloc(1);
}

TEST(a_failure_is_for_one_thread_only)
{
    pthread_t thread;
    void *memory = NULL;
    mem_fail_at(1);
    assert_int_equal(pthread_create(&thread, NULL, allocate_once, NULL), 0);
    assert_int_equal(pthread_join(thread, &memory), 0);
    assert_non_null(memory);
    assert_null(mem_alloc(1));
    mem_free(memory);
}
