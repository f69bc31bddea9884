// SPDX-License-Identifier: Apache-2.0
/* What a service manager is told in the life of a broker. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "api_calls.h"

static void assert_hears(int manager, const char *begin)
{
    char state[256];
    ssize_t length = recv(manager, state, sizeof state - 1, 0);
    if (length < 0) fail_msg("the manager does not hear %s", begin);
    state[length] = '\0';
    if (strncmp(state, begin, strlen(begin)) != 0) fail_msg("it hears %s, not %s", state, begin);
}

TEST(a_manager_hears_of_ready_reload_and_stop)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct timeval patience = { .tv_sec = 30 };
    struct test_broker broker;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify", test_folder());
    int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(manager, (struct sockaddr *)&address, sizeof address), 0);
    setsockopt(manager, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);

    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    test_broker_open(&broker, NULL);
    unsetenv("NOTIFY_SOCKET");
    assert_hears(manager, "READY=1");
    kill(broker.pid, SIGHUP);
    assert_hears(manager, "RELOADING=1\nMONOTONIC_USEC=");
    assert_hears(manager, "READY=1");
    test_broker_stop(&broker);
    assert_hears(manager, "STOPPING=1");
    close(manager);
}
