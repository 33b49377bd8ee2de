/* SPDX-License-Identifier: MIT
 * A batch must answer as single calls do. The batches of lookups have 0 to 200 keys, or one of nine
 * larger numbers of keys. The keys are hashes, have fixed widths of 1 to 64 bytes, or have lengths
 * of 0 to 300 bytes. Each test runs on every instruction set of this machine. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../test.h"

enum { MOST = 5000, GUARD = 3 };
static const size_t odd_sizes[] = { 255, 256, 257, 511, 1000, 1023, 2049, 4095, 5000 };
static const char *const isas[] = { "scalar", "avx2", "avx512", "neon" };

static char bytes[MOST * 64 + 400];
static uint64_t hashes[MOST];
static struct iovec vectors[MOST];

/* Return: batch size number @i. The sizes 0 to 200 precede those in odd_sizes. */
static size_t size_at(size_t i)
{
	return i <= 200 ? i : odd_sizes[i - 201];
}
enum { SIZES = 201 + (int)COUNT_OF(odd_sizes) };

static int fill_inputs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)test_key(i);
	for (size_t i = 0; i < MOST; i++)
		vectors[i] = (struct iovec){ bytes + i * 61, i % 301 };
	return 0;
}

/* Return: a filter with every second key. At a rate of 10 %, some absent keys are false
 * positives. */
static struct weir_filter *half_full(uint32_t kind, size_t width)
{
	struct weir_filter *f = test_filter(kind, MOST / 2, 0.1);
	for (size_t i = 0; i < MOST; i += 2) {
		const void *key = width ? bytes + i * width : vectors[i].iov_base;
		const size_t len = width ? width : vectors[i].iov_len;
		if (!weir_contains(f, key, len)) /* short keys repeat */
			assert_ok(weir_insert(f, key, len));
	}
	return f;
}

enum form { HASHES, KEYS, FIXED };

static size_t ask(const struct weir_filter *f, enum form form, size_t width, size_t n,
                  uint64_t *bitmap)
{
	return form == HASHES ? weir_contains_keys(f, weir_keys_hashes(hashes, n), bitmap) :
	       form == KEYS   ? weir_contains_keys(f, weir_keys_iov(vectors, n), bitmap) :
	                        weir_contains_keys(f, weir_keys_fixed(bytes, width, n), bitmap);
}

static void assert_like_singles(const struct weir_filter *f, enum form form, size_t width, size_t n)
{
	uint64_t bitmap[WEIR_BITMAP_WORDS(MOST) + GUARD];
	size_t expected = 0, words = WEIR_BITMAP_WORDS(n);
	memset(bitmap, 0xa5, sizeof bitmap);
	size_t found = ask(f, form, width, n, bitmap);
	for (size_t i = 0; i < n; i++) {
		const struct iovec *v = &vectors[i];
		bool single = form == HASHES ? weir_contains_hash(f, hashes[i]) :
		              form == KEYS   ? weir_contains(f, v->iov_base, v->iov_len) :
		                               weir_contains(f, bytes + i * width, width);
		if (single != (bitmap[i / 64] >> i % 64 & 1))
			fail_msg("form %d, width %zu, n %zu, key %zu: single %d, batch %d", form,
			         width, n, i, single, !single);
		expected += single;
	}
	assert_int_equal(found, expected);
	assert_int_equal(ask(f, form, width, n, NULL), expected);
	if (n % 64)
		assert_int_equal(bitmap[words - 1] >> n % 64, 0); /* bits from n on are cleared */
	for (size_t i = words; i < words + GUARD; i++)
		assert_int_equal(bitmap[i], UINT64_C(0xa5a5a5a5a5a5a5a5));
}

static bool takes_inserts(uint32_t kind)
{
	struct weir_filter *f = test_filter(kind, 1, 0.1);
	bool takes = test_takes_inserts(f);
	weir_destroy(f);
	return takes;
}

/* Run @body for each kind that takes inserts, on each instruction set. */
static void for_each_kind(void (*body)(uint32_t kind))
{
	const char *asked = getenv("WEIR_ISA");
	char *kept = asked ? strdup(asked) : NULL;
	unsigned ran = 0;
	for (size_t i = 0; i < COUNT_OF(isas); i++) {
		struct weir_params params = WEIR_PARAMS_INIT;
		struct weir_filter *probe = NULL;
		params.capacity = 1;
		params.fp_rate = 0.1;
		setenv("WEIR_ISA", isas[i], 1);
		/* this machine lacks the instruction set; tests/conformance checks the refusal */
		if (weir_create(&probe, &params) == -ENOTSUP)
			continue;
		weir_destroy(probe);
		for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
			if (takes_inserts(test_kinds[k]))
				body(test_kinds[k]);
		ran++;
	}
	assert_true(ran >= 1);
	if (kept)
		setenv("WEIR_ISA", kept, 1);
	else
		unsetenv("WEIR_ISA");
	free(kept);
}

static void lookups(uint32_t kind)
{
	struct weir_filter *f = half_full(kind, 8);
	weir_hash_keys(f, weir_keys_fixed(bytes, 8, MOST), hashes);
	const size_t step = test_is_short() ? 5 : 1; /* the sizes have every remainder mod 32 */
	for (size_t i = 0; i < SIZES; i += step) {
		assert_like_singles(f, HASHES, 0, size_at(i));
		assert_like_singles(f, FIXED, 8, size_at(i));
	}
	weir_destroy(f);
	f = half_full(kind, 0);
	for (size_t i = 0; i < SIZES; i += step)
		assert_like_singles(f, KEYS, 0, size_at(i));
	weir_destroy(f);
}

static void widths(uint32_t kind)
{
	for (size_t width = 1; width <= 64; width += test_is_short() ? 7 : 1) {
		struct weir_filter *f = half_full(kind, width);
		for (size_t n = 0; n <= 200; n = n * 2 + 1)
			assert_like_singles(f, FIXED, width, n);
		assert_like_singles(f, FIXED, width, 1000);
		weir_destroy(f);
	}
}

static void misaligned_keys(uint32_t kind)
{
	struct weir_filter *f = test_filter(kind, 1000, 0.01);
	for (size_t shift = 0; shift < 8; shift++) {
		uint64_t bitmap[2];
		assert_ok(weir_insert_keys(f, weir_keys_fixed(bytes + shift, 8, 100), NULL));
		assert_int_equal(weir_contains_keys(f, weir_keys_fixed(bytes + shift, 8, 100),
		                                    bitmap),
		                 100);
		for (size_t i = 0; i < 100; i++)
			assert_true(weir_contains(f, bytes + shift + 8 * i, 8));
	}
	weir_destroy(f);
}

static int64_t put(struct weir_filter *f, enum form form, size_t width, size_t n, uint64_t *bitmap)
{
	return form == HASHES ? weir_insert_keys(f, weir_keys_hashes(hashes, n), bitmap) :
	       form == KEYS   ? weir_insert_keys(f, weir_keys_iov(vectors, n), bitmap) :
	                        weir_insert_keys(f, weir_keys_fixed(bytes, width, n), bitmap);
}

/* A batch must set exactly the bits that single inserts set. The batch returns how many keys its
 * bitmap marks as new. */
static void assert_inserts_like_singles(uint32_t kind, enum form form, size_t width, size_t n,
                                        bool with_bitmap)
{
	uint64_t bitmap[WEIR_BITMAP_WORDS(MOST) + GUARD];
	struct weir_filter *batch = test_filter(kind, 4 * MOST, 1e-5);
	struct weir_filter *single = test_filter(kind, 4 * MOST, 1e-5);
	struct weir_stats a = WEIR_STATS_INIT, b = WEIR_STATS_INIT, both = WEIR_STATS_INIT;
	size_t marked = 0;
	memset(bitmap, 0xa5, sizeof bitmap);
	int64_t fresh = put(batch, form, width, n, with_bitmap ? bitmap : NULL);
	for (size_t i = 0; i < n; i++) {
		const struct iovec *v = &vectors[i];
		assert_ok(form == HASHES ? weir_insert_hash(single, hashes[i]) :
		          form == KEYS   ? weir_insert(single, v->iov_base, v->iov_len) :
		                           weir_insert(single, bytes + i * width, width));
	}
	assert_ok(weir_measure(batch, WEIR_EXACT, &a));
	assert_ok(weir_measure(single, WEIR_EXACT, &b));
	int err = weir_merge(single, batch);
	assert_ok(err == -ENOTSUP ? 0 : err);
	assert_ok(weir_measure(single, WEIR_EXACT, &both));
	/* the bits are equal if both fills are equal and the merge added no bits */
	assert_true(a.fill == b.fill && b.fill == both.fill);
	for (size_t i = 0; with_bitmap && i < n; i++)
		marked += bitmap[i / 64] >> i % 64 & 1;
	if (with_bitmap)
		assert_int_equal(fresh, marked);
	if (with_bitmap && n % 64)
		assert_int_equal(bitmap[WEIR_BITMAP_WORDS(n) - 1] >> n % 64, 0);
	for (size_t i = with_bitmap ? WEIR_BITMAP_WORDS(n) : 0; i < COUNT_OF(bitmap); i++)
		assert_int_equal(bitmap[i], UINT64_C(0xa5a5a5a5a5a5a5a5));
	assert_int_equal(put(batch, form, width, n, bitmap), 0); /* all keys are duplicates now */
	for (size_t i = 0; i < WEIR_BITMAP_WORDS(n); i++)
		assert_int_equal(bitmap[i], 0);
	weir_destroy(batch), weir_destroy(single);
}

static void inserts(uint32_t kind)
{
	struct weir_filter *f = test_filter(kind, 1, 0.1);
	weir_hash_keys(f, weir_keys_fixed(bytes, 8, MOST), hashes);
	weir_destroy(f);
	if (!test_affords(kind, 1e-5) || test_keeps_copies(kind))
		return;
	for (size_t i = 0; i < SIZES; i += i < 130 && !test_is_short() ? 1 : 7) {
		assert_inserts_like_singles(kind, HASHES, 0, size_at(i), i % 2);
		assert_inserts_like_singles(kind, KEYS, 0, size_at(i), i % 3);
		assert_inserts_like_singles(kind, FIXED, 8, size_at(i), i % 5);
		assert_inserts_like_singles(kind, FIXED, 1 + i % 64, size_at(i), true);
	}
}

/* False positives are unlikely at 1e-9, so at least one copy of each fresh key is WEIR_NEW. Which
 * copy is new depends on the order of the inserts in the batch. */
static void news(uint32_t kind)
{
	uint64_t keys[300], bitmap[WEIR_BITMAP_WORDS(300)];
	if (!test_affords(kind, 1e-9))
		return;
	struct weir_filter *f = test_filter(kind, 100000, 1e-9);
	for (uint64_t i = 0; i < 300; i++)
		keys[i] = test_key(i / 3); /* each key three times */
	for (uint64_t i = 0; i < 300; i += 30)
		assert_int_equal(weir_insert(f, &keys[i], 8), WEIR_NEW);
	assert_true(weir_insert_keys(f, weir_keys_u64(keys, 300), bitmap) >= 90);
	for (uint64_t i = 0; i < 300; i += 3) {
		unsigned news = 0;
		for (uint64_t j = i; j < i + 3; j++)
			news += bitmap[j / 64] >> j % 64 & 1;
		assert_true(i % 30 ? news >= 1 : news == 0);
	}
	weir_destroy(f);
}

/* The filter already has every second key. The sizes cover batches too short for the pipeline and
 * longer batches. */
static void every_other(uint32_t kind)
{
	uint64_t keys[20], bitmap;
	if (!test_affords(kind, 1e-9))
		return;
	for (size_t n = 1; n <= COUNT_OF(keys); n++) {
		struct weir_filter *f = test_filter(kind, 1000, 1e-9);
		for (size_t i = 0; i < n; i++)
			keys[i] = test_key(100 * n + i);
		for (size_t i = 1; i < n; i += 2)
			assert_ok(weir_insert(f, &keys[i], 8));
		assert_int_equal(weir_insert_keys(f, weir_keys_u64(keys, n), &bitmap),
		                 (n + 1) / 2);
		assert_int_equal(bitmap, UINT64_C(0x5555555555555555) & ((UINT64_C(1) << n) - 1));
		weir_destroy(f);
	}
}

/* The batch has many more keys than the library processes in one piece. */
static void long_batches(uint32_t kind)
{
	enum { LONG = 70000 };
	if (!test_affords(kind, 1e-6))
		return;
	struct weir_filter *f = test_filter(kind, 2000000, 1e-6),
	                   *small = test_filter(kind, 1000, 0.01);
	uint64_t *many = malloc(LONG * sizeof *many);
	assert_non_null(many);
	for (uint64_t i = 0; i < LONG; i++)
		many[i] = test_key(i);
	int64_t fresh = weir_insert_keys(f, weir_keys_hashes(many, LONG), NULL);
	assert_in_range(fresh, LONG - 10, LONG); /* up to 10 keys may be false positives */
	assert_int_equal(weir_contains_keys(f, weir_keys_hashes(many, LONG), NULL), LONG);
	assert_int_equal(weir_insert_keys(f, weir_keys_hashes(many, LONG), NULL), 0);
	assert_ok(weir_insert_keys(small, weir_keys_hashes(many, LONG),
	                           NULL)); /* a filter that fits in the cache */
	assert_int_equal(weir_contains_keys(small, weir_keys_hashes(many, LONG), NULL), LONG);
	free(many);
	weir_destroy(f), weir_destroy(small);
}

/* Keys and hashes end at the last mapped byte. A kernel may prefetch past that byte but must not
 * load from there. */
static void ends(uint32_t kind)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), most = 200;
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	                   -1, 0), *end = pages + page;
	struct weir_filter *f = test_filter(kind, 4000000, 0.01); /* larger than an L2 cache */
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(end, page, PROT_NONE), 0);
	weir_hash_keys(f, weir_keys_fixed(bytes, 8, MOST), hashes);
	for (size_t n = 0; n <= most; n++) {
		struct iovec *last = (struct iovec *)(void *)end - n;
		/* Each round inserts the same keys. Duplicates would fill up a kind that stores
		 * copies. */
		if (test_keeps_copies(kind)) {
			weir_destroy(f);
			f = test_filter(kind, 4000000, 0.01);
		}
		memcpy(last, vectors, n * sizeof *last);
		assert_ok(weir_insert_keys(f, weir_keys_iov(last, n), NULL));
		assert_int_equal(weir_contains_keys(f, weir_keys_iov(last, n), NULL), n);
		memcpy(end - 8 * n, hashes, 8 * n);
		assert_ok(weir_insert_keys(f, weir_keys_hashes((uint64_t *)(void *)end - n, n),
		                           NULL));
		assert_int_equal(weir_contains_keys(f,
		                                    weir_keys_hashes((uint64_t *)(void *)end - n,
		                                                     n),
		                                    NULL),
		                 n);
		assert_ok(weir_fill_keys(f, weir_keys_hashes((uint64_t *)(void *)end - n, n)));
		for (size_t width = 8; width <= 32 && width * n <= page; width += 4) {
			memcpy(end - width * n, bytes, width * n);
			const char *first = end - width * n;
			assert_ok(weir_insert_keys(f, weir_keys_fixed(first, width, n), NULL));
			assert_int_equal(weir_contains_keys(f, weir_keys_fixed(first, width, n),
			                                    NULL),
			                 n);
		}
	}
	weir_destroy(f);
	munmap(pages, 2 * page);
}

static void lookups_equal_single_lookups(void **state) { (void)state; for_each_kind(lookups); }
static void fixed_keys_of_every_width(void **state) { (void)state; for_each_kind(widths); }
static void a_batch_reads_nothing_past_its_keys(void **state) { (void)state; for_each_kind(ends); }
static void keys_at_any_alignment(void **state) { (void)state; for_each_kind(misaligned_keys); }
static void inserts_equal_single_inserts(void **state) { (void)state; for_each_kind(inserts); }
static void duplicates_in_a_batch_are_new_once(void **state) { (void)state; for_each_kind(news); }
static void each_answer_is_at_its_key(void **state) { (void)state; for_each_kind(every_other); }
static void batches_longer_than_a_piece(void **state) { (void)state; for_each_kind(long_batches); }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lookups_equal_single_lookups),
		cmocka_unit_test(fixed_keys_of_every_width),
		cmocka_unit_test(keys_at_any_alignment),
		cmocka_unit_test(a_batch_reads_nothing_past_its_keys),
		cmocka_unit_test(inserts_equal_single_inserts),
		cmocka_unit_test(duplicates_in_a_batch_are_new_once),
		cmocka_unit_test(each_answer_is_at_its_key),
		cmocka_unit_test(batches_longer_than_a_piece),
	};
	return cmocka_run_group_tests(tests, fill_inputs, NULL);
}
