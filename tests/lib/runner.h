// SPDX-License-Identifier: Apache-2.0
/* A test is one block: TEST(what_it_promises) { … } registers itself. An empty program fails. */

#ifndef TESTS_RUNNER_H
#define TESTS_RUNNER_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

struct test {
    const char *name;
    const char *file;
    void (*run)(void **state);
    struct test *next;
};

void test_register(struct test *test);

#define TEST(promise)                                                             \
    static void promise(void **cmocka_state);                                     \
    static struct test test_of_##promise = { #promise, __FILE__, promise, NULL }; \
    __attribute__((constructor)) static void register_##promise(void)             \
    {                                                                             \
        test_register(&test_of_##promise);                                        \
    }                                                                             \
    static void promise(void **cmocka_state __attribute__((unused)))

/* A fresh, empty folder that is removed, with everything in it, when the program ends. */
const char *test_folder(void);

/* Path of a file under tests/ in the source tree ("wire/fetch.jsonl"); from $SLUICE_TESTS or the
 * build's own knowledge. Static storage, overwritten by the next call. */
const char *test_data(const char *name);

/* The seed of this run: $SLUICE_SEED, otherwise fixed; printed when a test fails. */
uint64_t test_seed(void);

#endif
