/* SPDX-License-Identifier: MIT
 * L12: orders in which a node has what no image has, and another publishes. Each lost a key that a
 * node had which lives. */
#include "two.h"

static bool lives[PLACES];

static void be_born_in(unsigned i, uint64_t id)
{
	be_born(i, id);
	lives[i] = true;
}

static void end(unsigned i)
{
	if (lives[i])
		die(i);
	lives[i] = false;
}

static int make_four(void **state)
{
	(void)state;
	toy_make(&toy, 1);
	for (unsigned i = 0; i < PLACES; i++)
		be_born_in(i, 0xa + i);
	return 0;
}

static int release_four(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PLACES; i++)
		end(i);
	toy_free(&toy);
	return 0;
}

static void look(unsigned i)
{
	assert_ok(weir__node_look(&node[i]));
}

static void read_to_the_end(unsigned i)
{
	assert_ok(weir__node_read(&node[i]));
}

/* All who live say their last word, and hear those of the others: then @i waits no more. */
static void heal(unsigned i)
{
	uint64_t alive[PLACES];
	size_t n = 0;
	for (unsigned k = 0; k < PLACES; k++)
		if (lives[k]) {
			alive[n++] = node[k].id;
			assert_ok(weir__node_idle(&node[k]));
		}
	for (unsigned k = 0; k < PLACES; k++)
		if (lives[k])
			read_to_the_end(k);
	assert_true(weir__node_heal(&node[i], alive, n));
}

/* B publishes, and all join that. */
static void begin_a_set(void)
{
	publish(B);
	look(A), look(C), look(D);
}

/* D inserts @key, which @i alone has of it before the stream has gone. */
static void leave_to(unsigned i, unsigned key, bool flush)
{
	insert_and_send(D, key);
	read_to_the_end(i);
	end(D);
	if (flush)
		toy_flush(&toy);
	else
		toy_trim(&toy, toy.now.n);
}

/* Who has joined none has what it read all the same. */
static void test_nothing_joined_yet(void **state)
{
	(void)state;
	leave_to(A, 7, false);
	read_to_the_end(B);
	heal(B);
	publish(B);
	look(A);
	assert_true(has(A, 7) && node[A].united);
}

static void test_nothing_joined_and_all_deleted(void **state)
{
	(void)state;
	leave_to(A, 7, true);
	look(B);
	publish(B);
	look(A);
	assert_true(has(A, 7) && node[A].united);
}

/* Who has read nothing has nothing to keep, and no image of its own to publish. */
static void test_nothing_read_yet(void **state)
{
	(void)state;
	publish(B);
	look(A);
	assert_false(node[A].united);
}

/* Two have something else each, beside a third's generation: one publishes, the other keeps its
 * own until it does. */
static void two_have_more(bool flush)
{
	begin_a_set();
	leave_to(A, 7, flush);
	if (flush)
		look(C);
	else
		read_to_the_end(B), read_to_the_end(C);
	be_born_in(D, 0xd1);
	leave_to(C, 8, flush);
	if (flush) {
		look(B);
	} else {
		read_to_the_end(A), read_to_the_end(B), read_to_the_end(C);
		heal(A), heal(B), heal(C);
	}
	publish(B);
	look(A), look(C);
	publish(A);
	look(C);
	assert_true(has(C, 8));
	publish(C);
	look(A), look(B);
	assert_true(has(A, 8) && has(B, 7) && has(B, 8));
}

static void test_two_have_more(void **state)
{
	(void)state;
	two_have_more(false);
}

static void test_two_have_more_after_all_was_deleted(void **state)
{
	(void)state;
	two_have_more(true);
	assert_true(has(A, 7));
}

/* It keeps its own set while others publish on, one generation of which it does not see. */
static void test_one_is_missed(void **state)
{
	(void)state;
	begin_a_set();
	insert_and_send(A, 7);
	read_to_the_end(B), read_to_the_end(C);
	for (unsigned round = 0; round < 3; round++) {
		publish(B);
		look(A), look(C);
		read_to_the_end(A);
	}
	assert_null(node[A].retained.oldest);
	end(B), end(C);
	toy_flush(&toy);
	be_born_in(B, 0xb1);
	publish(B);
	look(A);
	publish(B);
	publish(B);
	look(A);
	assert_true(has(A, 7) && node[A].united);
}

/* Another gap ends meanwhile: then the next image is got, though it follows. */
static void test_another_gap(void **state)
{
	(void)state;
	begin_a_set();
	leave_to(A, 7, false);
	read_to_the_end(B);
	heal(B);
	publish(B);
	look(A);
	assert_ok(weir__node_idle(&node[B]));
	read_to_the_end(B);
	toy_trim(&toy, toy.now.n);
	read_to_the_end(A);
	heal(A);
	assert_true(node[A].healed && node[A].united && !node[B].healed);
	publish(B);
	look(A);
	assert_true(has(A, 7));
}

/* Who began the set begins it again, of the same name: it is another all the same. */
static void test_the_same_begins_again(void **state)
{
	(void)state;
	begin_a_set();
	leave_to(A, 7, true);
	look(B);
	publish(B);
	look(A);
	assert_true(has(A, 7) && node[A].united);
}

/* A has published what it alone had, and redis fails over to what had not got that yet. */
static void lose_what_was_given(void)
{
	begin_a_set();
	leave_to(A, 7, true);
	look(B);
	publish(B);
	look(A);
	assert_true(node[A].united && toy_wait(&toy));
	toy.lags = true;
	publish(A);
	assert_false(node[A].united);
}

/* B's is of the same number and lineage then: it is none that A could have gone on from. */
static void test_a_sibling(void **state)
{
	(void)state;
	lose_what_was_given();
	toy_fail_over(&toy);
	toy.lags = false;
	look(B);
	publish(B);
	look(A);
	assert_true(has(A, 7) && node[A].united);
	publish(A);
	look(B);
	assert_true(has(B, 7));
}

/* Others have it now. */
static void test_given_and_taken(void **state)
{
	(void)state;
	lose_what_was_given();
	toy.lags = false;
	look(B);
	publish(B);
	look(A);
	assert_true(toy_wait(&toy));
	toy_fail_over(&toy);
	look(A);
	assert_false(node[A].united);
}

/* Who publishes from a record begins another one, too. */
static void test_a_record_begins_again(void **state)
{
	struct weir_filter *record = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	uint64_t lineage = 0;
	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		struct weir_mark mark;
		assert_ok(weir__node_mark(&node[B], &mark));
		assert_ok(weir__node_publish_from(&node[B], record, &mark));
		look(A);
		assert_true(node[A].joined.lineage && node[A].joined.lineage != lineage);
		lineage = node[A].joined.lineage;
		weir__mark_free(&mark);
		toy_flush(&toy);
		look(B);
	}
	weir_destroy(record);
}

#define OF(test) cmocka_unit_test_setup_teardown(test, make_four, release_four)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF(test_nothing_joined_yet),
		OF(test_nothing_joined_and_all_deleted),
		OF(test_nothing_read_yet),
		OF(test_two_have_more),
		OF(test_two_have_more_after_all_was_deleted),
		OF(test_one_is_missed),
		OF(test_another_gap),
		OF(test_the_same_begins_again),
		OF(test_a_record_begins_again),
		OF(test_a_sibling),
		OF(test_given_and_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
