// SPDX-License-Identifier: Apache-2.0
#include "sd_notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "trace.h"

int sd_notify_send(const char *socket_path, const char *state)
{
    if (socket_path == NULL || socket_path[0] == '\0') return 0;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t length = strlen(socket_path);
    if (length >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return ERR_IO;
    }
    memcpy(address.sun_path, socket_path, length);
    /* An abstract name begins with a NUL and has no end mark: its length is that of the address. */
    if (socket_path[0] == '@') address.sun_path[0] = '\0';

    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return ERR_IO;
    size_t size = strlen(state);
    socklen_t address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    ssize_t sent = sendto(fd, state, size, MSG_NOSIGNAL, (struct sockaddr *)&address,
                          address_length);
    int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return sent == (ssize_t)size ? 0 : ERR_IO;
}

static void tell(const char *state)
{
    if (sd_notify_send(getenv("NOTIFY_SOCKET"), state) != 0)
        trace(TRACE_WARN, "broker", "systemd was not told that: %s: %s", state, strerror(errno));
}

void sd_notify_ready(void)
{
    tell("READY=1");
}

void sd_notify_reloading(void)
{
    /* Type=notify-reload wants to know when, so that an older READY=1 is not taken for this one's end. */
    char state[64];
    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
             clock_monotonic_us(clock_real()));
    tell(state);
}

void sd_notify_stopping(void)
{
    tell("STOPPING=1");
}
