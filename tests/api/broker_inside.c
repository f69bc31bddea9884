// SPDX-License-Identifier: Apache-2.0
#include "broker_inside.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes.h"

#define PATH_SIZE 512

/* ---- files ---- */

__attribute__((format(printf, 2, 0))) static bool look_at(const struct test_broker *broker,
                                                          const char *format, va_list arguments,
                                                          struct stat *status)
{
    char name[PATH_SIZE / 2], path[PATH_SIZE];
    vsnprintf(name, sizeof name, format, arguments);
    snprintf(path, sizeof path, "%s/data/%s", broker->folder, name);
    return stat(path, status) == 0;
}

int64_t broker_file_size(const struct test_broker *broker, const char *format, ...)
{
    struct stat status;
    va_list arguments;
    va_start(arguments, format);
    bool is_there = look_at(broker, format, arguments, &status);
    va_end(arguments);
    return is_there ? status.st_size : -1;
}

int64_t broker_file_disk_bytes(const struct test_broker *broker, const char *format, ...)
{
    struct stat status;
    va_list arguments;
    va_start(arguments, format);
    bool is_there = look_at(broker, format, arguments, &status);
    va_end(arguments);
    return is_there ? status.st_blocks * INT64_C(512) : -1;
}

unsigned broker_files_like(const struct test_broker *broker, const char *folder, const char *suffix)
{
    char path[PATH_SIZE];
    unsigned count = 0;
    snprintf(path, sizeof path, "%s/data/%s", broker->folder, folder);
    DIR *entries = opendir(path);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;)
        count += text_ends_with(entry->d_name, suffix);
    if (entries != NULL) closedir(entries);
    return count;
}

/* The lines of a file, each given to `is_it` until one is. */
static bool has_line(const char *path, bool (*is_it)(const char *line, const void *wanted),
                     const void *wanted)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen(path, "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = is_it(line, wanted);
    if (file != NULL) fclose(file);
    return found;
}

static bool contains(const char *line, const void *wanted)
{
    return strstr(line, wanted) != NULL;
}

int64_t broker_checkpoint(const struct test_broker *broker, const char *file, const char *topic,
                          int32_t partition)
{
    char path[PATH_SIZE], line[PATH_SIZE], head[PATH_SIZE];
    int64_t offset = -1;
    snprintf(path, sizeof path, "%s/data/%s", broker->folder, file);
    int length = snprintf(head, sizeof head, "%s %" PRId32 " ", topic, partition);
    FILE *lines = fopen(path, "r");
    while (lines != NULL && fgets(line, sizeof line, lines) != NULL)
        if (strncmp(line, head, (size_t)length) == 0) offset = strtoll(line + length, NULL, 10);
    if (lines != NULL) fclose(lines);
    return offset;
}

/* ---- the process ---- */

bool broker_has_said(const struct test_broker *broker, const char *text)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/output", broker->folder);
    return has_line(path, contains, text);
}

static bool begins_with(const char *line, const void *wanted)
{
    return strncmp(line, wanted, strlen(wanted)) == 0;
}

unsigned broker_threads(const struct test_broker *broker, const char *name)
{
    char path[PATH_SIZE];
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)broker->pid);
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/comm", (int)broker->pid, task->d_name);
        count += has_line(path, begins_with, name);
    }
    closedir(tasks);
    return count;
}

uint64_t broker_reads(const struct test_broker *broker)
{
    char path[PATH_SIZE], line[128];
    uint64_t reads = 0;
    snprintf(path, sizeof path, "/proc/%d/io", (int)broker->pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (begins_with(line, "syscr: ")) reads = strtoull(line + strlen("syscr: "), NULL, 10);
    fclose(file);
    return reads;
}

/* ---- sockets ---- */

struct socket_question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 request;
};

static bool ask(int fd, bool listens)
{
    struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
    struct socket_question question = {
        .header = { .nlmsg_len = sizeof question,
                    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
        .request = { .sdiag_family = AF_INET,
                     .sdiag_protocol = IPPROTO_TCP,
                     .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
                     .idiag_states = 1u << (listens ? TCP_LISTEN : TCP_ESTABLISHED) },
    };
    return sendto(fd, &question, sizeof question, 0, (struct sockaddr *)&kernel, sizeof kernel) ==
           (ssize_t)sizeof question;
}

/* The attributes of a socket: what memory it may have. */
static void read_memory(const struct nlmsghdr *header, struct socket_facts *facts)
{
    const char *at = (const char *)header + NLMSG_SPACE(sizeof(struct inet_diag_msg));
    const char *end = (const char *)header + header->nlmsg_len;
    struct nlattr attribute;
    while (at + sizeof attribute <= end) {
        memcpy(&attribute, at, sizeof attribute);
        uint32_t memory[SK_MEMINFO_VARS];
        if (attribute.nla_type == INET_DIAG_SKMEMINFO &&
            attribute.nla_len >= NLA_HDRLEN + (SK_MEMINFO_SNDBUF + 1) * sizeof memory[0]) {
            memcpy(memory, at + NLA_HDRLEN, (SK_MEMINFO_SNDBUF + 1) * sizeof memory[0]);
            facts->receive_buffer = memory[SK_MEMINFO_RCVBUF];
            facts->send_buffer = memory[SK_MEMINFO_SNDBUF];
        }
        at += NLA_ALIGN(attribute.nla_len);
    }
}

/* 1: it is there; 0: not in this message; -1: nothing more comes. */
static int read_socket(const struct nlmsghdr *header, uint16_t port, uint16_t peer,
                       struct socket_facts *facts)
{
    struct inet_diag_msg socket;
    if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) return -1;
    memcpy(&socket, NLMSG_DATA(header), sizeof socket);
    if (ntohs(socket.id.idiag_sport) != port || ntohs(socket.id.idiag_dport) != peer) return 0;
    facts->backlog = socket.idiag_wqueue;
    read_memory(header, facts);
    return 1;
}

bool broker_socket(const struct test_broker *broker, uint16_t peer, struct socket_facts *facts)
{
    static _Alignas(struct nlmsghdr) char answer[1 << 16];
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int found = fd >= 0 && ask(fd, peer == 0) ? 0 : -1;
    while (found == 0) {
        ssize_t length = recv(fd, answer, sizeof answer, 0);
        if (length <= 0) break;
        const struct nlmsghdr *header = (const struct nlmsghdr *)(const void *)answer;
        unsigned left = (unsigned)length;
        for (; found == 0 && NLMSG_OK(header, left); header = NLMSG_NEXT(header, left))
            found = read_socket(header, broker->port, peer, facts);
    }
    if (fd >= 0) close(fd);
    return found == 1;
}

uint16_t local_port(int fd)
{
    struct sockaddr_in address = { 0 };
    socklen_t length = sizeof address;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    return ntohs(address.sin_port);
}
