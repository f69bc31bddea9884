// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loops, locks, checkpoints, compaction, what is read and written for a moment. */
#define OTHER_DESCRIPTORS 64

#define MIB (INT64_C(1) << 20)

/* The text of a small file; false if there is none. */
static bool read_text(const char *root, const char *folder, const char *name, char *out,
                      size_t size)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
    if (length < 0 || (size_t)length >= sizeof path) return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, out, size - 1);
    close(fd);
    out[got < 0 ? 0 : got] = '\0';
    return got > 0;
}

static void limit_cores(struct machine *machine, long long quota, long long period)
{
    if (quota <= 0 || period <= 0) return;
    long long cores = quota / period + (quota % period != 0);
    if (cores < machine->cores) machine->cores = (unsigned)cores;
}

static void limit_memory(struct machine *machine, const char *text)
{
    char *end;
    unsigned long long bytes = strtoull(text, &end, 10); /* "max" is no number. */
    if (end != text && bytes > 0 && bytes < machine->memory_bytes) machine->memory_bytes = bytes;
}

static void read_group(struct machine *machine, const char *root, const char *folder)
{
    char text[256];
    long long quota, period;
    if (read_text(root, folder, "cpu.max", text, sizeof text) &&
        sscanf(text, "%lld %lld", &quota, &period) == 2)
        limit_cores(machine, quota, period);
    if (read_text(root, folder, "memory.max", text, sizeof text)) limit_memory(machine, text);
}

/* Our group and every one above it: each of them limits. */
static void read_groups(struct machine *machine, const char *root)
{
    char text[8192], folder[PATH_MAX];
    const char *line = NULL;
    if (read_text(root, "proc/self", "cgroup", text, sizeof text))
        line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (line == NULL) return;
    line = strchr(line, '/');
    if (line == NULL) return;
    int wanted = snprintf(folder, sizeof folder, "sys/fs/cgroup%.*s", (int)strcspn(line, "\n"),
                          line);
    if (wanted < 0 || (size_t)wanted >= sizeof folder) return;
    size_t top = strlen("sys/fs/cgroup");
    for (;;) {
        read_group(machine, root, folder);
        char *slash = strrchr(folder, '/');
        if (slash == NULL || slash < folder + top) return;
        *slash = '\0';
    }
}

static void read_version_1(struct machine *machine, const char *root)
{
    char quota[64], period[64], bytes[64];
    if (read_text(root, "sys/fs/cgroup/cpu", "cpu.cfs_quota_us", quota, sizeof quota) &&
        read_text(root, "sys/fs/cgroup/cpu", "cpu.cfs_period_us", period, sizeof period))
        limit_cores(machine, strtoll(quota, NULL, 10), strtoll(period, NULL, 10));
    if (read_text(root, "sys/fs/cgroup/memory", "memory.limit_in_bytes", bytes, sizeof bytes))
        limit_memory(machine, bytes);
}

void machine_read(struct machine *machine, const char *root)
{
    cpu_set_t allowed;
    int cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                    ? CPU_COUNT(&allowed)
                    : (int)sysconf(_SC_NPROCESSORS_ONLN);
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    machine->cores = cores < 1 ? 1 : (unsigned)cores;
    machine->memory_bytes = pages < 1 || page_bytes < 1 ? 256 * MIB
                                                        : (uint64_t)pages * (uint64_t)page_bytes;
    read_groups(machine, root);
    read_version_1(machine, root);
}

int32_t machine_network_threads(const struct machine *machine)
{
    return machine->cores < 2 ? 1 : (int32_t)(machine->cores / 2);
}

int32_t machine_io_threads(const struct machine *machine)
{
    return machine->cores < 2 ? 2 : machine->cores > 8 ? 8 : (int32_t)machine->cores;
}

int64_t machine_request_bytes(const struct machine *machine)
{
    int64_t memory = machine->memory_bytes > INT64_MAX ? INT64_MAX : (int64_t)machine->memory_bytes;
    int64_t bytes = memory / 16;
    if (bytes > 1024 * MIB) bytes = 1024 * MIB;
    if (bytes < 64 * MIB) bytes = 64 * MIB;
    if (bytes > memory / 4) bytes = memory / 4; /* In a small container the rest needs room too. */
    return bytes < 16 * MIB ? 16 * MIB : bytes;
}

int64_t machine_unsynced_bytes(const struct machine *machine)
{
    int64_t memory = machine->memory_bytes > INT64_MAX ? INT64_MAX : (int64_t)machine->memory_bytes;
    /* Linux makes writers wait from about 15 % of it on. */
    int64_t bytes = memory / 8;
    if (bytes < 64 * MIB) bytes = 64 * MIB;
    return bytes > 8192 * MIB ? 8192 * MIB : bytes;
}

int32_t machine_connections(uint64_t descriptors, uint64_t files)
{
    uint64_t others = files + OTHER_DESCRIPTORS;
    uint64_t room = descriptors > others ? descriptors - others : 0;
    if (room < descriptors / 4) room = descriptors / 4; /* Hardly enough for either. */
    return room > INT32_MAX ? INT32_MAX : (int32_t)room;
}
