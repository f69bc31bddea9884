// SPDX-License-Identifier: Apache-2.0
#include "test_broker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"

#ifndef SLUICED_PROGRAM
#define SLUICED_PROGRAM "build/sluiced" /* Run from the top of the tree. */
#endif

#define DEADLINE_S      60
#define ARGUMENTS_MAX   (2 * TEST_BROKER_SETTINGS_MAX + 8)
#define OUTPUT_TAIL     6000
#define PORT_LOWEST     10000
#define PORTS           20000 /* Below those that the kernel gives to outgoing connections. */
#define EXIT_NO_PROGRAM 127

int64_t test_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void show_output(const struct test_broker *broker)
{
    char path[sizeof broker->folder + 16];
    snprintf(path, sizeof path, "%s/output", broker->folder);
    FILE *output = fopen(path, "r");
    if (output == NULL) return;
    static char tail[OUTPUT_TAIL + 1];
    if (fseek(output, -OUTPUT_TAIL, SEEK_END) != 0) rewind(output);
    tail[fread(tail, 1, OUTPUT_TAIL, output)] = '\0';
    fclose(output);
    fprintf(stderr, "---- the broker in %s said:\n%s----\n", broker->folder, tail);
}

static struct sockaddr_in loopback(uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static uint16_t free_port(void)
{
    static unsigned offset;
    if (offset == 0) offset = (unsigned)getpid() * 17;
    for (unsigned tries = 0; tries < PORTS; tries++) {
        uint16_t port = (uint16_t)(PORT_LOWEST + offset++ % PORTS);
        struct sockaddr_in address = loopback(port);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int err = bind(fd, (struct sockaddr *)&address, sizeof address);
        close(fd);
        if (err == 0) return port;
    }
    fail_msg("no port is free");
    return 0;
}

/* Whether a broker answers ApiVersions, the oldest version, there. */
static bool answers(uint16_t port)
{
    static const uint8_t request[] = { 0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff };
    struct sockaddr_in address = loopback(port);
    struct timeval patience = { .tv_sec = DEADLINE_S };
    uint8_t reply[10] = { 0 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    bool is_answered = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                       send(fd, request, sizeof request, MSG_NOSIGNAL) == (ssize_t)sizeof request &&
                       recv(fd, reply, sizeof reply, MSG_WAITALL) == (ssize_t)sizeof reply &&
                       reply[7] == 1 && reply[8] == 0 &&
                       reply[9] == 0; /* Correlation id, error code. */
    close(fd);
    return is_answered;
}

/* Never returns. */
static void run_program(const struct test_broker *broker)
{
    char output[sizeof broker->folder + 16];
    char log_dirs[sizeof broker->folder + 32], listeners[64];
    snprintf(output, sizeof output, "%s/output", broker->folder);
    snprintf(log_dirs, sizeof log_dirs, "log.dirs=%s/data", broker->folder);
    snprintf(listeners, sizeof listeners, "listeners=PLAINTEXT://127.0.0.1:%d", broker->port);

    const char *program = getenv("SLUICED");
    if (program == NULL || program[0] == '\0') program = SLUICED_PROGRAM;
    const char *arguments[ARGUMENTS_MAX] = {
        program, "--dev", "--set", log_dirs, "--set", listeners, "--set", "sluice.admin.listener="
    };
    unsigned at = 8;
    if (broker->adopt) arguments[at++] = "--adopt";
    for (unsigned i = 0; broker->settings[i] != NULL; i++) {
        arguments[at++] = "--set";
        arguments[at++] = broker->settings[i];
    }

    struct rlimit descriptors = { broker->descriptor_limit, broker->descriptor_limit };
    if (broker->descriptor_limit > 0) setrlimit(RLIMIT_NOFILE, &descriptors);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* A test that crashes leaves no broker behind. */
    int fd = open(output, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execv(program, (char *const *)(uintptr_t)arguments);
    fprintf(stderr, "%s: %s\n", program, strerror(errno));
    _exit(EXIT_NO_PROGRAM);
}

static void fail_with_output(struct test_broker *broker, const char *what)
{
    show_output(broker);
    if (broker->pid != 0) {
        kill(broker->pid, SIGKILL);
        waitpid(broker->pid, NULL, 0);
        broker->pid = 0;
    }
    fail_msg("the broker %s", what);
}

static off_t output_size(const struct test_broker *broker)
{
    char path[sizeof broker->folder + 16];
    struct stat status;
    snprintf(path, sizeof path, "%s/output", broker->folder);
    return stat(path, &status) == 0 ? status.st_size : 0;
}

void test_broker_launch(struct test_broker *broker)
{
    broker->output_before = output_size(broker);
    fflush(NULL);
    broker->pid = fork();
    if (broker->pid == 0) run_program(broker);
    assert_true(broker->pid > 0);
}

void test_broker_await_output(struct test_broker *broker)
{
    int64_t deadline_ms = test_now_ms() + DEADLINE_S * 1000;
    while (output_size(broker) == broker->output_before) {
        if (test_now_ms() > deadline_ms) fail_with_output(broker, "says nothing");
        poll(NULL, 0, 1);
    }
}

void test_broker_start(struct test_broker *broker)
{
    test_broker_launch(broker);
    int64_t deadline_ms = test_now_ms() + DEADLINE_S * 1000;
    while (!answers(broker->port)) {
        if (waitpid(broker->pid, NULL, WNOHANG) == broker->pid) {
            broker->pid = 0;
            fail_with_output(broker, "ended instead of serving");
        }
        if (test_now_ms() > deadline_ms) fail_with_output(broker, "does not answer");
        poll(NULL, 0, 1);
    }
}

void test_broker_prepare(struct test_broker *broker, const char *const *settings)
{
    if (shared_broker_is_foreign()) skip();
    *broker = (struct test_broker){ .port = free_port() };
    for (unsigned i = 0; settings != NULL && settings[i] != NULL; i++) {
        assert_true(i < TEST_BROKER_SETTINGS_MAX);
        broker->settings[i] = settings[i];
    }
    snprintf(broker->folder, sizeof broker->folder, "%s", test_folder());
}

void test_broker_prepare_on(struct test_broker *broker, const char *const *settings,
                            const char *folder)
{
    char command[1024];
    test_broker_prepare(broker, settings);
    broker->adopt = true;
    snprintf(command, sizeof command, "cp -r '%s' '%s/data'", test_data(folder), broker->folder);
    assert_int_equal(system(command), 0);
}

void test_broker_open(struct test_broker *broker, const char *const *settings)
{
    test_broker_prepare(broker, settings);
    test_broker_start(broker);
}

void test_broker_open_with(struct test_broker *broker, const char *setting)
{
    const char *settings[] = { setting, NULL };
    test_broker_open(broker, settings);
}

void test_broker_ask_to_stop(struct test_broker *broker)
{
    assert_true(broker->pid > 0);
    kill(broker->pid, SIGTERM);
}

/* The wait status, or -1 after the deadline. */
static int wait_for(struct test_broker *broker)
{
    int64_t deadline_ms = test_now_ms() + DEADLINE_S * 1000;
    int status = -1;
    while (waitpid(broker->pid, &status, WNOHANG) != broker->pid) {
        if (test_now_ms() > deadline_ms) return -1;
        poll(NULL, 0, 1);
    }
    broker->pid = 0;
    return status;
}

void test_broker_wait(struct test_broker *broker)
{
    int status = wait_for(broker);
    if (status == -1) fail_with_output(broker, "does not end after SIGTERM");
    if (status != 0) fail_with_output(broker, "ended with an error after SIGTERM");
}

void test_broker_stop(struct test_broker *broker)
{
    test_broker_ask_to_stop(broker);
    test_broker_wait(broker);
}

void test_broker_kill(struct test_broker *broker)
{
    assert_true(broker->pid > 0);
    kill(broker->pid, SIGKILL);
    waitpid(broker->pid, NULL, 0);
    broker->pid = 0;
}

int test_broker_ends_by_itself(struct test_broker *broker)
{
    test_broker_launch(broker);
    int status = wait_for(broker);
    if (status == -1) fail_with_output(broker, "does not end by itself");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the one that most tests share ---- */

static struct test_broker shared;

static void stop_shared(void)
{
    if (shared.pid == 0) return;
    kill(shared.pid, SIGTERM);
    int status = wait_for(&shared);
    if (status == 0) return;
    fprintf(stderr, "the broker of all tests ended with wait status %d\n", status);
    show_output(&shared);
    _exit(1);
}

bool shared_broker_is_foreign(void)
{
    const char *port = getenv("SLUICE_TEST_PORT");
    return port != NULL && port[0] != '\0';
}

uint16_t shared_broker_port(void)
{
    if (shared_broker_is_foreign()) return (uint16_t)atoi(getenv("SLUICE_TEST_PORT"));
    if (shared.pid == 0) {
        bool is_first = shared.port == 0;
        test_broker_open(&shared, NULL);
        if (is_first) atexit(stop_shared);
    } else if (waitpid(shared.pid, NULL, WNOHANG) == shared.pid) {
        /* The next tests get another one, but this is not forgiven. */
        shared.pid = 0;
        fail_with_output(&shared, "of all tests has ended");
    }
    return shared.port;
}
