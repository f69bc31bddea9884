// SPDX-License-Identifier: Apache-2.0

#include "file_cache.h"

#include <stdlib.h>

#include "alloc.h"
#include "error.h"
#include "fs_fault.h"
#include "runner.h"

#define FILES 20

static struct fs_fault disk;
static struct file_cache *cache;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_file *places[FILES];
static char paths[FILES][PATH_MAX];

static void start(size_t limit)
{
    const char *folder = test_folder();

    fs_fault_init(&disk);
    assert_int_equal(file_cache_open(&cache, &disk.fs, limit), 0);
    for (int i = 0; i < FILES; i++) {
        places[i] = NULL;
        assert_int_equal(fs_path(paths[i], "%s/%d", folder, i), 0);
    }
}

static struct open_file *pin(int i)
{
    struct open_file *file = NULL;

    if (!file_cache_pin(&places[i], &lock, &file))
        assert_int_equal(file_cache_open_file(cache, paths[i], FS_CREATE, sizeof *file, &places[i],
                                              &lock, &file),
                         0);
    return file;
}

static void stop(void)
{
    for (int i = 0; i < FILES; i++)
        file_cache_let_go(cache, &places[i], &lock);
    assert_int_equal(atomic_load(&disk.open_files), 0);
    file_cache_release(cache);
}

TEST(a_file_stays_open_for_who_needs_it_next)
{
    start(10);
    struct open_file *first = pin(0);
    file_cache_unpin(cache, first);
    assert_ptr_equal(pin(0), first);
    file_cache_unpin(cache, first);
    assert_int_equal(atomic_load(&disk.opens), 1);
    stop();
}

TEST(no_more_files_are_open_than_the_limit_says)
{
    start(5);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FILES; i++) {
            file_cache_unpin(cache, pin(i));
            assert_true(atomic_load(&disk.open_files) <= 5);
        }
    }
    assert_int_equal(file_cache_count(cache), 5);
    stop();
}

TEST(what_is_used_stays_and_what_is_not_goes)
{
    start(5);
    for (int i = 0; i < FILES; i++) {
        file_cache_unpin(cache, pin(i));
        file_cache_unpin(cache, pin(0));
    }
    assert_non_null(places[0]);
    assert_int_equal(atomic_load(&disk.opens), FILES);
    stop();
}

TEST(pinned_files_are_never_closed_even_above_the_limit)
{
    struct open_file *pinned[FILES];

    start(5);
    for (int i = 0; i < FILES; i++)
        pinned[i] = pin(i);
    assert_int_equal(atomic_load(&disk.open_files), FILES);
    for (int i = 0; i < FILES; i++) {
        assert_ptr_equal(places[i], pinned[i]);
        file_cache_unpin(cache, pinned[i]);
    }
    assert_int_equal(atomic_load(&disk.open_files), 5); /* As soon as it may be. */
    stop();
}

TEST(a_file_that_is_let_go_is_closed_by_its_last_user)
{
    start(5);
    struct open_file *file = pin(0);
    file_cache_let_go(cache, &places[0], &lock);
    assert_int_equal(atomic_load(&disk.open_files), 1);
    file_cache_unpin(cache, file);
    assert_int_equal(atomic_load(&disk.open_files), 0);
    assert_null(places[0]);
    stop();
}

TEST(a_process_without_descriptors_closes_some)
{
    start(FILES);
    for (int i = 0; i < FILES - 1; i++)
        file_cache_unpin(cache, pin(i));
    fs_fault_fail_at(&disk, 1, ERR_NO_MEMORY); /* What fs says where none is left. */
    file_cache_unpin(cache, pin(FILES - 1));
    assert_true(atomic_load(&disk.open_files) < FILES - 1);
    stop();
}

TEST(a_lack_of_memory_leaves_nothing_behind)
{
    struct open_file *file;

    for (int nth = 1;; nth++) {
        start(5);
        mem_fail_at(nth);
        int err = file_cache_open_file(cache, paths[0], FS_CREATE, sizeof *file, &places[0], &lock,
                                       &file);
        mem_fail_at(0);
        if (err == 0) file_cache_unpin(cache, file);
        stop();
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
    }
}

/* Many threads that use more files than may be open: nobody sees another's file. */
static void *use_files(void *argument)
{
    unsigned seed = (unsigned)(size_t)argument;

    for (int i = 0; i < 2000; i++) {
        int which = (int)(rand_r(&seed) % FILES);
        struct open_file *file = pin(which);
        int64_t size = 0;
        assert_int_equal(disk.fs.size(&disk.fs, file->fd, &size), 0);
        assert_int_equal(size, which);
        if (rand_r(&seed) % 50 == 0) file_cache_let_go(cache, &places[which], &lock);
        file_cache_unpin(cache, file);
    }
    return NULL;
}

TEST(threads_share_files_that_come_and_go)
{
    pthread_t threads[4];

    start(5);
    for (int i = 0; i < FILES; i++)
        assert_int_equal(fs_write_file(&disk.fs, paths[i], paths[i], (size_t)i, false), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_files, (void *)(i + 1)), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_true(atomic_load(&disk.open_files) <= 5);
    stop();
}
