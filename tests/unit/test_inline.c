/* SPDX-License-Identifier: MIT
 * <weir/inline.h> sets the same bits and gives the same answers as the library, with any compiler
 * flags, in C and in C++. PROBES lists the callers. Each caller has its own compiler
 * flags. A caller that is compiled for one layout refuses views of other layouts. */
#include <errno.h>
#include <sys/mman.h>
#include <weir/inline.h>
#include "../test.h"
#include "inline_probe.h"

enum { PAGE = 4096, LINES_OF_A_PAGE = PAGE / 64 };

#define DECLARE(probe) extern const struct inline_probe probe;
PROBES(DECLARE)

static bool cpu_has(const char *name)
{
#if defined(__x86_64__)
	if (strstr(name, "avx512"))
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl");
	if (strstr(name, "avx2"))
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
	(void)name;
#endif
	return true;
}

struct placed {
	struct weir_filter *f;
	struct weir_inline_mut mut;
	void *memory;
	size_t bytes;
};

static struct placed place(unsigned z, unsigned g, uint64_t lines)
{
	struct placed p;
	struct weir_params params = WEIR_PARAMS_INIT;
	params.blocked.words_per_key = z;
	params.blocked.bits_per_word = g;
	params.max_bytes = p.bytes = params.memory_bytes = 64 * lines;
	params.capacity = lines * 512 / 12;
	params.seed = 77;
	p.memory = params.memory = aligned_alloc(PAGE, (p.bytes + PAGE - 1) / PAGE * PAGE);
	assert_ok(weir_create(&p.f, &params));
	assert_ok(weir_inline_init_mut(&p.mut, p.f));
	assert_int_equal(p.mut.view.nblocks, lines);
	return p;
}

static void placed_free(struct placed *p)
{
	weir_destroy(p->f);
	free(p->memory);
}

static void one_layout(const struct inline_probe *probe, unsigned z, unsigned g, uint64_t lines)
{
	struct placed ours = place(z, g, lines), theirs = place(z, g, lines);
	uint64_t keys = lines * 512 / 12;
	char key[40];
	for (uint64_t i = 0; i < keys; i++) {
		int len = snprintf(key, sizeof key, "%llx",
		                   (unsigned long long)test_key(i) >> (i % 15 * 4));
		uint64_t h = weir_hash(theirs.f, key, (size_t)len);
		assert_int_equal(probe->hash(&ours.mut.view, key, (size_t)len), h);
		int answer = i % 2 ? probe->insert(&ours.mut, key, (size_t)len) :
		                     probe->insert_hash(&ours.mut, h);
		assert_int_equal(answer, weir_insert(theirs.f, key, (size_t)len));
		if (i % 16 == 0)
			assert_int_equal(probe->insert_u64(&ours.mut, i),
			                 weir_insert_u64(theirs.f, i));
	}
	assert_memory_equal(ours.memory, theirs.memory, ours.bytes);
	struct weir_inline view; /* must equal the first field of the mutable view */
	assert_ok(weir_inline_init(&view, ours.f));
	assert_memory_equal(&view, &ours.mut.view, sizeof view);
	for (uint64_t i = 0; i < 3 * keys; i++) {
		int len = snprintf(key, sizeof key, "%llx",
		                   (unsigned long long)test_key(i) >> (i % 15 * 4));
		bool wanted = weir_contains(theirs.f, key, (size_t)len);
		assert_int_equal(probe->contains(&view, key, (size_t)len), wanted);
		assert_int_equal(
			probe->contains_hash(&view, weir_hash(theirs.f, key, (size_t)len)),
			wanted);
		assert_int_equal(probe->contains_u64(&view, i), weir_contains_u64(theirs.f, i));
		assert_true(wanted || i >= keys);
	}
	placed_free(&ours), placed_free(&theirs);
}

static void same_bits_and_answers(void **state)
{
	const struct inline_probe *probe = *state;
	if (!cpu_has(probe->name))
		skip();
	for (unsigned z = 1; z <= 8; z *= 2)
		for (unsigned g = 1; g <= 10 && z * g <= 20; g++) {
			one_layout(probe, z, g, 1);
			one_layout(probe, z, g, 67);
		}
}

/* Threads that insert the same hot keys share the cache lines of these keys. A store would
 * invalidate the line in the caches of the other threads. */
static void an_insert_of_a_present_key_writes_nothing(void **state)
{
	const struct inline_probe *probe = *state;
	if (!cpu_has(probe->name))
		skip();
	for (unsigned z = 1; z <= 8; z *= 2)
		for (unsigned g = 1; g <= 10 && z * g <= 20; g++) {
			struct placed p = place(z, g, LINES_OF_A_PAGE);
			for (uint64_t i = 0; i < 100; i++)
				assert_true(probe->insert_hash(&p.mut, test_key(i)) >= 0);
			/* any store would now fault */
			assert_int_equal(mprotect(p.memory, PAGE, PROT_READ), 0);
			for (uint64_t i = 0; i < 100; i++) {
				uint64_t h = test_key(i);
				assert_int_equal(probe->insert_hash(&p.mut, h), WEIR_SEEN);
				assert_int_equal(weir_insert_hash(p.f, h), WEIR_SEEN);
			}
			assert_int_equal(mprotect(p.memory, PAGE, PROT_READ | PROT_WRITE), 0);
			placed_free(&p);
		}
}

static void a_read_only_view_refuses_inserts(void **state)
{
	const struct inline_probe *probe = *state;
	if (!cpu_has(probe->name))
		skip();
	struct placed p = place(2, 3, 5);
	struct weir_inline_mut v = p.mut;
	v.insert_error = -EROFS; /* the error of a read-only map */
	assert_int_equal(probe->insert(&v, "key", 3), -EROFS);
	assert_int_equal(probe->insert_hash(&v, 1), -EROFS);
	assert_int_equal(probe->insert_u64(&v, 1), -EROFS);
	assert_false(probe->contains(&v.view, "key", 3));
	placed_free(&p);
}

static void a_caller_for_one_layout_refuses_the_others(void **state)
{
	const struct inline_probe *probe = *state;
	for (unsigned z = 1; z <= 8; z *= 2)
		for (unsigned g = 1; g <= 10 && z * g <= 20; g++) {
			struct placed p = place(z, g, 5);
			struct weir_inline view = { .nblocks = 99 };
			struct weir_inline_mut mut = { .view = view };
			char has[WEIR_SHAPE_TEXT], wants[WEIR_SHAPE_TEXT];
			struct weir_shape shape = { WEIR_BLOCKED, .field = { z, g } };
			assert_ok(weir_shape_text(&shape, has));
			shape.field[0] = probe->words_per_key;
			shape.field[1] = probe->bits_per_word;
			if (!shape.field[0] || (shape.field[0] == z && shape.field[1] == g)) {
				assert_ok(probe->init(&view, p.f));
				assert_ok(probe->init_mut(&mut, p.f));
				assert_memory_equal(&view, &p.mut.view, sizeof view);
				assert_memory_equal(&mut.view, &view, sizeof view);
				assert_ptr_equal(mut.words, p.mut.words);
				assert_int_equal(mut.insert_error, p.mut.insert_error);
			} else {
				assert_ok(weir_shape_text(&shape, wants));
				assert_refused(probe->init(&view, p.f), -ENOTSUP, has, wants);
				assert_refused(probe->init_mut(&mut, p.f), -ENOTSUP, has, wants);
				assert_int_equal(view.nblocks, 99);
				assert_int_equal(mut.view.nblocks, 99);
			}
			placed_free(&p);
		}
}

static void only_default_layouts_or_the_callers_are_inlined(void **state)
{
	const struct inline_probe *probe = *state;
	if (!cpu_has(probe->name))
		skip();
	for (unsigned z = 1; z <= 8; z *= 2)
		for (unsigned g = 1; g <= 10 && z * g <= 20; g++) {
			bool wanted = probe->words_per_key == z && probe->bits_per_word == g;
#define IS(Z, G) || (z == Z && g == G)
			if (!probe->words_per_key)
				wanted = false WEIR__DEFAULT_LAYOUTS(IS);
			assert_int_equal(probe->has_inlined(WEIR__LAYOUT(z, g)), wanted);
		}
}

/* The inlined layouts are those that the planner chooses for rates from 10 % to 0.01 %. */
static void exactly_the_planners_layouts_are_inlined(void **state)
{
	unsigned seen[9][11] = { { 0 } }, inlined = 0;
	(void)state;
	for (double rate = 0.1; rate > 0.0001; rate *= 0.999) {
		struct weir_params params = WEIR_PARAMS_INIT;
		struct weir_plan plan = WEIR_PLAN_INIT;
		params.capacity = 1000000, params.fp_rate = rate;
		assert_ok(weir_plan_make(&params, &plan));
		seen[plan.shape.field[0]][plan.shape.field[1]]++;
	}
#define TAKE(z, g) \
	assert_true(seen[z][g] > 0); \
	seen[z][g] = 0; \
	inlined++;
	WEIR__DEFAULT_LAYOUTS(TAKE)
	assert_int_equal(inlined, 6);
	for (unsigned z = 1; z <= 8; z *= 2)
		for (unsigned g = 1; g <= 10; g++)
			assert_int_equal(seen[z][g], 0);
}

/* The inlined functions hash without normalisation and without a secret. */
static void sets_that_normalise_have_no_inline_form(void **state)
{
	static const uint32_t steps[] = { WEIR_TEXT_TRIM, WEIR_TEXT_LOWERCASE, WEIR_TEXT_CIDR,
		                          WEIR_TEXT_SUFFIXES };
	(void)state;
	for (unsigned i = 0; i <= COUNT_OF(steps); i++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_filter *f = NULL;
		struct weir_inline view;
		struct weir_inline_mut mut;
		p.capacity = 1000;
		p.fp_rate = 0.01;
		p.text.steps = i < COUNT_OF(steps) ? steps[i] : 0;
		p.secret = i < COUNT_OF(steps) ? NULL : "of sixteen bytes";
		assert_ok(weir_create(&f, &p));
		assert_false(weir_can(f, WEIR_CAN_INLINE));
		assert_int_equal(weir_can(f, WEIR_CAN_HASH) == 0,
		                 (p.text.steps & (WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES)) != 0);
		assert_refused(weir_inline_init(&view, f), -ENOTSUP,
		               p.secret ? "keyed" : "normalises", "weir_contains");
		assert_refused(weir_inline_init_mut(&mut, f), -ENOTSUP,
		               p.secret ? "keyed" : "normalises", "weir_contains");
		weir_destroy(f);
	}
}

static void other_kinds_have_no_inline_form(void **state)
{
	struct weir_filter *f = test_filter(WEIR_CLASSIC, 100, 0.01);
	struct weir_inline v = { .nblocks = 99 };
	struct weir_inline_mut mut = { .view = v };
	(void)state;
	assert_refused(weir_inline_init(&v, f), -ENOTSUP, "classic", "inline");
	assert_refused(weir_inline_init_mut(&mut, f), -ENOTSUP, "classic", "inline");
	assert_refused(weir_inline_check_layout(f, 7, 1), -ENOTSUP, "classic", "inline");
	assert_int_equal(v.nblocks, 99);
	assert_int_equal(mut.view.nblocks, 99);
	weir_destroy(f);
}

#define ENTRY(probe) \
	{ #probe ": same bits and answers", same_bits_and_answers, NULL, NULL, \
	  (void *)(uintptr_t)&probe }, \
	{ #probe ": an insert of a present key writes nothing", \
	  an_insert_of_a_present_key_writes_nothing, NULL, NULL, \
	  (void *)(uintptr_t)&probe }, \
	{ #probe ": a caller for one layout refuses the others", \
	  a_caller_for_one_layout_refuses_the_others, NULL, NULL, \
	  (void *)(uintptr_t)&probe }, \
	{ #probe ": a read-only view refuses inserts", \
	  a_read_only_view_refuses_inserts, NULL, NULL, \
	  (void *)(uintptr_t)&probe }, \
	{ #probe ": only default layouts or the caller's are inlined", \
	  only_default_layouts_or_the_callers_are_inlined, NULL, NULL, \
	  (void *)(uintptr_t)&probe },

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROBES(ENTRY) /* PROBES ends with a comma */
		cmocka_unit_test(exactly_the_planners_layouts_are_inlined),
		cmocka_unit_test(sets_that_normalise_have_no_inline_form),
		cmocka_unit_test(other_kinds_have_no_inline_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
