/* SPDX-License-Identifier: MIT
 * Features that only the split kind has. tests/conformance checks its bits and answers. */
#define XXH_INLINE_ALL
#include <math.h>
#include <xxhash.h>
#include <weir/weir.h>
#include "../image_bytes.h"
#include "../test.h"

static struct weir_params split_params(uint64_t capacity, double fp_rate)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = WEIR_SPLIT, p.capacity = capacity, p.fp_rate = fp_rate;
	return p;
}

static struct weir_filter *split(uint64_t capacity)
{
	struct weir_params p = split_params(capacity, 0.01);
	struct weir_filter *f;
	assert_ok(weir_create(&f, &p));
	return f;
}

/* Return: a filter of @blocks blocks. Only an import can create a filter with any number of
 * blocks. */
static struct weir_filter *of_blocks(unsigned blocks)
{
	struct weir_parquet_options o = WEIR_PARQUET_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	unsigned char *bits = calloc(blocks, 32);
	o.form = WEIR_PARQUET_BITSET, o.capacity = 20 * (uint64_t)blocks, o.fp_rate = 0.01;
	assert_true(weir_parquet_import(&f, bits, 32 * blocks, &o) == 32 * blocks);
	free(bits);
	return f;
}

static uint32_t blocks_of(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	return s.shape.field[0];
}

static void fill(struct weir_filter *f, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		assert_ok(weir_insert_u64(f, test_key(i)));
}

static void assert_has(const struct weir_filter *f, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		assert_true(weir_contains_u64(f, test_key(i)));
}

/* ---- the format fixes the hash ---- */

static void hashes_by_xxh64_without_a_seed(void **state)
{
	(void)state;
	struct weir_filter *f = split(1000);
	char text[32] = "the plain bytes of a value";
	for (size_t len = 0; len < sizeof text; len++) {
		assert_int_equal(weir_hash(f, text, len), XXH64(text, len, 0));
		(void)weir_insert(f, text, len);
		assert_true(weir_contains_hash(f, XXH64(text, len, 0)));
	}
	weir_destroy(f);
}

static void a_seed_a_secret_and_steps_are_refused(void **state)
{
	(void)state;
	struct weir_params p = split_params(1000, 0.01);
	struct weir_text n = { .steps = WEIR_TEXT_LOWERCASE };
	struct weir_filter *f = NULL;
	p.seed = 1;
	assert_refused(weir_create(&f, &p), -EINVAL, "seed 1", "XXH64 with seed 0");
	p.seed = 0, p.secret = "0123456789abcdef";
	assert_refused(weir_create(&f, &p), -EINVAL, "secret", "cannot be keyed");
	assert_null(f);
	p.secret = NULL, p.text = n;
	assert_refused(weir_create(&f, &p), -EINVAL, "lowercase: kind split", "as they are");
}

static void forged_steps_are_refused(void **state)
{
	unsigned char room[8192];
	struct weir_params p = split_params(1000, 0.01);
	struct weir_filter *f = NULL;
	(void)state;
	assert_ok(weir_create(&f, &p));
	const int64_t n = weir_save(f, weir_location_room(room, sizeof room), NULL);
	assert_ok(n);
	weir_destroy(f);
	f = NULL;
	room[8] = 2; /* format 2, which stores normalisation steps */
	for (unsigned step = WEIR_TEXT_TRIM; step <= WEIR_TEXT_SUFFIXES; step <<= 1) {
		room[IMAGE_STEPS] = (unsigned char)step;
		image_repair(room, (size_t)n);
		assert_refused(weir_load(&f, weir_location_memory(room, (size_t)n), NULL), -EBADMSG,
		               "before they are hashed", "split");
		assert_null(f);
	}
}

static void a_forged_seed_is_refused(void **state)
{
	enum { SEED = 56, BLOCKS = 104 };
	unsigned char room[8192];
	struct weir_params p = split_params(1000, 0.01);
	struct weir_filter *f = NULL;
	(void)state;
	assert_ok(weir_create(&f, &p));
	const int64_t n = weir_save(f, weir_location_room(room, sizeof room), NULL);
	assert_ok(n);
	weir_destroy(f);
	f = NULL;
	assert_true(image_get(room + SEED, 8) == 0);
	image_put64(room + SEED, 5);
	image_repair(room, (size_t)n);
	assert_refused(weir_load(&f, weir_location_memory(room, (size_t)n), NULL), -EBADMSG,
	               "seed is 5 where kind split has 0", "");
	image_put64(room + SEED, 0);
	room[BLOCKS + 1] ^= 1; /* a number of blocks that does not match the number of lines */
	image_repair(room, (size_t)n);
	assert_refused(weir_load(&f, weir_location_memory(room, (size_t)n), NULL), -EBADMSG,
	               "shape", "split");
	/* images of all other kinds must have a seed */
	f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	const int64_t m = weir_save(f, weir_location_room(room, sizeof room), NULL);
	assert_ok(m);
	weir_destroy(f);
	f = NULL;
	image_put64(room + SEED, 0);
	image_repair(room, (size_t)m);
	assert_refused(weir_load(&f, weir_location_memory(room, (size_t)m), NULL), -EBADMSG,
	               "seed is 0; allowed: 1 or more", "");
	assert_null(f);
}

/* Other programs read the split kind, so the kind has one fixed hash without a secret. */
static void a_forged_hash_is_refused(void **state)
{
	enum { HASH = 48, SEED = 56 };
	unsigned char room[8192];
	struct weir_params p = split_params(1000, 0.01);
	struct weir_filter *f = NULL;
	(void)state;
	assert_ok(weir_create(&f, &p));
	const int64_t n = weir_save(f, weir_location_room(room, sizeof room), NULL);
	assert_ok(n);
	weir_destroy(f);
	f = NULL;
	image_put64(room + SEED, 5); /* images with other hashes have a seed */
	for (unsigned hash = 1; hash <= 3; hash += 2) {
		room[HASH] = (unsigned char)hash;
		if (hash == 3) {
			room[8] = 2; /* format 2, which stores marks */
			room[IMAGE_MARKS] = WEIR_MARK_KEYED;
		}
		image_repair(room, (size_t)n);
		assert_refused(weir_load(&f, weir_location_memory(room, (size_t)n), NULL), -EBADMSG,
		               hash == 1 ? "hash is 1" : "hash is 3", "where kind split has 2");
	}
	assert_null(f);
}

/* No other kind hashes by XXH64 without a seed. */
static void a_handle_accepts_only_the_split_kind(void **state)
{
	struct weir_params p = split_params(1000, 0.01), other = p;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = NULL;
	struct weir_reload *r = NULL;
	(void)state;
	other.kind = WEIR_BLOCKED;
	o.params = &other;
	assert_ok(weir_handle_create(&h, split(1000), NULL));
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "hashed by XXH3", "XXH64, seed 0");
	o.params = &p;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_int_equal(weir_reload_insert(r, "key", 3), WEIR_NEW);
	assert_ok(weir_reload_commit(r));
	assert_true(weir_handle_contains(h, "key", 3));
	assert_ok(weir_handle_destroy(h));
}

/* ---- parameters and shapes ---- */

static void parameters_of_a_filter_create_its_like(void **state)
{
	(void)state;
	struct weir_filter *f = split(1000), *again = NULL;
	struct weir_params p = WEIR_PARAMS_INIT;
	assert_ok(weir_params_of(f, &p));
	assert_int_equal(p.seed, 0);
	assert_ok(weir_create(&again, &p));
	fill(f, 500);
	assert_ok(weir_merge(again, f));
	assert_has(again, 500);
	weir_destroy(f);
	weir_destroy(again);
}

static void an_odd_number_of_blocks_has_no_parameters(void **state)
{
	(void)state;
	struct weir_filter *f = of_blocks(7);
	struct weir_params p = WEIR_PARAMS_INIT;
	assert_refused(weir_params_of(f, &p), -EINVAL, "blocks is 7", "weir_clone");
	weir_destroy(f);
}

static bool legal(uint32_t blocks)
{
	const struct weir_shape shape = { WEIR_SPLIT, .field = { blocks } };
	char text[WEIR_SHAPE_TEXT];
	return weir_shape_text(&shape, text) == 0;
}

static void only_legal_shapes_are_accepted(void **state)
{
	struct weir_params p = split_params(UINT64_C(1) << 47, 0.01);
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	p.split.any_reader = 1; /* no filter for this many keys fits the limits of every reader */
	assert_int_equal(weir_plan_make(&p, &plan), -EFBIG);
	assert_true(legal(1) && legal(7));
	assert_false(legal(0) || legal(UINT32_MAX));
}

/* ---- odd numbers of blocks ---- */

static void odd_numbers_of_blocks_lose_no_key(void **state)
{
	(void)state;
	for (unsigned blocks = 1; blocks < 70; blocks++) {
		struct weir_filter *f = of_blocks(blocks), *copy = NULL;
		struct weir_stats s = WEIR_STATS_INIT;
		const uint64_t n = 12 * blocks;
		fill(f, n);
		assert_has(f, n);
		assert_ok(weir_measure(f, WEIR_EXACT, &s));
		assert_int_equal(s.shape.field[0], blocks);
		assert_int_equal(s.bytes, 64 * ((blocks + 1) / 2));
		assert_true(fabs(s.keys_estimated - (double)n) < 3 + 0.1 * (double)n);
		assert_ok(weir_clone(&copy, f));
		assert_int_equal(blocks_of(copy), blocks);
		assert_has(copy, n);
		weir_destroy(f);
		weir_destroy(copy);
	}
}

/* Two partitions would share the middle block, so such a filter has only one partition. */
static void odd_numbers_of_blocks_fill_as_one_partition(void **state)
{
	(void)state;
	enum { KEYS = 100000 };
	uint64_t *hashes = malloc(KEYS * sizeof *hashes);
	struct weir_filter *loaded = of_blocks(65537), *inserted = of_blocks(65537);
	static unsigned char a[65537 * 32], b[65537 * 32];
	for (uint64_t i = 0; i < KEYS; i++)
		hashes[i] = test_key(i) * UINT64_C(0x9e3779b97f4a7c15);
	assert_ok(weir_fill_keys(loaded, weir_keys_hashes(hashes, KEYS)));
	assert_ok(weir_insert_keys(inserted, weir_keys_hashes(hashes, KEYS), NULL));
	const uint32_t any = WEIR_PARQUET_ANY_SIZE;
	assert_true(weir_parquet_export(loaded, WEIR_PARQUET_BITSET, any, a, sizeof a) > 0);
	assert_true(weir_parquet_export(inserted, WEIR_PARQUET_BITSET, any, b, sizeof b) > 0);
	assert_memory_equal(a, b, sizeof a);
	free(hashes);
	weir_destroy(loaded);
	weir_destroy(inserted);
}

/* The image of an odd number of blocks includes the half line. */
static void odd_numbers_of_blocks_are_saved(void **state)
{
	(void)state;
	struct weir_filter *f = of_blocks(5), *again = NULL;
	char *folder = test_folder(), *path = NULL;
	assert_true(asprintf(&path, "%s/odd.weir", folder) > 0);
	fill(f, 50);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_ok(weir_load(&again, weir_location_path(path), NULL));
	assert_int_equal(blocks_of(again), 5);
	assert_has(again, 50);
	free(path);
	test_folder_remove(folder);
	weir_destroy(f);
	weir_destroy(again);
}

/* ---- folds, as in Arrow: blocks 2i and 2i+1 become block i ---- */

static void folding_ors_adjacent_blocks(void **state)
{
	(void)state;
	enum { BLOCKS = 12, FOLDED = BLOCKS / 4 };
	struct weir_filter *f = of_blocks(BLOCKS), *folded = NULL;
	unsigned char whole[32 * BLOCKS], want[32 * FOLDED] = { 0 }, got[32 * FOLDED];
	fill(f, 60);
	assert_ok(weir_fold(&folded, f, 4)); /* 12 blocks in 6 lines become 3 blocks in 2 lines */
	assert_int_equal(blocks_of(folded), FOLDED);
	assert_has(folded, 60);
	assert_true(weir_parquet_export(f, WEIR_PARQUET_BITSET, WEIR_PARQUET_ANY_SIZE, whole,
	                                sizeof whole) > 0);
	assert_true(weir_parquet_export(folded, WEIR_PARQUET_BITSET, WEIR_PARQUET_ANY_SIZE, got,
	                                sizeof got) > 0);
	for (unsigned i = 0; i < sizeof whole; i++)
		want[i / 128 * 32 + i % 32] |= whole[i];
	assert_memory_equal(want, got, sizeof want);
	weir_destroy(f);
	weir_destroy(folded);
}

static void the_factor_of_a_fold_must_divide_the_blocks(void **state)
{
	(void)state;
	struct weir_filter *f = of_blocks(12), *folded = NULL;
	assert_refused(weir_fold(&folded, f, 8), -EINVAL, "factor 8", "12 blocks");
	assert_refused(weir_fold(&folded, f, 3), -EINVAL, "factor 3", "power of two");
	assert_refused(weir_fold(&folded, f, 0), -EINVAL, "factor 0", "power of two");
	assert_null(folded);
	weir_destroy(f);
	f = split(20); /* one line of two blocks folds into half a line */
	fill(f, 10);
	assert_ok(weir_fold(&folded, f, 2 * blocks_of(f) / 2));
	assert_int_equal(blocks_of(folded), 1);
	assert_has(folded, 10);
	weir_destroy(f);
	weir_destroy(folded);
}

/* ---- sizes ---- */

/* The bits per key in the table were computed by hand. */
static void sizes_match_the_layout(void **state)
{
	(void)state;
	static const struct { double rate, bits; } table[] = {
		{ 0.1, 5.99 },    { 0.03, 8.20 },    { 0.01, 10.53 },  { 0.004, 12.78 },
		{ 0.001, 16.89 }, { 0.0001, 26.34 }, { 0.00001, 41.0 },
	};
	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		struct weir_params p = split_params(1000000, table[i].rate);
		struct weir_plan plan = WEIR_PLAN_INIT;
		assert_ok(weir_plan_make(&p, &plan));
		assert_true(fabs(plan.bits_per_key / table[i].bits - 1) < 0.01);
		assert_int_equal(plan.shape.field[0], plan.bytes / 32);
	}
}

static void more_blocks_than_32_bits_can_choose_are_refused(void **state)
{
	(void)state;
	struct weir_params p = split_params(UINT64_C(1) << 40, 0.01);
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_refused(weir_plan_make(&p, &plan), -EFBIG, "2^28 blocks", "32 bits");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_by_xxh64_without_a_seed),
		cmocka_unit_test(a_seed_a_secret_and_steps_are_refused),
		cmocka_unit_test(forged_steps_are_refused),
		cmocka_unit_test(a_forged_seed_is_refused),
		cmocka_unit_test(a_forged_hash_is_refused),
		cmocka_unit_test(a_handle_accepts_only_the_split_kind),
		cmocka_unit_test(only_legal_shapes_are_accepted),
		cmocka_unit_test(parameters_of_a_filter_create_its_like),
		cmocka_unit_test(an_odd_number_of_blocks_has_no_parameters),
		cmocka_unit_test(odd_numbers_of_blocks_lose_no_key),
		cmocka_unit_test(odd_numbers_of_blocks_fill_as_one_partition),
		cmocka_unit_test(odd_numbers_of_blocks_are_saved),
		cmocka_unit_test(folding_ors_adjacent_blocks),
		cmocka_unit_test(the_factor_of_a_fold_must_divide_the_blocks),
		cmocka_unit_test(sizes_match_the_layout),
		cmocka_unit_test(more_blocks_than_32_bits_can_choose_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
