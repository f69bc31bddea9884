// SPDX-License-Identifier: Apache-2.0
#include "crc32c.h"

#include <isa-l/crc.h>

#define PIECE_BYTES ((size_t)1 << 30) /* isa-l takes its length as an int. */

uint32_t crc32c(const void *data, size_t length)
{
    return crc32c_more(0, data, length);
}

uint32_t crc32c_more(uint32_t crc, const void *data, size_t length)
{
    /* isa-l works on the register as it is; the inversions before and after are left to us. Its
     * prototype lacks a const: it only reads. */
    unsigned char *at = (unsigned char *)data;
    uint32_t state = ~crc;
    while (length > 0) {
        size_t piece = length < PIECE_BYTES ? length : PIECE_BYTES;
        state = crc32_iscsi(at, (int)piece, state);
        at += piece;
        length -= piece;
    }
    return ~state;
}
