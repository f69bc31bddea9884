// SPDX-License-Identifier: Apache-2.0
#include "net.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "net_state.h"
#include "transport.h"

#define DEFAULT_CALLS_PER_CONNECTION 256

/* This part of the memory for requests is what ready replies may take before outbox.h (5) holds. */
#define UNSENT_SHARE 8

/* Others look at it once it is counted. */
static int net_add_loop(struct net *net, bool is_started)
{
    unsigned index = net_loop_count(net);
    struct net_loop *fresh = NULL;
    struct net_server *server = net->config.server;
    int err = net_loop_open(&fresh, net, index);
    if (err == 0 && is_started) {
        err = loop_start(fresh->base);
        fresh->has_thread = err == 0;
    }
    if (err == 0 && server->open_loop != NULL) err = server->open_loop(server, fresh);
    if (err != 0) {
        if (fresh != NULL && fresh->has_thread) loop_stop(fresh->base);
        net_loop_close(fresh);
        return err;
    }
    net->loops[index] = fresh;
    atomic_store_explicit(&net->unsent_per_loop,
                          net->config.memory_bytes / UNSENT_SHARE / (index + 1),
                          memory_order_relaxed);
    atomic_store_explicit(&net->loop_count, index + 1, memory_order_release);
    return 0;
}

static int net_have_loops(struct net *net, unsigned count, bool is_started)
{
    int err = 0;
    while (err == 0 && net_loop_count(net) < count)
        err = net_add_loop(net, is_started);
    if (count > net_loop_count(net)) count = net_loop_count(net);
    atomic_store_explicit(&net->loops_in_use, count, memory_order_release);
    return err;
}

static int net_open_loops(struct net *net)
{
    net->loops = mem_calloc(NET_LOOPS_MAX, sizeof(struct net_loop *));
    return net->loops == NULL ? ERR_NO_MEMORY : net_have_loops(net, net->config.loop_count, false);
}

int net_use_loops(struct net *net, unsigned count)
{
    return net_have_loops(net, count, true);
}

static void net_free_loops(struct net *net)
{
    for (unsigned i = 0; net->loops != NULL && i < net_loop_count(net); i++)
        net_loop_close(net->loops[i]);
    mem_free(net->loops);
}

int net_open(struct net **net, const struct net_config *config)
{
    struct net *fresh = mem_zalloc(sizeof *fresh);
    if (fresh == NULL) return ERR_NO_MEMORY;
    /* sendfile (and OpenSSL's write) cannot be told that a closed socket is an error, not a
     * signal. */
    signal(SIGPIPE, SIG_IGN);
    fresh->config = *config;
    if (fresh->config.max_calls_per_connection == 0)
        fresh->config.max_calls_per_connection = DEFAULT_CALLS_PER_CONNECTION;
    if (fresh->config.transport == NULL) fresh->config.transport = &transport_plain;

    bool has_budget = false, has_limits = false;
    int err = memory_budget_open(&fresh->budget, config->memory_bytes, READ_BUFFER_BYTES);
    has_budget = err == 0;
    if (err == 0) err = connection_limits_open(&fresh->limits, &config->limits);
    has_limits = has_budget && err == 0;
    if (err == 0) err = net_open_loops(fresh);
    if (err == 0) {
        acceptor_init(&fresh->acceptor, fresh, fresh->loops[0]->base);
        *net = fresh;
        return 0;
    }
    net_free_loops(fresh);
    if (has_limits) connection_limits_close(&fresh->limits);
    if (has_budget) memory_budget_close(&fresh->budget);
    mem_free(fresh);
    return err;
}

int net_listen(struct net *net, const char *host, uint16_t port, unsigned *index,
               uint16_t *bound_port, char *why, size_t why_size)
{
    struct listener_wish wish = { host, port, net->config.receive_buffer_bytes,
                                  net->config.backlog_size };
    struct listener *listener = NULL;
    uint16_t bound;
    int err = listener_open(&listener, &wish, &bound, why, why_size);
    if (err != 0) return err;
    err = acceptor_add(&net->acceptor, listener, index);
    if (err == 0) {
        *bound_port = bound;
        return 0;
    }
    snprintf(why, why_size, "%s", error_text(err));
    listener_stop(listener);
    mem_free(listener);
    return err;
}

int net_start(struct net *net)
{
    int err = 0;
    for (unsigned i = 0; err == 0 && i < net_loop_count(net); i++) {
        err = loop_start(net->loops[i]->base);
        net->loops[i]->has_thread = err == 0;
    }
    return err;
}

static void net_accept_here(struct net_loop *net_loop, void *net)
{
    (void)net_loop;
    acceptor_start(&((struct net *)net)->acceptor);
}

void net_accept(struct net *net)
{
    net_loop_errand(net->loops[0], net_accept_here, net);
}

static void net_stop_here(struct net_loop *net_loop, void *net)
{
    (void)net_loop;
    acceptor_stop(&((struct net *)net)->acceptor);
}

int net_set_limits(struct net *net, const struct net_limits *limits)
{
    int err = connection_limits_change(&net->limits, limits);
    if (err == 0) acceptor_wake(&net->acceptor);
    return err;
}

void net_stop_accepting(struct net *net)
{
    net_loop_errand(net->loops[0], net_stop_here, net);
}

static void net_close_here(struct net_loop *net_loop, void *unused)
{
    (void)unused;
    net_loop_close_connections(net_loop);
}

/* A loop without a thread (it was not started, or a test gives it its turns) gets its turns
 * here. */
static void net_wait_until_gone(struct net_loop *net_loop)
{
    while (!net_loop->has_thread && sem_trywait(&net_loop->gone) != 0) {
        loop_turn(net_loop->base);
        sched_yield();
    }
    while (net_loop->has_thread && sem_wait(&net_loop->gone) != 0 && errno == EINTR)
        ;
}

void net_close(struct net *net)
{
    if (net == NULL) return;
    net_stop_accepting(net);
    for (unsigned i = 0; i < net_loop_count(net); i++)
        net_loop_errand(net->loops[i], net_close_here, NULL);
    for (unsigned i = 0; i < net_loop_count(net); i++)
        net_wait_until_gone(net->loops[i]);
    for (unsigned i = 0; i < net_loop_count(net); i++)
        if (net->loops[i]->has_thread) loop_stop(net->loops[i]->base);
    net_free_loops(net);
    acceptor_close(&net->acceptor);
    connection_limits_close(&net->limits);
    memory_budget_close(&net->budget);
    mem_free(net);
}

unsigned net_loop_count(const struct net *net)
{
    return atomic_load_explicit(&net->loop_count, memory_order_acquire);
}

struct net_loop *net_loop_at(struct net *net, unsigned index)
{
    return net->loops[index];
}

void net_stats(struct net *net, struct net_stats *stats)
{
    *stats = (struct net_stats){
        .connections_open = (uint64_t)connection_limits_count(&net->limits),
        .connections_accepted = atomic_load(&net->connections_accepted),
        .connections_refused = atomic_load(&net->connections_refused),
    };
    memory_budget_usage(&net->budget, &stats->memory_reserved, &stats->memory_waiting);
    for (unsigned i = 0; i < net_loop_count(net); i++) {
        struct net_loop_stats loop_stats;
        net_loop_stats(net->loops[i], &loop_stats);
        stats->frames += loop_stats.frames;
        stats->bytes_in += loop_stats.bytes_in;
        stats->bytes_out += loop_stats.bytes_out;
    }
}
