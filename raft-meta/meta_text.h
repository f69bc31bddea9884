// SPDX-License-Identifier: Apache-2.0
/* Text inside our own encodings: two bytes of length (-1: null), then the characters, none of
 * them NUL. */

#ifndef META_TEXT_H
#define META_TEXT_H

#include "buffer.h"
#include "bytes.h"
#include "cursor.h"

static inline void meta_text_put(struct buffer *out, struct str text)
{
    buffer_i16(out, (int16_t)text.length);
    if (text.length > 0) buffer_put(out, text.data, (size_t)text.length);
}

/* Borrows from the cursor's bytes; marks it bad if the text is null and may not be, or holds a
 * NUL. */
static inline struct str meta_text_take(struct cursor *in, bool may_be_null)
{
    int16_t length = cursor_i16(in);
    if (in->bad || length < 0) {
        in->bad = in->bad || length != -1 || !may_be_null;
        return STR_NULL;
    }
    const uint8_t *data = cursor_take(in, (size_t)length);
    if (data == NULL || memchr(data, 0, (size_t)length) != NULL) {
        in->bad = true;
        return STR_NULL;
    }
    return (struct str){ (const char *)data, length };
}

#endif
