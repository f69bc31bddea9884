// SPDX-License-Identifier: Apache-2.0
/* What a process on this machine uses while something is measured: its processor time and memory. */

#ifndef CLI_PROCESS_WATCH_H
#define CLI_PROCESS_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_watch {
    pid_t pid; /* 0: nobody is watched, and all calls do nothing. */
    int64_t began_cpu_ns;
    double cpu_seconds; /* Of all its threads, between begin and end. */
    int64_t memory_bytes, most_memory_bytes;
    bool is_gone; /* It could not be looked at any more. */
};

/* Returns 0, or ERR_NOT_FOUND after complaining: there is no such process. */
int process_watch_begin(struct process_watch *watch, pid_t pid);

/* Looks how much memory it has; to be called now and then. */
void process_watch_look(struct process_watch *watch);

void process_watch_end(struct process_watch *watch);

#endif
