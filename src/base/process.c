// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t process_cpu_ns(pid_t pid)
{
    clockid_t id;
    struct timespec time;
    if (clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &time) != 0) return -1;
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int64_t process_resident_bytes(pid_t pid)
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
