// SPDX-License-Identifier: Apache-2.0

#include "block_cache.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "runner.h"

static struct block_cache *cache;
static uint8_t block[INDEX_BLOCK_BYTES];

static const uint8_t *filled(int value)
{
    memset(block, value, sizeof block);
    return block;
}

static int first_of(uint64_t id, uint32_t number)
{
    uint8_t byte = 0;

    return block_cache_get(cache, id, number, 0, 1, &byte) ? byte : -1;
}

TEST(a_block_is_known_by_its_files_id_and_its_number)
{
    assert_int_equal(block_cache_open(&cache, 10), 0);
    uint64_t one = block_cache_new_id(cache);
    uint64_t other = block_cache_new_id(cache);
    assert_int_not_equal(one, other);
    block_cache_put(cache, one, 3, filled(7), sizeof block);
    assert_int_equal(first_of(one, 3), 7);
    assert_int_equal(first_of(one, 4), -1);
    assert_int_equal(first_of(other, 3), -1);
    block_cache_close(cache);
}

TEST(a_block_that_grew_is_not_there_until_it_is_read_again)
{
    uint8_t bytes[200];

    assert_int_equal(block_cache_open(&cache, 10), 0);
    block_cache_put(cache, 1, 0, filled(7), 100);
    assert_true(block_cache_get(cache, 1, 0, 50, 50, bytes));
    assert_false(block_cache_get(cache, 1, 0, 50, 51, bytes));
    block_cache_put(cache, 1, 0, filled(8), 200);
    assert_true(block_cache_get(cache, 1, 0, 0, 200, bytes));
    block_cache_put(cache, 1, 0, filled(9), 100); /* By a slower reader. */
    assert_true(block_cache_get(cache, 1, 0, 0, 200, bytes));
    assert_int_equal(bytes[0], 8);
    block_cache_close(cache);
}

TEST(memory_is_bounded_and_what_is_used_stays)
{
    assert_int_equal(block_cache_open(&cache, 10), 0);
    block_cache_put(cache, 1, 0, filled(7), sizeof block);
    for (uint32_t i = 1; i < 1000; i++) {
        assert_int_equal(first_of(1, 0), 7);
        block_cache_put(cache, 1, i, filled(8), sizeof block);
    }
    assert_int_equal(first_of(1, 999), 8);
    assert_int_equal(block_cache_count(cache), 10);
    block_cache_close(cache);
}

TEST(without_memory_fewer_blocks_are_kept)
{
    for (int nth = 1;; nth++) {
        mem_fail_at(nth);
        int err = block_cache_open(&cache, 10);
        if (err == 0) block_cache_put(cache, 1, 0, filled(7), sizeof block);
        mem_fail_at(0);
        if (err != 0) {
            assert_int_equal(err, ERR_NO_MEMORY);
            continue;
        }
        bool is_known = first_of(1, 0) == 7;
        block_cache_put(cache, 1, 1, filled(8), sizeof block);
        assert_int_equal(first_of(1, 1), 8);
        block_cache_close(cache);
        if (is_known) break;
    }
}
