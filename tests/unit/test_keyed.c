/* SPDX-License-Identifier: MIT
 * Keyed filters. Inserts, lookups and weir_hash() use SipHash-2-4 with the filter's secret, in
 * every kind that takes inserts and on every instruction set of this machine. Merges and reloads
 * refuse filters that hash differently. */
#include <errno.h>
#include <weir/inline.h>
#include "../handles.h"
#include "../sharded.h"

static unsigned char key[16], another[16];
static struct weir_filter *untouched;
static struct weir_reload *no_reload;

static int setup(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof key; i++)
		another[i] = key[i] = (unsigned char)i;
	another[15] ^= 1;
	return 0;
}

static struct weir_params params(uint32_t kind, const void *secret)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = kind;
	p.capacity = 1000;
	p.fp_rate = 1e-4;
	p.secret = secret;
	return p;
}

static struct weir_filter *keyed(uint32_t kind, const void *secret)
{
	struct weir_params p = params(kind, secret);
	struct weir_filter *f = NULL;
	assert_ok(weir_create(&f, &p));
	return f;
}

static uint64_t seed_of(const struct weir_filter *f)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	assert_ok(weir_params_of(f, &p));
	return p.seed;
}

/* Checks three of the reference vectors. test_siphash.c checks all of them. */
static void test_a_keyed_filter_hashes_by_siphash(void **state)
{
	unsigned char message[16];
	(void)state;
	for (unsigned i = 0; i < sizeof message; i++)
		message[i] = (unsigned char)i;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		if (!test_seed(test_kinds[k], 1))
			continue; /* the kind has a fixed hash */
		struct weir_filter *f = keyed(test_kinds[k], key), *copy;
		struct weir_filter *g = keyed(test_kinds[k], key);
		uint64_t out;
		assert_true(weir_hash(f, message, 15) == UINT64_C(0xa129ca6149be45e5));
		assert_true(weir_hash(f, message, 8) == UINT64_C(0x93f5f5799a932462));
		/* filters without a secret have inlined code for this width */
		weir_hash_keys(f, weir_keys_fixed(message, 8, 1), &out);
		assert_true(out == UINT64_C(0x93f5f5799a932462));
		assert_true(weir_hash(f, NULL, 0) == UINT64_C(0x726fdb47dd0e0e31));
		if (test_copies(f)) {
			assert_ok(weir_clone(&copy, f));
			assert_true(weir_hash(copy, message, 8) == weir_hash(f, message, 8));
			weir_destroy(copy);
		}
		assert_true(seed_of(f) == seed_of(g) && seed_of(f) != 0);
		weir_destroy(f), weir_destroy(g);
	}
}

enum { KEYS = 300 };
static uint64_t numbers[KEYS];
static struct iovec vectors[KEYS];
static char text[KEYS][40];

static void fill_keys(void)
{
	for (unsigned i = 0; i < KEYS; i++) {
		numbers[i] = test_key(i);
		int n = snprintf(text[i], sizeof text[i], "key %u %0*u", i, (int)(1 + i % 25), i);
		vectors[i] = (struct iovec){ text[i], (size_t)n };
	}
}

/* Each key is inserted by a function for single keys and by a function for batches. All lookup
 * functions find the key, and also its hash. */
static void every_verb(uint32_t kind)
{
	struct weir_filter *one = keyed(kind, key), *many = keyed(kind, key);
	uint64_t hashes[KEYS], more[KEYS];
	if (!test_takes_inserts(one)) {
		weir_destroy(one), weir_destroy(many);
		return;
	}
	for (unsigned i = 0; i < KEYS; i++) {
		assert_ok(weir_insert(one, vectors[i].iov_base, vectors[i].iov_len));
		assert_ok(i % 2 ? weir_insert(one, &numbers[i], 8) :
		                  weir_insert_u64(one, numbers[i]));
	}
	assert_ok(weir_insert_keys(many, weir_keys_iov(vectors, KEYS), NULL));
	assert_ok(weir_insert_keys(many, weir_keys_u64(numbers, KEYS), NULL));
	weir_hash_keys(one, weir_keys_iov(vectors, KEYS), hashes);
	weir_hash_keys(one, weir_keys_u64(numbers, KEYS), more);
	for (unsigned which = 0; which < 2; which++) {
		const struct weir_filter *f = which ? one : many;
		for (size_t n = KEYS; n; n = n > 8 ? 8 : n - 1) {
			assert_int_equal(weir_contains_keys(f, weir_keys_iov(vectors, n), NULL), n);
			assert_int_equal(weir_contains_keys(f, weir_keys_u64(numbers, n),
			                                    NULL),
			                 n);
		}
		assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes, KEYS), NULL), KEYS);
		assert_int_equal(weir_contains_keys(f, weir_keys_hashes(more, KEYS), NULL), KEYS);
		for (unsigned i = 0; i < KEYS; i++)
			assert_true(weir_contains(f, vectors[i].iov_base, vectors[i].iov_len) &&
			            weir_contains(f, &numbers[i], 8) &&
			            weir_contains_u64(f, numbers[i]) &&
			            weir_hash(f, &numbers[i], 8) == more[i]);
	}
	weir_destroy(one), weir_destroy(many);
}

static void test_every_verb_of_a_keyed_filter_agrees(void **state)
{
	static const char *const isas[] = { "scalar", "avx2", "avx512", "neon" };
	struct weir_filter *f;
	(void)state;
	fill_keys();
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (size_t i = 0; i < COUNT_OF(isas); i++) {
			struct weir_params p = params(test_kinds[k], key);
			setenv("WEIR_ISA", isas[i], 1);
			if (weir_create(&f, &p) == 0) {
				weir_destroy(f);
				every_verb(test_kinds[k]);
			}
			unsetenv("WEIR_ISA");
		}
}

/* Return: a filter that hashes by XXH3 with a seed equal to the seed of @f. Only the hash function
 * differs. */
static struct weir_filter *twin_without_a_key(const struct weir_filter *f)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *g = NULL;
	assert_ok(weir_params_of(f, &p));
	p.secret = NULL;
	p.fp_rate = 1e-4;
	assert_ok(weir_create(&g, &p));
	return g;
}

static void test_a_merge_compares_keys_and_hashes(void **state)
{
	struct weir_filter *f = keyed(WEIR_BLOCKED, key), *g = keyed(WEIR_BLOCKED, key),
	                   *other = keyed(WEIR_BLOCKED, another), *plain = twin_without_a_key(f);
	(void)state;
	assert_ok(weir_insert(g, "x", 1));
	assert_ok(weir_merge(f, g));
	assert_true(weir_contains(f, "x", 1));
	assert_refused(weir_merge(f, other), -EINVAL, "key differs", "fingerprint");
	assert_int_equal(seed_of(plain), seed_of(f));
	assert_refused(weir_merge(f, plain), -EINVAL, "hash differs: SipHash-2-4", "XXH3");
	assert_refused(weir_merge(plain, f), -EINVAL, "hash differs: XXH3", "SipHash-2-4");
	weir_destroy(f), weir_destroy(g), weir_destroy(other), weir_destroy(plain);
}

static void test_parameters_include_the_secret(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT, asked = params(WEIR_BLOCKED, key);
	struct weir_filter *f = keyed(WEIR_BLOCKED, key), *like;
	(void)state;
	asked.seed = 42;
	assert_refused(weir_create(&untouched, &asked), -EINVAL, "seed", "secret");
	asked.seed = seed_of(f);
	assert_ok(weir_create(&like, &asked));
	weir_destroy(like);
	assert_ok(weir_params_of(f, &p));
	assert_memory_equal(p.secret, key, sizeof key);
	p.fp_rate = 1e-4;
	assert_ok(weir_create(&like, &p));
	assert_ok(weir_merge(f, like));
	weir_destroy(like);
	/* The struct of an older caller has no field for the secret. Parameters without the secret
	 * would make a different filter, so the call fails. */
	p = (struct weir_params)WEIR_PARAMS_INIT;
	p.struct_size = offsetof(struct weir_params, secret);
	assert_refused(weir_params_of(f, &p), -EINVAL, "struct_size", "secret");
	weir_destroy(f);
	struct weir_filter *plain; /* its parameters fit into the older struct */
	struct weir_params whole = WEIR_PARAMS_INIT;
	whole.kind = WEIR_SPLIT, whole.capacity = 1000, whole.fp_rate = 0.01;
	assert_ok(weir_create(&plain, &whole));
	assert_ok(weir_params_of(plain, &p));
	weir_destroy(plain);
}

static void test_a_keyed_filter_is_not_inlined(void **state)
{
	struct weir_filter *f = keyed(WEIR_BLOCKED, key);
	struct weir_inline view;
	(void)state;
	assert_refused(weir_inline_init(&view, f), -ENOTSUP, "keyed", "XXH3");
	assert_refused(weir_inline_check_layout(f, 2, 3), -ENOTSUP, "keyed", "XXH3");
	weir_destroy(f);
}

static void test_a_reload_keeps_the_secret(void **state)
{
	struct weir_filter *f = keyed(WEIR_BLOCKED, key);
	struct weir_params next = params(WEIR_CLASSIC, NULL);
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	struct weir_handle *h;
	uint64_t hash = weir_hash(f, "x", 1);
	(void)state;
	assert_ok(weir_handle_create(&h, f, NULL));
	assert_ok(weir_handle_insert(h, "x", 1));
	for (unsigned with_params = 0; with_params < 3; with_params++) {
		/* the next filter keeps the secret, whether the caller repeats it or not */
		next.secret = with_params == 2 ? key : NULL;
		o.params = with_params ? &next : NULL;
		assert_ok(weir_reload_begin(&r, h, &o));
		assert_ok(weir_reload_insert(r, "x", 1));
		assert_ok(weir_handle_insert(h, "y", 1));
		assert_true(weir_contains_hash(weir_reload_next(r), hash));
		assert_ok(weir_reload_commit(r));
		assert_true(weir_handle_contains(h, "x", 1) && weir_handle_contains(h, "y", 1));
		assert_true(weir_handle_hash(h, "x", 1) == hash);
	}
	next.secret = another;
	assert_refused(weir_reload_begin(&no_reload, h, &o), -EINVAL, "secret", "share one");
	assert_ok(weir_handle_destroy(h));
	h = open_handle(flavors, 1000);
	next.secret = key;
	assert_refused(weir_reload_begin(&no_reload, h, &o), -EINVAL, "SipHash-2-4", "XXH3");
	close_handle(flavors, h);
}

static void test_a_sharded_set_may_be_keyed(void **state)
{
	struct weir_params p = params(WEIR_BLOCKED, key);
	struct weir_filter *f = keyed(WEIR_BLOCKED, key);
	struct weir_handle *set;
	struct weir_reload *r;
	(void)state;
	assert_ok(sharded_create(&set, &p, 4, NULL));
	assert_true(weir_handle_hash(set, "x", 1) == weir_hash(f, "x", 1));
	assert_int_equal(weir_handle_insert(set, "x", 1), WEIR_NEW);
	for (uint32_t shard = 0; shard < 4; shard++) {
		assert_ok(shard_begin(&r, set, shard, NULL));
		assert_ok(weir_reload_insert(r, "x", 1));
		assert_int_equal(weir_reload_insert_keys(r,
		                                         weir_keys_iov(&(struct iovec){ (void *)"y",
		                                                                        1 },
		                                                       1),
		                                         NULL),
		                 weir_handle_shard(set, weir_hash(f, "y", 1)) == shard);
		assert_ok(weir_reload_commit(r));
	}
	assert_true(weir_handle_contains(set, "x", 1) && weir_handle_contains(set, "y", 1));
	assert_ok(weir_handle_destroy(set));
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_keyed_filter_hashes_by_siphash),
		cmocka_unit_test(test_every_verb_of_a_keyed_filter_agrees),
		cmocka_unit_test(test_a_merge_compares_keys_and_hashes),
		cmocka_unit_test(test_parameters_include_the_secret),
		cmocka_unit_test(test_a_keyed_filter_is_not_inlined),
		cmocka_unit_test(test_a_reload_keeps_the_secret),
		cmocka_unit_test(test_a_sharded_set_may_be_keyed),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
