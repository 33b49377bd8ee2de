/* SPDX-License-Identifier: MIT
 * One body over every kind, every layout, every verb, on the instruction set that the argument
 * names: the same bits as the reference, byte for byte, the same answers, and -ENOTSUP for what
 * the kind cannot. Exit 77 (skipped) only where the CPU lacks the set. */
#include <errno.h>
#include "../test.h"
#include "reference.h"
#include "subject.h"

static void all_ways_set_the_reference_bits(void **state)
{
	static const uint64_t lines[] = { 1, 2, 3, 37, 600 };
	for (size_t i = 0; i < COUNT_OF(lines); i++)
		for (unsigned way = 0; way < SUBJECT_INSERTS; way++) {
			struct subject s = subject_make(*state, lines[i]);
			for (uint64_t key = 0; key < s.capacity; key++)
				reference_insert(&s.ref, subject_hash(&s, key));
			subject_insert(&s, way, 0, s.capacity);
			subject_assert_bits(&s, subject_insert_name(way));
			subject_free(&s);
		}
}

static void all_ways_answer_as_the_reference(void **state)
{
	struct subject s = subject_make(*state, 37);
	size_t n = 3 * s.capacity;
	uint64_t bitmap[WEIR_BITMAP_WORDS(8192)];
	assert_true(n <= 8192);
	for (unsigned way = 0; way < SUBJECT_LOOKUPS; way++) /* empty: nothing is in it */
		assert_int_equal(subject_contains(&s, way, 0, n, bitmap), 0);
	for (uint64_t key = 0; key < s.capacity; key++) {
		bool is_new = reference_insert(&s.ref, subject_hash(&s, key));
		assert_int_equal(subject_insert_one(&s, key), is_new ? WEIR_NEW : WEIR_SEEN);
	}
	for (uint64_t key = 0; key < s.capacity; key++)
		assert_int_equal(subject_insert_one(&s, key), WEIR_SEEN);
	for (unsigned way = 0; way < SUBJECT_LOOKUPS; way++) {
		size_t found = subject_contains(&s, way, 0, n, bitmap), expected = 0;
		for (uint64_t key = 0; key < n; key++) {
			bool answer = bitmap[key / 64] >> key % 64 & 1;
			bool wanted = reference_contains(&s.ref, subject_hash(&s, key));
			if (answer != wanted || (key < s.capacity && !answer))
				fail_msg("%s: key %llu: answered %d, the reference says %d",
				         subject_lookup_name(way), (unsigned long long)key, answer,
				         wanted);
			expected += wanted;
		}
		assert_int_equal(found, expected);
		assert_true(found < n); /* not a filter that answers true always */
	}
	subject_free(&s);
}

/* Hashes at the ends of the range and with a single bit: where a product or a shift would go
 * wrong. */
static void odd_hashes(void **state)
{
	static const uint64_t lines[] = { 1, 5, 64, 1023 };
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		struct subject s = subject_make(*state, lines[i]);
		for (unsigned bit = 0; bit < 64; bit++)
			for (unsigned form = 0; form < 3; form++) {
				uint64_t one = UINT64_C(1) << bit;
				uint64_t hash = form == 0 ? one : form == 1 ? one - 1 : ~one;
				assert_int_equal(weir_contains_hash(s.f, hash),
				                 reference_contains(&s.ref, hash));
				assert_int_equal(weir_insert_hash(s.f, hash),
				                 reference_insert(&s.ref, hash));
				assert_true(weir_contains_hash(s.f, hash));
			}
		assert_int_equal(weir_insert_hash(s.f, UINT64_MAX),
		                 reference_insert(&s.ref, UINT64_MAX));
		subject_assert_bits(&s, "odd hashes");
		subject_free(&s);
	}
}

/* A batch may take its keys in any order. What the order cannot change: a key that was there is
 * SEEN; one with a bit that was 0 and that no other key of the batch sets is NEW. */
static void batches_tell_new_from_seen(void **state)
{
	for (unsigned way = SUBJECT_FIRST_BATCH; way < SUBJECT_LAST_BATCH; way++) {
		struct subject s = subject_make(*state, 40);
		uint8_t *uses = calloc(s.ref.lines, 512);
		uint64_t bits[REFERENCE_MOST_BITS], bitmap[WEIR_BITMAP_WORDS(8192)];
		uint64_t half = s.capacity / 2;
		for (uint64_t key = 0; key < half; key++)
			reference_insert(&s.ref, subject_hash(&s, key));
		subject_insert(&s, SUBJECT_ONE_KEY, 0, half);
		for (uint64_t key = 0; key < s.capacity; key++) {
			unsigned n = reference_bits(&s.ref, subject_hash(&s, key), bits);
			for (unsigned i = 0; i < n; i++) {
				bool again = false; /* a key may set one bit twice */
				for (unsigned j = 0; j < i; j++)
					again |= bits[j] == bits[i];
				if (!again && uses[bits[i]] < 2)
					uses[bits[i]]++;
			}
		}
		int64_t fresh = subject_insert_batch(&s, way, 0, s.capacity, bitmap);
		int64_t marked = 0, must = 0;
		for (uint64_t key = 0; key < s.capacity; key++) {
			bool was = reference_contains(&s.ref, subject_hash(&s, key));
			bool alone = false, is_new = bitmap[key / 64] >> key % 64 & 1;
			unsigned n = reference_bits(&s.ref, subject_hash(&s, key), bits);
			for (unsigned i = 0; i < n; i++)
				alone |= uses[bits[i]] == 1 &&
				         !(s.ref.bytes[bits[i] / 8] >> bits[i] % 8 & 1);
			assert_false(was && is_new);
			assert_false(alone && !is_new);
			marked += is_new;
			must += alone;
		}
		assert_int_equal(fresh, marked);
		assert_true(must > 0);
		free(uses);
		subject_free(&s);
	}
}

/* Larger than the cache and than 64 Ki keys a call: prefetching, and batches sorted by shard. */
static void large_batches(void **state)
{
	struct subject s = subject_make(*state, UINT64_C(98304));
	uint64_t n = 150000;
	uint64_t *bitmap = calloc(WEIR_BITMAP_WORDS(2 * n), 8);
	for (uint64_t key = 0; key < n; key++)
		reference_insert(&s.ref, subject_hash(&s, key));
	for (unsigned way = SUBJECT_FIRST_BATCH; way < SUBJECT_INSERTS; way++) {
		memset(s.memory, 0, s.bytes);
		subject_insert(&s, way, 0, n);
		subject_assert_bits(&s, subject_insert_name(way));
	}
	for (unsigned way = 0; way < SUBJECT_LOOKUPS; way++) {
		size_t found = subject_contains(&s, way, 0, 2 * n, bitmap), marked = 0;
		for (uint64_t key = 0; key < 2 * n; key++) {
			bool answer = bitmap[key / 64] >> key % 64 & 1;
			assert_int_equal(answer, reference_contains(&s.ref, subject_hash(&s, key)));
			marked += answer;
		}
		assert_int_equal(found, marked);
	}
	free(bitmap);
	subject_free(&s);
}

static void verbs_the_kind_lacks(void **state)
{
	struct subject s = subject_make(*state, 4);
	assert_refused(weir_remove(s.f, "a", 1), -ENOTSUP, s.layout->name, "remove");
	assert_refused(weir_count(s.f, "a", 1), -ENOTSUP, s.layout->name, "count");
	subject_free(&s);
}

static bool cpu_has(const char *isa)
{
#if defined(__SANITIZE_THREAD__)
	return strcmp(isa, "scalar") == 0;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
	return strcmp(isa, "scalar") == 0;
#endif
#endif
#if defined(__x86_64__)
	if (strcmp(isa, "avx2") == 0)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
	if (strcmp(isa, "avx512") == 0)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
	return strcmp(isa, "scalar") == 0;
#elif defined(__aarch64__)
	return strcmp(isa, "scalar") == 0 || strcmp(isa, "neon") == 0;
#else
	return strcmp(isa, "scalar") == 0;
#endif
}

#define TEST(function, only_some) { #function, function, only_some }
static const struct {
	const char *name;
	CMUnitTestFunction function;
	bool only_some; /* layouts: it takes long */
} tests[] = {
	TEST(all_ways_set_the_reference_bits, false),
	TEST(all_ways_answer_as_the_reference, false),
	TEST(odd_hashes, false),
	TEST(batches_tell_new_from_seen, false),
	TEST(verbs_the_kind_lacks, false),
	TEST(large_batches, true),
};

int main(int argc, char **argv)
{
	const char *isa = argc > 1 ? argv[1] : "scalar";
	static struct CMUnitTest run[SUBJECT_MOST_LAYOUTS * COUNT_OF(tests)];
	static char names[COUNT_OF(run)][80];
	size_t n = 0;
	if (!cpu_has(isa)) {
		printf("this CPU or build has no %s\n", isa);
		return 77;
	}
	setenv("WEIR_ISA", isa, 1);
	for (size_t l = 0; l < subject_layouts(); l++)
		for (size_t t = 0; t < COUNT_OF(tests); t++) {
			struct subject_layout *layout = subject_layout(l);
			if (tests[t].only_some && !layout->main)
				continue;
			snprintf(names[n], sizeof names[n], "%s %s %u %u: %s", isa, layout->name,
			         layout->z, layout->g, tests[t].name);
			run[n] = (struct CMUnitTest){ .name = names[n],
			                              .test_func = tests[t].function,
			                              .initial_state = layout };
			n++;
		}
	return _cmocka_run_group_tests("conformance", run, n, NULL, NULL);
}
