/* SPDX-License-Identifier: MIT
 * A save that names the image it was made from (weir_save_options.replaces): no insert of a live
 * mapping that comes meanwhile is lost in silence, at whichever step it comes. */
#include "live.h"

enum { CHANGED = 7000, MAPPED = 8000 }; /* keys */

static unsigned steps, turn; /* made so far; at which the other comes */
static int mapped, sealed_it;
static struct weir_filter *changed, *mapper;
static struct weir_save_options options;

static uint64_t commit_of(const char *name)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_inspect(weir_location_path(name), &info));
	return info.commit;
}

/* Read, and changed. */
static int replace_setup(void **state)
{
	(void)live_setup(state);
	options = (struct weir_save_options)WEIR_SAVE_OPTIONS_INIT;
	options.replaces = commit_of(path);
	assert_true(options.replaces != 0);
	assert_ok(weir_load(&changed, weir_location_path(path), NULL));
	assert_int_equal(insert(changed, CHANGED), 0);
	mapper = NULL;
	return 0;
}

static int replace_teardown(void **state)
{
	shim = (struct shim){ 0 };
	weir_destroy(changed);
	return folder_teardown(state);
}

static int replace(void)
{
	return test_done(weir_save(changed, weir_location_path(path), &options));
}

static bool has(uint64_t from)
{
	struct weir_filter *f;
	unsigned n = 0;
	assert_ok(weir_load(&f, weir_location_path(path), NULL));
	for (uint64_t i = from; i < from + FEW; i++)
		n += weir_contains_hash(f, test_key(i));
	weir_destroy(f);
	return n == FEW;
}

static void test_does_a_save_replace_the_image_that_was_read(void **state)
{
	struct weir_image_info live = WEIR_IMAGE_INFO_INIT;
	(void)state;
	assert_ok(replace());
	assert_true(has(CHANGED));
	assert_refused(replace(), -EAGAIN, path, "repeat the change");
	struct weir_filter *f = map_live();
	assert_ok(weir_image_inspect(weir_location_path(path), &live));
	assert_int_equal(live.commit, 0);
	seal_it(f);
	assert_int_equal(unlink(path), 0);
	assert_refused(replace(), -EAGAIN, path, "removed");
	assert_int_not_equal(access(path, F_OK), 0);
}

static void test_does_a_save_replace_an_image_that_is_mapped_live(void **state)
{
	(void)state;
	mapper = map_live();
	assert_int_equal(insert(mapper, MAPPED), 0);
	assert_refused(replace(), -EAGAIN, path, "is live");
	weir_destroy(mapper); /* it stays live */
	assert_refused(replace(), -EAGAIN, path, "is live");
	seal_it(map_live());
	assert_refused(replace(), -EAGAIN, path, "inserted into");
	assert_true(has(MAPPED) && !has(CHANGED));
	options.replaces = 0;
	assert_ok(replace());
	assert_true(!has(MAPPED) && has(CHANGED));
}

static void map_and_seal(void)
{
	mapped = weir_load(&mapper, weir_location_map(path, WEIR_MAP_LIVE), NULL);
	if (mapped)
		return;
	assert_int_equal(insert(mapper, MAPPED), 0);
	sealed_it = weir_seal(mapper);
	weir_destroy(mapper);
}

static void another_maps(const struct shim_call *call)
{
	(void)call;
	const char *refused = shim.refused; /* to the save */
	if (++steps != turn)
		return;
	shim.refused = NULL;
	map_and_seal();
	shim.refused = refused;
}

/* Return: whether the other came, and the save answered. */
static bool came(int *answer)
{
	steps = 0;
	mapped = sealed_it = 0;
	shim.look = another_maps;
	*answer = replace();
	shim.look = NULL;
	return steps >= turn;
}

/* Either one is refused, or both keep what they have inserted. */
static void test_is_an_insert_lost_whichever_step_of_a_save_it_comes_at(void **state)
{
	unsigned saved = 0, refused = 0, kept_out = 0;
	int answer;
	(void)state;
	for (turn = 1; came(&answer); turn++) {
		if (mapped) {
			assert_int_equal(mapped, -EBUSY);
			assert_ok(answer);
			kept_out++;
		} else if (answer) {
			assert_int_equal(answer, -EAGAIN);
			assert_ok(sealed_it);
			assert_true(has(MAPPED));
			refused++;
		} else {
			assert_ok(sealed_it);
			assert_true(has(MAPPED) && has(CHANGED)); /* it came after that */
			saved++;
		}
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(refused > 3 && kept_out > 0 && saved > 0);
}

/* The other way round: a save comes at each step of a mapper that has the old file open. */
static void another_saves(const struct shim_call *call)
{
	(void)call;
	if (++steps == turn)
		sealed_it = replace();
}

static void test_does_a_mapper_go_live_in_a_file_that_was_replaced(void **state)
{
	unsigned saved = 0, refused = 0;
	(void)state;
	for (turn = 1;; turn++) {
		steps = 0;
		sealed_it = 0;
		shim.look = another_saves;
		struct weir_filter *f = map_live();
		shim.look = NULL;
		if (steps < turn) {
			seal_it(f);
			break;
		}
		assert_true(sealed_it == 0 || sealed_it == -EAGAIN);
		saved += sealed_it == 0;
		refused += sealed_it != 0;
		assert_int_equal(insert(f, MAPPED), 0);
		seal_it(f);
		assert_true(has(MAPPED) && has(CHANGED) == (sealed_it == 0));
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(saved > 3 && refused > 3);
}

/* The second has no key of the first: one of the two must be refused. */
static void test_do_two_saves_of_one_image_both_replace_it(void **state)
{
	unsigned first = 0, second = 0;
	(void)state;
	for (turn = 1;; turn++) {
		steps = 0;
		shim.look = another_saves;
		int answer = replace();
		shim.look = NULL;
		if (steps < turn)
			break;
		assert_int_equal(answer + sealed_it, -EAGAIN);
		first += answer == 0;
		second += answer != 0;
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(first > 3 && second > 3);
}

/* Who may not write the image cannot lock it. So the mapper is seen after the rename at the latest.
 */
static void test_is_a_mapper_seen_if_the_image_cannot_be_locked(void **state)
{
	unsigned late = 0, refused = 0;
	int answer;
	(void)state;
	for (turn = 1;; turn++) {
		shim.refused = "fcntl";
		shim.refused_error = EBADF;
		bool did = came(&answer);
		shim.refused = NULL;
		if (!did)
			break;
		late += answer && strstr(weir_error_detail(), "is in place") != NULL;
		refused += answer != 0;
		assert_true(answer == 0 || answer == -EAGAIN);
		assert_true(answer || mapped || has(MAPPED));
		(void)replace_teardown(state);
		(void)replace_setup(state);
	}
	assert_true(late > 0 && refused > late);
}

int main(void)
{
#define fresh(test) cmocka_unit_test_setup_teardown(test, replace_setup, replace_teardown)
	const struct CMUnitTest tests[] = {
		fresh(test_does_a_save_replace_the_image_that_was_read),
		fresh(test_does_a_save_replace_an_image_that_is_mapped_live),
		fresh(test_is_an_insert_lost_whichever_step_of_a_save_it_comes_at),
		fresh(test_does_a_mapper_go_live_in_a_file_that_was_replaced),
		fresh(test_do_two_saves_of_one_image_both_replace_it),
		fresh(test_is_a_mapper_seen_if_the_image_cannot_be_locked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
