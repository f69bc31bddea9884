// SPDX-License-Identifier: Apache-2.0

#include "fs_fault.h"

#include <errno.h>
#include <string.h>

#include "error.h"

/* Counts an operation; the err it must fail with, or 0. */
static int count(struct fs_fault *fault, bool is_write)
{
    if (fault->only_writes && !is_write) return 0;
    long nth = atomic_fetch_add(&fault->operations, 1) + 1;
    if (fault->fail_at == 0 || nth < fault->fail_at ||
        (nth > fault->fail_at && !fault->keeps_failing))
        return 0;
    atomic_store(&fault->has_failed, true);
    errno = fault->error == ERR_NO_SPACE ? ENOSPC : EIO;
    return fault->error;
}

static struct fs_fault *fault_of(struct fs *fs)
{
    return (struct fs_fault *)(void *)fs; /* Its first member. */
}

static int fault_open(struct fs *fs, const char *path, enum fs_open_mode mode, int *fd)
{
    struct fs_fault *fault = fault_of(fs);
    size_t length = strlen(path);
    int err = count(fault, mode == FS_CREATE || mode == FS_CREATE_NEW);

    if (err == 0) err = fault->real->open(fault->real, path, mode, fd);
    if (err == 0) {
        atomic_fetch_add(&fault->opens, 1);
        atomic_fetch_add(&fault->open_files, 1);
        if (*fd < FS_FAULT_FILES)
            atomic_store(&fault->is_log[*fd], length > 4 && strcmp(path + length - 4, ".log") == 0);
    }
    return err;
}

static void fault_close(struct fs *fs, int fd)
{
    struct fs_fault *fault = fault_of(fs);

    atomic_fetch_sub(&fault->open_files, 1);
    fault->real->close(fault->real, fd);
}

static void count_read(struct fs_fault *fault, int fd)
{
    if (fd < FS_FAULT_FILES && atomic_load(&fault->is_log[fd]))
        atomic_fetch_add(&fault->log_reads, 1);
}

static int fault_read(struct fs *fs, int fd, void *to, size_t length, int64_t offset, size_t *got)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    count_read(fault, fd);
    return err != 0 ? err : fault->real->read(fault->real, fd, to, length, offset, got);
}

static int fault_read_nowait(struct fs *fs, int fd, void *to, size_t length, int64_t offset,
                             size_t *got)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    count_read(fault, fd);
    if (err == 0 && fault->nothing_cached) err = ERR_NEEDS_IO;
    return err != 0 ? err : fault->real->read_nowait(fault->real, fd, to, length, offset, got);
}

/* Half of what should be written. */
static void write_a_part(struct fs_fault *fault, int fd, const struct iovec *parts, int part_count,
                         int64_t offset)
{
    size_t left = 0;

    for (int i = 0; i < part_count; i++)
        left += parts[i].iov_len;
    left /= 2;
    for (int i = 0; i < part_count && left > 0; i++) {
        struct iovec part = parts[i];
        part.iov_len = part.iov_len < left ? part.iov_len : left;
        fault->real->write(fault->real, fd, &part, 1, offset);
        offset += (int64_t)part.iov_len;
        left -= part.iov_len;
    }
}

static int fault_write(struct fs *fs, int fd, const struct iovec *parts, int part_count,
                       int64_t offset)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, true);

    atomic_fetch_add(&fault->writes, 1);
    if (err != 0 && fault->writes_a_part) write_a_part(fault, fd, parts, part_count, offset);
    return err != 0 ? err : fault->real->write(fault->real, fd, parts, part_count, offset);
}

static int fault_size(struct fs *fs, int fd, int64_t *size)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    return err != 0 ? err : fault->real->size(fault->real, fd, size);
}

static int fault_truncate(struct fs *fs, int fd, int64_t size)
{
    struct fs_fault *fault = fault_of(fs);
    /* Making a file shorter needs no room. */
    int err = fault->error == ERR_NO_SPACE ? 0 : count(fault, true);

    return err != 0 ? err : fault->real->truncate(fault->real, fd, size);
}

static int fault_reserve(struct fs *fs, int fd, int64_t offset, int64_t length)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    atomic_fetch_add(&fault->reserves, 1);
    return err != 0 ? err : fault->real->reserve(fault->real, fd, offset, length);
}

/* Tests need no disk to spin: what is synced is only counted, unless they ask. */
static int fault_sync(struct fs *fs, int fd)
{
    struct fs_fault *fault = fault_of(fs);

    atomic_fetch_add(&fault->syncs, 1);
    int err = count(fault, false);
    return err == 0 && fault->syncs_indeed ? fault->real->sync(fault->real, fd) : err;
}

static int fault_sync_folder(struct fs *fs, const char *path)
{
    struct fs_fault *fault = fault_of(fs);

    atomic_fetch_add(&fault->syncs, 1);
    int err = count(fault, false);
    return err == 0 && fault->syncs_indeed ? fault->real->sync_folder(fault->real, path) : err;
}

static int fault_sync_all(struct fs *fs, int fd)
{
    struct fs_fault *fault = fault_of(fs);

    (void)fd;
    atomic_fetch_add(&fault->syncs, 1);
    return count(fault, false);
}

static int fault_make_folder(struct fs *fs, const char *path)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, true);

    return err != 0 ? err : fault->real->make_folder(fault->real, path);
}

static int fault_remove_folder(struct fs *fs, const char *path)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    return err != 0 ? err : fault->real->remove_folder(fault->real, path);
}

static int fault_rename(struct fs *fs, const char *from, const char *to)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, true);

    return err != 0 ? err : fault->real->rename(fault->real, from, to);
}

static int fault_remove(struct fs *fs, const char *path)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    return err != 0 ? err : fault->real->remove(fault->real, path);
}

static int fault_exists(struct fs *fs, const char *path, bool *exists)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    return err != 0 ? err : fault->real->exists(fault->real, path, exists);
}

static int fault_path_size(struct fs *fs, const char *path, int64_t *size)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    return err != 0 ? err : fault->real->path_size(fault->real, path, size);
}

static int fault_list(struct fs *fs, const char *path,
                      int (*each)(void *context, const struct fs_entry *entry), void *context)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    return err != 0 ? err : fault->real->list(fault->real, path, each, context);
}

static int fault_free_bytes(struct fs *fs, const char *path, int64_t *free_bytes,
                            int64_t *total_bytes)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    return err != 0 ? err : fault->real->free_bytes(fault->real, path, free_bytes, total_bytes);
}

static int fault_lock(struct fs *fs, int fd)
{
    struct fs_fault *fault = fault_of(fs);
    int err = count(fault, false);

    return err != 0 ? err : fault->real->lock(fault->real, fd);
}

void fs_fault_init(struct fs_fault *fault)
{
    memset(fault, 0, sizeof *fault);
    fault->real = fs_posix();
    fault->error = ERR_IO;
    fault->fs = (struct fs){
        .open = fault_open,
        .close = fault_close,
        .read = fault_read,
        .read_nowait = fault_read_nowait,
        .write = fault_write,
        .size = fault_size,
        .truncate = fault_truncate,
        .reserve = fault_reserve,
        .sync = fault_sync,
        .sync_folder = fault_sync_folder,
        .sync_all = fault_sync_all,
        .make_folder = fault_make_folder,
        .remove_folder = fault_remove_folder,
        .rename = fault_rename,
        .remove = fault_remove,
        .exists = fault_exists,
        .path_size = fault_path_size,
        .list = fault_list,
        .free_bytes = fault_free_bytes,
        .lock = fault_lock,
    };
}

void fs_fault_fail_at(struct fs_fault *fault, long nth, int error)
{
    atomic_store(&fault->operations, 0);
    atomic_store(&fault->has_failed, false);
    fault->error = error;
    fault->fail_at = nth;
}
