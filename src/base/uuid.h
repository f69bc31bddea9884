// SPDX-License-Identifier: Apache-2.0
/* 16-byte ids, written the way Kafka writes them: base64 with - and _, 22 characters. */

#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct uuid {
    uint8_t bytes[16];
};

#define UUID_TEXT_SIZE 23 /* 22 characters and the NUL. */

/* A version 4 uuid from the system's random source that is never zero, one (Kafka keeps these two for
 * itself) and whose text never begins with '-'. Returns 0 or ERR_IO. */
int uuid_random(struct uuid *uuid);

void uuid_print(const struct uuid *uuid, char text[UUID_TEXT_SIZE]);
int uuid_parse(struct uuid *uuid, const char *text); /* 0 or ERR_MALFORMED */

static inline bool uuid_is_zero(const struct uuid *uuid)
{
    static const struct uuid zero;
    return memcmp(uuid, &zero, sizeof zero) == 0;
}

static inline bool uuid_equal(const struct uuid *a, const struct uuid *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

#endif
