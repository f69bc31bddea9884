// SPDX-License-Identifier: Apache-2.0

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "fs.h"

#define SET_ASIDE_MAX 100

int fs_path(char path[PATH_MAX], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(path, PATH_MAX, format, arguments);
    va_end(arguments);
    return length >= 0 && length < PATH_MAX ? 0 : ERR_LIMIT;
}

int fs_read_file(struct fs *fs, const char *path, size_t limit, char **text, size_t *length)
{
    int fd = -1;
    int64_t size = 0;
    size_t got = 0;
    char *data = NULL;

    int err = fs->open(fs, path, FS_READ, &fd);
    if (err == 0) err = fs->size(fs, fd, &size);
    if (err == 0 && (uint64_t)size > limit) err = ERR_LIMIT;
    if (err == 0) {
        data = mem_alloc((size_t)size + 1);
        err = data == NULL ? ERR_NO_MEMORY : 0;
    }
    if (err == 0) err = fs->read(fs, fd, data, (size_t)size, 0, &got);
    if (fd >= 0) fs->close(fs, fd);
    if (err != 0) {
        mem_free(data);
        return err;
    }
    data[got] = '\0';
    *text = data;
    *length = got;
    return 0;
}

int fs_write_file(struct fs *fs, const char *path, const void *data, size_t length, bool sync)
{
    struct iovec part = { (void *)(uintptr_t)data, length };
    int fd = -1;
    int64_t size = 0;

    int err = fs->open(fs, path, FS_CREATE, &fd);
    if (err == 0) err = fs->size(fs, fd, &size);
    if (err == 0 && size > 0) err = fs->truncate(fs, fd, 0);
    if (err == 0 && length > 0) err = fs->write(fs, fd, &part, 1, 0);
    if (err == 0 && sync) err = fs->sync(fs, fd);
    if (fd >= 0) fs->close(fs, fd);
    return err;
}

int fs_set_aside(struct fs *fs, const char *path, char to[PATH_MAX])
{
    bool exists = true;
    int err = 0;

    for (int i = 1; err == 0 && exists && i <= SET_ASIDE_MAX; i++) {
        err = fs_path(to, "%s.set-aside.%d", path, i);
        if (err == 0) err = fs->exists(fs, to, &exists);
    }
    if (err != 0) return err;
    return exists ? ERR_EXISTS : fs->rename(fs, path, to);
}

int fs_sync_file(struct fs *fs, const char *path)
{
    int fd = -1;
    int err = fs->open(fs, path, FS_WRITE, &fd);

    if (err == 0) err = fs->sync(fs, fd);
    if (fd >= 0) fs->close(fs, fd);
    return err;
}

int fs_rename_over(struct fs *fs, const char *path, const void *data, size_t length, bool sync)
{
    char temporary[PATH_MAX];

    int err = fs_path(temporary, "%s.tmp", path);
    if (err == 0) err = fs_write_file(fs, temporary, data, length, sync);
    if (err == 0) err = fs->rename(fs, temporary, path);
    return err;
}

int fs_replace_file(struct fs *fs, const char *path, const void *data, size_t length)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');

    int err = slash == NULL ? fs_path(folder, ".")
                            : fs_path(folder, "%.*s", (int)(slash - path + 1), path);
    if (err == 0) err = fs_rename_over(fs, path, data, length, true);
    if (err == 0) err = fs->sync_folder(fs, folder); /* The new name must survive too. */
    return err;
}

struct tree_removal {
    struct fs *fs;
    const char *path;
};

static int remove_entry(void *context, const struct fs_entry *entry)
{
    struct tree_removal *removal = context;
    char path[PATH_MAX];

    int err = fs_path(path, "%s/%s", removal->path, entry->name);
    if (err == 0 && entry->is_folder && !entry->is_link) return fs_remove_tree(removal->fs, path);
    if (err == 0) err = removal->fs->remove(removal->fs, path);
    return err;
}

int fs_remove_tree(struct fs *fs, const char *path)
{
    struct tree_removal removal = { fs, path };
    int err = fs->list(fs, path, remove_entry, &removal);

    if (err != 0) return err;
    err = fs->remove_folder(fs, path);
    return err == ERR_NOT_A_FOLDER ? fs->remove(fs, path) : err;
}
