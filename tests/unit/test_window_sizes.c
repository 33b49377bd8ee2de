/* SPDX-License-Identifier: MIT
 * The size, rate and options of a window. All forms of a key give the same answers. */
#include <sys/mman.h>
#include "window.h"

/* The share of absent keys that lookups find, and the rate in the statistics, are near the planned
 * rate. */
static void test_a_full_window_has_the_planned_rate(void **state)
{
	(void)state;
	FOR_EACH_SHAPE(o) {
		o.capacity = 20000 * o.window.generations;
		struct weir_filter *w = make(&o);
		uint64_t key = 0, wrong = 0;
		for (uint32_t g = 0; g < o.window.generations; g++) {
			for (int i = 0; i < 20000; i++)
				(void)weir_insert_u64(w, test_key(key++));
			if (g + 1 < o.window.generations)
				assert_ok(weir_window_advance(w));
		}
		struct weir_stats s = figures_of(w);
		for (uint64_t i = 0; i < key; i++)
			assert_true(weir_contains_u64(w, test_key(i)));
		for (uint64_t i = 0; i < 100000; i++)
			wrong += weir_contains_u64(w, test_key(i + (UINT64_C(1) << 40)));
		assert_true(wrong > 700 && wrong < 1200);
		assert_true(s.fp_rate_estimated > 0.008 && s.fp_rate_estimated < 0.0115);
		assert_true(s.fp_rate > 0.0095 && s.fp_rate <= 0.01001);
		assert_true(fabs(s.keys_estimated / (double)key - 1) < 0.02);
		weir_destroy(w);
	}
}

enum { ASKED = 3001, ASKED_WORDS = WEIR_BITMAP_WORDS(ASKED) };

/* The window is overfull, so many keys are false positives. Asserts that a batch and single lookups
 * agree on all keys. */
static void answers(struct weir_filter *w, const uint64_t *keys, uint64_t *in)
{
	size_t one_by_one = 0;
	for (int k = 0; k < ASKED / 2; k += 100) {
		weir_insert_keys(w, weir_keys_u64(keys + k, 100), NULL);
		if (k % 300 == 0)
			assert_ok(weir_window_advance(w));
	}
	size_t n = weir_contains_keys(w, weir_keys_u64(keys, ASKED), in);
	for (int k = 0; k < ASKED; k++) {
		bool has = weir_contains_u64(w, keys[k]);
		assert_int_equal(has, in[k / 64] >> k % 64 & 1);
		one_by_one += has;
	}
	assert_int_equal(n, one_by_one);
}

/* Asserts that all instruction sets give the same answers as the first instruction set.
 * Return: the number of bits that a key sets in a word. */
static uint32_t same_answers(struct weir_params *o)
{
	static const char *const names[] = { "scalar", "avx2", "avx512" };
	static uint64_t keys[ASKED], first[ASKED_WORDS], in[ASKED_WORDS];
	uint32_t bits = 0;
	for (uint64_t i = 0; i < ASKED; i++)
		keys[i] = test_key(i);
	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		struct weir_filter *w = NULL;
		setenv("WEIR_ISA", names[i], 1);
		int err = weir_create(&w, o);
		unsetenv("WEIR_ISA");
		if (err == -ENOTSUP)
			continue;
		assert_ok(err);
		answers(w, keys, in);
		if (i == 0)
			memcpy(first, in, sizeof in);
		assert_memory_equal(first, in, sizeof in);
		bits = figures_of(w).shape.field[3];
		weir_destroy(w);
	}
	return bits;
}

/* The test compares single lookups and batches for each shape. In the layout of columns, it also
 * compares them for each number of bits per key. */
static void test_all_instruction_sets_agree(void **state)
{
	const char *asked = getenv("WEIR_ISA");
	char *kept = asked ? strdup(asked) : NULL;
	(void)state;
	FOR_EACH_SHAPE(o) {
		o.capacity = 1000;
		(void)same_answers(&o);
	}
	for (uint32_t generations = 2; generations <= 16; generations += 7) {
		struct weir_params o = options(generations, WEIR_WINDOW_COLUMNS);
		uint32_t seen = 0;
		o.capacity = 1000;
		for (o.fp_rate = 0.5; o.fp_rate > 1e-5; o.fp_rate /= 2)
			seen |= UINT32_C(1) << same_answers(&o);
		assert_int_equal(seen >> 4, 0x7f); /* a flag for each number of bits, 4 to 10 */
	}
	for (uint32_t layout = WEIR_WINDOW_COLUMNS; layout <= WEIR_WINDOW_RING; layout++)
		for (uint32_t generations = 7; generations <= 16; generations += 9) {
			struct weir_params o = options(generations, layout);
			/* in a window that is larger than a core's cache, a batch prefetches */
			o.capacity = 6000000;
			(void)same_answers(&o);
		}
	struct weir_params o = options(3, WEIR_WINDOW_RING);
	o.capacity = 1000;
	o.fp_rate = 1e-8;
	o.window.words_per_key = 4; /* more bits than any compiled kernel supports */
	assert_true(same_answers(&o) > 4);
	if (kept)
		setenv("WEIR_ISA", kept, 1);
	free(kept);
}

static const unsigned char secret[16] = "sixteen secrets";

/* The test uses a window without a secret, and then a window with a secret. */
static void test_all_forms_of_a_key_are_equal(void **state)
{
	enum { KEYS = 200 };
	static uint64_t keys[KEYS], hashes[KEYS], bitmap[WEIR_BITMAP_WORDS(KEYS)];
	static struct iovec vectors[KEYS];
	(void)state;
	for (int keyed = 0; keyed < 2; keyed++) {
		struct weir_params o = options(7, 0);
		if (keyed)
			o.seed = 0, o.secret = secret;
		struct weir_filter *w = make(&o);
		for (uint64_t i = 0; i < KEYS; i++) {
			keys[i] = test_key(i + 1000 * (uint64_t)keyed);
			hashes[i] = weir_hash(w, &keys[i], 8);
			vectors[i] = (struct iovec){ &keys[i], 8 };
		}
		assert_int_equal(weir_contains_keys(w, weir_keys_hashes(hashes, KEYS),
		                                           bitmap),
		                 0);
		assert_int_equal(weir_insert_keys(w, weir_keys_hashes(hashes, 50), bitmap),
		                 50);
		assert_int_equal(weir_insert_keys(w, weir_keys_iov(vectors, 100), bitmap),
		                 50);
		assert_int_equal(bitmap[0], UINT64_MAX << 50);
		assert_int_equal(weir_insert_keys(w, weir_keys_u64(keys, 150), NULL),
		                 50);
		assert_int_equal(weir_contains_keys(w, weir_keys_iov(vectors, KEYS), bitmap),
		                 150);
		assert_int_equal(bitmap[2], (UINT64_C(1) << 22) - 1);
		assert_int_equal(bitmap[3], 0);
		assert_int_equal(weir_contains_keys(w, weir_keys_u64(keys, KEYS), NULL),
		                 150);
		assert_int_equal(weir_contains_keys(w, weir_keys_fixed(keys, 4, 0), NULL),
		                 0);
		assert_int_equal(weir_age_hash(w, hashes[149]), 0);
		assert_int_equal(weir_insert(w, "odd", 3), WEIR_NEW);
		assert_int_equal(weir_insert_keys(w, weir_keys_fixed("odd", 3, 1), NULL), 0);
		weir_destroy(w);
	}
}

static void test_shape_texts_name_the_generations(void **state)
{
	char text[WEIR_SHAPE_TEXT];
	(void)state;
	const struct weir_shape columns = { WEIR_WINDOW,
		                            .field = { WEIR_WINDOW_COLUMNS, 7, 1, 5 } };
	const struct weir_shape ring = { WEIR_WINDOW, .field = { WEIR_WINDOW_RING, 3, 2, 4 } };
	const struct weir_shape neither = { WEIR_WINDOW, .field = { 3, 3, 2, 4 } };
	assert_ok(weir_shape_text(&columns, text));
	assert_string_equal(text, "columns of 7 generations, 1 word of 5 bits a key");
	assert_ok(weir_shape_text(&ring, text));
	assert_string_equal(text, "a ring of 3 generations, 2 words of 4 bits a key");
	assert_refused(weir_shape_text(&neither, text), -EINVAL, "kind window", "no such shape");
}

static void test_the_lowest_rate_is_per_generation(void **state)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	FOR_EACH_SHAPE(o) {
		o.fp_rate = 1e-9 * o.window.generations;
		assert_ok(weir_plan_make(&o, &plan));
		assert_true(plan.fp_rate <= 1.01e-9 * o.window.generations);
	}
}

static void refused(struct weir_params o, int err, const char *a, const char *b)
{
	struct weir_filter *w = NULL;
	assert_refused(weir_create(&w, &o), err, a, b);
	assert_null(w);
}

#define REFUSED(field, value, err, b) \
	do { \
		struct weir_params other = options(7, 0); \
		other.field = value; \
		refused(other, err, #field, b); \
	} while (0)

static void test_wrong_options_are_refused(void **state)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_params o = options(7, 0);
	struct weir_filter *w = NULL;
	(void)state;
	REFUSED(struct_size, 4, -EINVAL, "4");
	REFUSED(window.generations, 1, -EINVAL, "1: 2 to 16");
	REFUSED(window.generations, 17, -EINVAL, "17: 2 to 16");
	REFUSED(window.layout, 3, -EINVAL, "3");
	REFUSED(capacity, 0, -EINVAL, "fp_rate 0.01, max_bytes 0: give two of the three");
	REFUSED(fp_rate, 0.6, -EINVAL, "0.6");
	REFUSED(fp_rate, NAN, -EINVAL, "nan");
	REFUSED(max_bytes, 100, -EINVAL, "100: at least 512");
	REFUSED(window.span_seconds, 1e-4, -EINVAL, "0.0001");
	REFUSED(window.span_seconds, NAN, -EINVAL, "nan");
	REFUSED(window.run.timer, true, -EINVAL, "clock");
	REFUSED(window.words_per_key, 3, -EINVAL, "3");
	REFUSED(window.words_per_key, 16, -EINVAL, "16");
	REFUSED(flags, 1u << 30, -EINVAL, "");
	o.max_bytes = 4096;
	refused(o, -EFBIG, "max_bytes", "");
	o = options(16, 0);
	o.fp_rate = 1.5e-8;
	refused(o, -EINVAL, "fp_rate 1.5e-08", "all 16 generations, 1.6e-08 to 0.5");
	o = options(7, WEIR_WINDOW_COLUMNS);
	o.window.words_per_key = 2;
	refused(o, -EINVAL, "words_per_key 2", "ring");
	o = options(7, 0);
	o.window.run.clock = NULL, o.window.run.timer = 1, o.window.span_seconds = 0;
	refused(o, -EINVAL, "timer", "span_seconds");
	o = options(7, 0);
	o.secret = secret;
	refused(o, -EINVAL, "seed", "secret");
	assert_refused(weir_create(&w, NULL), -EINVAL, "weir_params", "");
	refused((struct weir_params){ .struct_size = sizeof o, .kind = WEIR_WINDOW }, -EINVAL,
	        "capacity", "");
	assert_refused(weir_create(NULL, &o), -EINVAL, "out is NULL", "");
	plan.struct_size = 3;
	assert_refused(weir_plan_make(&o, &plan), -EINVAL, "weir_plan", "3");
	w = make(&(struct weir_params){ .struct_size = sizeof o, .kind = WEIR_WINDOW,
	                                .capacity = 9, .fp_rate = 0.1 });
	struct weir_window_stats s = { .struct_size = 1 };
	assert_refused(weir_window_measure(w, WEIR_SAMPLED, &s), -EINVAL, "weir_window_stats", "1");
	weir_destroy(w);
	weir_destroy(NULL);
}

static const char flavor; /* a pointer for the tests; never used as a flavor */

/* A window also refuses the parameters of other kinds. */
static void test_only_windows_accept_their_parameters(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		struct weir_params with;
	} rows[] = {
		{ "window.generations 7", { .window.generations = 7 } },
		{ "window.layout 1", { .window.layout = 1 } },
		{ "window.words_per_key 2", { .window.words_per_key = 2 } },
		{ "window.reserved", { .window.reserved = 1 } },
		{ "window.span_seconds 60", { .window.span_seconds = 60 } },
		{ "window.generation_keys 9", { .window.generation_keys = 9 } },
		{ "window.run", { .window.run.timer = true } },
		{ "window.run", { .window.run.forget_older = true } },
		{ "window.run", { .window.run.clock = test_clock } },
		{ "window.run", { .window.run.clock_arg = &now_ns } },
		{ "window.run", { .window.run.flavor = (const void *)&flavor } },
		{ "window.run", { .window.run.reserved = 1 } },
		{ "window.spare", { .window.spare = { 0, 1 } } },
	};
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct weir_params p = rows[i].with;
		struct weir_error_info info = WEIR_ERROR_INFO_INIT;
		p.struct_size = sizeof p;
		p.capacity = 100;
		p.fp_rate = 0.01;
		refused(p, -EINVAL, rows[i].name, "kind blocked");
		weir_error_last(&info);
		assert_true(info.err == -EINVAL && info.code == WEIR_ERROR_KIND_LACKS);
	}
	REFUSED(blocked.words_per_key, 1, -EINVAL, "kind window");
	REFUSED(growing.bits_per_word, 3, -EINVAL, "kind window");
	REFUSED(classic.probes, 3, -EINVAL, "kind window");
	REFUSED(growing.max_capacity, 3, -EINVAL, "kind window");
	REFUSED(window.reserved, 1, -EINVAL, "leave it 0");
	REFUSED(window.run.reserved, 1, -EINVAL, "leave it 0");
}

static void test_parameters_of_a_window_create_its_like(void **state)
{
	(void)state;
	FOR_EACH_SHAPE(o) {
		struct weir_params again = WEIR_PARAMS_INIT;
		o.window.generation_keys = 900;
		o.capacity = 1000 * o.window.generations;
		struct weir_filter *w = make(&o), *other;
		assert_ok(weir_params_of(w, &again));
		assert_int_equal(again.kind, WEIR_WINDOW);
		assert_true(again.seed == o.seed && again.window.span_seconds == 6 &&
		            again.window.generation_keys == 900 &&
		            again.window.run.clock == test_clock);
		other = make(&again);
		const struct weir_stats a = figures_of(w), b = figures_of(other);
		assert_memory_equal(&a, &b, sizeof a);
		assert_int_equal(stats_of(other).generations, o.window.generations);
		weir_destroy(other);
		weir_destroy(w);
	}
	struct weir_params o = options(7, 0), again;
	const size_t size = offsetof(struct weir_params, window);
	struct weir_filter *w = make(&o);
	again.struct_size = size;
	assert_refused(weir_params_of(w, &again), -EINVAL, "no room for window.generations", "");
	weir_destroy(w);
}

/* Windows that are created and windows that are loaded can use the caller's memory. */
static void test_bits_may_lie_in_the_callers_memory(void **state)
{
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	char metrics[4096];
	(void)state;
	FOR_EACH_SHAPE(o) {
		struct weir_filter *back = NULL;
		assert_ok(weir_plan_make(&o, &plan));
		void *one = aligned_alloc(64, plan.bytes), *two = aligned_alloc(64, plan.bytes);
		assert_true(one && two);
		o.memory = one;
		load.memory = two;
		o.memory_bytes = load.memory_bytes = plan.bytes;
		memset(one, 0xff, plan.bytes);
		struct weir_filter *w = make(&o);
		assert_int_equal(weir_insert(w, "key", 3), WEIR_NEW);
		assert_int_equal(weir_contains(w, "other", 5), false);
		int fd = memfd_create("image", 0);
		assert_ok(weir_save(w, weir_location_fd(fd), NULL));
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_ok(weir_load(&back, weir_location_fd(fd), &load));
		assert_int_equal(weir_age(back, "key", 3), 0);
		assert_memory_equal(one, two, plan.bytes);
		const struct weir_metrics of = weir_metrics_filter(back, "set=\"w\"");
		assert_true(weir_metrics_write(&of, 1, metrics, sizeof metrics) > 0);
		assert_non_null(strstr(metrics, "weir_capacity_keys{set=\"w\"} 7000\n"));
		weir_destroy(back);
		weir_destroy(w);
		close(fd);
		free(one);
		free(two);
	}
}

/* The three values are capacity, rate and bytes. */
static void test_any_two_of_three_give_the_third(void **state)
{
	struct weir_plan one = WEIR_PLAN_INIT, two = WEIR_PLAN_INIT;
	(void)state;
	FOR_EACH_SHAPE(o) {
		o.capacity = 1000000;
		assert_ok(weir_plan_make(&o, &one));
		assert_true(fabs(one.bits_per_key - 8e-6 * (double)one.bytes) < 1e-9);
		o.window.words_per_key = one.shape.field[2];
		o.max_bytes = one.bytes;
		o.fp_rate = 0;
		assert_ok(weir_plan_make(&o, &two));
		assert_true(two.bytes <= one.bytes);
		assert_true(fabs(two.fp_rate / one.fp_rate - 1) < 0.02);
		o.fp_rate = 0.01;
		o.capacity = 0;
		assert_ok(weir_plan_make(&o, &two));
		assert_true(fabs((double)two.capacity / 1e6 - 1) < 0.02);
	}
	/* The theoretical bits per key of 7 generations at 1 %, without the spare generation. */
	struct weir_params o = options(7, WEIR_WINDOW_COLUMNS);
	o.capacity = 7000000;
	assert_ok(weir_plan_make(&o, &one));
	assert_true(fabs(one.bits_per_key * 7 / 8 - 21.7) < 0.22);
	o.window.layout = WEIR_WINDOW_RING;
	assert_ok(weir_plan_make(&o, &one));
	assert_true(fabs(one.bits_per_key * 7 / 8 - 14.8) < 0.15 * 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_window_has_the_planned_rate),
		cmocka_unit_test(test_all_instruction_sets_agree),
		cmocka_unit_test(test_shape_texts_name_the_generations),
		cmocka_unit_test(test_all_forms_of_a_key_are_equal),
		cmocka_unit_test(test_the_lowest_rate_is_per_generation),
		cmocka_unit_test(test_wrong_options_are_refused),
		cmocka_unit_test(test_only_windows_accept_their_parameters),
		cmocka_unit_test(test_parameters_of_a_window_create_its_like),
		cmocka_unit_test(test_bits_may_lie_in_the_callers_memory),
		cmocka_unit_test(test_any_two_of_three_give_the_third),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
