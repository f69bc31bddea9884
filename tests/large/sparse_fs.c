// SPDX-License-Identifier: Apache-2.0

#include "sparse_fs.h"

#include <string.h>

#include "bytes.h"
#include "error.h"

static struct sparse_fs *sparse_of(struct fs *fs)
{
    return (struct sparse_fs *)(void *)fs; /* Its first member. */
}

static int sparse_open(struct fs *fs, const char *path, enum fs_open_mode mode, int *fd)
{
    struct sparse_fs *sparse = sparse_of(fs);
    int err = sparse->real->open(sparse->real, path, mode, fd);

    if (err != 0) return err;
    if (*fd >= SPARSE_FS_FILES) {
        sparse->real->close(sparse->real, *fd);
        return ERR_LIMIT;
    }
    atomic_fetch_add(&sparse->counts.opens, 1);
    atomic_store(&sparse->kinds[*fd], text_ends_with(path, ".log")    ? SPARSE_LOG
                                      : text_ends_with(path, "index") ? SPARSE_INDEX
                                                                      : SPARSE_OTHER);
    return 0;
}

static void count_read(struct sparse_fs *sparse, int fd, size_t got)
{
    int kind = atomic_load(&sparse->kinds[fd]);

    if (kind == SPARSE_LOG) {
        atomic_fetch_add(&sparse->counts.log_reads, 1);
        atomic_fetch_add(&sparse->counts.log_bytes, (long)got);
    } else if (kind == SPARSE_INDEX) {
        atomic_fetch_add(&sparse->counts.index_reads, 1);
        atomic_fetch_add(&sparse->counts.index_bytes, (long)got);
    }
}

static int sparse_read(struct fs *fs, int fd, void *to, size_t length, int64_t offset, size_t *got)
{
    struct sparse_fs *sparse = sparse_of(fs);
    int err = sparse->real->read(sparse->real, fd, to, length, offset, got);

    if (err == 0) count_read(sparse, fd, *got);
    return err;
}

static int sparse_read_nowait(struct fs *fs, int fd, void *to, size_t length, int64_t offset,
                              size_t *got)
{
    struct sparse_fs *sparse = sparse_of(fs);
    int err = sparse->real->read_nowait(sparse->real, fd, to, length, offset, got);

    if (err == 0) count_read(sparse, fd, *got);
    return err;
}

static size_t without_zeros(const struct iovec *part)
{
    static const uint8_t zeros[4096];
    const uint8_t *data = part->iov_base;
    size_t length = part->iov_len;

    while (length >= sizeof zeros && memcmp(data + length - sizeof zeros, zeros, sizeof zeros) == 0)
        length -= sizeof zeros;
    while (length > 0 && data[length - 1] == 0)
        length--;
    return length;
}

static int sparse_write(struct fs *fs, int fd, const struct iovec *parts, int count, int64_t offset)
{
    struct sparse_fs *sparse = sparse_of(fs);
    int err = 0;

    if (atomic_load(&sparse->kinds[fd]) != SPARSE_LOG)
        return sparse->real->write(sparse->real, fd, parts, count, offset);
    for (int i = 0; i < count && err == 0; i++) {
        struct iovec part = { parts[i].iov_base, without_zeros(&parts[i]) };
        err = sparse->real->write(sparse->real, fd, &part, 1, offset);
        offset += (int64_t)parts[i].iov_len;
    }
    return err != 0 ? err : sparse->real->truncate(sparse->real, fd, offset);
}

/* What is reserved would take room. */
static int sparse_reserve(struct fs *fs, int fd, int64_t offset, int64_t length)
{
    (void)fs;
    (void)fd;
    (void)offset;
    (void)length;
    return 0;
}

void sparse_fs_init(struct sparse_fs *sparse)
{
    memset(sparse, 0, sizeof *sparse);
    sparse->real = fs_posix();
    sparse->fs = *sparse->real; /* The rest needs no state. */
    sparse->fs.open = sparse_open;
    sparse->fs.read = sparse_read;
    sparse->fs.read_nowait = sparse_read_nowait;
    sparse->fs.write = sparse_write;
    sparse->fs.reserve = sparse_reserve;
}

void sparse_fs_forget(struct sparse_fs *sparse)
{
    atomic_store(&sparse->counts.opens, 0);
    atomic_store(&sparse->counts.log_reads, 0);
    atomic_store(&sparse->counts.index_reads, 0);
    atomic_store(&sparse->counts.log_bytes, 0);
    atomic_store(&sparse->counts.index_bytes, 0);
}
