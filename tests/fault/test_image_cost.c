/* SPDX-License-Identifier: MIT
 * The cost of a hostile image: memory and time depend on the bytes that were read, not on the sizes
 * that a sparse file declares. */
#include "cost.h"

static const uint64_t GIB = 1 << 30;

static void check_sparse(void)
{
	struct weir_filter *f = NULL;
	for (unsigned how = 0; how < 3; how++) {
		struct stop stop = { .most_calls = 64 };
		struct weir_load_options o = counted(&stop);
		int err = how == 0 ? weir_image_verify(weir_location_path(path), &o, NULL) :
		          how == 1 ? weir_load(&f, weir_location_map(path, WEIR_MAP_READ), &o) :
		                     weir_load(&f, weir_location_map(path, WEIR_MAP_PRIVATE), &o);
		must(err == -ECANCELED && !f);
		must(stop.calls == 64 && stop.done == 64 * MIB && stop.longest == MIB);
	}
}

/* A check of a shard of 4 GiB takes less than 16 MiB of memory. */
static void test_a_shard_is_checked_in_pieces(void **state)
{
	(void)state;
	assert_true(declare_image(path, 4 * GIB));
	within(check_sparse, 32 * MIB, 16 * MIB);
}

static void load_sparse(void)
{
	struct weir_filter *f = NULL;
	for (unsigned prefault = 0; prefault < 2; prefault++) {
		struct stop stop = { .most_calls = 2 };
		struct weir_load_options o = counted(&stop);
		o.flags = prefault ? WEIR_PREFAULT : 0;
		must(weir_load(&f, weir_location_path(path), &o) == -ECANCELED && !f);
		must(stop.done == 2 * MIB);
	}
}

/* A load touches only the memory of the bytes that it has read, even with WEIR_PREFAULT. */
static void test_loading_touches_only_bytes_that_were_read(void **state)
{
	(void)state;
	assert_true(declare_image(path, GIB));
	within(load_sparse, 0, 16 * MIB);
}

static void test_verify_options(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 200000, 0.01);
	int fds[2];
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
	o.flags = WEIR_PREFAULT;
	assert_refused(weir_image_verify(weir_location_path(path), &o, NULL), -EINVAL, "flags 0x4",
	               "weir_image_verify");
	o.flags = 0, o.no_verify = true;
	assert_refused(weir_image_verify(weir_location_path(path), &o, NULL), -EINVAL,
	               "no_verify 1", "");
	o.no_verify = false, o.memory_bytes = 5;
	assert_refused(weir_image_verify(weir_location_path(path), &o, NULL), -EINVAL,
	               "memory_bytes 5", "");
	o.memory_bytes = 0, o.memory = fds;
	assert_refused(weir_image_verify(weir_location_path(path), &o, NULL), -EINVAL, "memory",
	               "keeps nothing");
	o.memory = NULL, o.struct_size = 3;
	assert_refused(weir_image_verify(weir_location_path(path), &o, NULL), -EINVAL,
	               "struct_size 3", "");
	o.struct_size = sizeof o, o.max_bytes = 100000;
	assert_refused(weir_image_verify(weir_location_path(path), &o, NULL), -EFBIG, path,
	               "max_bytes");
	assert_refused(weir_image_verify(weir_location_path(NULL), NULL, NULL), -EINVAL,
	               "path is NULL", "");
	assert_refused(weir_image_verify(weir_location_path(folder), NULL, NULL), -EISDIR, folder,
	               "");
	assert_refused(weir_image_verify(weir_location_fd(-1), NULL, NULL), -EBADF,
	               "file descriptor -1", "");
	assert_int_equal(pipe(fds), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(weir_save(f, weir_location_fd(fds[1]), NULL) < 0 ||
		      write(fds[1], "x", 1) != 1);
	close(fds[1]);
	assert_ok(weir_image_verify(weir_location_fd(fds[0]), NULL, NULL));
	assert_int_equal(read(fds[0], &o, 1), 1); /* the bytes behind the image are still unread */
	assert_int_equal(waitpid(child, &fds[1], 0), child);
	close(fds[0]);
	assert_int_equal(truncate(path, 20000), 0);
	assert_refused(weir_image_verify(weir_location_path(path), NULL, NULL), -EBADMSG, path,
	               "length");
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_refused(weir_image_verify(weir_location_path(path), NULL, NULL), -EBUSY, path,
	               "live");
	weir_destroy(f);
}

static void test_a_shard_of_several_pieces(void **state)
{
	const uint64_t bytes = 3 * MIB + 320;
	unsigned char *bits = random_bits(bytes);
	(void)state;
	int fd = declare_head(path, bytes, false, XXH3_64bits(bits, bytes));
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bits, bytes), bytes);
	close(fd);
	assert_image_bits(bits, bytes, false);
	free(bits);
}

/* Untouched pages take no memory, so only the copy that the save makes takes memory. */
static void save_one_shard(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.fp_rate = 0.01;
	p.max_bytes = 64 * MIB;
	p.shards = 1;
	p.flags = WEIR_NO_HUGE_PAGES;
	must(weir_create(&f, &p) == 0);
	must(weir_save(f, weir_location_path(path), NULL) > 0);
	weir_destroy(f);
}

static void test_a_shard_is_saved_in_pieces(void **state)
{
	(void)state;
	within(save_one_shard, 0, 24 * MIB);
	unlink(path);
}

/* A large mapping takes extra address space for its alignment. The extra space must be unmapped
 * completely. */
static void test_a_large_mapping_is_released(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 3000000, 0.01);
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	uint64_t before = address_space();
	for (unsigned i = 0; i < 20; i++) {
		assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
		weir_destroy(f);
	}
	assert_true(address_space() < before + 2 * MIB);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_shard_is_checked_in_pieces),
		cmocka_unit_test(test_loading_touches_only_bytes_that_were_read),
		cmocka_unit_test(test_a_shard_of_several_pieces),
		cmocka_unit_test(test_a_shard_is_saved_in_pieces),
		cmocka_unit_test(test_verify_options),
		cmocka_unit_test(test_a_large_mapping_is_released),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
