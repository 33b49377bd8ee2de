/* SPDX-License-Identifier: MIT
 * Numbers that nobody else draws: names of nodes and images, tokens. */
#ifndef WEIR_REPLICA_RANDOM_H
#define WEIR_REPLICA_RANDOM_H

#include <errno.h>
#include <stdint.h>
#include <sys/random.h>
#include <weir/error.h>

/* Return: 0, or -EIO: then @out is untouched. */
static inline int weir__random(uint64_t *out)
{
	uint64_t drawn;
	if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) {
		(void)weir_fail(-EIO, "the system gives no random number");
		return -EIO; /* said so that the compiler sees it */
	}
	*out = drawn;
	return 0;
}

#endif
