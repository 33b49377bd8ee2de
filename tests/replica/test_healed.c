/* SPDX-License-Identifier: MIT
 * L8, L12: who lacked something that nobody could send publishes beside what the others have. */
#include "two.h"

static void read_word_of(unsigned i)
{
	assert_ok(weir__node_idle(&node[i]));
	assert_ok(weir__node_read(&node[!i]));
}

/* B inserts 7, A has it, and B dies; its batch is trimmed by force before another takes its place,
 * who asks everybody that lives. */
static void be_healed(void)
{
	const uint64_t alive[] = { 0xa, 0xc };
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	insert_and_send(B, 7);
	assert_ok(weir__node_read(&node[A]));
	die(B);
	toy_trim(&toy, toy.now.n);
	be_born(B, 0xc);
	assert_ok(weir__node_idle(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	read_word_of(A);
	assert_true(weir__node_heal(&node[B], alive, 2));
	assert_true(has(A, 7) && !has(B, 7));
}

static void test_others_have_more(void **state)
{
	(void)state;
	be_healed();
	publish(B);
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 7) && node[A].united);
	assert_int_equal(node[A].joined.generation, 2);
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 7) && !node[B].united && !node[A].united);
	/* it is one line again */
	publish(B);
	assert_non_null(strstr(toy.now.manifest, "follows "));
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 7) && !node[A].united);
}

/* B published a lineage, A has more and keeps it: whatever B publishes before it is A's turn. */
static void test_more_is_kept_until_it_is_published(void **state)
{
	(void)state;
	be_healed();
	publish(B);
	assert_ok(weir__node_look(&node[A]));
	publish(B); /* which follows */
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_look(&node[A]));
	assert_true(node[A].joined.generation == 3 && node[A].united);
	publish_more(B, 9); /* which does not */
	assert_ok(weir__node_look(&node[A]));
	assert_true(node[A].joined.generation == 4 && node[A].united && has(A, 7) && has(A, 9));
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 7) && !node[A].united);
}

/* What a record has is all that there is to have. */
static void test_a_record_replaces_it(void **state)
{
	struct weir_filter *record = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	struct weir_mark mark;
	(void)state;
	be_healed();
	publish(B);
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_mark(&node[B], &mark));
	assert_ok(weir__node_publish_from(&node[B], record, &mark));
	assert_ok(weir__node_look(&node[A]));
	assert_true(!has(A, 7) && !node[A].united);
	weir__mark_free(&mark);
	weir_destroy(record);
}

/* What is returned to has nothing that came later. */
static void test_a_rollback_replaces_it(void **state)
{
	(void)state;
	be_healed();
	publish(B);
	char *text = strdup(toy.now.manifest);
	assert_non_null(text);
	assert_ok(weir__node_look(&node[A]));
	assert_ok(weir__node_publish_again(&node[B], text, strlen(text)));
	free(text);
	assert_ok(weir__node_look(&node[A]));
	assert_true(node[A].joined.generation == 3 && !has(A, 7) && !node[A].united);
}

/* Not even what follows what it has does it take for had: its own set may lack what that has. */
static void test_it_takes_the_next_image(void **state)
{
	(void)state;
	be_healed();
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 7) && !node[B].healed);
	publish(B);
	assert_non_null(strstr(toy.now.manifest, "follows "));
}

/* Nor where the image says nothing of the one that has gone. */
static void test_it_takes_what_has_forgotten(void **state)
{
	const uint64_t alive[] = { 0xa, 0xc };
	(void)state;
	be_healed();
	weir__node_forget(&node[A], alive, 2);
	publish(A);
	assert_null(strstr(toy.now.manifest, "000000000000000b"));
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 7));
}

/* What it publishes with it changes nothing in that. */
static void test_others_have_more_beside_an_image(void **state)
{
	(void)state;
	be_healed();
	publish_more(B, 8);
	assert_ok(weir__node_look(&node[A]));
	assert_true(has(A, 7) && has(A, 8) && node[A].united);
}

/* Of those who live it waits for what is lacking, and of no other. */
static void test_whom_it_waits_for(void **state)
{
	const uint64_t with[] = { 0xa, 0xb, 0xc, 0xd }, without[] = { 0xa, 0xb, 0xd };
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	for (unsigned i = 2; i < 4; i++)
		assert_ok(weir__origins_hear(&node[B].origins, with[i], 1));
	assert_false(weir__node_heal(&node[B], with, 4));
	assert_false(weir__node_heal(&node[B], with + 1, 3));
	weir__node_forget(&node[B], with + 1, 3);
	assert_non_null(weir__origins_find(&node[B].origins, 0xd));
	assert_false(weir__node_heal(&node[B], without, 3));
	assert_false(node[B].healed); /* not yet: it may still come */
	assert_ok(weir__origins_cover(&node[B].origins, 0xb, 1));
	weir__node_forget(&node[B], without, 1);
	assert_null(weir__origins_find(&node[B].origins, 0xd));
	assert_non_null(weir__origins_find(&node[B].origins, 0xb)); /* its own */
	assert_ok(weir__origins_hear(&node[B].origins, 0xc, 1));
	assert_true(weir__node_heal(&node[B], without, 2));
	assert_true(node[B].healed);
	assert_ok(weir__origins_hear(&node[B].origins, 0xd, 1)); /* what now is lacking may come: */
	assert_false(weir__node_heal(&node[B], without, 3));
	assert_true(node[B].healed);
}

/* Where somebody has deleted the manifest, nothing comes that a gap could wait for. */
static void test_without_a_generation(void **state)
{
	const uint64_t alive[] = { 0xa };
	(void)state;
	insert_and_send(A, 1);
	publish(A);
	insert_and_send(A, 2);
	assert_ok(weir__node_look(&node[B]));
	toy_trim(&toy, toy.now.n);
	put_manifest(NULL);
	assert_ok(weir__node_look(&node[B]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(node[B].gap);
	assert_ok(weir__node_read(&node[A]));
	assert_ok(weir__node_idle(&node[A]));
	assert_ok(weir__node_read(&node[B]));
	assert_true(weir__node_heal(&node[B], alive, 1));
}

/* While the newest image has not come: what no batch has any more is in that alone. */
static void test_without_the_newest_image(void **state)
{
	const uint64_t alive[] = { 0xa };
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	insert_and_send(A, 7);
	assert_ok(weir__node_read(&node[A]));
	toy_trim(&toy, toy.now.n);
	publish(A);
	toy.no_image = true;
	assert_int_equal(weir__node_look(&node[B]), -EAGAIN);
	assert_ok(weir__node_read(&node[B]));
	read_word_of(A);
	assert_false(weir__node_heal(&node[B], alive, 1));
	assert_false(weir__node_heal(&node[B], alive, 0)); /* nor when all others have gone */
	assert_true(node[B].gap && !node[B].healed);
	toy.no_image = false;
	assert_ok(weir__node_look(&node[B]));
	assert_true(has(B, 7) && weir__node_complete(&node[B]) && !node[B].healed);
}

/* Nothing was lacking. */
static void test_whole_all_the_time(void **state)
{
	const uint64_t alive[] = { 0xa, 0xb };
	(void)state;
	publish(A);
	assert_ok(weir__node_look(&node[B]));
	assert_true(weir__node_heal(&node[B], alive, 2) && !node[B].healed);
	publish(B);
	assert_non_null(strstr(toy.now.manifest, "follows "));
}

#define OF(test) cmocka_unit_test_setup_teardown(test, make_two, release_two)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF(test_others_have_more),
		OF(test_more_is_kept_until_it_is_published),
		OF(test_a_record_replaces_it),
		OF(test_a_rollback_replaces_it),
		OF(test_it_takes_the_next_image),
		OF(test_it_takes_what_has_forgotten),
		OF(test_others_have_more_beside_an_image),
		OF(test_whom_it_waits_for),
		OF(test_without_a_generation),
		OF(test_without_the_newest_image),
		OF(test_whole_all_the_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
