/* SPDX-License-Identifier: MIT
 * What the library makes of a kind, whatever it can: kinds that exist in this test alone. One can
 * do nothing but answer lookups; one counts by another hash than XXH3 and takes keys out again; one
 * is full at some time. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include "../folder.h"
#include "batch.h"
#include "bulk.h"
#include "error.h"
#include "filter.h"
#include "kinds/list.h"

enum { SEED = 77, LINES = 64 };
static const char *const insert_refused = "kind toy cannot take inserts";

/* A filter of that kind, in memory of its own. */
static struct weir_filter *make(const struct weir_kind *kind, uint64_t lines, uint32_t shards,
                                int insert_error)
{
	const struct weir_layout layout = { .kind = kind,
		                            .shape = { .kind = kind->id },
		                            .shards = shards,
		                            .lines = lines,
		                            .capacity = 1000,
		                            .fp_rate = 0.01 };
	struct weir_memory memory;
	struct weir_filter *f = NULL;
	assert_ok(weir__memory_alloc(&memory, 64 * lines, 0, NULL, 0));
	assert_ok(weir__filter_make(&f, &layout, SEED, &memory, insert_error));
	return f;
}

/* Refused with that sentence, and nothing else in it. */
#define assert_says(call, err, sentence) \
	do { \
		assert_int_equal(call, err); \
		assert_string_equal(weir_error_detail(), sentence); \
	} while (0)

/* ---- a kind that can do nothing ---- */

static bool never(const struct weir_filter *f, const void *key, size_t len)
{
	(void)f, (void)key, (void)len;
	return false;
}

static bool never_hash(const struct weir_filter *f, uint64_t hash)
{
	(void)f, (void)hash;
	return false;
}

static size_t never_batch(const struct weir_filter *f, const struct weir_batch *batch,
                          uint64_t *bitmap)
{
	(void)f;
	if (bitmap)
		memset(bitmap, 0, 8 * WEIR_BITMAP_WORDS(batch->n));
	return 0;
}

static const struct weir_kernel *poor_kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel kernel = { .verbs = { never, never_hash, NULL, NULL },
		                                   .contains_batch = never_batch };
	(void)isa, (void)shape;
	return &kernel;
}

static const struct weir_kind poor = { .id = 4711,
	                               .name = "toy",
	                               .hash = &weir__xxh3,
	                               .kernel = poor_kernel };

static void no_whole(const struct weir_filter *f, struct weir_filter *other)
{
	struct weir_filter *out = other;
	struct weir_inline view;
	assert_says(weir_merge(other, f), -ENOTSUP, "kind toy cannot merge");
	assert_says(weir_clone(&out, f), -ENOTSUP, "kind toy cannot be copied");
	assert_says(weir_fold(&out, f, 2), -ENOTSUP, "kind toy cannot fold");
	assert_says(weir_fold(&out, f, 3), -ENOTSUP, "kind toy cannot fold");
	assert_ptr_equal(out, other); /* untouched */
	assert_says(weir_inline_init(&view, f), -ENOTSUP, "kind toy cannot be inlined");
}

static void no_inserts(struct weir_filter *f)
{
	uint64_t hashes[3] = { 1, 2, 3 }, bitmap = 0xa5;
	struct iovec keys[1] = { { hashes, 8 } };
	assert_says(weir_insert(f, "a", 1), -ENOTSUP, insert_refused);
	assert_says(weir_insert_hash(f, 1), -ENOTSUP, insert_refused);
	assert_says(weir_insert_hashes(f, hashes, 3, &bitmap), -ENOTSUP, insert_refused);
	assert_says(weir_insert_hashes(f, NULL, 0, NULL), -ENOTSUP, insert_refused);
	assert_says(weir_insert_keys(f, keys, 1, &bitmap), -ENOTSUP, insert_refused);
	assert_says(weir_insert_fixed(f, hashes, 8, 3, &bitmap), -ENOTSUP, insert_refused);
	assert_says(weir_insert_fixed(f, hashes, 3, 3, NULL), -ENOTSUP, insert_refused);
	assert_says(weir_load_hashes(f, hashes, 3), -ENOTSUP, insert_refused);
	assert_int_equal(bitmap, 0xa5);
}

static void no_removals_and_counts(struct weir_filter *f)
{
	static const char *const remove = "kind toy cannot remove keys",
	                  *const count = "kind toy cannot count keys";
	uint64_t hashes[3] = { 1, 2, 3 }, bitmap = 0xa5;
	int64_t counts[3] = { 5, 5, 5 };
	struct iovec keys[1] = { { hashes, 8 } };
	assert_says(weir_remove(f, "a", 1), -ENOTSUP, remove);
	assert_says(weir_remove_hash(f, 1), -ENOTSUP, remove);
	assert_says(weir_remove_hashes(f, hashes, 3, &bitmap), -ENOTSUP, remove);
	assert_says(weir_remove_keys(f, keys, 1, &bitmap), -ENOTSUP, remove);
	assert_says(weir_remove_fixed(f, hashes, 8, 3, NULL), -ENOTSUP, remove);
	assert_says(weir_count(f, "a", 1), -ENOTSUP, count);
	assert_says(weir_count_hash(f, 1), -ENOTSUP, count);
	assert_says(weir_count_hashes(f, hashes, 3, counts), -ENOTSUP, count);
	assert_says(weir_count_keys(f, keys, 1, counts), -ENOTSUP, count);
	assert_says(weir_count_fixed(f, hashes, 8, 3, counts), -ENOTSUP, count);
	assert_true(bitmap == 0xa5 && counts[0] == 5 && counts[1] == 5 && counts[2] == 5);
}

/* Mapped read-only or not: what it never could it says so of. */
static void what_a_kind_lacks(void **state)
{
	static const int errors[] = { 0, -EROFS };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(errors); i++) {
		struct weir_filter *f = make(&poor, LINES, 1, errors[i]),
		                   *other = make(&poor, LINES, 1, errors[i]);
		no_whole(f, other);
		no_inserts(f);
		no_removals_and_counts(f);
		assert_false(weir_contains(f, "a", 1));
		weir_destroy(f), weir_destroy(other);
	}
}

static unsigned files_in(const char *name)
{
	unsigned n = 0;
	DIR *dir = opendir(name);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		n += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(dir);
	return n;
}

/* Not even a file of another name, and one that was there stays. */
static void a_save_that_cannot_be(void **state)
{
	struct weir_filter *f = make(&poor, LINES, 1, 0);
	struct stat st;
	(void)state;
	assert_says(weir_save(f, path, NULL), -ENOTSUP, "kind toy cannot be saved");
	assert_int_equal(files_in(folder), 0);
	int fd = open(path, O_CREAT | O_RDWR, 0600);
	assert_int_equal(write(fd, "before", 6), 6);
	assert_says(weir_save(f, path, NULL), -ENOTSUP, "kind toy cannot be saved");
	assert_says(weir_save_fd(f, fd, NULL), -ENOTSUP, "kind toy cannot be saved");
	assert_int_equal(files_in(folder), 1);
	assert_true(fstat(fd, &st) == 0 && st.st_size == 6);
	close(fd);
	weir_destroy(f);
}

/* Of the kinds that there are. */
static void kinds_that_are_not_built(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		struct weir_params params = WEIR_PARAMS_INIT;
		struct weir_filter *f = (void *)&params;
		uint64_t hash = 1;
		char sentence[200];
		params.kind = test_kinds[k];
		params.capacity = 10, params.fp_rate = 0.01, params.seed = SEED;
		int err = weir_build(&f, &params, &hash, 1);
		if (err == 0) {
			weir_destroy(f);
			continue;
		}
		snprintf(sentence, sizeof sentence,
		         "kind %s cannot be built: create it, then insert",
		         weir_kind_name(test_kinds[k]));
		assert_says(err, -ENOTSUP, sentence);
		assert_ptr_equal(f, &params);
	}
}

static void what_a_build_is_not_given(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	uint64_t hash = 1;
	(void)state;
	params.fp_rate = 0.01;
	assert_refused(weir_build(NULL, &params, &hash, 1), -EINVAL, "out is NULL", "weir_build");
	assert_refused(weir_build(&f, NULL, &hash, 1), -EINVAL, "weir_params is NULL", "_INIT");
	assert_refused(weir_build(&f, &params, &hash, 0), -EINVAL, "capacity 0", "give two");
	/* the capacity is that of the hashes, so the next thing is missed */
	assert_refused(weir_build(&f, &params, &hash, 1), -EINVAL, "seed 0", "made with");
	params.seed = SEED;
	assert_refused(weir_build(&f, &params, NULL, 3), -EINVAL, "hashes is NULL", "3");
	assert_null(f);
}

/* A size that an image may have and no plan gives: not to be rounded in silence. */
static void parameters_of_a_size_of_its_own(void **state)
{
	struct weir_layout layout = { .kind = weir__kind(WEIR_BLOCKED),
		                      .shape = { WEIR_BLOCKED, { 2, 3 } },
		                      .shards = 1,
		                      .lines = 3001,
		                      .capacity = 100000,
		                      .fp_rate = 0.01 };
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_memory memory;
	struct weir_filter *f;
	(void)state;
	assert_ok(weir__memory_alloc(&memory, 64 * layout.lines, 0, NULL, 0));
	assert_ok(weir__filter_make(&f, &layout, SEED, &memory, 0));
	assert_refused(weir_params_of(f, &params), -ENOTSUP, "192064 bytes", "nearest has 192000");
	assert_int_equal(params.capacity, 0);
	f->capacity = UINT64_C(1) << 40; /* nor does one of so many keys */
	assert_refused(weir_params_of(f, &params), -EINVAL, "192064", "rate would be");
	weir_destroy(f);
}

/* By its function as in line: both are XXH3. */
static void the_hashes_by_their_functions(void **state)
{
	char key[300];
	(void)state;
	for (size_t n = 0; n < sizeof key; n++) {
		key[n] = (char)(7 * n);
		assert_int_equal(weir__xxh3.of(SEED, key, n), XXH3_64bits_withSeed(key, n, SEED));
		assert_int_equal(weir__xxh64.of(SEED, key, n), XXH64(key, n, SEED));
		assert_int_equal(weir__hash_by(&weir__xxh3, SEED, key, n),
		                 XXH3_64bits_withSeed(key, n, SEED));
	}
}

/* ---- a kind that counts exactly: slots of a hash and how often it is in, and XXH64 ---- */

static int64_t room = INT64_MAX; /* new keys that it still takes */
static unsigned batches;

static uint64_t *slot_of(const struct weir_filter *f, uint64_t hash)
{
	uint64_t slots = 4 * f->array.lines, i = hash % slots;
	while (f->array.words[2 * i] && f->array.words[2 * i] != hash)
		i = (i + 1) % slots;
	return f->array.words + 2 * i;
}

static bool holds_hash(const struct weir_filter *f, uint64_t hash)
{
	return slot_of(f, hash)[1] != 0;
}

static bool holds(const struct weir_filter *f, const void *key, size_t len)
{
	return holds_hash(f, weir__hash_by(f->kind->hash, f->array.seed, key, len));
}

static int put_hash(struct weir_filter *f, uint64_t hash)
{
	uint64_t *slot = slot_of(f, hash);
	if (!slot[0] && room-- <= 0)
		return weir__fail(-ENOSPC, "the toy is full");
	slot[0] = hash;
	return slot[1]++ == 0 ? WEIR_NEW : WEIR_SEEN;
}

static int put(struct weir_filter *f, const void *key, size_t len)
{
	return put_hash(f, weir__hash_by(f->kind->hash, f->array.seed, key, len));
}

static uint64_t hash_at(const struct weir_filter *f, const struct weir_batch *batch, size_t i)
{
	uint64_t hash;
	if (batch->from == WEIR_FROM_HASHES)
		return ((const uint64_t *)batch->keys)[i];
	weir__batch_hash(f, batch, i, 1, &hash);
	return hash;
}

static size_t holds_batch(const struct weir_filter *f, const struct weir_batch *batch,
                          uint64_t *bitmap)
{
	size_t found = 0;
	never_batch(f, batch, bitmap);
	for (size_t i = 0; i < batch->n; i++) {
		bool there = holds_hash(f, hash_at(f, batch, i));
		found += there;
		if (bitmap)
			bitmap[i / 64] |= (uint64_t)there << (i % 64);
	}
	return found;
}

static int64_t put_batch(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap)
{
	int64_t fresh = 0;
	batches++;
	never_batch(f, batch, bitmap);
	for (size_t i = 0; i < batch->n; i++) {
		int answer = put_hash(f, hash_at(f, batch, i));
		if (answer < 0)
			return answer;
		fresh += answer;
		if (bitmap)
			bitmap[i / 64] |= (uint64_t)answer << (i % 64);
	}
	return fresh;
}

static int take_out(struct weir_filter *f, uint64_t hash)
{
	uint64_t *slot = slot_of(f, hash);
	if (!slot[1])
		return weir__fail(-ENOENT, "the toy has no such key");
	slot[1]--;
	return 0;
}

static int64_t count_of(const struct weir_filter *f, uint64_t hash)
{
	return (int64_t)slot_of(f, hash)[1];
}

static const struct weir_kernel *rich_kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel kernel = { .verbs = { holds, holds_hash, put, put_hash },
		                                   .contains_batch = holds_batch,
		                                   .insert_batch = put_batch,
		                                   .partition_bits = 64,
		                                   .remove = take_out,
		                                   .count = count_of };
	(void)isa, (void)shape;
	return &kernel;
}

static const struct weir_kind rich = { .id = 4712,
	                               .name = "rich toy",
	                               .hash = &weir__xxh64,
	                               .kernel = rich_kernel };

enum { KEYS = 130, TWICE = 65 };
static uint64_t numbers[KEYS], hashes[KEYS];
static struct iovec vectors[KEYS];

/* KEYS keys of eight bytes, the first TWICE of them twice; in each form the verbs take. */
static struct weir_filter *rich_filled(int insert_error)
{
	struct weir_filter *f = make(&rich, LINES, 1, 0);
	room = INT64_MAX;
	for (unsigned i = 0; i < KEYS; i++) {
		numbers[i] = test_key(i);
		hashes[i] = XXH64(&numbers[i], 8, SEED);
		vectors[i] = (struct iovec){ &numbers[i], 8 };
	}
	assert_int_equal(weir_insert_fixed(f, numbers, 8, KEYS, NULL), KEYS);
	assert_int_equal(weir_insert_hashes(f, hashes, TWICE, NULL), 0);
	f->insert_error = insert_error;
	return f;
}

static void hashes_are_the_kind_s(void **state)
{
	struct weir_filter *f = make(&rich, LINES, 1, 0);
	char bytes[100 * 20];
	uint64_t out[100];
	struct iovec keys[100];
	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)test_key(i);
	assert_int_equal(weir_hash(f, NULL, 0), XXH64(NULL, 0, SEED));
	for (size_t width = 1; width <= 20; width++) { /* 8 too: XXH3 has a way of its own there */
		weir_hash_fixed(f, bytes, width, 100, out);
		for (size_t i = 0; i < 100; i++) {
			assert_int_equal(out[i], XXH64(bytes + i * width, width, SEED));
			assert_int_equal(weir_hash(f, bytes + i * width, width), out[i]);
			keys[i] = (struct iovec){ bytes + i, 1 + (i + width) % 20 };
		}
		weir_hash_keys(f, keys, 100, out);
		for (size_t i = 0; i < 100; i++)
			assert_int_equal(out[i], XXH64(keys[i].iov_base, keys[i].iov_len, SEED));
	}
	weir_destroy(f);
}

static void lookups_by_the_kind_s_hash(void **state)
{
	struct weir_filter *f = rich_filled(0);
	(void)state;
	for (unsigned i = 0; i < KEYS; i++)
		assert_true(weir_contains(f, &numbers[i], 8) && weir_contains_hash(f, hashes[i]));
	assert_int_equal(weir_contains_fixed(f, numbers, 8, KEYS, NULL), KEYS);
	assert_int_equal(weir_contains_keys(f, vectors, KEYS, NULL), KEYS);
	assert_int_equal(weir_contains_hashes(f, hashes, KEYS, NULL), KEYS);
	weir_destroy(f);
}

static void assert_counts(const struct weir_filter *f, int64_t twice, int64_t once)
{
	int64_t counts[3][KEYS];
	assert_ok(weir_count_hashes(f, hashes, KEYS, counts[0]));
	assert_ok(weir_count_keys(f, vectors, KEYS, counts[1]));
	assert_ok(weir_count_fixed(f, numbers, 8, KEYS, counts[2]));
	for (unsigned i = 0; i < KEYS; i++) {
		int64_t wanted = i < TWICE ? twice : once;
		assert_int_equal(weir_count(f, &numbers[i], 8), wanted);
		assert_int_equal(weir_count_hash(f, hashes[i]), wanted);
		for (unsigned form = 0; form < 3; form++)
			assert_int_equal(counts[form][i], wanted);
	}
}

static void removed_one_by_one(void **state)
{
	struct weir_filter *f = rich_filled(0);
	(void)state;
	assert_counts(f, 2, 1);
	for (unsigned i = 0; i < KEYS; i++)
		assert_ok(i % 2 ? weir_remove(f, &numbers[i], 8) : weir_remove_hash(f, hashes[i]));
	assert_counts(f, 1, 0);
	assert_says(weir_remove(f, &numbers[TWICE], 8), -ENOENT, "the toy has no such key");
	assert_says(weir_remove_hash(f, hashes[TWICE]), -ENOENT, "the toy has no such key");
	assert_says(weir_remove(f, "none", 4), -ENOENT, "the toy has no such key");
	assert_counts(f, 1, 0);
	weir_destroy(f);
}

static int64_t remove_in(struct weir_filter *f, unsigned form, size_t n, uint64_t *bitmap)
{
	return form == 0 ? weir_remove_hashes(f, hashes, n, bitmap) :
	       form == 1 ? weir_remove_keys(f, vectors, n, bitmap) :
	                   weir_remove_fixed(f, numbers, 8, n, bitmap);
}

static void removed_in_batches(void **state)
{
	(void)state;
	for (unsigned form = 0; form < 3; form++) {
		struct weir_filter *f = rich_filled(0);
		uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS) + 1];
		memset(bitmap, 0xa5, sizeof bitmap);
		assert_int_equal(remove_in(f, form, 0, bitmap), 0);
		assert_int_equal(bitmap[0], UINT64_C(0xa5a5a5a5a5a5a5a5));
		assert_int_equal(remove_in(f, form, KEYS, bitmap), KEYS);
		assert_true(bitmap[0] == UINT64_MAX && bitmap[1] == UINT64_MAX);
		assert_int_equal(bitmap[2], 3); /* bits past n are cleared */
		assert_int_equal(bitmap[3], UINT64_C(0xa5a5a5a5a5a5a5a5));
		assert_counts(f, 1, 0);
		assert_int_equal(remove_in(f, form, KEYS, bitmap), TWICE); /* the rest is gone */
		assert_true(bitmap[0] == UINT64_MAX && bitmap[1] == 1 && bitmap[2] == 0);
		assert_counts(f, 0, 0);
		weir_destroy(f);
		f = rich_filled(0);
		assert_int_equal(remove_in(f, form, KEYS, NULL), KEYS);
		assert_int_equal(remove_in(f, form, KEYS, NULL), TWICE);
		assert_int_equal(remove_in(f, form, KEYS, NULL), 0);
		weir_destroy(f);
	}
}

/* Nothing is taken out of what is mapped read-only; it is still counted. */
static void a_filter_that_is_mapped(void **state)
{
	struct weir_filter *f = rich_filled(-EROFS);
	uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
	(void)state;
	assert_refused(weir_remove(f, &numbers[0], 8), -EROFS, "mapped read-only", "");
	assert_refused(weir_remove_hash(f, hashes[0]), -EROFS, "mapped read-only", "");
	for (unsigned form = 0; form < 3; form++)
		assert_refused(remove_in(f, form, KEYS, bitmap), -EROFS, "mapped read-only", "");
	assert_counts(f, 2, 1);
	weir_destroy(f);
}

/* ---- a kind that is full ---- */

static void a_batch_that_is_refused(void **state)
{
	struct weir_filter *f = rich_filled(0);
	uint64_t more[10], bitmap[1];
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(more); i++)
		more[i] = test_key(1000 + i);
	room = 0;
	assert_says(weir_insert_hash(f, more[0]), -ENOSPC, "the toy is full");
	assert_says(weir_insert_hashes(f, more, 10, bitmap), -ENOSPC, "the toy is full");
	assert_says(weir_insert_fixed(f, more, 8, 10, NULL), -ENOSPC, "the toy is full");
	/* without plain stores it loads by inserts */
	assert_says(weir_load_hashes(f, more, 10), -ENOSPC, "the toy is full");
	room = 10;
	assert_ok(weir_load_hashes(f, more, 10));
	assert_int_equal(weir_contains_hashes(f, more, 10, NULL), 10);
	weir_destroy(f);
}

/* So many keys, into so large a filter, that they are sorted by part first (bulk.c). */
static void a_large_batch_that_is_refused(void **state)
{
	enum { MANY = 70000, SHARDS = 16 };
	uint64_t lines = (8 * weir__cache_bytes() / 64 / SHARDS + 1024) * SHARDS;
	uint64_t *many = malloc(MANY * sizeof *many), *out = malloc(MANY * sizeof *out),
	         *bitmap = calloc(WEIR_BITMAP_WORDS(MANY), 8);
	struct weir_filter *f = make(&rich, lines, SHARDS, 0);
	(void)state;
	assert_true(many && out && bitmap);
	for (unsigned i = 0; i < MANY; i++)
		many[i] = test_key(i);
	assert_true(weir__bulk_wanted(f, MANY));
	assert_true(f->parts > 1);
	room = MANY / 2;
	batches = 0;
	assert_says(weir_insert_fixed(f, many, 8, MANY, bitmap), -ENOSPC, "the toy is full");
	assert_true(batches > 1 && batches <= f->parts + 2); /* no more after it */
	assert_says(weir_insert_hashes(f, many, MANY, NULL), -ENOSPC, "the toy is full");
	weir_destroy(f);
	f = make(&rich, lines, SHARDS, 0);
	room = MANY;
	assert_int_equal(weir_insert_fixed(f, many, 8, MANY, bitmap), MANY);
	for (unsigned i = 0; i < MANY; i++)
		assert_true(bitmap[i / 64] >> (i % 64) & 1);
	weir_hash_fixed(f, many, 8, MANY, out);
	assert_int_equal(weir_contains_hashes(f, out, MANY, NULL), MANY);
	for (unsigned i = 0; i < MANY; i += 1000)
		assert_int_equal(weir_count_hash(f, XXH64(&many[i], 8, SEED)), 1);
	weir_destroy(f);
	free(many), free(out), free(bitmap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_kind_lacks),
		cmocka_unit_test_setup_teardown(a_save_that_cannot_be, folder_setup,
		                                folder_teardown),
		cmocka_unit_test(kinds_that_are_not_built),
		cmocka_unit_test(what_a_build_is_not_given),
		cmocka_unit_test(parameters_of_a_size_of_its_own),
		cmocka_unit_test(the_hashes_by_their_functions),
		cmocka_unit_test(hashes_are_the_kind_s),
		cmocka_unit_test(lookups_by_the_kind_s_hash),
		cmocka_unit_test(removed_one_by_one),
		cmocka_unit_test(removed_in_batches),
		cmocka_unit_test(a_filter_that_is_mapped),
		cmocka_unit_test(a_batch_that_is_refused),
		cmocka_unit_test(a_large_batch_that_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
