// SPDX-License-Identifier: Apache-2.0
/* The target that libFuzzer or fuzz_main.c calls. */

#ifndef TESTS_FUZZ_DECODE_H
#define TESTS_FUZZ_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Aborts when a promise is broken; otherwise returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

/* The two bytes in front of an input that stand for row `api` of wire_apis. */
void fuzz_choose(uint8_t choice[2], unsigned api, bool is_request, int16_t version);

/* An input with the kinds of fields that no message of ours has, in the older or the newer version. Less
 * than 100 bytes; returns how many. */
size_t fuzz_rare(uint8_t *input, bool is_whole);

#endif
