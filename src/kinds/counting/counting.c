/* SPDX-License-Identifier: MIT
 * The counting kind (Fan, Cao, Almeida, Broder 2000), in blocks: counters in place of bits, so that
 * keys can be removed. counters.h has the layout.
 *
 * An insert adds one to each of its key's counters, to each distinct counter of a word once, by one
 * compare-and-swap a word. A removal subtracts in the same way. The count of a key in a word is the
 * number of its inserts that changed the word, minus its removals that did.
 *
 * C1  A counter that was never stuck is, at each moment of its word's modification order, the sum
 *     of the counts there of all keys that use it: each change is one compare-and-swap of the whole
 *     word.
 * C2  If each removal of a key has an insert of its own that happens-before it, no count is ever
 *     negative: in each word the insert's change precedes the removal's. So a counter is at least
 *     the count of each of its keys. A key with an insert that was not removed has no counter at 0,
 *     and no lookup that the insert happens-before misses it. As in B1, coherence suffices, so all
 *     accesses are relaxed.
 * C3  A counter at its largest value is stuck: neither inserts nor removals change it. Its true sum
 *     reached that value at some time and is unknown since. So the counter stays, and can only make
 *     lookups and counts answer too much.
 * C4  A removal first looks at all words of its key. If a counter is 0, it changes nothing: the key
 *     is absent. A counter that becomes 0 between that look and the word's swap was lowered by
 *     another removal, of a key that was inserted once and is removed twice. Then the removal
 *     raises again the counters that it has lowered, which were not stuck. Between the two swaps a
 *     lookup of another key may miss it: C2's condition does not hold.
 * C5  Union adds counter by counter (C1 and C3 hold for the sum). During inserts and removals it
 *     could carry some words of a key and not others, and the removal of that key from the union
 *     would lower another key's share. So no removal may run during a union, and inserts only if
 *     each also goes into the destination (a handle's reload by copy). A key inserted during the
 *     union then counts once in each word, by its insert there, and once more in the words carried
 *     after it came: too much, never too little. */
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
