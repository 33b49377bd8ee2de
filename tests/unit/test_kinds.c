/* SPDX-License-Identifier: MIT
 * The list of kinds, and what each kind promises: names, conversion of shapes to parameters and
 * back, and which lines hold the bits of a key ([PARTITION-BITS] in src/kind/kind.h). */
#include <errno.h>
#include "../test.h"
#include "../kinds/kind.h"
#include "filter/filter.h"
#include "kind/spread.h"

static const struct {
	uint32_t number, constant;
	const char *name, *summary;
	const struct weir_kind *kind;
} list[] = {
#define ROW(number, constant, name, summary) \
	{ number, constant, #name, summary, &weir__kind_##name },
	WEIR_KINDS(ROW)
#undef ROW
};
static const uint32_t unknown[] = { 200, 1u << 31, UINT32_MAX };

static void every_kind_is_listed(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(list); i++) {
		const struct weir_kind *kind = weir__kind(list[i].number);
		assert_ptr_equal(kind, list[i].kind);
		assert_int_equal(kind->id, list[i].number);
		assert_int_equal(kind->id, list[i].constant);
		assert_int_equal(kind->id, test_kind_list[i]->id);
		assert_string_equal(kind->name, list[i].name);
		assert_string_equal(weir_kind_name(kind->id), list[i].name);
		assert_true(strlen(list[i].summary) > 10);
		assert_true(kind->hash && kind->plan && kind->legal && kind->describe &&
		            kind->kernel);
		/* A filter of a compound kind consists of members, which are filters. Such a kind
		 * calls its members' functions, or measures all members together. */
		const bool compound = kind->members || kind->figures;
		assert_true(!kind->measure == compound && !kind->estimate == compound);
	}
	for (size_t i = 0; i < COUNT_OF(unknown); i++) {
		assert_null(weir__kind(unknown[i]));
		assert_null(weir_kind_name(unknown[i]));
		assert_null(weir_shape_field(unknown[i], 0));
	}
}

/* The names up to the first NULL differ from each other. No name follows the NULL. */
static void the_fields_of_a_shape_have_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(list); i++) {
		unsigned n = 0;
		while (n < WEIR_SHAPE_FIELDS && list[i].kind->fields[n])
			n++;
		for (unsigned j = 0; j < WEIR_SHAPE_FIELDS + 3; j++) {
			const char *name = weir_shape_field(list[i].number, j);
			assert_int_equal(name != NULL, j < n);
			for (unsigned other = 0; name && other < j; other++)
				assert_string_not_equal(name, weir_shape_field(list[i].number,
				                                               other));
		}
	}
}

static void shape_texts_describe_the_shape(void **state)
{
	char text[WEIR_SHAPE_TEXT], again[WEIR_SHAPE_TEXT];
	(void)state;
	FOR_EACH_KIND(kind)
		for (size_t i = 0; i < kind->shapes.n; i++) {
			const struct weir_shape *shape = &kind->shapes.rows[i].shape;
			assert_int_equal(shape->kind, kind->id);
			memset(text, 'x', sizeof text);
			assert_ok(weir_shape_text(shape, text));
			assert_in_range(strlen(text), 1, sizeof text - 1);
			weir__kind(kind->id)->describe(shape, again);
			assert_string_equal(text, again);
		}
}

/* Return: a legal shape of the kind. */
static struct weir_shape some_shape(const struct test_kind *kind)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	params.kind = kind->id;
	params.capacity = 1000;
	params.fp_rate = 0.01;
	assert_ok(weir_plan_make(&params, &plan));
	return plan.shape;
}

static void assert_no_shape(const struct weir_shape *shape)
{
	struct weir_params params = WEIR_PARAMS_INIT, before = params;
	char text[WEIR_SHAPE_TEXT] = "before";
	assert_refused(weir_shape_text(shape, text), -EINVAL, weir_kind_name(shape->kind),
	               "no such shape");
	assert_string_equal(text, "");
	assert_refused(weir_params_shape(&params, shape), -EINVAL, weir_kind_name(shape->kind),
	               "no such shape");
	assert_memory_equal(&params, &before, sizeof params);
}

static void illegal_shapes_are_refused(void **state)
{
	(void)state;
	FOR_EACH_KIND(kind) {
		struct weir_shape shape = some_shape(kind);
		for (unsigned i = 0; i < WEIR_SHAPE_FIELDS; i++) {
			struct weir_shape wrong = shape;
			/* a field without a name must be 0 */
			wrong.field[i] = weir_shape_field(kind->id, i) ? UINT32_MAX : 1;
			assert_no_shape(&wrong);
		}
		memset(shape.field, 0xff, sizeof shape.field);
		assert_no_shape(&shape);
	}
	for (size_t i = 0; i < COUNT_OF(unknown); i++) {
		struct weir_shape shape = { unknown[i], .field = { 1, 1 } };
		struct weir_params params = WEIR_PARAMS_INIT;
		char text[WEIR_SHAPE_TEXT] = "before", number[16];
		snprintf(number, sizeof number, "kind %u", unknown[i]);
		assert_refused(weir_shape_text(&shape, text), -ENOTSUP, number, "not know");
		assert_string_equal(text, "");
		assert_refused(weir_params_shape(&params, &shape), -ENOTSUP, number,
		               "this library");
	}
}

/* ---- weir_params_shape() ---- */

static uint64_t no_clock(void *arg)
{
	(void)arg;
	return 0;
}

static void a_shape_in_the_parameters_is_planned(void **state)
{
	static const char *const no_name = "name";
	static const uint64_t no_keys = 1;
	(void)state;
	FOR_EACH_KIND(kind)
		for (size_t i = 0; i < kind->shapes.n; i++) {
			struct weir_params params = WEIR_PARAMS_INIT;
			struct weir_plan plan = WEIR_PLAN_INIT, again = WEIR_PLAN_INIT;
			params.kind = unknown[0];
			params.blocked.words_per_key = params.classic.probes = 99;
			if (kind->id != WEIR_WINDOW) { /* only the kind window has these fields */
				params.window.span_seconds = 60;
				params.window.run.timer = true;
				params.window.run.clock = no_clock;
			}
			if (kind->id != WEIR_ROUTER) {
				params.router.names = &no_name;
				params.router.keys = &no_keys;
			}
			params.capacity = 12345, params.fp_rate = 0.01, params.seed = 3;
			assert_ok(weir_params_shape(&params, &kind->shapes.rows[i].shape));
			assert_int_equal(params.kind, kind->id);
			/* weir_params_shape() does not change other fields */
			assert_true(params.struct_size == sizeof params &&
			            params.capacity == 12345 && params.fp_rate == 0.01 &&
			            params.seed == 3);
			assert_ok(weir_plan_make(&params, &plan));
			if (!kind->unasked)
				assert_int_equal(plan.shape.field[0],
				                 kind->shapes.rows[i].shape.field[0]);
			if (!kind->sized)
				test_assert_same_shape(&plan.shape, &kind->shapes.rows[i].shape);
			assert_ok(weir_params_shape(&params, &plan.shape));
			assert_ok(weir_plan_make(&params, &again));
			assert_memory_equal(&plan, &again, sizeof plan);
		}
}

static void a_field_beyond_a_shorter_struct_is_refused(void **state)
{
	(void)state;
	FOR_EACH_KIND(kind) {
		struct weir_params params, wanted = WEIR_PARAMS_INIT;
		struct weir_shape shape = some_shape(kind);
		/* the caller's struct ends after the field params.blocked */
		const size_t size = offsetof(struct weir_params, classic);
		char group[40];
		memset(&params, 0xa5, sizeof params);
		assert_ok(weir_params_shape(&wanted, &shape));
		params.struct_size = size;
		snprintf(group, sizeof group, "no room for %s.", weir_kind_name(kind->id));
		if (kind->id != WEIR_BLOCKED && kind->id != WEIR_SPLIT) {
			/* the field is outside the caller's struct, so setting it must fail */
			struct weir_params before = params;
			assert_refused(weir_params_shape(&params, &shape), -EINVAL, "struct_size",
			               group);
			assert_memory_equal(&params, &before, sizeof params);
			continue;
		}
		assert_ok(weir_params_shape(&params, &shape));
		assert_int_equal(params.struct_size, size);
		assert_int_equal(params.kind, kind->id);
		assert_int_equal(params.blocked.words_per_key, wanted.blocked.words_per_key);
		assert_int_equal(params.blocked.bits_per_word, wanted.blocked.bits_per_word);
		/* nothing is written outside the struct */
		for (size_t i = size; i < sizeof params; i++)
			assert_int_equal(((unsigned char *)&params)[i], 0xa5);
	}
}

static void a_struct_that_ends_at_a_field_cannot_store_it(void **state)
{
	const size_t at = offsetof(struct weir_params, classic.probes);
	struct weir_shape shape = { WEIR_CLASSIC, .field = { 7, 1 } };
	(void)state;
	for (size_t size = at - 8; size <= at + 8; size += 8) {
		struct weir_params params = WEIR_PARAMS_INIT;
		params.struct_size = size;
		if (size == at + 8)
			assert_ok(weir_params_shape(&params, &shape));
		else
			assert_refused(weir_params_shape(&params, &shape), -EINVAL, "struct_size",
			               "no room for classic.probes");
		assert_int_equal(params.classic.probes, size == at + 8 ? 7 : 0);
	}
}

static void params_shape_checks_its_arguments(void **state)
{
	(void)state;
	FOR_EACH_KIND(kind) {
		struct weir_params params = WEIR_PARAMS_INIT;
		struct weir_shape shape = some_shape(kind);
		assert_refused(weir_params_shape(&params, NULL), -EINVAL, "shape is NULL", "");
		assert_refused(weir_params_shape(NULL, &shape), -EINVAL, "weir_params is NULL",
		               "_INIT");
		params.struct_size = 0;
		assert_refused(weir_params_shape(&params, &shape), -EINVAL, "struct_size 0",
		               "_INIT");
		params.struct_size = sizeof params + 1;
		assert_refused(weir_params_shape(&params, &shape), -EINVAL, "struct_size", "_INIT");
	}
}

/* ---- [PARTITION-BITS], and measurements of lines and blocks ---- */

enum { SHARDS = 16, LINES = SHARDS * 1024, HASHES = 8 };
static uint64_t *words;

static struct weir_filter *in_words(const struct test_kind *kind, const struct weir_shape *shape)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	assert_ok(weir_params_shape(&params, shape));
	params.max_bytes = params.memory_bytes = 64 * LINES;
	params.capacity = 512 * LINES / (kind->bits_per_key ? kind->bits_per_key : 12);
	params.memory = words;
	assert_ok(weir_create(&f, &params));
	assert_int_equal(f->array.lines, LINES);
	assert_int_equal(f->shards, SHARDS);
	return f;
}

/* Asserts that an insert of @hash writes only to the partition of lines that the top bits of @hash
 * choose. */
static void assert_in_its_partition(struct weir_filter *f, uint64_t hash)
{
	unsigned bits = f->kernel->partition_bits < 4 ? f->kernel->partition_bits : 4;
	memset(words, 0, 64 * LINES);
	assert_int_equal(weir_insert_hash(f, hash), WEIR_NEW);
	for (uint64_t i = 0; i < 8 * LINES && bits; i++)
		if (words[i])
			assert_int_equal(i / 8 / (LINES >> bits), hash >> (64 - bits));
}

static void keys_lie_in_their_partition(void **state)
{
	uint64_t random = 1;
	(void)state;
	words = aligned_alloc(64, 64 * LINES);
	assert_non_null(words);
	FOR_EACH_KIND(kind)
		for (size_t s = 0; s < kind->shapes.n; s++) {
			struct weir_filter *f = in_words(kind, &kind->shapes.rows[s].shape);
			for (unsigned i = 0; i < HASHES && test_takes_inserts(f); i++)
				assert_in_its_partition(f, test_random(&random));
			assert_true(f->kernel->partition_bits || f->parts == 1);
			assert_true(f->parts <= f->shards && f->array.lines % f->parts == 0);
			/* a shape that test_bulk.c loads must have partitions */
			assert_true(f->parts > 1 || !kind->shapes.rows[s].bulk);
			weir_destroy(f);
		}
	free(words);
}

/* With an odd number of blocks, a partition boundary would fall into the middle block. */
static void odd_blocks_have_no_partitions(void **state)
{
	const struct weir_shape odd = { WEIR_SPLIT, .field = { 7 } };
	const struct weir_shape even = { WEIR_SPLIT, .field = { 8 } };
	(void)state;
	for (enum weir_isa isa = WEIR_ISA_SCALAR; isa < WEIR_ISA_COUNT; isa++) {
		if (!weir__kind_split.kernel(isa, &odd))
			continue;
		assert_int_equal(weir__kind_split.kernel(isa, &odd)->partition_bits, 0);
		assert_true(weir__kind_split.kernel(isa, &even)->partition_bits > 0);
	}
}

static void a_measurement_reads_only_the_lines_asked_for(void **state)
{
	uint64_t random = 1;
	(void)state;
	words = aligned_alloc(64, 64 * LINES);
	assert_non_null(words);
	FOR_EACH_KIND(kind) {
		if (!weir__kind(kind->id)->measure || !kind->shapes.n)
			continue;
		struct weir_filter *f = in_words(kind, &kind->shapes.rows[0].shape);
		struct weir_measure last = { 0 }, rest = { 0 };
		for (unsigned i = 0; i < 1000 && test_takes_inserts(f); i++)
			assert_ok(weir_insert_hash(f, test_random(&random)));
		memset(words + 8 * (LINES - LINES / 4), 0, 64 * LINES / 4);
		f->kind->measure(f, 0, LINES - LINES / 4, &rest);
		f->kind->measure(f, LINES - LINES / 4, LINES / 4, &last);
		assert_int_equal(last.used, 0);
		assert_true(rest.used > 0 || !test_takes_inserts(f));
		assert_int_equal(last.lines + rest.lines, LINES);
		assert_int_equal(3 * last.cells, rest.cells);
		weir_destroy(f);
	}
	free(words);
}

/* The measurement counts blocks in portions, so that no counter overflows. This filter has more
 * blocks than one portion. */
static void each_cell_of_many_blocks_is_counted(void **state)
{
	static struct weir_spread s;
	struct weir_filter *f = test_filter(WEIR_SPLIT, 100000, 0.01);
	struct weir_law law;
	(void)state;
	memset(f->array.words, 0xff, f->bytes);
	assert_true(weir__spread_law(f, &law));
	weir__spread_begin(&s, &law, 64);
	weir__spread_count(&s, 0, s.law.blocks);
	assert_int_equal(s.step, 1);
	assert_int_equal(s.counted, s.law.blocks);
	assert_true(s.counted > 2048);
	for (unsigned i = 0; i < s.law.words * s.law.cells; i++)
		assert_int_equal(s.at[i], s.counted);
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cell_of_many_blocks_is_counted),
		cmocka_unit_test(every_kind_is_listed),
		cmocka_unit_test(the_fields_of_a_shape_have_names),
		cmocka_unit_test(shape_texts_describe_the_shape),
		cmocka_unit_test(illegal_shapes_are_refused),
		cmocka_unit_test(a_shape_in_the_parameters_is_planned),
		cmocka_unit_test(a_field_beyond_a_shorter_struct_is_refused),
		cmocka_unit_test(a_struct_that_ends_at_a_field_cannot_store_it),
		cmocka_unit_test(params_shape_checks_its_arguments),
		cmocka_unit_test(keys_lie_in_their_partition),
		cmocka_unit_test(odd_blocks_have_no_partitions),
		cmocka_unit_test(a_measurement_reads_only_the_lines_asked_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
