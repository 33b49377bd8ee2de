/* SPDX-License-Identifier: MIT
 * liburcu's flavors by name. Tests call the functions of a flavor's library, because a sanitizer
 * does not see inline functions. */
#ifndef WEIR_TESTS_FLAVOR_H
#define WEIR_TESTS_FLAVOR_H

#include <stdbool.h>
#include <string.h>
#include <urcu/flavor.h>
#include <weir/handle.h>
#include "stress.h"

extern const struct rcu_flavor_struct urcu_bp_flavor, urcu_memb_flavor, urcu_mb_flavor,
	urcu_qsbr_flavor;

/* ThreadSanitizer sees no order in liburcu's barriers. The library reports the ends of its sections
 * to the sanitizer, and flavor_read_unlock() reports the ends of the tests' sections. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FLAVOR_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(FLAVOR_TSAN)
void __tsan_release(void *address);
#else
static inline void __tsan_release(void *address) { (void)address; }
#endif
static inline void flavor_read_unlock(const struct rcu_flavor_struct *flavor)
{
	__tsan_release((void *)(uintptr_t)flavor);
	flavor->read_unlock();
}

static inline const struct rcu_flavor_struct *flavor_named(const char *name)
{
	static const struct {
		const char *name;
		const struct rcu_flavor_struct *flavor;
	} flavors[] = {
		{ "bp", &urcu_bp_flavor },
		{ "memb", &urcu_memb_flavor },
		{ "mb", &urcu_mb_flavor },
		{ "qsbr", &urcu_qsbr_flavor },
	};
	for (unsigned i = 0; i < sizeof flavors / sizeof *flavors; i++)
		if (strcmp(name, flavors[i].name) == 0)
			return flavors[i].flavor;
	check(false, "--flavor %s: bp, memb, mb or qsbr", name);
	return NULL;
}

/* @flags: enum weir_handle_flags. */
static inline struct weir_handle *flavor_handle(const struct rcu_flavor_struct *flavor,
                                                uint32_t flags, struct weir_filter *initial)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h = NULL;
	o.flavor = flavor;
	o.flags = flags;
	int err = weir_handle_create(&h, initial, &o);
	check(err == 0, "%s", weir_error_detail());
	return h;
}

#endif
