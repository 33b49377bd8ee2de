/* SPDX-License-Identifier: MIT
 * How the library handles a listed kind that differs from every real kind: it is built once,
 * hashes by XXH64, has shapes that depend on the number of lines, and may fail. The linker's --wrap
 * adds the toy kind to the list and counts destroyed filters. */
#include <errno.h>
#include <fcntl.h>
#include "../folder.h"
#include "../sharded.h"
#include "ground/error.h"
#include "filter/filter.h"
#include "kind/kind.h"

enum { TOY = 4713, SEED = 77, LINES = 64, HASH_AT = 48, DEPTH = 3 };

static const struct weir_kind toy;
static int answer; /* result of the toy's build, merge and fold */
static unsigned destroyed;

const struct weir_kind *__real_weir__kind(uint32_t id);
const struct weir_kind *__wrap_weir__kind(uint32_t id);
void __real_weir_destroy(struct weir_filter *f);
void __wrap_weir_destroy(struct weir_filter *f);

const struct weir_kind *__wrap_weir__kind(uint32_t id)
{
	return id == TOY ? &toy : __real_weir__kind(id);
}

void __wrap_weir_destroy(struct weir_filter *f)
{
	destroyed += f != NULL;
	__real_weir_destroy(f);
}

static int toy_answer(void)
{
	return answer ? weir__fail(answer, "the toy fails") : 0;
}

static int plan(const struct weir_params *p, struct weir_plan *out)
{
	out->shape.field[0] = DEPTH;
	out->shards = 1;
	out->capacity = p->capacity;
	out->bytes = 64 * LINES;
	out->fp_rate = 0.01;
	return 0;
}

/* Return: true if the shape has the toy's depth, and the number of lines is even or not known
 * yet. */
static bool legal(const struct weir_shape *shape, uint64_t lines)
{
	return shape->field[0] == DEPTH && (lines == UINT64_MAX || lines % 2 == 0);
}

static bool holds_hash(const struct weir_filter *f, uint64_t hash)
{
	return f->array.words[hash % (8 * f->array.lines)] == hash;
}

static bool holds(const struct weir_filter *f, const void *key, size_t len)
{
	return holds_hash(f, weir__hash_by(&f->hashing, key, len));
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	static const struct weir_kernel lookups = { .verbs = { .contains = holds,
		                                               .contains_hash = holds_hash } };
	(void)isa, (void)shape;
	return &lookups;
}

static int build(struct weir_filter *f, const struct weir_key_set *given)
{
	uint64_t *hashes = malloc(8 * given->n + 8);
	assert_non_null(hashes);
	assert_int_equal(given->count(given, 0, 0), given->n);
	assert_ok(given->read(given, 0, 0, hashes));
	for (uint64_t i = 0; i < given->n; i++)
		f->array.words[hashes[i] % (8 * f->array.lines)] = hashes[i];
	free(hashes);
	assert_ok(given->built(given, given->n));
	return toy_answer();
}

static int merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first, uint64_t n)
{
	(void)dst, (void)src, (void)first, (void)n;
	return toy_answer();
}

static int fold(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor)
{
	(void)dst, (void)f, (void)factor;
	return toy_answer();
}

static const struct weir_kind toy = { .id = TOY,
	                              .name = "toy",
	                              .hash = &weir__xxh64,
	                              .can = WEIR_CAN_PUBLISH,
	                              .fields = { "depth", "b", "c", "d", "e", "f", "last" },
	                              .plan = plan,
	                              .legal = legal,
	                              .kernel = kernel,
	                              .merge = merge,
	                              .snapshot = weir__bits_snapshot,
	                              .fold = fold,
	                              .build = build };

static struct weir_params params(uint64_t capacity)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = TOY;
	p.capacity = capacity, p.fp_rate = 0.01, p.seed = SEED;
	return p;
}

static struct weir_filter *built(uint64_t capacity, const uint64_t *hashes, size_t n)
{
	struct weir_params p = params(capacity);
	struct weir_filter *f = NULL;
	answer = 0;
	assert_ok(weir_build(&f, &p, weir_keys_hashes(hashes, n), NULL));
	return f;
}

static void a_build_sets_the_capacity(void **state)
{
	static const uint64_t hashes[] = { 1, 2, 3 };
	struct weir_filter *f = built(0, hashes, 3);
	(void)state;
	assert_int_equal(f->capacity, 3); /* the default is the number of hashes */
	assert_true(weir_contains_hash(f, 1) && weir_contains_hash(f, 3));
	assert_refused(weir_insert_hash(f, 4), -ENOTSUP, "kind toy", "take inserts");
	weir_destroy(f);
	f = built(1000, hashes, 3);
	assert_int_equal(f->capacity, 1000);
	weir_destroy(f);
	f = built(1000, NULL, 0); /* no hashes, and a NULL pointer */
	assert_false(weir_contains_hash(f, 1));
	weir_destroy(f);
}

/* A failed call leaks no filter and leaves its output unchanged. */
static void errors_of_the_kind_reach_the_caller(void **state)
{
	static const uint64_t hash = 1;
	struct weir_params p = params(10);
	struct weir_filter *f = built(10, &hash, 1), *other = built(10, &hash, 1), *out = other;
	(void)state;
	answer = -EIO;
	destroyed = 0;
	assert_refused(weir_build(&out, &p, weir_keys_hashes(&hash, 1), NULL), -EIO,
	               "the toy fails", "");
	assert_int_equal(destroyed, 1);
	assert_refused(weir_fold(&out, f, 2), -EIO, "the toy fails", "");
	assert_int_equal(destroyed, 2);
	f->insert_error = 0; /* a merge checks insert_error first */
	assert_refused(weir_merge(f, other), -EIO, "the toy fails", "");
	assert_ptr_equal(out, other);
	weir_destroy(f), weir_destroy(other);
}

/* A merge of lines 2 and 3 changes no other lines. */
static void a_merge_of_some_lines_changes_no_others(void **state)
{
	struct weir_filter *f = built(10, NULL, 0), *other = built(10, NULL, 0);
	(void)state;
	for (unsigned i = 0; i < 8 * LINES; i++)
		other->array.words[i] = i + 1;
	assert_ok(weir__bits_merge(f, other, 2, 2));
	for (unsigned i = 0; i < 8 * LINES; i++)
		assert_int_equal(f->array.words[i], i / 8 == 2 || i / 8 == 3 ? i + 1 : 0);
	weir_destroy(f), weir_destroy(other);
}

/* The error names the field that differs. */
static void a_merge_compares_every_field_of_the_shape(void **state)
{
	static const uint64_t hash = 1;
	struct weir_filter *f = built(10, &hash, 1), *other = built(10, &hash, 1);
	(void)state;
	other->array.shape.field[WEIR_SHAPE_FIELDS - 1] = 9;
	assert_refused(weir_merge(f, other), -EINVAL, "last differs", "9 in the source");
	weir_destroy(f), weir_destroy(other);
}

/* A load checks the shape together with the number of lines. */
static void an_image_names_hash_and_shape(void **state)
{
	static const uint64_t hash = 5;
	struct weir_filter *f = built(10, &hash, 1), *back = NULL;
	unsigned char id = 0;
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	int fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, &id, 1, HASH_AT), 1);
	close(fd);
	assert_int_equal(id, weir__xxh64.id);
	assert_ok(weir_load(&back, weir_location_path(path), NULL));
	assert_int_equal(back->array.shape.field[0], DEPTH);
	assert_true(weir_contains_hash(back, hash));
	weir_destroy(back);
	f->array.lines = LINES - 1; /* only a damaged image has an odd number of lines */
	f->bytes = 64 * (LINES - 1);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_refused(weir_load(&back, weir_location_path(path), NULL), -EBADMSG, "depth is 3",
	               "kind toy");
	weir_destroy(f);
}

static void a_sharded_set_uses_the_kinds_hash(void **state)
{
	struct weir_params p = params(1000);
	struct weir_handle *set = NULL;
	(void)state;
	assert_ok(sharded_create(&set, &p, 4, NULL));
	assert_int_equal(weir_handle_hash(set, "key", 3), XXH64("key", 3, SEED));
	assert_ok(weir_handle_destroy(set));
}

/* A filter that hashes by XXH3 cannot use XXH64 hashes, even if the seeds are equal. */
static void a_next_filter_with_another_hash_is_refused(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params other = params(1000), own = params(1000);
	struct weir_filter *first = NULL;
	struct weir_handle *h;
	struct weir_reload *r = NULL;
	(void)state;
	own.kind = WEIR_BLOCKED;
	assert_ok(weir_create(&first, &own));
	assert_ok(weir_handle_create(&h, first, NULL));
	o.params = &other;
	assert_refused(weir_reload_begin(&r, h, &o), -EINVAL, "XXH64", "the current filter's");
	assert_null(r);
	struct weir_filter *image = built(10, NULL, 0);
	assert_ok(weir_save(image, weir_location_path(path), NULL));
	assert_refused(weir_handle_refresh(h, path, NULL), -EINVAL, path, "XXH64");
	weir_destroy(image);
	assert_ok(weir_handle_destroy(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_sets_the_capacity),
		cmocka_unit_test(errors_of_the_kind_reach_the_caller),
		cmocka_unit_test(a_merge_of_some_lines_changes_no_others),
		cmocka_unit_test(a_merge_compares_every_field_of_the_shape),
		cmocka_unit_test_setup_teardown(an_image_names_hash_and_shape,
		                                folder_setup, folder_teardown),
		cmocka_unit_test(a_sharded_set_uses_the_kinds_hash),
		cmocka_unit_test_setup_teardown(a_next_filter_with_another_hash_is_refused,
		                                folder_setup,
		                                folder_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
