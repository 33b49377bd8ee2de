/* SPDX-License-Identifier: MIT
 * Batches so large, into filters so large, that they are sorted by part first, and so dense that
 * parts are filled in a copy (src/bulk.c: a stage): the bits are those of single inserts, whatever
 * the form of the keys, and threads that fill the same parts at once lose nothing. The library is
 * linked statically, so that the test decides how large a cache it sees, and counts the stages. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include "../test.h"
#include "../kinds/kind.h"
#include "kind.h"

enum {
	BYTES = 32 << 20,
	CACHE = 1 << 20,               /* a core's own, on this machine and all others */
	PART = CACHE / 2,              /* bytes: half a cache */
	DENSE = BYTES / 8 / 4,         /* keys of the least batch that is staged */
	KEYS = 3 << 19,
	SINGLES_MOST = 4 << 20,
	WIDE = 12,
};

uint64_t __wrap_weir__cache_bytes(void);
uint64_t __wrap_weir__cache_bytes(void)
{
	return CACHE;
}

static atomic_uint stages; /* memory of this size is for nothing else */

int __real_weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                              size_t place_bytes);
int __wrap_weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                              size_t place_bytes);
int __wrap_weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                              size_t place_bytes)
{
	atomic_fetch_add(&stages, bytes == PART);
	return __real_weir__memory_alloc(out, bytes, flags, place, place_bytes);
}

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

struct meeting {
	struct weir_filter *f;
	pthread_barrier_t begin;
	atomic_uint batches; /* that have not ended */
	atomic_uint_fast64_t singles;
};

struct writer {
	struct meeting *meeting;
	size_t at, n;
	uint64_t *fresh;
	int64_t answer;
};

static void *write_batch(void *writer)
{
	struct writer *w = writer;
	pthread_barrier_wait(&w->meeting->begin);
	w->answer = insert(w->meeting->f, 0, w->at, w->n, w->fresh);
	atomic_fetch_sub(&w->meeting->batches, 1);
	return NULL;
}

/* Keys that no batch has, one by one all over the filter for as long as the batches take: so at any
 * time some of them fall into the part that a batch has a copy of. */
static void *write_singles(void *meeting)
{
	struct meeting *m = meeting;
	uint64_t n = 0;
	pthread_barrier_wait(&m->begin);
	for (; atomic_load(&m->batches) && n < SINGLES_MOST; n++) {
		uint64_t key = test_key(KEYS + n);
		(void)weir_insert(m->f, &key, 8);
	}
	atomic_store(&m->singles, n);
	return NULL;
}

/* Two writers with a batch each, and @singles one with single keys. Each batch is dense enough to
 * be staged: where the kind has stages, it was. */
static void meet(struct meeting *m, struct writer writers[2], bool singles)
{
	pthread_t threads[3];
	unsigned before = atomic_load(&stages);
	atomic_store(&m->batches, 2);
	assert_int_equal(pthread_barrier_init(&m->begin, NULL, 2 + singles), 0);
	for (size_t t = 0; t < 2; t++) {
		assert_true(writers[t].n >= DENSE);
		writers[t].meeting = m;
		assert_int_equal(pthread_create(&threads[t], NULL, write_batch, &writers[t]), 0);
	}
	if (singles)
		assert_int_equal(pthread_create(&threads[2], NULL, write_singles, m), 0);
	for (size_t t = 0; t < 2u + singles; t++)
		assert_int_equal(pthread_join(threads[t], NULL), 0);
	pthread_barrier_destroy(&m->begin);
	assert_true(writers[0].answer >= 0 && writers[1].answer >= 0);
	assert_int_equal(atomic_load(&stages) - before, m->f->kernel->stages_or ? 2 : 0);
}

/* Two threads with keys of their own and some in common, all in the same parts, and single keys
 * meanwhile. A stage that is stored, and not or'ed, takes back what others set in its part. */
static void threads_lose_nothing(void **state)
{
	struct subject one = make(*state), many = make(*state);
	struct meeting m = { .f = many.f };
	struct writer writers[2] = { { .at = 0, .n = DENSE + 65536 },
	                             { .at = KEYS - DENSE - 65536, .n = DENSE + 65536 } };
	meet(&m, writers, true);
	for (size_t i = 0; i < KEYS; i++)
		insert_one(one.f, 0, i);
	for (uint64_t i = 0; i < atomic_load(&m.singles); i++) {
		uint64_t key = test_key(KEYS + i);
		(void)weir_insert(one.f, &key, 8);
	}
	assert_true(atomic_load(&m.singles) > 0);
	assert_memory_equal(one.memory, many.memory, BYTES);
	unmake(&one), unmake(&many);
}

/* Two threads with one batch: each key is new to one of them at least, and where the shape promises
 * that, to one alone. Two stages would both hold it to be new. */
static void one_new_of_two_batches(void **state)
{
	const struct test_shape *shape = *state;
	const size_t n = DENSE + 65536;
	struct subject s = make(shape);
	struct meeting m = { .f = s.f };
	uint64_t *fresh[2], either = 0, both = 0;
	for (size_t t = 0; t < 2; t++) {
		fresh[t] = malloc(WEIR_BITMAP_WORDS(n) * 8);
		assert_non_null(fresh[t]);
	}
	struct writer writers[2] = { { .n = n, .fresh = fresh[0] }, { .n = n, .fresh = fresh[1] } };
	meet(&m, writers, false);
	for (size_t i = 0; i < WEIR_BITMAP_WORDS(n); i++) {
		either += (uint64_t)__builtin_popcountll(fresh[0][i] | fresh[1][i]);
		both += (uint64_t)__builtin_popcountll(fresh[0][i] & fresh[1][i]);
	}
	assert_int_equal(writers[0].answer + writers[1].answer, either + both);
	assert_true(either > 0.98 * (double)n); /* the others were false positives in their turn */
	if (shape->one_new)
		assert_int_equal(both, 0);
	unmake(&s), free(fresh[0]), free(fresh[1]);
}

int main(void)
{
	static struct CMUnitTest tests[128];
	static const struct CMUnitTest each[] = {
		cmocka_unit_test(bits_are_those_of_single_inserts),
		cmocka_unit_test(threads_lose_nothing),
		cmocka_unit_test(one_new_of_two_batches),
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
