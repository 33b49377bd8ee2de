/* SPDX-License-Identifier: MIT
 * A library to preload. It runs a shell command at one moment of this process. An environment
 * variable has the command: AT_SYNC just before the first fsync() of a regular file, AT_RENAME just
 * before the first renameat(), or AT_SEAL just before the process seals a live mapping. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int renameat(int from_folder, const char *from, int folder, const char *to);

static void come(const char *name)
{
	const char *set = getenv(name);
	char *command = set ? strdup(set) : NULL;
	if (!command)
		return;
	unsetenv(name);
	unsetenv("LD_PRELOAD");
	if (system(command))
		abort();
	free(command);
}

int fsync(int fd)
{
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		come("AT_SYNC");
	return (int)syscall(SYS_fsync, fd);
}

int msync(void *at, size_t bytes, int flags)
{
	static int calls;
	if (++calls == 2) /* the first call syncs the live mark */
		come("AT_SEAL");
	return (int)syscall(SYS_msync, at, bytes, flags);
}

int renameat(int from_folder, const char *from, int folder, const char *to)
{
	come("AT_RENAME");
	return (int)syscall(SYS_renameat2, from_folder, from, folder, to, 0);
}
