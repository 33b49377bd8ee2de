/* SPDX-License-Identifier: MIT
 * Split blocks in Parquet's format, exported and imported: published bytes of other writers, and
 * bytes that must be refused. */
#include <weir/weir.h>
#include "../test.h"

/* Filters of 32 bytes that Spark 3.2.1 wrote for two columns: ten strings, "a0" to "a9", and the
 * int64 numbers 0 to 9. The tests of other readers use the same bytes. */
static const unsigned char spark_strings[32] = {
	200, 1, 80, 20, 64, 68, 8, 109, 6, 37, 4, 67, 144, 80, 96, 32,
	8, 132, 43, 33, 0, 5, 99, 65, 2, 0, 224, 44, 64, 78, 96, 4,
};
static const unsigned char spark_numbers[32] = {
	24, 130, 24, 8, 134, 8, 68, 6, 2, 101, 128, 10, 64, 2, 38, 78,
	114, 1, 64, 38, 1, 192, 194, 152, 64, 70, 0, 36, 56, 121, 64, 0,
};

enum { HEADER_1024 = 16, MOST = 4096 };

static struct weir_filter *import(const void *bytes, size_t n, uint32_t form)
{
	struct weir_parquet_options o = WEIR_PARQUET_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	o.form = form;
	assert_int_equal(weir_parquet_import(&f, bytes, n, &o), n);
	return f;
}

static struct weir_filter *of_bytes(uint64_t bytes)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.kind = WEIR_SPLIT, p.capacity = bytes / 2, p.max_bytes = bytes;
	assert_ok(weir_create(&f, &p));
	return f;
}

static void insert_all(struct weir_filter *f, unsigned numbers)
{
	for (unsigned i = 0; i < 10; i++) {
		char text[8];
		const unsigned char number[8] = { (unsigned char)i };
		int n = snprintf(text, sizeof text, "a%u", i);
		assert_ok(numbers ? weir_insert(f, number, 8) : weir_insert(f, text, (size_t)n));
	}
}

static void an_export_equals_a_published_bitset(void **state)
{
	(void)state;
	static const unsigned char empty[32];
	for (unsigned numbers = 0; numbers < 2; numbers++) {
		struct weir_filter *f = import(empty, 32, WEIR_PARQUET_BITSET);
		unsigned char out[32];
		insert_all(f, numbers);
		assert_int_equal(weir_parquet_export(f, WEIR_PARQUET_BITSET, 0, out, 32), 32);
		assert_memory_equal(out, numbers ? spark_numbers : spark_strings, 32);
		weir_destroy(f);
	}
}

static void a_published_bitset_can_be_imported(void **state)
{
	(void)state;
	struct weir_filter *f = import(spark_strings, 32, WEIR_PARQUET_BITSET);
	for (char digit = '0'; digit <= '9'; digit++)
		assert_true(weir_contains(f, (char[]){ 'a', digit }, 2));
	assert_false(weir_contains(f, "hello", 5));
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &s));
	assert_in_range(s.capacity, 8, 12); /* an estimate of ten keys */
	weir_destroy(f);
}

/* The format's example: "hello", "parquet", "bloom" and "filter" in 1024 bytes. An independent
 * program, written from the specification, computed the nonzero bytes. */
static const struct { uint16_t at; uint8_t value; } example[] = {
	{ 130, 0x10 }, { 133, 0x02 }, { 137, 0x04 }, { 140, 0x80 }, { 145, 0x02 }, { 151, 0x80 },
	{ 155, 0x10 }, { 159, 0x08 }, { 162, 0x80 }, { 167, 0x10 }, { 168, 0x01 }, { 175, 0x10 },
	{ 176, 0x20 }, { 182, 0x20 }, { 187, 0x40 }, { 190, 0x08 }, { 224, 0x04 }, { 230, 0x40 },
	{ 234, 0x40 }, { 238, 0x08 }, { 243, 0x04 }, { 245, 0x20 }, { 248, 0x10 }, { 252, 0x02 },
	{ 322, 0x20 }, { 325, 0x08 }, { 329, 0x01 }, { 335, 0x20 }, { 338, 0x80 }, { 343, 0x08 },
	{ 345, 0x01 }, { 349, 0x10 },
};

static void an_export_equals_the_formats_example(void **state)
{
	(void)state;
	static const char *const words[] = { "hello", "parquet", "bloom", "filter" };
	static const unsigned char header[HEADER_1024] = { 0x15, 0x80, 0x10, 0x1c, 0x1c, 0, 0, 0x1c,
		                                           0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0 };
	unsigned char want[HEADER_1024 + 1024] = { 0 }, out[HEADER_1024 + 1024];
	struct weir_filter *f = of_bytes(1024);
	memcpy(want, header, sizeof header);
	for (unsigned i = 0; i < sizeof example / sizeof *example; i++)
		want[HEADER_1024 + example[i].at] = example[i].value;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(weir_insert(f, words[i], strlen(words[i])), WEIR_NEW);
	assert_int_equal(weir_parquet_bytes(f, WEIR_PARQUET_HEADER, 0), sizeof out);
	assert_int_equal(weir_parquet_export(f, WEIR_PARQUET_HEADER, 0, out, sizeof out),
	                 sizeof out);
	assert_memory_equal(want, out, sizeof out);
	weir_destroy(f);
	f = import(want, sizeof want, WEIR_PARQUET_HEADER);
	for (unsigned i = 0; i < 4; i++)
		assert_true(weir_contains(f, words[i], strlen(words[i])));
	assert_int_equal(weir_insert(f, "hello", 5), WEIR_SEEN);
	assert_int_equal(weir_insert(f, "world", 5), WEIR_NEW);
	weir_destroy(f);
}

/* The import reads from an unaligned address, and other bytes follow the bits. */
static void every_size_survives_import_and_export(void **state)
{
	(void)state;
	static unsigned char bits[64 * 32], out[64 * 32 + 32], at[64 * 32 + 64];
	for (unsigned i = 0; i < sizeof bits; i++)
		bits[i] = (unsigned char)test_key(i);
	for (unsigned blocks = 1; blocks <= 64; blocks++) {
		struct weir_filter *f = import(bits, 32 * blocks, WEIR_PARQUET_BITSET);
		struct weir_filter *again = NULL;
		int64_t n = weir_parquet_export(f, WEIR_PARQUET_HEADER, WEIR_PARQUET_ANY_SIZE, out,
		                                sizeof out);
		assert_true(n > 32 * blocks);
		memset(at, 0x5a, sizeof at);
		memcpy(at + 3, out, (size_t)n);
		assert_int_equal(weir_parquet_import(&again, at + 3, sizeof at - 3, NULL), n);
		assert_int_equal(weir_parquet_export(again, WEIR_PARQUET_BITSET,
		                                     WEIR_PARQUET_ANY_SIZE, out, sizeof out),
		                 32 * blocks);
		assert_memory_equal(out, bits, 32 * blocks);
		weir_destroy(f);
		weir_destroy(again);
	}
}

/* From 128 KiB on, an import has as many shards as a created filter. All shards have the same
 * number of lines, so an odd number of lines gives one shard. */
static void large_imports_have_shards(void **state)
{
	static const struct { uint32_t lines, shards; } sizes[] = {
		{ 2046, 1 }, { 2047, 1 }, { 2048, 2 }, { 2049, 1 }, { 3072, 2 }, { 4094, 2 },
		{ 4096, 4 }, { 4098, 2 }, { 4100, 4 }, { 8192, 8 },
	};
	static unsigned char bits[64 * 8192], out[sizeof bits];
	(void)state;
	for (size_t i = 0; i < sizeof bits; i++)
		bits[i] = (unsigned char)test_key(i);
	for (unsigned i = 0; i < COUNT_OF(sizes); i++) {
		const size_t n = 64 * (size_t)sizes[i].lines;
		struct weir_filter *f = import(bits, n, WEIR_PARQUET_BITSET);
		struct weir_filter *made = of_bytes(n);
		struct weir_stats s = WEIR_STATS_INIT, of_made = WEIR_STATS_INIT;
		assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
		assert_ok(weir_measure(made, WEIR_SAMPLED, &of_made));
		assert_int_equal(s.shards, sizes[i].shards);
		assert_true(of_made.bytes != n || of_made.shards == s.shards);
		assert_int_equal(weir_parquet_export(f, WEIR_PARQUET_BITSET, WEIR_PARQUET_ANY_SIZE,
		                                     out, sizeof out), n);
		assert_memory_equal(out, bits, n);
		weir_destroy(f);
		weir_destroy(made);
	}
}

/* ---- limits, headers and errors ---- */

static void exports_suit_strict_readers_by_default(void **state)
{
	(void)state;
	static unsigned char out[MOST];
	struct weir_filter *f = of_bytes(192), *other = test_filter(WEIR_BLOCKED, 100, 0.01);
	assert_refused(weir_parquet_bytes(f, 0, 0), -EINVAL, "192 bytes", "powers of two");
	assert_int_equal(weir_parquet_bytes(f, WEIR_PARQUET_BITSET, WEIR_PARQUET_ANY_SIZE), 192);
	assert_refused(weir_parquet_export(f, 0, WEIR_PARQUET_ANY_SIZE, out, 191), -ENOSPC,
	               "191 bytes", "weir_parquet_bytes");
	assert_refused(weir_parquet_bytes(f, 2, 0), -EINVAL, "form 2", "WEIR_PARQUET_BITSET");
	assert_refused(weir_parquet_bytes(f, 0, 2), -EINVAL, "flags 0x2", "known");
	assert_refused(weir_parquet_bytes(other, 0, 0), -ENOTSUP, "kind blocked", "split");
	weir_destroy(f);
	weir_destroy(other);
}

/* Nothing is written to the bits, so their pages are never allocated. */
static void exports_beyond_an_i32_are_refused(void **state)
{
	(void)state;
	struct weir_filter *f = of_bytes(UINT64_C(1) << 28);
	assert_refused(weir_parquet_bytes(f, 0, 0), -EFBIG, "268435456 bytes", "128 MiB");
	assert_int_equal(weir_parquet_bytes(f, WEIR_PARQUET_BITSET, WEIR_PARQUET_ANY_SIZE),
	                 1 << 28);
	weir_destroy(f);
	f = of_bytes(UINT64_C(1) << 31);
	assert_refused(weir_parquet_bytes(f, 0, WEIR_PARQUET_ANY_SIZE), -EFBIG, "2147483648 bytes",
	               "2147483616");
	weir_destroy(f);
}

static void sizes_for_any_reader_are_planned(void **state)
{
	(void)state;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_filter *f = NULL;
	p.kind = WEIR_SPLIT, p.split.any_reader = 1;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "capacity 0", "two of the three");
	p.capacity = 100000, p.fp_rate = 0.01;
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(plan.bytes, 1 << 18); /* the next power of two above 131,625 bytes */
	assert_true(plan.fp_rate < 0.001);     /* better than requested */
	assert_ok(weir_create(&f, &p));
	assert_int_equal(weir_parquet_bytes(f, WEIR_PARQUET_BITSET, 0), 1 << 18);
	weir_destroy(f);
	p.max_bytes = (1 << 18) - 1;
	assert_refused(weir_plan_make(&p, &plan), -EFBIG, "262144 bytes", "262143");
	p.max_bytes = 0, p.capacity = 200000000;
	assert_refused(weir_plan_make(&p, &plan), -EFBIG, "power of two", "134217728");
	p.max_bytes = UINT64_C(1) << 30; /* larger than strict readers accept */
	assert_refused(weir_plan_make(&p, &plan), -EFBIG, "power of two", "134217728");
	/* if max_bytes and one other value are given, the plan uses the largest power of two within
	 * max_bytes */
	p.fp_rate = 0;
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(plan.bytes, 1 << 27);
	p.fp_rate = 0.01, p.capacity = 0, p.max_bytes = (1 << 19) - 1;
	assert_ok(weir_plan_make(&p, &plan));
	assert_int_equal(plan.bytes, 1 << 18);
	p.split.any_reader = 2;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "any_reader 2", "any size");
}

static void refuse_header(const void *bytes, size_t n, int err, const char *a, const char *b)
{
	struct weir_filter *f = NULL;
	assert_refused(weir_parquet_import(&f, bytes, n, NULL), err, a, b);
	assert_null(f);
}

/* The header stores the filter's length as a varint. Among these sizes, the varint grows from one
 * byte to two bytes and from two bytes to three. */
static void headers_of_every_size_are_read(void **state)
{
	static const unsigned char bits[32 * 600];
	static unsigned char out[sizeof bits + 64];
	(void)state;
	for (size_t blocks = 1; blocks <= 600; blocks++) {
		struct weir_filter *f = import(bits, 32 * blocks, WEIR_PARQUET_BITSET);
		const int64_t n = weir_parquet_export(f, WEIR_PARQUET_HEADER, WEIR_PARQUET_ANY_SIZE,
		                                      out, sizeof out);
		weir_destroy(f);
		f = import(out, (size_t)n, WEIR_PARQUET_HEADER);
		assert_int_equal(weir_parquet_bytes(f, WEIR_PARQUET_BITSET, WEIR_PARQUET_ANY_SIZE),
		                 32 * blocks);
		weir_destroy(f);
	}
}

static void headers_of_other_filters_are_refused_by_name(void **state)
{
	(void)state;
	unsigned char bytes[15 + 32] = { 0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0,
		                         0x1c, 0x1c, 0, 0, 0 };
	struct weir_filter *f = import(bytes, sizeof bytes, WEIR_PARQUET_HEADER);
	weir_destroy(f);
	bytes[3] = 0x2c;
	refuse_header(bytes, sizeof bytes, -ENOTSUP, "algorithm is number 2", "BLOCK");
	bytes[3] = 0x1c, bytes[7] = 0x3c;
	refuse_header(bytes, sizeof bytes, -ENOTSUP, "hash is number 3", "XXHASH");
	bytes[7] = 0x1c, bytes[11] = 0x2c;
	refuse_header(bytes, sizeof bytes, -ENOTSUP, "compression is number 2", "UNCOMPRESSED");
	bytes[11] = 0x1c, bytes[1] = 0x3f; /* zigzag for -32 */
	refuse_header(bytes, sizeof bytes, -EBADMSG, "numBytes is -32", "multiple of 32");
	bytes[1] = 0x42;
	refuse_header(bytes, sizeof bytes, -EBADMSG, "numBytes is 33", "multiple of 32");
	bytes[1] = 0;
	refuse_header(bytes, sizeof bytes, -EBADMSG, "numBytes is 0", "multiple of 32");
	static const unsigned char two[15 + 3 + 32] = { 0x15, 0x40, 0x1c, 0x1c, 0, 0x1c, 0, 0,
		                                        0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0 };
	refuse_header(two, sizeof two, -EBADMSG, "a choice has two answers", "byte 6");
}

static void truncated_headers_and_bits_are_refused(void **state)
{
	(void)state;
	const unsigned char bytes[15 + 32] = { 0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0,
		                               0x1c, 0x1c, 0, 0, 0 };
	for (size_t n = 0; n < sizeof bytes; n++) {
		/* allocated exactly, so that a sanitizer detects an overrun */
		unsigned char *exact = malloc(n + !n);
		memcpy(exact, bytes, n);
		refuse_header(exact, n, -EBADMSG, n < 15 ? "header" : "numBytes is 32",
		              n < 15 ? "byte" : "follow");
		free(exact);
	}
}

/* A header of 19 bytes declares two gigabytes. */
static void declared_sizes_allocate_no_memory(void **state)
{
	(void)state;
	const unsigned char bytes[] = { 0x15, 0xc0, 0xff, 0xff, 0xff, 0x0f, 0x1c, 0x1c, 0, 0, 0x1c,
		                        0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0 };
	refuse_header(bytes, sizeof bytes, -EBADMSG, "numBytes is 2147483616", "0 bytes follow");
}

/* A field that is nested 65 levels deep is refused. */
static void unknown_fields_are_skipped(void **state)
{
	(void)state;
	for (unsigned deep = 64; deep <= 65; deep++) {
		unsigned char bytes[256] = { 0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0,
			                     0x1c, 0x1c, 0, 0 };
		struct weir_filter *f = NULL;
		size_t n = 14;
		for (unsigned i = 0; i < deep; i++)
			bytes[n++] = 0x1c;
		n += deep + 1; /* the ends of the nested structs and of the header */
		if (deep == 64)
			assert_int_equal(weir_parquet_import(&f, bytes, n + 32, NULL), n + 32);
		else
			refuse_header(bytes, n + 32, -EBADMSG, "deeper", "64");
		weir_destroy(f);
	}
}

static void options_are_applied_or_refused(void **state)
{
	(void)state;
	struct weir_parquet_options o = WEIR_PARQUET_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	struct weir_stats s = WEIR_STATS_INIT;
	o.form = WEIR_PARQUET_BITSET, o.capacity = 17, o.fp_rate = 0.25;
	assert_int_equal(weir_parquet_import(&f, spark_strings, 32, &o), 32);
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	assert_true(s.capacity == 17 && s.fp_rate == 0.25);
	weir_destroy(f);
	f = NULL;
	o.max_bytes = 31;
	assert_refused(weir_parquet_import(&f, spark_strings, 32, &o), -EFBIG, "32 bytes", "31");
	o.max_bytes = 0, o.fp_rate = 0.7;
	assert_refused(weir_parquet_import(&f, spark_strings, 32, &o), -EINVAL, "fp_rate", "0.5");
	o.fp_rate = 1e-10;
	assert_refused(weir_parquet_import(&f, spark_strings, 32, &o), -EINVAL, "fp_rate 1e-10",
	               "1e-9");
	o.fp_rate = 0, o.capacity = UINT64_MAX;
	assert_refused(weir_parquet_import(&f, spark_strings, 32, &o), -EINVAL, "capacity", "2^48");
	o.capacity = 0, o.form = 9;
	assert_refused(weir_parquet_import(&f, spark_strings, 32, &o), -EINVAL, "form 9", "HEADER");
	o.form = WEIR_PARQUET_BITSET;
	assert_refused(weir_parquet_import(&f, spark_strings, 31, &o), -EBADMSG, "31 bytes", "32");
	assert_refused(weir_parquet_import(&f, spark_strings, 0, &o), -EBADMSG, "0 bytes", "32");
	assert_refused(weir_parquet_import(NULL, spark_strings, 32, &o), -EINVAL, "out", "NULL");
	o.struct_size = 1;
	assert_refused(weir_parquet_import(&f, spark_strings, 32, &o), -EINVAL,
	               "weir_parquet_options", "1");
	assert_null(f);
}

static void other_kinds_cannot_be_exported(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 100, 0.01);
	unsigned char room[4096];
	(void)state;
	assert_refused(weir_parquet_export(f, WEIR_PARQUET_HEADER, 0, room, sizeof room), -ENOTSUP,
	               "of kind blocked", "kind split");
	weir_destroy(f);
}

/* An import estimates the capacity from the number of set bits. This estimate is infinite for a
 * full filter and 0 for an empty filter. */
static void full_and_empty_imports_have_a_capacity(void **state)
{
	(void)state;
	unsigned char bits[64];
	for (unsigned value = 0; value < 256; value += 255) {
		struct weir_stats s = WEIR_STATS_INIT;
		memset(bits, (int)value, sizeof bits);
		struct weir_filter *f = import(bits, sizeof bits, WEIR_PARQUET_BITSET);
		assert_ok(weir_measure(f, WEIR_EXACT, &s));
		assert_int_equal(s.capacity, value ? 512 : 1);
		assert_true(s.fp_rate >= 1e-9 && s.fp_rate <= 0.5);
		weir_destroy(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_export_equals_a_published_bitset),
		cmocka_unit_test(a_published_bitset_can_be_imported),
		cmocka_unit_test(an_export_equals_the_formats_example),
		cmocka_unit_test(every_size_survives_import_and_export),
		cmocka_unit_test(large_imports_have_shards),
		cmocka_unit_test(exports_suit_strict_readers_by_default),
		cmocka_unit_test(exports_beyond_an_i32_are_refused),
		cmocka_unit_test(sizes_for_any_reader_are_planned),
		cmocka_unit_test(headers_of_every_size_are_read),
		cmocka_unit_test(headers_of_other_filters_are_refused_by_name),
		cmocka_unit_test(truncated_headers_and_bits_are_refused),
		cmocka_unit_test(declared_sizes_allocate_no_memory),
		cmocka_unit_test(unknown_fields_are_skipped),
		cmocka_unit_test(options_are_applied_or_refused),
		cmocka_unit_test(other_kinds_cannot_be_exported),
		cmocka_unit_test(full_and_empty_imports_have_a_capacity),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
