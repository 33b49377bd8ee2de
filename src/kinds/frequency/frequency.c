/* SPDX-License-Identifier: MIT
 * The frequency kind: an upper bound of how often a key was inserted. It has the counting kind's
 * counters, with conservative update (Estan, Varghese 2002) within each word, and no removal.
 *
 * In each word of its key, an insert raises the key's smallest counters by one, in one
 * compare-and-swap.
 *
 * [COUNT-AT-LEAST]  In each word the smallest of a key's counters is at least the number of the
 *    key's inserts that changed the word, or it is stuck. Such an insert raises the smallest by
 *    one, in one step. Inserts of other keys never lower a counter, and a stuck counter stays. So
 *    the smallest over all words is never below the number of inserts that happen-before the count,
 *    unless it is stuck, which weir_count() reports. A key that was inserted has no counter at 0:
 *    lookups are as in [BITS-ONLY-SET].
 * [WORD-DECIDES]  An insert decides in each word alone which counters to raise. The smallest over
 *    several words would be tighter, but wrong. Suppose two threads both read counters 5 and 6 in
 *    two words. They would raise the first to 6 and then to 7, and never the second. The second
 *    would then say 6 for a key that was inserted seven times.
 * [NO-REMOVAL]  No key can be removed. Suppose key A has the counters 1 and 2, and key B has
 *    the counters 2 and 3. If A was inserted first, the insert of B raises only counter 3. A
 *    removal of A would then set counter 2 to 0, and lookups would miss B. */
#include "kinds/frequency/frequency.h"

#include "config.h"
#include "kind/kind.h"

COUNTERS_ANY(8)
COUNTERS_ANY(16)
COUNTERS_ANY(32)

/* A key's count is its smallest counter. Inserts of other keys can make the count too high. If a
 * key has few counters, one frequent other key may use all of these counters too. Several words
 * make that rare, since an insert raises the counters of each word separately. So a key has at
 * least four counters in at least two words, even if fewer would do for the rate. */
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
