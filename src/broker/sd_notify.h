// SPDX-License-Identifier: Apache-2.0
/* What systemd is told about us, if it asked (Type=notify in the unit): that we serve, read our settings
 * again, or stop. One datagram each, to the socket that $NOTIFY_SOCKET names; without it nothing happens.
 *
 * Written by hand, since the protocol is a line of text and a library for it brings more than it saves. */

#ifndef BROKER_SD_NOTIFY_H
#define BROKER_SD_NOTIFY_H

/* Sends `state`, lines of NAME=VALUE as in sd_notify(3). `socket_path` is $NOTIFY_SOCKET: a path, or @ and an
 * abstract name; NULL: nobody asked. Does not wait: a manager that does not read misses it. 0, or ERR_IO. */
int sd_notify_send(const char *socket_path, const char *state);

/* The three that there are, each with a line in the trace if it could not be sent. */
void sd_notify_ready(void);
void sd_notify_reloading(void); /* To be followed by sd_notify_ready(). */
void sd_notify_stopping(void);

#endif
