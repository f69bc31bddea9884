// SPDX-License-Identifier: Apache-2.0
#include "base64.h"

#include "error.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buffer *out, const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t bits = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                        (left > 2 ? data[i + 2] : 0u);
        char group[4] = { digits[bits >> 18], digits[bits >> 12 & 63],
                          left > 1 ? digits[bits >> 6 & 63] : '=',
                          left > 2 ? digits[bits & 63] : '=' };
        buffer_put(out, group, sizeof group);
    }
}

int base64_decode(struct buffer *out, const char *text, size_t length)
{
    if (length % 4 != 0) return ERR_MALFORMED;
    for (size_t i = 0; i < length; i += 4) {
        uint32_t bits = 0;
        bool is_last = i + 4 == length;
        int fill = is_last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0;
        for (int at = 0; at < 4; at++) {
            char c = at < 4 - fill ? text[i + (size_t)at] : 'A';
            const char *digit = c == '\0' ? NULL : strchr(digits, c);
            if (digit == NULL) return ERR_MALFORMED;
            bits = bits << 6 | (uint32_t)(digit - digits);
        }
        uint8_t bytes[3] = { (uint8_t)(bits >> 16), (uint8_t)(bits >> 8), (uint8_t)bits };
        buffer_put(out, bytes, (size_t)(3 - fill));
    }
    return 0;
}
