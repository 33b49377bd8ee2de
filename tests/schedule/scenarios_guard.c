/* SPDX-License-Identifier: MIT
 * A guard's figures while threads ask, report, join and leave ([GUARD-CELL] and [GUARD-LIST] in
 * src/guard/guard.h). One subject is enough, because the guard asks a set that the scenario makes.
 *
 * A report reads one counter after another, so two counters may belong to different moments. For
 * example, the figures may show more reports than asks. The scenarios assert only what always
 * holds. */
#include <weir/guard.h>
#include "scenario.h"

static struct weir_guard *guard;

/* A set that contains only key 1. */
static bool is_one(const void *set, const void *key, size_t len)
{
	(void)set;
	return len == sizeof(uint64_t) && *(const uint64_t *)key == 1;
}

static void begin(void)
{
	struct weir_guard_options o = WEIR_GUARD_OPTIONS_INIT;
	scenario_begin();
	o.contains = is_one;
	det_assert(weir_guard_create(&guard, &o) == 0);
}

static struct weir_guard_stats figures(void)
{
	struct weir_guard_stats s = WEIR_GUARD_STATS_INIT;
	det_assert(weir_guard_measure(guard, &s) == 0);
	return s;
}

/* Asks twice: the guard stops key 0 and passes key 1 on, and the thread reports that key 1 was
 * found. */
static void come_ask_and_go(void *unused)
{
	static const uint64_t keys[] = { 0, 1 };
	struct weir_guard_thread *t;
	(void)unused;
	det_assert(weir_guard_join(&t, guard) == 0);
	det_assert(weir_guard_ask(t, &keys[0], sizeof *keys) == WEIR_GUARD_ABSENT);
	det_assert(weir_guard_ask(t, &keys[1], sizeof *keys) == WEIR_GUARD_MAYBE);
	weir_guard_saw(t, WEIR_GUARD_MAYBE, true);
	weir_guard_leave(t);
}

/* Asks for both keys in a batch: the guard stops key 0 and passes key 1 on, and the thread reports
 * that key 1 was found. */
static void come_ask_both_and_go(void *unused)
{
	static const uint64_t keys[] = { 0, 1 }, found = 2;
	uint64_t bitmap, bypassed;
	struct weir_guard_thread *t;
	(void)unused;
	det_assert(weir_guard_join(&t, guard) == 0);
	det_assert(weir_guard_ask_keys(t, weir_keys_u64(keys, 2), &bitmap,
	                               &bypassed) == 1);
	weir_guard_saw_keys(t, &bitmap, &bypassed, &found, 2);
	weir_guard_leave(t);
}

/* Checks what holds for the figures at any moment. @threads: an upper bound on the number of
 * threads that come and go. */
static void plausible(const struct weir_guard_stats *s, uint64_t threads)
{
	const uint64_t closed = s->stopped + s->true_positives;
	det_assert(s->asked <= 2 * threads);
	det_assert(s->stopped <= threads && s->true_positives <= threads);
	det_assert(s->unreported == (closed < s->asked ? s->asked - closed : 0));
	det_assert(s->false_positives == 0 && s->bypassed == 0 && s->threads <= threads);
}

/* Checks that no counter decreases from one report to the next. */
static void report_twice(void *threads)
{
	const uint64_t n = *(const uint64_t *)threads;
	const struct weir_guard_stats first = figures(), second = figures();
	plausible(&first, n);
	plausible(&second, n);
	det_assert(first.asked <= second.asked && first.stopped <= second.stopped);
	det_assert(first.true_positives <= second.true_positives);
}

static void end(uint64_t threads)
{
	const struct weir_guard_stats s = figures();
	det_assert(s.asked == 2 * threads && s.stopped == threads && s.true_positives == threads);
	det_assert(s.unreported == 0 && s.threads == 0);
	det_assert(weir_guard_destroy(guard) == 0);
	det_assert(det_allocated() == 0);
}

static void one_and_a_report(void)
{
	static uint64_t n = 1;
	begin();
	det_spawn(come_ask_and_go, NULL);
	det_spawn(report_twice, &n);
	det_join_all();
	end(n);
}

static void batch_and_a_report(void)
{
	static uint64_t n = 1;
	begin();
	det_spawn(come_ask_both_and_go, NULL);
	det_spawn(report_twice, &n);
	det_join_all();
	end(n);
}

static void two_and_a_report(void)
{
	static uint64_t n = 2;
	begin();
	det_spawn(come_ask_and_go, NULL);
	det_spawn(come_ask_both_and_go, NULL);
	det_spawn(report_twice, &n);
	det_join_all();
	end(n);
}

static bool first(const struct subject *s)
{
	return s == &subjects[0];
}

#define GUARD(title, run, most) \
	{ .name = title, .group = "guard", .body = run, .fits = first, .one_form = true, \
	  .preemptions = most }

const struct scenario guard_scenarios[] = {
	GUARD("ask beside a report", one_and_a_report, 3),
	GUARD("batch beside a report", batch_and_a_report, 3),
	GUARD("two beside a report", two_and_a_report, 2),
	{ .name = NULL }
};
