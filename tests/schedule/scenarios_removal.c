/* SPDX-License-Identifier: MIT
 * Removals during a reload ([REMOVAL-IN-CURRENT]). Two keys share a counter. One of them always
 * stays in the filter, and would be missed if the other were removed once too often. The order that
 * handle.h prescribes is safe. A scenario with the wrong order must fail. */
#include "scenario_full.h"

enum {
	GOES = 1,
	STAYS = 8 /* shares a counter with GOES */
};

static void begin_removal(void)
{
	full_begin_with(8);
	full_forget_record();
	record_key(GOES);
	det_assert(form_handle_insert(handle, GOES) == WEIR_NEW);
	det_assert(form_handle_insert(handle, STAYS) == WEIR_SEEN);
}

/* Removes GOES. After -EBUSY, tries once more if the commit has been promised. */
static int remove_it(void)
{
	int err = form_handle_remove(handle, GOES);
	if (err == -EBUSY && promised(3))
		err = form_handle_remove(handle, GOES);
	return err;
}

static void remove_then_forget(void *unused)
{
	(void)unused;
	answer[1] = remove_it();
	det_assert(answer[1] == 1 || answer[1] == -EBUSY);
	if (answer[1] == 1)
		clear_record(GOES);
}

static void forget_then_remove(void *unused)
{
	(void)unused;
	clear_record(GOES);
	answer[1] = remove_it();
}

static void load_recorded(void *unused)
{
	(void)unused;
	struct weir_reload *r = full_begin_into(8, false);
	full_load(r, 0);
	full_load(r, STAYS);
	if (is_recorded(GOES))
		full_load(r, GOES);
	det_assert(weir_reload_commit(r) == 0);
	promise(3);
}

/* @most: the capacity of the next filter, which equals the capacity of the current filter. */
static void load_by_copy(void *most)
{
	struct weir_reload *r = full_begin_into((uint32_t)(uintptr_t)most, false);
	det_assert(weir_reload_copy(r, WEIR_ALL_SETS) == 0);
	det_assert(weir_reload_commit(r) == 0);
	promise(3);
}

static void load_and_abort(void *unused)
{
	(void)unused;
	struct weir_reload *r = full_begin_into(8, false);
	full_load(r, STAYS);
	weir_reload_abort(r);
	promise(3);
}

static void look_up_what_stays(void *unused)
{
	(void)unused;
	det_assert(form_handle_contains(handle, STAYS));
}

static void beside(void (*user)(void *), void (*loader)(void *))
{
	begin_removal();
	det_spawn(user, NULL);
	full_spawn(loader, 8);
	det_spawn(look_up_what_stays, NULL);
	det_join_all();
}

/* Checks the count of STAYS: one for its own insert, one for GOES unless GOES was removed, and at
 * most @remainder more. */
static void end_removal(int64_t remainder)
{
	const int64_t least = 1 + (answer[1] < 0), count = full_count(STAYS);
	det_assert(count >= least && count <= least + remainder);
	det_assert(full_count(0) == 1);
	handle_end();
}

static void safe_order(void)
{
	beside(remove_then_forget, load_recorded);
	end_removal(1); /* the loader may have read the record before it was cleared */
}

static void wrong_order(void)
{
	beside(forget_then_remove, load_recorded);
	end_removal(1);
}

static void aborted(void)
{
	beside(remove_then_forget, load_and_abort);
	end_removal(0);
}

static void copied(void)
{
	beside(remove_then_forget, load_by_copy);
	end_removal(0);
}

/* Inserts key 0 again during a copy. The next filter may count the key once too often, but never
 * too seldom. */
static void insert_again(void *unused)
{
	(void)unused;
	det_assert(form_handle_insert(handle, 0) >= 0);
}

static void inserted_while_copied(void)
{
	full_begin_with(8);
	det_spawn(insert_again, NULL);
	full_spawn(load_by_copy, 8);
	det_join_all();
	det_assert(full_count(0) == 2 || full_count(0) == 3);
	handle_end();
}

/* If an insert is refused during a copy, its key is removed from the current filter, but may stay
 * in the next filter. The removal leaves the other keys in the current filter. */
static void refused_while_copied(void)
{
	full_begin_with(2);
	full_spawn(full_insert_thread, GOES);
	full_spawn(full_insert_thread, 2);
	full_spawn(load_by_copy, 2);
	det_join_all();
	det_assert(full_count(0) == 1);
	for (unsigned key = 1; key < 3; key++)
		det_assert(full_count(key) >= (answer[key] >= 0));
	handle_end();
}

/* ---- kind counting, reloaded by copy: a counter may be too high, but never too low ([UNION-ADDS],
 * [REMOVAL-IN-CURRENT]) ---- */

enum { TIMES = 2 }; /* inserts of each of keys 0 and 1 at the start */

static void begin_counting(uint32_t words)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *initial = NULL;
	scenario_begin();
	flavor = &urcu_bp_flavor;
	p.kind = WEIR_COUNTING, p.seed = SUBJECT_SEED;
	p.counting.counter_bits = 4, p.counting.words_per_key = words;
	p.counting.counters_per_word = 2;
	p.capacity = 4, p.max_bytes = 64;
	det_assert(weir_create(&initial, &p) == 0);
	for (unsigned i = 0; i < TIMES * 2; i++)
		det_assert(weir_insert_hash(initial, hash_of(i % 2)) >= 0);
	det_assert(weir_handle_create(&handle, initial, NULL) == 0);
}

static void insert_counted(void *slot)
{
	answer[(uintptr_t)slot] = form_handle_insert(handle, hash_of(0));
	det_assert(answer[(uintptr_t)slot] == WEIR_SEEN);
}

static void remove_counted(void *slot)
{
	int err = form_handle_remove(handle, hash_of(1));
	det_assert(err == 1 || err == -EBUSY);
	answer[(uintptr_t)slot] = err;
}

static void copy_counted(void *unused)
{
	(void)unused;
	reload_by_copy(NULL);
}

/* Checks that the count of key 0 is at least @inserts, and exceeds it by at most @more. Then
 * @inserts removals of key 0 succeed, and before each removal a lookup finds the key. */
static void end_counting(int64_t inserts, int64_t more)
{
	int64_t count = weir_handle_count_hash(handle, hash_of(0));
	det_assert(count >= inserts && count <= inserts + more);
	for (; inserts; inserts--) {
		det_assert(weir_handle_contains_hash(handle, hash_of(0)));
		det_assert(weir_handle_remove_hash(handle, hash_of(0)) == 1);
	}
	handle_end();
}

static void counting_copied_by(uint32_t words)
{
	begin_counting(words);
	full_spawn(insert_counted, 1);
	full_spawn(remove_counted, 2);
	det_spawn(copy_counted, NULL);
	det_join_all();
	det_assert(weir_handle_count_hash(handle, hash_of(1)) >= TIMES - (answer[2] == 1));
	/* the copy may add 1 to the count, and key 1, which shares counters, may add TIMES */
	end_counting(TIMES + 1, 1 + TIMES);
}

static void counting_copied(void)
{
	counting_copied_by(2);
}

static void one_word_copied(void)
{
	counting_copied_by(1);
}

static void two_counted(void)
{
	begin_counting(1);
	full_spawn(insert_counted, 1);
	full_spawn(insert_counted, 2);
	det_spawn(copy_counted, NULL);
	det_join_all();
	end_counting(TIMES + 2, 2 + TIMES);
}

const struct scenario removal_scenarios[] = {
	{ .name = "safe order", .group = "removal", .body = safe_order, .cost = 3,
	  .fits = full_once },
	{ .name = "wrong order", .group = "removal", .body = wrong_order, .wrong = true,
	  .fits = full_once },
	{ .name = "removed, aborted", .group = "removal", .body = aborted, .cost = 3,
	  .fits = full_once },
	{ .name = "removed, copied", .group = "removal", .body = copied, .cost = 3,
	  .fits = full_once },
	{ .name = "inserted, copied", .group = "removal", .body = inserted_while_copied,
	  .cost = 3, .fits = full_once },
	{ .name = "refused, copied", .group = "removal", .body = refused_while_copied, .cost = 3,
	  .fits = full_once },
	{ .name = "counters, copied", .group = "removal", .body = counting_copied, .cost = 3,
	  .fits = full_once },
	{ .name = "one word, copied", .group = "removal", .body = one_word_copied, .cost = 3,
	  .fits = full_once },
	{ .name = "two, one word copied", .group = "removal", .body = two_counted, .cost = 3,
	  .fits = full_once },
	{ .name = NULL },
};
