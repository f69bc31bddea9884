// SPDX-License-Identifier: Apache-2.0
/* SipHash (Aumasson, Bernstein): hashes whose collisions nobody finds who does not know the key. */

#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-1-3: for tables that compare the keys themselves. */
uint64_t siphash_64(const uint64_t key[2], const void *data, size_t length);

/* SipHash-2-4 with 128 bits: for tables that keep the hash in place of the key. */
void siphash_128(const uint64_t key[2], const void *data, size_t length, uint64_t hash[2]);

/* A key that nobody outside knows. */
void siphash_random_key(uint64_t key[2]);

#endif
