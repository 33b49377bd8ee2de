/* SPDX-License-Identifier: MIT
 * The library with a test kind that counts exactly (each slot stores a hash and a count), hashes
 * by XXH64 instead of XXH3, removes keys, and can be full. */
#include <errno.h>
#include "kind/batch.h"
#include "ground/error.h"
#include "toy.h"

static int64_t room = INT64_MAX; /* new keys that the toy still accepts */

static uint64_t *slot_of(const struct weir_filter *f, uint64_t hash)
{
	uint64_t slots = 4 * f->array.lines, i = hash % slots;
	while (f->array.words[2 * i] && f->array.words[2 * i] != hash)
		i = (i + 1) % slots;
	return f->array.words + 2 * i;
}

static bool holds_hash(const struct weir_filter *f, uint64_t hash)
{
	return slot_of(f, hash)[1] != 0;
}

static bool holds(const struct weir_filter *f, const void *key, size_t len)
{
	return holds_hash(f, weir__hash_by(&f->hashing, key, len));
}

static int put_hash(struct weir_filter *f, uint64_t hash)
{
	uint64_t *slot = slot_of(f, hash);
	if (!slot[0] && room-- <= 0)
		return weir__fail(-ENOSPC, "the toy is full");
	slot[0] = hash;
	return slot[1]++ == 0 ? WEIR_NEW : WEIR_SEEN;
}

static int put(struct weir_filter *f, const void *key, size_t len)
{
	return put_hash(f, weir__hash_by(&f->hashing, key, len));
}

static uint64_t hash_at(const struct weir_filter *f, const struct weir_batch *batch, size_t i)
{
	uint64_t hash;
	if (batch->from == WEIR_FROM_HASHES)
		return ((const uint64_t *)batch->keys)[i];
	weir__batch_hash(f, batch, i, 1, &hash);
	return hash;
}

static size_t holds_batch(const struct weir_filter *f, const struct weir_batch *batch,
                          uint64_t *bitmap)
{
	size_t found = 0;
	toy_none(batch, bitmap);
	for (size_t i = 0; i < batch->n; i++) {
		bool there = holds_hash(f, hash_at(f, batch, i));
		found += there;
		if (bitmap)
			bitmap[i / 64] |= (uint64_t)there << (i % 64);
	}
	return found;
}

static int64_t put_batch(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	int64_t fresh = 0;
	toy_none(batch, bitmap);
	for (size_t i = 0; i < batch->n; i++) {
		int answer = put_hash(f, hash_at(f, batch, i));
		if (answer < 0)
			return weir__stopped(i, answer);
		fresh += answer;
		if (bitmap)
			bitmap[i / 64] |= (uint64_t)answer << (i % 64);
	}
	return fresh;
}

static int take_out(struct weir_filter *f, uint64_t hash)
{
	uint64_t *slot = slot_of(f, hash);
	if (!slot[1])
		return 0;
	slot[1]--;
	return 1;
}

static int64_t count_of(const struct weir_filter *f, uint64_t hash)
{
	return (int64_t)slot_of(f, hash)[1];
}

static const struct weir_kernel *rich_kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel kernel = { .verbs = { .contains = holds,
		                                              .contains_hash = holds_hash,
		                                              .insert = put,
		                                              .insert_hash = put_hash },
		                                   .contains_batch = holds_batch,
		                                   .insert_batch = put_batch,
		                                   .partition_bits = 64,
		                                   .remove = take_out,
		                                   .count = count_of };
	(void)isa, (void)shape;
	return &kernel;
}

static const struct weir_kind rich = { .id = 4712,
	                               .name = "rich toy",
	                               .hash = &weir__xxh64,
	                               .kernel = rich_kernel };

enum { KEYS = 130, TWICE = 65 };
static uint64_t numbers[KEYS], hashes[KEYS];
static struct iovec vectors[KEYS];

/* Return: a filter with KEYS keys. It inserts the keys number 0 to TWICE - 1 twice. Also fills the
 * arrays for all forms of keys. */
static struct weir_filter *rich_filled(int insert_error)
{
	struct weir_filter *f = toy_make(&rich, LINES, 1, 0);
	room = INT64_MAX;
	for (unsigned i = 0; i < KEYS; i++) {
		numbers[i] = test_key(i);
		hashes[i] = XXH64(&numbers[i], 8, SEED);
		vectors[i] = (struct iovec){ &numbers[i], 8 };
	}
	assert_int_equal(weir_insert_keys(f, weir_keys_u64(numbers, KEYS), NULL), KEYS);
	assert_int_equal(weir_insert_keys(f, weir_keys_hashes(hashes, TWICE), NULL), 0);
	f->insert_error = insert_error;
	return f;
}

static void keys_are_hashed_by_the_kind(void **state)
{
	struct weir_filter *f = toy_make(&rich, LINES, 1, 0);
	char bytes[100 * 20];
	uint64_t out[100];
	struct iovec keys[100];
	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)test_key(i);
	assert_int_equal(weir_hash(f, NULL, 0), XXH64(NULL, 0, SEED));
	for (size_t width = 1; width <= 20; width++) { /* XXH3 handles 8 bytes as a special case */
		weir_hash_keys(f, weir_keys_fixed(bytes, width, 100), out);
		for (size_t i = 0; i < 100; i++) {
			assert_int_equal(out[i], XXH64(bytes + i * width, width, SEED));
			assert_int_equal(weir_hash(f, bytes + i * width, width), out[i]);
			keys[i] = (struct iovec){ bytes + i, 1 + (i + width) % 20 };
		}
		weir_hash_keys(f, weir_keys_iov(keys, 100), out);
		for (size_t i = 0; i < 100; i++)
			assert_int_equal(out[i], XXH64(keys[i].iov_base, keys[i].iov_len, SEED));
	}
	weir_destroy(f);
}

static void lookups_use_the_kinds_hash(void **state)
{
	struct weir_filter *f = rich_filled(0);
	(void)state;
	for (unsigned i = 0; i < KEYS; i++)
		assert_true(weir_contains(f, &numbers[i], 8) && weir_contains_hash(f, hashes[i]) &&
		            weir_contains_u64(f, numbers[i]));
	assert_false(weir_contains_u64(f, test_key(KEYS)));
	assert_int_equal(weir_insert_u64(f, test_key(KEYS)), WEIR_NEW);
	assert_int_equal(weir_insert_u64(f, test_key(KEYS)), WEIR_SEEN);
	assert_true(weir_contains_u64(f, test_key(KEYS)));
	uint64_t more = test_key(KEYS);
	assert_true(weir_contains(f, &more, sizeof more));
	for (size_t n = KEYS; n; n = n > 8 ? 8 : n - 1) {
		assert_int_equal(weir_contains_keys(f, weir_keys_u64(numbers, n), NULL), n);
		assert_int_equal(weir_contains_keys(f, weir_keys_iov(vectors, n), NULL), n);
		assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes, n), NULL), n);
	}
	weir_destroy(f);
}

static void assert_counts(const struct weir_filter *f, int64_t twice, int64_t once)
{
	int64_t counts[3][KEYS];
	assert_ok(weir_count_keys(f, weir_keys_hashes(hashes, KEYS), counts[0]));
	assert_ok(weir_count_keys(f, weir_keys_iov(vectors, KEYS), counts[1]));
	assert_ok(weir_count_keys(f, weir_keys_u64(numbers, KEYS), counts[2]));
	for (unsigned i = 0; i < KEYS; i++) {
		int64_t wanted = i < TWICE ? twice : once;
		assert_int_equal(weir_count(f, &numbers[i], 8), wanted);
		assert_int_equal(weir_count_hash(f, hashes[i]), wanted);
		for (unsigned form = 0; form < 3; form++)
			assert_int_equal(counts[form][i], wanted);
	}
}

static void single_removals(void **state)
{
	struct weir_filter *f = rich_filled(0);
	(void)state;
	assert_counts(f, 2, 1);
	for (unsigned i = 0; i < KEYS; i++)
		assert_int_equal(i % 2 ? weir_remove(f, &numbers[i], 8) :
		                         weir_remove_hash(f, hashes[i]),
		                 1);
	assert_counts(f, 1, 0);
	assert_int_equal(weir_remove(f, &numbers[TWICE], 8), 0);
	assert_int_equal(weir_remove_hash(f, hashes[TWICE]), 0);
	assert_int_equal(weir_remove(f, "none", 4), 0);
	assert_counts(f, 1, 0);
	weir_destroy(f);
}

static int64_t remove_in(struct weir_filter *f, unsigned form, size_t n, uint64_t *bitmap)
{
	return form == 0 ? weir_remove_keys(f, weir_keys_hashes(hashes, n), bitmap) :
	       form == 1 ? weir_remove_keys(f, weir_keys_iov(vectors, n), bitmap) :
	                   weir_remove_keys(f, weir_keys_u64(numbers, n), bitmap);
}

static void removals_in_batches(void **state)
{
	(void)state;
	for (unsigned form = 0; form < 3; form++) {
		struct weir_filter *f = rich_filled(0);
		uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS) + 1];
		memset(bitmap, 0xa5, sizeof bitmap);
		assert_int_equal(remove_in(f, form, 0, bitmap), 0);
		assert_int_equal(bitmap[0], UINT64_C(0xa5a5a5a5a5a5a5a5));
		assert_int_equal(remove_in(f, form, KEYS, bitmap), KEYS);
		assert_true(bitmap[0] == UINT64_MAX && bitmap[1] == UINT64_MAX);
		assert_int_equal(bitmap[2], 3); /* bits from n on are cleared */
		assert_int_equal(bitmap[3], UINT64_C(0xa5a5a5a5a5a5a5a5));
		assert_counts(f, 1, 0);
		/* only the second copies of the first TWICE keys remain */
		assert_int_equal(remove_in(f, form, KEYS, bitmap), TWICE);
		assert_true(bitmap[0] == UINT64_MAX && bitmap[1] == 1 && bitmap[2] == 0);
		assert_counts(f, 0, 0);
		weir_destroy(f);
		f = rich_filled(0);
		assert_int_equal(remove_in(f, form, KEYS, NULL), KEYS);
		assert_int_equal(remove_in(f, form, KEYS, NULL), TWICE);
		assert_int_equal(remove_in(f, form, KEYS, NULL), 0);
		weir_destroy(f);
	}
}

static void a_read_only_map_counts_but_refuses_removals(void **state)
{
	struct weir_filter *f = rich_filled(-EROFS);
	uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
	(void)state;
	assert_refused(weir_remove(f, &numbers[0], 8), -EROFS, "mapped read-only", "weir_load()");
	assert_refused(weir_remove_hash(f, hashes[0]), -EROFS, "mapped read-only", "");
	for (unsigned form = 0; form < 3; form++)
		assert_refused(remove_in(f, form, KEYS, bitmap), -EROFS, "mapped read-only", "");
	assert_counts(f, 2, 1);
	weir_destroy(f);
}

/* ---- the kind is full ---- */

static void a_batch_into_a_full_filter_is_refused(void **state)
{
	struct weir_filter *f = rich_filled(0);
	uint64_t more[10], bitmap[1];
	struct iovec keys[10];
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(more); i++) {
		more[i] = test_key(1000 + i);
		keys[i] = (struct iovec){ &more[i], 8 };
	}
	room = 0;
	assert_says(weir_insert_hash(f, more[0]), -ENOSPC, "the toy is full");
	for (size_t n = 1; n <= 10; n++) {
		room = 0;
		assert_says(weir_insert_keys(f, weir_keys_hashes(more, n), bitmap), -ENOSPC,
		            "the toy is full");
		assert_says(weir_insert_keys(f, weir_keys_u64(more, n), NULL), -ENOSPC,
		            "the toy is full");
		assert_says(weir_insert_keys(f, weir_keys_iov(keys, n), bitmap), -ENOSPC,
		            "the toy is full");
	}
	room = 2; /* two of the four keys fit */
	assert_says(weir_insert_keys(f, weir_keys_u64(more, 4), NULL), -ENOSPC,
	            "the toy is full");
	assert_int_equal(weir_contains_keys(f, weir_keys_u64(more, 4), bitmap), 2);
	assert_int_equal(bitmap[0], 3);
	/* a kind that cannot fill by plain stores inserts the keys of weir_fill_keys() */
	assert_says(weir_fill_keys(f, weir_keys_hashes(more, 10)), -ENOSPC, "the toy is full");
	room = 10;
	assert_ok(weir_fill_keys(f, weir_keys_hashes(more, 10)));
	assert_int_equal(weir_contains_keys(f, weir_keys_hashes(more, 10), NULL), 10);
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_hashed_by_the_kind),
		cmocka_unit_test(lookups_use_the_kinds_hash),
		cmocka_unit_test(single_removals),
		cmocka_unit_test(removals_in_batches),
		cmocka_unit_test(a_read_only_map_counts_but_refuses_removals),
		cmocka_unit_test(a_batch_into_a_full_filter_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
