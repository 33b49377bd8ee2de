/* SPDX-License-Identifier: MIT
 * Which thread is call_rcu's: each flavor's library reports it, by functions that are no members of
 * rcu_flavor_struct. The references are weak, since weir needs liburcu-bp alone. A program that
 * gives weir another flavor has that one's library too, and then they are found. */
#include <pthread.h>
#include "rcu/rcu.h"

struct call_rcu_data;

#define WEIR__WEAK(name) \
	extern const struct rcu_flavor_struct name##_flavor __attribute__((weak)); \
	extern struct call_rcu_data *name##_get_thread_call_rcu_data(void) __attribute__((weak)); \
	extern pthread_t name##_get_call_rcu_thread(struct call_rcu_data *data) \
		__attribute__((weak));
WEIR__WEAK(urcu_bp)
WEIR__WEAK(urcu_memb)
WEIR__WEAK(urcu_mb)
WEIR__WEAK(urcu_qsbr)

#define WEIR__CALLER(name) \
	{ &name##_flavor, name##_get_thread_call_rcu_data, name##_get_call_rcu_thread }
static const struct caller {
	const struct rcu_flavor_struct *flavor;
	struct call_rcu_data *(*data)(void); /* of this thread; NULL: none of its own */
	pthread_t (*thread)(struct call_rcu_data *data);
} callers[] = { WEIR__CALLER(urcu_bp), WEIR__CALLER(urcu_memb), WEIR__CALLER(urcu_mb),
	        WEIR__CALLER(urcu_qsbr) };

bool weir__in_callback(const struct rcu_flavor_struct *flavor)
{
	for (unsigned i = 0; i < sizeof callers / sizeof callers[0]; i++) {
		const struct caller *c = &callers[i];
		if (c->flavor != flavor || !c->data || !c->thread)
			continue;
		struct call_rcu_data *data = c->data();
		return data && pthread_equal(c->thread(data), pthread_self());
	}
	return false;
}
