/* SPDX-License-Identifier: MIT
 * Images of a growing filter: a head and one member (an image) for each layer. The images are plain
 * or compressed, and are files, streams, memory or maps. Damaged images and images with members of
 * another image are refused. */
#include <errno.h>
#include <sys/mman.h>
#include "../image_bytes.h"
#include "../folder.h"

enum { KEYS = 3000, MEMBERS = 4, ROW = 16 };

static struct weir_filter *made(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.kind = WEIR_GROWING;
	params.capacity = 100;
	params.growing.max_capacity = 8000;
	params.fp_rate = 0.01;
	params.seed = 42;
	assert_ok(weir_create(&f, &params));
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_insert_u64(f, test_key(i)));
	return f;
}

static struct weir_stats exact(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &stats));
	return stats;
}

/* Asserts that both filters give the same answers. If @inserts, they must also grow in the same
 * way. */
static void assert_alike(struct weir_filter *a, struct weir_filter *b, bool inserts)
{
	struct weir_stats x = exact(a), y = exact(b);
	assert_true(x.fill == y.fill && x.bytes == y.bytes && x.capacity == y.capacity &&
	            x.max_capacity == y.max_capacity && x.fp_rate == y.fp_rate);
	for (uint64_t i = 0; i < 2 * KEYS; i++)
		assert_int_equal(weir_contains_u64(a, test_key(i)),
		                 weir_contains_u64(b, test_key(i)));
	for (uint64_t i = KEYS; inserts && i < 4 * KEYS; i++)
		assert_int_equal(weir_insert_u64(a, test_key(i)),
		                 weir_insert_u64(b, test_key(i)));
	assert_true(exact(a).fill == exact(b).fill);
}

static void a_loaded_filter_grows_as_the_saved_one(void **state)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	for (save.zstd_level = 0; save.zstd_level <= TEST_ZSTD; save.zstd_level++) {
		struct weir_filter *f = made(), *loaded = NULL;
		struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
		struct weir_stats stats = WEIR_STATS_INIT;
		assert_ok(weir_save(f, weir_location_path(path), &save));
		assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
		assert_ok(weir_image_inspect(weir_location_path(path), &info));
		assert_int_equal(info.format, 3);
		assert_int_equal(info.shape.kind, WEIR_GROWING);
		assert_true(info.bytes == exact(f).bytes && info.capacity == 100);
		assert_ok(weir_image_measure(weir_location_path(path), WEIR_EXACT, NULL, &stats));
		assert_true(stats.fill == exact(f).fill && stats.max_capacity == 8000);
		assert_ok(weir_load(&loaded, weir_location_path(path), NULL));
		assert_alike(f, loaded, true);
		weir_destroy(f);
		weir_destroy(loaded);
	}
}

static void an_image_can_be_streamed(void **state)
{
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	(void)state;
	for (save.zstd_level = 0; save.zstd_level <= TEST_ZSTD; save.zstd_level++) {
		struct weir_filter *f = made(), *a = NULL, *b = NULL;
		size_t n = 0;
		assert_ok(weir_save(f, weir_location_path(path), &save));
		unsigned char *image = image_slurp(path, &n);
		int fd = memfd_create("stream", 0);
		assert_true(write(fd, "before", 6) == 6);
		assert_ok(weir_save(f, weir_location_fd(fd), &save));
		assert_true(write(fd, "behind", 6) == 6);
		assert_int_equal(lseek(fd, 0, SEEK_END), (off_t)n + 12);
		unsigned char *other = mmap(NULL, n + 12, PROT_READ, MAP_PRIVATE, fd, 0);
		assert_memory_equal(image, other + 6, n); /* the same bytes as in a file */
		assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
		assert_ok(weir_load(&a, weir_location_fd(fd), NULL));
		assert_int_equal(lseek(fd, 0, SEEK_CUR), (off_t)n + 6);
		assert_ok(weir_load(&b, weir_location_memory(image, n), NULL));
		assert_alike(a, b, true);
		weir_destroy(b);
		load.max_bytes = exact(f).bytes - 1;
		assert_refused(weir_load(&b, weir_location_memory(image, n), &load), -EFBIG,
		               "bytes of bits", "max");
		assert_refused(weir_load(&b, weir_location_memory(image, n - 1), NULL), -EBADMSG,
		               "memory", "");
		munmap(other, n + 12);
		close(fd);
		free(image);
		weir_destroy(f);
		weir_destroy(a);
	}
}

static void maps_share_or_extend_the_layers(void **state)
{
	struct weir_filter *f = made(), *m = NULL;
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	for (unsigned fast = 0; fast < 2; fast++) {
		load.no_verify = fast;
		assert_ok(weir_load(&m, weir_location_map(path, WEIR_MAP_READ), &load));
		assert_alike(f, m, false);
		assert_ok(weir_verify(m));
		assert_refused(weir_insert(m, "a", 1), -EROFS, "read-only", "");
		assert_refused(weir_grow_ahead(m), -EROFS, "read-only", "");
		assert_refused(weir_seal(m), -EINVAL, "weir_seal", "");
		weir_destroy(m);
	}
	assert_refused(weir_load(&m, weir_location_map(path, WEIR_MAP_LIVE), NULL), -ENOTSUP,
	               "growing", "live");
	assert_ok(weir_load(&m, weir_location_map(path, WEIR_MAP_PRIVATE), NULL));
	/* the private map appends new layers in its own memory; the file stays as it is */
	assert_alike(f, m, true);
	weir_destroy(m);
	weir_destroy(f);
}

static unsigned calls;
static uint64_t last_done;
static int watch(void *arg, uint64_t done, uint64_t total)
{
	assert_true(done >= last_done && done <= total && total == *(uint64_t *)arg);
	last_done = done;
	calls++;
	return 0;
}

static void progress_counts_all_layers(void **state)
{
	struct weir_filter *f = made(), *loaded = NULL;
	uint64_t bytes = exact(f).bytes;
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	(void)state;
	save.progress = load.progress = watch;
	save.progress_arg = load.progress_arg = &bytes;
	assert_ok(weir_save(f, weir_location_path(path), &save));
	assert_true(calls == MEMBERS && last_done == bytes);
	last_done = 0;
	assert_ok(weir_load(&loaded, weir_location_path(path), &load));
	assert_true(calls == 2 * MEMBERS && last_done == bytes);
	weir_destroy(f);
	weir_destroy(loaded);
}

/* ---- damaged images and members of other images ---- */

static unsigned char *image;
static size_t image_bytes;

static int image_setup(void **state)
{
	struct weir_filter *f = made();
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	image = image_slurp(path, &image_bytes);
	return image == NULL || image[IMAGE_MEMBERS] != MEMBERS;
}

static int image_teardown(void **state)
{
	(void)state;
	free(image);
	return 0;
}

/* Asserts that weir_image_verify() returns the same result as a load. */
static void assert_verified_alike(const unsigned char *bytes, size_t n)
{
	struct weir_filter *f = NULL;
	int fd = memfd_create("image", 0);
	assert_true(write(fd, bytes, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
	int err = weir_load(&f, weir_location_fd(fd), NULL);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(weir_image_verify(weir_location_fd(fd), NULL, NULL), err);
	weir_destroy(f);
	close(fd);
}

/* Asserts that a load fails with a message or returns a filter that works. Return: true if the load
 * failed. */
static bool refused(const unsigned char *bytes, size_t n)
{
	struct weir_filter *f = NULL;
	int err = weir_load(&f, weir_location_memory(bytes, n), NULL);
	assert_true(err || (exact(f).bytes >= 64 && weir_insert(f, "key", 3) >= -ENOSPC));
	assert_true(!err || weir_error_detail()[0]);
	weir_destroy(f);
	assert_verified_alike(bytes, n);
	return err != 0;
}

static void every_changed_byte_of_head_and_table_is_detected(void **state)
{
	static const unsigned char values[] = { 0, 1, 2, 3, 4, 5, 0x10, 0x7f, 0x80, 0xff };
	(void)state;
	for (unsigned at = 0; at < IMAGE_TABLE + MEMBERS * ROW + 40; at++) {
		unsigned char was = image[at];
		bool sums = at >= IMAGE_HEADER_SUM && at < IMAGE_TABLE;
		for (unsigned i = 0; i < COUNT_OF(values); i++) {
			if (test_is_short() && (at + i) % 3 != 0)
				continue;
			image[at] = values[i];
			if (values[i] == was)
				continue;
			assert_true(refused(image, image_bytes));
			image_repair(image, image_bytes);
			(void)refused(image, image_bytes);
			image[at] = was;
			image_repair(image, image_bytes);
			assert_true(sums || !refused(image, image_bytes) || at == 0);
		}
		image[at] = was;
	}
	image_repair(image, image_bytes);
	assert_false(refused(image, image_bytes));
}

static void a_truncated_image_is_refused(void **state)
{
	(void)state;
	for (size_t n = 0; n < image_bytes; n += n % 512 == 0 ? 511 : 1)
		assert_true(refused(image, n));
	assert_false(refused(image, image_bytes));
}

/* Change a field of the head and repair the checksums. Asserts that the load fails with @err and
 * names @name. */
static void head_field(unsigned at, unsigned bytes, uint64_t value, int err, const char *name)
{
	unsigned char was[8];
	struct weir_filter *f = NULL;
	memcpy(was, image + at, bytes);
	for (unsigned i = 0; i < bytes; i++)
		image[at + i] = (unsigned char)(value >> 8 * i);
	image_repair(image, image_bytes);
	assert_refused(weir_load(&f, weir_location_memory(image, image_bytes), NULL), err, name,
	               "");
	assert_verified_alike(image, image_bytes);
	memcpy(image + at, was, bytes);
	image_repair(image, image_bytes);
}

static void each_field_of_the_head_is_checked(void **state)
{
	uint64_t blocks = image_get(image + IMAGE_BLOCKS, 8), length = image_get(image + 96, 8);
	(void)state;
	head_field(8, 4, 4, -ENOTSUP, "format is 4; allowed: 1 to 3");
	head_field(12, 4, WEIR_BLOCKED, -EBADMSG, "not a compound");
	head_field(12, 4, 77, -ENOTSUP, "kind is 77");
	head_field(IMAGE_BLOCKS, 8, blocks + 1, -EBADMSG, "blocks");
	head_field(IMAGE_BLOCKS, 8, blocks - 1, -EBADMSG, "blocks");
	head_field(IMAGE_BLOCKS, 8, 3, -EBADMSG, "blocks");
	head_field(IMAGE_SHARDS, 4, 2, -EBADMSG, "shards");
	head_field(56, 8, 43, -EBADMSG, "seed");
	head_field(IMAGE_GENERATION, 8, 9, -EBADMSG, "generation");
	head_field(IMAGE_MEMBERS, 4, 0, -EBADMSG, "members");
	head_field(IMAGE_MEMBERS, 4, 17, -EBADMSG, "members");
	head_field(IMAGE_MEMBERS, 4, MEMBERS - 1, -EBADMSG, "reserved byte 560");
	head_field(96, 8, length + 1, -EBADMSG, "length");
	head_field(96, 8, 0, -EBADMSG, "length");
	head_field(112, 4, 3, -EBADMSG, "layers"); /* the image has four layers */
	head_field(112, 4, 9, -EBADMSG, "layers is 9: a shape that kind growing does not have");
	head_field(112, 4, 0, -EBADMSG, "layers is 0: a shape that kind growing does not have");
	head_field(104, 4, 1, -EBADMSG, "shape");
	head_field(IMAGE_MARKS, 4, 2, -EBADMSG, "marks");
	head_field(32, 8, 101, -EBADMSG, "capacity");
	head_field(192, 8, 99, -EBADMSG, "max_capacity");
	head_field(200, 8, 1, -EBADMSG, "own");
	head_field(224, 4, 1, -ENOTSUP, "newer weir");
	head_field(IMAGE_TABLE, 8, UINT64_MAX, -EBADMSG, "count");
	head_field(IMAGE_TABLE + 8, 8, 1, -EBADMSG, "commit record");
	head_field(IMAGE_COMMIT, 8, UINT64_C(0x4556494c52494557), -EBADMSG, "live");
}

/* Return: the offset of member @i's image. */
static size_t member_at(unsigned i)
{
	size_t at = IMAGE_PAGE;
	for (; i > 0; i--)
		at += (image_get(image + at + 96, 8) + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
	return at;
}

/* A member must match its row in the table of members, its own checksums and its offset. */
static void members_must_match_the_table(void **state)
{
	size_t first = member_at(0), second = member_at(1);
	struct weir_filter *f = NULL;
	(void)state;
	image[first + IMAGE_GENERATION] ^= 1; /* the member itself is valid */
	image_repair(image + first, image_bytes - first);
	assert_refused(weir_load(&f, weir_location_memory(image, image_bytes), NULL), -EBADMSG,
	               "member 0", "commit record");
	image[first + IMAGE_GENERATION] ^= 1;
	image_repair(image + first, image_bytes - first);
	image[second - 1] ^= 1; /* a padding zero, or a bit of member 0 */
	assert_true(refused(image, image_bytes));
	image[second - 1] ^= 1;
	image[second + IMAGE_PAGE] ^= 1;
	assert_refused(weir_load(&f, weir_location_memory(image, image_bytes), NULL), -EBADMSG,
	               "shard 0", "sum");
	image[second + IMAGE_PAGE] ^= 1;
	head_field((unsigned)first + 12, 4, WEIR_GROWING, -EBADMSG, "header checksum");
	assert_false(refused(image, image_bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loaded_filter_grows_as_the_saved_one),
		cmocka_unit_test(an_image_can_be_streamed),
		cmocka_unit_test(maps_share_or_extend_the_layers),
		cmocka_unit_test(progress_counts_all_layers),
		cmocka_unit_test_setup_teardown(every_changed_byte_of_head_and_table_is_detected,
		                                image_setup,
		                                image_teardown),
		cmocka_unit_test_setup_teardown(a_truncated_image_is_refused,
		                                image_setup, image_teardown),
		cmocka_unit_test_setup_teardown(each_field_of_the_head_is_checked, image_setup,
		                                image_teardown),
		cmocka_unit_test_setup_teardown(members_must_match_the_table,
		                                image_setup, image_teardown),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
