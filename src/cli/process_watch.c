// SPDX-License-Identifier: Apache-2.0
#include "process_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error.h"
#include "output.h"

/* Exact to the nanosecond, where /proc has hundredths of a second; -1: there is no such process. */
static int64_t cpu_ns(pid_t pid)
{
    clockid_t id;
    struct timespec time;
    if (clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &time) != 0) return -1;
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* What of it is in RAM; -1: that cannot be known. */
static int64_t resident_bytes(pid_t pid)
{
    char path[64], line[256];
    int64_t bytes = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) return -1;
    while (bytes < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0) bytes = strtoll(line + 6, NULL, 10) * 1024;
    fclose(file);
    return bytes;
}

int process_watch_begin(struct process_watch *watch, pid_t pid)
{
    *watch = (struct process_watch){ .pid = pid };
    if (pid == 0) return 0;
    watch->began_cpu_ns = cpu_ns(pid);
    process_watch_look(watch);
    if (watch->began_cpu_ns < 0 || watch->memory_bytes == 0) {
        output_complain("there is no process %d to look at", (int)pid);
        output_hint("--pid takes the broker's process on this machine: pgrep sluiced");
        return ERR_NOT_FOUND;
    }
    return 0;
}

void process_watch_look(struct process_watch *watch)
{
    if (watch->pid == 0) return;
    int64_t bytes = resident_bytes(watch->pid);
    if (bytes < 0) return;
    watch->memory_bytes = bytes;
    if (bytes > watch->most_memory_bytes) watch->most_memory_bytes = bytes;
}

void process_watch_end(struct process_watch *watch)
{
    if (watch->pid == 0) return;
    process_watch_look(watch);
    int64_t ended_ns = cpu_ns(watch->pid);
    watch->is_gone = ended_ns < 0;
    if (!watch->is_gone) watch->cpu_seconds = (double)(ended_ns - watch->began_cpu_ns) / 1e9;
}
