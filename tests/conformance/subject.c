/* SPDX-License-Identifier: MIT
 * The subject of the conformance tests: see subject.h. */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "../test.h"
#include "subject.h"

#define SEED UINT64_C(0xfeedfacecafebeef)

static struct weir_stats stats_assert(const struct weir_filter *f,
                                      const struct subject_layout *layout)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_SAMPLED, &stats));
	if (!layout->kind->unasked)
		assert_int_equal(stats.shape.field[0], layout->shape->field[0]);
	if (!layout->kind->sized)
		test_assert_same_shape(&stats.shape, layout->shape);
	return stats;
}

struct subject subject_make(const struct subject_layout *layout, uint64_t lines)
{
	struct subject s = { .kind = layout->kind };
	unsigned bits_per_key = layout->kind->bits_per_key ? layout->kind->bits_per_key : 12;
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_ok(weir_params_shape(&params, layout->shape));
	if (layout->kind->block_lines)
		lines = (lines + layout->kind->block_lines(layout->shape) - 1) /
		        layout->kind->block_lines(layout->shape) *
		        layout->kind->block_lines(layout->shape);
	params.max_bytes = 64 * lines;
	params.capacity = s.capacity = lines * 512 / bits_per_key;
	params.seed = test_seed(params.kind, SEED);
	assert_ok(weir_plan_make(&params, &plan));
	assert_true(plan.bytes <= 64 * lines && plan.bytes > 63 * lines && plan.bytes % 64 == 0);
	s.bytes = params.memory_bytes = plan.bytes;
	s.memory = params.memory = aligned_alloc(64, plan.bytes);
	assert_non_null(s.memory);
	memset(s.memory, 0xa5, plan.bytes); /* weir_create() must clear the memory */
	assert_ok(weir_create(&s.f, &params));
	struct weir_stats stats = stats_assert(s.f, layout);
	reference_init(&s.ref, &stats.shape, plan.bytes / 64, SEED);
	return s;
}

void subject_free(struct subject *s)
{
	weir_destroy(s->f);
	free(s->memory);
	reference_free(&s->ref);
}

void subject_assert_bits(const struct subject *s, const char *after)
{
	if (memcmp(s->memory, s->ref.bytes, s->bytes) == 0)
		return;
	uint64_t at = 0;
	while (s->memory[at] == s->ref.bytes[at])
		at++;
	fail_msg("%s, %llu bytes: byte %llu is %02x, the reference has %02x", after,
	         (unsigned long long)s->bytes, (unsigned long long)at, s->memory[at],
	         s->ref.bytes[at]);
}

uint64_t subject_hash(const struct subject *s, uint64_t key)
{
	uint64_t bytes = test_key(key);
	return s->ref.kind->hash ? s->ref.kind->hash(SEED, &bytes, 8) :
	                           XXH3_64bits_withSeed(&bytes, 8, SEED);
}

/* ---- keys in the forms that the library's functions take ---- */

struct forms {
	uint64_t *keys, *hashes;
	struct iovec *vectors;
};

static struct forms forms_make(const struct subject *s, uint64_t first, uint64_t n)
{
	struct forms forms = { malloc(8 * n + 1), malloc(8 * n + 1),
	                       malloc(sizeof(struct iovec) * n + 1) };
	assert_true(forms.keys && forms.hashes && forms.vectors);
	for (uint64_t i = 0; i < n; i++) {
		forms.keys[i] = test_key(first + i);
		forms.hashes[i] = subject_hash(s, first + i);
		forms.vectors[i] = (struct iovec){ &forms.keys[i], 8 };
	}
	return forms;
}

static void forms_free(struct forms *forms)
{
	free(forms->keys);
	free(forms->hashes);
	free(forms->vectors);
}

const char *subject_insert_name(unsigned way)
{
	static const char *const names[SUBJECT_INSERTS] = {
		[SUBJECT_ONE_KEY] = "weir_insert",
		[SUBJECT_ONE_HASH] = "weir_insert_hash",
		[SUBJECT_ONE_U64] = "weir_insert_u64",
		[SUBJECT_HASHES] = "weir_insert_keys of hashes",
		[SUBJECT_KEYS] = "weir_insert_keys of vectors",
		[SUBJECT_FIXED] = "weir_insert_keys of one width",
		[SUBJECT_LOAD] = "weir_fill_keys",
	};
	return names[way];
}

int subject_insert_one(struct subject *s, uint64_t key)
{
	uint64_t bytes = test_key(key);
	return weir_insert(s->f, &bytes, 8);
}

int64_t subject_insert_batch(struct subject *s, unsigned way, uint64_t first, uint64_t n,
                             uint64_t *bitmap)
{
	struct forms forms = forms_make(s, first, n);
	const struct weir_keys keys = way == SUBJECT_KEYS  ? weir_keys_iov(forms.vectors, n) :
	                              way == SUBJECT_FIXED ? weir_keys_u64(forms.keys, n) :
	                                                     weir_keys_hashes(forms.hashes, n);
	int64_t fresh = way == SUBJECT_LOAD ? weir_fill_keys(s->f, keys) :
	                                      weir_insert_keys(s->f, keys, bitmap);
	forms_free(&forms);
	assert_ok(fresh);
	return fresh;
}

void subject_insert(struct subject *s, unsigned way, uint64_t first, uint64_t n)
{
	if (way >= SUBJECT_FIRST_BATCH) {
		subject_insert_batch(s, way, first, n, NULL);
		return;
	}
	for (uint64_t key = first; key < first + n; key++)
		assert_ok(way == SUBJECT_ONE_KEY ? subject_insert_one(s, key) :
		          way == SUBJECT_ONE_U64 ? weir_insert_u64(s->f, test_key(key)) :
		                                   weir_insert_hash(s->f, subject_hash(s, key)));
}

int64_t subject_build(struct subject *s, uint64_t first, uint64_t n)
{
	struct forms forms = forms_make(s, first, n);
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *built = NULL;
	assert_ok(weir_params_of(s->f, &params));
	params.memory = s->memory;
	params.memory_bytes = s->bytes;
	int err = weir_build(&built, &params, weir_keys_hashes(forms.hashes, n), NULL);
	if (!err) {
		weir_destroy(s->f);
		s->f = built;
		err = s->ref.kind->build(&s->ref, forms.hashes, n);
	}
	forms_free(&forms);
	return err;
}

static size_t contains_one_by_one(const struct subject *s, const struct forms *forms, unsigned way,
                                  uint64_t n, uint64_t *bitmap)
{
	size_t found = 0;
	memset(bitmap, 0, 8 * WEIR_BITMAP_WORDS(n));
	for (uint64_t i = 0; i < n; i++) {
		bool answer = way == 0 ? weir_contains(s->f, &forms->keys[i], 8) :
		              way == 1 ? weir_contains_hash(s->f, forms->hashes[i]) :
		                         weir_contains_u64(s->f, forms->keys[i]);
		bitmap[i / 64] |= (uint64_t)answer << i % 64;
		found += answer;
	}
	return found;
}

const char *subject_lookup_name(unsigned way)
{
	static const char *const names[SUBJECT_LOOKUPS] = { "weir_contains", "weir_contains_hash",
	                                                    "weir_contains_u64",
	                                                    "weir_contains_keys of hashes",
	                                                    "weir_contains_keys of vectors",
	                                                    "weir_contains_keys of one width" };
	return names[way];
}

size_t subject_contains(const struct subject *s, unsigned way, uint64_t first, uint64_t n,
                        uint64_t *bitmap)
{
	struct forms forms = forms_make(s, first, n);
	const struct weir_keys keys = way == 3 ? weir_keys_hashes(forms.hashes, n) :
	                              way == 4 ? weir_keys_iov(forms.vectors, n) :
	                                         weir_keys_u64(forms.keys, n);
	size_t found = way < 3 ? contains_one_by_one(s, &forms, way, n, bitmap) :
	                         (size_t)weir_contains_keys(s->f, keys, bitmap);
	forms_free(&forms);
	return found;
}
