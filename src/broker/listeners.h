// SPDX-License-Identifier: Apache-2.0
/* Where the broker listens, and what it tells clients (DESIGN 3.4).
 *
 *  (1) Names, ports (other than 0) are different; one IPv4 and one IPv6 address may share a port.
 *  (2) Every listener has a protocol in listener.security.protocol.map, and it is PLAINTEXT:
 *      nothing else is served, and a listener that its owner believes encrypted may not be open.
 *  (3) Listeners for controllers are left out: a quorum of one node talks to nobody.
 *  (4) What is advertised is never empty and never stands for all addresses. */

#ifndef BROKER_LISTENERS_H
#define BROKER_LISTENERS_H

#include "config.h"
#include "settings.h"

#define LISTENERS_MAX 16

/* Reads listeners, advertised.listeners, controller.listener.names and the map of protocols.
 * `machine_name` is advertised for hosts that stand for all. Gives the array and everything in it
 * (listeners_free). What is not legal goes to the report, and then nothing is given. 0 or
 * ERR_NO_MEMORY. */
int listeners_read(const struct settings *settings, bool dev, const char *machine_name,
                   struct config_listener **listeners, unsigned *count,
                   struct config_report *report);

void listeners_free(struct config_listener *listeners, unsigned count); /* NULL is fine. */

#endif
