/* SPDX-License-Identifier: MIT
 * The subject of the conformance tests: see subject.h. */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "../test.h"
#include "subject.h"

#define SEED UINT64_C(0xfeedfacecafebeef)
#define BLOCKED(z, g) { "blocked", WEIR_BLOCKED, z, g, LONG(z, g) }
#define LONG(z, g) (g == 2 || (z == 2 && g == 3) || g == 10 || z * g == 20)
#define CLASSIC(k, main) { "classic", WEIR_CLASSIC, k, 1, main }

static struct subject_layout layouts[] = {
	BLOCKED(1, 1), BLOCKED(1, 2), BLOCKED(1, 3), BLOCKED(1, 4), BLOCKED(1, 5),
	BLOCKED(1, 6), BLOCKED(1, 7), BLOCKED(1, 8), BLOCKED(1, 9), BLOCKED(1, 10),
	BLOCKED(2, 1), BLOCKED(2, 2), BLOCKED(2, 3), BLOCKED(2, 4), BLOCKED(2, 5),
	BLOCKED(2, 6), BLOCKED(2, 7), BLOCKED(2, 8), BLOCKED(2, 9), BLOCKED(2, 10),
	BLOCKED(4, 1), BLOCKED(4, 2), BLOCKED(4, 3), BLOCKED(4, 4), BLOCKED(4, 5),
	BLOCKED(8, 1), BLOCKED(8, 2),
	CLASSIC(1, false), CLASSIC(2, false), CLASSIC(3, false), CLASSIC(5, false),
	CLASSIC(7, true), CLASSIC(8, false), CLASSIC(10, false), CLASSIC(13, false),
	CLASSIC(17, false), CLASSIC(31, false), CLASSIC(32, true),
};
_Static_assert(COUNT_OF(layouts) <= SUBJECT_MOST_LAYOUTS, "make SUBJECT_MOST_LAYOUTS larger");

size_t subject_layouts(void)
{
	return COUNT_OF(layouts);
}

struct subject_layout *subject_layout(size_t i)
{
	return &layouts[i];
}

static void stats_assert(const struct weir_filter *f, const struct subject_layout *layout)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_stats(f, &stats));
	assert_int_equal(stats.shape.kind, layout->kind);
	assert_int_equal(stats.shape.field[0], layout->z);
	assert_int_equal(stats.shape.field[1], layout->g);
	if (layout->kind == WEIR_BLOCKED) /* the classic kind is scalar everywhere */
		assert_string_equal(stats.isa, getenv("WEIR_ISA"));
}

struct subject subject_make(const struct subject_layout *layout, uint64_t lines)
{
	struct subject s = { .layout = layout };
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_ok(weir_params_ask(&params, &(struct weir_shape){ layout->kind,
	                                                         { layout->z, layout->g } }));
	params.max_bytes = 64 * lines;
	params.capacity = s.capacity = lines * 512 / 12;
	params.seed = SEED;
	assert_ok(weir_plan(&params, &plan));
	assert_true(plan.bytes <= 64 * lines && plan.bytes > 63 * lines && plan.bytes % 64 == 0);
	s.bytes = params.memory_bytes = plan.bytes;
	s.memory = params.memory = aligned_alloc(64, plan.bytes);
	assert_non_null(s.memory);
	memset(s.memory, 0xa5, plan.bytes); /* creation must zero it */
	assert_ok(weir_create(&s.f, &params));
	stats_assert(s.f, layout);
	reference_init(&s.ref, layout->kind, layout->z, layout->g, plan.bytes / 64);
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
	(void)s;
	return XXH3_64bits_withSeed(&bytes, 8, SEED);
}

/* ---- keys in the form that a verb wants ---- */

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
		[SUBJECT_ONE_KEY] = "weir_insert",         [SUBJECT_ONE_HASH] = "weir_insert_hash",
		[SUBJECT_HASHES] = "weir_insert_hashes",   [SUBJECT_KEYS] = "weir_insert_keys",
		[SUBJECT_FIXED] = "weir_insert_fixed",     [SUBJECT_LOAD] = "weir_load_hashes",
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
	int64_t fresh = way == SUBJECT_HASHES ? weir_insert_hashes(s->f, forms.hashes, n, bitmap)
	              : way == SUBJECT_KEYS   ? weir_insert_keys(s->f, forms.vectors, n, bitmap)
	              : way == SUBJECT_FIXED  ? weir_insert_fixed(s->f, forms.keys, 8, n, bitmap)
	                                      : weir_load_hashes(s->f, forms.hashes, n);
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
		                                   weir_insert_hash(s->f, subject_hash(s, key)));
}

static size_t contains_one_by_one(const struct subject *s, const struct forms *forms, bool by_hash,
                                  uint64_t n, uint64_t *bitmap)
{
	size_t found = 0;
	memset(bitmap, 0, 8 * WEIR_BITMAP_WORDS(n));
	for (uint64_t i = 0; i < n; i++) {
		bool answer = by_hash ? weir_contains_hash(s->f, forms->hashes[i]) :
		                        weir_contains(s->f, &forms->keys[i], 8);
		bitmap[i / 64] |= (uint64_t)answer << i % 64;
		found += answer;
	}
	return found;
}

const char *subject_lookup_name(unsigned way)
{
	static const char *const names[SUBJECT_LOOKUPS] = {
		"weir_contains", "weir_contains_hash", "weir_contains_hashes",
		"weir_contains_keys", "weir_contains_fixed",
	};
	return names[way];
}

size_t subject_contains(const struct subject *s, unsigned way, uint64_t first, uint64_t n,
                        uint64_t *bitmap)
{
	struct forms forms = forms_make(s, first, n);
	size_t found = way < 2  ? contains_one_by_one(s, &forms, way == 1, n, bitmap)
	             : way == 2 ? weir_contains_hashes(s->f, forms.hashes, n, bitmap)
	             : way == 3 ? weir_contains_keys(s->f, forms.vectors, n, bitmap)
	                        : weir_contains_fixed(s->f, forms.keys, 8, n, bitmap);
	forms_free(&forms);
	return found;
}
