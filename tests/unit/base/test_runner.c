// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* How this program ends when it is run with `argument`; nothing of it is shown. */
static int status_of(const char *argument)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
            _exit(99);
        execl("/proc/self/exe", "base_test", argument, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(a_program_without_tests_fails)
{
    assert_int_equal(status_of("there is no such name"), 1);
}

TEST(a_list_can_be_had)
{
    assert_int_equal(status_of("--list"), 0);
}

TEST(each_folder_is_new_and_empty)
{
    const char *first = test_folder();
    const char *second = test_folder();
    assert_string_not_equal(first, second);
    DIR *folder = opendir(first);
    int entries = 0;
    while (readdir(folder) != NULL)
        entries++;
    closedir(folder);
    assert_int_equal(entries, 2); /* . and .. */
}

TEST(a_child_that_exits_leaves_its_parents_folders_alone)
{
    const char *path = test_folder();
    struct stat status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(stat(path, &status), 0);
}

TEST(data_is_found_where_the_environment_says)
{
    const char *before = getenv("SLUICE_TESTS");
    char *kept = before == NULL ? NULL : strdup(before);
    setenv("SLUICE_TESTS", "/elsewhere", 1);
    assert_string_equal(test_data("wire/fetch.jsonl"), "/elsewhere/wire/fetch.jsonl");
    unsetenv("SLUICE_TESTS");
    assert_int_equal(access(test_data("lib/runner.h"), R_OK), 0);
    if (kept != NULL) setenv("SLUICE_TESTS", kept, 1);
    free(kept);
}
