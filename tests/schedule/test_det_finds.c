/* SPDX-License-Identifier: MIT
 * Tests that det finds the fault of each faulty program, and no fault in the correct programs. Each
 * faulty program has one fault, and a replay of its schedule must show the same fault. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "det.h"

static atomic_int flag, ready;
static int plain;
static _Atomic(int *) published;
static char mutex[2];

#define THREAD(name, code) \
	static void name(void *argument) \
	{ \
		(void)argument; \
		code \
	}
#define BODY(name, code) \
	static void name(void) \
	{ \
		atomic_init(&flag, 0); \
		atomic_init(&ready, 0); \
		plain = 0; \
		code \
		det_join_all(); \
	}
#define LOAD(cell, order) atomic_load_explicit(&cell, memory_order_##order)
#define STORE(cell, value, order) atomic_store_explicit(&cell, value, memory_order_##order)

/* ---- plain accesses ---- */
THREAD(write_plain, plain++;)
THREAD(write_then_relaxed, plain = 1; STORE(flag, 1, relaxed);)
THREAD(write_then_release, plain = 1; STORE(flag, 1, release);)
THREAD(read_if_flag, if (LOAD(flag, acquire)) det_assert(plain == 1);)
THREAD(store_atomic, STORE(flag, 1, relaxed);)
THREAD(write_flag_plainly, *(int *)(void *)&flag = 2;)
THREAD(copy_flag_plainly,
       memcpy(&plain, (const void *)&flag, (size_t)LOAD(ready, relaxed) + sizeof flag);)
BODY(two_writers, det_spawn(write_plain, NULL); det_spawn(write_plain, NULL);)
BODY(published_relaxed, det_spawn(write_then_relaxed, NULL); det_spawn(read_if_flag, NULL);)
BODY(published_release, det_spawn(write_then_release, NULL); det_spawn(read_if_flag, NULL);)
BODY(plain_and_atomic, det_spawn(store_atomic, NULL); det_spawn(write_flag_plainly, NULL);)
BODY(copied_and_stored, det_spawn(store_atomic, NULL); det_spawn(copy_flag_plainly, NULL);)

/* ---- memory ---- */
THREAD(free_published, int *p = LOAD(published, acquire); STORE(flag, 1, relaxed); free(p);)
THREAD(read_published, det_assert(*LOAD(published, acquire) == 7);)
THREAD(read_then_relaxed, det_assert(*LOAD(published, acquire) == 7); STORE(flag, 1, relaxed);)
THREAD(read_then_release, det_assert(*LOAD(published, acquire) == 7); STORE(flag, 1, release);)
THREAD(free_if_flag, if (LOAD(flag, acquire)) free(LOAD(published, acquire));)
THREAD(free_unless_flag, if (!LOAD(flag, acquire)) free(LOAD(published, acquire));)
static void publish_new(void)
{
	int *p = malloc(sizeof *p);
	*p = 7;
	atomic_init(&published, p);
}
BODY(freed_too_early, publish_new(); det_spawn(free_published, NULL);
     det_spawn(read_published, NULL);)
BODY(freed_unordered, publish_new(); det_spawn(read_then_relaxed, NULL);
     det_spawn(free_if_flag, NULL);)
BODY(freed_in_order, publish_new(); det_spawn(read_then_release, NULL);
     det_spawn(free_if_flag, NULL);)
BODY(freed_twice, publish_new(); det_spawn(free_published, NULL);
     det_spawn(free_unless_flag, NULL);)
BODY(written_past, atomic_init(&published, calloc(4, sizeof(int)));
     LOAD(published, relaxed)[4] = 1;)
BODY(leaked, publish_new(); det_assert(det_allocated() == 0);)
BODY(not_leaked, publish_new(); free(LOAD(published, relaxed)); det_assert(det_allocated() == 0);)

/* ---- waiting ---- */
THREAD(first_then_second, det_lock(&mutex[0]); det_lock(&mutex[1]); plain++; det_unlock(&mutex[1]);
       det_unlock(&mutex[0]);)
THREAD(second_then_first, det_lock(&mutex[1]); det_lock(&mutex[0]); plain++; det_unlock(&mutex[0]);
       det_unlock(&mutex[1]);)
THREAD(unlock_only, det_unlock(&mutex[0]);)
THREAD(wait_for_flag, while (!LOAD(flag, acquire)) sched_yield(); det_assert(plain == 1);)
THREAD(wait_for_flag_relaxed, while (!LOAD(flag, relaxed)) sched_yield(); det_assert(plain == 1);)
BODY(locks_crossed, det_spawn(first_then_second, NULL); det_spawn(second_then_first, NULL);)
BODY(locks_in_order, det_spawn(first_then_second, NULL); det_spawn(first_then_second, NULL);)
BODY(unlocked_by_another, det_spawn(unlock_only, NULL);)
BODY(waited_for, det_spawn(wait_for_flag, NULL); det_spawn(wait_for_flag, NULL);
     det_spawn(write_then_release, NULL);)
BODY(waited_for_relaxed, det_spawn(wait_for_flag_relaxed, NULL);
     det_spawn(write_then_release, NULL);)
BODY(waited_for_in_vain, det_spawn(wait_for_flag, NULL);)

/* ---- an update lost between a load and a store ---- */
THREAD(count_by_store, int n = LOAD(flag, relaxed); STORE(flag, n + 1, relaxed);)
THREAD(count_by_add, atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);)
BODY(lost_count, det_spawn(count_by_store, NULL); det_spawn(count_by_add, NULL); det_join_all();
     det_assert(LOAD(flag, relaxed) == 2);)

/* ---- read-copy-update ---- */
THREAD(read_in_section, det_rcu_read_lock(DET_BP); det_assert(*LOAD(published, acquire) == 7);
       det_rcu_read_unlock(DET_BP);)
static void replace(bool wait)
{
	int *old = LOAD(published, relaxed), *new = malloc(sizeof *new);
	*new = 7;
	STORE(published, new, release);
	if (wait)
		det_rcu_synchronize(DET_BP);
	free(old);
}
THREAD(replace_and_wait, replace(true);)
THREAD(replace_at_once, replace(false);)
THREAD(wait_inside, det_rcu_read_lock(DET_BP); det_rcu_synchronize(DET_BP);)
BODY(grace_period, publish_new(); det_spawn(read_in_section, NULL);
     det_spawn(replace_and_wait, NULL);)
BODY(no_grace_period, publish_new(); det_spawn(read_in_section, NULL);
     det_spawn(replace_at_once, NULL);)
BODY(grace_period_inside, det_spawn(wait_inside, NULL);)

/* ---- a reader that stores ---- */
BODY(reader_stores, det_spawn_reader(store_atomic, NULL);)
BODY(reader_reads, det_spawn(write_then_release, NULL); det_spawn_reader(read_if_flag, NULL);)

static const struct program {
	const char *name;
	void (*body)(void);
	/* Part of det's message. Two parts with | between them: schedules may end in either
	 * message. NULL: no fault, and the search must complete. */
	const char *fault;
	int preemptions;
} programs[] = {
	{ "two plain writers", two_writers, "data race", 3 },
	{ "published with relaxed order", published_relaxed, "data race", 3 },
	{ "published with release order", published_release, NULL, 3 },
	{ "a plain and an atomic write", plain_and_atomic, "data race", 3 },
	{ "memcpy of what is stored to", copied_and_stored, "data race", 3 },
	{ "freed too early", freed_too_early, "use after free|data race", 3 },
	{ "freed without order", freed_unordered, "data race", 3 },
	{ "freed in order", freed_in_order, NULL, 3 },
	{ "freed twice", freed_twice, "no live block", 3 },
	{ "written past the end", written_past, "outside of what was allocated", 3 },
	{ "leaked", leaked, "det_allocated", 3 },
	{ "not leaked", not_leaked, NULL, 3 },
	{ "locks crossed", locks_crossed, "deadlock", 3 },
	{ "locks crossed, without a preemption", locks_crossed, NULL, 0 },
	{ "locks in order", locks_in_order, NULL, 3 },
	{ "unlocked by another", unlocked_by_another, "unlocks a mutex", 3 },
	{ "waited for", waited_for, NULL, 3 },
	{ "waited for with relaxed order", waited_for_relaxed, "data race", 3 },
	{ "waited for in vain", waited_for_in_vain, "no end", 3 },
	{ "a lost count", lost_count, "LOAD(flag, relaxed) == 2", 3 },
	{ "read-copy-update", grace_period, NULL, 3 },
	{ "read-copy-update, no grace period", no_grace_period, "use after free|data race", 3 },
	{ "a grace period inside a section", grace_period_inside, "waits for itself", 3 },
	{ "a reader that stores", reader_stores, "read only", 3 },
	{ "a reader that reads", reader_reads, NULL, 3 },
};

static bool matches_fault(const char *why, const char *fault)
{
	const char *other = strchr(fault, '|');
	char first[64];
	snprintf(first, sizeof first, "%.*s", other ? (int)(other - fault) : (int)strlen(fault),
	         fault);
	return strstr(why, first) || (other && strstr(why, other + 1));
}

static bool passes(const struct program *p, struct det_options options)
{
	options.stale = -1;
	struct det_result found = det_run(&options, p->body), again = found;
	bool right = p->fault ? found.failed && matches_fault(found.why, p->fault) : !found.failed;
	if (!p->fault && options.strategy == DET_DFS)
		right &= found.complete;
	if (right && found.failed) {
		options.replay = found.schedule;
		again = det_run(&options, p->body);
		right = again.executions == 1 && again.failed && strcmp(again.why, found.why) == 0;
	}
	if (!right)
		printf("not ok: %s (strategy %d, every step %d): after %llu executions: \"%s\", "
		       "replayed: \"%s\"\n",
		       p->name, (int)options.strategy, options.every_step,
		       (unsigned long long)found.executions, found.why, again.why);
	return right;
}

int main(void)
{
	int wrong = 0;
	for (const struct program *p = programs;
	     p < programs + sizeof programs / sizeof programs[0]; p++) {
		wrong += !passes(p, (struct det_options){ .strategy = DET_DFS,
		                                          .preemptions = p->preemptions });
		wrong += !passes(p, (struct det_options){ .strategy = DET_DFS,
		                                          .preemptions = p->preemptions,
		                                          .every_step = true });
		if (!p->preemptions)
			continue; /* the other strategies have no limit on preemptions */
		wrong += !passes(p, (struct det_options){ .strategy = DET_RANDOM,
		                                          .executions = 5000, .seed = 1 });
		wrong += !passes(p, (struct det_options){ .strategy = DET_PCT, .depth = 3,
		                                          .executions = 5000, .seed = 1 });
	}
	printf("%zu programs, %d wrong\n", sizeof programs / sizeof programs[0], wrong);
	return wrong != 0;
}
