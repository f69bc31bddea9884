// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "error.h"

static void read_signal(uv_poll_t *poll, int status, int events)
{
    struct signals *signals = poll->data;
    struct signalfd_siginfo info;
    (void)status;
    (void)events;
    if (read(signals->fd, &info, sizeof info) == sizeof info)
        signals->asked(signals, (int)info.ssi_signo);
}

int signals_hold_reload(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    return pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 ? 0 : ERR_IO;
}

int signals_open(struct signals *signals, struct loop *loop,
                 void (*asked)(struct signals *signals, int number))
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) return ERR_IO;
    signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals->fd < 0) return ERR_IO;
    signals->asked = asked;
    signals->poll.data = signals;
    if (uv_poll_init(loop_uv(loop), &signals->poll, signals->fd) != 0) {
        close(signals->fd);
        return ERR_IO;
    }
    signals->is_open = true;
    return uv_poll_start(&signals->poll, UV_READABLE, read_signal) == 0 ? 0 : ERR_IO;
}

void signals_close(struct signals *signals)
{
    if (!signals->is_open) return;
    uv_close((uv_handle_t *)&signals->poll, NULL);
    close(signals->fd);
    signals->is_open = false;
}
