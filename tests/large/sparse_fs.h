// SPDX-License-Identifier: Apache-2.0
/* A real disk on which batches that end in zeros take little room, and that counts what is read: so a log
 * of hundreds of gigabytes can be made, with every byte of it readable. */

#ifndef TESTS_SPARSE_FS_H
#define TESTS_SPARSE_FS_H

#include <stdatomic.h>

#include "fs.h"

#define SPARSE_FS_FILES 65536

enum sparse_kind { SPARSE_OTHER, SPARSE_LOG, SPARSE_INDEX };

struct sparse_counts {
    atomic_long opens;
    atomic_long log_reads, index_reads;
    atomic_long log_bytes, index_bytes;
};

struct sparse_fs {
    struct fs fs; /* Hand this to what is tested. */
    struct fs *real;
    struct sparse_counts counts;
    atomic_int kinds[SPARSE_FS_FILES]; /* By descriptor. */
};

void sparse_fs_init(struct sparse_fs *sparse);
void sparse_fs_forget(struct sparse_fs *sparse); /* Counts from zero again. */

#endif
