// SPDX-License-Identifier: Apache-2.0
/* What tests/data/transactions holds, a partition that a Kafka wrote, by that Kafka's own word. */

#ifndef TESTS_KAFKAS_TRANSACTIONS_H
#define TESTS_KAFKAS_TRANSACTIONS_H

#define KAFKAS_TRANSACTIONS_END 51
#define KAFKAS_FIRST_OPEN       48 /* Of a transaction that never ended. */

/* Those that were aborted: producer, first and last offset, last stable offset. */
/* clang-format off */
#define KAFKAS_ABORTED_TRANSACTIONS(ROW) \
    ROW(0,  1,  6,  2)                   \
    ROW(0,  8, 12,  9)                   \
    ROW(1, 15, 19, 20)                   \
    ROW(0, 22, 26, 20)                   \
    ROW(1, 23, 27, 20)                   \
    ROW(2, 20, 35, 36)                   \
    ROW(0, 36, 39, 37)                   \
    ROW(1, 37, 41, 42)                   \
    ROW(1, 43, 47, 48)
/* clang-format on */

#endif
