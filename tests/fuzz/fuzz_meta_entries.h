// SPDX-License-Identifier: Apache-2.0
/* Payloads of the metadata log's entries, by chance. */

#ifndef TESTS_FUZZ_META_ENTRIES_H
#define TESTS_FUZZ_META_ENTRIES_H

#include "buffer.h"

void fuzz_meta_command(struct buffer *payload);
void fuzz_meta_members(struct buffer *payload);

#endif
