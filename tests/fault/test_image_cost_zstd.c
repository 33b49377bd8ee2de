/* SPDX-License-Identifier: MIT
 * The cost of a hostile compressed image: a frame that unpacks to far more bytes is checked in
 * pieces, and a frame that unpacks to nothing can be stopped. */
#include <zstd.h>
#include "cost.h"

/* Write the length field of a frame, after the frame. */
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

/* Write a frame of @bytes zeros. @window_log: the logarithm of the frame's window; 0: the frame has
 * the default window of the compression level, and declares its size. */
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

/* Save an image that declares @bytes of bits and has a frame with that many zeros. */
static void save_bomb(uint64_t bytes, int window_log)
{
	int fd = declare_head(path, bytes, true, sum_of_zeros(bytes));
	assert_true(fd >= 0);
	write_at_end(fd, "12345678", 8);
	put_prefix(fd, write_frame(fd, bytes, window_log));
	close(fd);
}

static void test_a_frame_of_several_pieces(void **state)
{
	const uint64_t bytes = 3 * MIB + 320;
	unsigned char *bits = random_bits(bytes), *frame = malloc(2 * bytes);
	(void)state;
	assert_non_null(frame);
	memset(bits + MIB, 0, MIB); /* this part can be compressed */
	size_t n = ZSTD_compress(frame, 2 * bytes, bits, bytes, 3);
	int fd = declare_head(path, bytes, true, XXH3_64bits(bits, bytes));
	assert_true(fd >= 0);
	write_at_end(fd, "12345678", 8);
	write_at_end(fd, frame, n);
	put_prefix(fd, n);
	close(fd);
	assert_image_bits(bits, bytes, true);
	assert_int_equal(truncate(path, (off_t)(IMAGE_PAGE + n / 2)), 0);
	assert_refused(weir_image_verify(weir_location_path(path), NULL, NULL), -EBADMSG, path,
	               "ends at byte");
	free(frame);
	free(bits);
}

static void check_bomb(void)
{
	struct stop stop = { .most_calls = 0 };
	struct weir_load_options o = counted(&stop);
	must(weir_image_verify(weir_location_path(path), &o, NULL) == 0);
	must(stop.done == 256 * MIB && stop.longest <= MIB);
	o.max_bytes = 255 * MIB;
	must(weir_image_verify(weir_location_path(path), &o, NULL) == -EFBIG);
}

/* Although the image unpacks to 256 MiB, its check takes less than 16 MiB of memory. */
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
	must(weir_load(&f, weir_location_path(path), &o) == -ECANCELED && !f);
	must(stop.done <= 3 * MIB);
}

static void test_unpacking_touches_only_bytes_that_were_read(void **state)
{
	(void)state;
	save_bomb(256 * MIB, 0);
	within(load_bomb, 0, 24 * MIB);
}

static void check_window(void)
{
	must(weir_image_verify(weir_location_path(path), NULL, NULL) == -EBADMSG);
	must(strstr(weir_error_detail(), "window") && strstr(weir_error_detail(), path));
}

/* The zstd levels that weir uses need no window above 8 MiB. But a frame may declare a window of
 * 3.75 TiB. */
static void test_a_large_window_is_refused(void **state)
{
	(void)state;
	save_bomb(32 * MIB, 23);
	assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
	save_bomb(32 * MIB, 24);
	within(check_window, 0, 16 * MIB);
}

/* zstd decodes the zeros of a sparse file as empty blocks. In the first round such blocks stand in
 * place of the shard's bits. In the second round they follow the shard's bits. */
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
		assert_refused(weir_image_verify(weir_location_path(path), &o, NULL), -ECANCELED,
		               "stopped", "");
		/* the last piece is never reported, because the frame does not end */
		assert_int_equal(stop.done, full ? bytes - MIB : 0);
		assert_refused(weir_image_verify(weir_location_path(path), NULL, NULL), -EBADMSG,
		               path, "cut off");
	}
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_frame_of_several_pieces),
		cmocka_unit_test(test_a_compressed_image_is_checked_in_pieces),
		cmocka_unit_test(test_unpacking_touches_only_bytes_that_were_read),
		cmocka_unit_test(test_a_large_window_is_refused),
		cmocka_unit_test(test_empty_blocks_can_be_stopped),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
