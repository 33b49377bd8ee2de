/* SPDX-License-Identifier: MIT
 * A window that advances during inserts, lookups and saves ([STATE-IN-SECTION] to
 * [ONE-NEW-AT-LEAST], [ONE-ADVANCE], [SECTION-IF-ADVANCED] and
 * [COPY-IN-SECTION] in src/window/window.h). One subject is enough, because a window makes its own
 * filters. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weir/window.h>
#include "scenario.h"

enum { KEY = 0, TRIES = 2 };
static struct weir_filter *window;
static int result[TRIES], both[TRIES] = { 0, 1 };
static bool seen;

/* Starts a scenario with a window. Its two generations have a few words each. */
static void begin(uint32_t layout, uint32_t words_per_key)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	scenario_begin();
	o.kind = WEIR_WINDOW;
	o.window.generations = 2;
	o.window.layout = layout;
	o.window.words_per_key = words_per_key;
	o.capacity = 2;
	o.fp_rate = 0.1;
	o.seed = 1;
	det_assert(weir_create(&window, &o) == 0);
}

static void end(void)
{
	weir_destroy(window);
	det_assert(det_allocated() == 0);
}

static void insert(void *slot)
{
	int i = *(int *)slot;
	answer[i] = weir_insert_hash(window, hash_of(KEY));
	promise((unsigned)i);
	det_assert(answer[i] == WEIR_NEW || answer[i] == WEIR_SEEN);
}

static void advance(void *unused)
{
	(void)unused;
	det_assert(weir_window_advance(window) == 0);
}

static uint64_t advances(void)
{
	struct weir_window_stats s = WEIR_WINDOW_STATS_INIT;
	det_assert(weir_window_measure(window, WEIR_SAMPLED, &s) == 0);
	return s.advances;
}

/* Two threads insert one key while the window advances. Return: the number of inserts that return
 * WEIR_NEW. */
static int answered_new(uint32_t layout, uint32_t words_per_key)
{
	begin(layout, words_per_key);
	det_spawn(insert, &both[0]);
	det_spawn(insert, &both[1]);
	det_spawn(advance, NULL);
	det_join_all();
	det_assert(weir_contains_hash(window, hash_of(KEY)));
	int new = (answer[0] == WEIR_NEW) + (answer[1] == WEIR_NEW);
	end();
	return new;
}

static void columns_once(void)
{
	det_assert(answered_new(WEIR_WINDOW_COLUMNS, 1) <= 1);
}

static void ring_once(void)
{
	det_assert(answered_new(WEIR_WINDOW_RING, 1) <= 1);
}

static void ring_of_two(void)
{
	det_assert(answered_new(WEIR_WINDOW_RING, 2) >= 1);
}

/* Without an advance, exactly one insert returns WEIR_NEW. */
static void still(void)
{
	begin(WEIR_WINDOW_COLUMNS, 1);
	det_spawn(insert, &both[0]);
	det_spawn(insert, &both[1]);
	det_join_all();
	det_assert((answer[0] == WEIR_NEW) + (answer[1] == WEIR_NEW) == 1);
	end();
}

static void look(void *unused)
{
	(void)unused;
	seen = weir_contains_hash(window, hash_of(KEY));
}

static void look_in_a_batch(void *unused)
{
	uint64_t hashes[2] = { hash_of(KEY), hash_of(KEY) }, bitmap = 0;
	(void)unused;
	seen = weir_contains_keys(window, weir_keys_hashes(hashes, 2), &bitmap) == 2;
	det_assert(seen == (bitmap == 3));
}

static void look_for_its_age(void *unused)
{
	(void)unused;
	int age = weir_age_hash(window, hash_of(KEY));
	seen = age == 0 || age == 1;
}

/* The key stays in the window, but moves from slot to slot. */
static void advance_and_reinsert(void *unused)
{
	advance(unused);
	det_assert(weir_insert_hash(window, hash_of(KEY)) == WEIR_SEEN);
	advance(unused);
}

static void stalled(void (*thread)(void *))
{
	begin(WEIR_WINDOW_COLUMNS, 1);
	det_assert(weir_insert_hash(window, hash_of(KEY)) == WEIR_NEW);
	det_spawn(thread, NULL);
	det_spawn(advance_and_reinsert, NULL);
	det_join_all();
	det_assert(seen);
	end();
}

static void stalled_lookup(void)
{
	stalled(look);
}

static void stalled_batch(void)
{
	stalled(look_in_a_batch);
}

static void stalled_age(void)
{
	stalled(look_for_its_age);
}

/* Saves the window into a file in memory, and looks up the key in a filter loaded from that
 * file. */
static void save(void *unused)
{
	struct weir_filter *loaded = NULL;
	int fd = memfd_create("image", 0);
	(void)unused;
	det_assert(fd >= 0 && weir_save(window, weir_location_fd(fd), NULL) > 0);
	det_assert(lseek(fd, 0, SEEK_SET) == 0);
	if (weir_load(&loaded, weir_location_fd(fd), NULL))
		det_fail("what was saved cannot be loaded: %s", weir_error_detail());
	seen = weir_contains_hash(loaded, hash_of(KEY));
	weir_destroy(loaded);
	close(fd);
}

static void stalled_save(void)
{
	stalled(save);
}

static void save_if_promised(void *unused)
{
	if (!promised(0))
		return;
	save(unused);
	det_assert(seen);
}

static void promised_save(void)
{
	begin(WEIR_WINDOW_RING, 2);
	det_spawn(insert, &both[0]);
	det_spawn(advance, NULL);
	det_spawn(save_if_promised, NULL);
	det_join_all();
	end();
}

/* A thread that knows that the insert has returned finds the key, even during an advance. */
static void look_if_promised(void *unused)
{
	(void)unused;
	if (promised(0))
		det_assert(weir_contains_hash(window, hash_of(KEY)));
}

static void promised_lookup(void)
{
	begin(WEIR_WINDOW_COLUMNS, 1);
	det_spawn(insert, &both[0]);
	det_spawn(advance, NULL);
	det_spawn(look_if_promised, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW);
	end();
}

static void advance_twice(void *unused)
{
	advance(unused);
	advance(unused);
}

static void insert_in_a_batch(void *slot)
{
	const uint64_t hash = hash_of(KEY);
	int i = *(int *)slot;
	uint64_t new = 0;
	answer[i] = (int)weir_insert_keys(window, weir_keys_hashes(&hash, 1), &new);
	promise((unsigned)i);
	det_assert(answer[i] == (int)new);
}

/* A delayed insert must not write into a slot that an advance has cleared. After one more advance,
 * the newest generation does not have the key. */
static void stalled_insert_by(void (*thread)(void *))
{
	begin(WEIR_WINDOW_COLUMNS, 1);
	det_spawn(thread, &both[0]);
	det_spawn(advance_twice, NULL);
	det_join_all();
	advance(NULL);
	det_assert(weir_age_hash(window, hash_of(KEY)) != 0);
	end();
}

static void stalled_insert(void)
{
	stalled_insert_by(insert);
}

static void stalled_inserts(void)
{
	stalled_insert_by(insert_in_a_batch);
}

static void advance_if_free(void *slot)
{
	result[*(int *)slot] = weir_window_advance(window);
}

/* Two threads advance the window. An advance that meets the other advance fails with -EBUSY, and
 * the statistics count each successful advance. */
static void two_advance(void)
{
	begin(WEIR_WINDOW_COLUMNS, 1);
	det_assert(weir_insert_hash(window, hash_of(KEY)) == WEIR_NEW);
	det_spawn(advance_if_free, &both[0]);
	det_spawn(advance_if_free, &both[1]);
	det_join_all();
	for (int i = 0; i < TRIES; i++)
		det_assert(result[i] == 0 || result[i] == -EBUSY);
	uint64_t n = (uint64_t)((result[0] == 0) + (result[1] == 0));
	det_assert(n >= 1 && advances() == n);
	det_assert(weir_contains_hash(window, hash_of(KEY)) == (n < 2));
	end();
}

static bool first(const struct subject *s)
{
	return s == &subjects[0];
}

#define WINDOW(title, run) \
	{ .name = title, .group = "window", .body = run, .fits = first, .one_form = true, \
	  .cost = 4 }

const struct scenario window_scenarios[] = {
	WINDOW("columns, an advance", columns_once),
	WINDOW("ring, an advance", ring_once),
	WINDOW("ring of two words", ring_of_two),
	WINDOW("insert insert", still),
	WINDOW("stalled lookup", stalled_lookup),
	WINDOW("stalled batch", stalled_batch),
	WINDOW("stalled age", stalled_age),
	WINDOW("stalled insert", stalled_insert),
	WINDOW("stalled inserts", stalled_inserts),
	WINDOW("promised lookup", promised_lookup),
	WINDOW("stalled save", stalled_save),
	WINDOW("promised save", promised_save),
	WINDOW("two advance", two_advance),
	{ .name = NULL }
};
