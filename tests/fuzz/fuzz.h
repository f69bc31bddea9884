// SPDX-License-Identifier: Apache-2.0
/* A fuzzer is a target and fuzz_run.c, which makes inputs by chance and changes them.
 *
 * A target knows what a good input is (fuzz_make), and how checksums and lengths are made right again
 * (fuzz_mend): half of the changed inputs are mended, so that what lies behind the checks is reached.
 * The same seed and number give the same input. */

#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/* ---- what a target has ---- */

extern const char fuzz_name[];

/* A good input; what it is like is for chance() to decide. */
void fuzz_make(struct buffer *input);

/* Makes the checksums in it right, as far as it still looks like an input. */
void fuzz_mend(uint8_t *data, size_t length);

/* Aborts when a promise is broken; otherwise returns 0. (libFuzzer's name: it can run the target, too.) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

/* ---- what it may use ---- */

/* The part of the target that this run is about (--part); NULL: all. */
extern const char *fuzz_part;

uint64_t chance(void);
size_t chance_below(size_t bound); /* 0 below 0. */

/* Ends the program with a sentence. */
void fuzz_promise(bool kept, const char *what);

/* Makes the CRCs of whole batches right that lie one after the other, as far as their lengths lead. */
void fuzz_mend_batches(uint8_t *data, size_t length);

#endif
