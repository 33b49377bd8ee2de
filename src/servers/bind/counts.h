/* SPDX-License-Identifier: MIT
 * What each list answered, counted by thread. A list is known by its name, and its counts stay for
 * as long as named runs: a reload of the configuration goes on with them. */
#ifndef WEIR_SERVERS_BIND_COUNTS_H
#define WEIR_SERVERS_BIND_COUNTS_H

#include <stdint.h>

enum count {
	COUNT_QUERIES,   /* names looked up; the target of a CNAME is one more */
	COUNT_NXDOMAIN,  /* of those, blocked, by answer */
	COUNT_NODATA,
	COUNT_ADDRESS,
	COUNT_ALLOWED,   /* in the set, and passed on as in the allow list */
	COUNT_NOT_READY, /* an image has not been there yet */
	COUNTS,
};

enum { COUNT_LISTS = 64 }; /* names in the life of a process */

/* Return: the list of this name, 0 to COUNT_LISTS - 1, or -1: there are too many names. */
int counts_list(const char *name);
/* Wait-free but for a thread's first call, which allocates; without memory nothing is counted. */
void counts_add(int list, enum count what);
/* The sums of all threads, each as it was a moment ago. */
void counts_sum(int list, uint64_t sums[COUNTS]);

#endif
