/* SPDX-License-Identifier: MIT
 * Lookups in a cuckoo filter whose copies keep moving ([EIGHT-TRIES] in src/kinds/cuckoo/move.h). A
 * lookup that finds no copy retries if the version has changed. After eight tries the lookup
 * answers true. */
#include "../test.h"

enum { TRIES = 8, BATCH = 70 };

unsigned changes_left, loaded_again; /* used by changed_again.h */

static struct weir_filter *made(uint32_t bits)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.kind = WEIR_CUCKOO, p.cuckoo.fingerprint_bits = bits, p.seed = 7;
	p.capacity = 1000, p.fp_rate = 0.01;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_insert(f, "there", 5));
	return f;
}

/* From now on, the load of a version after the read of the buckets returns a changed version
 * @changes times. */
static void begin(unsigned changes)
{
	changes_left = changes;
	loaded_again = 0;
}

static bool lookup(const struct weir_filter *f, unsigned form)
{
	const uint64_t number = 5;
	return form == 0 ? weir_contains(f, "not there", 9) :
	       form == 1 ? weir_contains_hash(f, weir_hash(f, "not there", 9)) :
	                   weir_contains_u64(f, number);
}

static void a_lookup_answers_true_after_eight_tries(void **state)
{
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4) {
		struct weir_filter *f = made(bits);
		for (unsigned form = 0; form < 3; form++)
			for (unsigned changes = 0; changes < 2 * TRIES; changes++) {
				begin(changes);
				assert_int_equal(lookup(f, form), changes >= TRIES);
				assert_int_equal(loaded_again,
				                 changes < TRIES ? changes + 1 : TRIES);
			}
		begin(100); /* a lookup that finds its key never retries */
		assert_true(weir_contains(f, "there", 5));
		assert_int_equal(loaded_again, 0);
		weir_destroy(f);
	}
}

static void a_count_is_an_upper_bound_after_eight_tries(void **state)
{
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4) {
		struct weir_filter *f = made(bits);
		for (unsigned changes = 0; changes < 2 * TRIES; changes++) {
			int64_t most = 2 * (64 / bits);
			begin(changes);
			assert_int_equal(weir_count(f, "there", 5), changes < TRIES ? 1 : most);
			assert_int_equal(loaded_again, changes < TRIES ? changes + 1 : TRIES);
		}
		weir_destroy(f);
	}
}

static void each_key_of_a_batch_has_eight_tries(void **state)
{
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4) {
		struct weir_filter *f = made(bits);
		uint64_t hashes[BATCH], bitmap[WEIR_BITMAP_WORDS(BATCH)];
		for (unsigned i = 0; i < BATCH; i++)
			hashes[i] = weir_hash(f, "not there", 9);
		for (unsigned changes = 0; changes < 3 * TRIES; changes++) {
			begin(changes);
			assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes, BATCH),
			                                    bitmap),
			                 changes / TRIES);
			assert_true(bitmap[0] == (UINT64_C(1) << changes / TRIES) - 1);
			assert_true(bitmap[1] == 0);
		}
		begin(UINT32_MAX);
		assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes, BATCH), bitmap),
		                 BATCH);
		assert_int_equal(loaded_again, BATCH * TRIES);
		weir_destroy(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lookup_answers_true_after_eight_tries),
		cmocka_unit_test(a_count_is_an_upper_bound_after_eight_tries),
		cmocka_unit_test(each_key_of_a_batch_has_eight_tries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
