/* SPDX-License-Identifier: MIT
 * A handle loads its filter from an image file during inserts, with and without carrying the
 * current filter's keys over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/refresh.h>
#include "scenario_handle.h"

static char path[64];

static void remove_image(void)
{
	unlink(path);
}

/* Saves an image with these keys (bit i: key i), in memory because disks are not under test. */
static bool save_image(unsigned keys)
{
	if (!*path) {
		snprintf(path, sizeof path, "%s/weir-refresh-%d",
		         access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
		atexit(remove_image);
	}
	struct weir_params params = subject_params(subject);
	struct weir_filter *image = NULL;
	params.seed = reseeds() ? subject->other_seed : params.seed;
	int err = weir_create(&image, &params);
	for (unsigned key = 0; key < SUBJECT_KEYS; key++)
		if (!err && keys >> key & 1) {
			uint64_t bytes = subject_key(subject, hash_of(key));
			weir_insert(image, &bytes, sizeof bytes);
		}
	const bool done = !err && weir_save(image, weir_location_path(path), NULL) > 0;
	weir_destroy(image);
	if (!done)
		fprintf(stderr, "%s\n", weir_error_detail());
	return done;
}

static bool prepare_other(void)
{
	return save_image(4);
}

static bool prepare_whole(void)
{
	return save_image(7);
}

/* The refresh carries the keys of the current filter over, so the new filter has these keys and key
 * 2 of the image. */
static void refresh_and_carry(void *unused)
{
	struct weir_refresh_options options = WEIR_REFRESH_OPTIONS_INIT;
	(void)unused;
	options.carry = true;
	det_assert(weir_handle_refresh(handle, path, &options) == 1);
	det_assert(weir_handle_refresh(handle, path, NULL) == 0);
}

static void carried(void)
{
	handle_begin(&urcu_bp_flavor);
	spawn_insert_and_verify();
	det_spawn(refresh_and_carry, NULL);
	det_join_all();
	handle_end_with(2, 1);
}

static unsigned asked;

/* Refuses @next, which has key 2 of the image and key 0 of the current filter. */
static int refuse(const struct weir_filter *next, void *context)
{
	(void)context;
	asked++;
	det_assert(weir_contains_hash(next, hash_of(0)));
	det_assert(weir_contains_hash(next, hash_of(2)));
	return 1;
}

/* The second call finds the same file and the same current filter, so it does not call the gate
 * again. */
static void refresh_and_be_refused(void *unused)
{
	struct weir_refresh_options options = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_gate gate = WEIR_GATE_INIT;
	(void)unused;
	gate.check = refuse;
	options.carry = true;
	options.gate = &gate;
	det_assert(weir_handle_refresh(handle, path, &options) == -ECANCELED);
	det_assert(weir_handle_refresh(handle, path, &options) == 0);
}

static void carry_refused(void)
{
	asked = 0;
	handle_begin(&urcu_bp_flavor);
	spawn_insert_and_verify();
	det_spawn(refresh_and_be_refused, NULL);
	det_join_all();
	det_assert(asked == 1 && !handle_holds(2));
	handle_end_with(1, 0);
}

/* The image has the keys of the application's record, 0 to 2. A thread inserts key 3 after it knows
 * that the image was loaded. */
static void refresh(void *unused)
{
	(void)unused;
	det_assert(weir_handle_refresh(handle, path, NULL) == 1);
	promise(0);
}

static void insert_when_refreshed(void *insertion)
{
	if (promised(0))
		handle_insert_thread(insertion);
}

static void replaced(void)
{
	static struct insertion one = { 1, 1 }, three = { 3, 3 };
	handle_begin(&urcu_bp_flavor);
	det_spawn(handle_insert_thread, &one);
	det_spawn(insert_when_refreshed, &three);
	det_spawn(refresh, NULL);
	det_join_all();
	handle_end_with(promised(3) ? 3 : 2, 1);
}

static int result[2];

static void refresh_if_free(void *unused)
{
	(void)unused;
	result[0] = weir_handle_refresh(handle, path, NULL);
}

static void reload_if_free(void *unused)
{
	struct weir_reload *r;
	(void)unused;
	result[1] = reload_begin(&r, NULL);
	if (result[1])
		return;
	det_assert(carry_over(r) == 0);
	det_assert(weir_reload_commit(r) == 0);
}

static void refresh_and_reload(void)
{
	handle_begin(&urcu_bp_flavor);
	for (unsigned key = 1; key < 3 && reseeds(); key++)
		record_key(key); /* the image's keys */
	det_spawn(refresh_if_free, NULL);
	det_spawn(reload_if_free, NULL);
	det_join_all();
	det_assert(result[0] == 1 || result[0] == -EBUSY);
	det_assert(result[1] == 0 || result[1] == -EBUSY);
	det_assert(result[0] == 1 || result[1] == 0);
	handle_end_with(result[0] == 1 ? 2 : 0, (unsigned)(result[0] == 1) + (result[1] == 0));
}

/* Two missing paths, whose error messages have equal lengths. A thread that asks for the reason
 * must get one whole message. */
static const char *const missing[] = { "/weir-a/a/a", "/weir-b/b/b" };

static void be_refused_in_turns(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3; i++)
		det_assert(weir_handle_refresh(handle, missing[i % 2], NULL) == -ENOENT);
}

static void read_refusal(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2; i++) {
		struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
		det_assert(weir_handle_measure(handle, &s, NULL) == 0);
		bool a = strncmp(s.refused_sentence, missing[0], strlen(missing[0])) == 0;
		bool b = strncmp(s.refused_sentence, missing[1], strlen(missing[1])) == 0;
		det_assert(s.refused_since > 0 ? a || b : !*s.refused_sentence);
	}
}

static void refusals_read(void)
{
	handle_begin(&urcu_bp_flavor);
	det_spawn(be_refused_in_turns, NULL);
	det_spawn(read_refusal, NULL);
	det_join_all();
	handle_end_with(0, 0);
}

const struct scenario refresh_scenarios[] = {
	{ .name = "carried", .group = "refresh", .body = carried, .prepare = prepare_other,
	  .one_seed = true, .narrowed = true, .cost = 20, .fits = small },
	{ .name = "carry refused", .group = "refresh", .body = carry_refused, .one_seed = true,
	  .prepare = prepare_other, .narrowed = true, .cost = 20, .fits = smallest },
	{ .name = "replaced", .group = "refresh", .body = replaced, .prepare = prepare_whole,
	  .narrowed = true, .cost = 20, .fits = small },
	{ .name = "refresh and reload", .group = "refresh", .body = refresh_and_reload,
	  .prepare = prepare_whole, .narrowed = true, .cost = 20, .fits = smallest },
	{ .name = "refusals read", .group = "refresh", .body = refusals_read,
	  .prepare = prepare_whole, .narrowed = true, .cost = 20, .fits = smallest },
	{ .name = NULL },
};
