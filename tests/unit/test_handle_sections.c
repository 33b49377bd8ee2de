/* SPDX-License-Identifier: MIT
 * Batches through a handle that need more than one read section. Each key's answer is at the
 * key's own index, and the handle calls the filter only inside a section. */
#include <sys/uio.h>
#include "../handles.h"
#include "../sharded.h"

enum { SECTION = 1 << 20, MOST = SECTION + 70, PRESENT = 130, FORMS = 3 };

/* ---- an RCU flavor that counts read sections and the open sections (depth) ---- */

static unsigned depth, sections;

static void lock(void)
{
	urcu_memb_flavor.read_lock();
	sections++;
	depth++;
}

static void unlock(void)
{
	depth--;
	urcu_memb_flavor.read_unlock();
}

/* Wraps functions of the filter. Each wrapper asserts that the handle is inside a section. */
#define IN_A_SECTION(type, name, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		assert_int_equal(depth, 1); \
		return __real_##name arguments; \
	}
#define OF_A_KEY(type, name, filter) \
	IN_A_SECTION(type, name, (filter f, const void *key, size_t len), (f, key, len)) \
	IN_A_SECTION(type, name##_hash, (filter f, uint64_t hash), (f, hash))
#define OF_MANY(name, filter, out) \
	IN_A_SECTION(int64_t, name##_keys, (filter f, struct weir_keys of, out *answers), \
	             (f, of, answers))
OF_A_KEY(int, weir_remove, struct weir_filter *)
OF_MANY(weir_remove, struct weir_filter *, uint64_t)
OF_A_KEY(int64_t, weir_count, const struct weir_filter *)
OF_MANY(weir_count, const struct weir_filter *, int64_t)
OF_MANY(weir_contains, const struct weir_filter *, uint64_t)
OF_MANY(weir_insert, struct weir_filter *, uint64_t)

/* ---- the batch: 30 present keys at the start, one absent key repeated many times, and 100 present
 * keys at the end. The boundary of the first section is between two of the last 100 keys. ---- */

static uint64_t keys[MOST], hashes[MOST], bitmap[WEIR_BITMAP_WORDS(MOST) + 1];
static struct iovec vectors[MOST];
static int64_t counts[MOST];

/* Return: the number of the present key at index @i, from 1, or 0 for the absent key. */
static unsigned present(size_t i)
{
	return i < 30 ? (unsigned)i + 1 : i >= MOST - 100 ? (unsigned)(i - (MOST - 100)) + 31 : 0;
}

static bool bit(size_t i)
{
	return bitmap[i / 64] >> i % 64 & 1;
}

static struct weir_handle *open_as(uint32_t kind, uint32_t flags)
{
	static struct rcu_flavor_struct flavor;
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	struct weir_handle *h = NULL;
	p.kind = kind, p.capacity = 10000, p.fp_rate = 1e-6, p.seed = 7;
	assert_ok(weir_create(&f, &p));
	for (size_t i = 0; i < MOST; i++) {
		keys[i] = test_key(present(i));
		vectors[i] = (struct iovec){ &keys[i], 8 };
	}
	weir_hash_keys(f, weir_keys_u64(keys, MOST), hashes);
	flavor = urcu_memb_flavor;
	flavor.read_lock = lock;
	flavor.read_unlock = unlock;
	o.flavor = &flavor;
	o.flags = flags;
	assert_ok(weir_handle_create(&h, f, &o));
	return h;
}

/* Asserts that @n sections were opened since the last call and that none is open. */
static void assert_sections(unsigned n)
{
	assert_int_equal(sections, n);
	assert_int_equal(depth, 0);
	sections = 0;
}

/* Insert each present key. Key number i is inserted 1 + i % @times times. */
static void put(struct weir_handle *h, unsigned times)
{
	for (uint64_t i = 1; i <= PRESENT; i++)
		for (unsigned n = 0; n < 1 + i % times; n++)
			assert_ok(weir_handle_insert_u64(h, test_key(i)));
	sections = 0;
}

static void begin_batch(void)
{
	memset(bitmap, 0xee, sizeof bitmap);
	memset(counts, 0xee, sizeof counts);
}

/* The bits that a batch sets: the bits of the present keys, the bits of the repeated key,
 * or no bits. */
enum bits { PRESENT_BITS, REPEATED_BITS, NO_BITS };
static void assert_bits(enum bits bits)
{
	for (size_t i = 0; i < MOST; i++)
		if (bit(i) !=
		    (bits == PRESENT_BITS ? present(i) > 0 : bits == REPEATED_BITS && !present(i)))
			fail_msg("key %zu, of which %u stands there, is answered %d", i, present(i),
			         bit(i));
	assert_true(bitmap[WEIR_BITMAP_WORDS(MOST)] == UINT64_C(0xeeeeeeeeeeeeeeee));
}

static struct weir_keys in_form(unsigned form, size_t n)
{
	return form == 0 ? weir_keys_hashes(hashes, n) : form == 1 ? weir_keys_iov(vectors, n) :
	                                                             weir_keys_u64(keys, n);
}

static int64_t remove_in(struct weir_handle *h, unsigned form, size_t n, uint64_t *answers)
{
	return weir_handle_remove_keys(h, in_form(form, n), answers);
}

static int64_t count_in(struct weir_handle *h, unsigned form, size_t n)
{
	return weir_handle_count_keys(h, in_form(form, n), counts);
}

static int64_t contains_in(struct weir_handle *h, unsigned form, size_t n, uint64_t *answers)
{
	return weir_handle_contains_keys(h, in_form(form, n), answers);
}

static int64_t insert_in(struct weir_handle *h, unsigned form, size_t n, uint64_t *answers)
{
	return weir_handle_insert_keys(h, in_form(form, n), answers);
}

/* ---- the functions ---- */

/* In this test the PRESENT keys are absent and the repeated key is present, so that few removals
 * fail: each failed removal formats an error message, which takes time. The counters of the
 * repeated key are full, so the key can be removed any number of times. */
static void batches_of_removals(void **state)
{
	enum { FULL = 15 };
	struct weir_handle *h = open_as(WEIR_COUNTING, 0);
	(void)state;
	for (unsigned i = 0; i < FULL; i++)
		assert_ok(weir_handle_insert_u64(h, test_key(0)));
	for (unsigned form = 0; form < FORMS; form++) {
		begin_batch();
		sections = 0;
		assert_int_equal(remove_in(h, form, MOST, bitmap), MOST - PRESENT);
		assert_sections(2);
		assert_bits(REPEATED_BITS);
		put(h, 1);
		assert_int_equal(remove_in(h, form, MOST, NULL), MOST);
		assert_int_equal(remove_in(h, form, 70, NULL), 70 - 30);
		assert_sections(3);
	}
	for (unsigned form = 0; form < FORMS; form++) {
		uint64_t key = test_key(1), hash = weir_handle_hash(h, &key, 8);
		put(h, 1);
		assert_int_equal(form == 0 ? weir_handle_remove_hash(h, hash) :
		          form == 1 ? weir_handle_remove(h, &key, 8) :
		                      weir_handle_remove_u64(h, key), 1);
		assert_sections(1);
	}
	assert_ok(weir_handle_destroy(h));
}

/* The first read section refuses the batch, so the handle never enters the second section. The
 * handle must still clear the bits of the keys of the second section. */
static void a_refused_batch_clears_its_bitmap(void **state)
{
	struct weir_handle *h = open_as(WEIR_COUNTING, 0);
	struct weir_reload *r = NULL;
	(void)state;
	assert_ok(weir_reload_begin(&r, h, NULL));
	for (unsigned form = 0; form < FORMS; form++) {
		begin_batch();
		assert_refused(remove_in(h, form, MOST, bitmap), -EBUSY, "a reload runs", "");
		assert_bits(NO_BITS);
	}
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(h));
}

static void batches_of_counts(void **state)
{
	struct weir_handle *h = open_as(WEIR_COUNTING, 0);
	(void)state;
	put(h, 7);
	for (unsigned form = 0; form < FORMS; form++) {
		begin_batch();
		assert_ok(count_in(h, form, MOST));
		assert_sections(2);
		for (size_t i = 0; i < MOST; i++)
			if (counts[i] != (present(i) ? 1 + present(i) % 7 : 0))
				fail_msg("key %zu is counted %d", i, (int)counts[i]);
		assert_ok(count_in(h, form, 70));
		assert_sections(1);
	}
	uint64_t key = test_key(5), hash = weir_handle_hash(h, &key, 8);
	sections = 0;
	assert_int_equal(weir_handle_count(h, &key, 8), 6);
	assert_int_equal(weir_handle_count_u64(h, key), 6);
	assert_int_equal(weir_handle_count_hash(h, hash), 6);
	assert_sections(3);
	assert_ok(weir_handle_destroy(h));
}

static void batches_of_lookups_and_inserts(void **state)
{
	(void)state;
	for (unsigned form = 0; form < FORMS; form++) {
		struct weir_handle *h = open_as(WEIR_BLOCKED, 0);
		put(h, 1);
		begin_batch();
		assert_int_equal(contains_in(h, form, MOST, bitmap), PRESENT);
		assert_bits(PRESENT_BITS);
		assert_sections(2);
		assert_int_equal(contains_in(h, form, MOST, NULL), PRESENT);
		assert_sections(2);
		begin_batch();
		/* only the first copy of the absent key is new */
		assert_int_equal(insert_in(h, form, MOST, bitmap), 1);
		assert_sections(2);
		assert_int_equal(bitmap[0], 1 << 30);
		for (size_t i = 1; i < WEIR_BITMAP_WORDS(MOST); i++)
			assert_true(bitmap[i] == 0);
		assert_ok(weir_handle_destroy(h));
	}
}

static void lookups_of_hashes_answer_yes_if_seeds_may_differ(void **state)
{
	struct weir_handle *h = open_as(WEIR_BLOCKED, WEIR_HANDLE_ANY_SEED);
	(void)state;
	put(h, 1);
	for (unsigned form = 1; form < FORMS; form++) {
		begin_batch();
		assert_int_equal(contains_in(h, form, MOST, bitmap), PRESENT);
		assert_bits(PRESENT_BITS);
		assert_int_equal(contains_in(h, form, 40, NULL), 30);
	}
	begin_batch();
	assert_int_equal(contains_in(h, 0, MOST, bitmap), MOST);
	for (size_t i = 0; i < 64 * WEIR_BITMAP_WORDS(MOST); i++)
		if (bit(i) != (i < MOST))
			fail_msg("hash %zu is answered %d", i, bit(i));
	assert_int_equal(contains_in(h, 0, MOST, NULL), MOST);
	assert_ok(weir_handle_destroy(h));
}

static void routing_and_hashing_open_one_section(void **state)
{
	struct weir_handle *h = open_as(WEIR_BLOCKED, 0);
	uint64_t masks[2], made[2];
	(void)state;
	sections = 0;
	assert_int_equal(weir_handle_insert_into(h, 0, keys, 8), WEIR_NEW);
	assert_sections(1);
	assert_int_equal(weir_handle_insert_into_keys(h, 0, in_form(0, 2), NULL), 1);
	assert_sections(1);
	assert_true(weir_handle_route(h, keys, 8) == 1);
	assert_true(weir_handle_route_u64(h, keys[1]) == 1);
	assert_true(weir_handle_route_hash(h, hashes[1]) == 1);
	assert_int_equal(weir_handle_route_keys(h, in_form(1, 2), masks), 2);
	assert_sections(4);
	weir_handle_hash_keys(h, in_form(2, 2), made);
	assert_true(made[0] == hashes[0] && made[1] == hashes[1]);
	assert_sections(1);
	assert_ok(weir_handle_destroy(h));
}

static void a_sharded_set_opens_one_section_for_a_hash(void **state)
{
	static struct rcu_flavor_struct flavor;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *set = NULL;
	(void)state;
	flavor = urcu_memb_flavor;
	flavor.read_lock = lock;
	flavor.read_unlock = unlock;
	p.capacity = 10000, p.fp_rate = 1e-6, p.seed = 7;
	assert_ok(sharded_create(&set, &p, 2, &flavor));
	sections = 0;
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t hash = test_key(i) >> 1 | (uint64_t)i << 63;
		assert_int_equal(weir_handle_insert_hash(set, hash), WEIR_NEW);
		assert_sections(1);
		assert_true(weir_handle_contains_hash(set, hash));
		assert_sections(1);
	}
	assert_ok(weir_handle_destroy(set));
}

static int registered(void **state)
{
	(void)state;
	urcu_memb_flavor.register_thread();
	return 0;
}

static int unregistered(void **state)
{
	(void)state;
	urcu_memb_flavor.unregister_thread();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_of_removals),
		cmocka_unit_test(a_refused_batch_clears_its_bitmap),
		cmocka_unit_test(batches_of_counts),
		cmocka_unit_test(batches_of_lookups_and_inserts),
		cmocka_unit_test(lookups_of_hashes_answer_yes_if_seeds_may_differ),
		cmocka_unit_test(routing_and_hashing_open_one_section),
		cmocka_unit_test(a_sharded_set_opens_one_section_for_a_hash),
	};
	return cmocka_run_group_tests(tests, registered, unregistered);
}
