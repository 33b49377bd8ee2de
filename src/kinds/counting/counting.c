/* SPDX-License-Identifier: MIT
 * The counting kind (Fan, Cao, Almeida, Broder 2000), in blocks: counters in place of bits, so that
 * keys can be removed. counters.h has the layout.
 *
 * An insert adds one to each of its key's distinct counters, by one compare-and-swap a word. A
 * removal subtracts in the same way. The count of a key in a word is the number of its inserts that
 * changed the word, minus its removals that did.
 *
 * [COUNT-IS-SUM]  If a counter was never stuck, it is at each moment of its word's modification
 *    order the sum of the counts in the word of all keys that use it. Each change is one
 *    compare-and-swap of the whole word.
 * [PAIRED-REMOVAL]  If each removal of a key has an insert of its own that happens-before it, no
 *    count is ever negative: in each word the insert's change precedes the removal's. So a counter
 *    is at least the count of each of its keys. A key with an insert that was not removed has no
 *    counter at 0, and every lookup that the insert happens-before finds it. As in [BITS-ONLY-SET],
 *    coherence suffices, so all accesses are relaxed.
 * [STUCK-COUNTER]  A counter at its largest value is stuck: neither inserts nor removals change it.
 *    Its true sum reached that value once and is unknown since. A stuck counter can only make
 *    lookups and counts too high.
 * [REMOVE-CHECKS]  A removal first reads all words of its key. If a counter is 0, the key is absent
 *    and the removal changes nothing. A counter can become 0 between the read and the swap of its
 *    word only if a key that was inserted once is removed twice at the same time. The removal that
 *    meets the 0 raises again the counters that it lowered, which were not stuck. Between the two
 *    swaps a lookup of another key may miss the key: [PAIRED-REMOVAL]'s condition does not hold.
 * [UNION-ADDS]  A merge adds counter by counter ([COUNT-IS-SUM] and [STUCK-COUNTER] hold for the
 *    sum). A merge during inserts and removals could add some words of a key and not its other
 *    words. A removal of that key from the result would then lower another key's share. So no
 *    removal may run during a merge. An insert may run only if the same key is also inserted into
 *    the destination (a handle's reload by copy). A key inserted during the merge then counts once
 *    in each word by its insert into the destination, and once more in the words that the merge
 *    reads after its insert into the source: too high, never too low. */
#include "kinds/counting/counting.h"

#include "config.h"
#include "kind/kind.h"

#define ALL(b) \
	COUNTING_REMOVE(b##_any, b, a->shape.field[WEIR_COUNTERS_Z], \
	                a->shape.field[WEIR_COUNTERS_G]) \
	COUNTERS_ANY(b)
ALL(4)
ALL(8)
ALL(16)

static const struct weir_counters_kind counters = {
	.bits = { 4, 8, 16 },
	.allowed = "4, 8 or 16 bits",
	.reason = "the fewest words a key within 10 % of the smallest layout of such counters",
	.any = { &kernel_4_any, &kernel_8_any, &kernel_16_any },
	.scalar = weir__counting_scalar,
#if WEIR_X86
	.avx512 = weir__counting_avx512,
#endif
};
WEIR__COUNTERS_OF(counters, counting)

const struct weir_kind weir__kind_counting = {
	.id = WEIR_COUNTING,
	.name = "counting",
	WEIR__COUNTERS_MEMBERS,
	.can = WEIR__COUNTERS_CAN | WEIR_CAN_REMOVE,
};
