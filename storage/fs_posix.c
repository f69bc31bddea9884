// SPDX-License-Identifier: Apache-2.0
/* The only file of storage/ that makes system calls. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"

#ifndef IOV_MAX
#define IOV_MAX 1024
#endif

static int last_error(void)
{
    return (int)error_from_errno(errno);
}

/* Whatever lies under a file's name: a pipe would block us for ever, a device is no file of ours. */
static int refuse_other_kinds(int fd)
{
    struct stat status;

    if (fstat(fd, &status) != 0) return last_error();
    return S_ISREG(status.st_mode) ? 0 : ERR_NOT_A_FILE;
}

static int posix_open(struct fs *fs, const char *path, enum fs_open_mode mode, int *fd)
{
    static const int flags[] = {
        [FS_READ] = O_RDONLY,
        [FS_WRITE] = O_RDWR,
        [FS_CREATE] = O_RDWR | O_CREAT,
        [FS_CREATE_NEW] = O_RDWR | O_CREAT | O_EXCL,
    };
    int opened;

    (void)fs;
    do
        opened = open(path, flags[mode] | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
    while (opened < 0 && errno == EINTR);
    if (opened < 0) return last_error();
    int err = refuse_other_kinds(opened);
    if (err == 0)
        *fd = opened;
    else
        close(opened);
    return err;
}

static void posix_close(struct fs *fs, int fd)
{
    (void)fs;
    close(fd);
}

/* One read; `flags` are preadv2's. */
static ssize_t read_once(int fd, void *to, size_t length, int64_t offset, int flags)
{
    struct iovec part = { to, length };
    ssize_t got;

    do
        got = flags == 0 ? pread(fd, to, length, offset) : preadv2(fd, &part, 1, offset, flags);
    while (got < 0 && errno == EINTR);
    return got;
}

static int posix_read(struct fs *fs, int fd, void *to, size_t length, int64_t offset, size_t *got)
{
    size_t done = 0;

    (void)fs;
    while (done < length) {
        ssize_t n = read_once(fd, (char *)to + done, length - done, offset + (int64_t)done, 0);
        if (n < 0) return last_error();
        if (n == 0) break;
        done += (size_t)n;
    }
    *got = done;
    return 0;
}

static int posix_read_nowait(struct fs *fs, int fd, void *to, size_t length, int64_t offset,
                             size_t *got)
{
    size_t done = 0;

    while (done < length) {
        ssize_t n = read_once(fd, (char *)to + done, length - done, offset + (int64_t)done,
                              RWF_NOWAIT);
        if (n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
            return posix_read(fs, fd, to, length, offset, got);
        if (n < 0) return errno == EAGAIN ? ERR_NEEDS_IO : last_error();
        if (n == 0) break;
        done += (size_t)n;
    }
    *got = done;
    return 0;
}

static int posix_write(struct fs *fs, int fd, const struct iovec *parts, int count, int64_t offset)
{
    int at = 0;      /* The first part that is not written whole, */
    size_t skip = 0; /* and how much of it is. */

    (void)fs;
    while (at < count) {
        struct iovec rest[16];
        const struct iovec *now = parts + at;
        int now_count = count - at < IOV_MAX ? count - at : IOV_MAX;
        if (skip > 0) {
            now_count = now_count < 16 ? now_count : 16;
            memcpy(rest, now, (size_t)now_count * sizeof *rest);
            rest[0].iov_base = (char *)rest[0].iov_base + skip;
            rest[0].iov_len -= skip;
            now = rest;
        }
        ssize_t n = pwritev(fd, now, now_count, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return last_error();
        offset += n;
        skip += (size_t)n;
        while (at < count && skip >= parts[at].iov_len)
            skip -= parts[at++].iov_len;
    }
    return 0;
}

static int posix_size(struct fs *fs, int fd, int64_t *size)
{
    struct stat status;

    (void)fs;
    if (fstat(fd, &status) != 0) return last_error();
    *size = status.st_size;
    return 0;
}

static int posix_truncate(struct fs *fs, int fd, int64_t size)
{
    int result;

    (void)fs;
    do
        result = ftruncate(fd, size);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : last_error();
}

static int posix_reserve(struct fs *fs, int fd, int64_t offset, int64_t length)
{
    int result;

    (void)fs;
    do
        result = fallocate(fd, FALLOC_FL_KEEP_SIZE, offset, length);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : last_error();
}

/* Tried again a sync says that all is well, with less on the disk: a lack of memory is no excuse. */
static int sync_error(void)
{
    int err = last_error();

    return err == ERR_NO_MEMORY ? ERR_IO : err;
}

static int posix_sync(struct fs *fs, int fd)
{
    int result;

    (void)fs;
    do
        result = fdatasync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : sync_error();
}

static int posix_sync_folder(struct fs *fs, const char *path)
{
    int err = 0;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)fs;
    if (fd < 0) return last_error();
    if (fsync(fd) != 0) err = sync_error();
    close(fd);
    return err;
}

static int posix_sync_all(struct fs *fs, int fd)
{
    (void)fs;
    return syncfs(fd) == 0 ? 0 : sync_error();
}

static int posix_make_folder(struct fs *fs, const char *path)
{
    (void)fs;
    return mkdir(path, 0755) == 0 ? 0 : last_error();
}

static int posix_remove_folder(struct fs *fs, const char *path)
{
    (void)fs;
    return rmdir(path) == 0 ? 0 : last_error();
}

static int posix_rename(struct fs *fs, const char *from, const char *to)
{
    (void)fs;
    return rename(from, to) == 0 ? 0 : last_error();
}

static int posix_remove(struct fs *fs, const char *path)
{
    (void)fs;
    return unlink(path) == 0 ? 0 : last_error();
}

static int posix_exists(struct fs *fs, const char *path, bool *exists)
{
    struct stat status;

    (void)fs;
    if (stat(path, &status) == 0) {
        *exists = true;
        return 0;
    }
    if (errno != ENOENT) return last_error();
    *exists = false;
    return 0;
}

static int posix_path_size(struct fs *fs, const char *path, int64_t *size)
{
    struct stat status;

    (void)fs;
    if (stat(path, &status) != 0) return last_error();
    *size = status.st_size;
    return 0;
}

/* What it leads to, if it is a link. One that leads nowhere is neither a folder nor a file. */
static void describe_entry(DIR *folder, const struct dirent *found, struct fs_entry *entry)
{
    struct stat status;

    snprintf(entry->name, sizeof entry->name, "%s", found->d_name);
    entry->is_folder = found->d_type == DT_DIR;
    entry->is_file = found->d_type == DT_REG;
    entry->is_link = found->d_type == DT_LNK;
    if (found->d_type == DT_UNKNOWN) /* As some file systems have it. */
        entry->is_link = fstatat(dirfd(folder), found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                         S_ISLNK(status.st_mode);
    if (found->d_type != DT_UNKNOWN && found->d_type != DT_LNK) return;
    if (fstatat(dirfd(folder), found->d_name, &status, 0) != 0) return;
    entry->is_folder = S_ISDIR(status.st_mode);
    entry->is_file = S_ISREG(status.st_mode);
}

#ifdef __SANITIZE_THREAD__
/* libuv closes its epoll descriptors by a system call that ThreadSanitizer does not see. When opendir()
 * gets the same number, closedir() looks like a race with that loop's last epoll_wait(). */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:posix_list\n";
}
#endif

static int posix_list(struct fs *fs, const char *path,
                      int (*each)(void *context, const struct fs_entry *entry), void *context)
{
    int err = 0;
    DIR *folder = opendir(path);

    (void)fs;
    if (folder == NULL) return last_error();
    while (err == 0) {
        struct fs_entry entry;
        errno = 0;
        const struct dirent *found = readdir(folder);
        if (found == NULL) {
            err = errno == 0 ? 0 : last_error();
            break;
        }
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0) continue;
        describe_entry(folder, found, &entry);
        err = each(context, &entry);
    }
    closedir(folder);
    return err;
}

static int posix_free_bytes(struct fs *fs, const char *path, int64_t *free_bytes,
                            int64_t *total_bytes)
{
    struct statvfs status;

    (void)fs;
    if (statvfs(path, &status) != 0) return last_error();
    *free_bytes = (int64_t)(status.f_bavail * status.f_frsize);
    *total_bytes = (int64_t)(status.f_blocks * status.f_frsize);
    return 0;
}

static int posix_lock(struct fs *fs, int fd)
{
    /* Of this kind since Java's are seen by it: no Kafka may run in the same folder. */
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    (void)fs;
    if (fcntl(fd, F_OFD_SETLK, &whole) == 0) return 0;
    return errno == EAGAIN || errno == EACCES ? ERR_BUSY : last_error();
}

struct fs *fs_posix(void)
{
    /* Only functions: nothing in it ever changes. */
    static struct fs posix = {
        .open = posix_open,
        .close = posix_close,
        .read = posix_read,
        .read_nowait = posix_read_nowait,
        .write = posix_write,
        .size = posix_size,
        .truncate = posix_truncate,
        .reserve = posix_reserve,
        .sync = posix_sync,
        .sync_folder = posix_sync_folder,
        .sync_all = posix_sync_all,
        .make_folder = posix_make_folder,
        .remove_folder = posix_remove_folder,
        .rename = posix_rename,
        .remove = posix_remove,
        .exists = posix_exists,
        .path_size = posix_path_size,
        .list = posix_list,
        .free_bytes = posix_free_bytes,
        .lock = posix_lock,
    };

    return &posix;
}
