// SPDX-License-Identifier: Apache-2.0
/* The disk, as storage sees it. fs_posix.c is real; tests have one that loses power.
 *
 * Every call may block on the device except read_nowait(). All return 0 or an err: ERR_NO_SPACE,
 * ERR_NOT_FOUND, ERR_EXISTS, ERR_NO_MEMORY, otherwise ERR_IO; `errno` holds the reason for a trace.
 * Any thread. EINTR and short reads and writes are dealt with inside. */

#ifndef STORAGE_FS_H
#define STORAGE_FS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct fs_entry {
    char name[256];
    bool is_folder; /* Or a link to one. */
    bool is_file;   /* Or a link to one. Neither: a pipe, a device, …. */
    bool is_link;   /* One of its own; what it leads to is elsewhere. */
};

enum fs_open_mode {
    FS_READ,
    FS_WRITE,
    FS_CREATE,
    FS_CREATE_NEW
}; /* The last three read and write. */

struct fs {
    /* ERR_IO, without waiting, if it is not a file but a folder, a pipe or a device. */
    int (*open)(struct fs *fs, const char *path, enum fs_open_mode mode, int *fd);
    void (*close)(struct fs *fs, int fd);

    /* Reads up to `length` bytes at `offset`; `*got` is less only at the end of the file. */
    int (*read)(struct fs *fs, int fd, void *to, size_t length, int64_t offset, size_t *got);

    /* The same from the page cache only: ERR_NEEDS_IO if any of it would have to come from the disk
     * (and on file systems that cannot tell, plain read()). */
    int (*read_nowait)(struct fs *fs, int fd, void *to, size_t length, int64_t offset, size_t *got);

    /* Writes all of it. After an error any part of it may have been written. */
    int (*write)(struct fs *fs, int fd, const struct iovec *parts, int count, int64_t offset);

    int (*size)(struct fs *fs, int fd, int64_t *size);
    int (*truncate)(struct fs *fs, int fd, int64_t size);
    int (*reserve)(struct fs *fs, int fd, int64_t offset, int64_t length); /* Keeps the size. */

    /* fdatasync. After an error what was to be synced may be lost, whatever the reason: so neither this nor
     * the next two ever give ERR_NO_MEMORY for what they began. */
    int (*sync)(struct fs *fs, int fd);
    int (*sync_folder)(struct fs *fs, const char *path);
    /* All of the file system that holds the file: one call instead of many. It tells of every write that
     * has failed since the file was opened. */
    int (*sync_all)(struct fs *fs, int fd);

    int (*make_folder)(struct fs *fs, const char *path);   /* ERR_EXISTS if it is there. */
    int (*remove_folder)(struct fs *fs, const char *path); /* Must be empty. */
    int (*rename)(struct fs *fs, const char *from, const char *to);
    int (*remove)(struct fs *fs, const char *path);
    int (*exists)(struct fs *fs, const char *path, bool *exists);
    int (*path_size)(struct fs *fs, const char *path, int64_t *size); /* Of a file, not opened. */

    /* Calls `each` for every entry but . and ..; stops when it returns other than 0 and returns that. */
    int (*list)(struct fs *fs, const char *path,
                int (*each)(void *context, const struct fs_entry *entry), void *context);

    int (*free_bytes)(struct fs *fs, const char *path, int64_t *free_bytes, int64_t *total_bytes);

    /* An exclusive lock on the file, held until close(); ERR_BUSY if somebody else has it. */
    int (*lock)(struct fs *fs, int fd);
};

/* The machine's own file systems. */
struct fs *fs_posix(void);

/* Prints a path; ERR_LIMIT if it does not fit. */
int fs_path(char path[PATH_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Helpers over any fs. A whole small file, at most `limit` bytes (ERR_LIMIT above), NUL-terminated. */
int fs_read_file(struct fs *fs, const char *path, size_t limit, char **text, size_t *length);

/* Replaces a file so that a crash leaves the old or the new content: tmp, sync, rename, sync folder. */
int fs_replace_file(struct fs *fs, const char *path, const void *data, size_t length);

/* The same but for the last step: the caller syncs the folder. Without `sync` also the file itself, whose
 * content a crash may then tear. */
int fs_rename_over(struct fs *fs, const char *path, const void *data, size_t length, bool sync);

/* Writes a whole file in place: a crash may leave any part of it. `sync`: its content is then on disk,
 * its name only after sync_folder(). */
int fs_write_file(struct fs *fs, const char *path, const void *data, size_t length, bool sync);

/* Renames what is there to `<path>.set-aside.<n>`, the first that is not taken, which is no name of a partition's
 * folder: nothing looks at it any more, and an operator may. `to` gets its path. ERR_EXISTS: too many are. Syncs nothing. */
int fs_set_aside(struct fs *fs, const char *path, char to[PATH_MAX]);

/* fdatasync of a file that is not open. */
int fs_sync_file(struct fs *fs, const char *path);

/* Removes a folder and everything in it. Links in it go, and what they lead to stays; but `path` itself may be
 * one, to the folder that is emptied. */
int fs_remove_tree(struct fs *fs, const char *path);

#endif
