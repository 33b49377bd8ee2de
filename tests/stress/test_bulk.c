/* SPDX-License-Identifier: MIT
 * Batches so large, into filters so large, that they are sorted by part first: the bits are
 * those of single inserts, whatever the form of the keys, and threads that fill the same parts
 * at once lose nothing. */
#include <pthread.h>
#include <sys/uio.h>
#include "../test.h"
#include "../kinds/kind.h"

enum { BYTES = 32 << 20, KEYS = 3 << 19, WIDE = 12 };

struct subject {
	struct weir_filter *f;
	void *memory;
};

static struct subject make(const struct test_shape *shape)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct subject s;
	assert_ok(weir_params_ask(&p, &shape->shape));
	p.capacity = (uint64_t)BYTES; /* eight bits a key */
	p.max_bytes = BYTES;
	p.seed = 9;
	s.memory = aligned_alloc(64, BYTES);
	assert_non_null(s.memory);
	p.memory = s.memory, p.memory_bytes = BYTES;
	assert_ok(weir_create(&s.f, &p));
	return s;
}

static void unmake(struct subject *s)
{
	weir_destroy(s->f);
	free(s->memory);
}

static char *keys;          /* KEYS of WIDE bytes; the first eight of each differ */
static uint64_t *narrow;    /* those first eight */
static struct iovec *vectors;

static int make_keys(void **state)
{
	(void)state;
	keys = malloc((size_t)KEYS * WIDE), narrow = malloc((size_t)KEYS * 8),
	vectors = malloc(KEYS * sizeof *vectors);
	for (size_t i = 0; keys && narrow && vectors && i < KEYS; i++) {
		narrow[i] = test_key(i);
		memcpy(keys + i * WIDE, &narrow[i], 8);
		memcpy(keys + i * WIDE + 8, "tail", 4);
		vectors[i] = (struct iovec){ .iov_base = keys + i * WIDE, .iov_len = WIDE };
	}
	return !keys || !narrow || !vectors;
}

static int free_keys(void **state)
{
	(void)state;
	free(keys), free(narrow), free(vectors);
	return 0;
}

static int64_t insert(struct weir_filter *f, unsigned form, size_t at, size_t n, uint64_t *bitmap)
{
	if (form == 0)
		return weir_insert_fixed(f, narrow + at, 8, n, bitmap);
	if (form == 1)
		return weir_insert_hashes(f, narrow + at, n, bitmap);
	return form == 2 ? weir_insert_keys(f, vectors + at, n, bitmap) :
	                   weir_insert_fixed(f, keys + at * WIDE, WIDE, n, bitmap);
}

static void insert_one(struct weir_filter *f, unsigned form, size_t i)
{
	assert_ok(form == 0 ? weir_insert(f, &narrow[i], 8) :
	          form == 1 ? weir_insert_hash(f, narrow[i]) :
	                      weir_insert(f, keys + i * WIDE, WIDE));
}

static uint64_t ones(const uint64_t *bitmap, size_t n)
{
	uint64_t count = 0;
	for (size_t i = 0; i < WEIR_BITMAP_WORDS(n); i++)
		count += (uint64_t)__builtin_popcountll(bitmap[i]);
	return count;
}

/* In one batch dense enough to be filled in a copy, then a sparse one, which is not; with
 * answers and without. */
static void by_batches(const struct test_shape *shape, unsigned form, uint64_t *fresh)
{
	enum { SPARSE = 100000 };
	struct subject one = make(shape), many = make(shape);
	const size_t dense = KEYS - SPARSE;
	for (size_t i = 0; i < KEYS; i++)
		insert_one(one.f, form, i);
	int64_t added = insert(many.f, form, 0, dense, fresh);
	assert_int_equal(added, ones(fresh, dense));
	/* the others were false positives when their turn came */
	assert_true(added > (int64_t)(0.99 * (double)dense));
	assert_true(insert(many.f, form, dense, SPARSE, NULL) > (int64_t)(0.98 * SPARSE));
	assert_memory_equal(one.memory, many.memory, BYTES);
	assert_int_equal(insert(many.f, form, 0, dense, fresh), 0);
	assert_int_equal(ones(fresh, dense), 0);
	assert_memory_equal(one.memory, many.memory, BYTES);
	unmake(&one), unmake(&many);
}

/* Keys of eight bytes by every shape, the other forms by the main ones. */
static void bits_are_those_of_single_inserts(void **state)
{
	const struct test_shape *shape = *state;
	uint64_t *fresh = malloc(WEIR_BITMAP_WORDS(KEYS) * 8);
	assert_non_null(fresh);
	for (unsigned form = 0; form < (shape->main ? 4 : 1); form++)
		by_batches(shape, form, fresh);
	free(fresh);
}

struct writer {
	struct weir_filter *f;
	size_t at, n;
};

static void *write_some(void *writer)
{
	struct writer *w = writer;
	return insert(w->f, 0, w->at, w->n, NULL) < 0 ? w : NULL;
}

/* Two threads with keys of their own and some in common, all in the same parts. */
static void threads_lose_nothing(void **state)
{
	struct subject one = make(*state), many = make(*state);
	struct writer writers[2] = { { many.f, 0, KEYS / 2 + 1000 },
	                             { many.f, KEYS / 2 - 1000, KEYS / 2 + 1000 } };
	pthread_t threads[2];
	for (size_t t = 0; t < 2; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, write_some, &writers[t]), 0);
	for (size_t i = 0; i < KEYS; i++)
		insert_one(one.f, 0, i);
	for (size_t t = 0; t < 2; t++) {
		void *failed;
		assert_int_equal(pthread_join(threads[t], &failed), 0);
		assert_null(failed);
	}
	assert_memory_equal(one.memory, many.memory, BYTES);
	unmake(&one), unmake(&many);
}

int main(void)
{
	static struct CMUnitTest tests[128];
	static const struct CMUnitTest each[] = {
		cmocka_unit_test(bits_are_those_of_single_inserts),
		cmocka_unit_test(threads_lose_nothing),
	};
	size_t n = 0;
	FOR_EACH_KIND(kind)
		for (size_t i = 0; i < kind->shapes.n; i++)
			for (size_t t = 0; t < COUNT_OF(each) && kind->shapes.rows[i].bulk; t++) {
				assert_true(kind->commutes && n < COUNT_OF(tests));
				tests[n] = each[t];
				tests[n++].initial_state =
					(void *)(uintptr_t)&kind->shapes.rows[i];
			}
	return _cmocka_run_group_tests("bulk", tests, n, make_keys, free_keys);
}
