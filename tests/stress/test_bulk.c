/* SPDX-License-Identifier: MIT
 * Bulk loads that own the whole filter, and bulk loads that first collect the hashes of each part
 * in buckets (src/filter/bulk.c). With one thread or several, the bits are those of single inserts.
 * The library is linked statically, so that the test can choose the sizes of the caches, and the
 * part that other threads own when a load waits. */
#include <errno.h>
#include <pthread.h>
#include "../short.h"
#include "../no_memory.h"
#include "../test.h"
#include "../kinds/kind.h"
#include "filter/filter.h"
#include "ground/threads.h"

/* Keys cost more time under a sanitizer, so there everything is half as large. */
enum { MIB = 1 << (TEST_SANITIZED ? 19 : 20) };
enum {
	BYTES = 8 * MIB,
	CACHE = MIB,    /* the size that this test gives to a core's own cache */
	KEYS = MIB / 2, /* four keys for each line */
	THREADS = 3,
};

static uint64_t last_cache = UINT64_MAX;

uint64_t __wrap_weir__cache_bytes(void);
uint64_t __wrap_weir__cache_bytes(void)
{
	return CACHE;
}

uint64_t __wrap_weir__last_cache_bytes(void);
uint64_t __wrap_weir__last_cache_bytes(void)
{
	return last_cache;
}

/* Simulated other threads. They always own exactly one part. When the load waits for this part, the
 * simulated threads drop the part and take the next part. */
static struct {
	struct weir_filter *f; /* NULL: no other threads */
	uint32_t owned;
	unsigned waits;
} others;

/* Check that the load has not written into @part, which other threads have owned so far. */
static void assert_untouched(const struct weir_filter *f, uint32_t part)
{
	size_t words = f->bytes / sizeof *f->array.words / f->parts;
	for (size_t i = 0; i < words; i++)
		if (f->array.words[part * words + i])
			fail_msg("word %zu of part %u was written", i, part);
}

void __real_weir__owner_wait(struct weir_owner *owner);
void __wrap_weir__owner_wait(struct weir_owner *owner);
void __wrap_weir__owner_wait(struct weir_owner *owner)
{
	if (!others.f) {
		__real_weir__owner_wait(owner);
		return;
	}
	assert_ptr_equal(owner, &others.f->owners[others.owned]); /* the load waits for this part */
	if (others.waits == 0)
		assert_untouched(others.f, others.owned);
	if (++others.waits > others.f->parts)
		fail_msg("%u waits, and no end", others.waits);
	weir__owner_drop(owner);
	others.owned = (others.owned + 1) % others.f->parts;
	assert_true(weir__owner_take(&others.f->owners[others.owned]));
}

struct subject {
	struct weir_filter *f;
	void *memory;
};

static struct subject make(const struct test_shape *shape)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct subject s;
	assert_ok(weir_params_shape(&p, &shape->shape));
	p.capacity = (uint64_t)BYTES; /* eight bits a key */
	p.max_bytes = BYTES;
	p.seed = test_seed(p.kind, 9);
	s.memory = aligned_alloc(64, BYTES);
	assert_non_null(s.memory);
	p.memory = s.memory, p.memory_bytes = BYTES;
	assert_ok(weir_create(&s.f, &p));
	assert_in_range(s.f->parts, 2, 64);
	return s;
}

static void unmake(struct subject *s)
{
	weir_destroy(s->f);
	free(s->memory);
}

static uint64_t *hashes;

static int make_hashes(void **state)
{
	(void)state;
	hashes = malloc(KEYS * sizeof *hashes);
	for (size_t i = 0; hashes && i < KEYS; i++)
		hashes[i] = test_key(i);
	return !hashes;
}

static int free_hashes(void **state)
{
	(void)state;
	free(hashes);
	return 0;
}

static void assert_as_inserted(const struct test_shape *shape, const struct subject *loaded)
{
	struct subject one = make(shape);
	for (size_t i = 0; i < KEYS; i++)
		assert_ok(weir_insert_hash(one.f, hashes[i]));
	assert_memory_equal(one.memory, loaded->memory, BYTES);
	unmake(&one);
}

/* Load in calls of each length that a kernel treats specially, then load the rest in one call. */
static void by_one_thread(void **state)
{
	const struct test_shape *shape = *state;
	for (unsigned buckets = 0; buckets < 2; buckets++) {
		struct subject s = make(shape);
		size_t at = 0;
		last_cache = buckets ? 0 : UINT64_MAX;
		for (size_t n = 0; n < 200; at += n++)
			assert_ok(weir_fill_keys(s.f, weir_keys_hashes(hashes + at, n)));
		assert_ok(weir_fill_keys(s.f, weir_keys_hashes(hashes + at, KEYS - at)));
		assert_as_inserted(shape, &s);
		unmake(&s);
	}
}

/* A bucket has room for a fair share of the hashes, but these hashes all belong to one part. */
static void all_in_one_part(void **state)
{
	const struct test_shape *shape = *state;
	struct subject one = make(shape), many = make(shape);
	uint64_t *narrow = malloc(KEYS * sizeof *narrow);
	assert_non_null(narrow);
	for (size_t i = 0; i < KEYS; i++) {
		narrow[i] = UINT64_C(5) << 60 | hashes[i] >> 8;
		assert_ok(weir_insert_hash(one.f, narrow[i]));
	}
	last_cache = 0;
	assert_ok(weir_fill_keys(many.f, weir_keys_hashes(narrow, KEYS)));
	assert_memory_equal(one.memory, many.memory, BYTES);
	unmake(&one), unmake(&many), free(narrow);
}

struct loader {
	struct weir_filter *f;
	pthread_barrier_t *begin;
	size_t at, n, call;
	int answer;
};

static void *load(void *loader)
{
	struct loader *l = loader;
	pthread_barrier_wait(l->begin);
	for (size_t done = 0, n; done < l->n && !l->answer; done += n) {
		n = l->n - done < l->call ? l->n - done : l->call;
		l->answer = weir_fill_keys(l->f, weir_keys_hashes(hashes + l->at + done, n));
	}
	return NULL;
}

/* Load by several threads. Each thread shares some of its keys with the next thread. */
static void load_together(struct weir_filter *f, size_t call)
{
	pthread_t threads[THREADS];
	struct loader loaders[THREADS];
	pthread_barrier_t begin;
	assert_int_equal(pthread_barrier_init(&begin, NULL, THREADS), 0);
	for (size_t t = 0; t < THREADS; t++) {
		size_t at = KEYS * t / (THREADS + 1), end = KEYS * (t + 2) / (THREADS + 1);
		loaders[t] = (struct loader){
			.f = f, .begin = &begin, .at = at, .n = end - at, .call = call
		};
		assert_int_equal(pthread_create(&threads[t], NULL, load, &loaders[t]), 0);
	}
	for (size_t t = 0; t < THREADS; t++) {
		assert_int_equal(pthread_join(threads[t], NULL), 0);
		assert_ok(loaders[t].answer);
	}
	pthread_barrier_destroy(&begin);
}

/* Several threads load with long calls or with short calls. The threads compete for the whole
 * filter and for single parts. */
static void by_several_threads(void **state)
{
	static const size_t calls[] = { KEYS, 100000, 1000 };
	const struct test_shape *shape = *state;
	for (unsigned i = 0; i < 3 * COUNT_OF(calls); i++) {
		struct subject s = make(shape);
		last_cache = i % 3 == 1 ? 0 : UINT64_MAX;
		no_memory = i % 3 == 2; /* the load gets no memory for buckets of hashes */
		load_together(s.f, calls[i / 3]);
		no_memory = false;
		assert_as_inserted(shape, &s);
		unmake(&s);
	}
}

/* Other threads own some part at any moment, so a load never owns the whole filter. It waits for
 * one part at a time, and at most once for each part, with and without memory for hashes. */
static void beside_others_without_end(void **state)
{
	const struct test_shape *shape = *state;
	for (unsigned i = 0; i < 4; i++) {
		struct subject s = make(shape);
		last_cache = UINT64_MAX;
		no_memory = i & 1;
		others.owned = i & 2 ? s.f->parts - 1 : 0;
		others.waits = 0;
		assert_true(weir__owner_take(&s.f->owners[others.owned]));
		others.f = s.f;
		assert_ok(weir_fill_keys(s.f, weir_keys_hashes(hashes, KEYS)));
		others.f = NULL;
		no_memory = false;
		assert_in_range(others.waits, 1, s.f->parts);
		weir__owner_drop(&s.f->owners[others.owned]);
		assert_as_inserted(shape, &s);
		unmake(&s);
	}
}

/* Mark the last part as wanted by a thread that has slept while it waited for the part, and has not
 * taken the part yet ([WANTED-FIRST]). */
static void let_one_sleep(struct weir_filter *f)
{
	uint32_t last = f->parts - 1;
	assert_true(weir__owner_take(&f->owners[last]));
	atomic_fetch_or(&f->owners[last].mark, 1); /* as weir__owner_wait() does */
	weir__owner_drop(&f->owners[last]);
}

/* A thread that has slept while it waited for a part goes before a load of the whole filter. So the
 * first load in this test collects hashes and fills part by part. */
static void beside_one_that_slept(void **state)
{
	const struct test_shape *shape = *state;
	struct subject s = make(shape);
	last_cache = UINT64_MAX;
	let_one_sleep(s.f);
	for (unsigned i = 0; i < 2; i++) {
		asked_for_memory = 0;
		assert_ok(weir_fill_keys(s.f, weir_keys_hashes(hashes, KEYS)));
		assert_int_equal(asked_for_memory, !i); /* only the first load finds the mark */
	}
	assert_as_inserted(shape, &s);
	unmake(&s);
}

static void load_in_rounds(struct weir_filter *f, const uint64_t *of, size_t n)
{
	last_cache = UINT64_MAX;
	let_one_sleep(f);
	no_memory = true;
	asked_for_memory = 0;
	assert_ok(weir_fill_keys(f, weir_keys_hashes(of, n)));
	assert_int_equal(asked_for_memory, n > 0);
	no_memory = false;
}

/* Load in calls of each length from 0 to 599. The longest calls have more hashes than a round
 * collects on the stack. Then load the rest in one call. */
static void rounds_of_every_length(void **state)
{
	const struct test_shape *shape = *state;
	struct subject s = make(shape);
	size_t at = 0;
	for (size_t n = 0; n < 600; at += n++)
		load_in_rounds(s.f, hashes + at, n);
	load_in_rounds(s.f, hashes + at, KEYS - at);
	assert_as_inserted(shape, &s);
	unmake(&s);
}

/* Load more hashes than the library loads by rounds at a time (ROUND in src/filter/bulk.c). First
 * come KEYS / 2 hashes, again and again. The last KEYS / 2 hashes are new. */
static void rounds_after_rounds(void **state)
{
	enum { MANY = 5 * KEYS, FIRST = MANY - KEYS / 2 };
	const struct test_shape *shape = *state;
	struct subject s = make(shape);
	uint64_t *many = malloc(MANY * sizeof *many);
	assert_non_null(many);
	for (size_t i = 0; i < MANY; i++)
		many[i] = hashes[i < FIRST ? i % (KEYS / 2) : KEYS / 2 + i - FIRST];
	load_in_rounds(s.f, many, MANY);
	assert_as_inserted(shape, &s);
	unmake(&s), free(many);
}

/* The number of parts is a power of two, usually from 16 to 1,024. Several loaders can work at once
 * on 16 parts. A large filter has more parts, so that one part fits into half of a core's own
 * cache. The number is lower if the filter has fewer shards, if [PARTITION-BITS] allows fewer parts
 * to the kind, or if more parts would not have whole blocks. */
static void parts_of_a_filter(void **state)
{
	const uint64_t small = 4096, large = 64 * CACHE, huge = UINT64_C(1) << 40;
	const struct weir_kernel all = { .partition_bits = 64 }, five = { .partition_bits = 5 },
	                         one = { .partition_bits = 1 }, none = { .partition_bits = 0 },
	                         blocks = { .partition_bits = 64, .block_lines = 4 };
	(void)state;
	assert_int_equal(weir__bulk_parts(&all, small, 1 << 20), 16);
	assert_int_equal(weir__bulk_parts(&all, large, 1 << 20), 128);
	assert_int_equal(weir__bulk_parts(&all, huge, 1 << 20), 1024);
	assert_int_equal(weir__bulk_parts(&all, large, 32), 32);
	assert_int_equal(weir__bulk_parts(&all, huge, 1), 1);
	assert_int_equal(weir__bulk_parts(&five, large, 1 << 20), 32);
	assert_int_equal(weir__bulk_parts(&one, large, 1 << 20), 2);
	assert_int_equal(weir__bulk_parts(&none, large, 1 << 20), 1);
	assert_int_equal(weir__bulk_parts(&blocks, huge, 1 << 20), 1024);
	assert_int_equal(weir__bulk_parts(&blocks, 64 * 8, 1 << 20), 2);
	assert_int_equal(weir__bulk_parts(&blocks, 64 * 12, 1 << 20), 1);
}

/* Return: the number of tests for a shape. In a short run the main shapes of a kind get all tests,
 * and the other shapes get the first two tests, which use one thread. */
static size_t asked(const struct test_shape *shape, size_t all)
{
	return !shape->bulk ? 0 : test_is_short() && !shape->main ? 2 : all;
}

int main(void)
{
	static struct CMUnitTest tests[128];
	static const struct CMUnitTest each[] = {
		cmocka_unit_test(by_one_thread),
		cmocka_unit_test(all_in_one_part),
		cmocka_unit_test(by_several_threads),
		cmocka_unit_test(beside_others_without_end),
		cmocka_unit_test(beside_one_that_slept),
		cmocka_unit_test(rounds_of_every_length),
		cmocka_unit_test(rounds_after_rounds),
	};
	size_t n = 0;
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(parts_of_a_filter);
	FOR_EACH_KIND(kind)
		for (size_t i = 0; i < kind->shapes.n; i++)
			for (size_t t = 0; t < asked(&kind->shapes.rows[i], COUNT_OF(each)); t++) {
				assert_true(kind->commutes && n < COUNT_OF(tests));
				tests[n] = each[t];
				tests[n++].initial_state =
					(void *)(uintptr_t)&kind->shapes.rows[i];
			}
	return _cmocka_run_group_tests("bulk", tests, n, make_hashes, free_hashes);
}
