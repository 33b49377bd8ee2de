/* SPDX-License-Identifier: MIT
 * weir_handle_get() in the caller's own sections. This is C, since C++ reaches liburcu's
 * thread-local variables through a call, which would be measured too. */
#define _LGPL_SOURCE
#include <urcu/urcu-memb.h>
#include <urcu/urcu-qsbr.h>
#include "handle_sections.h"

/* QUIESCENT: number of lookups between two quiescent states. REQUEST: number of lookups in one
 * section. */
enum { QUIESCENT = 64, REQUEST = 16 };

uint64_t memb_sections(const struct weir_handle *h, const uint64_t *keys, size_t n)
{
	uint64_t found = 0;
	for (size_t i = 0; i < n; i++) {
		urcu_memb_read_lock();
		found += weir_contains(weir_handle_get(h), &keys[i], sizeof(keys[i]));
		urcu_memb_read_unlock();
	}
	return found;
}

uint64_t memb_long_sections(const struct weir_handle *h, const uint64_t *keys, size_t n)
{
	uint64_t found = 0;
	for (size_t i = 0; i < n; i += REQUEST) {
		urcu_memb_read_lock();
		const struct weir_filter *f = weir_handle_get(h);
		for (size_t j = i; j < n && j < i + REQUEST; j++)
			found += weir_contains(f, &keys[j], sizeof(keys[j]));
		urcu_memb_read_unlock();
	}
	return found;
}

uint64_t qsbr_sections(const struct weir_handle *h, const uint64_t *keys, size_t n)
{
	uint64_t found = 0;
	for (size_t i = 0; i < n; i++) {
		urcu_qsbr_read_lock();
		found += weir_contains(weir_handle_get(h), &keys[i], sizeof(keys[i]));
		urcu_qsbr_read_unlock();
		if (i % QUIESCENT == 0)
			urcu_qsbr_quiescent_state();
	}
	return found;
}
