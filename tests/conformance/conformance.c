/* SPDX-License-Identifier: MIT
 * The same tests for every kind and shape, and for each function that inserts, looks up, counts,
 * removes or builds, on the instruction set that the argument names. The library must give the
 * reference's bits and answers, and -ENOTSUP for functions that the kind lacks. The exit status is
 * 77 (skipped) only if the CPU lacks the instruction set. */
#include <errno.h>
#include "../test.h"
#include "subject.h"

/* Return: a subject whose kind takes keys one at a time; for other kinds skip the test. Library and
 * reference must agree on whether the kind takes single keys. */
static struct subject inserting(void **state, uint64_t lines)
{
	struct subject s = subject_make(*state, lines);
	bool takes = test_takes_inserts(s.f);
	assert_int_equal(takes, reference_takes_inserts(&s.ref));
	if (!takes) {
		subject_free(&s);
		skip();
	}
	return s;
}

/* Return: true if the test can compare the bits. A batch may take its keys in any order, so after a
 * batch the test compares bits only if the kind's array does not depend on the order. */
static bool same_bits_by(const struct subject *s, unsigned way)
{
	return s->kind->commutes || way < SUBJECT_FIRST_BATCH;
}

static void all_ways_set_the_reference_bits(void **state)
{
	static const uint64_t lines[] = { 1, 2, 3, 37, 600 };
	for (size_t i = 0; i < COUNT_OF(lines); i++)
		for (unsigned way = 0; way < SUBJECT_INSERTS; way++) {
			struct subject s = inserting(state, lines[i]);
			for (uint64_t key = 0; key < s.capacity; key++)
				assert_ok(reference_insert(&s.ref, subject_hash(&s, key)));
			subject_insert(&s, way, 0, s.capacity);
			if (same_bits_by(&s, way))
				subject_assert_bits(&s, subject_insert_name(way));
			for (uint64_t key = 0; key < s.capacity; key++)
				assert_true(weir_contains_hash(s.f, subject_hash(&s, key)));
			subject_free(&s);
		}
}

/* Check that lookups of @n keys answer as the reference does, and that keys below @in are found. */
static void all_lookups_as_the_reference(const struct subject *s, uint64_t in, uint64_t n)
{
	uint64_t bitmap[WEIR_BITMAP_WORDS(8192)];
	assert_true(n <= 8192);
	for (unsigned way = 0; way < SUBJECT_LOOKUPS; way++) {
		size_t found = subject_contains(s, way, 0, n, bitmap), expected = 0;
		for (uint64_t key = 0; key < n; key++) {
			bool answer = bitmap[key / 64] >> key % 64 & 1,
			     wanted = reference_contains(&s->ref, subject_hash(s, key));
			if (answer != wanted || (key < in && !answer))
				fail_msg("%s: key %llu: answered %d, the reference says %d",
				         subject_lookup_name(way), (unsigned long long)key, answer,
				         wanted);
			expected += wanted;
		}
		assert_int_equal(found, expected);
		assert_true(found < n); /* the filter does not answer true to everything */
	}
}

static void all_ways_answer_as_the_reference(void **state)
{
	struct subject s = inserting(state, 37);
	uint64_t bitmap[WEIR_BITMAP_WORDS(8192)];
	for (unsigned way = 0; way < SUBJECT_LOOKUPS; way++) /* the filter is empty */
		assert_int_equal(subject_contains(&s, way, 0, 3 * s.capacity, bitmap), 0);
	for (unsigned again = 0; again < 2; again++)
		for (uint64_t key = 0; key < s.capacity; key++) {
			int answer = subject_insert_one(&s, key);
			assert_int_equal(answer, reference_insert(&s.ref, subject_hash(&s, key)));
			assert_true(!again || answer != WEIR_NEW);
		}
	all_lookups_as_the_reference(&s, s.capacity, 3 * s.capacity);
	subject_free(&s);
}

static void built_as_the_reference(void **state)
{
	struct subject s = subject_make(*state, 37);
	if (!s.ref.kind->build) {
		assert_refused(subject_build(&s, 0, 1), -ENOTSUP, weir_kind_name(s.kind->id),
		               "cannot be built");
	} else {
		assert_ok(subject_build(&s, 0, s.capacity));
		subject_assert_bits(&s, "weir_build");
		all_lookups_as_the_reference(&s, s.capacity, 3 * s.capacity);
	}
	subject_free(&s);
}

/* Hashes at the ends of the range and with a single bit: a wrong product or shift fails here. */
static void odd_hashes(void **state)
{
	static const uint64_t lines[] = { 1, 5, 64, 1023 };
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		struct subject s = inserting(state, lines[i]);
		if (s.kind->grows && s.capacity < 3 * 64 + 1) {
			subject_free(&s); /* 193 inserts of 191 hashes could fill a second layer */
			continue;
		}
		for (unsigned bit = 0; bit < 64; bit++)
			for (unsigned form = 0; form < 3; form++) {
				uint64_t one = UINT64_C(1) << bit, hash = form == 0 ? one :
				                                          form == 1 ? one - 1 :
				                                                      ~one;
				assert_int_equal(weir_contains_hash(s.f, hash),
				                 reference_contains(&s.ref, hash));
				int answer = weir_insert_hash(s.f, hash);
				assert_int_equal(answer, reference_insert(&s.ref, hash));
				assert_int_equal(weir_contains_hash(s.f, hash),
				                 reference_contains(&s.ref, hash));
				assert_true(answer < 0 || weir_contains_hash(s.f, hash));
			}
		assert_int_equal(weir_insert_hash(s.f, UINT64_MAX),
		                 reference_insert(&s.ref, UINT64_MAX));
		subject_assert_bits(&s, "odd hashes");
		subject_free(&s);
	}
}

static void remove_as_the_reference(struct subject *s, uint64_t key)
{
	uint64_t hash = subject_hash(s, key);
	assert_int_equal(weir_remove_hash(s->f, hash), s->ref.kind->remove(&s->ref, hash));
}

/* For kinds that can fill up: insert until an insert is refused, remove half of the keys, and
 * insert new keys until an insert is refused again. */
static void until_one_is_refused(void **state)
{
	static const uint64_t lines[] = { 1, 3, 20, 100 };
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		struct subject s = inserting(state, lines[i]);
		uint64_t key = 0, most = s.ref.kind->remove && s.kind->copies ? 64 * lines[i] : 0;
		for (unsigned turn = 0; most && turn < 2; turn++) {
			int answer = 0;
			for (; key < most && answer >= 0; key++) {
				answer = weir_insert_hash(s.f, subject_hash(&s, key));
				assert_int_equal(answer, reference_insert(&s.ref,
				                                          subject_hash(&s, key)));
			}
			assert_int_equal(answer, -ENOSPC);
			subject_assert_bits(&s, "a refused insert");
			for (uint64_t odd = 1; turn == 0 && odd < key - 1; odd += 2)
				remove_as_the_reference(&s, odd);
		}
		subject_free(&s);
		if (!most)
			skip();
	}
}

static unsigned bits_of(const struct subject *s, uint64_t key, uint64_t *bits)
{
	return s->ref.kind->bits(&s->ref, subject_hash(s, key), bits);
}

/* A batch may take its keys in any order. In every order, a key that was in the filter is SEEN, and
 * a key is NEW if it sets a bit that was 0 and that no other key of the batch sets. */
static void batches_tell_new_from_seen(void **state)
{
	for (unsigned way = SUBJECT_FIRST_BATCH; way < SUBJECT_LAST_BATCH; way++) {
		struct subject s = inserting(state, 40);
		if (!s.ref.kind->bits) {
			subject_free(&s);
			skip();
		}
		uint8_t *uses = calloc(s.ref.lines, 512);
		uint64_t bits[REFERENCE_MOST_BITS], bitmap[WEIR_BITMAP_WORDS(8192)];
		uint64_t half = s.capacity / 2;
		for (uint64_t key = 0; key < half; key++)
			reference_insert(&s.ref, subject_hash(&s, key));
		subject_insert(&s, SUBJECT_ONE_KEY, 0, half);
		for (uint64_t key = 0; key < s.capacity; key++)
			for (unsigned n = bits_of(&s, key, bits), i = 0; i < n; i++) {
				bool again = false; /* a key may set one bit twice */
				for (unsigned j = 0; j < i; j++)
					again |= bits[j] == bits[i];
				uses[bits[i]] = (uint8_t)(uses[bits[i]] +
				                          (!again && uses[bits[i]] < 2));
			}
		int64_t fresh = subject_insert_batch(&s, way, 0, s.capacity, bitmap), marked = 0,
			must = 0;
		for (uint64_t key = 0; key < s.capacity; key++) {
			bool was = reference_contains(&s.ref, subject_hash(&s, key)), alone = false,
			     is_new = bitmap[key / 64] >> key % 64 & 1;
			for (unsigned n = bits_of(&s, key, bits), i = 0; i < n; i++)
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

static bool small;

/* An array larger than the cache, and more than 64 Ki keys a call, to test prefetching and batches
 * that are sorted by shard. With "small" the array is still larger than the cache size that the
 * library assumes by default. */
static void large_batches(void **state)
{
	struct subject s = inserting(state, small ? 20480 : 98304);
	uint64_t n = small ? 70000 : 150000;
	uint64_t *bitmap = calloc(WEIR_BITMAP_WORDS(2 * n), 8);
	for (uint64_t key = 0; key < n; key++)
		assert_ok(reference_insert(&s.ref, subject_hash(&s, key)));
	for (unsigned way = SUBJECT_FIRST_BATCH; way < SUBJECT_INSERTS; way++) {
		memset(s.memory, 0, s.bytes);
		subject_insert(&s, way, 0, n);
		if (same_bits_by(&s, way))
			subject_assert_bits(&s, subject_insert_name(way));
		assert_int_equal(subject_contains(&s, 0, 0, n, bitmap), n);
	}
	if (!s.kind->commutes) { /* insert again in the reference's order */
		memset(s.memory, 0, s.bytes);
		subject_insert(&s, SUBJECT_ONE_KEY, 0, n);
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

/* Remove every second key, the first key twice, and count every key. If the reference lacks one of
 * these functions for the kind, the library's function must refuse. */
static void removals_and_counts(void **state)
{
	struct subject s = subject_make(*state, 37);
	const char *name = weir_kind_name(s.kind->id);
	for (uint64_t key = 0; reference_takes_inserts(&s.ref) && key < s.capacity; key++)
		assert_int_equal(subject_insert_one(&s, key),
		                 reference_insert(&s.ref, subject_hash(&s, key)));
	if (!s.ref.kind->remove)
		assert_refused(weir_remove(s.f, "a", 1), -ENOTSUP, name, "remove");
	for (uint64_t key = 0; s.ref.kind->remove && key < s.capacity; key += 2)
		remove_as_the_reference(&s, key);
	if (s.ref.kind->remove)
		remove_as_the_reference(&s, 0);
	if (!s.ref.kind->count)
		assert_refused(weir_count(s.f, "a", 1), -ENOTSUP, name, "count");
	for (uint64_t key = 0; s.ref.kind->count && key < 2 * s.capacity; key++) {
		uint64_t hash = subject_hash(&s, key);
		assert_int_equal(weir_count_hash(s.f, hash), s.ref.kind->count(&s.ref, hash));
	}
	subject_assert_bits(&s, "removals");
	subject_free(&s);
}

/* Insert the same few keys repeatedly, and remove them if the kind can, until counters are full and
 * removals meet absent keys. */
static void any_mixture_as_the_reference(void **state)
{
	struct subject s = subject_make(*state, 2);
	uint64_t random = 1, keys = s.capacity < 12 ? s.capacity : 12;
	const bool removes = s.ref.kind->remove;
	for (unsigned i = 0; (removes || s.ref.kind->count) && i < 4000; i++) {
		/* At least a third of the keys are key 0. Inserts prevail for 500 turns, then
		 * removals prevail for 500 turns, and so on. */
		uint64_t key = test_random(&random) % 3 ? test_random(&random) % keys : 0;
		if (removes && test_random(&random) % 100 < (i / 500 % 2 ? 70 : 30))
			remove_as_the_reference(&s, key);
		else
			assert_int_equal(subject_insert_one(&s, key),
			                 reference_insert(&s.ref, subject_hash(&s, key)));
		if (i % 100 == 0)
			subject_assert_bits(&s, "a mixture");
	}
	for (uint64_t key = 0; s.ref.kind->count && key < 2 * keys; key++) {
		uint64_t hash = subject_hash(&s, key);
		assert_int_equal(weir_count_hash(s.f, hash), s.ref.kind->count(&s.ref, hash));
	}
	subject_assert_bits(&s, "a mixture");
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
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl");
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
	bool only_some; /* the test takes long, so it runs only on shapes whose field main is set */
} tests[] = {
	TEST(all_ways_set_the_reference_bits, false),
	TEST(all_ways_answer_as_the_reference, false),
	TEST(odd_hashes, false),
	TEST(until_one_is_refused, false),
	TEST(batches_tell_new_from_seen, false),
	TEST(built_as_the_reference, false),
	TEST(removals_and_counts, false),
	TEST(any_mixture_as_the_reference, false),
	TEST(large_batches, true),
};

/* Every shape of each kind gets its own tests. */
enum { MOST_SHAPES = 1024 };
static struct CMUnitTest run[MOST_SHAPES * COUNT_OF(tests)];
static struct subject_layout subjects[MOST_SHAPES];
static size_t runs, shapes;

/* Return: true if the shape has a kernel for the instruction set. Otherwise the shape uses the
 * kernel of another instruction set, and the run for that instruction set tests the shape. */
static bool has_kernel(const char *isa, const struct subject_layout *layout)
{
	struct subject s = subject_make(layout, 64);
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(s.f, WEIR_SAMPLED, &stats));
	bool has = strcmp(stats.isa, isa) == 0;
	subject_free(&s);
	if (!has && layout->kind->every_isa) {
		fprintf(stderr, "kind %s has every_isa, and no kernel for %s\n",
		        weir_kind_name(layout->kind->id), isa);
		exit(1); /* no test is running that could fail */
	}
	return has;
}

static void add(const char *isa, const struct test_kind *kind, const struct test_shape *shape)
{
	char text[WEIR_SHAPE_TEXT];
	struct subject_layout *layout = &subjects[shapes++];
	assert_true(shapes <= MOST_SHAPES);
	assert_ok(weir_shape_text(&shape->shape, text));
	*layout = (struct subject_layout){ kind, &shape->shape };
	if (!has_kernel(isa, layout))
		return;
	for (size_t t = 0; t < COUNT_OF(tests); t++) {
		char *name;
		if (tests[t].only_some && !shape->main)
			continue;
		if (asprintf(&name, "%s %s, %s: %s", isa, weir_kind_name(kind->id), text,
		             tests[t].name) < 0)
			abort();
		run[runs++] = (struct CMUnitTest){ .name = name,
			                           .test_func = tests[t].function,
			                           .initial_state = layout };
	}
}

/* Usage: conformance ISA [small]. Runs under an emulator pass small, for smaller arrays. */
int main(int argc, char **argv)
{
	const char *isa = argc > 1 ? argv[1] : "scalar";
	small = argc > 2 && strcmp(argv[2], "small") == 0;
	if (!cpu_has(isa)) {
		printf("this CPU or build has no %s\n", isa);
		return 77;
	}
	setenv("WEIR_ISA", isa, 1);
	FOR_EACH_KIND(kind)
		for (size_t i = 0; i < kind->shapes.n; i++)
			add(isa, kind, &kind->shapes.rows[i]);
	int failed = _cmocka_run_group_tests("conformance", run, runs, NULL, NULL);
	for (size_t i = 0; i < runs; i++)
		free((void *)(uintptr_t)run[i].name);
	return failed;
}
