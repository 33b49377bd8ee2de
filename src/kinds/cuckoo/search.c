/* SPDX-License-Identifier: MIT
 * Inserts a copy of a fingerprint, and searches for a free slot if both of its buckets are full. */
#include "ground/error.h"
#include "kind/spread.h"
#include "kinds/cuckoo/search.h"

/* The search is breadth first, so paths are short: at a load of 95 % a bucket in six has a free
 * slot. The chance that a search of 512 buckets finds no free slot is below 1e-30. If the whole
 * array has fewer buckets, the search is complete. */

struct queue {
	const struct weir_array *a;
	struct weir_cuckoo_nodes *nodes;
	int n;
	uint64_t marks[16]; /* set bits for the buckets in the queue; buckets may share a bit */
};

/* The packed form of a node: its bucket in 48 bits, then the node that leads to it, and the shift
 * of the copy in the word of that node's bucket. */
enum { BUCKET = 48, FROM = 10 };

static uint64_t bucket_of(uint64_t place)
{
	return place & ((UINT64_C(1) << BUCKET) - 1);
}

static int from_of(uint64_t place)
{
	return (int)(place >> BUCKET & ((1 << FROM) - 1));
}

/* Return: true if the bucket is in the queue. Usually the bucket's mark is clear, so the queue need
 * not be read. Sets the mark. */
static bool is_queued(struct queue *q, uint64_t bucket)
{
	uint64_t *marks = &q->marks[bucket / 64 % 16], bit = UINT64_C(1) << bucket % 64;
	bool found = false;
	if (!(*marks & bit)) {
		*marks |= bit;
		return false;
	}
	for (int i = 0; i < q->n; i++)
		found |= bucket_of(q->nodes->place[i]) == bucket;
	return found;
}

static void add(struct queue *q, uint64_t bucket, int from, unsigned fingerprint, unsigned shift)
{
	if (q->n == WEIR_CUCKOO_SEARCHED || is_queued(q, bucket))
		return;
	__builtin_prefetch(q->a->words + bucket);
	q->nodes->place[q->n] = bucket | (uint64_t)from << BUCKET |
	                        (uint64_t)shift << (BUCKET + FROM);
	q->nodes->fingerprint[q->n++] = (uint16_t)fingerprint;
}

WEIR__INLINE int search(struct queue *q, unsigned width)
{
	for (int i = 0; i < q->n; i++) {
		uint64_t bucket = bucket_of(q->nodes->place[i]);
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
                        struct weir_cuckoo_nodes *nodes)
{
	struct queue q = { a, nodes, 0, { 0 } };
	add(&q, first, 0, 0, 0);
	add(&q, second, 0, 0, 0);
	return weir__cuckoo_width(a) == 12 ? search(&q, 12) : search(&q, 16);
}

/* Move the copies of a path, from the free slot backwards, so that each copy has a free slot to go
 * to. A node with fingerprint 0 is one of the first two buckets, where the path begins. Return: 1,
 * even if another thread has changed the path, since the caller tries again anyway; or
 * -EAGAIN. */
static int move_along(const struct weir_array *a, const struct weir_cuckoo_nodes *nodes, int at,
                      enum weir_cuckoo_wait wait)
{
	int moved = 1;
	while (moved == 1 && nodes->fingerprint[at]) {
		const uint64_t to = nodes->place[at];
		moved = weir__cuckoo_move(a, &(struct weir_cuckoo_step){
			.from = bucket_of(nodes->place[from_of(to)]),
			.to = bucket_of(to),
			.shift = (unsigned)(to >> (BUCKET + FROM)),
			.fingerprint = nodes->fingerprint[at]
		}, wait);
		at = from_of(to);
	}
	return moved < 0 ? moved : 1;
}

int weir__cuckoo_free_slot(const struct weir_array *a, uint64_t first, uint64_t second,
                           enum weir_cuckoo_wait wait)
{
	struct weir_cuckoo_nodes nodes;
	uint64_t before, after;
	int found = weir__cuckoo_search(a, first, second, &nodes);
	if (found >= 0)
		return move_along(a, &nodes, found, wait);
	int quiet = weir__cuckoo_quiet(a, &before, wait);
	if (quiet != 1)
		return quiet < 0 ? quiet : 1;
	found = weir__cuckoo_search(a, first, second, &nodes);
	if (found >= 0)
		return move_along(a, &nodes, found, wait);
	quiet = weir__cuckoo_quiet(a, &after, wait);
	if (quiet < 0)
		return quiet;
	return quiet == 0 || before != after; /* [FULL-IF-QUIET] */
}

/* An insert reads both buckets and takes a free slot. If both are full, it frees a slot and reads
 * again.
 *
 * It returns WEIR_NEW if neither bucket had an equal fingerprint ([TWO-VERSIONS], with unlimited
 * tries). If two threads insert one key, at least one of them gets WEIR_NEW. Each thread looks for
 * copies before its own swap, so they cannot both find each other's copy. */

/* The two buckets of a copy. */
struct buckets {
	uint64_t bucket[2];
	uint64_t word[2];
};

/* Read both buckets. Return: true if one has an equal fingerprint. */
WEIR__INLINE bool read_buckets(const struct weir_array *a, struct buckets *p, unsigned fingerprint,
                               unsigned width)
{
	const atomic_uint *version = weir__cuckoo_version(a, fingerprint);
	unsigned before, after;
	do {
		before = weir__version_load_acquire(version);
		p->word[0] = weir__place_load_acquire(a->words + p->bucket[0]);
		p->word[1] = weir__place_load_acquire(a->words + p->bucket[1]);
		if (weir__cuckoo_has(p->word[0], fingerprint, width) ||
		    weir__cuckoo_has(p->word[1], fingerprint, width))
			return true;
		after = weir__version_load_again(version);
	} while (before != after);
	return false;
}

/* Return: the share of the slots in use, from a sample of the buckets. */
static double sampled_load(const struct weir_array *a, unsigned width)
{
	enum { SAMPLE = 512 };
	const uint64_t buckets = 8 * a->lines, step = (buckets - 1) / SAMPLE + 1;
	unsigned free_places = 0, places = 0;
	for (uint64_t at = 0; at < buckets; at += step) {
		const uint64_t word = weir__place_load_acquire(a->words + at);
		free_places += (unsigned)__builtin_popcountll(weir__cuckoo_zeros(word, width));
		places += weir__cuckoo_places(width);
	}
	return 1 - (double)free_places / places;
}

/* Fail with -ENOSPC. With uniform hashes, distinct keys fit up to weir__cuckoo_most(). So if the
 * filter is far from full, the message names other causes. */
static int no_room(const struct weir_array *a, unsigned width)
{
	const double far_from_full = 0.8, most = (double)weir__cuckoo_most(a->lines, &a->shape);
	const double places = 8.0 * (double)a->lines * weir__cuckoo_places(width);
	const double taken = sampled_load(a, width) * places;
	if (taken < far_from_full * most)
		return weir__fail(-ENOSPC, "no room for the key, but only %.0f of %.0f slots are "
		                  "used: it has all %u copies that a key can have, or your own "
		                  "hashes are not uniform: " WEIR__UNEVEN_REMEDY " (or take "
		                  "weir_hash())", taken, places,
		                  2 * weir__cuckoo_places(width));
	return weir__fail(-ENOSPC, "no room for the key: its two buckets and their neighbours are "
	                  "full: insert fewer than %u copies of one key, or rebuild into a larger "
	                  "filter",
	                  2 * weir__cuckoo_places(width));
}

WEIR__INLINE int put_in(const struct weir_array *a, struct weir_cuckoo_spot spot,
                        enum weir_cuckoo_put put, enum weir_cuckoo_wait wait, unsigned width)
{
	struct buckets p = { .bucket = { spot.bucket,
		                      weir__cuckoo_other(a, spot.bucket, spot.fingerprint) } };
	int room = 1;
	while (room == 1) {
		bool seen = read_buckets(a, &p, spot.fingerprint, width);
		if (seen && put == WEIR_CUCKOO_ABSENT)
			return WEIR_SEEN;
		uint64_t free0 = weir__cuckoo_zeros(p.word[0], width),
		         free1 = weir__cuckoo_zeros(p.word[1], width);
		int to = __builtin_popcountll(free1) > __builtin_popcountll(free0);
		uint64_t zeros = to ? free1 : free0;
		if (!zeros) {
			room = weir__cuckoo_free_slot(a, p.bucket[0], p.bucket[1], wait);
			continue;
		}
		uint64_t copy = (uint64_t)spot.fingerprint << weir__cuckoo_lowest(zeros, width);
		if (weir__place_swap_release(a->words + p.bucket[to], &p.word[to],
		                             p.word[to] | copy)) /* [FREE-SLOT-CAS] */
			return seen ? WEIR_SEEN : WEIR_NEW;
	}
	return room < 0 ? room : no_room(a, width);
}

int weir__cuckoo_put(const struct weir_array *a, struct weir_cuckoo_spot spot,
                     enum weir_cuckoo_put put, enum weir_cuckoo_wait wait)
{
	return weir__cuckoo_width(a) == 12 ? put_in(a, spot, put, wait, 12) :
	                                     put_in(a, spot, put, wait, 16);
}
