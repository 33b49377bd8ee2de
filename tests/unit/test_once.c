/* SPDX-License-Identifier: MIT
 * WEIR_ONCE: duplicates of a key take no extra capacity, in any form of the key. Keys cannot be
 * removed. Images keep the flag. Kinds without removal refuse the flag. */
#include "../folder.h"
#include "../handles.h"
#include "../image_bytes.h"

enum { AGAIN = 20, MANY = 100, BIT_ONCE = 8 };

static struct weir_filter *made(uint32_t kind, uint64_t capacity, uint32_t steps, bool keyed)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.kind = kind;
	p.capacity = capacity;
	p.fp_rate = 1e-3;
	p.flags = WEIR_ONCE;
	p.secret = keyed ? "of sixteen bytes" : NULL;
	p.seed = keyed ? 0 : test_seed(kind, 7);
	p.text.steps = steps;
	assert_ok(weir_create(&f, &p));
	return f;
}

static struct weir_stats stats_of_filter(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &s));
	return s;
}

static double fill(const struct weir_filter *f)
{
	return stats_of_filter(f).fill;
}

/* Call @body for each kind that can remove keys, and @other for every other kind. */
static void each_kind(void (*body)(uint32_t kind), void (*other)(uint32_t kind))
{
	unsigned can = 0;
	for (unsigned k = 0; k < COUNT_OF(test_kinds); k++) {
		const bool removes = weir_kind_can(test_kinds[k], WEIR_CAN_REMOVE);
		can += removes;
		if (removes && body)
			body(test_kinds[k]);
		else if (!removes && other)
			other(test_kinds[k]);
	}
	assert_true(can >= 2);
}

/* Insert "key" in the given form. Return: the number of new keys, or 0 for weir_fill_keys(). */
static int64_t put_by(struct weir_filter *f, unsigned form)
{
	struct iovec many[MANY];
	for (unsigned i = 0; i < MANY; i++)
		many[i] = (struct iovec){ (void *)(uintptr_t)"key", 3 };
	const uint64_t hash = weir_hash(f, "key", 3);
	switch (form) {
	case 0: return weir_insert(f, "key", 3);
	case 1: return weir_insert_hash(f, hash);
	case 2: return weir_insert_keys(f, weir_keys_iov(many, 1), NULL);
	case 3: return weir_insert_keys(f, weir_keys_iov(many, MANY), NULL);
	case 4: return weir_insert_keys(f, weir_keys_fixed("key", 3, 1), NULL);
	case 5: return weir_insert_keys(f, weir_keys_hashes(&hash, 1), NULL);
	default: return weir_fill_keys(f, weir_keys_iov(many, MANY)) ? -1 : 0;
	}
}
enum { FORMS = 7 };

static void equal_keys_of(uint32_t kind, uint32_t steps, bool keyed)
{
	for (unsigned first = 0; first < FORMS; first++) {
		struct weir_filter *f = made(kind, 1000, steps, keyed);
		assert_int_equal(put_by(f, first), first < FORMS - 1);
		const double before = fill(f);
		for (unsigned form = 0; form < FORMS; form++)
			for (unsigned again = 0; again < AGAIN; again++)
				assert_int_equal(put_by(f, form), 0);
		assert_true(weir_contains(f, "key", 3) && fill(f) == before);
		assert_int_equal(weir_count(f, "key", 3), 1);
		weir_destroy(f);
	}
}

static void prefetching_does_not_change_answers(void **state)
{
	struct weir_filter *f = made(WEIR_COUNTING, 10000000, 0, false);
	uint64_t numbers[MANY], bitmap[WEIR_BITMAP_WORDS(MANY)];
	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		numbers[i] = test_key(i / 2);
	assert_int_equal(weir_insert_keys(f, weir_keys_u64(numbers, MANY), bitmap), MANY / 2);
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(bitmap[i / 64] >> i % 64 & 1, i % 2 == 0);
		assert_int_equal(weir_count_u64(f, numbers[i]), 1);
	}
	weir_destroy(f);
}

static void equal_keys(uint32_t kind)
{
	struct weir_filter *f = made(kind, 1000, 0, false);
	uint64_t numbers[MANY], bitmap[WEIR_BITMAP_WORDS(MANY)];
	for (unsigned i = 0; i < MANY; i++)
		numbers[i] = test_key(i / 2);
	assert_int_equal(weir_insert_u64(f, numbers[0]), WEIR_NEW);
	assert_int_equal(weir_insert_u64(f, numbers[0]), WEIR_SEEN);
	assert_int_equal(weir_insert_keys(f, weir_keys_u64(numbers, MANY), bitmap), MANY / 2 - 1);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(bitmap[i / 64] >> i % 64 & 1, i >= 2 && i % 2 == 0);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(weir_count_u64(f, numbers[i]), 1);
	weir_destroy(f);
	for (unsigned keyed = 0; keyed < 2; keyed++) {
		equal_keys_of(kind, 0, keyed);
		equal_keys_of(kind, WEIR_TEXT_TRIM | WEIR_TEXT_LOWERCASE, keyed);
	}
	/* with WEIR_TEXT_SUFFIXES a lookup probes several keys */
	f = made(kind, 1000, WEIR_TEXT_SUFFIXES, false);
	for (unsigned again = 0; again < AGAIN; again++)
		assert_int_equal(weir_insert(f, "a.example", 9), again == 0);
	assert_int_equal(weir_count(f, "a.example", 9), 1);
	weir_destroy(f);
}

static void duplicates_take_no_capacity(void **state)
{
	(void)state;
	each_kind(equal_keys, NULL);
}

static void nothing_is_removed_from(uint32_t kind)
{
	struct weir_filter *f = made(kind, 1000, 0, false);
	const uint64_t hash = weir_hash(f, "key", 3), number = 1;
	assert_int_equal(weir_insert(f, "key", 3), WEIR_NEW);
	assert_false(weir_can(f, WEIR_CAN_REMOVE | WEIR_CAN_HOLD_COPIES));
	assert_true(weir_can(f, WEIR_CAN_INSERT | WEIR_CAN_COUNT));
	assert_refused(weir_remove(f, "key", 3), -ENOTSUP, "WEIR_ONCE", "create it without");
	assert_refused(weir_remove_hash(f, hash), -ENOTSUP, "WEIR_ONCE", "");
	assert_refused(weir_remove_u64(f, 1), -ENOTSUP, "WEIR_ONCE", "");
	assert_refused(weir_remove_keys(f, weir_keys_u64(&number, 1), NULL), -ENOTSUP, "WEIR_ONCE",
	               "");
	assert_true(weir_contains(f, "key", 3));
	weir_destroy(f);
}

/* Kinds without removal refuse WEIR_ONCE. These kinds store a key only once even without the flag,
 * or they count every insert. */
static void refused_by(uint32_t kind)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	p.kind = kind;
	p.capacity = 1000;
	p.fp_rate = 0.01;
	p.flags = o.flags = WEIR_ONCE;
	assert_refused(weir_plan_make(&p, &plan), -EINVAL, "WEIR_ONCE", weir_kind_name(kind));
	assert_refused(weir_create(&f, &p), -EINVAL, "WEIR_ONCE", weir_kind_name(kind));
	if (!weir_kind_can(kind, WEIR_CAN_INSERT))
		return;
	f = test_filter(kind, 1000, 0.01);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	f = NULL;
	assert_refused(weir_load(&f, weir_location_path(path), &o), -EINVAL, path, "WEIR_ONCE");
	assert_null(f);
}

static void removals_are_refused(void **state)
{
	(void)state;
	each_kind(nothing_is_removed_from, refused_by);
}

/* ---- images and copies ---- */

static bool once(const struct weir_filter *f)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	assert_ok(weir_params_of(f, &p));
	assert_int_equal(stats_of_filter(f).marks & WEIR_MARK_ONCE, p.flags ? WEIR_MARK_ONCE : 0);
	assert_int_equal(weir_can(f, WEIR_CAN_REMOVE), p.flags ? 0 : WEIR_CAN_REMOVE);
	return p.flags == WEIR_ONCE;
}

static void kept_by(uint32_t kind)
{
	struct weir_filter *f = made(kind, 1000, 0, false), *g = NULL;
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_load_options removes = WEIR_LOAD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	size_t n = 0, again = 0;
	assert_int_equal(weir_insert(f, "key", 3), WEIR_NEW);
	assert_true(once(f));
	assert_ok(weir_clone(&g, f));
	assert_true(once(g));
	weir_destroy(g);
	assert_ok(weir_params_of(f, &p));
	p.max_bytes = 1 << 14; /* a filter of this size can be folded */
	assert_ok(weir_create(&g, &p));
	assert_true(once(g));
	if (weir_kind_can(kind, WEIR_CAN_FOLD)) {
		struct weir_filter *half = NULL;
		assert_ok(weir_fold(&half, g, 2));
		assert_true(once(half));
		weir_destroy(half);
	}
	weir_destroy(g);

	assert_ok(weir_save(f, weir_location_path(path), NULL));
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	assert_int_equal(info.marks, WEIR_MARK_ONCE);
	unsigned char *image = image_slurp(path, &n);
	assert_ok(weir_load(&g, weir_location_path(path), NULL));
	assert_true(once(g));
	assert_int_equal(weir_insert(g, "key", 3), WEIR_SEEN);
	assert_int_equal(weir_count(g, "key", 3), 1);
	assert_ok(weir_save(g, weir_location_path(path), NULL));
	weir_destroy(g);
	unsigned char *saved = image_slurp(path, &again);
	assert_true(n == again && memcmp(image, saved, n) == 0);
	free(saved), free(image);
	assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_PRIVATE), NULL));
	assert_true(once(g));
	assert_int_equal(weir_insert(g, "key", 3), WEIR_SEEN);
	weir_destroy(g);
	removes.can = WEIR_CAN_REMOVE;
	assert_refused(weir_load(&g, weir_location_path(path), &removes), -ENOTSUP, path, "REMOVE");
	image = image_slurp(path, &n);
	image[n - 1] ^= 1; /* damages the bits, which a refused load does not read */
	assert_true(image_spit(path, image, n));
	free(image);
	removes.can = weir_kind_can(kind, WEIR_CAN_REMOVE | WEIR_CAN_HOLD_COPIES);
	assert_refused(weir_load(&g, weir_location_path(path), &removes), -ENOTSUP, path, "lacks");
	weir_destroy(f);
}

static void made_so_by_a_load(uint32_t kind)
{
	struct weir_filter *f = test_filter(kind, 1000, 0.01);
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.flags = WEIR_ONCE;
	assert_int_equal(weir_insert(f, "key", 3), WEIR_NEW);
	assert_int_equal(weir_insert(f, "key", 3), WEIR_SEEN);
	assert_int_equal(weir_count(f, "key", 3), 2);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_refused(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), &o), -EINVAL, "flags",
	               "mapping");
	assert_ok(weir_load(&f, weir_location_path(path), &o));
	assert_true(once(f));
	assert_int_equal(weir_insert(f, "key", 3), WEIR_SEEN);
	assert_int_equal(weir_count(f, "key", 3), 2);
	weir_destroy(f);
}

static void images_keep_the_flag(void **state)
{
	(void)state;
	each_kind(kept_by, NULL);
	each_kind(made_so_by_a_load, NULL);
}

/* The image is of a blocked filter, with WEIR_MARK_ONCE and a repaired checksum. */
static void a_forged_mark_is_refused(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	size_t n = 0;
	(void)state;
	p.capacity = 1000;
	p.fp_rate = 0.01;
	p.secret = "of sixteen bytes"; /* gives the image format 2, which has marks */
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	unsigned char *image = image_slurp(path, &n);
	image[IMAGE_MARKS] |= BIT_ONCE;
	image_repair(image, n);
	assert_true(image_spit(path, image, n));
	free(image);
	assert_refused(weir_image_verify(weir_location_path(path), NULL, NULL), -EBADMSG, "once",
	               "blocked");
}

/* ---- merges, and batches that are refused ---- */

static void merged(uint32_t kind)
{
	struct weir_filter *f = made(kind, 1000, 0, false), *g = NULL;
	struct weir_filter *copies = test_filter(kind, 1000, 0.01);
	struct weir_params p = WEIR_PARAMS_INIT;
	for (uint64_t i = 0; i < 900; i++)
		assert_ok(weir_insert_u64(f, test_key(i)));
	assert_ok(weir_clone(&g, f));
	const double before = fill(f);
	for (unsigned again = 0; again < AGAIN; again++)
		assert_ok(weir_merge(f, g));
	assert_true(fill(f) == before);
	for (uint64_t i = 0; i < 900; i++)
		assert_true(weir_contains_u64(f, test_key(i)));
	assert_ok(weir_params_of(f, &p));
	weir_destroy(copies);
	p.flags = 0;
	assert_ok(weir_create(&copies, &p));
	assert_refused(weir_merge(copies, f), -EINVAL, "WEIR_ONCE", "0 in the destination, 1");
	assert_refused(weir_merge(f, copies), -EINVAL, "WEIR_ONCE", "1 in the destination, 0");
	weir_destroy(copies), weir_destroy(f), weir_destroy(g);
}

/* The bitmap has the answers for all keys that precede the refused key. All later bits are 0. */
static void a_refused_batch_has_its_answers(void **state)
{
	enum { KEYS = 5000 };
	static uint64_t keys[KEYS], bitmap[WEIR_BITMAP_WORDS(KEYS)];
	struct weir_filter *f = made(WEIR_CUCKOO, 100, 0, false);
	size_t fresh = 0;
	(void)state;
	for (unsigned i = 0; i < KEYS; i++)
		keys[i] = test_key(i);
	memset(bitmap, 0xa5, sizeof bitmap);
	assert_int_equal(weir_insert_keys(f, weir_keys_u64(keys, KEYS), bitmap), -ENOSPC);
	const size_t taken = weir_error_taken();
	for (unsigned i = 0; i < KEYS; i++) {
		const bool is_new = bitmap[i / 64] >> i % 64 & 1;
		fresh += is_new;
		assert_false(is_new && i >= taken);
		assert_true(i >= taken || weir_contains_u64(f, keys[i]));
	}
	assert_true(taken > 100 && fresh >= taken - taken / 50);
	weir_destroy(f);
}

/* If a merge fails, a key that both filters have stays in the destination. */
static void a_failed_merge_removes_no_old_key(void **state)
{
	enum { LESS = 150 }; /* number of keys that both filters have, each with one copy */
	struct weir_filter *dst = made(WEIR_CUCKOO, 400, 0, false), *src = NULL;
	uint64_t i = LESS, at;
	(void)state;
	for (uint64_t k = 0; k < LESS; k++)
		assert_int_equal(weir_insert_u64(dst, test_key(k)) < 0, false);
	assert_ok(weir_clone(&src, dst));
	while (weir_insert_u64(dst, test_key(i)) >= 0)
		i++;
	for (at = i + 1; at < i + 200; at++)
		assert_ok(weir_insert_u64(src, test_key(at)));
	assert_int_equal(weir_merge(dst, src), -ENOSPC);
	for (uint64_t k = 0; k < i; k++)
		assert_true(weir_contains_u64(dst, test_key(k)));
	weir_destroy(dst), weir_destroy(src);
}

static void merges_add_no_copies(void **state)
{
	(void)state;
	each_kind(merged, NULL);
}

/* ---- during a reload ---- */

/* The full next filter refuses a key that the current filter already has. */
static void a_refused_duplicate_stays_in_current(void **state)
{
	struct weir_filter *initial = made(WEIR_CUCKOO, 1000, 0, false);
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = NULL;
	struct weir_reload *r = NULL;
	const uint64_t key = test_key(0);
	uint64_t keys[1] = { key };
	(void)state;
	assert_ok(weir_params_of(initial, &p));
	assert_ok(weir_handle_create(&h, initial, NULL));
	assert_int_equal(weir_handle_insert_u64(h, key), WEIR_NEW);
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_true(once(weir_reload_next(r)));
	weir_reload_abort(r);
	p.capacity = 1;
	p.max_bytes = 0;
	p.fp_rate = 0.01;
	o.params = &p;
	assert_ok(weir_reload_begin(&r, h, &o));
	for (uint64_t i = 1; weir_reload_insert_u64(r, test_key(i)) >= 0; i++)
		;
	assert_refused(weir_handle_insert_u64(h, key), -ENOSPC, "the next filter",
	               "cannot remove it, keeps it");
	assert_true(weir_handle_contains_u64(h, key));
	assert_int_equal(weir_handle_insert_keys(h, weir_keys_u64(keys, 1), NULL), -ENOSPC);
	assert_true(weir_handle_contains_u64(h, key));
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(duplicates_take_no_capacity),
		cmocka_unit_test(removals_are_refused),
		cmocka_unit_test(images_keep_the_flag),
		cmocka_unit_test(a_forged_mark_is_refused),
		cmocka_unit_test(merges_add_no_copies),
		cmocka_unit_test(a_refused_batch_has_its_answers),
		cmocka_unit_test(a_failed_merge_removes_no_old_key),
		cmocka_unit_test(a_refused_duplicate_stays_in_current),
		cmocka_unit_test(prefetching_does_not_change_answers),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
