// SPDX-License-Identifier: Apache-2.0
/* A data folder as one run of bytes, so that it can be changed as one: for each file the length of its
 * name (1), the name, with folders in front, the length of its content (4), the content. */

#ifndef TESTS_FUZZ_FOLDER_H
#define TESTS_FUZZ_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "fs.h"

#define FUZZ_FOLDER "/data"

/* All files of FUZZ_FOLDER, in order of their names. */
void fuzz_folder_save(struct fs *fs, struct buffer *image);

/* Makes the files, as far as the bytes make sense. */
void fuzz_folder_load(const uint8_t *image, size_t length, struct fs *fs);

/* Mends what has checksums, by what the names end in. */
void fuzz_folder_mend(uint8_t *image, size_t length);

#endif
