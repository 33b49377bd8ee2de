/* SPDX-License-Identifier: MIT
 * The default of --max-memory, computed from files as kernels 5.10 to 6.18 write them: control
 * groups of version 1, of version 2, of both, in containers, and no control groups. */
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include "../../src/host/memory_limit.h"
#include "../folder.h"

static const uint64_t MIB = 1 << 20;

/* ---- a simulated machine ---- */

static bool sysinfo_refused;

/* Replaces sysinfo() of libc. A sandbox may refuse the call, which leaves @info unset. */
int sysinfo(struct sysinfo *info)
{
	if (sysinfo_refused) {
		errno = EPERM;
		return -1;
	}
	*info = (struct sysinfo){ .totalram = 4096, .mem_unit = 1 << 20 };
	return 0;
}

static int setup(void **state)
{
	sysinfo_refused = false;
	return folder_setup(state);
}

static void put(const char *name, const char *text)
{
	char where[4200];
	const int len = snprintf(where, sizeof where, "%s/", folder);
	strcat(where, name);
	for (char *at = where + len; (at = strchr(at, '/')) != NULL; *at++ = '/') {
		*at = '\0';
		(void)mkdir(where, 0700);
	}
	FILE *file = fopen(where, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

#define MOUNTS "proc/self/mountinfo"
#define GROUPS "proc/self/cgroup"
#define MEMINFO "MemTotal:       16384000 kB\nMemFree:  1 kB\n"
#define AVAILABLE MEMINFO "MemAvailable:    1048576 kB\nBuffers: 5 kB\n"
#define ROOTS "21 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n" \
	"23 21 0:21 / /proc rw,nosuid - proc proc rw\n"
#define NEWER ROOTS "29 21 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
#define OLDER ROOTS "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n" \
	"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n" \
	"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:14 - cgroup cgroup rw,memory\n"
#define BOTH OLDER "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
#define NO_LIMIT "9223372036854771712\n"
#define OF_2 "sys/fs/cgroup/"
#define OF_1 "sys/fs/cgroup/memory/"

/* Write @text to the file @name. Asserts that the control groups then leave @left bytes. */
static void left_with(const char *name, const char *text, uint64_t left)
{
	put(name, text);
	assert_int_equal(memory_of_groups(folder), left);
}


static void half_of_the_available_memory_is_used(void **state)
{
	(void)state;
	assert_int_equal(memory_half(folder), 2048 * MIB); /* no file exists */
	put("proc/meminfo", AVAILABLE);
	assert_int_equal(memory_half(folder), 512 * MIB);
	put("proc/meminfo", MEMINFO);
	assert_int_equal(memory_half(folder), 2048 * MIB);
	put("proc/meminfo", AVAILABLE);
	put(MOUNTS, NEWER);
	put(GROUPS, "0::/a\n");
	put(OF_2 "a/memory.max", "268435456\n");
	assert_int_equal(memory_half(folder), 128 * MIB);
	put(OF_2 "a/memory.max", "4294967296\n"); /* more than the machine has */
	assert_int_equal(memory_half(folder), 512 * MIB);
}

/* If a sandbox refuses sysinfo(), the size of the memory is unknown. Then there must be no limit,
 * and not a limit from values that sysinfo() has not set. */
static void a_refused_sysinfo_is_no_limit(void **state)
{
	(void)state;
	assert_int_equal(memory_of_machine(), 4096 * MIB);
	sysinfo_refused = true;
	assert_int_equal(memory_of_machine(), MEMORY_UNLIMITED);
	assert_int_equal(memory_half(folder), MEMORY_UNLIMITED / 2);
	put("proc/meminfo", AVAILABLE);
	assert_int_equal(memory_half(folder), 512 * MIB);
}

static void limits_of_version_2_are_read(void **state)
{
	(void)state;
	assert_int_equal(memory_of_groups(folder), MEMORY_UNLIMITED); /* no file exists */
	put(MOUNTS, NEWER);
	left_with(GROUPS, "0::/a/b\n", MEMORY_UNLIMITED); /* no files of a memory controller */
	left_with(OF_2 "a/b/memory.max", "max\n", MEMORY_UNLIMITED);
	left_with(OF_2 "a/b/memory.max", "268435456\n", 256 * MIB);
	left_with(OF_2 "a/b/memory.high", "max\n", 256 * MIB);
	left_with(OF_2 "a/b/memory.high", "201326592\n", 192 * MIB);
	left_with(OF_2 "a/memory.max", "134217728\n", 128 * MIB); /* the parent group */
	/* Group a has the lower limit. But group a/b uses memory, so a/b has fewer bytes left. */
	left_with(OF_2 "a/b/memory.current", "167772160\n", 32 * MIB);
	left_with(OF_2 "a/b/memory.stat", "anon 1\nfile 62914560\ninactive_file 41943040\n"
	          "active_file 10485760\nunevictable 0\n", 82 * MIB);
	left_with(OF_2 "a/memory.current", "134217729\n", 0);
	left_with(OF_2 "a/memory.stat", "inactive_file 999999999999\n", 82 * MIB);
	left_with(GROUPS, "0::/\n", MEMORY_UNLIMITED);
	/* a threaded group has no memory files, but its parent group has */
	left_with(GROUPS, "0::/a/b/threads/one\n", 82 * MIB);
	left_with(GROUPS, "0::/a/b (deleted)\n", 128 * MIB);
}

static void limits_of_version_1_are_read(void **state)
{
	(void)state;
	put(MOUNTS, OLDER);
	put(OF_1 "memory.limit_in_bytes", NO_LIMIT);
	/* the folder of another controller is not read */
	put("sys/fs/cgroup/cpu/a/b/memory.limit_in_bytes", "1048576\n");
	left_with(GROUPS, "12:cpu,cpuacct:/a\n9:memory:/a/b\n1:name=systemd:/x\n",
	          MEMORY_UNLIMITED);
	left_with(OF_1 "a/b/memory.limit_in_bytes", "33554432\n", 32 * MIB);
	left_with(OF_1 "a/b/memory.usage_in_bytes", "16777216\n", 16 * MIB);
	left_with(OF_1 "a/b/memory.stat", "inactive_file 4194304\n"
	          "hierarchical_memory_limit 33554432\ntotal_inactive_file 8388608\n"
	          "total_active_file 4194304\n", 28 * MIB);
	/* the limit of an ancestor group whose files are not visible */
	left_with(OF_1 "a/b/memory.stat", "hierarchical_memory_limit 18874368\n", 2 * MIB);
	left_with(GROUPS, "4:cpu,memory,io:/a\n", MEMORY_UNLIMITED);
	left_with(OF_1 "a/memory.limit_in_bytes", "4194304\n", 4 * MIB);
	left_with(GROUPS, "9:memory:/a/b/gone\n", 2 * MIB);
}

/* One cgroup version has the memory controller, and the other version has only group names. */
static void both_versions_are_read(void **state)
{
	(void)state;
	put(MOUNTS, BOTH);
	put(GROUPS, "4:memory:/a\n1:cpu:/\n0::/a\n");
	left_with(OF_2 "unified/a/cgroup.procs", "1\n", MEMORY_UNLIMITED);
	left_with(OF_1 "a/memory.limit_in_bytes", "8388608\n", 8 * MIB);
	left_with(OF_2 "unified/a/memory.max", "4194304\n", 4 * MIB);
}

/* A group has the name that it has on the host, but the mount shows only a part of the host's
 * tree. */
static void groups_in_containers_are_found(void **state)
{
	(void)state;
	put(MOUNTS, ROOTS "29 21 0:26 /docker/c1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
	put(OF_2 "memory.max", "67108864\n");
	/* without the file GROUPS, the group of the process is unknown */
	left_with(OF_2 "app/memory.max", "33554432\n", MEMORY_UNLIMITED);
	left_with(GROUPS, "0::/docker/c1/app\n", 32 * MIB);
	left_with(GROUPS, "0::/docker/c1\n", 64 * MIB);
	/* a group outside the mounted part: the limit of the mount's root applies */
	left_with(GROUPS, "0::/docker/c11/app\n", 64 * MIB);
	put(MOUNTS, NEWER); /* a mount in a cgroup namespace */
	left_with(GROUPS, "0::/\n", 64 * MIB);
	left_with(GROUPS, "0::/app\n", 32 * MIB);
	left_with(GROUPS, "0::/../..\n", 64 * MIB);
	put("sys/fs/outside/memory.max", "1\n"); /* "/../outside" must not lead to this file */
	left_with(GROUPS, "0::/../outside\n", 64 * MIB);
	put(MOUNTS, ROOTS "29 21 0:26 /.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
	left_with(GROUPS, "0::/app\n", 64 * MIB);
	left_with(GROUPS, "0::/../app\n", 32 * MIB);
	/* a second mount that does not contain the group is ignored, wherever it is listed */
	put("mnt/x y/memory.max", "1048576\n");
	put(MOUNTS, NEWER "99 21 0:26 /other /mnt/x\\040y rw - cgroup2 cgroup rw\n");
	left_with(GROUPS, "0::/app\n", 32 * MIB);
	left_with(GROUPS, "0::/other\n", MIB);
}

static void malformed_files_are_no_limit(void **state)
{
	static const char *const texts[] = { "", "\n", "-1\n", "12 MiB\n", "0x10\n", "maximum\n",
		                             "99999999999999999999999\n" };
	(void)state;
	put(GROUPS, "0::/a\n");
	left_with(MOUNTS, "29 21 0:26 / /sys/fs/cgroup rw - cgroup2\n29 21 0:26 /\n-\n\n"
	          "29 21 0:26 / /sys/fs/cgroup rw shared:1\n", MEMORY_UNLIMITED);
	put(MOUNTS, NEWER);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		left_with(OF_2 "a/memory.max", texts[i], MEMORY_UNLIMITED);
	left_with(OF_2 "a/memory.max", "1048576", MIB);
	left_with(OF_2 "a/memory.current", "unknown\n", MIB);
	left_with(OF_2 "a/memory.stat", "inactive_file\nactive_file x\n\n", MIB);
	left_with(OF_2 "a/memory.max", "0\n", 0);
	left_with(GROUPS, "nonsense\n5:memory\n3:memoryless:/a\n4:cpu,memory2,mem:/a\n",
	          MEMORY_UNLIMITED);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(half_of_the_available_memory_is_used),
		TEST(a_refused_sysinfo_is_no_limit),
		TEST(limits_of_version_2_are_read),
		TEST(limits_of_version_1_are_read),
		TEST(both_versions_are_read),
		TEST(groups_in_containers_are_found),
		TEST(malformed_files_are_no_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
