// SPDX-License-Identifier: Apache-2.0
/* A sluiced of the test's own, as a process: it can be stopped, killed and started again.
 *
 * The program is $SLUICED, otherwise the build's. Waiting has a deadline, after which the test fails
 * and shows the end of what the broker said. */

#ifndef TESTS_TEST_BROKER_H
#define TESTS_TEST_BROKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TEST_BROKER_SETTINGS_MAX 48

struct test_broker {
    const char *settings[TEST_BROKER_SETTINGS_MAX + 1]; /* "name=value"; NULL-ended; borrowed. */
    char folder[128];          /* "data" is log.dirs, "output" what the broker said. */
    bool adopt;                /* Start with --adopt. */
    unsigned descriptor_limit; /* RLIMIT_NOFILE; 0: as the test's. */
    uint16_t port;             /* On 127.0.0.1; the same after a restart. */
    pid_t pid;                 /* 0: not running. */
    off_t output_before;       /* What it had said when it was started last. */
};

/* Monotonic. */
int64_t test_now_ms(void);

/* Starts a broker with an empty data folder and waits until it answers. `settings` is NULL-ended, or
 * NULL for none. */
void test_broker_open(struct test_broker *broker, const char *const *settings);

/* The same with one setting; it must last as long as the broker. */
void test_broker_open_with(struct test_broker *broker, const char *setting);

/* The same, but does not start it: "data" is not there yet. */
void test_broker_prepare(struct test_broker *broker, const char *const *settings);

/* The same, but "data" is a copy of a Kafka's folder (test_data()), which the broker is to adopt. */
void test_broker_prepare_on(struct test_broker *broker, const char *const *settings,
                            const char *folder);

/* Starts a broker that should refuse to run; the status with which it exits. */
int test_broker_ends_by_itself(struct test_broker *broker);

/* After stop or kill: the same folder, port and settings. */
void test_broker_start(struct test_broker *broker);

/* The two halves of a start, to come between: nothing but the process; until its first line of
 * output in this life (its signals are its own by then). */
void test_broker_launch(struct test_broker *broker);
void test_broker_await_output(struct test_broker *broker);

void test_broker_stop(struct test_broker *broker); /* SIGTERM; the exit status must be 0. */
void test_broker_kill(struct test_broker *broker); /* SIGKILL. */

/* SIGTERM, and what test_broker_stop() waits for, separately. */
void test_broker_ask_to_stop(struct test_broker *broker);
void test_broker_wait(struct test_broker *broker);

/* The broker of all tests that do not restart theirs; begun by the first call, stopped when the
 * program ends, which then fails if the broker did. With $SLUICE_TEST_PORT it is a broker that
 * somebody else runs, Kafka for example: so the tests themselves are tested. */
uint16_t shared_broker_port(void);
bool shared_broker_is_foreign(void);

#endif
