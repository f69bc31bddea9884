// SPDX-License-Identifier: Apache-2.0
/* Blocks of index files in memory, no more than so many (DESIGN 4.2). A binary search always begins at
 * the same few blocks of a file: so what stays here is the sparse top level of the files in use.
 *
 *  (1) A file has an id here, which is never given twice. Where its bytes are not only added to (it was
 *      cut, or made anew) it gets a new one, after the change: what is known under the old one is not
 *      found any more, and makes room by and by.
 *  (2) Memory is taken block by block as it is needed, and kept.
 *
 * Any thread; nothing blocks. */

#ifndef STORAGE_BLOCK_CACHE_H
#define STORAGE_BLOCK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_BLOCK_BYTES 4096

struct block_cache;

/* 0 or ERR_NO_MEMORY. */
int block_cache_open(struct block_cache **cache, uint32_t limit);
void block_cache_close(struct block_cache *cache); /* NULL is fine. */

uint64_t block_cache_new_id(struct block_cache *cache);

/* Copies bytes [from, from + length) of the block, if all of them are here. */
bool block_cache_get(struct block_cache *cache, uint64_t id, uint32_t number, size_t from,
                     size_t length, void *to);

/* Remembers the first `length` bytes of the block, or does not if there is no memory. */
void block_cache_put(struct block_cache *cache, uint64_t id, uint32_t number, const void *data,
                     size_t length);

/* How many are in memory. */
uint32_t block_cache_count(struct block_cache *cache);

#endif
