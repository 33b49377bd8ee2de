/* SPDX-License-Identifier: MIT
 * Breadth first, so the paths are short: at a load of 95 % a bucket in six has a free place. A
 * search of 512 buckets that finds none there has a chance below 1e-30; where all of the array has
 * fewer, it is complete. */
#include "kinds/cuckoo/search.h"

struct queue {
	const struct weir_array *a;
	struct weir_cuckoo_node *node;
	int n;
	uint64_t marks[16]; /* a bit for each bucket in the queue, perhaps of others too */
};

/* Mostly the bit is not set: then it is a new one, and the queue need not be read. */
static bool known(struct queue *q, uint64_t bucket)
{
	uint64_t *marks = &q->marks[bucket / 64 % 16], bit = UINT64_C(1) << bucket % 64;
	bool found = false;
	if (!(*marks & bit)) {
		*marks |= bit;
		return false;
	}
	for (int i = 0; i < q->n; i++)
		found |= q->node[i].bucket == bucket;
	return found;
}

static void add(struct queue *q, uint64_t bucket, int from, unsigned fingerprint, unsigned shift)
{
	if (q->n == WEIR_CUCKOO_SEARCHED || known(q, bucket))
		return;
	__builtin_prefetch(q->a->words + bucket);
	q->node[q->n++] = (struct weir_cuckoo_node){ .bucket = bucket,
		                                     .from = (uint16_t)from,
		                                     .fingerprint = (uint16_t)fingerprint,
		                                     .shift = shift };
}

WEIR__INLINE int search(struct queue *q, unsigned width)
{
	for (int i = 0; i < q->n; i++) {
		uint64_t bucket = q->node[i].bucket;
		uint64_t word = weir__place_load_acquire(q->a->words + bucket);
		if (weir__cuckoo_zeros(word, width))
			return i;
		for (unsigned place = 0; place < weir__cuckoo_places(width); place++) {
			unsigned copy = weir__cuckoo_at(word, place * width, width);
			add(q, weir__cuckoo_other(q->a, bucket, copy), i, copy, place * width);
		}
	}
	return -1;
}

int weir__cuckoo_search(const struct weir_array *a, uint64_t first, uint64_t second,
                        struct weir_cuckoo_node *node)
{
	struct queue q = { a, node, 0, { 0 } };
	add(&q, first, 0, 0, 0);
	add(&q, second, 0, 0, 0);
	return weir__cuckoo_width(a) == 12 ? search(&q, 12) : search(&q, 16);
}

/* From the free place backwards, so that each copy has a place to go to. Fingerprint 0: one of the
 * first two buckets. Return: 1 or -EAGAIN; where others were quicker, the caller tries again. */
static int walk(const struct weir_array *a, const struct weir_cuckoo_node *node, int at,
                enum weir_cuckoo_wait wait)
{
	int moved = 1;
	while (moved == 1 && node[at].fingerprint) {
		const struct weir_cuckoo_node *to = node + at;
		moved = weir__cuckoo_move(a, &(struct weir_cuckoo_step){
			.from = node[to->from].bucket,
			.to = to->bucket,
			.shift = to->shift,
			.fingerprint = to->fingerprint
		}, wait);
		at = to->from;
	}
	return moved < 0 ? moved : 1;
}

int weir__cuckoo_make_room(const struct weir_array *a, uint64_t first, uint64_t second,
                           enum weir_cuckoo_wait wait)
{
	struct weir_cuckoo_node node[WEIR_CUCKOO_SEARCHED];
	uint64_t before, after;
	int found = weir__cuckoo_search(a, first, second, node);
	if (found >= 0)
		return walk(a, node, found, wait);
	int quiet = weir__cuckoo_quiet(a, &before, wait);
	if (quiet != 1)
		return quiet < 0 ? quiet : 1;
	found = weir__cuckoo_search(a, first, second, node);
	if (found >= 0)
		return walk(a, node, found, wait);
	quiet = weir__cuckoo_quiet(a, &after, wait);
	if (quiet < 0)
		return quiet;
	return quiet == 0 || before != after; /* C8 */
}
