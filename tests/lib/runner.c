// SPDX-License-Identifier: Apache-2.0
/* Usage: <program> [--list] [part of a name]... */

#include "runner.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SLUICE_TESTS_DIR
#define SLUICE_TESTS_DIR "tests" /* Run from the top of the tree. */
#endif

#define SEED_UNLESS_GIVEN 20260131

static struct test *first_test;
static struct test **last_link = &first_test;

void test_register(struct test *test)
{
    *last_link = test;
    last_link = &test->next;
}

static void give_up(const char *what)
{
    fprintf(stderr, "tests: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- folders ---- */

struct folder {
    struct folder *next;
    char path[];
};

static struct folder *folders; /* Kept until the end: tests hold their paths. */
static pid_t folders_owner;    /* A forked child that exits must not remove its parent's. */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void remove_folders(void)
{
    while (getpid() == folders_owner && folders != NULL) {
        struct folder *folder = folders;
        folders = folder->next;
        nftw(folder->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        free(folder);
    }
}

const char *test_folder(void)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] == '\0') parent = "/tmp";
    static const char pattern[] = "/sluice-test-XXXXXX";
    size_t size = strlen(parent) + sizeof pattern;
    struct folder *folder = malloc(sizeof *folder + size);
    if (folder == NULL) give_up("a folder");
    snprintf(folder->path, size, "%s%s", parent, pattern);
    if (mkdtemp(folder->path) == NULL) give_up(folder->path);
    if (folders == NULL) {
        folders_owner = getpid();
        atexit(remove_folders);
    }
    folder->next = folders;
    folders = folder;
    return folder->path;
}

const char *test_data(const char *name)
{
    static char path[PATH_MAX];
    const char *tests = getenv("SLUICE_TESTS");
    if (tests == NULL || tests[0] == '\0') tests = SLUICE_TESTS_DIR;
    snprintf(path, sizeof path, "%s/%s", tests, name);
    return path;
}

uint64_t test_seed(void)
{
    const char *given = getenv("SLUICE_SEED");
    return given == NULL || given[0] == '\0' ? SEED_UNLESS_GIVEN : strtoull(given, NULL, 0);
}

/* ---- main ---- */

static bool is_wanted(const struct test *test, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(test->name, argv[i]) != NULL || strstr(test->file, argv[i]) != NULL) return true;
    return argc == 1;
}

static int list_tests(void)
{
    for (const struct test *test = first_test; test != NULL; test = test->next)
        printf("%s\t%s\n", test->file, test->name);
    return first_test == NULL;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) return list_tests();

    size_t count = 0;
    for (const struct test *test = first_test; test != NULL; test = test->next)
        count += is_wanted(test, argc, argv);
    if (count == 0) {
        fprintf(stderr, "%s: there are no such tests\n", argv[0]);
        return 1;
    }

    struct CMUnitTest *chosen = calloc(count, sizeof *chosen);
    if (chosen == NULL) give_up("a list of tests");
    size_t at = 0;
    for (const struct test *test = first_test; test != NULL; test = test->next)
        if (is_wanted(test, argc, argv))
            chosen[at++] = (struct CMUnitTest){ .name = test->name, .test_func = test->run };

    int failed = _cmocka_run_group_tests(argv[0], chosen, count, NULL, NULL);
    free(chosen);
    if (failed != 0)
        fprintf(stderr, "%s: failed; to repeat it: SLUICE_SEED=%llu\n", argv[0],
                (unsigned long long)test_seed());
    return failed == 0 ? 0 : 1;
}
