// SPDX-License-Identifier: Apache-2.0
/* What a process of this machine uses. Any thread. */

#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* Processor time of all its threads, exact to the nanosecond, where /proc has hundredths of a second; -1: there
 * is no such process. Of a pid that is too large for the kernel's clocks it is the caller's own. */
int64_t process_cpu_ns(pid_t pid);

/* What of it is in RAM; -1: that cannot be known. */
int64_t process_resident_bytes(pid_t pid);

#endif
