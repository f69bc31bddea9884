// SPDX-License-Identifier: Apache-2.0
/* The files of a data folder and of a partition's: which is which, by its name. */

#ifndef CLI_LOG_FILES_H
#define CLI_LOG_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fs.h"

enum log_file_kind {
    LOG_FILE_OTHER,
    LOG_FILE_BATCHES, /* .log */
    LOG_FILE_OFFSET_INDEX,
    LOG_FILE_TIME_INDEX,
    LOG_FILE_TXN_INDEX,
    LOG_FILE_SNAPSHOT,
    LOG_FILE_EPOCHS,                   /* leader-epoch-checkpoint */
    LOG_FILE_CHECKPOINT,               /* Of a data folder: topic, partition, offset. */
    LOG_FILE_PROPERTIES,               /* partition.metadata, meta.properties: text. */
    LOG_FILE_VOTE,                     /* quorum-state */
    LOG_FILE_KAFKAS_METADATA_SNAPSHOT, /* In batches. */
    LOG_FILE_METADATA_SNAPSHOT,        /* Ours. */
    LOG_FILE_RECENT_BATCHES,           /* producer-batches */
};

struct log_file_name {
    enum log_file_kind kind;
    int64_t base_offset; /* In its name; -1: none. */
    bool is_leftover;    /* On its way out or in, or what a crash left of that. */
};

/* Looks at what is behind the last slash of `path`. */
struct log_file_name log_file_name(const char *path);

/* The names in a folder, in order. */
struct log_names {
    char **items; /* From mem_alloc. */
    size_t count, capacity;
    int err;
};

enum log_names_of {
    LOG_NAMES_OF_FILES,
    LOG_NAMES_OF_FOLDERS,
    LOG_NAMES_OF_NO_FILES, /* Folders, pipes, links that lead nowhere, …. */
    LOG_NAMES_OF_NO_FOLDERS,
};

/* 0 or an error. */
int log_names_read(struct log_names *names, struct fs *fs, const char *folder,
                   enum log_names_of of);
void log_names_close(struct log_names *names);

/* Does a file lie in a folder of the metadata log? */
bool log_is_metadata(const char *path);

/* Does a process have the data folder locked? */
bool log_is_in_use(const char *data_folder);

/* The folder that `path` is in. */
void log_parent(const char *path, char parent[PATH_MAX]);

#endif
