// SPDX-License-Identifier: Apache-2.0
#include "uuid.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

#include "error.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

#define UUID_DASH 62 /* The place of '-' in the alphabet. */

int uuid_random(struct uuid *uuid)
{
    struct uuid random;
    do {
        ssize_t length;
        do
            length = getrandom(random.bytes, sizeof random.bytes, 0);
        while (length < 0 && errno == EINTR);
        if (length != (ssize_t)sizeof random.bytes) return ERR_IO;
        /* A text that begins with '-' would be taken for an option on a command line. */
    } while (random.bytes[0] >> 2 == UUID_DASH);

    /* RFC 4122, 4.4; with these bits set it is neither zero nor one. */
    random.bytes[6] = (uint8_t)((random.bytes[6] & 0x0f) | 0x40);
    random.bytes[8] = (uint8_t)((random.bytes[8] & 0x3f) | 0x80);
    *uuid = random;
    return 0;
}

void uuid_print(const struct uuid *uuid, char text[UUID_TEXT_SIZE])
{
    uint32_t bits = 0;
    unsigned bit_count = 0, length = 0;
    for (size_t i = 0; i < sizeof uuid->bytes; i++) {
        bits = bits << 8 | uuid->bytes[i];
        for (bit_count += 8; bit_count >= 6; bit_count -= 6)
            text[length++] = alphabet[bits >> (bit_count - 6) & 63];
    }
    text[length++] = alphabet[bits << (6 - bit_count) & 63];
    text[length] = '\0';
}

int uuid_parse(struct uuid *uuid, const char *text)
{
    struct uuid parsed;
    uint32_t bits = 0;
    unsigned bit_count = 0;
    size_t length = 0;
    if (strlen(text) != UUID_TEXT_SIZE - 1) return ERR_MALFORMED;
    for (; *text != '\0'; text++) {
        const char *at = strchr(alphabet, *text);
        if (at == NULL) return ERR_MALFORMED;
        bits = bits << 6 | (uint32_t)(at - alphabet);
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            parsed.bytes[length++] = (uint8_t)(bits >> bit_count);
        }
    }
    /* Bits left over would make two texts of one uuid. */
    if ((bits & ((1u << bit_count) - 1)) != 0) return ERR_MALFORMED;
    *uuid = parsed;
    return 0;
}
