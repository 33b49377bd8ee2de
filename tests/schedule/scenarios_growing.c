/* SPDX-License-Identifier: MIT
 * A growing filter while layers are appended ([LAYER-RECORD] to
 * [LAYER-AHEAD] in src/growing/growing.h). The first layer has a capacity of one key, and the
 * second layer of four keys. Each execution makes its own filter, whatever the subject. A key has
 * only one or two bits in one cache line, so that the search is mostly about the layers. */
#include <errno.h>
#include "forms.h"

enum { HASHES_MADE = 4 };
static const uint64_t hashes[HASHES_MADE] = {
	UINT64_C(0x1234567890abcdef), UINT64_C(0xfedcba9876543210), UINT64_C(0x8badf00d0d15ea5e),
	UINT64_C(0x3141592653589793)
};
static struct weir_filter *growing;

static void begin_as(uint32_t words_per_key, uint64_t max_capacity)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	scenario_begin();
	params.kind = WEIR_GROWING;
	params.capacity = 1;
	params.growing.max_capacity = max_capacity;
	params.fp_rate = 0.01;
	params.growing.words_per_key = words_per_key;
	params.growing.bits_per_word = 1;
	params.seed = SUBJECT_SEED;
	det_assert(weir_create(&growing, &params) == 0);
}

static void begin(uint32_t words_per_key)
{
	begin_as(words_per_key, 5); /* two layers */
}

static void end(unsigned keys)
{
	det_join_all();
	for (unsigned i = 0; i < keys; i++)
		det_assert(form_contains(growing, hashes[i]));
	weir_destroy(growing);
	det_assert(det_allocated() == 0); /* no layer leaks */
}

static void insert(void *insertion)
{
	const struct insertion *i = insertion;
	answer[i->slot] = form_insert(growing, hashes[i->key]);
	det_assert(answer[i->slot] >= 0);
	det_assert(form_contains(growing, hashes[i->key]));
	promise(i->slot);
}

static void look(void *slots)
{
	for (const unsigned *slot = slots; *slot < PROMISES; slot++)
		det_assert(!promised(*slot) || form_contains(growing, hashes[*slot]));
}

static void grow(void *unused)
{
	(void)unused;
	det_assert(weir_grow_ahead(growing) == 0);
}

static struct insertion each[HASHES_MADE] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 } };
static unsigned all_slots[] = { 0, 1, 2, PROMISES };

/* Two threads find the first layer full and append a layer, while a third thread inserts into the
 * first layer. */
static void two_growers_and_an_inserter(void)
{
	begin(1);
	for (unsigned i = 0; i < 3; i++)
		det_spawn(insert, &each[i]);
	end(3);
}

static void insert_beside_append(void)
{
	begin(2);
	det_spawn(insert, &each[0]);
	det_spawn(grow, NULL);
	det_spawn(insert, &each[1]);
	end(2);
}

static void insert_two(void *unused)
{
	insert(&each[0]);
	insert(&each[1]);
	(void)unused;
}

static void lookup_beside_append(void)
{
	begin(1);
	det_spawn(insert_two, NULL);
	det_spawn(insert, &each[2]);
	det_spawn_reader(look, all_slots);
	end(3);
}

/* A thread is late: it publishes the second layer's record when the third layer is already in use.
 * The published pointer must not go back to the second layer's record. */
enum { MANY = 5 };

static uint64_t one_of_many(unsigned i)
{
	return (i + 1) * UINT64_C(0x0f1e2d3c4b5a6978);
}

static void insert_many(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < MANY; i++)
		det_assert(form_insert(growing, one_of_many(i)) >= 0);
	det_assert(form_contains(growing, one_of_many(MANY - 1)));
}

static void late_beside_appends(void)
{
	begin_as(1, 6); /* three layers, for one, four and one keys */
	det_spawn(insert, &each[0]);
	det_spawn(insert_many, NULL);
	det_join_all();
	for (unsigned i = 0; i < MANY; i++)
		det_assert(form_contains(growing, one_of_many(i)));
	end(1);
}

/* Two threads insert one key. At least one insert returns WEIR_NEW. Both inserts may return
 * WEIR_NEW, if the threads insert into different layers. */
static void one_key_by_two_beside_append(void)
{
	static struct insertion again = { 0, 3 };
	begin(1);
	det_spawn(insert, &each[0]);
	det_spawn(insert, &again);
	det_spawn(insert, &each[1]);
	end(2);
	det_assert(answer[0] == WEIR_NEW || answer[3] == WEIR_NEW);
}

/* A copy has every key that was promised before the copy began, whatever the key's layer. */
static void copy(void *unused)
{
	struct weir_filter *made = NULL;
	bool first = promised(0), second = promised(1);
	(void)unused;
	det_assert(weir_clone(&made, growing) == 0);
	det_assert(!first || form_contains(made, hashes[0]));
	det_assert(!second || form_contains(made, hashes[1]));
	weir_destroy(made);
}

static void copy_beside_append(void)
{
	begin(1);
	det_spawn(insert_two, NULL);
	det_spawn(copy, NULL);
	end(2);
}

/* A merged filter has every key that was promised before the merge, even if the source gets another
 * layer during the merge. */
static void merge(void *unused)
{
	struct weir_filter *into = NULL;
	struct weir_params params = WEIR_PARAMS_INIT;
	bool first = promised(0), second = promised(1);
	(void)unused;
	det_assert(weir_params_of(growing, &params) == 0);
	det_assert(weir_create(&into, &params) == 0);
	det_assert(weir_merge(into, growing) == 0);
	det_assert(!first || form_contains(into, hashes[0]));
	det_assert(!second || form_contains(into, hashes[1]));
	weir_destroy(into);
}

static void merge_beside_append(void)
{
	begin(1);
	det_spawn(insert_two, NULL);
	det_spawn(merge, NULL);
	end(2);
}

/* The last layer accepts at most four keys. If inserts race for its last slots, no acknowledged key
 * is lost. */
static void race_for_the_last_place(void *insertion)
{
	const struct insertion *i = insertion;
	answer[i->slot] = form_insert(growing, hashes[i->key]);
	det_assert(answer[i->slot] >= 0 || answer[i->slot] == -ENOSPC);
	det_assert(answer[i->slot] < 0 || form_contains(growing, hashes[i->key]));
}

static void full_beside_full(void)
{
	begin(1);
	for (uint64_t i = 1; i <= 4; i++)
		det_assert(form_insert(growing, i * UINT64_C(0x0f1e2d3c4b5a6978)) == WEIR_NEW);
	for (unsigned i = 0; i < 3; i++)
		det_spawn(race_for_the_last_place, &each[i]);
	det_join_all();
	det_assert(answer[0] >= 0 || answer[1] >= 0 || answer[2] >= 0);
	det_assert(form_insert(growing, hashes[3]) == -ENOSPC);
	weir_destroy(growing);
}

/* Return: true for the first subject only. */
static bool once(const struct subject *s)
{
	return s == &subjects[0];
}

const struct scenario growing_scenarios[] = {
	{ "two growers, inserter", "growing", two_growers_and_an_inserter, once, .cost = 10 },
	{ "insert, append", "growing", insert_beside_append, once, .cost = 10 },
	{ "lookup, append", "growing", lookup_beside_append, once, .cost = 10 },
	{ "late, appends", "growing", late_beside_appends, once, .cost = 10 },
	{ "one key, append", "growing", one_key_by_two_beside_append, once, .cost = 10 },
	{ "copy, append", "growing", copy_beside_append, once, .cost = 10 },
	{ "merge, append", "growing", merge_beside_append, once, .cost = 10 },
	{ "full, full", "growing", full_beside_full, once, .cost = 10 },
	{ 0 },
};
