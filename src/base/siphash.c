// SPDX-License-Identifier: Apache-2.0
#include "siphash.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/types.h>

void siphash_random_key(uint64_t key[2])
{
    ssize_t length = getrandom(key, 2 * sizeof key[0], 0);
    if (length == (ssize_t)(2 * sizeof key[0])) return;
    /* A kernel without getrandom() gave the process 16 random bytes when it started. */
    const void *start = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    memset(key, 0, 2 * sizeof key[0]);
    if (start != NULL) memcpy(key, start, 2 * sizeof key[0]);
}

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void sip_start(uint64_t v[4], const uint64_t key[2])
{
    v[0] = key[0] ^ 0x736f6d6570736575;
    v[1] = key[1] ^ 0x646f72616e646f6d;
    v[2] = key[0] ^ 0x6c7967656e657261;
    v[3] = key[1] ^ 0x7465646279746573;
}

/* All of the data, and its length in the last word. */
static void sip_absorb(uint64_t v[4], const void *data, size_t length, unsigned rounds)
{
    const unsigned char *at = data;
    size_t left = length;

    for (;;) {
        bool is_last = left < sizeof(uint64_t);
        uint64_t word = 0;
        if (left > 0) memcpy(&word, at, is_last ? left : sizeof word);
        word = le64toh(word);
        if (is_last) word |= (uint64_t)length << 56;
        v[3] ^= word;
        sip_rounds(v, rounds);
        v[0] ^= word;
        if (is_last) return;
        at += sizeof word;
        left -= sizeof word;
    }
}

uint64_t siphash_64(const uint64_t key[2], const void *data, size_t length)
{
    uint64_t v[4];

    sip_start(v, key);
    sip_absorb(v, data, length, 1);
    v[2] ^= 0xff;
    sip_rounds(v, 3);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void siphash_128(const uint64_t key[2], const void *data, size_t length, uint64_t hash[2])
{
    uint64_t v[4];

    sip_start(v, key);
    v[1] ^= 0xee;
    sip_absorb(v, data, length, 2);
    v[2] ^= 0xee;
    sip_rounds(v, 4);
    hash[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    sip_rounds(v, 4);
    hash[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
}
