/* SPDX-License-Identifier: MIT
 * Batches of keys. Every form gives the same answers through every object. weir_keys_part()
 * selects exactly the given part. Inserts and removals refuse a batch that exceeds the limits.
 * Lookups in such a batch answer yes. */
#include <stdbool.h>
#include "../test.h"
#include "../sharded.h"

enum { KEYS = 200, FORMS = 4 };

static uint64_t numbers[KEYS], hashes[KEYS];
static struct iovec vectors[KEYS];

static struct weir_keys in_form(unsigned form, size_t n)
{
	return form == 0 ? weir_keys_u64(numbers, n) : form == 1 ? weir_keys_fixed(numbers, 8, n) :
	       form == 2 ? weir_keys_iov(vectors, n) : weir_keys_hashes(hashes, n);
}

/* Sizes and widths that exceed the limits of a batch. */
static const struct { size_t n, width; } too_many[] = { { 1ull << 40, 8 }, { 3, 65536 } };

static struct weir_keys refused_batch(unsigned i)
{
	return weir_keys_fixed(numbers, too_many[i].width, too_many[i].n);
}

static struct weir_filter *filter_of(uint32_t kind)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.kind = kind, p.capacity = 10000, p.fp_rate = 1e-6, p.seed = 7;
	assert_ok(weir_create(&f, &p));
	for (size_t i = 0; i < KEYS; i++) {
		numbers[i] = test_key(i);
		vectors[i] = (struct iovec){ &numbers[i], 8 };
		hashes[i] = weir_hash_u64(f, numbers[i]);
	}
	return f;
}

static void test_every_form_gives_the_same_answers(void **state)
{
	uint64_t made[KEYS], bitmap[WEIR_BITMAP_WORDS(KEYS)];
	int64_t counts[KEYS];
	(void)state;
	for (unsigned form = 0; form < FORMS; form++) {
		struct weir_filter *f = filter_of(WEIR_COUNTING);
		const struct weir_keys all = in_form(form, KEYS), half = in_form(form, KEYS / 2);
		weir_hash_keys(f, all, made);
		assert_memory_equal(made, hashes, sizeof hashes);
		assert_int_equal(weir_insert_keys(f, half, bitmap), KEYS / 2);
		assert_ok(weir_fill_keys(f, half));
		assert_int_equal(weir_contains_keys(f, all, bitmap), KEYS / 2);
		assert_int_equal(weir_count_keys(f, all, counts), KEYS / 2);
		for (size_t i = 0; i < KEYS; i++) {
			assert_int_equal(bitmap[i / 64] >> i % 64 & 1, i < KEYS / 2);
			assert_int_equal(counts[i], i < KEYS / 2 ? 2 : 0);
			assert_int_equal(weir_count_u64(f, numbers[i]), counts[i]);
		}
		assert_int_equal(weir_remove_u64(f, numbers[0]), 1);
		assert_int_equal(weir_count_u64(f, numbers[0]), 1);
		assert_int_equal(weir_remove_keys(f, half, NULL), KEYS / 2);
		assert_ok(weir_destroy(f));
	}
}

static void test_keys_part_selects_the_part(void **state)
{
	struct weir_filter *f = filter_of(WEIR_BLOCKED);
	(void)state;
	for (unsigned form = 0; form < FORMS; form++)
		for (size_t first = 0; first < KEYS; first += 37) {
			uint64_t made[KEYS];
			const size_t n = KEYS - first;
			weir_hash_keys(f, weir_keys_part(in_form(form, KEYS), first, n), made);
			assert_memory_equal(made, hashes + first, 8 * n);
		}
	assert_ok(weir_destroy(f));
}

/* Return: a handle with counting filters. @shards: 0 for a handle without shards. */
static struct weir_handle *handle_of(uint32_t shards)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *h = NULL;
	p.kind = WEIR_COUNTING, p.capacity = 10000, p.fp_rate = 1e-6, p.seed = 7;
	o.params = &p, o.shards = shards;
	assert_ok(weir_handle_create(&h, NULL, &o));
	return h;
}

static void test_an_empty_batch_is_a_no_op(void **state)
{
	const struct weir_keys none = { NULL, 0, 0, WEIR_KEYS_NONE };
	struct weir_filter *f = filter_of(WEIR_COUNTING);
	(void)state;
	assert_int_equal(weir_insert_keys(f, none, NULL), 0);
	assert_int_equal(weir_contains_keys(f, none, NULL), 0);
	assert_int_equal(weir_remove_keys(f, none, NULL), 0);
	assert_int_equal(weir_count_keys(f, none, NULL), 0);
	assert_ok(weir_fill_keys(f, none));
	weir_hash_keys(f, none, NULL);
	assert_int_equal(weir_insert_into_keys(f, 0, none, NULL), 0);
	struct weir_handle *h = NULL, *set = handle_of(4);
	assert_ok(weir_handle_create(&h, f, NULL));
	assert_int_equal(weir_handle_insert_into_keys(h, 0, none, NULL), 0);
	assert_int_equal(weir_handle_insert_keys(set, none, NULL), 0);
	assert_int_equal(weir_handle_remove_keys(set, none, NULL), 0);
	assert_ok(weir_handle_destroy(set));
	assert_ok(weir_handle_destroy(h));
}

#define REFUSED(call) assert_refused(call, -EINVAL, "2^40", "65,535")

static void test_a_filter_refuses_a_batch_beyond_the_limits(void **state)
{
	struct weir_filter *f = filter_of(WEIR_COUNTING);
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(too_many); i++) {
		const struct weir_keys k = refused_batch(i);
		int64_t counts[3];
		uint64_t untouched = 7;
		weir_hash_keys(f, k, &untouched);
		assert_int_equal(untouched, 7);
		REFUSED(weir_insert_keys(f, k, NULL));
		assert_int_equal(weir_error_taken(), 0);
		REFUSED(weir_fill_keys(f, k));
		REFUSED(weir_remove_keys(f, k, NULL));
		REFUSED(weir_count_keys(f, k, counts));
		assert_true(weir_contains_keys(f, k, NULL) > 0);
	}
	const struct weir_keys odd = { numbers, 3, 8, 9 }; /* an unknown form */
	REFUSED(weir_insert_keys(f, odd, NULL));
	uint64_t bitmap = 0;
	assert_int_equal(weir_contains_keys(f, refused_batch(1), &bitmap), 3);
	assert_int_equal(bitmap, 7);
	assert_ok(weir_destroy(f));
}

static void test_a_builder_accepts_every_form(void **state)
{
	(void)state;
	for (unsigned form = 0; form < FORMS; form++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_filter *f = filter_of(WEIR_BLOCKED), *built = NULL;
		uint64_t made[KEYS];
		struct weir_builder *b;
		p.kind = WEIR_FUSE, p.fp_rate = 1e-6, p.seed = 7;
		assert_ok(weir_builder_create(&b, &p, NULL));
		weir_builder_hash_keys(b, in_form(form, KEYS), made);
		assert_memory_equal(made, hashes, sizeof hashes);
		assert_true(weir_builder_hash_u64(b, numbers[5]) == hashes[5]);
		assert_ok(weir_builder_add_keys(b, in_form(form, KEYS)));
		REFUSED(weir_builder_add_keys(b, refused_batch(1)));
		weir_builder_hash_keys(b, refused_batch(1), made);
		weir_builder_hash_keys(b, in_form(form, 0), made);
		/* the last two calls wrote no hash */
		assert_memory_equal(made, hashes, sizeof hashes);
		assert_ok(weir_builder_finish(&built, b, NULL));
		assert_int_equal(weir_contains_keys(built, in_form(form, KEYS), NULL), KEYS);
		assert_ok(weir_builder_destroy(b));
		assert_ok(weir_destroy(built));
		assert_ok(weir_build(&built, &p, in_form(form, KEYS), NULL));
		assert_int_equal(weir_contains_keys(built, in_form(form, KEYS), NULL), KEYS);
		REFUSED(weir_build(&f, &p, refused_batch(1), NULL));
		assert_ok(weir_destroy(built));
		assert_ok(weir_destroy(f));
	}
}

/* A reload with a pace returns the same answers as a reload without a pace. */
static void test_a_reload_answers_for_the_next_filter(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 2 * FORMS; way++) {
		const unsigned form = way / 2;
		struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
		uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)], made[KEYS];
		struct weir_handle *h;
		struct weir_reload *r;
		o.pace = way % 2 ? 1 : 0;
		assert_ok(weir_handle_create(&h, filter_of(WEIR_BLOCKED), NULL));
		weir_handle_hash_keys(h, in_form(form, KEYS), made);
		assert_memory_equal(made, hashes, sizeof hashes);
		assert_true(weir_handle_hash_u64(h, numbers[5]) == hashes[5]);
		assert_ok(weir_reload_begin(&r, h, &o));
		assert_int_equal(weir_reload_insert_u64(r, numbers[3]), WEIR_NEW);
		assert_int_equal(weir_reload_insert_u64(r, numbers[3]), WEIR_SEEN);
		memset(bitmap, 0xee, sizeof bitmap);
		assert_int_equal(weir_reload_insert_keys(r, in_form(form, KEYS), bitmap),
		                 KEYS - 1);
		for (size_t i = 0; i < 64 * COUNT_OF(bitmap); i++)
			assert_int_equal(bitmap[i / 64] >> i % 64 & 1, i < KEYS && i != 3);
		REFUSED(weir_reload_insert_keys(r, refused_batch(1), NULL));
		REFUSED(weir_handle_insert_keys(h, refused_batch(1), NULL));
		assert_int_equal(weir_handle_contains_keys(h, refused_batch(1), NULL), 3);
		assert_ok(weir_reload_commit(r));
		assert_int_equal(weir_handle_contains_keys(h, in_form(form, KEYS), NULL), KEYS);
		assert_ok(weir_handle_destroy(h));
	}
}

/* Call every function for a single key with key 3. */
static void ask_singles(struct weir_handle *h)
{
	const uint64_t key = numbers[3], hash = hashes[3];
	assert_true(weir_handle_hash(h, &key, 8) == hash);
	assert_true(weir_handle_hash_u64(h, key) == hash);
	assert_int_equal(weir_handle_insert(h, &key, 8), WEIR_NEW);
	assert_int_equal(weir_handle_insert_u64(h, key), WEIR_SEEN);
	assert_int_equal(weir_handle_insert_hash(h, hash), WEIR_SEEN);
	assert_true(weir_handle_contains(h, &key, 8) && weir_handle_contains_u64(h, key) &&
	            weir_handle_contains_hash(h, hash));
	assert_int_equal(weir_handle_count_u64(h, key), 3);
	assert_int_equal(weir_handle_remove(h, &key, 8), 1);
	assert_int_equal(weir_handle_count(h, &key, 8), 2);
	assert_int_equal(weir_handle_remove_u64(h, key), 1);
	assert_int_equal(weir_handle_count_hash(h, hash), 1);
	assert_int_equal(weir_handle_remove_hash(h, hash), 1);
	assert_false(weir_handle_contains(h, &key, 8) || weir_handle_contains_u64(h, key) ||
	             weir_handle_contains_hash(h, hash));
	assert_int_equal(weir_handle_remove_u64(h, key), 0);
}

static void ask_batches(struct weir_handle *h, struct weir_keys all, struct weir_keys half)
{
	uint64_t made[KEYS], bitmap[WEIR_BITMAP_WORDS(KEYS)];
	int64_t counts[KEYS];
	weir_handle_hash_keys(h, all, made);
	assert_memory_equal(made, hashes, sizeof hashes);
	assert_int_equal(weir_handle_insert_keys(h, half, bitmap), KEYS / 2);
	for (size_t i = 0; i < KEYS / 2; i++)
		assert_int_equal(bitmap[i / 64] >> i % 64 & 1, 1);
	assert_int_equal(weir_handle_insert_keys(h, half, NULL), 0);
	assert_int_equal(weir_handle_contains_keys(h, all, bitmap), KEYS / 2);
	assert_int_equal(weir_handle_count_keys(h, all, counts), KEYS / 2);
	for (size_t i = 0; i < KEYS; i++) {
		assert_int_equal(bitmap[i / 64] >> i % 64 & 1, i < KEYS / 2);
		assert_int_equal(counts[i], i < KEYS / 2 ? 2 : 0);
	}
	assert_int_equal(weir_handle_remove_keys(h, all, bitmap), KEYS / 2);
	for (size_t i = 0; i < KEYS; i++)
		assert_int_equal(bitmap[i / 64] >> i % 64 & 1, i < KEYS / 2);
	assert_int_equal(weir_handle_remove_keys(h, half, NULL), KEYS / 2);
	assert_int_equal(weir_handle_contains_keys(h, all, NULL), 0);
}

static void test_handles_accept_every_form(void **state)
{
	static const uint32_t shards[] = { 0, 2, 64 };
	struct weir_filter *f = filter_of(WEIR_COUNTING);
	(void)state;
	for (unsigned way = 0; way < COUNT_OF(shards) * FORMS; way++) {
		struct weir_handle *h = handle_of(shards[way / FORMS]);
		const unsigned form = way % FORMS;
		int64_t counts[3];
		ask_singles(h);
		ask_batches(h, in_form(form, KEYS), in_form(form, KEYS / 2));
		REFUSED(weir_handle_insert_keys(h, refused_batch(1), NULL));
		assert_int_equal(weir_error_taken(), 0);
		REFUSED(weir_handle_remove_keys(h, refused_batch(1), NULL));
		REFUSED(weir_handle_count_keys(h, refused_batch(1), counts));
		assert_int_equal(weir_handle_contains_keys(h, refused_batch(1), NULL), 3);
		assert_ok(weir_handle_destroy(h));
	}
	assert_ok(weir_destroy(f));
}

/* A shard's reload skips the keys of other shards and clears their bits in the bitmap. */
static void test_a_shard_answers_for_its_own_keys(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = filter_of(WEIR_BLOCKED);
	uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
	struct weir_handle *set;
	struct weir_reload *r;
	(void)state;
	p.capacity = 10000, p.fp_rate = 1e-6, p.seed = 7;
	assert_ok(sharded_create(&set, &p, 4, NULL));
	for (unsigned form = 0; form < FORMS; form++) {
		int64_t own = 0, others = 0, first = 0;
		assert_ok(shard_begin(&r, set, 2, NULL));
		memset(bitmap, 0xee, sizeof bitmap);
		int64_t new = weir_reload_insert_keys(r, in_form(form, KEYS), bitmap);
		for (size_t i = 0; i < 64 * COUNT_OF(bitmap); i++) {
			const bool here = i < KEYS && weir_handle_shard(set, hashes[i]) == 2;
			assert_int_equal(bitmap[i / 64] >> i % 64 & 1, here);
			own += here;
			first += here && i < 10;
			/* the preceding round inserted the first ten keys into the set */
			others += form && !here && i < 10;
		}
		assert_int_equal(new, own);
		assert_ok(weir_reload_commit(r));
		assert_int_equal(weir_handle_contains_keys(set, in_form(form, KEYS), NULL),
		                 own + others);
		/* replace the reloaded shard by an empty shard */
		assert_ok(shard_begin(&r, set, 2, NULL));
		assert_ok(weir_reload_commit(r));
		assert_int_equal(weir_handle_insert_keys(set, in_form(form, 10), NULL),
		                 form ? first : 10);
	}
	assert_ok(weir_handle_destroy(set));
	assert_ok(weir_destroy(f));
}

/* weir_reload_exclude_keys() also refuses a batch that exceeds the limits. */
static void test_guards_and_kept_keys_refuse_a_batch_beyond_the_limits(void **state)
{
	struct weir_handle_options ho = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_guard_options go = WEIR_GUARD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_filter *f = filter_of(WEIR_BLOCKED);
	struct weir_handle *h = NULL;
	struct weir_reload *r = NULL;
	struct weir_guard *g = NULL;
	(void)state;
	go.filter = f;
	assert_ok(weir_guard_create(&g, &go));
	struct weir_guard_thread *t = NULL;
	assert_ok(weir_guard_join(&t, g));
	REFUSED(weir_guard_ask_keys(t, refused_batch(1), NULL, NULL));
	weir_guard_leave(t);
	assert_ok(weir_guard_destroy(g));
	assert_ok(weir_destroy(f));
	ho.flags = WEIR_HANDLE_ANY_SEED;
	ho.absent = WEIR_ABSENT_NO;
	assert_ok(weir_handle_create(&h, NULL, &ho));
	REFUSED(weir_handle_insert_keys(h, refused_batch(1), NULL));
	p.kind = WEIR_LAYERED, p.fp_rate = 0.25;
	o.params = &p;
	assert_ok(weir_reload_begin(&r, h, &o));
	uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
	/* all bits are cleared, because the reload cannot tell yet which keys are new */
	memset(bitmap, 0xee, sizeof bitmap);
	assert_ok(weir_reload_insert_keys(r, in_form(0, KEYS / 2), bitmap));
	assert_ok(weir_reload_insert_keys(r, in_form(0, 1), bitmap));
	assert_true(bitmap[0] == 0 && bitmap[1] == 0);
	assert_ok(weir_reload_seal(r));
	REFUSED(weir_reload_exclude_keys(r, refused_batch(1)));
	assert_ok(weir_reload_exclude_keys(r, in_form(0, 0)));
	assert_ok(weir_reload_exclude_keys(r, weir_keys_u64(numbers + KEYS / 2, KEYS / 2)));
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_contains_keys(h, in_form(0, KEYS), NULL), KEYS / 2);
	p.kind = WEIR_BLOCKED, p.capacity = 100;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_refused(weir_reload_seal(r), -ENOTSUP, "kind blocked", "exclude list");
	assert_refused(weir_reload_exclude_keys(r, in_form(0, 1)), -ENOTSUP, "kind blocked",
	               "exclude list");
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(h));
}

/* @f has the first half of the keys, and is a window or a filter that does not age keys. */
static void ages_in_form(const struct weir_filter *f, unsigned form)
{
	int ages[KEYS];
	assert_int_equal(weir_age_keys(f, in_form(form, KEYS), ages), KEYS / 2);
	for (unsigned i = 0; i < KEYS; i++)
		assert_int_equal(ages[i], i < KEYS / 2 ? 0 : -1);
	assert_int_equal(weir_age_keys(f, refused_batch(1), ages), 3);
	assert_true(ages[0] == 0 && ages[1] == 0 && ages[2] == 0);
	assert_int_equal(weir_age_u64(f, numbers[1]), 0);
	assert_int_equal(weir_age(f, &numbers[1], 8), 0);
	assert_int_equal(weir_age_hash(f, hashes[1]), 0);
	assert_int_equal(weir_age_u64(f, numbers[KEYS - 1]), -1);
	assert_int_equal(weir_age(f, &numbers[KEYS - 1], 8), -1);
	assert_int_equal(weir_age_hash(f, hashes[KEYS - 1]), -1);
}

static void test_windows_and_routers_accept_every_form(void **state)
{
	struct weir_params wo = WEIR_PARAMS_INIT, ro = WEIR_PARAMS_INIT;
	(void)state;
	wo.kind = WEIR_WINDOW;
	wo.capacity = ro.capacity = 10000, wo.fp_rate = ro.fp_rate = 1e-6, wo.seed = ro.seed = 7;
	ro.kind = WEIR_ROUTER;
	ro.router.sets = 5;
	for (unsigned form = 0; form < FORMS; form++) {
		struct weir_filter *f = filter_of(WEIR_BLOCKED);
		uint64_t masks[KEYS];
		struct weir_filter *w, *r;
		assert_ok(weir_create(&w, &wo));
		assert_ok(weir_create(&r, &ro));
		assert_int_equal(weir_insert_keys(w, in_form(form, KEYS / 2), NULL),
		                 KEYS / 2);
		assert_int_equal(weir_contains_keys(w, in_form(form, KEYS), NULL),
		                 KEYS / 2);
		REFUSED(weir_insert_keys(w, refused_batch(1), NULL));
		assert_int_equal(weir_contains_keys(w, refused_batch(1), NULL), 3);
		ages_in_form(w, form);
		assert_int_equal(weir_insert_keys(f, in_form(form, KEYS / 2), NULL), KEYS / 2);
		ages_in_form(f, form);
		assert_int_equal(weir_insert_into_keys(r, 3, in_form(form, KEYS / 2), NULL),
		                 KEYS / 2);
		assert_int_equal(weir_route_keys(r, in_form(form, KEYS), masks), KEYS / 2);
		assert_true(masks[0] == 8 && masks[KEYS - 1] == 0);
		REFUSED(weir_insert_into_keys(r, 3, refused_batch(1), NULL));
		assert_int_equal(weir_route_keys(r, refused_batch(1), masks), 3);
		assert_true(masks[2] == 31);
		assert_ok(weir_destroy(w));
		assert_ok(weir_destroy(r));
		assert_ok(weir_destroy(f));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_form_gives_the_same_answers),
		cmocka_unit_test(test_keys_part_selects_the_part),
		cmocka_unit_test(test_an_empty_batch_is_a_no_op),
		cmocka_unit_test(test_a_filter_refuses_a_batch_beyond_the_limits),
		cmocka_unit_test(test_a_builder_accepts_every_form),
		cmocka_unit_test(test_a_reload_answers_for_the_next_filter),
		cmocka_unit_test(test_handles_accept_every_form),
		cmocka_unit_test(test_a_shard_answers_for_its_own_keys),
		cmocka_unit_test(test_guards_and_kept_keys_refuse_a_batch_beyond_the_limits),
		cmocka_unit_test(test_windows_and_routers_accept_every_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
