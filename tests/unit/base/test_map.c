// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "map.h"

static int values[10000]; /* Their addresses are what the tests put. */

static int put_number(struct map *map, int number)
{
    char key[16];
    int length = snprintf(key, sizeof key, "key-%d", number);
    return map_put(map, key, (size_t)length, &values[number], NULL);
}

static void *get_number(const struct map *map, int number)
{
    char key[16];
    int length = snprintf(key, sizeof key, "key-%d", number);
    return map_get(map, key, (size_t)length);
}

static void *remove_number(struct map *map, int number)
{
    char key[16];
    int length = snprintf(key, sizeof key, "key-%d", number);
    return map_remove(map, key, (size_t)length);
}

/* Walks the map, counts how often each value comes, and removes those of even numbers if told to. */
static void walk(struct map *map, int seen[], bool removes_even)
{
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;
    while (map_next(map, &cursor, &key, &key_length, &value)) {
        int number = (int)((int *)value - values);
        char expected[16];
        int length = snprintf(expected, sizeof expected, "key-%d", number);
        assert_int_equal(key_length, length);
        assert_memory_equal(key, expected, key_length);
        seen[number]++;
        if (removes_even && number % 2 == 0) assert_ptr_equal(remove_number(map, number), value);
    }
}

TEST(an_empty_map_has_nothing)
{
    struct map map;
    struct map_cursor cursor = { 0 };
    map_init(&map);
    assert_null(map_get(&map, "a", 1));
    assert_null(map_remove(&map, "a", 1));
    assert_false(map_next(&map, &cursor, NULL, NULL, NULL));
    map_close(&map);
}

TEST(a_growing_map_keeps_every_entry)
{
    struct map map;
    map_init(&map);
    for (int i = 0; i < 10000; i++) {
        assert_null(get_number(&map, i));
        assert_int_equal(put_number(&map, i), 0);
        assert_int_equal(map.count, i + 1);
    }
    for (int i = 0; i < 10000; i++)
        assert_ptr_equal(get_number(&map, i), &values[i]);
    assert_true(map.bucket_count >= map.count);
    map_close(&map);
    assert_int_equal(map.count, 0);
}

TEST(keys_are_bytes_of_any_length_and_copied)
{
    struct map map;
    char key[] = "a\0b";
    map_init(&map);
    assert_int_equal(map_put(&map, key, 3, &values[0], NULL), 0);
    assert_int_equal(map_put(&map, "a\0c", 3, &values[1], NULL), 0);
    assert_int_equal(map_put(&map, "a", 1, &values[2], NULL), 0);
    assert_int_equal(map_put(&map, NULL, 0, &values[3], NULL), 0);
    memset(key, 'x', sizeof key);
    assert_ptr_equal(map_get(&map, "a\0b", 3), &values[0]);
    assert_ptr_equal(map_get(&map, "a\0c", 3), &values[1]);
    assert_ptr_equal(map_get(&map, "a", 1), &values[2]);
    assert_ptr_equal(map_get(&map, "", 0), &values[3]);
    assert_null(map_get(&map, "a\0", 2));
    map_close(&map);
}

TEST(putting_again_replaces_and_gives_the_old_value_back)
{
    struct map map;
    void *old = &map;
    map_init(&map);
    assert_int_equal(map_put(&map, "a", 1, &values[0], &old), 0);
    assert_null(old);
    mem_fail_at(1); /* Replacing needs no memory. */
    assert_int_equal(map_put(&map, "a", 1, &values[1], &old), 0);
    mem_fail_at(0);
    assert_ptr_equal(old, &values[0]);
    assert_int_equal(map.count, 1);
    assert_ptr_equal(map_get(&map, "a", 1), &values[1]);
    map_close(&map);
}

TEST(what_is_removed_is_gone_and_the_rest_stays)
{
    struct map map;
    map_init(&map);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(put_number(&map, i), 0);
    for (int i = 0; i < 1000; i += 3) {
        assert_ptr_equal(remove_number(&map, i), &values[i]);
        assert_null(remove_number(&map, i));
    }
    for (int i = 0; i < 1000; i++)
        assert_ptr_equal(get_number(&map, i), i % 3 == 0 ? NULL : &values[i]);
    assert_int_equal(map.count, 1000 - 334);
    map_close(&map);
}

TEST(a_walk_meets_each_entry_once)
{
    struct map map;
    int seen[1000] = { 0 };
    map_init(&map);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(put_number(&map, i), 0);
    walk(&map, seen, false);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(seen[i], 1);
    map_close(&map);
}

TEST(a_walk_may_remove_what_it_just_met)
{
    struct map map;
    int seen[1000] = { 0 };
    map_init(&map);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(put_number(&map, i), 0);
    walk(&map, seen, true);
    assert_int_equal(map.count, 500);
    walk(&map, seen, false);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(seen[i], i % 2 == 0 ? 1 : 2);
    map_close(&map);
}

TEST(a_put_without_memory_leaves_the_map_as_it_was)
{
    struct map map;
    map_init(&map);
    for (int number = 0; number < 100; number++) {
        for (long nth = 1;; nth++) {
            void *old = &map;
            char key[16];
            int length = snprintf(key, sizeof key, "key-%d", number);
            mem_fail_at(nth);
            int err = map_put(&map, key, (size_t)length, &values[number], &old);
            mem_fail_at(0);
            if (err == 0) {
                assert_true(nth > 1);
                break;
            }
            assert_int_equal(err, ERR_NO_MEMORY);
            assert_ptr_equal(old, &map);
            assert_int_equal(map.count, number);
            assert_null(get_number(&map, number));
            for (int before = 0; before < number; before++)
                assert_ptr_equal(get_number(&map, before), &values[before]);
        }
    }
    map_close(&map);
}

/* The numbers in the order in which a walk meets them. */
static void walk_order(uint64_t seed, int order[64])
{
    struct map map;
    struct map_cursor cursor = { 0 };
    void *value;
    map_seed(seed);
    map_init(&map);
    for (int i = 0; i < 64; i++)
        assert_int_equal(put_number(&map, i), 0);
    while (map_next(&map, &cursor, NULL, NULL, &value))
        *order++ = (int)((int *)value - values);
    map_close(&map);
}

TEST(a_walk_is_repeatable_with_a_seed_and_differs_without)
{
    int first[64], second[64], third[64];
    walk_order(1, first);
    walk_order(2, second);
    walk_order(1, third);
    assert_memory_equal(first, third, sizeof first);
    assert_memory_not_equal(first, second, sizeof first);
    map_seed(test_seed());
}
