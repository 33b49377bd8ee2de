/* SPDX-License-Identifier: MIT
 * Batches that a node inserts: what of them the other node has, in each form of key. */
#include "seeds.h"

enum { KEYS = 150 }; /* more than two words of a bitmap */
static uint64_t numbers[KEYS], bitmap[WEIR_BITMAP_WORDS(KEYS)], kept;
static struct iovec vectors[KEYS];

static void make_keys(uint64_t first)
{
	for (uint64_t i = 0; i < KEYS; i++) {
		numbers[i] = first + i;
		vectors[i] = (struct iovec){ &numbers[i], sizeof numbers[i] };
	}
}

static int64_t insert_batch(struct weir_keys keys)
{
	return weir__node_insert_keys(&node[A], keys, bitmap, &kept);
}

/* The other node has them all, and so has this one. */
static void arrives(struct weir_keys keys)
{
	uint64_t found[WEIR_BITMAP_WORDS(KEYS)];
	const int64_t fresh = insert_batch(keys);
	assert_true(fresh >= KEYS - 2 && kept == 0); /* but for false positives */
	assert_int_equal(weir_handle_contains_keys(handle[A], keys, found), KEYS);
	assert_ok(weir__node_send(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_int_equal(weir_handle_contains_keys(handle[B], keys, found), KEYS);
}

static void each_form_of_keys_arrives(void)
{
	make_keys(1);
	arrives(weir_keys_u64(numbers, KEYS));
	make_keys(1001);
	arrives(weir_keys_iov(vectors, KEYS));
	make_keys(2001);
	arrives(weir_keys_fixed(numbers, 8, KEYS));
}

static void test_each_form_by_hashes(void **state)
{
	uint64_t hashes[KEYS];
	(void)state;
	each_form_of_keys_arrives();
	assert_int_equal(insert_batch(weir_keys_u64(numbers, 1)), 0); /* few: it is there */
	for (unsigned i = 0; i < KEYS; i++)
		hashes[i] = test_key(i);
	arrives(weir_keys_hashes(hashes, KEYS));
	assert_int_equal(insert_batch(weir_keys_hashes(NULL, 0)), 0);
	assert_refused(insert_batch((struct weir_keys){ .n = 1 }), -EINVAL, "a batch of", "");
}

static void test_each_form_by_keys(void **state)
{
	const uint64_t hash = test_key(1);
	(void)state;
	each_form_of_keys_arrives();
	assert_refused(insert_batch(weir_keys_hashes(&hash, 1)), -ENOTSUP, "batches are of keys",
	               "a hash does not do");
}

/* Of a batch with one key that no entry has room for, none is in. */
static void test_a_key_that_is_too_long(void **state)
{
	static const char longest[WEIR_NODE_KEY + 1];
	(void)state;
	make_keys(1);
	vectors[KEYS - 1] = (struct iovec){ (void *)(uintptr_t)longest, sizeof longest };
	assert_refused(insert_batch(weir_keys_iov(vectors, KEYS)), -E2BIG, "a key of", "the most");
	assert_false(has_key(A, 1));
	vectors[KEYS - 1].iov_len = WEIR_NODE_KEY;
	arrives(weir_keys_iov(vectors, KEYS));
}

/* The other nodes would take a number for text, and lowercase it. */
static void test_numbers_of_a_set_with_normalisation(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	const uint64_t number = UINT64_C(0x4141414141414141);
	const struct iovec text = { (void *)(uintptr_t)"AAAAAAAA", 8 };
	(void)state;
	p.capacity = 1000, p.fp_rate = 1e-6, p.seed = 1;
	p.text.steps = WEIR_TEXT_LOWERCASE;
	assert_ok(weir_create(&f, &p));
	be_born_with(C, 0xc, f, WEIR_ENTRY_KEYS);
	assert_refused(weir__node_insert_keys(&node[C], weir_keys_u64(&number, 1), bitmap, &kept),
	               -ENOTSUP, "it normalises", "for text");
	assert_int_equal(weir__node_insert_keys(&node[C], weir_keys_iov(&text, 1), bitmap, &kept),
	                 1);
	assert_int_equal(weir_handle_contains(handle[C], "aaaaaaaa", 8), 1);
	die(C);
}

static void test_a_batch_that_has_no_room(void **state)
{
	(void)state;
	make_keys(1);
	node[A].pending.limit = 0;
	assert_true(insert_batch(weir_keys_u64(numbers, KEYS)) >= KEYS - 2);
	assert_int_equal(kept, KEYS);
	assert_int_equal(weir_handle_contains_u64(handle[A], 1), 1);
}

int main(void)
{
#define by_hashes(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
#define by_keys(test) cmocka_unit_test_setup_teardown(test, make_of_keys, release_two)
	const struct CMUnitTest tests[] = {
		by_hashes(test_each_form_by_hashes),
		by_keys(test_each_form_by_keys),
		by_keys(test_a_key_that_is_too_long),
		by_keys(test_numbers_of_a_set_with_normalisation),
		by_hashes(test_a_batch_that_has_no_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
