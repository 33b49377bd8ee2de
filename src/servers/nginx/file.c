/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "store.h"

enum { YOUNG = 30 * 1000 * 1000 }; /* ns: three ticks of the slowest kernel (100 Hz) */

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

int file_identify(struct file_identity *out, const char *path)
{
	struct stat st;
	if (stat(path, &st))
		return -errno;
	*out = (struct file_identity){ .device = st.st_dev,
		                       .inode = st.st_ino,
		                       .size = (uint64_t)st.st_size,
		                       .modified = ns_of(&st.st_mtim),
		                       .changed = ns_of(&st.st_ctim) };
	return 0;
}

bool file_same(const struct file_identity *a, const struct file_identity *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

/* A file whose ctime is in the future does not count as young: the clock was set back, so the ctime
 * tells no age. The check uses ctime because only the kernel sets it: tar and cp -p cannot change
 * it. */
bool file_is_young(const struct file_identity *f)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t t = ns_of(&now);
	return f->changed <= t && t - f->changed < YOUNG;
}
