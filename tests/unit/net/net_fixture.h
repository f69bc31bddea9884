// SPDX-License-Identifier: Apache-2.0
/* A server that does as its requests say, and clients that talk to it over loopback.
 *
 * A request's first byte says what to do with it:
 *
 *    'e'  answer at once, with the request's own bytes
 *    'w'  work for 3 ms, by a clock_manual, and answer
 *    'b'  answer when the burst ends
 *    's'  keep the frame, answer when the test says so
 *    'S'  the same, and nothing may overtake it
 *    'r'  the same as 's', but the frame is given back at once; the answer is "r"
 *    'l'  the same as 's', but it is answered, not ended silently, once it is abandoned
 *    'n'  end silently
 *    'x'  refuse
 *    'm'  answer with as many bytes as the next four say
 *    'f'  answer with pieces of the fixture's file: four bytes position, four bytes length each;
 *         a '|' goes before, between and behind them */

#ifndef TESTS_NET_FIXTURE_H
#define TESTS_NET_FIXTURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "clock.h"
#include "job.h"
#include "net.h"

#define SUSPENDED_MAX 4096
#define PUT_OFF_MAX   1024
#define LOOPS_MAX     4
#define TRACE_LINES   64

struct net_fixture {
    struct net_server server;
    struct executor disk; /* One thread of its own. */
    struct net_config config;
    struct net *net;
    uint16_t port;
    unsigned listener;
    bool has_threads; /* Otherwise the loops get their turns while a client waits. */

    struct { /* Each loop's own. */
        struct call *calls[PUT_OFF_MAX];
        unsigned count;
    } put_off[LOOPS_MAX];

    pthread_mutex_t lock; /* For everything below. */
    pthread_cond_t changed;
    struct call *suspended[SUSPENDED_MAX];
    unsigned suspended_count;
    bool tells_nobody; /* Suspended calls do not ask to be told. Set before the net is up. */
    unsigned calls, bursts, abandoned;
    char peer[64];

    struct list jobs;
    bool are_jobs_held, is_stopping;
    unsigned jobs_run, jobs_waiting;
    pthread_t worker;
    bool is_closing;
    pthread_t closer;

    int file;             /* What 'f' sends from; byte i is file_byte(i). */
    uint8_t *file_memory; /* The same bytes, which 'M' sends from. */
    unsigned slices_made, slices_released;
};

/* Fills in a configuration that a test then changes. */
void fixture_init(struct net_fixture *fixture);

/* Opens, listens on 127.0.0.1, starts threads (or not) and accepts. */
void fixture_up(struct net_fixture *fixture, bool has_threads);
void fixture_down(struct net_fixture *fixture);

/* Has another thread call net_close(); fixture_down() waits for that. With loops that have threads, and
 * time that stands still if the loops are to be asked anything meanwhile: they are there until every
 * call has ended and every client has closed. */
void fixture_begin_close(struct net_fixture *fixture);

void fixture_turn(struct net_fixture *fixture); /* One turn of each loop, without threads. */

/* Lets the loops do what they can do now: with threads, what they have begun. */
void fixture_settle(struct net_fixture *fixture);

uint8_t file_byte(size_t at);
void fixture_make_file(struct net_fixture *fixture, size_t length);

/* Waits until so many calls are suspended, abandoned or were seen, connections open, jobs
 * waiting. */
void fixture_await_suspended(struct net_fixture *fixture, unsigned count);
void fixture_await_abandoned(struct net_fixture *fixture, unsigned count);
void fixture_await_calls(struct net_fixture *fixture, unsigned count);
void fixture_await_jobs(struct net_fixture *fixture, unsigned count);
void fixture_await_connections(struct net_fixture *fixture, uint64_t count);
void fixture_await_waiting_memory(struct net_fixture *fixture, uint64_t bytes);

/* Ends suspended calls, in the order given by their first payload byte, all within one message. */
void fixture_answer(struct net_fixture *fixture, const char *order);
void fixture_answer_all(struct net_fixture *fixture);
void fixture_hold_jobs(struct net_fixture *fixture, bool are_held);

struct net_stats fixture_stats(struct net_fixture *fixture);

/* ---- clients: descriptors; each call fails the test if it does not succeed ---- */

int client_connect(struct net_fixture *fixture);
int client_connect_to(int fd, const void *to, socklen_t to_size); /* 0 or errno. */
ssize_t client_recv(int fd, void *to, size_t length, int flags);  /* recv(), but never EINTR. */
void client_send(int fd, const void *data, size_t length);
void client_request(int fd, const void *frame, size_t length); /* With the length in front. */
void client_text(int fd, const char *frame);

/* The next reply, without its length; static storage of at least 64 MiB. */
const uint8_t *client_reply(struct net_fixture *fixture, int fd, size_t *length);
void client_expect(struct net_fixture *fixture, int fd, const char *text);
void client_expect_closed(struct net_fixture *fixture, int fd);
void client_expect_end(struct net_fixture *fixture, int fd); /* The same, but not by a reset. */

/* ---- what was traced ---- */

unsigned traced(const char *part); /* How many lines since fixture_up() contain `part`. */

#endif
