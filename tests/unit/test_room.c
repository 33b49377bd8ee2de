/* SPDX-License-Identifier: MIT
 * The default of --max-memory, from files as the kernel has them: control groups of version 2 and
 * version 1, in containers, and none. */
#include "../../src/tool/input/room.h"
#include "../folder.h"

static const uint64_t MIB = 1 << 20;

static int setup(void **state)
{
	char command[4200];
	(void)folder_setup(state);
	snprintf(command, sizeof command,
	         "cd %s && mkdir -p proc/self sys/fs/cgroup/a/b sys/fs/cgroup/memory/a/b", folder);
	return system(command);
}

static void put(const char *name, const char *text)
{
	char where[4200];
	snprintf(where, sizeof where, "%s/%s", folder, name);
	FILE *file = fopen(where, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* With that file as the last word. */
static void half_with(const char *name, const char *text, uint64_t half)
{
	put(name, text);
	assert_int_equal(room_half(folder), half);
}

#define LINES "MemTotal:       16384000 kB\nMemFree:  1 kB\n"
#define GROUPS "12:cpu,cpuacct:/a/b\n9:memory:/a/b\n1:name=systemd:/x\n"

static void test_what_is_available(void **state)
{
	(void)state;
	assert_true(room_half(folder) > 0); /* nothing is there: the machine's */
	half_with("proc/meminfo", LINES "MemAvailable:    1048576 kB\nBuffers: 5 kB\n", 512 * MIB);
	put("proc/meminfo", LINES);
	assert_true(room_half(folder) > 0);
	put("proc/meminfo", LINES "MemAvailable:    1048576 kB\n");
}

static void test_version_2(void **state)
{
	(void)state;
	half_with("proc/self/cgroup", "0::/a/b\n", 512 * MIB);
	half_with("sys/fs/cgroup/a/b/memory.max", "max\n", 512 * MIB);
	half_with("sys/fs/cgroup/a/b/memory.max", "268435456\n", 128 * MIB);
	/* of the group above it */
	half_with("sys/fs/cgroup/a/memory.max", "134217728\n", 64 * MIB);
	half_with("proc/self/cgroup", "0::/\n", 512 * MIB);
	put("proc/self/cgroup", "0::/of/the/host\n"); /* in a container with its own root */
	half_with("sys/fs/cgroup/memory.max", "2097152\n", MIB);
	half_with("sys/fs/cgroup/memory.max", "4294967296\n", 512 * MIB); /* more than there is */
}

static void test_version_1(void **state)
{
	(void)state;
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	half_with("proc/self/cgroup", GROUPS "0::/\n", 512 * MIB);
	half_with("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "33554432\n", 16 * MIB);
	half_with("proc/self/cgroup", "4:cpu,memory,io:/a/b\n", 16 * MIB);
	half_with("proc/self/cgroup",
	          "4:cpu,memory2,mem:/a/b\n3:memoryless:/a/b\nnonsense\n5:memory\n", 512 * MIB);
	put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4194304\n");
	half_with("proc/self/cgroup", "9:memory:/a/b/gone\n", 2 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_available),
		cmocka_unit_test(test_version_2),
		cmocka_unit_test(test_version_1),
	};
	return cmocka_run_group_tests(tests, setup, folder_teardown);
}
