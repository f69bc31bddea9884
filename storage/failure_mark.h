// SPDX-License-Identifier: Apache-2.0
/* A file `.sluice-write-failed` in a data folder: something was not written, or not synced, by the life that
 * left it or one before.
 *
 * After a failed sync Linux shows what it could not write as if it were on disk, and no later sync writes
 * it. So a life that begins with that page cache must write again what it wants to call durable. The mark is
 * not synced: it lasts as long as the page cache does. The next clean stop takes it away. */

#ifndef STORAGE_FAILURE_MARK_H
#define STORAGE_FAILURE_MARK_H

#include "fs.h"

/* As well as that disk can. Blocks, for no sync. */
void failure_mark_leave(struct fs *fs, const char *folder);

/* 0, or an err that tells nothing. Blocks. */
int failure_mark_look(struct fs *fs, const char *folder, bool *is_there);

/* There need not be one. Blocks. */
int failure_mark_remove(struct fs *fs, const char *folder);

#endif
