/* SPDX-License-Identifier: MIT
 * Inserts and lookups in one filter: no promised key is missed ([BITS-ONLY-SET] in <weir/word.h>),
 * and inserts return WEIR_NEW when they must. */
#include "forms.h"

/* A thread that sees the promise finds the key. If the kind is made of bits, the thread's own
 * insert of the key returns WEIR_SEEN and writes nothing, since det forbids stores by this
 * reader. */
static void verify(void *insertion)
{
	const struct insertion *i = insertion;
	acts_on_keys(1u << i->key);
	if (!promised(i->slot))
		return;
	det_assert(form_contains(subject->filter, hash_of(i->key)));
	det_assert(!subject->kind->reference.bits ||
	           form_insert(subject->filter, hash_of(i->key)) == WEIR_SEEN);
}

static void verify_both(void *insertions)
{
	verify((struct insertion *)insertions);
	verify((struct insertion *)insertions + 1);
}

/* Two keys share a word and a bit. Neither insert undoes a part of the other. */
static void two_keys(void)
{
	static struct insertion insertions[] = { { 0, 0 }, { 1, 1 } };
	scenario_begin();
	det_spawn(insert_thread, &insertions[0]);
	det_spawn(insert_thread, &insertions[1]);
	det_spawn_reader(verify_both, insertions);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && answer[1] == WEIR_NEW);
	det_assert(form_contains(subject->filter, hash_of(0)) &&
	           form_contains(subject->filter, hash_of(1)));
}

/* Two threads insert one key into a block that is not empty. */
static void one_key_twice(void)
{
	static struct insertion insertions[] = { { 0, 0 }, { 0, 1 } };
	scenario_begin();
	form_insert(subject->filter, hash_of(1));
	det_spawn(insert_thread, &insertions[0]);
	det_spawn(insert_thread, &insertions[1]);
	det_spawn_reader(verify_both, insertions);
	det_join_all();
	int answered_new = (answer[0] == WEIR_NEW) + (answer[1] == WEIR_NEW);
	det_assert(subject_one_new(subject) ? answered_new == 1 : answered_new >= 1);
	det_assert(answer[0] >= 0 && answer[1] >= 0);
	det_assert(form_contains(subject->filter, hash_of(0)) &&
	           form_contains(subject->filter, hash_of(1)));
}

/* A thread that has found the key finds it again, and so does a thread that learns of the key from
 * the first thread. */
static void look_and_tell(void *unused)
{
	(void)unused;
	acts_on_keys(1);
	if (!form_contains(subject->filter, hash_of(0)))
		return;
	promise(0);
	det_assert(form_contains(subject->filter, hash_of(0)));
}

static void hear_and_look(void *insertion)
{
	verify(insertion);
}

static void passed_on(void)
{
	static struct insertion unpromised = { 0, 1 }, heard = { 0, 0 };
	scenario_begin();
	det_spawn(insert_thread, &unpromised);
	det_spawn(look_and_tell, NULL);
	det_spawn_reader(hear_and_look, &heard);
	det_join_all();
	det_assert(answer[1] == WEIR_NEW);
}

/* Batches of two keys: each key has the promises of a single key. */
static uint64_t batch_new[2];

static void insert_batch(void *first)
{
	unsigned from = *(unsigned *)first;
	uint64_t hashes[2] = { hash_of(from), hash_of(from + 1) }, bitmap;
	acts_on_keys(3u << from);
	int64_t fresh = form_insert_all(subject->filter, hashes, 2, &bitmap);
	det_assert(fresh == __builtin_popcountll(bitmap));
	batch_new[from] = bitmap;
	promise(from);
}

static void verify_batches(void *unused)
{
	uint64_t hashes[3] = { hash_of(0), hash_of(1), hash_of(2) }, bitmap, must = 0;
	(void)unused;
	acts_on_keys(7);
	must |= promised(0) ? 3 : 0;
	must |= promised(1) ? 6 : 0;
	size_t found = must ? form_contains_all(subject->filter, hashes, 3, &bitmap) : 0;
	det_assert(!must ||
	           ((bitmap & must) == must && found == (size_t)__builtin_popcountll(bitmap)));
}

static void batches(void)
{
	static unsigned first = 0, second = 1;
	scenario_begin();
	batch_new[0] = batch_new[1] = 0;
	det_spawn(insert_batch, &first);
	det_spawn(insert_batch, &second);
	det_spawn_reader(verify_batches, NULL);
	det_join_all();
	uint64_t hashes[3] = { hash_of(0), hash_of(1), hash_of(2) };
	/* key 1 is in both batches */
	int answered_new = (batch_new[0] >> 1 & 1) + (batch_new[1] & 1);
	det_assert((batch_new[0] & 1) && (batch_new[1] & 2));
	det_assert(subject_one_new(subject) ? answered_new == 1 : answered_new >= 1);
	det_assert(form_contains_all(subject->filter, hashes, 3, NULL) == 3);
}

const struct scenario insert_scenarios[] = {
	{ .name = "two keys", .group = "insert", .body = two_keys, .fits = one_line },
	{ .name = "one key twice", .group = "insert", .body = one_key_twice, .fits = one_line },
	{ .name = "passed on", .group = "insert", .body = passed_on, .fits = one_line },
	{ .name = "batches",
	  .group = "insert",
	  .body = batches,
	  .batches = true,
	  .fits = one_line,
	  .search_words = 4 },
	{ .name = NULL },
};
