// SPDX-License-Identifier: Apache-2.0
/* Bytes as text, as RFC 4648 has it: + and /, filled up with =. */

#ifndef CLI_BASE64_H
#define CLI_BASE64_H

#include "buffer.h"

/* Appends the text of `data`. A failed allocation shows in the buffer. */
void base64_encode(struct buffer *out, const uint8_t *data, size_t length);

/* Appends the bytes that `text` stands for. Returns 0, or ERR_MALFORMED: it stands for none. */
int base64_decode(struct buffer *out, const char *text, size_t length);

#endif
