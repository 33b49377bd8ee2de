/* SPDX-License-Identifier: MIT
 * Tests det's memory model against C11 with litmus tests from the literature. The C11 standard
 * allows a set of outcomes for each test. det must reach exactly this set by the search that
 * switches at stores, by the search that switches at every operation, and at random. */
#include <stdatomic.h>
#include <stdio.h>
#include "det.h"

enum { PREEMPTIONS = 8, BY_CHANCE = 20000 };

static atomic_int x, y;
static int data;
static int r[4]; /* the values that the threads read; bit i of the outcome is r[i] */

#define LOAD(cell, order) atomic_load_explicit(&cell, memory_order_##order)
#define STORE(cell, value, order) atomic_store_explicit(&cell, value, memory_order_##order)
#define THREAD(name, code) \
	static void name(void *argument) \
	{ \
		(void)argument; \
		code \
	}

/* ---- message passing ---- */
THREAD(send_relaxed, STORE(x, 1, relaxed); STORE(y, 1, relaxed);)
THREAD(send_release, STORE(x, 1, relaxed); STORE(y, 1, release);)
THREAD(send_fence, STORE(x, 1, relaxed); atomic_thread_fence(memory_order_release);
       STORE(y, 1, relaxed);)
THREAD(receive_relaxed, r[0] = LOAD(y, relaxed); r[1] = LOAD(x, relaxed);)
THREAD(receive_acquire, r[0] = LOAD(y, acquire); r[1] = LOAD(x, relaxed);)
THREAD(receive_fence, r[0] = LOAD(y, relaxed); atomic_thread_fence(memory_order_acquire);
       r[1] = LOAD(x, relaxed);)
THREAD(receive_plain, r[0] = LOAD(y, acquire); r[1] = r[0] ? data : 0;)
THREAD(send_plain, data = 1; STORE(y, 1, release);)
/* ---- a release sequence, which another thread's relaxed read-modify-write continues ---- */
THREAD(pass_on, atomic_fetch_or_explicit(&y, 2, memory_order_relaxed);)
THREAD(receive_passed, r[0] = LOAD(y, acquire) == 3; r[1] = LOAD(x, relaxed);)
/* ---- coherence ---- */
THREAD(store_x, STORE(x, 1, relaxed);)
THREAD(store_y, STORE(y, 1, relaxed);)
THREAD(load_twice, r[0] = LOAD(x, relaxed); r[1] = LOAD(x, relaxed);)
/* ---- store buffering ---- */
THREAD(left_relaxed, STORE(x, 1, relaxed); r[0] = LOAD(y, relaxed);)
THREAD(right_relaxed, STORE(y, 1, relaxed); r[1] = LOAD(x, relaxed);)
THREAD(left_seq_cst, STORE(x, 1, seq_cst); r[0] = LOAD(y, seq_cst);)
THREAD(right_seq_cst, STORE(y, 1, seq_cst); r[1] = LOAD(x, seq_cst);)
THREAD(left_fence, STORE(x, 1, relaxed); atomic_thread_fence(memory_order_seq_cst);
       r[0] = LOAD(y, relaxed);)
THREAD(right_fence, STORE(y, 1, relaxed); atomic_thread_fence(memory_order_seq_cst);
       r[1] = LOAD(x, relaxed);)
/* ---- load buffering: C11 lets both loads see the later stores, but det does not (det.h, limits)
 * ---- */
THREAD(load_then_x, r[0] = LOAD(y, relaxed); STORE(x, 1, relaxed);)
THREAD(load_then_y, r[1] = LOAD(x, relaxed); STORE(y, 1, relaxed);)
/* ---- two readers of independent writes ---- */
THREAD(look_xy, r[0] = LOAD(x, acquire); r[1] = LOAD(y, acquire);)
THREAD(look_yx, r[2] = LOAD(y, acquire); r[3] = LOAD(x, acquire);)
THREAD(store_x_seq_cst, STORE(x, 1, seq_cst);)
THREAD(store_y_seq_cst, STORE(y, 1, seq_cst);)
THREAD(look_xy_seq_cst, r[0] = LOAD(x, seq_cst); r[1] = LOAD(y, seq_cst);)
THREAD(look_yx_seq_cst, r[2] = LOAD(y, seq_cst); r[3] = LOAD(x, seq_cst);)
/* ---- counting to two: x is 1 or 2 at the end ---- */
THREAD(count_by_store, STORE(x, LOAD(x, relaxed) + 1, relaxed);)
THREAD(count_by_add, atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);)
THREAD(count_by_exchange, int old = 0;
       while (!atomic_compare_exchange_strong_explicit(&x, &old, old + 1, memory_order_relaxed,
                                                       memory_order_relaxed)) continue;)

/* One bit for each outcome, r[1]r[0] of two threads or r[3]r[2]r[1]r[0] of four. */
#define ALL4 0xfu
#define WITHOUT(outcome) & ~(1u << (outcome))

static const struct litmus {
	const char *name;
	void (*thread[4])(void *);
	bool counts; /* the outcome is the final value of x, not the values read */
	unsigned allowed;
} tests[] = {
	{ "message passing, relaxed", { send_relaxed, receive_relaxed }, false, ALL4 },
	{ "message passing, release and acquire", { send_release, receive_acquire }, false,
	  ALL4 WITHOUT(1) },
	{ "message passing, release without acquire", { send_release, receive_relaxed }, false,
	  ALL4 },
	{ "message passing, acquire without release", { send_relaxed, receive_acquire }, false,
	  ALL4 },
	{ "message passing, fences", { send_fence, receive_fence }, false, ALL4 WITHOUT(1) },
	{ "message passing, a fence and an acquire", { send_fence, receive_acquire }, false,
	  ALL4 WITHOUT(1) },
	{ "message passing of plain data", { send_plain, receive_plain }, false,
	  ALL4 WITHOUT(1) WITHOUT(2) },
	{ "release sequence", { send_release, pass_on, receive_passed }, false, ALL4 WITHOUT(1) },
	{ "coherence of reads", { store_x, load_twice }, false, ALL4 WITHOUT(1) },
	{ "store buffering, relaxed", { left_relaxed, right_relaxed }, false, ALL4 },
	{ "store buffering, sequentially consistent", { left_seq_cst, right_seq_cst }, false,
	  ALL4 WITHOUT(0) },
	{ "store buffering, fences", { left_fence, right_fence }, false, ALL4 WITHOUT(0) },
	{ "load buffering, as far as det goes", { load_then_x, load_then_y }, false,
	  ALL4 WITHOUT(3) },
	{ "independent writes, acquire", { store_x, store_y, look_xy, look_yx }, false, 0xffff },
	{ "independent writes, sequentially consistent",
	  { store_x_seq_cst, store_y_seq_cst, look_xy_seq_cst, look_yx_seq_cst }, false,
	  0xffff WITHOUT(5) },
	{ "counting by load and store", { count_by_store, count_by_store }, true,
	  1u << 1 | 1u << 2 },
	{ "counting by fetch-add", { count_by_add, count_by_add, count_by_add }, true, 1u << 3 },
	{ "counting by compare-exchange", { count_by_exchange, count_by_exchange }, true, 1u << 2 },
};

static const struct litmus *test;
static unsigned seen;

static void body(void)
{
	atomic_init(&x, 0);
	atomic_init(&y, 0);
	data = r[0] = r[1] = r[2] = r[3] = 0;
	for (int i = 0; i < 4 && test->thread[i]; i++)
		det_spawn(test->thread[i], NULL);
	det_join_all();
	seen |= 1u << (test->counts ? LOAD(x, relaxed) : r[0] | r[1] << 1 | r[2] << 2 | r[3] << 3);
}

static bool reaches(const char *how, struct det_options options)
{
	seen = 0;
	options.stale = -1;
	struct det_result result = det_run(&options, body);
	bool completed = options.strategy != DET_DFS || result.complete;
	if (!result.failed && completed && seen == test->allowed)
		return true;
	printf("not ok: %s, %s: outcomes %#x, allowed %#x%s %s\n", test->name, how, seen,
	       test->allowed, completed ? "" : ", not complete", result.why);
	return false;
}

int main(void)
{
	int wrong = 0;
	for (test = tests; test < tests + sizeof tests / sizeof tests[0]; test++) {
		wrong += !reaches("search", (struct det_options){ .strategy = DET_DFS,
		                                                  .preemptions = PREEMPTIONS });
		wrong += !reaches("search at every operation",
		                  (struct det_options){ .strategy = DET_DFS,
		                                        .preemptions = PREEMPTIONS,
		                                        .every_step = true });
		wrong += !reaches("chance", (struct det_options){ .strategy = DET_RANDOM,
		                                                  .executions = BY_CHANCE,
		                                                  .seed = 1 });
	}
	printf("%zu litmus tests, %d wrong\n", sizeof tests / sizeof tests[0], wrong);
	return wrong != 0;
}
