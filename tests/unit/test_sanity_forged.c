/* SPDX-License-Identifier: MIT
 * A refresh samples random places of an image, so that a forger cannot leave exactly the sampled
 * places empty. weir_measure() samples fixed places, so that figures can be compared over time. */
#include "../folder.h"
#include "../forged.h"
#include "../handles.h"

static struct weir_handle *h;

static int setup(void **state)
{
	(void)folder_setup(state);
	h = open_handle(flavors, 10000);
	insert_into(h, 0, 100);
	return 0;
}

static int teardown(void **state)
{
	close_handle(flavors, h);
	return folder_teardown(state);
}

static void is_refused(void)
{
	assert_refused(weir_handle_refresh(h, path, NULL), -ECANCELED, path, "overfull");
	/* the handle remembers that it refused this file */
	assert_int_equal(weir_handle_refresh(h, path, NULL), 0);
	assert_int_equal(missing_in(h, 0, 100), 0);
}

/* weir_measure() would sample only the start of each shard. */
static void test_overfull_except_at_the_start_of_each_shard(void **state)
{
	(void)state;
	assert_true(forge_image(path, 4000000) <= 256);
	is_refused();
}

/* weir_measure() would sample only the start of some shards. */
static void test_overfull_except_at_the_start_of_some_shards(void **state)
{
	(void)state;
	assert_true(forge_image(path, 60000000) > 256);
	is_refused();
}

/* weir_measure() would sample only the empty shards. */
static void test_overfull_except_in_some_shards(void **state)
{
	size_t n = 0;
	(void)state;
	uint64_t shards = forge_image(path, 60000000), step = shards / 256;
	unsigned char *image = image_slurp(path, &n);
	assert_non_null(image);
	uint64_t bytes = 64 * image_get(image + IMAGE_BLOCKS, 8) / shards;
	assert_true(step > 1);
	for (uint64_t i = 0; i < shards; i += step)
		memset(image + image_get(image + IMAGE_BITS, 8) + i * bytes, 0, bytes);
	image_repair_table(image, n);
	image_repair(image, n);
	assert_true(image_spit(path, image, n));
	free(image);
	is_refused();
}

static void test_measuring_again_gives_equal_figures(void **state)
{
	struct weir_stats a = WEIR_STATS_INIT, b = WEIR_STATS_INIT;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 4000000, 0.01);
	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_measure(f, WEIR_SAMPLED, &a));
	for (unsigned turn = 0; turn < 10; turn++) {
		assert_ok(weir_measure(f, WEIR_SAMPLED, &b));
		assert_true(a.sampled < 1 && a.keys_estimated == b.keys_estimated);
	}
	weir_destroy(f);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_overfull_except_at_the_start_of_each_shard),
		fresh(test_overfull_except_at_the_start_of_some_shards),
		fresh(test_overfull_except_in_some_shards),
		fresh(test_measuring_again_gives_equal_figures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
