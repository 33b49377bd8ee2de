/* SPDX-License-Identifier: MIT
 * One image, mapped live, sealed, verified and loaded by several at once: it is always live, or
 * sealed and valid, and who is in the way of another is refused, by name. */
#include "live.h"

/* ---- one seals, another comes at every step ---- */

static unsigned steps, turn; /* made so far; at which the other comes */
static struct weir_filter *other;
static int other_answer;

static void other_comes(const struct shim_call *call)
{
	(void)call;
	if (++steps != turn)
		return;
	other = NULL;
	other_answer = weir_load(&other, weir_location_map(path, WEIR_MAP_LIVE), NULL);
	if (!other_answer)
		assert_int_equal(insert(other, 2 * FEW), 0);
}

static void test_sealing_against_a_new_live_mapper(void **state)
{
	unsigned came = 0, refused = 0;
	(void)state;
	for (turn = 1;; turn++) {
		struct weir_filter *f = map_live();
		assert_int_equal(insert(f, FEW), 0);
		steps = 0;
		shim.look = other_comes;
		int answer = weir_seal(f);
		shim.look = NULL;
		if (steps < turn) {
			assert_ok(answer);
			weir_destroy(f);
			break;
		}
		if (other_answer == 0 && answer == 0) { /* it came when all was done */
			assert_refused(weir_insert_hash(f, 1), -EROFS, "sealed", "");
			came++;
		} else if (other_answer == 0) {
			assert_int_equal(answer, -EBUSY);
			assert_false(sealed());
			came++;
		} else {
			assert_ok(answer);
			assert_int_equal(other_answer, -EBUSY);
			assert_true(sealed());
			refused++;
		}
		weir_destroy(f);
		if (other) {
			assert_has(other, 2 * FEW);
			seal_it(other);
		}
	}
	assert_true(came > 0 && refused > 3);
	assert_true(sealed());
}

/* ---- verified and read meanwhile ---- */

static void other_inserts(const struct shim_call *call)
{
	if (strcmp(call->what, "preface_check") == 0 && ++steps == turn) {
		other = map_live();
		assert_int_equal(insert(other, (20 + turn) * FEW), 0);
		if (turn == 2)
			return;
		assert_ok(weir_seal(other)); /* other bits, other checksums */
	}
}

/* From the second shard on what is verified was never sealed. */
static void test_verified_while_it_goes_live(void **state)
{
	(void)state;
	for (turn = 2; turn; turn--) {
		struct weir_filter *f;
		assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
		steps = 0;
		shim.look = other_inserts;
		int answer = weir_verify(f);
		shim.look = NULL;
		assert_refused(answer, -EBUSY, path, "live");
		weir_destroy(f);
		if (turn == 2)
			seal_it(other);
		else
			weir_destroy(other);
	}
	assert_true(sealed());
}

static void seals_before_the_head_is_read(const struct shim_call *call)
{
	if (strcmp(call->what, "read") == 0 && steps++ == 0)
		seal_it(map_live());
}

static int goes_live_again(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *keys = arg;
	(void)total;
	if (other)
		return 0;
	other = map_live();
	assert_int_equal(insert(other, *keys), 0);
	*keys += FEW; /* others each time, or no bit would change */
	return (int)(done == 0);
}

/* Live when it is opened, sealed when its head is read, live when its bits are: not damaged. */
static void test_sealed_and_live_while_it_is_loaded(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	uint64_t keys = 70 * FEW;
	struct weir_filter *f;
	(void)state;
	o.progress = goes_live_again;
	o.progress_arg = &keys;
	for (unsigned verb = 0; verb < 3; verb++) {
		weir_destroy(map_live());
		assert_false(sealed());
		other = NULL;
		steps = 0;
		shim.look = seals_before_the_head_is_read;
		int answer = verb == 0 ? weir_load(&f, weir_location_path(path), &o) :
		             verb == 1 ? weir_image_verify(weir_location_path(path), &o, NULL) :
		                         weir_image_measure(weir_location_path(path), WEIR_SAMPLED,
		                                            &o, &s);
		shim.look = NULL;
		assert_refused(answer, -EBUSY, path, "while it was read");
		seal_it(other);
	}
}

/* ---- the lock and the seal's end ---- */

static void test_the_lock_was_closed(void **state)
{
	struct weir_filter *f = map_live();
	(void)state;
	closefrom(3); /* as daemons do */
	assert_refused(weir_seal(f), -EBADF, path, "descriptor");
	char beside[4200];
	snprintf(beside, sizeof beside, "%s/beside", folder);
	int fd = open("/proc/self/stat", O_RDONLY); /* of another device, */
	assert_refused(weir_seal(f), -EBADF, path, "descriptor");
	close(fd);
	fd = open(beside, O_CREAT | O_RDWR, 0600); /* and of the same */
	assert_refused(weir_seal(f), -EBADF, path, "descriptor");
	weir_destroy(f);
	assert_int_equal(close(fd), 0); /* still open */
	seal_it(map_live());
}

/* A child keeps the lock with the mapping. */
static void test_a_forked_mapping(void **state)
{
	struct weir_filter *f = map_live();
	int go[2], status;
	char byte;
	(void)state;
	assert_int_equal(pipe(go), 0);
	pid_t child = new_process();
	if (child == 0)
		_exit(read(go[0], &byte, 1) != 1 || insert(f, 9 * FEW) || insert(f, 10 * FEW));
	weir_destroy(f);
	f = map_live();
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_has(f, 9 * FEW);
	seal_it(f);
	close(go[0]), close(go[1]);
}

/* The mapping gives its lock back and closes its descriptors once: when it is sealed. What is
 * opened then may well get one of their numbers, and be the same file. */
static void test_a_sealed_mapping_closes_nothing_more(void **state)
{
	struct weir_filter *f = map_live();
	(void)state;
	assert_ok(weir_seal(f));
	seal_it(map_live());
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	weir_destroy(f);
	assert_int_equal(close(fd), 0); /* still open */
}

/* Nothing is sealed, and the image can be mapped live beside it as before. */
static void test_a_seal_that_fails_locks_nobody_out(void **state)
{
	struct weir_filter *f = map_live();
	(void)state;
	assert_int_equal(insert(f, FEW), 0);
	shim.refused = "msync";
	shim.refused_error = EIO;
	assert_refused(weir_seal(f), -EIO, path, "cannot sync");
	shim.refused = NULL;
	other = map_live();
	assert_int_equal(insert(other, 2 * FEW), 0);
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	weir_destroy(other);
	assert_has(f, 2 * FEW);
	seal_it(f);
}

/* The record is stored and cannot be synced: no insert may follow it. */
static void test_the_last_sync_fails(void **state)
{
	unsigned n = 0;
	bool last = false;
	(void)state;
	while (!last) {
		struct weir_filter *f = map_live();
		assert_int_equal(insert(f, 11 * FEW), 0);
		shim.armed = true;
		shim.calls = 0;
		shim.at = ++n;
		shim.error = EIO;
		int answer = weir_seal(f);
		shim.armed = false;
		last = answer == -EIO && strstr(weir_error_detail(), "is sealed");
		assert_true(last || n < MOST_STEPS);
		assert_true(sealed() == (answer == 0 || last));
		if (last)
			assert_refused(weir_insert_hash(f, 1), -EROFS, "sealed", "");
		weir_destroy(f);
	}
	assert_true(sealed());
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, live_setup, folder_teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_sealing_against_a_new_live_mapper),
		fresh(test_verified_while_it_goes_live),
		fresh(test_sealed_and_live_while_it_is_loaded),
		fresh(test_the_lock_was_closed),
		fresh(test_a_forked_mapping),
		fresh(test_a_sealed_mapping_closes_nothing_more),
		fresh(test_a_seal_that_fails_locks_nobody_out),
		fresh(test_the_last_sync_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
