/* SPDX-License-Identifier: MIT
 * The facts, a seqlock: one leader at a time writes them, any process reads them ([FACTS-COUNT]).
 * The words are atomic, so a read during a write is not a data race. The count tells whether the
 * words belong together. The writer makes the count odd before it stores the first word (the fence
 * keeps the words after the count), and even after the last word (release). A reader loads the
 * count, the words, and the count again. The first load (acquire) comes before the loads of the
 * words, and the fence keeps the second load of the count after them. */
#include <string.h>
#include "store_page.h"

enum { MOST_READS = 1000 }; /* after so many reads, assume that a leader was killed in a write */

_Static_assert(sizeof(struct store_shared) <= STORE_PAGE, "the state is in one page");

void store_write_facts(struct store_shared *shared, const struct store_facts *facts)
{
	uint64_t words[STORE_FACT_WORDS] = { 0 };
	/* an odd count, also if a killed leader left an odd count */
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
