/* SPDX-License-Identifier: MIT
 * The counting kind (Fan, Cao, Almeida, Broder 2000), in blocks: counters in place of bits, so that
 * keys can be removed. counters.h has the layout.
 *
 * An insert adds one to each of its key's counters, each distinct counter of a word once, by one
 * compare-and-swap a word. A removal subtracts likewise. Let the count of a key in a word be the
 * inserts that have changed it less the removals that have.
 *
 * C1  A counter that never got stuck is, at each moment of its word's modification order, the sum
 *     of the counts there of all keys that have it: each change is one compare-and-swap of the
 *     whole word.
 * C2  If every removal of a key needs an insert of it of its own that happens-before the removal,
 *     no count is ever negative: in each word the insert's change precedes the removal's. So a
 *     counter is at least the count of each of its keys, and a key with an insert that was not
 *     removed has no counter that is 0: no lookup that the insert happens-before misses it. As in
 *     B1 coherence is enough, and all accesses are relaxed.
 * C3  A counter at its largest value is stuck: neither inserts nor removals change it. Its true sum
 *     was as large at some time, and nobody knows it any more; so it stays, and can only make
 *     lookups and counts answer too much.
 * C4  A removal looks at all words of its key first, and where a counter is 0 it changes nothing:
 *     the key is not there. A counter that becomes 0 after that look, and before the word's swap,
 *     was another removal's, of a key that was inserted once and is removed twice. Then the
 *     counters lowered so far are raised again: those that it lowered, which were not stuck.
 *     Between the two swaps a lookup of another key may have missed it: C2's condition does not
 *     hold.
 * C5  Union adds counter by counter (C1, C3 hold of the sum). Beside inserts and removals it could
 *     carry some words of a key and not the others, and the removal of that key from the union
 *     would lower what is another's. So no removal runs beside it, and inserts only where each goes
 *     into the destination as well (a handle's reload by copy): a key that is inserted meanwhile
 *     counts once in each word, by its insert there, and once more in those that were carried after
 *     it came. Too much, never too little. */
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
