/* SPDX-License-Identifier: MIT
 * The disk space of an image: its bits and at most 64 KiB, however the image was written. The
 * padding before the bits is a hole, which reads as zeros and which no live mapping touches. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <weir/inline.h>
#include "../folder.h"
#include "../image_bytes.h"

enum { KIB = 1 << 10, MIB = 1 << 20, HEAD_MOST = 64 * KIB, FEW = 1000 };

static const uint64_t sizes[] = { MIB, 298 * (MIB / 100), 5 * MIB };
static char other[4200], delta[4200];

static uint64_t on_disk(const char *name)
{
	struct stat st;
	assert_int_equal(stat(name, &st), 0);
	return 512 * (uint64_t)st.st_blocks;
}

static bool has_holes(void)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(pwrite(fd, "x", 1, MIB), 1);
	assert_int_equal(fsync(fd), 0);
	close(fd);
	bool has = on_disk(path) < HEAD_MOST;
	assert_int_equal(unlink(path), 0);
	return has;
}

static int setup(void **state)
{
	(void)folder_setup(state);
	snprintf(other, sizeof other, "%s/other.weir", folder);
	snprintf(delta, sizeof delta, "%s/delta", folder);
	return 0;
}

/* Return: a filter with about @bytes of bits. The filter has FEW keys, or is full if its kind is
 * built once from all keys. */
static struct weir_filter *sized(uint32_t kind, uint64_t bytes)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	params.kind = kind;
	params.capacity = 100000;
	params.fp_rate = 0.01;
	assert_ok(weir_plan_make(&params, &plan));
	const uint64_t capacity = params.capacity * bytes / plan.bytes;
	struct weir_filter *f = test_filter(kind, capacity, params.fp_rate);
	const size_t n = weir_kind_can(kind, WEIR_CAN_BUILD) ? capacity : FEW;
	uint64_t *hashes = malloc(n * sizeof *hashes);
	assert_non_null(hashes);
	for (size_t i = 0; i < n; i++)
		hashes[i] = test_key(i);
	assert_ok(test_fill(&f, hashes, n));
	free(hashes);
	return f;
}

/* ---- ways to write an image ---- */

static void assert_small(const char *name, const char *how)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_inspect(weir_location_path(name), &info));
	const uint64_t taken = on_disk(name);
	if (taken > info.bytes + HEAD_MOST)
		fail_msg("%s: an image of kind %u with %llu bytes of bits takes %llu", how,
		         info.shape.kind, (unsigned long long)info.bytes,
		         (unsigned long long)taken);
	assert_ok(weir_image_verify(weir_location_path(name), NULL, NULL));
}

/* Check that the image at other takes little disk space and equals the image at path. Then remove
 * the image at other. */
static void assert_same(const char *how)
{
	size_t n = 0, m = 1;
	unsigned char *a = image_slurp(path, &n), *b = image_slurp(other, &m);
	assert_small(other, how);
	assert_true(a && b && n == m && memcmp(a, b, n) == 0);
	free(a);
	free(b);
	assert_int_equal(unlink(other), 0);
}

static void by_save(const struct weir_filter *f)
{
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_small(path, "weir_save");
}

static void by_descriptor(void)
{
	int fd = open(other, O_RDWR | O_CREAT, 0600);
	assert_ok(weir_image_copy(weir_location_fd(fd), weir_location_path(path), NULL, NULL));
	assert_int_equal(fsync(fd), 0);
	close(fd);
	assert_same("a descriptor");
}

static void by_copy(void)
{
	assert_ok(weir_image_copy(weir_location_path(other), weir_location_path(path), NULL, NULL));
	assert_same("weir_image_copy");
}

static void by_delta(void)
{
#if TEST_ZSTD
	const char *deltas[] = { delta };
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	assert_ok(weir_delta_save(weir_location_path(delta), weir_location_path(path),
	                          weir_location_path(path), NULL));
	assert_ok(weir_image_copy(weir_location_path(other),
	                          weir_location_chain(path, deltas, 1), NULL, NULL));
	assert_same("a delta");
	o.zstd_level = 1;
	assert_ok(weir_image_copy(weir_location_path(delta), weir_location_path(path), NULL, &o));
	assert_small(delta, "compressing");
	assert_ok(weir_image_copy(weir_location_path(other), weir_location_path(delta), NULL,
	                          NULL));
	assert_same("unpacking");
	assert_int_equal(unlink(delta), 0);
#endif
}

static void by_merge(struct weir_filter *f)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *both;
	if (!weir_can(f, WEIR_CAN_MERGE))
		return;
	assert_ok(weir_params_of(f, &params));
	assert_ok(weir_create(&both, &params));
	assert_ok(weir_merge(both, f));
	assert_ok(weir_save(both, weir_location_path(other), NULL));
	weir_destroy(both);
	assert_small(other, "a merge");
	assert_int_equal(unlink(other), 0);
}

static void by_live(uint32_t kind)
{
	struct weir_filter *live = NULL;
	if (!weir_kind_can(kind, WEIR_CAN_MAP_LIVE))
		return;
	assert_ok(weir_load(&live, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	for (uint64_t i = 0; i < FEW; i++)
		assert_true(weir_insert_hash(live, test_key(FEW + i)) >= 0);
	assert_ok(weir_seal(live));
	weir_destroy(live);
	assert_small(path, "a live mapping");
}

static void test_an_image_takes_its_bits_on_the_disk(void **state)
{
	(void)state;
	if (!has_holes())
		skip();
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (size_t s = 0; s < COUNT_OF(sizes); s++) {
			struct weir_filter *f = sized(test_kinds[k], sizes[s]);
			by_save(f);
			by_copy();
			by_descriptor();
			by_delta();
			by_merge(f);
			weir_destroy(f);
			by_live(test_kinds[k]);
			assert_int_equal(unlink(path), 0);
		}
}

/* In a growing filter of several layers, each layer has its own padding. */
static void test_each_member_takes_its_bits_on_the_disk(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_filter *f;
	(void)state;
	if (!has_holes())
		skip();
	params.kind = WEIR_GROWING;
	params.capacity = 500000;
	params.fp_rate = 0.01;
	params.seed = 42;
	assert_ok(weir_create(&f, &params));
	for (uint64_t i = 0; i < 3000000; i++)
		assert_true(weir_insert_hash(f, test_key(i)) >= 0);
	by_save(f);
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_true(info.file_bytes > info.bytes + 2 * MIB);
	by_copy();
	by_descriptor();
	by_delta();
	weir_destroy(f);
	assert_int_equal(unlink(path), 0);
}

/* ---- files that must get no hole ---- */

/* The old bytes of the file would show through a hole. */
static void test_no_hole_over_old_bytes_or_behind_an_append(void **state)
{
	static unsigned char old[4 * MIB];
	struct weir_filter *f = sized(WEIR_BLOCKED, sizes[1]);
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	memset(old, 0xa5, sizeof old);
	assert_true(image_spit(other, old, sizeof old));
	int fd = open(other, O_RDWR);
	assert_ok(weir_save(f, weir_location_fd(fd), NULL));
	close(fd);
	size_t n = 0, m = 0;
	unsigned char *a = image_slurp(path, &n), *b = image_slurp(other, &m);
	assert_true(n == m && memcmp(a, b, n) == 0);
	free(b);
	assert_true(image_spit(other, "before", 6));
	fd = open(other, O_RDWR | O_APPEND);
	assert_ok(weir_save(f, weir_location_fd(fd), NULL));
	close(fd);
	b = image_slurp(other, &m);
	assert_true(m == n + 6 && memcmp(b, "before", 6) == 0 && memcmp(a, b + 6, n) == 0);
	free(a);
	free(b);
	weir_destroy(f);
	assert_int_equal(unlink(other) + unlink(path), 0);
}

static void test_a_pipe_gets_the_zeros(void **state)
{
	struct weir_filter *f = sized(WEIR_BLOCKED, sizes[1]);
	int pipes[2], status;
	size_t n = 0;
	ssize_t got = 1;
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(weir_save(f, weir_location_fd(pipes[1]), NULL) < 0);
	weir_destroy(f);
	close(pipes[1]);
	unsigned char *a = image_slurp(path, &n), *b = malloc(n + 1);
	size_t m = 0;
	while (got > 0 && m <= n) {
		got = read(pipes[0], b + m, n + 1 - m);
		m += got > 0 ? (size_t)got : 0;
	}
	close(pipes[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(n == m && memcmp(a, b, n) == 0);
	free(a);
	free(b);
	assert_int_equal(unlink(path), 0);
}

/* ---- the padding stays a hole that nothing writes to ---- */

static void test_a_live_mapping_never_touches_the_padding(void **state)
{
	struct weir_filter *f = sized(WEIR_BLOCKED, sizes[1]), *live = NULL;
	struct weir_inline view;
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_ok(weir_load(&live, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_ok(weir_inline_init(&view, live));
	unsigned char *padding = (unsigned char *)view.words - 2 * MIB + HEAD_MOST;
	assert_int_equal(mprotect(padding, 2 * MIB - HEAD_MOST, PROT_NONE), 0);
	for (uint64_t i = 0; i < 100 * FEW; i++)
		assert_true(weir_insert_hash(live, test_key(i)) >= 0);
	assert_ok(weir_seal(live));
	weir_destroy(live);
	assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
	assert_int_equal(unlink(path), 0);
}

/* The head and a table of 1024 shards end in the third page. The page cache may hold four pages as
 * one folio, so the hole must not begin before the end of the fourth page. */
static void test_the_hole_begins_at_a_power_of_two(void **state)
{
	struct weir_filter *f = sized(WEIR_BLOCKED, 65 * MIB);
	struct weir_stats s = WEIR_STATS_INIT;
	(void)state;
	if (!has_holes())
		skip();
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	assert_int_equal(s.shards, 1024);
	by_save(f);
	weir_destroy(f);
	int fd = open(path, O_RDONLY);
	const off_t hole = lseek(fd, 0, SEEK_HOLE);
	close(fd);
	assert_true(hole >= 4 * 4096 && (hole & (hole - 1)) == 0);
	assert_int_equal(unlink(path), 0);
}

/* Evict the image's pages from the page cache, as memory pressure does. Later reads may bring large
 * folios, and a write to a folio allocates disk space for the whole folio. */
static void evict(unsigned char *image, uint64_t n)
{
	enum { PAGEOUT = 21 }; /* MADV_PAGEOUT, Linux 5.4 */
	int fd = open(path, O_RDONLY);
	assert_int_equal(msync(image, n, MS_SYNC), 0);
	(void)madvise(image, n, PAGEOUT);
	assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	close(fd);
}

static void test_an_evicted_head_is_written_without_the_padding(void **state)
{
	struct weir_filter *f = sized(WEIR_BLOCKED, sizes[1]), *live = NULL;
	struct weir_inline view;
	(void)state;
	if (!has_holes())
		skip();
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_ok(weir_load(&live, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_ok(weir_inline_init(&view, live));
	evict((unsigned char *)view.words - 2 * MIB, 4 * MIB);
	assert_ok(weir_seal(live));
	weir_destroy(live);
	assert_small(path, "a seal after an eviction");
	assert_int_equal(unlink(path), 0);
}

/* weir_verify(), weir_load() and weir_image_verify() notice a byte in the hole that is not 0. */
static void test_a_byte_in_the_hole_is_found(void **state)
{
	struct weir_filter *f = sized(WEIR_BLOCKED, sizes[1]), *mapped = NULL, *none = NULL;
	static const char where[] = "reserved byte 1048576 holds 7";
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_ok(weir_load(&mapped, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_ok(weir_verify(mapped));
	assert_true(image_flip(path, MIB, 7));
	assert_refused(weir_verify(mapped), -EBADMSG, path, where);
	weir_destroy(mapped);
	assert_refused(weir_load(&none, weir_location_map(path, WEIR_MAP_LIVE), NULL), -EBADMSG,
	               path, where);
	assert_refused(weir_load(&none, weir_location_path(path), NULL), -EBADMSG, path, where);
	assert_refused(weir_image_verify(weir_location_path(path), NULL, NULL), -EBADMSG, path,
	               where);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_image_takes_its_bits_on_the_disk),
		cmocka_unit_test(test_each_member_takes_its_bits_on_the_disk),
		cmocka_unit_test(test_no_hole_over_old_bytes_or_behind_an_append),
		cmocka_unit_test(test_a_pipe_gets_the_zeros),
		cmocka_unit_test(test_a_live_mapping_never_touches_the_padding),
		cmocka_unit_test(test_the_hole_begins_at_a_power_of_two),
		cmocka_unit_test(test_an_evicted_head_is_written_without_the_padding),
		cmocka_unit_test(test_a_byte_in_the_hole_is_found),
	};
	return cmocka_run_group_tests(tests, setup, folder_teardown);
}
