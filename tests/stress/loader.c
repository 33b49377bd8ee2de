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

enum { MOST_LOADED = 256 };

static void succeeds(int err)
{
	check(err == 0, "%d: %s", err, weir_error_detail());
}

/* Check that a second loader is refused. */
static void check_busy(struct reloads *s)
{
	struct weir_reload *second = NULL;
	int err = weir_reload_begin(&second, s->handle, NULL);
	check(err == -EBUSY, "a second reload began: %d", err);
	err = weir_handle_rollback(s->handle);
	check(err == -EBUSY, "a rollback during a reload: %d", err);
}

static int insert_some(struct weir_reload *r, const struct reloads *s, unsigned thread,
                       uint64_t first, unsigned n, bool batch)
{
	uint64_t keys[MOST_LOADED], hashes[MOST_LOADED];
	int64_t answer = 0;
	for (unsigned j = 0; j < n; j++) {
		keys[j] = reload_key(s, thread, first + j);
		hashes[j] = weir_hash(s->hasher, &keys[j], sizeof keys[j]);
	}
	if (batch)
		answer = weir_reload_insert_keys(r, s->reseeds ? weir_keys_u64(keys, n) :
		                                                 weir_keys_hashes(hashes, n), NULL);
	for (unsigned j = 0; !batch && j < n && answer >= 0; j++)
		answer = s->reseeds ? weir_reload_insert(r, &keys[j], sizeof keys[j]) :
		                      weir_reload_insert_hash(r, hashes[j]);
	return answer < 0 ? (int)answer : 0;
}

/* After weir_reload_begin() has returned, load all keys that the inserters have recorded so far. */
static void load_source(const struct reloads *s, struct weir_reload *r, uint64_t *random)
{
	for (unsigned t = 0; t < s->inserters; t++) {
		uint64_t n = atomic_load_explicit(&s->recorded[t], memory_order_acquire), m;
		for (uint64_t i = 0; i < n; i += m) {
			m = n - i < MOST_LOADED ? n - i : MOST_LOADED;
			succeeds(insert_some(r, s, t, i, (unsigned)m, stress_random(random) % 8));
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
		params.kind = s->other_kind;
		params.capacity = reload_capacity(s);
		params.fp_rate = bits & 4 ? 0.01 : 0.004;
		options.params = &params;
	}
	if (s->reseeds && how != OTHER_RATE && how != BY_COPY) {
		s->flavor->read_lock();
		succeeds(weir_params_of(weir_handle_get(s->handle), &params));
		flavor_read_unlock(s->flavor);
		options.params = &params;
	}
	if (s->reseeds && options.params)
		params.seed = test_seed(params.kind, 1 + stress_random(random) % 4);
	succeeds(weir_reload_begin(&r, s->handle, &options));
	if (bits % 16 == 8)
		check_busy(s);
	if (how == BY_COPY || (how == ABORTED && (bits & 4) && !s->reseeds))
		succeeds(weir_reload_copy(r, WEIR_ALL_SETS));
	else
		load_source(s, r, random);
	stress_delay(random);
	if (how == ABORTED)
		weir_reload_abort(r);
	else
		succeeds(weir_reload_commit(r));
	s->done[how]++;
}

/* Roll back or drop the previous filter. Without a previous filter the call must fail. */
static void leave_previous(struct reloads *s, enum reload_action how)
{
	struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
	succeeds(weir_handle_measure(s->handle, &stats, NULL));
	int err = how == ROLLED_BACK ? weir_handle_rollback(s->handle) :
	                               weir_handle_drop_previous(s->handle);
	check(err == (stats.previous_kept ? 0 : -ENOENT), "%d with%s previous: %s", err,
	      stats.previous_kept ? "" : "out", weir_error_detail());
	s->done[how] += stats.previous_kept;
}

/* Save the handle's set, then refresh the handle from this image. The refresh carries over the keys
 * that were inserted after the save. */
static void refresh(struct reloads *s, uint64_t *random)
{
	struct weir_refresh_options options = WEIR_REFRESH_OPTIONS_INIT;
	options.carry = true;
	options.keep_previous = stress_random(random) & 1;
	s->flavor->read_lock();
	int64_t saved = weir_save(weir_handle_get(s->handle), weir_location_path(s->image), NULL);
	flavor_read_unlock(s->flavor);
	check(saved > 0, "%s", weir_error_detail());
	int err = weir_handle_refresh(s->handle, s->image, &options);
	check(err == 1, "%d: %s", err, weir_error_detail());
	s->done[REFRESHED]++;
}

/* Return: the action done least often, among the actions that this round's kind allows. */
static enum reload_action least_done(const struct reloads *s)
{
	enum reload_action least = 0;
	for (unsigned i = 1; i < RELOAD_ACTIONS; i++)
		if (s->done[i] < s->done[least] && (i != REFRESHED || s->saves))
			least = (enum reload_action)i;
	return least;
}

/* In half of the calls, choose the action done least often, so that a slow machine omits no
 * action. */
static enum reload_action next_action(const struct reloads *s, uint64_t *random)
{
	static const enum reload_action often[16] = {
		FROM_SOURCE, FROM_SOURCE, FROM_SOURCE, FROM_SOURCE, BY_COPY, BY_COPY, BY_COPY,
		BY_COPY, OTHER_RATE, ABORTED, ABORTED, ROLLED_BACK, ROLLED_BACK, ROLLED_BACK,
		DROPPED, REFRESHED,
	};
	uint64_t r = stress_random(random);
	enum reload_action next = r >> 4 & 1 ? least_done(s) : often[r % 16];
	return next == REFRESHED && !s->saves ? BY_COPY : next;
}

/* Run at least two actions, because the first action finds no previous filter. */
void reload_at_random(struct reloads *s, unsigned thread)
{
	uint64_t random = s->first + thread;
	for (unsigned n = 0; n < 2 || atomic_load_explicit(&s->inserting, memory_order_relaxed);
	     n++) {
		enum reload_action next = next_action(s, &random);
		if (next == ROLLED_BACK || next == DROPPED)
			leave_previous(s, next);
		else if (next == REFRESHED)
			refresh(s, &random);
		else
			reload(s, next, &random);
		s->flavor->read_quiescent_state();
	}
}
