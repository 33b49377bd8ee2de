/* SPDX-License-Identifier: MIT
 * What a hostile image costs: memory and time follow from the bytes that have come, not from what
 * the image declares. Sizes are declared by sparse files and by compression. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#if TEST_ZSTD
#include <zstd.h>
#endif
#include "../declared.h"
#include "../folder.h"

static const uint64_t KIB = 1 << 10, MIB = 1 << 20, GIB = 1 << 30;

/* A progress function that stops when it has been called so often. */
struct stop {
	uint64_t calls, most_calls;
	uint64_t done, longest; /* bytes reported, the longest step */
};

static int count(void *arg, uint64_t done, uint64_t total)
{
	struct stop *stop = arg;
	assert_true(done <= total && done >= stop->done);
	if (done - stop->done > stop->longest)
		stop->longest = done - stop->done;
	stop->done = done;
	return ++stop->calls == stop->most_calls;
}

static struct weir_load_options counted(struct stop *stop)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.progress = count;
	o.progress_arg = stop;
	return o;
}

static uint64_t address_space(void)
{
	unsigned long long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");
	if (statm && fscanf(statm, "%llu", &pages) != 1)
		pages = 0;
	if (statm)
		fclose(statm);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t most_resident(void)
{
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return (uint64_t)used.ru_maxrss * KIB;
}

/* Run in a child, so that what it takes is counted from zero, with @room bytes of address space
 * more than now, if that is not 0. It must take less than @memory. */
static void within(void (*run)(void), uint64_t room, uint64_t memory)
{
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct rlimit limit = { address_space() + room, RLIM_INFINITY };
		uint64_t before = most_resident();
		if (room && setrlimit(RLIMIT_AS, &limit))
			_exit(2);
		run();
		uint64_t taken = most_resident() - before;
		if (taken >= memory)
			print_error("%llu KiB of memory were taken\n",
			            (unsigned long long)(taken / KIB));
		_exit(taken >= memory);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* In a child an assertion that fails must end it: cmocka would go on with the next test. */
#define must(condition) \
	do { \
		if (!(condition)) { \
			print_error("%s:%d: not so: %s (\"%s\")\n", __FILE__, __LINE__, \
			            #condition, weir_error_detail()); \
			_exit(1); \
		} \
	} while (0)

static void check_sparse(void)
{
	struct weir_filter *f = NULL;
	for (unsigned how = 0; how < 3; how++) {
		struct stop stop = { .most_calls = 64 };
		struct weir_load_options o = counted(&stop);
		int err = how == 0 ? weir_image_verify(path, &o) :
		          how == 1 ? weir_map(&f, path, WEIR_MAP_READ, &o) :
		                     weir_map(&f, path, WEIR_MAP_PRIVATE, &o);
		must(err == -ECANCELED && !f);
		must(stop.calls == 64 && stop.done == 64 * MIB && stop.longest == MIB);
	}
}

/* One shard of 4 GiB was read through 4 GiB of memory. */
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
		must(weir_load(&f, path, &o) == -ECANCELED && !f);
		must(stop.done == 2 * MIB);
	}
}

/* WEIR_PREFAULT touched all that was declared before the first byte was read. */
static void test_loading_touches_what_has_come(void **state)
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
	assert_ok(weir_save(f, path, NULL));
	assert_ok(weir_image_verify(path, NULL));
	o.flags = WEIR_PREFAULT;
	assert_refused(weir_image_verify(path, &o), -EINVAL, "flags 0x4", "weir_image_verify");
	o.flags = 0, o.no_verify = true;
	assert_refused(weir_image_verify(path, &o), -EINVAL, "no_verify 1", "");
	o.no_verify = false, o.memory_bytes = 5;
	assert_refused(weir_image_verify(path, &o), -EINVAL, "memory_bytes 5", "");
	o.memory_bytes = 0, o.memory = fds;
	assert_refused(weir_image_verify(path, &o), -EINVAL, "memory", "keeps nothing");
	o.memory = NULL, o.struct_size = 3;
	assert_refused(weir_image_verify(path, &o), -EINVAL, "struct_size 3", "");
	o.struct_size = sizeof o, o.max_bytes = 100000;
	assert_refused(weir_image_verify(path, &o), -EFBIG, path, "max_bytes");
	assert_refused(weir_image_verify(NULL, NULL), -EINVAL, "path is NULL", "");
	assert_refused(weir_image_verify(folder, NULL), -EISDIR, folder, "");
	assert_refused(weir_image_verify_fd(-1, NULL), -EBADF, "file descriptor -1", "");
	assert_int_equal(pipe(fds), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(weir_save_fd(f, fds[1], NULL) || write(fds[1], "x", 1) != 1);
	close(fds[1]);
	assert_ok(weir_image_verify_fd(fds[0], NULL));
	assert_int_equal(read(fds[0], &o, 1), 1); /* what follows the image is not taken */
	assert_int_equal(waitpid(child, &fds[1], 0), child);
	close(fds[0]);
	assert_int_equal(truncate(path, 20000), 0);
	assert_refused(weir_image_verify(path, NULL), -EBADMSG, path, "length");
	assert_ok(weir_save(f, path, NULL));
	weir_destroy(f);
	assert_ok(weir_map(&f, path, WEIR_MAP_LIVE, NULL));
	assert_refused(weir_image_verify(path, NULL), -EBUSY, path, "live");
	weir_destroy(f);
}

#if TEST_ZSTD
/* The length of a frame, once it is there. */
static void put_prefix(int fd, uint64_t n)
{
	unsigned char prefix[8];
	image_put64(prefix, n);
	assert_int_equal(pwrite(fd, prefix, 8, IMAGE_PAGE), 8);
}

static void write_at_end(int fd, const void *bytes, size_t n)
{
	assert_int_equal(write(fd, bytes, n), n);
}

/* A frame of zeros. @window_log: 0: the level's, and the frame has the size of its content. */
static uint64_t write_frame(int fd, uint64_t bytes, int window_log)
{
	static unsigned char zeros[1 << 16], packed[1 << 18];
	ZSTD_CCtx *context = ZSTD_createCCtx();
	uint64_t n = 0;
	if (window_log)
		ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
	else
		ZSTD_CCtx_setPledgedSrcSize(context, bytes);
	for (uint64_t at = 0; at < bytes; at += sizeof zeros) {
		ZSTD_inBuffer in = { zeros, sizeof zeros, 0 };
		ZSTD_outBuffer out = { packed, sizeof packed, 0 };
		bool last = at + sizeof zeros >= bytes;
		size_t left = ZSTD_compressStream2(context, &out, &in,
		                                   last ? ZSTD_e_end : ZSTD_e_continue);
		assert_false(ZSTD_isError(left) || (last && left) || in.pos < in.size);
		write_at_end(fd, packed, out.pos);
		n += out.pos;
	}
	ZSTD_freeCCtx(context);
	return n;
}

static uint64_t sum_of_zeros(uint64_t bytes)
{
	static unsigned char zeros[1 << 16];
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	for (uint64_t at = 0; at < bytes; at += sizeof zeros)
		XXH3_64bits_update(&state, zeros, sizeof zeros);
	return XXH3_64bits_digest(&state);
}

/* Declares @bytes of bits and has a frame of so many zeros. */
static void save_bomb(uint64_t bytes, int window_log)
{
	int fd = declare_head(path, bytes, true, sum_of_zeros(bytes));
	assert_true(fd >= 0);
	write_at_end(fd, "12345678", 8);
	put_prefix(fd, write_frame(fd, bytes, window_log));
	close(fd);
}

static void check_bomb(void)
{
	struct stop stop = { .most_calls = 0 };
	struct weir_load_options o = counted(&stop);
	must(weir_image_verify(path, &o) == 0);
	must(stop.done == 256 * MIB && stop.longest <= MIB);
	o.max_bytes = 255 * MIB;
	must(weir_image_verify(path, &o) == -EFBIG);
}

/* 36 KiB that unpack to 1 GiB were checked in 1 GiB of memory. */
static void test_a_compressed_image_is_checked_in_pieces(void **state)
{
	struct stat st;
	(void)state;
	save_bomb(256 * MIB, 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size < 64 << 10);
	within(check_bomb, 48 * MIB, 16 * MIB);
}

static void load_bomb(void)
{
	struct weir_filter *f = NULL;
	struct stop stop = { .most_calls = 3 };
	struct weir_load_options o = counted(&stop);
	o.flags = WEIR_PREFAULT;
	must(weir_load(&f, path, &o) == -ECANCELED && !f);
	must(stop.done <= 3 * MIB);
}

static void test_unpacking_touches_what_has_come(void **state)
{
	(void)state;
	save_bomb(256 * MIB, 0);
	within(load_bomb, 0, 24 * MIB);
}

static void check_window(void)
{
	must(weir_image_verify(path, NULL) == -EBADMSG);
	must(strstr(weir_error_detail(), "window") && strstr(weir_error_detail(), path));
}

/* weir's own levels need no window above 8 MiB; a frame may declare one of 3.75 TiB. */
static void test_a_large_window_is_refused(void **state)
{
	(void)state;
	save_bomb(32 * MIB, 23);
	assert_ok(weir_image_verify(path, NULL));
	save_bomb(32 * MIB, 24);
	within(check_window, 0, 16 * MIB);
}

/* A frame of blocks that are empty, as a sparse file of zeros reads: before any bit, or after the
 * last. */
static void test_empty_blocks_can_be_stopped(void **state)
{
	const unsigned char start[] = { 0x28, 0xb5, 0x2f, 0xfd, 0, 0x38 };
	const unsigned char zeros[] = { 2, 0, 0x10, 0 }; /* a block of 128 KiB */
	const uint64_t bytes = 16 * MIB;
	(void)state;
	for (unsigned full = 0; full < 2; full++) {
		struct stop stop = { .most_calls = 60 };
		struct weir_load_options o = counted(&stop);
		int fd = declare_head(path, bytes, true, sum_of_zeros(bytes));
		assert_true(fd >= 0);
		write_at_end(fd, "12345678", 8);
		write_at_end(fd, start, sizeof start);
		for (uint64_t at = 0; full && at < bytes; at += 128 * KIB)
			write_at_end(fd, zeros, sizeof zeros);
		put_prefix(fd, bytes);
		assert_int_equal(ftruncate(fd, (off_t)(IMAGE_PAGE + 8 + bytes)), 0);
		close(fd);
		assert_refused(weir_image_verify(path, &o), -ECANCELED, "stopped", "");
		/* what is not whole was never reported as done */
		assert_int_equal(stop.done, full ? bytes - MIB : 0);
		assert_refused(weir_image_verify(path, NULL), -EBADMSG, path, "cut off");
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_shard_is_checked_in_pieces),
		cmocka_unit_test(test_loading_touches_what_has_come),
		cmocka_unit_test(test_verify_options),
#if TEST_ZSTD
		cmocka_unit_test(test_a_compressed_image_is_checked_in_pieces),
		cmocka_unit_test(test_unpacking_touches_what_has_come),
		cmocka_unit_test(test_a_large_window_is_refused),
		cmocka_unit_test(test_empty_blocks_can_be_stopped),
#endif
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
