// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "machine.h"

#define MIB (UINT64_C(1) << 20)

static const char *root;

/* A file under the root, with the folders above it. */
static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

TEST(without_control_groups_the_machine_counts)
{
    struct machine machine;
    machine_read(&machine, test_folder());
    assert_true(machine.cores >= 1);
    assert_true(machine.memory_bytes >= 64 * MIB);
}

TEST(the_smallest_limit_of_all_groups_above_counts)
{
    struct machine machine;
    root = test_folder();
    put("proc/self/cgroup", "1:name=x:/\n0::/pods/one\n");
    put("sys/fs/cgroup/pods/one/cpu.max", "max 100000\n");
    put("sys/fs/cgroup/pods/one/memory.max", "67108864\n");
    put("sys/fs/cgroup/pods/cpu.max", "50000 100000\n");
    put("sys/fs/cgroup/pods/memory.max", "max\n");
    machine_read(&machine, root);
    assert_int_equal(machine.cores, 1);
    assert_int_equal(machine.memory_bytes, 64 * MIB);
}

TEST(a_container_sees_its_own_group_as_the_root)
{
    struct machine machine;
    root = test_folder();
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/memory.max", "33554432\n");
    machine_read(&machine, root);
    assert_int_equal(machine.memory_bytes, 32 * MIB);
}

TEST(version_1_limits_too)
{
    struct machine machine;
    root = test_folder();
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "10000\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "33554432\n");
    machine_read(&machine, root);
    assert_int_equal(machine.cores, 1);
    assert_int_equal(machine.memory_bytes, 32 * MIB);
}

TEST(files_that_make_no_sense_limit_nothing)
{
    struct machine machine, bare;
    machine_read(&bare, test_folder());
    root = test_folder();
    put("proc/self/cgroup", "0::\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "0\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "x\n");
    machine_read(&machine, root);
    assert_int_equal(machine.cores, bare.cores);
    assert_int_equal(machine.memory_bytes, bare.memory_bytes);
}

TEST(threads_follow_the_cores)
{
    static const int expected[][3] = { { 1, 1, 2 }, { 2, 1, 2 }, { 5, 2, 5 }, { 64, 32, 8 } };
    for (size_t i = 0; i < 4; i++) {
        struct machine machine = { (unsigned)expected[i][0], 0 };
        assert_int_equal(machine_network_threads(&machine), expected[i][1]);
        assert_int_equal(machine_io_threads(&machine), expected[i][2]);
    }
}

TEST(memory_for_requests_follows_the_memory)
{
    static const uint64_t expected[][2] = {
        { 8, 16 }, { 128, 32 }, { 512, 64 }, { 4096, 256 }, { 1 << 20, 1024 },
    };
    for (size_t i = 0; i < 5; i++) {
        struct machine machine = { 1, expected[i][0] * MIB };
        assert_int_equal(machine_request_bytes(&machine), expected[i][1] * MIB);
    }
    struct machine endless = { 1, UINT64_MAX };
    assert_int_equal(machine_request_bytes(&endless), 1024 * MIB);
}

TEST(what_may_be_unsynced_follows_the_memory)
{
    static const uint64_t expected[][2] = { { 128, 64 }, { 4096, 512 }, { 1 << 20, 8192 } };
    for (size_t i = 0; i < 3; i++) {
        struct machine machine = { 1, expected[i][0] * MIB };
        assert_int_equal(machine_unsynced_bytes(&machine), expected[i][1] * MIB);
    }
}

TEST(connections_leave_the_logs_their_descriptors)
{
    assert_int_equal(machine_connections(1048576, 32768), 1048576 - 32768 - 64);
    assert_int_equal(machine_connections(1024, 512), 448);
    assert_int_equal(machine_connections(256, 128), 64);
    assert_int_equal(machine_connections(64, 64), 16);
    assert_int_equal(machine_connections(UINT64_MAX, 32768), INT32_MAX);
}
