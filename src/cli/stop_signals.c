// SPDX-License-Identifier: Apache-2.0
#include "stop_signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "error.h"
#include "output.h"

void stop_signals_init(struct stop_signals *signals)
{
    signals->fd = -1;
}

int stop_signals_open(struct stop_signals *signals)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals->fd >= 0) return 0;
    output_complain("signals cannot be waited for: %m");
    return ERR_IO;
}

void stop_signals_close(struct stop_signals *signals)
{
    if (signals->fd >= 0) close(signals->fd);
    signals->fd = -1;
}

bool stop_signals_came(const struct stop_signals *signals)
{
    struct signalfd_siginfo signal;
    return signals->fd >= 0 && read(signals->fd, &signal, sizeof signal) == (ssize_t)sizeof signal;
}
