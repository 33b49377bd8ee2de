/* SPDX-License-Identifier: MIT
 * Kinds with counters: removals during inserts, two removals of one key, merges that add, and
 * counts that are never too low ([COUNT-IS-SUM] to [UNION-ADDS] in src/kinds/counting/counting.c,
 * [COUNT-AT-LEAST] and [WORD-DECIDES] in src/kinds/frequency/frequency.c). Keys 0 and 1 share a
 * counter. */
#include <errno.h>
#include "forms.h"

enum { MOST = 15 }; /* largest value of a counter of four bits */

static int result[PROMISES];

static struct weir_filter *filter(void)
{
	return subject->filter;
}

static void put_in(unsigned key, unsigned times)
{
	while (times--)
		det_assert(weir_insert_hash(filter(), hash_of(key)) >= 0);
}

static void take_out(unsigned key, unsigned times)
{
	while (times--)
		det_assert(weir_remove_hash(filter(), hash_of(key)) == 1);
}

static bool empty(void)
{
	for (size_t i = 0; i < subject->bytes / 8; i++)
		if (subject->bits[0][i])
			return false;
	return true;
}

static void remove_thread(void *insertion)
{
	const struct insertion *i = insertion;
	result[i->slot] = weir_remove_hash(filter(), hash_of(i->key));
}

static void verify(void *insertion)
{
	const struct insertion *i = insertion;
	det_assert(!promised(i->slot) || weir_contains_hash(filter(), hash_of(i->key)));
}

/* [PAIRED-REMOVAL]: key 1 stays in the filter while key 0, which shares a counter, is removed.
 * After both removals the filter is empty. */
static void removed_beside_an_insert(void)
{
	static struct insertion out = { 0, 0 }, in = { 1, 1 };
	scenario_begin();
	put_in(0, 1);
	det_spawn(remove_thread, &out);
	det_spawn(insert_thread, &in);
	det_spawn_reader(verify, &in);
	det_join_all();
	det_assert(result[0] == 1 && answer[1] >= 0);
	det_assert(weir_count_hash(filter(), hash_of(1)) == 1);
	take_out(1, 1);
	det_assert(empty());
}

/* Each of two threads inserts its own copy of a key and removes one copy. */
static void in_and_out(void *slot)
{
	const struct insertion *i = slot;
	put_in(0, 1);
	det_assert(weir_contains_hash(filter(), hash_of(0)));
	result[i->slot] = weir_remove_hash(filter(), hash_of(0));
}

static void in_and_out_twice(void)
{
	static struct insertion slots[] = { { 0, 0 }, { 0, 1 } };
	scenario_begin();
	det_spawn(in_and_out, &slots[0]);
	det_spawn(in_and_out, &slots[1]);
	det_join_all();
	det_assert(result[0] == 1 && result[1] == 1 && empty());
}

/* [REMOVE-CHECKS]: the key is in the filter once, so one of two removals fails and changes nothing.
 * The key's counters in the first word are also set for other keys. So the failing removal has
 * lowered the first word before it meets a 0. */
static void removed_twice(void)
{
	static struct insertion slots[] = { { 0, 0 }, { 0, 1 } };
	const struct key *key = &subject->key[0];
	uint64_t *first = &subject->bits[0][key->word[0].index];
	scenario_begin();
	put_in(0, 1);
	put_in(1, 1);
	*first += key->word[0].mask;
	det_spawn(remove_thread, &slots[0]);
	det_spawn(remove_thread, &slots[1]);
	det_join_all();
	det_assert(result[0] + result[1] == 1);
	det_assert(weir_contains_hash(filter(), hash_of(1)));
	take_out(1, 1);
	det_assert(*first == key->word[0].mask);
	*first = 0;
	det_assert(empty());
}

/* [STUCK-COUNTER]: a counter that fills up during a removal stays full, and does not overflow into
 * the next counter. */
static void filled_beside_a_removal(void)
{
	static struct insertion out = { 0, 0 }, in[] = { { 0, 1 }, { 0, 2 } };
	const struct key *key = &subject->key[0];
	scenario_begin();
	for (unsigned i = 0; i < key->words; i++) /* the state after MOST - 1 inserts */
		subject->bits[0][key->word[i].index] = (MOST - 1) * key->word[i].mask;
	det_spawn(remove_thread, &out);
	det_spawn(insert_thread, &in[0]);
	det_spawn(insert_thread, &in[1]);
	det_join_all();
	det_assert(result[0] == 1 && answer[1] == WEIR_SEEN && answer[2] == WEIR_SEEN);
	/* the counter starts at 14; in any order, one removal and two inserts leave it at 15 */
	det_assert(weir_count_hash(filter(), hash_of(0)) == WEIR_COUNT_FULL);
	/* no other counter has changed */
	for (size_t i = 0; i < subject->bytes / 8; i++)
		det_assert(!(subject->bits[0][i] & ~(subject_bits(subject, subject->bits[0] + i, 1,
		                                                  false) * MOST)));
}

/* [UNION-ADDS], as in a handle's reload by copy. Key 0 is in the source before the merge, and key 1
 * is inserted into both filters during the merge. A later removal of key 1 must not make key 0
 * absent. */
static void insert_into_both(void *unused)
{
	(void)unused;
	det_assert(weir_insert_hash(subject->other, hash_of(1)) >= 0);
	det_assert(weir_insert_hash(filter(), hash_of(1)) >= 0);
	promise(1);
}

static void merge(void *unused)
{
	(void)unused;
	det_assert(weir_merge(filter(), subject->other) == 0);
}

static void merged_beside_an_insert(void)
{
	static struct insertion in = { 1, 1 };
	scenario_begin();
	det_assert(weir_insert_hash(subject->other, hash_of(0)) == WEIR_NEW);
	det_spawn(insert_into_both, NULL);
	det_spawn(merge, NULL);
	det_spawn_reader(verify, &in);
	det_join_all();
	det_assert(weir_count_hash(filter(), hash_of(0)) >= 1);
	int64_t count = weir_count_hash(filter(), hash_of(1));
	det_assert(count >= 1 && count <= 3);
	take_out(1, 1);
	det_assert(weir_contains_hash(filter(), hash_of(0)));
}

/* [COUNT-AT-LEAST]: two threads insert key 0. The counters of key 0 differ, because key 1 shares
 * one of them. The count is never below the number of inserts that a thread knows of. */
static void insert_twice(void *slot)
{
	const struct insertion *i = slot;
	put_in(0, 1);
	det_assert(weir_count_hash(filter(), hash_of(0)) >= 1);
	put_in(0, 1);
	promise(i->slot);
}

static void count_promised(void *unused)
{
	(void)unused;
	int64_t least = 2 * promised(0) + 2 * promised(1);
	det_assert(weir_count_hash(filter(), hash_of(0)) >= least);
}

static void counted(void)
{
	static struct insertion slots[] = { { 0, 0 }, { 0, 1 } };
	scenario_begin();
	put_in(1, 1);
	det_spawn(insert_twice, &slots[0]);
	det_spawn(insert_twice, &slots[1]);
	det_spawn_reader(count_promised, NULL);
	det_join_all();
	det_assert(weir_count_hash(filter(), hash_of(0)) >= 4);
	det_assert(weir_count_hash(filter(), hash_of(1)) >= 1);
}

/* At least one of two inserts of a key returns WEIR_NEW, although the key's counters in the last
 * word are set for another key. Both inserts find the last word in use, and only the first insert
 * finds the first word free. */
static void new_where_one_word_is_held(void)
{
	static struct insertion slots[] = { { 0, 0 }, { 0, 1 } };
	const struct key *key = &subject->key[0];
	scenario_begin();
	subject->bits[0][key->word[key->words - 1].index] = key->word[key->words - 1].mask;
	det_spawn(insert_thread, &slots[0]);
	det_spawn(insert_thread, &slots[1]);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW || answer[1] == WEIR_NEW);
	det_assert(weir_count_hash(filter(), hash_of(0)) == 2);
}

/* Return: true for kinds that count without a limit on copies. */
static bool counts(const struct subject *s)
{
	return s->counts && !s->kind->copies;
}

static bool removes(const struct subject *s)
{
	return s->removes && one_line(s);
}

/* Return: true if the test can write the counters itself. */
static bool has_counters(const struct subject *s)
{
	return removes(s) && s->row->ask.counting.counter_bits;
}

static bool has_words_of_counters(const struct subject *s)
{
	const struct weir_params *ask = &s->row->ask;
	return counts(s) && (ask->counting.counter_bits || ask->frequency.counter_bits) &&
	       s->key[0].words > 1;
}

static bool fills(const struct subject *s)
{
	return removes(s) && s->row->ask.counting.counter_bits == 4;
}

static bool removes_and_merges(const struct subject *s)
{
	return removes(s) && s->merges;
}

#define SCENARIO(text, function, which) \
	{ .name = text, .group = "counters", .body = function, .fits = which, .one_form = true }
const struct scenario counters_scenarios[] = {
	SCENARIO("removed beside", removed_beside_an_insert, removes),
	SCENARIO("in and out", in_and_out_twice, removes),
	SCENARIO("removed twice", removed_twice, has_counters),
	SCENARIO("filled", filled_beside_a_removal, fills),
	SCENARIO("merged beside", merged_beside_an_insert, removes_and_merges),
	SCENARIO("counted", counted, counts),
	SCENARIO("one word held", new_where_one_word_is_held, has_words_of_counters),
	{ .name = NULL },
};
