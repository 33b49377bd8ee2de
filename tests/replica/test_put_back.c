/* SPDX-License-Identifier: MIT
 * L12, L13: somebody puts a file of before back, once and again: what nodes that live had in no
 * batch any more they keep, and know that nobody else gets it. */
#include <errno.h>
#include "seeds.h"

static char *kept;
static uint64_t kept_generation;

static void keep_file(void)
{
	free(kept);
	kept = strdup(toy.now.manifest);
	assert_non_null(kept);
	kept_generation = toy.now.generation;
}

static void put_back(void)
{
	toy_flush(&toy);
	put_manifest(strdup(kept));
	toy.now.generation = kept_generation;
}

static int release(void **state)
{
	free(kept);
	kept = NULL;
	return release_two(state);
}

static void look_both(void)
{
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_look(&node[B]));
}

/* What is in the stream they have, retain no more, and the stream neither. */
static void forget(void)
{
	assert_ok(weir__node_send(&node[A]));
	for (unsigned i = 0; i < 3; i++) {
		publish(A);
		look_both();
	}
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_null(node[A].retained.oldest);
}

/* By the seed of all others. */
static void publish_record(unsigned i)
{
	struct weir_mark mark;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	assert_ok(weir_insert_hash(f, test_key(100)));
	assert_ok(weir__node_mark(&node[i], &mark));
	assert_ok(weir__node_publish_from(&node[i], f, &mark));
	weir__mark_free(&mark);
	weir_destroy(f);
	look_both();
}

static void assert_alone(bool alone)
{
	assert_int_equal(node[A].alone, alone);
	assert_int_equal(node[B].alone, alone);
}

/* It replaced what was there when it was published, and is no newer now. */
static void test_a_record(void **state)
{
	(void)state;
	publish_record(A);
	keep_file();
	insert_and_send(A, 1);
	forget();
	assert_alone(false);
	for (unsigned i = 0; i < 3; i++) {
		put_back();
		look_both();
		assert_true(has(A, 1) && has(B, 1) && has(B, 100));
		assert_alone(true);
	}
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_alone(false);
	die(A);
	be_born(A, 0xc);
	assert_true(has(A, 1));
}

/* One of before, and then one that is newer than that. */
static void test_two_records(void **state)
{
	char *first;
	(void)state;
	publish_record(A);
	keep_file();
	first = kept;
	kept = NULL;
	publish_record(A);
	keep_file();
	insert_and_send(A, 1);
	forget();
	char *second = kept;
	kept = first;
	kept_generation--;
	put_back();
	look_both();
	free(first);
	kept = second;
	kept_generation++;
	put_back();
	look_both();
	assert_true(has(A, 1) && has(B, 1));
}

/* Another record, in this epoch, replaces all. */
static void test_a_record_of_now(void **state)
{
	(void)state;
	publish_record(A);
	keep_file();
	insert_and_send(A, 1);
	forget();
	put_back();
	look_both();
	assert_true(node[A].apart && node[B].apart);
	publish_record(A);
	assert_alone(false);
	assert_false(has(A, 1) || has(B, 1) || node[A].united || node[B].united);
	assert_false(node[A].apart || node[B].apart);
}

/* A set by another seed, which the record has replaced. */
static void replace_and_put_back(void)
{
	publish_of(A, 1, 3);
	look_both();
	keep_file();
	publish_of(A, 4711, 5);
	look_both();
	insert_key(A, 8);
	forget();
	put_back();
	look_both();
}

static void assert_kept(uint64_t seed)
{
	assert_true(has_key(A, 8) && has_key(B, 8));
	assert_true(seed_of(A) == seed && seed_of(B) == seed);
}

static void test_what_was_replaced(void **state)
{
	(void)state;
	replace_and_put_back();
	uint64_t seed = seed_of(A);
	for (unsigned i = 0; i < 3; i++) {
		assert_kept(seed);
		assert_alone(true);
		assert_true(node[A].apart && node[B].apart);
		put_back();
		look_both();
	}
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_kept(seed);
	assert_alone(false);
}

/* Somebody who has nothing but that one publishes: it does not become the set. */
static void test_what_follows_it(void **state)
{
	(void)state;
	replace_and_put_back();
	uint64_t seed = seed_of(A);
	be_born_with(C, 0xc, filter_of(1, 0), WEIR_ENTRY_KEYS);
	assert_ok(weir__node_look(&node[C]));
	publish(C);
	for (unsigned i = A; i <= B; i++)
		assert_refused(weir__node_look(&node[i]), -EKEYREJECTED, "another seed", "record");
	assert_kept(seed);
	assert_alone(true);
	toy.clock += 1000;
	publish_of(C, 4712, 8);
	look_both();
	assert_true(has_key(A, 8) && has_key(B, 8) && seed_of(A) != seed);
	assert_alone(false);
	die(C);
}

/* By a lower number: nor does that become it. */
static void test_what_was_made_since(void **state)
{
	(void)state;
	publish_of(A, 1, 3);
	look_both();
	keep_file();
	publish_of(A, 4711, 5);
	look_both();
	insert_key(A, 8);
	forget();
	uint64_t seed = seed_of(A);
	put_back();
	be_born_with(C, 0xc, filter_of(1, 0), WEIR_ENTRY_KEYS);
	assert_ok(weir__node_look(&node[C]));
	publish(C); /* before they look */
	for (unsigned i = A; i <= B; i++)
		assert_refused(weir__node_look(&node[i]), -EKEYREJECTED, "another seed", "record");
	assert_kept(seed);
	die(C);
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release)
#define OF_KEYS(test) cmocka_unit_test_setup_teardown(test, make_of_keys, release)
	const struct CMUnitTest tests[] = {
		OF(test_a_record),
		OF(test_two_records),
		OF(test_a_record_of_now),
		OF_KEYS(test_what_was_replaced),
		OF_KEYS(test_what_follows_it),
		OF_KEYS(test_what_was_made_since),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
