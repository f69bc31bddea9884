// SPDX-License-Identifier: Apache-2.0
#include "process_watch.h"

#include "error.h"
#include "output.h"
#include "process.h"

int process_watch_begin(struct process_watch *watch, pid_t pid)
{
    *watch = (struct process_watch){ .pid = pid };
    if (pid == 0) return 0;
    watch->began_cpu_ns = process_cpu_ns(pid);
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
    int64_t bytes = process_resident_bytes(watch->pid);
    if (bytes < 0) return;
    watch->memory_bytes = bytes;
    if (bytes > watch->most_memory_bytes) watch->most_memory_bytes = bytes;
}

void process_watch_end(struct process_watch *watch)
{
    if (watch->pid == 0) return;
    process_watch_look(watch);
    int64_t ended_ns = process_cpu_ns(watch->pid);
    watch->is_gone = ended_ns < 0;
    if (!watch->is_gone) watch->cpu_seconds = (double)(ended_ns - watch->began_cpu_ns) / 1e9;
}
