// SPDX-License-Identifier: Apache-2.0
/* What can be seen of a broker of the test's own besides its answers: files, threads, sockets, lines. */

#ifndef TESTS_BROKER_INSIDE_H
#define TESTS_BROKER_INSIDE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "runner.h"
#include "test_broker.h"

/* Waits until it holds; a test whose condition never does fails. Shorter than the intervals of a minute
 * that settings have by default, since some tests show that theirs counts. */
#define AWAIT(condition)                                                                        \
    do {                                                                                        \
        int64_t await_until_ms = test_now_ms() + 40000;                                         \
        while (!(condition)) {                                                                  \
            if (test_now_ms() > await_until_ms) fail_msg("this does not come: %s", #condition); \
            poll(NULL, 0, 1);                                                                   \
        }                                                                                       \
    } while (0)

/* ---- files, by their path below the only data folder ---- */

/* The size; -1: there is no such file. */
int64_t broker_file_size(const struct test_broker *broker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What it takes on the disk; -1: there is no such file. */
int64_t broker_file_disk_bytes(const struct test_broker *broker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* How many files of a folder end so; 0 if there is no such folder. */
unsigned broker_files_like(const struct test_broker *broker, const char *folder,
                           const char *suffix);

/* What a checkpoint file says of a partition; -1: nothing. */
int64_t broker_checkpoint(const struct test_broker *broker, const char *file, const char *topic,
                          int32_t partition);

/* ---- the process ---- */

/* Has it said so, in this life or an earlier one? */
bool broker_has_said(const struct test_broker *broker, const char *text);

/* Threads whose name begins so. */
unsigned broker_threads(const struct test_broker *broker, const char *name);

/* Calls of read() and its like so far. */
uint64_t broker_reads(const struct test_broker *broker);

/* ---- sockets ---- */

struct socket_facts {
    uint32_t receive_buffer, send_buffer; /* What the kernel makes of what is asked: twice that. */
    uint32_t backlog;                     /* Of one that listens. */
};

/* The socket that listens (`peer` 0), or the broker's end of the client's with the local port `peer`.
 * False: the kernel does not tell. */
bool broker_socket(const struct test_broker *broker, uint16_t peer, struct socket_facts *facts);

uint16_t local_port(int fd);

#endif
