/* SPDX-License-Identifier: MIT
 * A window with a short span, which the window's own thread advances. A key is found until its span
 * is over. If several threads offer one nonce, at most one thread gets WEIR_NEW within the span.
 * One thread sometimes delays an advance by a long read-side section. Another thread sometimes
 * saves the window: the image must have all keys that were in the window when the save began. */
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "flavor.h"

enum { SPAN_NS = 30000000, RECENT = 4096, NONCES = 1 << 16, CLOSE = 64, LOOKS = 16,
       STALL_EACH = 100000, SAVE_EACH = 20000 };

struct race {
	struct weir_filter *w;
	const struct rcu_flavor_struct *flavor;
	uint64_t each;  /* the number of nonces that a thread offers */
	unsigned threads;
	_Atomic uint64_t at[MOST_THREADS];         /* the next nonce of each thread */
	/* for each nonce, the time at which the accepted insert began; 0: none was accepted */
	_Atomic uint64_t accepted[NONCES];
	atomic_uint_fast64_t looks, expired, news, saves;
};

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Wait until no thread is more than CLOSE nonces behind nonce @i. So all threads offer a nonce at
 * nearly the same time, and no thread is near the slots of accepted[] that are cleared. */
static void wait_for_others(const struct race *r, uint64_t i)
{
	for (unsigned t = 0; t < r->threads; t++)
		while (atomic_load_explicit(&r->at[t], memory_order_acquire) + CLOSE < i) {
			r->flavor->read_quiescent_state(); /* a no-op except in qsbr */
			sched_yield();
		}
}

static void offer(struct race *r, uint64_t i)
{
	_Atomic uint64_t *accepted = &r->accepted[i % NONCES];
	uint64_t began = now();
	if (weir_insert_hash(r->w, stress_hash(i)) != WEIR_NEW)
		return;
	uint64_t ended = now(), before = atomic_exchange(accepted, began);
	/* the entry belongs to nonce @i, because clear_slot_ahead() removes older entries */
	check(!before || ended >= before + SPAN_NS, "nonce %llu is accepted twice within %llu ns",
	      (unsigned long long)i, (unsigned long long)(ended - before));
	atomic_fetch_add_explicit(&r->news, 1, memory_order_relaxed);
}

/* Clear the slot that is half of accepted[] ahead, because no thread is near that slot. */
static void clear_slot_ahead(struct race *r, uint64_t i)
{
	atomic_store(&r->accepted[(i + NONCES / 2) % NONCES], 0);
}

static void look(struct race *r, const uint64_t *began, uint64_t i, uint64_t *random)
{
	uint64_t oldest = i > RECENT ? i - RECENT : 0, looks = 0, expired = 0;
	for (unsigned n = 0; n < LOOKS; n++) {
		*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
		uint64_t which = oldest + (*random >> 33) % (i - oldest);
		bool found = weir_contains_hash(r->w, stress_hash(which));
		bool over = !found && now() >= began[which % RECENT] + SPAN_NS;
		check(found || over, "nonce %llu is forgotten within its span",
		      (unsigned long long)which);
		looks++;
		expired += over;
	}
	atomic_fetch_add_explicit(&r->looks, looks, memory_order_relaxed);
	atomic_fetch_add_explicit(&r->expired, expired, memory_order_relaxed);
}

static void stall(const struct race *r)
{
	r->flavor->read_lock();
	usleep(2 * SPAN_NS / 1000);
	(void)weir_contains_hash(r->w, 1);
	flavor_read_unlock(r->flavor);
}

static struct weir_filter *saved(const struct race *r)
{
	struct weir_filter *w = NULL;
	int fd = memfd_create("image", 0);
	check(fd >= 0 && weir_save(r->w, weir_location_fd(fd), NULL) > 0, "%s",
	      weir_error_detail());
	check(lseek(fd, 0, SEEK_SET) == 0 && weir_load(&w, weir_location_fd(fd), NULL) == 0, "%s",
	      weir_error_detail());
	close(fd);
	return w;
}

/* Save the window, and check that the image has this thread's newest nonces. A nonce may be missing
 * if its span is over. */
static void look_in_image(struct race *r, const uint64_t *began, uint64_t i)
{
	struct weir_filter *image = saved(r);
	uint64_t ended = now();
	for (uint64_t which = i > RECENT ? i - RECENT : 0; which < i; which++)
		check(weir_contains_hash(image, stress_hash(which)) ||
		      ended >= began[which % RECENT] + SPAN_NS,
		      "nonce %llu is not in the image", (unsigned long long)which);
	weir_destroy(image);
	atomic_fetch_add_explicit(&r->saves, 1, memory_order_relaxed);
}

static void work(void *shared, unsigned thread)
{
	struct race *r = shared;
	static _Thread_local uint64_t began[RECENT];
	uint64_t random = thread + 1;
	r->flavor->register_thread();
	for (uint64_t i = 0; i < r->each; i++) {
		wait_for_others(r, i);
		r->flavor->read_quiescent_state();
		began[i % RECENT] = now();
		clear_slot_ahead(r, i);
		offer(r, i);
		atomic_store_explicit(&r->at[thread], i + 1, memory_order_release);
		look(r, began, i + 1, &random);
		if (thread == 0 && i % STALL_EACH == STALL_EACH - 1)
			stall(r);
		if (thread == 1 && i % SAVE_EACH == SAVE_EACH - 1)
			look_in_image(r, began, i + 1);
	}
	atomic_store_explicit(&r->at[thread], UINT64_MAX / 2, memory_order_release);
	r->flavor->unregister_thread();
}

int main(int argc, char **argv)
{
	static struct race r;
	struct stress s = stress_read(argc, argv, 4000000);
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_window_stats stats = WEIR_WINDOW_STATS_INIT;
	r.flavor = flavor_named(s.flavor_name);
	r.threads = s.threads < 2 ? 2 : s.threads;
	o.kind = WEIR_WINDOW;
	o.window.run.flavor = r.flavor;
	r.each = s.operations / (LOOKS + 1) / r.threads;
	for (uint32_t layout = WEIR_WINDOW_COLUMNS; layout <= WEIR_WINDOW_RING; layout++) {
		o.window.generations = layout == WEIR_WINDOW_COLUMNS ? 7 : 3;
		o.window.layout = layout;
		o.window.words_per_key = 1;
		o.capacity = 200000;
		o.fp_rate = 0.001;
		o.window.span_seconds = SPAN_NS * 1e-9;
		o.window.run.timer = 1;
		int err = weir_create(&r.w, &o);
		check(err == 0, "%s", weir_error_detail());
		for (unsigned t = 0; t < r.threads; t++)
			atomic_store(&r.at[t], 0);
		for (unsigned i = 0; i < NONCES; i++)
			atomic_store(&r.accepted[i], 0);
		stress_run(r.threads, work, &r);
		err = weir_window_measure(r.w, WEIR_SAMPLED, &stats);
		check(err == 0, "%s", weir_error_detail());
		weir_destroy(r.w);
		printf("%s: %u threads, %llu nonces, %llu accepted, %llu lookups, %llu after their "
		       "span, %llu advances, %.1f ms late at most, %llu saves\n",
		       layout == WEIR_WINDOW_COLUMNS ? "columns" : "ring", r.threads,
		       (unsigned long long)r.each, (unsigned long long)atomic_exchange(&r.news, 0),
		       (unsigned long long)atomic_exchange(&r.looks, 0),
		       (unsigned long long)atomic_exchange(&r.expired, 0),
		       (unsigned long long)stats.advances, stats.late_seconds * 1e3,
		       (unsigned long long)atomic_exchange(&r.saves, 0));
	}
	return 0;
}
