// SPDX-License-Identifier: Apache-2.0
/* Where the admin port is, and with what it is opened: the settings sluice.admin.* and sluice.metrics.*. */

#ifndef BROKER_ADMIN_PORT_H
#define BROKER_ADMIN_PORT_H

#include "admin.h"
#include "config.h"

struct admin_address {
    char host[64]; /* Of loopback, in numbers. */
    uint16_t port;
};

/* "127.0.0.1:9644", "[::1]:9644", "localhost:9644". False, with the rest of a sentence in `why`: it is none, or
 * not on loopback, where nobody is who has no login on this machine (DESIGN 12). */
bool admin_address_read(const char *text, struct admin_address *address, char *why,
                        size_t why_size);

/* Binds it, unless there is to be none: then *admin is NULL. Where nobody said which port, one that is taken
 * (by another broker on this machine, for example) is worth a warning and no more. 0, or an err with one
 * sentence traced. */
int admin_port_open(struct admin **admin, const struct config *config, struct clock *clock);

#endif
