/* SPDX-License-Identifier: MIT
 * Reloads at random: see loader.h. */
#include <errno.h>
#include <weir/image.h>
#include <weir/refresh.h>
#include "loader.h"

const char *const reload_action_names[RELOAD_ACTIONS] = {
	"from source", "by copy",          "at another rate", "aborted",
	"rolled back", "previous dropped", "refreshed",
};

static void succeeds(int err)
{
	check(err == 0, "%d: %s", err, weir_error_detail());
}

/* A second loader is refused. */
static void check_busy(struct reloads *s)
{
	struct weir_reload *second = NULL;
	int err = weir_reload_begin(&second, s->handle, NULL);
	check(err == -EBUSY, "a second reload began: %d", err);
	err = weir_handle_rollback(s->handle);
	check(err == -EBUSY, "a rollback during a reload: %d", err);
}

/* The inserters' records, read after weir_reload_begin() has returned. */
static void load_source(const struct reloads *s, struct weir_reload *r, uint64_t *random)
{
	uint64_t hashes[256];
	for (unsigned t = 0; t < s->inserters; t++) {
		uint64_t n = atomic_load_explicit(&s->recorded[t], memory_order_acquire), i = 0;
		while (i < n) {
			unsigned m = 0;
			for (; m < 256 && i < n; m++, i++)
				hashes[m] = reload_hash(s, t, i);
			if (stress_random(random) % 8)
				check(weir_reload_insert_hashes(r, hashes, m) >= 0, "%s",
				      weir_error_detail());
			else
				for (unsigned j = 0; j < m; j++)
					check(weir_reload_insert_hash(r, hashes[j]) >= 0, "%s",
					      weir_error_detail());
			stress_delay(random);
		}
	}
}

static void reload(struct reloads *s, enum reload_action how, uint64_t *random)
{
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_reload *r = NULL;
	uint64_t bits = stress_random(random);
	options.keep_previous = bits & 1;
	options.defer_free = bits & 2;
	if (how == OTHER_RATE) {
		params.capacity = reload_capacity(s);
		params.fp_rate = bits & 4 ? 0.01 : 0.004;
		options.params = &params;
	}
	succeeds(weir_reload_begin(&r, s->handle, &options));
	if (bits % 16 == 8)
		check_busy(s);
	if (how == BY_COPY || (how == ABORTED && (bits & 4)))
		succeeds(weir_reload_copy(r));
	else
		load_source(s, r, random);
	stress_delay(random);
	if (how == ABORTED)
		weir_reload_abort(r);
	else
		succeeds(weir_reload_commit(r));
	s->done[how]++;
}

/* Rollback or drop, whether there is anything kept or not. */
static void leave_previous(struct reloads *s, enum reload_action how)
{
	struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
	succeeds(weir_handle_stats(s->handle, &stats));
	int err = how == ROLLED_BACK ? weir_handle_rollback(s->handle) :
	                               weir_handle_drop_previous(s->handle);
	check(err == (stats.previous_kept ? 0 : -ENOENT), "%d with%s previous: %s", err,
	      stats.previous_kept ? "" : "out", weir_error_detail());
	s->done[how] += stats.previous_kept;
}

/* The handle's own set as an image, taken over again with what was inserted meanwhile. */
static void refresh(struct reloads *s, uint64_t *random)
{
	struct weir_refresh_options options = WEIR_REFRESH_OPTIONS_INIT;
	options.carry = true;
	options.keep_previous = stress_random(random) & 1;
	s->flavor->read_lock();
	int err = weir_save(weir_handle_get(s->handle), s->image, NULL);
	flavor_read_unlock(s->flavor);
	succeeds(err);
	err = weir_handle_refresh_with(s->handle, s->image, &options);
	check(err == 1, "%d: %s", err, weir_error_detail());
	s->done[REFRESHED]++;
}

void reload_at_random(struct reloads *s, unsigned thread)
{
	static const enum reload_action often[16] = {
		FROM_SOURCE, FROM_SOURCE, FROM_SOURCE, FROM_SOURCE, BY_COPY, BY_COPY, BY_COPY,
		BY_COPY, OTHER_RATE, ABORTED, ABORTED, ROLLED_BACK, ROLLED_BACK, ROLLED_BACK,
		DROPPED, REFRESHED,
	};
	uint64_t random = s->first + thread;
	while (atomic_load_explicit(&s->inserting, memory_order_relaxed)) {
		enum reload_action next = often[stress_random(&random) % 16];
		if (next == ROLLED_BACK || next == DROPPED)
			leave_previous(s, next);
		else if (next == REFRESHED)
			refresh(s, &random);
		else
			reload(s, next, &random);
		s->flavor->read_quiescent_state();
	}
}
