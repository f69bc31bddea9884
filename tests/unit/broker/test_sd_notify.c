// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "error.h"
#include "sd_notify.h"

static int manager_at(struct sockaddr_un *address, size_t path_length)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_length);
    assert_int_equal(bind(fd, (struct sockaddr *)address, length), 0);
    return fd;
}

static void assert_hears(int manager, const char *expected)
{
    char state[128];
    ssize_t length = recv(manager, state, sizeof state - 1, 0);
    assert_true(length >= 0);
    state[length] = '\0';
    assert_string_equal(state, expected);
}

TEST(a_manager_at_a_path_is_told)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify", test_folder());
    int manager = manager_at(&address, strlen(address.sun_path));
    assert_int_equal(sd_notify_send(address.sun_path, "READY=1"), 0);
    assert_hears(manager, "READY=1");
    close(manager);
    assert_int_equal(sd_notify_send(address.sun_path, "STOPPING=1"), ERR_IO);
}

TEST(a_manager_with_an_abstract_name_is_told)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char path[64];
    snprintf(path, sizeof path, "@sluice-test-%d", (int)getpid());
    memcpy(address.sun_path, path, strlen(path));
    address.sun_path[0] = '\0';
    int manager = manager_at(&address, strlen(path));
    assert_int_equal(sd_notify_send(path, "READY=1"), 0);
    assert_hears(manager, "READY=1");
    close(manager);
}

/* Who does not read must not hold the broker up. */
TEST(a_manager_that_does_not_read_is_not_waited_for)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify", test_folder());
    int manager = manager_at(&address, strlen(address.sun_path));
    int err = 0;
    for (int i = 0; i < 100000 && err == 0; i++)
        err = sd_notify_send(address.sun_path, "READY=1");
    assert_int_equal(err, ERR_IO);
    close(manager);
}

TEST(nobody_asked_is_fine_and_a_path_too_long_is_refused)
{
    char path[300];
    assert_int_equal(sd_notify_send(NULL, "READY=1"), 0);
    assert_int_equal(sd_notify_send("", "READY=1"), 0);
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_int_equal(sd_notify_send(path, "READY=1"), ERR_IO);
}
