/* SPDX-License-Identifier: MIT
 * The frequency kind: how often a key came, at most. The counting kind's counters, with
 * conservative update (Estan, Varghese 2002) within each word, and without removal.
 *
 * An insert raises, in each word of its key, those of the key's counters that equal the least of
 * them there, by one compare-and-swap.
 *
 * F1  In each word the least of a key's counters is at least the number of the key's inserts that
 *     have changed the word, or stuck. Such an insert raises that least by one, in one step; other
 *     keys' changes never lower a counter; a stuck counter stays. So the least over all words is
 *     never below the number of inserts that happen-before the count, unless it is stuck, which
 *     weir_count() says. A key that was inserted has no counter that is 0: lookups as in B1.
 * F2  What is raised in a word is decided by that word alone. To decide by the least of several
 *     words would be tighter, and wrong: two threads that both see counters 5 and 6 would raise the
 *     first to 6 and then to 7 and never the second, which would say 6 of a key that came seven
 *     times.
 * F3  No key can be taken out: A has counters {1, 2} and B {2, 3}; where A came first, the insert
 *     of B raises 3 alone, and a removal of A would set 2 to 0. B would be lost. */
#include "kinds/frequency/frequency.h"

#include "config.h"
#include "kind/kind.h"

COUNTERS_ANY(8)
COUNTERS_ANY(16)
COUNTERS_ANY(32)

/* A count is as much too high as the least of a key's counters: of few counters all may be another
 * frequent key's, and the words, which are raised apart, are what makes that rare. So a key has
 * four counters, in two words or more, also where fewer would do for the rate: at 10 % four words
 * of one counter of 16 bits are half as far off as two in the same bytes. */
static const struct weir_counters_kind counters = {
	.bits = { 16, 8, 32 },
	.allowed = "8, 16 or 32 bits",
	.least_words = 2,
	.least_counters = 4,
	.reason = "of layouts of four counters a key or more the fewest words within 10 % of the "
	          "smallest",
	.any = { &kernel_16_any, &kernel_8_any, &kernel_32_any },
	.scalar = weir__frequency_scalar,
#if WEIR_X86
	.avx512 = weir__frequency_avx512,
#endif
};
WEIR__COUNTERS_OF(counters, frequency)

const struct weir_kind weir__kind_frequency = {
	.id = WEIR_FREQUENCY,
	.name = "frequency",
	WEIR__COUNTERS_MEMBERS,
	.can = WEIR__COUNTERS_CAN,
};
