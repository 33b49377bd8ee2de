/* SPDX-License-Identifier: MIT
 * liburcu's flavors, as far as this build has them. */
#ifndef WEIR_TOOL_FLAVORS_H
#define WEIR_TOOL_FLAVORS_H

#include <stdbool.h>

struct rcu_flavor_struct;

struct flavor {
	const char *name;
	const struct rcu_flavor_struct *rcu; /* NULL: urcu-bp, the library's default */
};

/* "bp", "memb", ...; false after a message with those that there are. */
bool flavor_find(const char *name, struct flavor *out);

/* What a thread owes its flavor; nothing for bp. */
void flavor_enter(const struct flavor *flavor);
void flavor_leave(const struct flavor *flavor);
/* Now and then: it holds nothing that it found in the handle. */
void flavor_quiet(const struct flavor *flavor);
/* Before and after a sleep: grace periods do not wait for it. */
void flavor_sleep(const struct flavor *flavor);
void flavor_wake(const struct flavor *flavor);

#endif
