// SPDX-License-Identifier: Apache-2.0
#include "std_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "error.h"

int std_files_open(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        /* The lowest number that is free: this one. */
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return ERR_IO;
    }
    return 0;
}
