// SPDX-License-Identifier: Apache-2.0
/* How much of the machine is ours: cores and memory, as far as control groups let us (DESIGN 2.1,
 * 2.4). */

#ifndef BROKER_MACHINE_H
#define BROKER_MACHINE_H

#include <stdint.h>

struct machine {
    unsigned cores;        /* At least 1; a fraction counts as one more. */
    uint64_t memory_bytes; /* The smallest limit above us, or what the machine has. */
};

/* Looks under `root` ("" for the real one) for proc/self/cgroup and sys/fs/cgroup: version 2 with
 * all groups above ours, and what version 1 shows there. What cannot be read limits nothing. */
void machine_read(struct machine *machine, const char *root);

/* What the settings that depend on it are by default. */
int32_t machine_network_threads(const struct machine *machine);
int32_t machine_io_threads(const struct machine *machine);
int64_t machine_request_bytes(const struct machine *machine);

/* Written data that is not synced yet: below what makes the kernel hold writers back. */
int64_t machine_unsynced_bytes(const struct machine *machine);

/* How many connections a process with this limit of descriptors may have beside `files` of its logs: a
 * partition that finds none left when it opens stays closed. */
int32_t machine_connections(uint64_t descriptors, uint64_t files);

#endif
