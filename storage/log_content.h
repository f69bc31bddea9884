// SPDX-License-Identifier: Apache-2.0
/* What lies in a log's folder when it is opened. */

#ifndef STORAGE_LOG_CONTENT_H
#define STORAGE_LOG_CONTENT_H

#include "partition_log_inside.h"

struct log_offsets {
    int64_t *values;
    size_t count, capacity;
};

struct log_content {
    struct log_offsets logs;       /* Ascending. */
    struct log_offsets indexes;    /* Bases of .index files. */
    struct log_offsets aborted;    /* Bases of .txnindex files, */
    struct log_offsets unfinished; /* and of those that were being built again. */
    struct log_offsets torn;       /* Whose indexes were, and may be torn in any place. */
    bool has_leftovers;            /* Files that were on their way out. */
    bool has_others;               /* Something that is no file has the name of one. */
    int64_t last_snapshot;         /* -1: none. */
    size_t snapshot_count;
    bool has_swap; /* A crash left files of a compaction. */
    bool has_batches_file;
};

/* Completes or undoes what a crash left half done, removes what was on its way out, and lists the rest. A folder
 * or a pipe in the place of what can be had from the data again is set aside, and named in the trace: as if
 * the file were missing. To be closed after an error, too. Blocks. */
int log_content_find(struct partition_log *log, struct log_content *content);
void log_content_close(struct log_content *content);

/* What a folder holds of a log; the last also if that cannot be found out. Blocks. */
enum log_content_kind { LOG_CONTENT_NO_SEGMENT, LOG_CONTENT_EMPTY_SEGMENTS, LOG_CONTENT_DATA };
enum log_content_kind log_content_kind(struct fs *fs, const char *folder);

/* After a log could not be opened: names the first of its files that cannot be, in the trace, if there is one.
 * Blocks. */
void log_content_tell_unreadable(struct partition_log *log);

/* fs_set_aside() for a file of the log's folder. */
int log_set_aside(struct partition_log *log, const char *name, char to[PATH_MAX]);

int log_content_compare(const void *a, const void *b); /* Of two offsets, for bsearch(). */

#endif
