/* SPDX-License-Identifier: MIT
 * The stripes of a cuckoo filter ([COPY-OWNER], [VERSION-FIRST], [ONE-STRIPE] in
 * src/kinds/cuckoo/move.h). Each fingerprint belongs to a stripe, which has an owner and a version.
 * When a copy of a fingerprint leaves its slot, the version of the fingerprint's stripe goes up
 * once, and no other version changes. A walk over the array releases every stripe before it
 * returns. */
#include <errno.h>
#include "../folder.h"
#include "filter/filter.h"
#include "ground/error.h"
#include "ground/threads.h"
#include "kinds/cuckoo/move.h"
#include "kinds/cuckoo/search.h"

static struct weir_filter *made(uint32_t bits, uint64_t capacity)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.kind = WEIR_CUCKOO, p.cuckoo.fingerprint_bits = bits, p.seed = 7;
	p.capacity = capacity, p.fp_rate = 0.01;
	assert_ok(weir_create(&f, &p));
	return f;
}

/* ---- versions before a call ---- */

static unsigned versions[WEIR_CUCKOO_STRIPES];

static unsigned version(const struct weir_filter *f, uint32_t stripe)
{
	return weir__version_load_acquire(&weir__cuckoo_own(&f->array)->stripe[stripe].version);
}

static void keep_versions(const struct weir_filter *f)
{
	for (uint32_t i = 0; i < weir__cuckoo_own(&f->array)->stripes; i++)
		versions[i] = version(f, i);
}

/* Asserts that the version of @stripe is one larger than before, and all other versions are
 * unchanged. */
static void assert_bumped(const struct weir_filter *f, uint32_t stripe)
{
	for (uint32_t i = 0; i < weir__cuckoo_own(&f->array)->stripes; i++)
		assert_int_equal(version(f, i), versions[i] + (i == stripe));
	keep_versions(f);
}

/* Return: the stripe of @fingerprint, chosen by the low bits. */
static uint32_t stripe_of(const struct weir_filter *f, unsigned fingerprint)
{
	return fingerprint % weir__cuckoo_own(&f->array)->stripes;
}

static void a_removal_changes_its_own_stripe(void **state)
{
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4)
		for (uint64_t capacity = 8; capacity <= 32000; capacity *= 20) {
			struct weir_filter *f = made(bits, capacity);
			keep_versions(f);
			for (uint64_t i = 0; i < 200; i++) {
				uint64_t hash = test_key(i);
				unsigned fingerprint =
					weir__cuckoo_spot(&f->array, hash, bits).fingerprint;
				assert_ok(weir_insert_hash(f, hash));
				/* a lookup changes no version */
				assert_false(weir_contains_hash(f, ~hash));
				assert_int_equal(weir_remove_hash(f, hash), 1);
				assert_bumped(f, stripe_of(f, fingerprint));
				assert_int_equal(weir_remove_hash(f, hash), 0);
			}
			weir_destroy(f);
		}
}

/* A copy of a fingerprint moves to its other bucket. A second move from the first bucket does
 * nothing, because the copy has left that bucket. Then the copy moves back. */
static void a_move_changes_its_own_stripe(void **state)
{
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4) {
		struct weir_filter *f = made(bits, 1000);
		const struct weir_array *a = &f->array;
		keep_versions(f);
		for (uint64_t i = 0; i < 200; i++) {
			struct weir_cuckoo_spot spot = weir__cuckoo_spot(a, test_key(i), bits);
			uint64_t other = weir__cuckoo_other(a, spot.bucket, spot.fingerprint);
			struct weir_cuckoo_step there = { spot.bucket, other, 0, spot.fingerprint },
			                        back = { other, spot.bucket, 0, spot.fingerprint };
			if (other == spot.bucket)
				continue;
			assert_ok(weir_insert_hash(f, test_key(i)));
			assert_int_equal(weir__cuckoo_move(a, &there, WEIR_CUCKOO_WAIT), 1);
			assert_bumped(f, stripe_of(f, spot.fingerprint));
			assert_int_equal(weir__cuckoo_move(a, &there, WEIR_CUCKOO_WAIT), 0);
			for (unsigned n = 0; n < 64 / bits; n++) /* both buckets keep a free slot */
				assert_ok(weir_insert_hash(f, test_key(i)));
			assert_int_equal(weir_count_hash(f, test_key(i)), 1 + 64 / bits);
			keep_versions(f);
			assert_ok(weir__cuckoo_move(a, &back, WEIR_CUCKOO_WAIT));
			assert_bumped(f, stripe_of(f, spot.fingerprint));
			for (unsigned n = 0; n < 1 + 64 / bits; n++)
				assert_int_equal(weir_remove_hash(f, test_key(i)), 1);
			keep_versions(f);
		}
		weir_destroy(f);
	}
}

/* ---- walks, the search for a free slot, and the partner buckets ---- */

static void assert_nobody_in(const struct weir_filter *f)
{
	const struct weir_cuckoo *own = weir__cuckoo_own(&f->array);
	assert_int_equal(weir__figure_load_relaxed(&own->walks), 0);
	for (uint32_t i = 0; i < own->stripes; i++)
		assert_int_equal(weir__mark_load_relaxed(&own->stripe[i].owner), 0);
}

static int stop(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return -ECANCELED;
}

static void calls_release_every_stripe(void **state)
{
	struct weir_filter *f = made(12, 3000), *copy = NULL, *full = made(12, 3000);
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_stats stats = WEIR_STATS_INIT;
	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		assert_ok(weir_insert_hash(f, test_key(i)));
		assert_ok(weir_insert_hash(full, test_key(i + 3000)));
	}
	assert_nobody_in(f);
	assert_ok(weir_clone(&copy, f));
	assert_nobody_in(f);
	assert_nobody_in(copy);
	assert_ok(weir_measure(f, WEIR_EXACT, &stats));
	assert_refused(weir_merge(full, f), -ENOSPC, "no room", "");
	assert_nobody_in(f);
	assert_nobody_in(full);
	assert_ok(weir_merge(f, f));
	assert_nobody_in(f);
	weir_destroy(copy);
	copy = made(12, 3000);
	assert_ok(weir_merge(copy, f));
	assert_nobody_in(f);
	assert_nobody_in(copy);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_nobody_in(f);
	save.progress = stop;
	assert_true(weir_save(f, weir_location_path(path), &save) < 0);
	assert_nobody_in(f);
	save.progress = NULL;
	save.zstd_level = TEST_ZSTD;
	assert_ok(weir_save(f, weir_location_path(path), &save));
	assert_nobody_in(f);
	weir_destroy(f), weir_destroy(copy), weir_destroy(full);
	assert_ok(weir_load(&f, weir_location_path(path), NULL));
	assert_nobody_in(f);
	weir_destroy(f);
}

/* [WALK-MEETS-ALL]: without owning a stripe, a walk could miss a key that moves. */
static void a_walk_owns_every_stripe(void **state)
{
	(void)state;
	for (uint64_t capacity = 8; capacity <= 64000; capacity *= 20) {
		struct weir_filter *f = made(16, capacity);
		const struct weir_cuckoo *own = weir__cuckoo_own(&f->array);
		weir__cuckoo_hold(f);
		for (uint32_t i = 0; i < own->stripes; i++)
			assert_true(weir__owner_held(&own->stripe[i].owner));
		weir__cuckoo_let_go(f);
		assert_nobody_in(f);
		weir_destroy(f);
	}
}

/* [FULL-IF-QUIET]: a moment is quiet only if no stripe has an owner. */
static void an_owned_stripe_is_no_quiet_moment(void **state)
{
	struct weir_filter *f = made(16, 3000);
	struct weir_cuckoo *own = f->own;
	uint64_t before, sum;
	(void)state;
	assert_int_equal(weir__cuckoo_quiet(&f->array, &before, WEIR_CUCKOO_EAGAIN), 1);
	for (uint32_t i = 0; i < own->stripes; i++) {
		assert_true(weir__owner_take(&own->stripe[i].owner));
		assert_int_equal(weir__cuckoo_quiet(&f->array, &sum, WEIR_CUCKOO_EAGAIN), 0);
		weir__owner_drop(&own->stripe[i].owner);
		weir__version_bump_release(&own->stripe[i].version);
		assert_int_equal(weir__cuckoo_quiet(&f->array, &sum, WEIR_CUCKOO_EAGAIN), 1);
		assert_int_equal(sum, ++before);
	}
	weir_destroy(f);
}

static int assert_not_held(void *source, uint64_t done, uint64_t total)
{
	const struct weir_filter *f = source;
	(void)done, (void)total;
	assert_int_equal(weir__figure_load_relaxed(&weir__cuckoo_own(&f->array)->walks), 0);
	return 0;
}

/* Inserts wait for a walk to end, so a progress function that inserts would deadlock. */
static void progress_is_not_called_during_a_walk(void **state)
{
	struct weir_filter *f = made(16, 2000000), *into = made(16, 2000000);
	(void)state;
	assert_true(f->bytes > 2 * WEIR__PIECE);
	assert_ok(weir_insert_hash(f, 1));
	assert_ok(weir__merge(into, f, assert_not_held, f));
	assert_true(weir_contains_hash(into, 1));
	weir_destroy(f), weir_destroy(into);
}

/* Return: a key with two full buckets, so that an insert must move another key. */
static uint64_t crowded(const struct weir_filter *f, uint32_t bits)
{
	const struct weir_array *a = &f->array;
	for (uint64_t i = 1 << 20;; i++) {
		struct weir_cuckoo_spot spot = weir__cuckoo_spot(a, test_key(i), bits);
		uint64_t other = weir__cuckoo_other(a, spot.bucket, spot.fingerprint);
		if (!weir__cuckoo_zeros(weir__place_load_acquire(a->words + spot.bucket), bits) &&
		    !weir__cuckoo_zeros(weir__place_load_acquire(a->words + other), bits))
			return test_key(i);
	}
}

/* A merge walks over its source, so waiting for a walk over its destination could deadlock. During
 * a walk over the destination, the merge fails if a key must move or if the destination is full. */
static void a_merge_fails_instead_of_waiting_for_a_walk(void **state)
{
	enum { KEYS = 3000 };
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4)
		for (unsigned full = 0; full < 2; full++) {
			struct weir_filter *into = made(bits, KEYS), *f = made(bits, KEYS);
			uint64_t n = 0;
			for (; n < KEYS; n++)
				assert_ok(weir_insert_hash(into, test_key(n)));
			while (full && weir_insert_hash(into, test_key(n)) >= 0)
				n++;
			const uint64_t hash = full ? test_key(n) : crowded(into, bits);
			assert_ok(weir_insert_hash(f, hash));
			weir__cuckoo_hold(into);
			assert_refused(weir_merge(into, f), -EAGAIN, "being copied", "try again");
			assert_false(weir_contains_hash(into, hash));
			weir__cuckoo_let_go(into);
			assert_nobody_in(f);
			assert_nobody_in(into);
			assert_int_equal(weir_merge(into, f), full ? -ENOSPC : 0);
			assert_int_equal(weir_contains_hash(into, hash), !full);
			weir_destroy(into), weir_destroy(f);
		}
}

/* Two buckets are full, and only one copy in them can move to a third bucket. The third bucket is
 * empty. The search marks each bucket in its queue by a bit, and buckets whose numbers have equal
 * remainders modulo MARKS share a bit. The first and third bucket share a bit here. */
static void a_bucket_that_shares_a_mark_is_searched(void **state)
{
	enum { BUCKETS = 1 << 13, MARKS = 1024, FIRST = 5 };
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_cuckoo_nodes nodes;
	struct weir_filter *f;
	(void)state;
	p.kind = WEIR_CUCKOO, p.max_bytes = 8 * BUCKETS, p.fp_rate = 0.001;
	assert_ok(weir_create(&f, &p));
	const struct weir_array *a = &f->array;
	const unsigned width = weir__cuckoo_width(a);
	unsigned there = 1, back = 1;
	assert_int_equal(8 * a->lines, BUCKETS);
	while (weir__cuckoo_other(a, FIRST, there) % MARKS != FIRST ||
	       weir__cuckoo_other(a, FIRST, there) == FIRST)
		there++;
	while (weir__cuckoo_other(a, FIRST, back) % MARKS == FIRST)
		back++;
	assert_true(there >> width == 0);
	const uint64_t second = weir__cuckoo_other(a, FIRST, back);
	uint64_t word = 0;
	for (unsigned place = 0; place < weir__cuckoo_places(width); place++)
		word |= (uint64_t)back << place * width;
	a->words[FIRST] = WEIR__LE64(word ^ back ^ there); /* in the lowest slot */
	a->words[second] = WEIR__LE64(word);
	assert_int_equal(weir__cuckoo_search(a, FIRST, second, &nodes), 2);
	assert_int_equal(nodes.place[2] & ((UINT64_C(1) << 48) - 1),
	                 weir__cuckoo_other(a, FIRST, there));
	a->words[FIRST] = WEIR__LE64(word); /* without a copy that can move, the search fails */
	assert_int_equal(weir__cuckoo_search(a, FIRST, second, &nodes), -1);
	weir_destroy(f);
}

/* [SPREAD] If one in 13 of the stored fingerprints has bucket PARTNER as its partner bucket, the
 * hashes are not random. */
static void copies_with_one_partner_are_uneven(void **state)
{
	enum { BUCKETS = 1 << 13, ALIKE = 84, OTHERS = 1000, PARTNER = 77 };
	(void)state;
	for (unsigned alike = 0; alike <= ALIKE; alike += ALIKE) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_stats s = WEIR_STATS_INIT;
		struct weir_filter *f;
		p.kind = WEIR_CUCKOO, p.max_bytes = 8 * BUCKETS, p.fp_rate = 0.001;
		assert_ok(weir_create(&f, &p));
		for (unsigned i = 0; i < OTHERS; i++)
			assert_ok(weir_insert_hash(f, test_key(i)));
		for (unsigned i = 0; i < alike; i++) {
			const unsigned print = 1 + (unsigned)(test_key(i) & 0xfff) % 0xfff;
			const uint64_t there = weir__cuckoo_other(&f->array, PARTNER, print);
			f->array.words[there] = WEIR__LE64((uint64_t)print);
		}
		assert_ok(weir_measure(f, WEIR_EXACT, &s));
		assert_int_equal(s.hashes_uneven, alike ? WEIR_UNEVEN_YES : WEIR_UNEVEN_NO);
		weir_destroy(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_removal_changes_its_own_stripe),
		cmocka_unit_test(a_move_changes_its_own_stripe),
		cmocka_unit_test(calls_release_every_stripe),
		cmocka_unit_test(a_walk_owns_every_stripe),
		cmocka_unit_test(an_owned_stripe_is_no_quiet_moment),
		cmocka_unit_test(progress_is_not_called_during_a_walk),
		cmocka_unit_test(a_merge_fails_instead_of_waiting_for_a_walk),
		cmocka_unit_test(a_bucket_that_shares_a_mark_is_searched),
		cmocka_unit_test(copies_with_one_partner_are_uneven),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
