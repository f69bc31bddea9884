// SPDX-License-Identifier: Apache-2.0
/* The admin port: a little HTTP for those who watch over the broker.
 *
 *    GET /metrics        Prometheus' text
 *    GET /health/live    200: every loop answers
 *    GET /health/ready   200: the quorum has a leader, logs are open, folders can be written to; otherwise 503
 *                        and a line for each reason
 *
 *  (1) HTTP is libmicrohttpd's business; it runs on a loop of its own, so that nothing that comes in here can
 *      hold up a client of the broker.
 *  (2) What comes in is bounded: so many connections, each with so much memory, each for so long, however
 *      slowly or quickly it sends; if there are more, the oldest goes. Each has one request.
 *  (3) Nothing happens here while nobody asks. */

#ifndef ADMIN_ADMIN_H
#define ADMIN_ADMIN_H

#include "metrics.h"

struct admin;

struct admin_options {
    struct loop *main_loop;
    struct metrics_sources sources;
};

/* Binds; nobody is served yet. Port 0: a free one, which `bound_port` gets. `why` (at least 200 bytes) gets a
 * sentence on failure. 0, ERR_IO, ERR_NO_MEMORY. */
int admin_open(struct admin **admin, struct clock *clock, const char *host, uint16_t port,
               uint16_t *bound_port, char *why, size_t why_size);

/* Serves from now on, on a thread of its own. Everything in `options` is there until admin_stop(). 0, ERR_IO,
 * ERR_NO_MEMORY. */
int admin_start(struct admin *admin, const struct admin_options *options);

/* Clients are accepted. Any thread. */
void admin_set_ready(struct admin *admin);

/* Nobody is served any more once it returns. NULL is fine. */
void admin_stop(struct admin *admin);

/* Frees. After the loops of `options` were closed: a question may still have been on its way to them. NULL is
 * fine. */
void admin_close(struct admin *admin);

#endif
