/* SPDX-License-Identifier: MIT
 * A folder of images for a web server: what is put there has the same bytes, and its padding stays
 * a hole. */
#include <sys/mman.h>
#include "../../folder.h"
#include "../../image_bytes.h"
#include "redis/redis.h"

enum { MIB = 1 << 20 };

static void test_a_hole_stays_one_in_the_folder(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 3000000, 0.01);
	struct stat st;
	size_t n = 0;
	int fd = memfd_create("image", 0);
	(void)state;
	assert_ok(weir_insert_hash(f, 1));
	const int64_t bytes = weir_save(f, weir_location_fd(fd), NULL);
	assert_ok(bytes);
	weir_destroy(f);
	assert_ok(weir__folder_put(folder, "set.weir", fd, (uint64_t)bytes));
	unsigned char *there = image_slurp(path, &n), *image = malloc((size_t)bytes);
	assert_int_equal(n, bytes);
	assert_int_equal(pread(fd, image, n, 0), bytes);
	assert_memory_equal(there, image, n);
	free(there);
	free(image);
	assert_int_equal(fstat(fd, &st), 0);
	const uint64_t in_memory = 512 * (uint64_t)st.st_blocks;
	assert_int_equal(stat(path, &st), 0);
	assert_true(in_memory < n - MIB);
	if (512 * (uint64_t)st.st_blocks >= n - MIB) { /* only on a file system without holes */
		assert_int_equal(truncate(path, 0) + truncate(path, MIB), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_blocks > 0);
	}
	close(fd);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_hole_stays_one_in_the_folder),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
