/* SPDX-License-Identifier: MIT
 * The caller's own hashes that are not uniform ([SPREAD]). The tests insert lists of values, once
 * as hashes and once as numbers. If absent keys match a filter of hashes at more than twice the
 * requested rate, the filter must report unevenness, unless its array looks like the array of a few
 * keys. A filter of numbers is even, because the filter hashes numbers itself. A filter never
 * reports unevenness for uniform hashes. */
#include <math.h>
#include "../folder.h"
#include "../handles.h"
#include "../sharded.h"

enum { KEYS = 30000, ABSENT = 20000 };

static uint64_t uniform(uint64_t i) { return test_key(i); }

/* ---- textbook hashes of a text ---- */

static size_t text_of(uint64_t i, char text[40])
{
	return (size_t)snprintf(text, 40, "user:%08llu@example.org", (unsigned long long)i);
}

static uint64_t fnv1a_32(uint64_t i)
{
	char text[40];
	uint32_t h = 2166136261u;
	for (size_t n = text_of(i, text), at = 0; at < n; at++)
		h = (h ^ (unsigned char)text[at]) * 16777619u;
	return h;
}

static uint64_t fnv1a_64(uint64_t i)
{
	char text[40];
	uint64_t h = UINT64_C(14695981039346656037);
	for (size_t n = text_of(i, text), at = 0; at < n; at++)
		h = (h ^ (unsigned char)text[at]) * UINT64_C(1099511628211);
	return h;
}

static uint32_t rotate(uint32_t x, int by)
{
	return x << by | x >> (32 - by);
}

/* Hashes whole words only. The last byte, which all texts share, is skipped. */
static uint64_t murmur3_32(uint64_t i)
{
	char text[40];
	uint32_t h = 0, k;
	const size_t n = text_of(i, text) / 4 * 4;
	for (size_t at = 0; at < n; at += 4) {
		memcpy(&k, text + at, 4);
		h = rotate(h ^ rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u, 13) * 5 + 0xe6546b64u;
	}
	h ^= (uint32_t)n;
	h = (h ^ h >> 16) * 0x85ebca6bu;
	h = (h ^ h >> 13) * 0xc2b2ae35u;
	return h ^ h >> 16;
}

static uint64_t crc32_of(uint64_t i)
{
	char text[40];
	uint32_t c = ~0u;
	for (size_t n = text_of(i, text), at = 0; at < n; at++) {
		c ^= (unsigned char)text[at];
		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (0xedb88320u & -(c & 1));
	}
	return ~c;
}

static uint64_t times(uint64_t i, uint64_t factor)
{
	char text[40];
	uint64_t h = 5381;
	for (size_t n = text_of(i, text), at = 0; at < n; at++)
		h = h * factor + (unsigned char)text[at];
	return h;
}

static uint64_t djb2_64(uint64_t i) { return times(i, 33); }
static uint64_t djb2_32(uint64_t i) { return (uint32_t)times(i, 33); }
static uint64_t java(uint64_t i) { return (uint64_t)(int64_t)(int32_t)times(i, 31); }
static uint64_t sdbm(uint64_t i) { return times(i, 65599); }

/* ---- hashes of a number ---- */

static uint64_t sequential(uint64_t i) { return i; }
static uint64_t pointer(uint64_t i) { return UINT64_C(0x7f3a12400000) + 48 * i; }
static uint64_t nanoseconds(uint64_t i) { return UINT64_C(1764435600000000000) + i * 1000003; }
static uint64_t milliseconds(uint64_t i) { return UINT64_C(1764435600000) + i; }
static uint64_t shifted(uint64_t i) { return i << 32; }
static uint64_t mixed_32_on_top(uint64_t i) { return murmur3_32(i) << 32; }
static uint64_t low_40_zero(uint64_t i) { return test_key(i) << 40; }
static uint64_t mixed_24(uint64_t i) { return test_key(test_key(i) & 0xffffff); }
static uint64_t bits_63(uint64_t i) { return test_key(i) >> 1; }
static uint64_t twice_32(uint64_t i) { return murmur3_32(i) * UINT64_C(0x100000001); }
static uint64_t knuth_32(uint64_t i) { return (uint32_t)(i * 2654435761u); }
static uint64_t reversed(uint64_t i) { return __builtin_bswap64(i); }
static uint64_t address_v4(uint64_t i) { return 0x0a000000u + i; }
/* A filter multiplies a hash by the golden ratio, and the product chooses the words. These products
 * begin with four zero bits, so they choose only few of the words. */
static uint64_t few_words(uint64_t i)
{
	return (test_key(i) >> 4) * UINT64_C(0xF1DE83E19937733D);
}
static uint64_t middle_zero(uint64_t i) { return test_key(i) & ~(UINT64_C(0xffff) << 40); }
static uint64_t a_double(uint64_t i)
{
	const double number = (double)i + 0.5;
	uint64_t bits;
	memcpy(&bits, &number, 8);
	return bits;
}

#define HASH(name) { #name, name }
static const struct hash {
	const char *name;
	uint64_t (*of)(uint64_t i);
} hashes[] = {
	HASH(fnv1a_32), HASH(fnv1a_64), HASH(murmur3_32), HASH(crc32_of), HASH(djb2_64),
	HASH(djb2_32), HASH(java), HASH(sdbm), HASH(sequential), HASH(pointer), HASH(nanoseconds),
	HASH(milliseconds), HASH(shifted), HASH(mixed_32_on_top), HASH(low_40_zero), HASH(mixed_24),
	HASH(bits_63), HASH(twice_32), HASH(knuth_32), HASH(reversed), HASH(address_v4),
	HASH(a_double), HASH(few_words), HASH(middle_zero), HASH(uniform),
};

static const uint32_t kinds[] = { WEIR_BLOCKED, WEIR_CLASSIC, WEIR_COUNTING, WEIR_GROWING,
	                          WEIR_CUCKOO, WEIR_SPLIT, WEIR_FREQUENCY };
static const double asked = 0.01;

static struct weir_stats figures(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &s));
	return s;
}

static struct weir_filter *filled(uint32_t kind, const struct hash *h, bool mixed,
                                  uint64_t *refused)
{
	struct weir_filter *f = test_filter(kind, KEYS, asked);
	*refused = 0;
	for (uint64_t i = 0; i < KEYS; i++)
		*refused += (mixed ? weir_insert_u64(f, h->of(i)) :
		                     weir_insert_hash(f, h->of(i))) < 0;
	return f;
}

/* Return: the share of absent keys that @f reports as present. An absent key may have the hash of a
 * present key. */
static double rate(const struct weir_filter *f, const struct hash *h, bool mixed)
{
	uint64_t yes = 0;
	for (uint64_t i = KEYS + 1000; i < KEYS + 1000 + ABSENT; i++)
		yes += mixed ? weir_contains_u64(f, h->of(i)) : weir_contains_hash(f, h->of(i));
	return (double)yes / ABSENT;
}

/* Return: true if the array looks like the array of a few keys. Many keys that share few hashes
 * give the same array, so only a count of the keys could show the difference. */
static bool as_of_few_keys(const struct weir_stats *s)
{
	return s->keys_estimated < 64 && s->hashes_uneven == WEIR_UNEVEN_UNKNOWN;
}

static void uneven_hashes_are_reported(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++)
		for (size_t i = 0; i < COUNT_OF(hashes); i++) {
			uint64_t refused;
			struct weir_filter *f = filled(kinds[k], &hashes[i], false, &refused);
			const struct weir_stats s = figures(f);
			const double measured = rate(f, &hashes[i], false);
			const double distinct = hashes[i].of == mixed_24 ||
			                        hashes[i].of == low_40_zero ?
			                        (double)KEYS / (1 << 24) : 0;
			print_message("%-10s %-16s rate %.4f, in the figures %.4f, refused %llu, "
			              "uneven %u\n", weir_kind_name(kinds[k]), hashes[i].name,
			              measured, s.fp_rate_estimated, (unsigned long long)refused,
			              s.hashes_uneven);
			if (measured > 2 * asked + distinct && s.hashes_uneven != WEIR_UNEVEN_YES &&
			    !as_of_few_keys(&s))
				fail_msg("%s, %s: rate %g, and nothing says so",
				         weir_kind_name(kinds[k]), hashes[i].name, measured);
			assert_int_equal(s.uneven_why != NULL, s.hashes_uneven == WEIR_UNEVEN_YES);
			if (hashes[i].of == uniform)
				assert_int_equal(s.hashes_uneven, WEIR_UNEVEN_NO);
			weir_destroy(f);
		}
}

/* Among the 32-bit values, an absent number may equal a present number, but only one pair in 2^32
 * is equal. So the rate stays near the requested rate. */
static void numbers_are_mixed(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++)
		for (size_t i = 0; i < COUNT_OF(hashes); i++) {
			uint64_t refused;
			if (kinds[k] == WEIR_SPLIT && i % 4) /* XXH64 is slow */
				continue;
			struct weir_filter *f = filled(kinds[k], &hashes[i], true, &refused);
			const struct weir_stats s = figures(f);
			assert_int_equal(refused, 0);
			if (rate(f, &hashes[i], true) > 1.5 * asked)
				fail_msg("%s, %s as numbers: rate %g", weir_kind_name(kinds[k]),
				         hashes[i].name, rate(f, &hashes[i], true));
			assert_int_equal(s.hashes_uneven, WEIR_UNEVEN_NO);
			weir_destroy(f);
		}
}

/* ---- uniform hashes, and what a sample shows ---- */

/* Insert uniform keys up to a load of 0.01 to 3. Some keys are inserted several times, and some are
 * removed. */
static void fill_by_chance(struct weir_filter *f, uint64_t capacity, uint64_t *random)
{
	const double load = 0.01 * pow(300, (double)(test_random(random) % 1000) / 999);
	const unsigned often = test_random(random) % 4 ? 1 : 6;
	uint64_t hash;
	for (uint64_t keys = (uint64_t)(load * (double)capacity) + 1; keys; keys--) {
		hash = test_random(random);
		for (unsigned again = keys % 8 ? often : 3; again; again--)
			if (weir_insert_hash(f, hash) < 0)
				break;
		if (keys % 5 == 0 && weir_can(f, WEIR_CAN_REMOVE))
			/* an earlier insert may have been refused */
			(void)!weir_remove_hash(f, hash);
	}
}

/* At random, fold @f by half, merge another filter into @f, or leave @f as it is. A kind that
 * cannot fold or merge leaves @f as it is, too. Return: @f or the folded filter. */
static struct weir_filter *merged_or_folded(struct weir_filter *f, uint64_t capacity,
                                            uint64_t *random)
{
	struct weir_filter *other;
	struct weir_params p = WEIR_PARAMS_INIT;
	if (test_random(random) % 3 == 0 && weir_fold(&other, f, 2) == 0) {
		weir_destroy(f);
		return other;
	}
	if (test_random(random) % 3 == 0 && weir_params_of(f, &p) == 0 &&
	    weir_create(&other, &p) == 0) {
		fill_by_chance(other, capacity, random);
		(void)!weir_merge(f, other); /* a growing filter may be full */
		weir_destroy(other);
	}
	return f;
}

static void uniform_hashes_are_never_reported(void **state)
{
	uint64_t random = 7, said[3] = { 0 };
	const unsigned rounds = test_is_short() ? 3000 : 6000;
	(void)state;
	for (unsigned n = 0; n < rounds; n++) {
		const uint32_t kind = kinds[test_random(&random) % COUNT_OF(kinds)];
		const double rates[] = { 0.1, 0.01, 0.001 };
		uint64_t capacity = 1;
		for (uint64_t bits = test_random(&random) % 11; bits; bits--)
			capacity = 2 * capacity + test_random(&random) % 2;
		struct weir_filter *f = test_filter(kind, capacity, rates[n % 3]);
		fill_by_chance(f, capacity, &random);
		f = merged_or_folded(f, capacity, &random);
		const struct weir_stats s = figures(f);
		if (s.hashes_uneven == WEIR_UNEVEN_YES)
			fail_msg("round %u: %s of %llu keys, fill %g: %s", n, weir_kind_name(kind),
			         (unsigned long long)capacity, s.fill, s.uneven_why);
		said[s.hashes_uneven]++;
		weir_destroy(f);
	}
	assert_true(said[WEIR_UNEVEN_UNKNOWN] > rounds / 100);
	assert_true(said[WEIR_UNEVEN_NO] > rounds / 100);
}

/* The keys crowd into a few lines at the beginning or at the end of the array, or into one line
 * after a thousandth of the array. */
static void a_sample_includes_both_ends(void **state)
{
	static const uint64_t from[] = { 0, UINT64_MAX - KEYS, UINT64_MAX / 1000 };
	(void)state;
	for (size_t end = 0; end < COUNT_OF(from); end++)
		for (size_t k = 0; k < COUNT_OF(kinds); k++) {
			if (kinds[k] == WEIR_CLASSIC) /* the kind mixes hashes itself */
				continue;
			/* four cells per word are too few to show one crowded line */
			if (kinds[k] == WEIR_FREQUENCY && end == 2)
				continue;
			struct weir_filter *f = test_filter(kinds[k], 5000000, asked);
			struct weir_stats s = WEIR_STATS_INIT;
			for (uint64_t i = 0; i < KEYS; i++)
				/* a cuckoo filter refuses some keys */
				(void)!weir_insert_hash(f, from[end] + i);
			assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
			assert_true(s.sampled < 1);
			if (s.hashes_uneven != WEIR_UNEVEN_YES)
				fail_msg("%s, from %llx on: %u", weir_kind_name(kinds[k]),
				         (unsigned long long)from[end], s.hashes_uneven);
			weir_destroy(f);
		}
}

/* All 256 blocks of the sample are full. */
static void full_blocks_give_no_verdict(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	(void)state;
	p.max_bytes = 511 * 64;
	p.fp_rate = 0.01;
	assert_ok(weir_create(&f, &p));
	for (uint64_t i = 0; i < 2500000; i++)
		assert_ok(weir_insert_u64(f, i));
	const struct weir_stats s = figures(f);
	assert_int_equal(s.bytes, 511 * 64);
	assert_true(s.fill == 1);
	assert_int_equal(s.hashes_uneven, WEIR_UNEVEN_UNKNOWN);
	weir_destroy(f);
}

struct filling {
	struct weir_filter *f;
	uint64_t from;
};

static void *fill_on(void *argument)
{
	const struct filling *filling = argument;
	for (uint64_t i = 0; i < 1000000; i++)
		assert_true(weir_insert_hash(filling->f, test_key(filling->from + i)) >= 0);
	return NULL;
}

/* Regression: keys that were inserted during a save made the beginning of the array appear emptier
 * than the end, so the save was refused. */
static void inserts_during_a_measurement_are_not_reported(void **state)
{
	enum { THREADS = 4 };
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 4000000, asked);
	struct filling filling[THREADS];
	pthread_t thread[THREADS];
	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		filling[i] = (struct filling){ f, UINT64_C(1) << 40 | (uint64_t)i << 32 };
		assert_int_equal(pthread_create(&thread[i], NULL, fill_on, &filling[i]), 0);
	}
	for (struct weir_stats s = figures(f); s.keys_estimated < 3900000; s = figures(f)) {
		assert_int_not_equal(s.hashes_uneven, WEIR_UNEVEN_YES);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
	}
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(unlink(path), 0);
	weir_destroy(f);
}

/* ---- calls that check the hashes of a filter ---- */

static void a_save_refuses_uneven_hashes(void **state)
{
	const struct hash poor = HASH(fnv1a_32), good = HASH(uniform);
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	uint64_t refused;
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		if (kinds[k] == WEIR_CLASSIC) /* the kind mixes hashes itself */
			continue;
		struct weir_filter *f = filled(kinds[k], &poor, false, &refused);
		o.allow_uneven = false;
		assert_refused(weir_save(f, weir_location_path(path), &o), -EDOM, "not uniform",
		               "allow_uneven");
		assert_int_equal(access(path, F_OK), -1);
		o.allow_uneven = true;
		assert_ok(weir_save(f, weir_location_path(path), &o));
		assert_int_equal(unlink(path), 0);
		weir_destroy(f);
		f = filled(kinds[k], &good, false, &refused);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		assert_int_equal(unlink(path), 0);
		weir_destroy(f);
	}
}

static void the_gate_refuses_uneven_hashes(void **state)
{
	struct weir_gate gate = WEIR_GATE_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	struct weir_handle *h = open_handle(flavors, 10000);
	(void)state;
	o.gate = &gate;
	for (int allowed = 0; allowed < 2; allowed++) {
		gate.allow_uneven = allowed;
		assert_ok(weir_reload_begin(&r, h, &o));
		for (uint64_t i = 0; i < 10000; i++)
			assert_ok(weir_reload_insert_hash(r, fnv1a_32(i)));
		if (allowed)
			assert_ok(weir_reload_commit(r));
		else
			assert_refused(weir_reload_commit(r), -ECANCELED, "the gate refused",
			               "not uniform");
	}
	assert_ok(weir_handle_destroy(h));
}

/* The hashes within a shard all have the same top bits, which chose the shard. */
static void a_sharded_set_reports_uneven_hashes(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *set;
	(void)state;
	p.capacity = KEYS;
	p.fp_rate = asked;
	for (int poor = 0; poor < 2; poor++) {
		struct weir_handle_stats of_set = WEIR_HANDLE_STATS_INIT;
		struct weir_stats s = WEIR_STATS_INIT;
		assert_ok(sharded_create(&set, &p, 4, flavors[0].given));
		for (uint64_t i = 0; i < KEYS; i++)
			assert_ok(weir_handle_insert_hash(set, poor ? low_40_zero(i) : uniform(i)));
		assert_ok(weir_handle_measure(set, &of_set, &s));
		assert_int_equal(s.hashes_uneven, poor ? WEIR_UNEVEN_YES : WEIR_UNEVEN_NO);
		assert_int_equal(s.uneven_why != NULL, poor);
		assert_ok(weir_handle_destroy(set));
	}
}

static void the_builder_refuses_uneven_hashes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(hashes); i++) {
		struct weir_build_report report = WEIR_BUILD_REPORT_INIT;
		struct weir_builder *b = test_builder(WEIR_FUSE, asked);
		struct weir_filter *f = NULL;
		for (uint64_t n = 0; n < KEYS; n++)
			assert_ok(weir_builder_add_hash(b, hashes[i].of(n)));
		const int err = weir_builder_finish(&f, b, &report);
		if (hashes[i].of == uniform)
			assert_int_equal(err, 0);
		/* these hashes have constant top, middle or low bits, or their products with the
		 * golden ratio have constant top bits */
		if (hashes[i].of == bits_63 || hashes[i].of == middle_zero ||
		    hashes[i].of == mixed_32_on_top || hashes[i].of == few_words)
			assert_int_equal(err, -EDOM);
		if (err)
			assert_refused(err, -EDOM, "not uniform", "look up by those too");
		else if (rate(f, &hashes[i], false) > 2 * asked)
			fail_msg("%s: rate %g", hashes[i].name, rate(f, &hashes[i], false));
		assert_int_equal(report.hashes_uneven, err ? WEIR_UNEVEN_YES : WEIR_UNEVEN_NO);
		weir_destroy(f);
		assert_ok(weir_builder_destroy(b));
	}
}

static void the_builder_counts_duplicates_once(void **state)
{
	struct weir_builder *b = test_builder(WEIR_FUSE, asked);
	struct weir_filter *f;
	(void)state;
	for (uint64_t i = 0; i < KEYS; i++) {
		assert_ok(weir_builder_add_u64(b, i));
		assert_ok(weir_builder_add_u64(b, i % 3));
	}
	assert_ok(weir_builder_finish(&f, b, NULL));
	weir_destroy(f);
	assert_ok(weir_builder_destroy(b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uneven_hashes_are_reported),
		cmocka_unit_test(numbers_are_mixed),
		cmocka_unit_test(uniform_hashes_are_never_reported),
		cmocka_unit_test(a_sample_includes_both_ends),
		cmocka_unit_test(full_blocks_give_no_verdict),
		cmocka_unit_test_setup_teardown(inserts_during_a_measurement_are_not_reported,
		                                folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_save_refuses_uneven_hashes,
		                                folder_setup, folder_teardown),
		cmocka_unit_test(the_gate_refuses_uneven_hashes),
		cmocka_unit_test(a_sharded_set_reports_uneven_hashes),
		cmocka_unit_test(the_builder_refuses_uneven_hashes),
		cmocka_unit_test(the_builder_counts_duplicates_once),
	};
	return cmocka_run_group_tests_name("hashes_uneven", tests, NULL, NULL);
}
