/* SPDX-License-Identifier: MIT
 * Which image is not fetched again, and which filter may be published. */
#include <errno.h>
#include <inttypes.h>
#include <weir/error.h>
#include "two.h"

static int image_err;

static int no_image(void *context, const struct weir_manifest *m, struct weir_filter **out)
{
	(void)context, (void)m, (void)out;
	return weir_fail(image_err, "the image will not do");
}

/* Of all numbers of errors: five. */
static void test_which_are_refused(void **state)
{
	(void)state;
	for (int e = 0; e <= 133; e++)
		assert_int_equal(weir__image_refused(-e), e == EBADMSG || e == EKEYREJECTED ||
		                                          e == ENOTSUP || e == EFBIG ||
		                                          e == EINVAL);
}

/* B looks for A's newest, which answers with this. */
static void fail_with(int err)
{
	const struct weir_server as_it_was = toy.server;
	image_err = err;
	toy.server.image = no_image;
	assert_int_equal(weir__node_look(&node[B]), err);
	toy.server = as_it_was;
}

static void test_what_lasts_is_refused(void **state)
{
	static const int lasting[] = { -EBADMSG, -EKEYREJECTED, -ENOTSUP, -EFBIG, -EINVAL };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(lasting); i++) {
		publish_more(A, 1);
		fail_with(lasting[i]);
		assert_refused(weir__node_look(&node[B]), lasting[i], "refused before", "set");
	}
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, COUNT_OF(lasting) + 1);
}

/* Not there yet, no memory just now, or the node was stopping; or whoever holds a chunk sent more
 * than a chunk. */
static void test_what_passes_is_not(void **state)
{
	static const int passing[] = { -EAGAIN, -ENOMEM, -ECANCELED, -EINPROGRESS,
	                               -ECONNRESET, -EMSGSIZE };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(passing); i++) {
		publish_more(A, 1);
		fail_with(passing[i]);
		assert_ok(weir__node_look(&node[B]));
		assert_int_equal(node[B].joined.generation, i + 1);
	}
}

/* Nor one that is another but for half of its checksum. */
static void test_half_a_checksum(void **state)
{
	(void)state;
	publish(A);
	fail_with(-EBADMSG);
	node[B].refused.checksum[1]++;
	assert_ok(weir__node_look(&node[B]));
}

/* Another image may have that number in another epoch. */
static void test_another_of_that_number(void **state)
{
	(void)state;
	publish(A);
	fail_with(-EBADMSG);
	toy_flush(&toy);
	die(A);
	be_born(A, 0xc);
	insert_and_send(A, 1);
	publish(A);
	assert_int_equal(toy.now.generation, 1);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 1));
}

/* That image is published again, and whole now. */
static void test_that_image_again(void **state)
{
	(void)state;
	insert_and_send(A, 1);
	publish(A);
	fail_with(-EBADMSG);
	char *first = strdup(toy.now.manifest);
	assert_ok(weir__node_publish_again(&node[A], first, strlen(first)));
	free(first);
	assert_ok(weir__node_look(&node[B]));
	assert_int_equal(node[B].joined.generation, 2);
}

static struct weir_filter *another(unsigned kind, uint64_t seed)
{
	const uint64_t hashes[] = { 1, 2, 3 };
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.kind = kind;
	p.seed = seed;
	p.capacity = 100;
	p.fp_rate = 0.01;
	if (kind == WEIR_FUSE)
		assert_ok(weir_build(&f, &p, weir_keys_hashes(hashes, COUNT_OF(hashes)), NULL));
	else
		assert_ok(weir_create(&f, &p));
	return f;
}

/* B, whose own filter is another, publishes one that is like the set's. */
static int publish_from(struct weir_filter *f)
{
	struct weir_mark mark;
	assert_ok(weir__node_mark(&node[B], &mark));
	int err = weir__node_publish_from(&node[B], f, &mark);
	weir__mark_free(&mark);
	weir_destroy(f);
	return err;
}

static void test_the_kind_is_the_sets(void **state)
{
	(void)state;
	die(A);
	be_born_with(A, 0xc, another(WEIR_FUSE, 42), WEIR_ENTRY_HASHES);
	assert_ok(weir__node_look(&node[A]));
	publish(A);
	fail_with(-EAGAIN);
	assert_refused(publish_from(another(WEIR_BLOCKED, 42)), -ENOTSUP, "blocked", "fuse");
	assert_ok(publish_from(another(WEIR_FUSE, 42)));
}

/* Why a kind will do for no set. */
static void test_a_kind_for_no_set(void **state)
{
	(void)state;
	assert_refused(publish_from(another(WEIR_COUNTING, 42)), -ENOTSUP, "count twice",
	               "counting");
}

/* What the set cannot take in could replace it. */
static void test_another_size(void **state)
{
	struct weir_filter *larger = test_filter(WEIR_BLOCKED, 5000, 1e-6);
	(void)state;
	publish(A);
	assert_refused(weir__node_publish(&node[A], larger), -EKEYREJECTED, "could replace it",
	               "set");
	assert_non_null(strstr(weir_error_detail(), "replace it: cannot merge: ")); /* and why */
	weir_destroy(larger);
	publish(A);
	assert_int_equal(toy.now.generation, 2);
}

static struct weir_filter *growing(unsigned first)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.kind = WEIR_GROWING;
	p.seed = 42;
	p.capacity = 1000;
	p.growing.max_capacity = 4000;
	p.fp_rate = 0.01;
	assert_ok(weir_create(&f, &p));
	for (unsigned key = first; key < first + 3900; key++)
		assert_ok(weir_insert_hash(f, test_key(key)));
	return f;
}

/* Two that are as large are too much together: that is no other size. */
static void test_too_many_for_both(void **state)
{
	struct weir_filter *more = growing(5000);
	(void)state;
	die(A);
	be_born_with(A, 0xc, growing(0), WEIR_ENTRY_HASHES);
	assert_ok(weir__node_look(&node[A]));
	publish(A);
	assert_refused(weir__node_publish(&node[A], more), -ENOSPC, "set set: cannot merge: ",
	               "capacity");
	weir_destroy(more);
}

/* By another seed nothing is united, of keys either: there it could replace the set. */
static void test_another_seed_of_keys(void **state)
{
	struct weir_filter *more = another(WEIR_BLOCKED, 4711);
	(void)state;
	die(A);
	be_born_with(A, 0xc, another(WEIR_BLOCKED, 42), WEIR_ENTRY_KEYS);
	assert_ok(weir__node_look(&node[A]));
	publish(A);
	assert_refused(weir__node_publish(&node[A], more), -EKEYREJECTED, "could replace it",
	               "set set: ");
	weir_destroy(more);
}

static void publishes_not_with(unsigned kind, uint64_t seed, int err, const char *why)
{
	struct weir_filter *more = another(kind, seed);
	assert_refused(weir__node_publish(&node[A], more), err, why, "set");
	assert_null(strstr(weir_error_detail(), "replace"));
	weir_destroy(more);
}

/* Nor is replacing it the way out then. */
static void test_neither_with_it_nor_instead(void **state)
{
	struct weir_filter *counting = another(WEIR_COUNTING, 42);
	(void)state;
	publish(A);
	publishes_not_with(WEIR_BLOCKED, 4711, -EKEYREJECTED, "another seed");
	publishes_not_with(WEIR_FUSE, 42, -ENOTSUP, "publish is fuse, and the set's is blocked");
	assert_refused(weir__node_publish(&node[A], counting), -ENOTSUP, "count twice",
	               "counting");
	weir_destroy(counting);
}

/* Without the end of the stream there is no mark. */
static void test_no_mark(void **state)
{
	struct weir_mark mark;
	(void)state;
	toy.failing = 1000;
	assert_int_equal(weir__node_mark(&node[A], &mark), -ECONNRESET);
	assert_int_equal(mark.origins.n, 0);
}

static void test_the_seed_is_the_sets(void **state)
{
	(void)state;
	die(A);
	be_born_with(A, 0xc, another(WEIR_BLOCKED, 4711), WEIR_ENTRY_HASHES);
	assert_ok(weir__node_look(&node[A]));
	publish(A);
	assert_refused(weir__node_look(&node[B]), -EKEYREJECTED, "another seed", "set");
	char filter[32], set[32];
	snprintf(filter, sizeof filter, "key: %08" PRIx64 ", ", node[B].hashing);
	snprintf(set, sizeof set, "the set's is %08" PRIx64 ":", node[A].hashing);
	assert_refused(publish_from(another(WEIR_BLOCKED, 42)), -EKEYREJECTED, filter, set);
	assert_ok(publish_from(another(WEIR_BLOCKED, 4711)));
}

int main(void)
{
#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)
	const struct CMUnitTest tests[] = {
		OF(test_which_are_refused),
		OF(test_what_lasts_is_refused),
		OF(test_what_passes_is_not),
		OF(test_half_a_checksum),
		OF(test_another_of_that_number),
		OF(test_that_image_again),
		OF(test_the_kind_is_the_sets),
		OF(test_a_kind_for_no_set),
		OF(test_another_size),
		OF(test_too_many_for_both),
		OF(test_another_seed_of_keys),
		OF(test_neither_with_it_nor_instead),
		OF(test_no_mark),
		OF(test_the_seed_is_the_sets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
