/* SPDX-License-Identifier: MIT
 * Checks what every kind claims (enum weir_ability) against what its functions do. If the kind
 * claims an ability, the function succeeds. Otherwise the function returns -ENOTSUP, or the
 * value that the function's header documents. */
#include <errno.h>
#include "../folder.h"
#include "filter/filter.h"

enum { KEYS = 1000 };

static const uint32_t kinds[] = {
#define NUMBER(number, constant, name, summary) number,
	WEIR_KINDS(NUMBER)
#undef NUMBER
};

static uint64_t hashes[KEYS];

static bool claims(uint32_t kind, uint32_t what)
{
	return weir_kind_can(kind, what) != 0;
}

static struct weir_params params_of(uint32_t kind)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = kind;
	p.capacity = 16 * KEYS;
	p.fp_rate = 0.01;
	p.seed = test_seed(kind, 7);
	return p;
}

/* Return: a filter of @kind with the KEYS keys, built if the kind can be built. */
static struct weir_filter *filled(uint32_t kind)
{
	const struct weir_params p = params_of(kind);
	struct weir_filter *f;
	if (claims(kind, WEIR_CAN_BUILD)) {
		assert_int_equal(weir_build(&f, &p, weir_keys_hashes(hashes, KEYS), NULL), 0);
		return f;
	}
	assert_int_equal(weir_create(&f, &p), 0);
	assert_true(weir_insert_keys(f, weir_keys_hashes(hashes, KEYS), NULL) >= 0);
	return f;
}

/* Asserts that @answer is 0 or more if @kind claims the ability @what, and -ENOTSUP if not. */
static void expect(uint32_t kind, uint32_t what, int64_t answer)
{
	const bool can = claims(kind, what);
	if (can != (answer >= 0) || (!can && answer != -ENOTSUP))
		fail_msg("kind %s, ability 0x%x: claimed %d, answered %lld (%s)",
		         weir_kind_name(kind), what, can, (long long)answer, weir_error_detail());
}

static void inserts(uint32_t kind, struct weir_filter *f)
{
	const int first = weir_insert_hash(f, 12345);
	expect(kind, WEIR_CAN_INSERT, first);
	expect(kind, WEIR_CAN_INSERT, weir_insert(f, "key", 3));
	expect(kind, WEIR_CAN_INSERT, weir_fill_keys(f, weir_keys_hashes(hashes, 0)));
	assert_true(claims(kind, WEIR_CAN_INSERT | WEIR_CAN_BUILD));
	assert_false(claims(kind, WEIR_CAN_INSERT) && claims(kind, WEIR_CAN_BUILD));
	if (claims(kind, WEIR_CAN_INSERT))
		assert_true(weir_insert(f, "key", 3) == WEIR_SEEN || !claims(kind,
		                                                            WEIR_CAN_TELL_NEW));
	/* at a false-positive rate of 1 %, most absent keys must be reported as new */
	if (claims(kind, WEIR_CAN_TELL_NEW)) {
		uint64_t others[KEYS];
		for (unsigned i = 0; i < KEYS; i++)
			others[i] = test_key(KEYS + i);
		assert_true(weir_insert_keys(f, weir_keys_hashes(others, KEYS), NULL) > KEYS / 2);
	}
	assert_int_equal(claims(kind, WEIR_CAN_TELL_NEW), claims(kind, WEIR_CAN_INSERT));
	assert_true(claims(kind, WEIR_CAN_HASH) && weir_contains_hash(f, hashes[0]));
	assert_int_equal(claims(kind, WEIR_CAN_FILL_FAST), f->kernel->load != NULL);
}

static void removal_and_counts(uint32_t kind, struct weir_filter *f)
{
	expect(kind, WEIR_CAN_REMOVE, weir_remove_hash(f, hashes[0]));
	expect(kind, WEIR_CAN_COUNT, weir_count_hash(f, hashes[1]));
	if (!claims(kind, WEIR_CAN_COUNT))
		return;
	/* a key that is inserted twice counts twice */
	const int64_t before = weir_count_hash(f, hashes[1]);
	assert_true(weir_insert_hash(f, hashes[1]) >= 0);
	assert_int_equal(weir_count_hash(f, hashes[1]), before + 1);
}

/* A kind claims WEIR_CAN_HOLD_COPIES if and only if its estimate counts duplicates. */
static void copies(uint32_t kind)
{
	struct weir_params p = params_of(kind);
	struct weir_stats once = WEIR_STATS_INIT, twice = WEIR_STATS_INIT;
	struct weir_filter *f;
	if (!claims(kind, WEIR_CAN_INSERT)) {
		assert_false(claims(kind, WEIR_CAN_HOLD_COPIES));
		return;
	}
	assert_int_equal(weir_create(&f, &p), 0);
	assert_true(weir_insert_keys(f, weir_keys_hashes(hashes, KEYS), NULL) >= 0);
	assert_int_equal(weir_measure(f, WEIR_EXACT, &once), 0);
	assert_true(weir_insert_keys(f, weir_keys_hashes(hashes, KEYS), NULL) >= 0);
	assert_int_equal(weir_measure(f, WEIR_EXACT, &twice), 0);
	assert_int_equal(claims(kind, WEIR_CAN_HOLD_COPIES),
	                 twice.keys_estimated > 1.5 * once.keys_estimated);
	weir_destroy(f);
}

static void fullness(uint32_t kind)
{
	struct weir_params p = params_of(kind);
	struct weir_filter *f;
	int answer = 0;
	if (!claims(kind, WEIR_CAN_INSERT))
		return;
	p.capacity = 64;
	p.growing.max_capacity = claims(kind, WEIR_CAN_GROW) ? 64 : 0;
	assert_int_equal(weir_create(&f, &p), 0);
	for (uint64_t i = 0; i < 100 * KEYS && answer >= 0; i++)
		answer = weir_insert_hash(f, hashes[i % KEYS] + i);
	assert_int_equal(answer, claims(kind, WEIR_CAN_REFUSE) ? -ENOSPC :
	                         answer >= 0                   ? answer : 1);
	weir_destroy(f);
}

static void whole_filters(uint32_t kind, struct weir_filter *f)
{
	struct weir_filter *other = NULL;
	expect(kind, WEIR_CAN_CLONE, weir_clone(&other, f));
	if (other)
		expect(kind, WEIR_CAN_MERGE, weir_merge(other, f));
	weir_destroy(other);
	other = NULL;
	const int folded = weir_fold(&other, f, 1);
	expect(kind, WEIR_CAN_FOLD, folded);
	weir_destroy(other);
	expect(kind, WEIR_CAN_GROW, weir_grow_ahead(f));
	struct weir_inline view;
	expect(kind, WEIR_CAN_INLINE, weir_inline_init(&view, f));
}

static void building(uint32_t kind)
{
	const struct weir_params p = params_of(kind);
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
	expect(kind, WEIR_CAN_BUILD, weir_builder_create(&b, &p, NULL));
	if (!b) {
		assert_false(claims(kind, WEIR_CAN_EXCLUDE | WEIR_CAN_BE_EXACT));
		return;
	}
	assert_int_equal(weir_builder_add_keys(b, weir_keys_hashes(hashes, KEYS / 2)), 0);
	const int sealed = weir_builder_seal(b);
	expect(kind, WEIR_CAN_EXCLUDE, sealed);
	if (!sealed)
		assert_int_equal(weir_builder_exclude_keys(b, weir_keys_hashes(hashes + KEYS / 2,
		                                                               KEYS / 2)),
		                 0);
	assert_int_equal(weir_builder_finish(&f, b, NULL), 0);
	for (unsigned i = 0; i < KEYS && claims(kind, WEIR_CAN_BE_EXACT); i++)
		assert_int_equal(weir_contains_hash(f, hashes[i]), i < KEYS / 2);
	assert_int_equal(claims(kind, WEIR_CAN_BE_EXACT), claims(kind, WEIR_CAN_EXCLUDE));
	weir_builder_destroy(b);
	weir_destroy(f);
}

static void keys_and_texts(uint32_t kind)
{
	static const unsigned char secret[WEIR_SECRET_BYTES] = "of sixteen bytes";
	struct weir_params p = params_of(kind);
	struct weir_filter *f = NULL;
	p.secret = secret;
	p.seed = 0;
	const int keyed = weir_create(&f, &p);
	assert_int_equal(keyed == 0, claims(kind, WEIR_CAN_BE_KEYED));
	assert_true(keyed == 0 || keyed == -EINVAL || keyed == -ENOTSUP);
	weir_destroy(f);
	f = NULL;
	p.secret = NULL;
	p.text.steps = WEIR_TEXT_TRIM;
	assert_int_equal(weir_create(&f, &p) == 0, claims(kind, WEIR_CAN_NORMALISE));
	weir_destroy(f);
}

static void images(uint32_t kind, const struct weir_filter *f)
{
	struct weir_filter *mapped = NULL;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	expect(kind, WEIR_CAN_MAP,
	       weir_load(&mapped, weir_location_map(path, WEIR_MAP_READ), NULL));
	if (mapped) /* a read-only map loses every ability to change the filter */
		assert_int_equal(weir_can(mapped, WEIR_CAN_ALL),
		                 weir_can(f, WEIR_CAN_ALL & ~(WEIR_CAN_INSERT | WEIR_CAN_REMOVE |
		                                              WEIR_CAN_GROW | WEIR_CAN_FILL_FAST |
		                                              WEIR_CAN_DECIDE |
		                                              WEIR_CAN_TELL_NEW)));
	weir_destroy(mapped);
	mapped = NULL;
	const int live = weir_load(&mapped, weir_location_map(path, WEIR_MAP_LIVE), NULL);
	const bool inserts = !live && weir_insert_hash(mapped, 1) >= 0;
	assert_int_equal(inserts, claims(kind, WEIR_CAN_MAP_LIVE));
	weir_destroy(mapped);
}

static void publishing(uint32_t kind)
{
	struct weir_handle *h = NULL;
	struct weir_filter *f = filled(kind);
	const int err = weir_handle_create(&h, f, NULL);
	expect(kind, WEIR_CAN_PUBLISH, err);
	if (err)
		weir_destroy(f);
	else
		assert_int_equal(weir_handle_destroy(h), 0);
}

/* Each advance adds 1 to the age of a key. After WEIR_WINDOW_MOST further advances the window has
 * forgotten the key. */
static void forgetting(uint32_t kind, struct weir_filter *f)
{
	const bool can = claims(kind, WEIR_CAN_FORGET);
	assert_int_equal(weir_age_hash(f, hashes[2]), 0);
	expect(kind, WEIR_CAN_FORGET, weir_window_advance(f));
	assert_int_equal(weir_age_hash(f, hashes[2]), can);
	for (unsigned i = 0; can && i < WEIR_WINDOW_MOST; i++)
		assert_int_equal(weir_window_advance(f), 0);
	assert_int_equal(weir_contains_hash(f, hashes[2]), !can);
}

static void every_kind_does_what_it_claims(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		const uint32_t kind = kinds[i];
		struct weir_filter *f = filled(kind);
		assert_int_equal(claims(kind, WEIR_CAN_ROUTE), weir_router_sets(f) > 1);
		assert_true(weir_route_hash(f, hashes[0]) ==
		            WEIR_ALL_SETS >> (64 - weir_router_sets(f)));
		images(kind, f);
		inserts(kind, f);
		removal_and_counts(kind, f);
		whole_filters(kind, f);
		forgetting(kind, f);
		weir_destroy(f);
		copies(kind);
		fullness(kind);
		building(kind);
		keys_and_texts(kind);
		publishing(kind);
	}
}

/* Return: the kind's field words_per_key, or NULL if the kind does not have that field. */
static uint32_t *words_of(struct weir_params *p)
{
	switch (p->kind) {
	case WEIR_BLOCKED: return &p->blocked.words_per_key;
	case WEIR_COUNTING: return &p->counting.words_per_key;
	case WEIR_GROWING: return &p->growing.words_per_key;
	case WEIR_FREQUENCY: return &p->frequency.words_per_key;
	case WEIR_WINDOW: return &p->window.words_per_key;
	default: return NULL;
	}
}

/* Checks only what the kinds claim. tests/stress runs the races. */
static void with_one_word_per_key_one_of_racing_inserts_is_new(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		struct weir_params p = params_of(kinds[i]);
		struct weir_filter *f;
		uint32_t *words = words_of(&p);
		if (!words) {
			assert_false(claims(kinds[i], WEIR_CAN_DECIDE));
			continue;
		}
		*words = 1;
		assert_int_equal(weir_create(&f, &p), 0);
		assert_int_equal(weir_can(f, WEIR_CAN_DECIDE), weir_kind_can(kinds[i],
		                                                             WEIR_CAN_DECIDE));
		weir_destroy(f);
		*words = 2;
		assert_int_equal(weir_create(&f, &p), 0);
		assert_int_equal(weir_can(f, WEIR_CAN_DECIDE), 0);
		assert_int_equal(weir_can(f, WEIR_CAN_ALL & ~WEIR_CAN_DECIDE),
		                 weir_kind_can(kinds[i], WEIR_CAN_ALL & ~WEIR_CAN_DECIDE));
		weir_destroy(f);
	}
}

static void routers_and_windows_do_what_they_claim(void **state)
{
	(void)state;
	struct weir_params ro = WEIR_PARAMS_INIT;
	struct weir_filter *r;
	ro.kind = WEIR_ROUTER;
	ro.router.sets = 2;
	ro.capacity = KEYS;
	ro.fp_rate = 0.001;
	assert_int_equal(weir_create(&r, &ro), 0);
	assert_true(weir_insert_into(r, 1, "key", 3) == WEIR_NEW &&
	            weir_route(r, "key", 3) == 2 && weir_merge(r, r) <= 0);
	weir_destroy(r);
	const uint32_t both = WEIR_CAN_INSERT | WEIR_CAN_TELL_NEW | WEIR_CAN_HASH |
	                      WEIR_CAN_BE_KEYED;
	assert_int_equal(weir_kind_can(WEIR_ROUTER, WEIR_CAN_ALL),
	                 both | WEIR_CAN_ROUTE | WEIR_CAN_MERGE | WEIR_CAN_CLONE | WEIR_CAN_MAP |
	                 WEIR_CAN_PUBLISH);
	assert_int_equal(weir_kind_can(WEIR_WINDOW, WEIR_CAN_ALL),
	                 both | WEIR_CAN_FORGET | WEIR_CAN_DECIDE);
}

static void a_load_fails_if_the_filter_lacks_a_required_ability(void **state)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		struct weir_filter *f = filled(kinds[i]), *back = NULL;
		const uint32_t can = weir_can(f, WEIR_CAN_ALL);
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		weir_destroy(f);
		o.can = can;
		assert_int_equal(weir_load(&back, weir_location_path(path), &o), 0);
		weir_destroy(back);
		back = NULL;
		for (uint32_t bit = 1; bit < WEIR_CAN_ALL; bit <<= 1) {
			o.can = bit;
			if (can & bit)
				continue;
			assert_refused(weir_load(&back, weir_location_path(path), &o), -ENOTSUP,
			               path, "lacks WEIR_CAN_");
			assert_refused(weir_load(&back, weir_location_map(path, WEIR_MAP_READ), &o),
			               -ENOTSUP, path, "");
			assert_null(back);
		}
		o.can = WEIR_CAN_INSERT; /* a read-only map refuses inserts */
		assert_refused(weir_load(&back, weir_location_map(path, WEIR_MAP_READ), &o),
		               -ENOTSUP, path, "");
	}
	o.can = WEIR_CAN_ALL + 1;
	assert_refused(weir_load(&(struct weir_filter *){ NULL }, weir_location_path(path), &o),
	               -EINVAL, "options.can", "no such ability");
}

static void an_unknown_kind_has_no_abilities(void **state)
{
	(void)state;
	assert_int_equal(weir_kind_can(200, WEIR_CAN_ALL), 0);
	assert_int_equal(weir_kind_can(UINT32_MAX, UINT32_MAX), 0);
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		assert_int_equal(weir_kind_can(kinds[i], ~(uint32_t)WEIR_CAN_ALL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_does_what_it_claims),
		cmocka_unit_test(with_one_word_per_key_one_of_racing_inserts_is_new),
		cmocka_unit_test(routers_and_windows_do_what_they_claim),
		cmocka_unit_test(a_load_fails_if_the_filter_lacks_a_required_ability),
		cmocka_unit_test(an_unknown_kind_has_no_abilities),
	};
	for (uint64_t i = 0; i < KEYS; i++)
		hashes[i] = test_key(i);
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
