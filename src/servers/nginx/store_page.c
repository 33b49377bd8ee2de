/* SPDX-License-Identifier: MIT
 * The facts, written by one leader at a time and read by anybody (N8). The words are atomic, so
 * that to read them meanwhile is no fault; the count decides whether they are of one piece. It is
 * made odd before the first word is stored (the fence keeps the words behind it) and even after
 * the last one (release). A reader loads the words between two loads of the count: the first
 * (acquire) keeps them behind it, the fence before the second one. */
#include <string.h>
#include "store_page.h"

enum { MOST_READS = 1000 }; /* then a leader was killed meanwhile */

_Static_assert(sizeof(struct store_shared) <= STORE_PAGE, "the state is in one page");

void store_write_facts(struct store_shared *shared, const struct store_facts *facts)
{
	uint64_t words[STORE_FACT_WORDS] = { 0 };
	/* odd, whether or not another was killed while it was odd */
	uint64_t count = atomic_load_explicit(&shared->count, memory_order_relaxed) | 1;
	memcpy(words, facts, sizeof *facts);
	atomic_store_explicit(&shared->count, count, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (unsigned i = 0; i < STORE_FACT_WORDS; i++)
		atomic_store_explicit(&shared->facts[i], words[i], memory_order_relaxed);
	atomic_store_explicit(&shared->count, count + 1, memory_order_release);
}

bool store_read_facts(const struct store_shared *shared, struct store_facts *out)
{
	uint64_t words[STORE_FACT_WORDS];
	for (unsigned try = 0; try < MOST_READS; try++) {
		uint64_t count = atomic_load_explicit(&shared->count, memory_order_acquire);
		for (unsigned i = 0; i < STORE_FACT_WORDS; i++)
			words[i] = atomic_load_explicit(&shared->facts[i], memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		if (count % 2 == 0 &&
		    atomic_load_explicit(&shared->count, memory_order_relaxed) == count) {
			memcpy(out, words, sizeof *out);
			return count != 0;
		}
	}
	return false;
}
