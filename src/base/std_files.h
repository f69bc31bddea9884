// SPDX-License-Identifier: Apache-2.0
/* Descriptors 0, 1 and 2 are what everybody takes them for, or nothing: never a file, pipe or socket that was
 * opened later and got a number that was free. */

#ifndef BASE_STD_FILES_H
#define BASE_STD_FILES_H

/* To be called first of all. Those that are closed are opened so that reading 0 and writing 1 and 2 fail with
 * EBADF, as they would have. 0 or ERR_IO (there is no /dev/null). */
int std_files_open(void);

#endif
