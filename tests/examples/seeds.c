/* SPDX-License-Identifier: MIT
 * A library to preload. Its getrandom() returns 5 at the first call and 6 at each later call. So a
 * command gets a known seed, and another known seed when it tries again. */
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

ssize_t getrandom(void *out, size_t n, unsigned flags)
{
	static uint64_t next = 5;
	(void)flags;
	memset(out, 0, n);
	memcpy(out, &next, n < sizeof next ? n : sizeof next);
	next = 6;
	return (ssize_t)n;
}
