// SPDX-License-Identifier: Apache-2.0

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "fs.h"
#include "fs_fault.h"
#include "runner.h"

static struct fs *fs;
static char path[PATH_MAX];

static void start(const char *name)
{
    fs = fs_posix();
    assert_int_equal(fs_path(path, "%s/%s", test_folder(), name), 0);
}

static int open_new_file(const char *name)
{
    int fd = -1;

    start(name);
    assert_int_equal(fs->open(fs, path, FS_CREATE_NEW, &fd), 0);
    return fd;
}

TEST(what_is_written_in_parts_is_read_as_one)
{
    struct iovec parts[2000];
    char text[4000], found[4001];
    size_t got;
    int64_t size;
    int fd = open_new_file("parts");

    /* More parts than one system call takes. */
    for (size_t i = 0; i < 2000; i++) {
        memset(text + 2 * i, 'a' + (int)(i % 26), 2);
        parts[i] = (struct iovec){ text + 2 * i, 2 };
    }
    assert_int_equal(fs->write(fs, fd, parts, 2000, 10), 0);
    assert_int_equal(fs->size(fs, fd, &size), 0);
    assert_int_equal(size, 4010);
    assert_int_equal(fs->read(fs, fd, found, sizeof found, 10, &got), 0);
    assert_int_equal(got, 4000);
    assert_memory_equal(found, text, 4000);
    assert_int_equal(fs->read_nowait(fs, fd, found, sizeof found, 4000, &got), 0);
    assert_int_equal(got, 10);
    assert_int_equal(fs->read(fs, fd, found, sizeof found, 9000, &got), 0);
    assert_int_equal(got, 0);
    fs->close(fs, fd);
}

TEST(what_is_no_file_is_not_opened_and_not_waited_for)
{
    static const enum fs_open_mode modes[] = { FS_READ, FS_WRITE, FS_CREATE };
    int fd = -1;

    start("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        assert_int_equal(fs->open(fs, path, modes[i], &fd), ERR_NOT_A_FILE);
    start("device");
    assert_int_equal(symlink("/dev/zero", path), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        assert_int_equal(fs->open(fs, path, modes[i], &fd), ERR_NOT_A_FILE);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        assert_int_equal(fs->open(fs, test_folder(), modes[i], &fd), ERR_NOT_A_FILE);
    assert_int_equal(fd, -1);
}

TEST(reserved_space_does_not_change_the_size)
{
    int64_t size;
    int fd = open_new_file("reserved");

    fs->reserve(fs, fd, 0, 1 << 20); /* Some file systems cannot. */
    assert_int_equal(fs->size(fs, fd, &size), 0);
    assert_int_equal(size, 0);
    assert_int_equal(fs->truncate(fs, fd, 100), 0);
    assert_int_equal(fs->size(fs, fd, &size), 0);
    assert_int_equal(size, 100);
    assert_int_equal(fs->sync(fs, fd), 0);
    fs->close(fs, fd);
}

TEST(errors_have_names)
{
    int fd = open_new_file("there");
    bool exists;

    assert_int_equal(fs->open(fs, path, FS_CREATE_NEW, &fd), ERR_EXISTS);
    assert_int_equal(fs->make_folder(fs, path), ERR_EXISTS);
    assert_int_equal(fs->exists(fs, path, &exists), 0);
    assert_true(exists);
    fs->close(fs, fd);
    assert_int_equal(fs->remove(fs, path), 0);
    assert_int_equal(fs->remove(fs, path), ERR_NOT_FOUND);
    assert_int_equal(fs->open(fs, path, FS_READ, &fd), ERR_NOT_FOUND);
    assert_int_equal(fs->exists(fs, path, &exists), 0);
    assert_false(exists);
}

TEST(a_lock_is_held_by_one)
{
    int second;
    int first = open_new_file("lock");

    assert_int_equal(fs->lock(fs, first), 0);
    assert_int_equal(fs->open(fs, path, FS_WRITE, &second), 0);
    assert_int_equal(fs->lock(fs, second), ERR_BUSY);
    fs->close(fs, first);
    assert_int_equal(fs->lock(fs, second), 0);
    fs->close(fs, second);
}

TEST(a_path_that_is_too_long_is_an_error_and_not_another_path)
{
    char long_name[PATH_MAX];

    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_int_equal(fs_path(path, "/%s", long_name), ERR_LIMIT);
    assert_int_equal(fs_replace_file(fs_posix(), long_name, "x", 1), ERR_LIMIT);
}

TEST(a_whole_file_is_read_up_to_a_limit)
{
    char *text = NULL;
    size_t length;

    start("file");
    assert_int_equal(fs_read_file(fs, path, 100, &text, &length), ERR_NOT_FOUND);
    assert_int_equal(fs_replace_file(fs, path, "12345", 5), 0);
    assert_int_equal(fs_read_file(fs, path, 4, &text, &length), ERR_LIMIT);
    assert_int_equal(fs_read_file(fs, path, 5, &text, &length), 0);
    assert_int_equal(length, 5);
    assert_string_equal(text, "12345");
    mem_free(text);
}

TEST(a_replaced_file_is_the_old_or_the_new_one_whatever_fails)
{
    static struct fs_fault disk;

    for (long nth = 1;; nth++) {
        char *text;
        size_t length;
        start("replaced");
        assert_int_equal(fs_replace_file(fs, path, "old", 3), 0);
        fs_fault_init(&disk);
        disk.writes_a_part = true;
        fs_fault_fail_at(&disk, nth, ERR_IO);
        int err = fs_replace_file(&disk.fs, path, "newer", 5);
        assert_int_equal(fs_read_file(fs, path, 100, &text, &length), 0);
        if (err == 0)
            assert_string_equal(text, "newer");
        else
            assert_true(strcmp(text, "old") == 0 || strcmp(text, "newer") == 0);
        mem_free(text);
        assert_int_equal(atomic_load(&disk.open_files), 0);
        if (err == 0) break;
    }
}

TEST(a_tree_is_removed_with_everything_in_it)
{
    char inner[PATH_MAX], file[PATH_MAX];
    bool exists;

    start("tree");
    assert_int_equal(fs_path(inner, "%s/inner", path), 0);
    assert_int_equal(fs_path(file, "%s/file", inner), 0);
    assert_int_equal(fs->make_folder(fs, path), 0);
    assert_int_equal(fs->make_folder(fs, inner), 0);
    assert_int_equal(fs_write_file(fs, file, "x", 1, true), 0);
    assert_int_equal(fs->remove_folder(fs, path), ERR_IO); /* Not empty. */
    assert_int_equal(fs_remove_tree(fs, path), 0);
    assert_int_equal(fs->exists(fs, path, &exists), 0);
    assert_false(exists);
}

static int take_entry(void *context, const struct fs_entry *entry)
{
    struct fs_entry *wanted = context;

    if (strcmp(entry->name, wanted->name) == 0) *wanted = *entry;
    return 0;
}

static void describe(const char *folder, const char *name, struct fs_entry *described)
{
    memset(described, 0, sizeof *described);
    strcpy(described->name, name);
    assert_int_equal(fs->list(fs, folder, take_entry, described), 0);
}

TEST(a_link_is_what_it_leads_to_and_a_tree_ends_there)
{
    char outside[PATH_MAX], file[PATH_MAX], link[PATH_MAX];
    struct fs_entry entry;
    bool exists;

    start("links");
    assert_int_equal(fs_path(outside, "%s-outside", path), 0);
    assert_int_equal(fs_path(file, "%s/file", outside), 0);
    assert_int_equal(fs->make_folder(fs, path), 0);
    assert_int_equal(fs->make_folder(fs, outside), 0);
    assert_int_equal(fs_write_file(fs, file, "x", 1, true), 0);
    assert_int_equal(fs_path(link, "%s/to-folder", path), 0);
    assert_int_equal(symlink(outside, link), 0);
    describe(path, "to-folder", &entry);
    assert_true(entry.is_folder && entry.is_link && !entry.is_file);
    assert_int_equal(fs_path(link, "%s/to-file", path), 0);
    assert_int_equal(symlink(file, link), 0);
    describe(path, "to-file", &entry);
    assert_true(!entry.is_folder && entry.is_link && entry.is_file);
    assert_int_equal(fs_path(link, "%s/nowhere", path), 0);
    assert_int_equal(symlink("/nowhere/at/all", link), 0);
    describe(path, "nowhere", &entry);
    assert_true(!entry.is_folder && entry.is_link && !entry.is_file);

    assert_int_equal(fs_remove_tree(fs, path), 0);
    assert_int_equal(fs->exists(fs, file, &exists), 0);
    assert_true(exists);
    assert_int_equal(symlink(outside, path), 0); /* But what it is called for is emptied. */
    assert_int_equal(fs_remove_tree(fs, path), 0);
    assert_int_equal(fs->exists(fs, file, &exists), 0);
    assert_false(exists);
    assert_int_equal(fs->exists(fs, path, &exists), 0);
    assert_false(exists);
}
