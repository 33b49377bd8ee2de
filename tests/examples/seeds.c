/* SPDX-License-Identifier: MIT
 * Random numbers, to be preloaded, that are 5 and then 6 for ever: so that a command has a known
 * seed first, and another when it tries again, whatever else is drawn between. */
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
