/* SPDX-License-Identifier: MIT
 * A key that is inserted in one form must be found in every other form. The tests insert by each
 * form of each function, and look up by each form that can express the key. They repeat this with
 * eight combinations of normalisation steps. */
#include <weir/router.h>
#include <weir/window.h>
#include "../test.h"

/* The test inserts the text @put and looks up the text @asked. In a set with the normalisation
 * @steps, the lookup must find the key. */
struct spelling {
	uint32_t steps;
	const char *put, *asked;
};

static const struct spelling spellings[] = {
	{ 0, "Example ", "Example " },
	{ WEIR_TEXT_TRIM, "key-1", " key-1\t\r" },
	{ WEIR_TEXT_LOWERCASE, "Key-1", "kEY-1" },
	{ WEIR_TEXT_TRIM | WEIR_TEXT_LOWERCASE, "\tKEY-1", "key-1 " },
	{ WEIR_TEXT_CIDR, "192.0.2.0/24", "192.0.2.77" },
	{ WEIR_TEXT_CIDR, "2001:db8::/33", "2001:DB8::1" },
	{ WEIR_TEXT_CIDR | WEIR_TEXT_TRIM, " 0.0.0.0/0", "::ffff:9.9.9.9\r" },
	{ WEIR_TEXT_SUFFIXES, "*.example.com", "www.example.com." },
	{ WEIR_TEXT_SUFFIXES | WEIR_TEXT_LOWERCASE, "Example.COM", "a.b.eXample.com" },
};

/* COPIES: the number of equal keys in a batch. It is large enough for the batch pipeline, and small
 * enough that a cuckoo filter has room for all copies of the key. */
enum { FORMS = 8, COPIES = 6, NUMBER = 4242 };

static struct weir_filter *set(uint32_t kind, uint32_t steps, bool keyed)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.kind = kind;
	p.capacity = 200;
	p.fp_rate = 1e-4;
	p.secret = keyed ? "of sixteen bytes" : NULL;
	p.seed = keyed ? 0 : test_seed(kind, 7);
	p.text.steps = steps;
	assert_ok(weir_create(&f, &p));
	return f;
}

static int64_t put_by(struct weir_filter *f, unsigned form, const char *text)
{
	const size_t len = strlen(text);
	struct iovec many[COPIES];
	for (unsigned i = 0; i < COUNT_OF(many); i++)
		many[i] = (struct iovec){ (void *)(uintptr_t)text, len };
	switch (form) {
	case 0: return weir_insert(f, text, len);
	case 1: return weir_insert_keys(f, weir_keys_iov(many, 1), NULL);
	case 2: return weir_insert_keys(f, weir_keys_iov(many, COUNT_OF(many)), NULL);
	case 3: return weir_fill_keys(f, weir_keys_iov(many, 1));
	case 4: return weir_fill_keys(f, weir_keys_iov(many, COUNT_OF(many)));
	case 5: return weir_insert_into(f, 0, text, len);
	case 6: return weir_insert_into_keys(f, 0, weir_keys_iov(many, 1), NULL);
	default: return weir_insert_keys(f, weir_keys_fixed(text, len, 1), NULL);
	}
}

static bool has_by(const struct weir_filter *f, unsigned form, const char *text)
{
	const size_t len = strlen(text);
	uint64_t bitmap[1] = { 0 }, hashes[COPIES];
	struct iovec many[COPIES];
	for (unsigned i = 0; i < COUNT_OF(many); i++)
		many[i] = (struct iovec){ (void *)(uintptr_t)text, len };
	switch (form) {
	case 0: return weir_contains(f, text, len);
	case 1: return weir_contains_keys(f, weir_keys_iov(many, 1), bitmap) == 1 && bitmap[0] == 1;
	case 2: return weir_contains_keys(f, weir_keys_iov(many, COPIES), bitmap) == COPIES &&
		       bitmap[0] == (1u << COPIES) - 1;
	case 3: return weir_contains_hash(f, weir_hash(f, text, len));
	case 4: weir_hash_keys(f, weir_keys_iov(many, COPIES), hashes);
		return weir_contains_keys(f, weir_keys_hashes(hashes, COPIES), NULL) == COPIES;
	case 5: return weir_route(f, text, len) & 1;
	case 6: return weir_age(f, text, len) >= 0;
	default: return weir_contains_keys(f, weir_keys_fixed(text, len, 1), NULL) == 1;
	}
}

/* With WEIR_TEXT_CIDR, keys of fixed width (the last form) are binary addresses. In the other forms
 * a key is a text. */
static bool expresses(uint32_t steps, unsigned form)
{
	return form != FORMS - 1 || !(steps & WEIR_TEXT_CIDR);
}

static void of_texts(uint32_t kind, const struct spelling *s, bool keyed)
{
	for (unsigned put = 0; put < FORMS; put++) {
		struct weir_filter *f = set(kind, s->steps, keyed);
		if (expresses(s->steps, put)) {
			assert_true(put_by(f, put, s->put) >= 0);
			for (unsigned ask = 0; ask < FORMS; ask++)
				if (expresses(s->steps, ask))
					assert_true(has_by(f, ask, s->asked));
		}
		weir_destroy(f);
	}
}

static void every_form_of_a_text_finds_it(void **state)
{
	(void)state;
	for (unsigned k = 0; k < COUNT_OF(test_kinds); k++)
		for (unsigned i = 0; i < COUNT_OF(spellings); i++) {
			const uint32_t needs = WEIR_CAN_INSERT |
			                       (spellings[i].steps ? WEIR_CAN_NORMALISE : 0);
			if (weir_kind_can(test_kinds[k], needs) != needs)
				continue;
			of_texts(test_kinds[k], &spellings[i], false);
			if (weir_kind_can(test_kinds[k], WEIR_CAN_BE_KEYED))
				of_texts(test_kinds[k], &spellings[i], true);
		}
}

/* Every set hashes a number as raw bytes, never as a text of eight bytes. */
static void every_form_of_a_number_finds_it(void **state)
{
	const uint64_t number = NUMBER;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(spellings); i++)
		for (unsigned put = 0; put < 4; put++) {
			struct weir_filter *f = set(WEIR_COUNTING, spellings[i].steps, put == 1);
			if (put < 2)
				assert_int_equal(weir_insert_u64(f, number), WEIR_NEW);
			else if (put == 2)
				assert_int_equal(weir_insert_into_u64(f, 0, number), WEIR_NEW);
			else
				assert_int_equal(weir_insert_keys(f, weir_keys_u64(&number, 1),
				                                  NULL), 1);
			assert_true(weir_contains_u64(f, number));
			assert_true(weir_contains_hash(f, weir_hash_u64(f, number)));
			assert_int_equal(weir_contains_keys(f, weir_keys_u64(&number, 1), NULL), 1);
			assert_int_equal(weir_route_u64(f, number), 1);
			assert_int_equal(weir_count_u64(f, number), 1);
			assert_int_equal(weir_remove_u64(f, number), 1);
			assert_int_equal(weir_count_u64(f, number), 0);
			weir_destroy(f);
		}
}

static void binary_addresses_equal_their_texts(void **state)
{
	static const unsigned char four[8] = { 192, 0, 2, 77, 192, 0, 3, 77 };
	static const unsigned char mapped[16] = { [10] = 0xff, 0xff, 192, 0, 2, 77 };
	struct weir_filter *f = set(WEIR_BLOCKED, WEIR_TEXT_CIDR, false);
	uint64_t bitmap;
	(void)state;
	assert_int_equal(weir_insert(f, "192.0.2.0/24", 12), WEIR_NEW);
	assert_int_equal(weir_contains_keys(f, weir_keys_fixed(four, 4, 2), &bitmap), 1);
	assert_int_equal(bitmap, 1);
	assert_int_equal(weir_contains_keys(f, weir_keys_fixed(mapped, 16, 1), NULL), 1);
	assert_int_equal(weir_insert_keys(f, weir_keys_fixed(four, 4, 2), NULL), 2);
	assert_true(weir_contains(f, "192.0.3.77", 10));
	/* no address has 5 bytes, so the lookup answers true */
	assert_int_equal(weir_contains_keys(f, weir_keys_fixed(four, 5, 1), NULL), 1);
	assert_int_equal(weir_contains_keys(f, weir_keys_fixed("sixteen bytes of", 16, 1), NULL),
	                 0);
	assert_refused(weir_insert_keys(f, weir_keys_fixed(four, 5, 1), NULL), -EINVAL, "5 bytes",
	               "4 or 16");
	weir_destroy(f);
}

/* One of the 100 texts is not an address. */
static void each_text_of_a_long_batch_has_its_hash(void **state)
{
	struct iovec texts[100];
	uint64_t hashes[100];
	struct weir_filter *f = set(WEIR_BLOCKED, WEIR_TEXT_CIDR, false);
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(texts); i++)
		texts[i] = (struct iovec){ "192.0.2.77", 10 };
	texts[50] = (struct iovec){ "nonsense", 8 };
	weir_hash_keys(f, weir_keys_iov(texts, COUNT_OF(texts)), hashes);
	for (unsigned i = 0; i < COUNT_OF(texts); i++)
		assert_int_equal(hashes[i] == weir_hash(f, "192.0.2.77", 10), i != 50);
	weir_destroy(f);
}

/* Only lookups accept hashes, and they answer true. Inserts, removals and counts refuse hashes. */
static void hashes_are_refused_if_a_lookup_probes_several_keys(void **state)
{
	static const uint32_t steps[] = { WEIR_TEXT_CIDR, WEIR_TEXT_SUFFIXES };
	const uint64_t hash = 7;
	int64_t count;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(steps); i++) {
		struct weir_filter *f = set(WEIR_COUNTING, steps[i], false);
		const struct weir_keys keys = weir_keys_hashes(&hash, 1);
		assert_true(weir_contains_hash(f, hash));
		assert_int_equal(weir_contains_keys(f, keys, NULL), 1);
		assert_int_equal(weir_insert_hash(f, hash), -EINVAL);
		assert_int_equal(weir_insert_keys(f, keys, NULL), -EINVAL);
		assert_int_equal(weir_fill_keys(f, keys), -EINVAL);
		assert_int_equal(weir_remove_hash(f, hash), -EINVAL);
		assert_int_equal(weir_remove_keys(f, keys, NULL), -EINVAL);
		assert_int_equal(weir_count_hash(f, hash), -EINVAL);
		assert_int_equal(weir_count_keys(f, keys, &count), -EINVAL);
		assert_int_equal(weir_insert_keys(f, weir_keys_hashes(&hash, 0), NULL), 0);
		assert_ok(weir_fill_keys(f, weir_keys_hashes(&hash, 0)));
		weir_destroy(f);
		f = set(WEIR_BLOCKED, steps[i], false);
		assert_refused(weir_count(f, "::", 2), -ENOTSUP, "kind blocked", "");
		weir_destroy(f);
	}
}

static void a_batch_stops_at_a_text_that_is_not_a_key(void **state)
{
	struct iovec texts[130];
	struct weir_filter *f = set(WEIR_COUNTING, WEIR_TEXT_CIDR, false);
	uint64_t bitmap[3];
	int64_t counts[130];
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(texts); i++)
		texts[i] = (struct iovec){ "10.0.0.0/8", 10 };
	texts[100] = (struct iovec){ "nonsense", 8 };
	const struct weir_keys keys = weir_keys_iov(texts, COUNT_OF(texts));
	assert_refused(weir_insert_keys(f, keys, bitmap), -EINVAL, "nonsense", "IP address");
	assert_int_equal(weir_error_taken(), 100);
	assert_true(bitmap[0] == 1 && !bitmap[1] && !bitmap[2]);
	assert_int_equal(weir_contains_keys(f, keys, bitmap), 129);
	assert_true(!(bitmap[1] >> 36 & 1));
	/* the number's bytes spell "nonsense" */
	assert_int_equal(weir_insert_u64(f, UINT64_C(0x65736e65736e6f6e)), WEIR_NEW);
	assert_int_equal(weir_count_keys(f, keys, counts), 129);
	assert_int_equal(counts[100], 0);
	assert_refused(weir_remove(f, "nonsense", 8), -EINVAL, "nonsense", "IP address");
	assert_int_equal(weir_remove_keys(f, weir_keys_iov(texts + 100, 1), NULL), 0);
	assert_true(weir_contains_u64(f, UINT64_C(0x65736e65736e6f6e)));
	weir_destroy(f);
}

/* The batch has more keys than the library hashes at once. */
static void error_taken_counts_from_the_start_of_the_batch(void **state)
{
	enum { ADDRESSES = 3000, MANY = (1 << 20) + 10, BAD = (1 << 20) + 5 };
	static char address[ADDRESSES][16];
	struct weir_params p = WEIR_PARAMS_INIT;
	struct iovec *texts = malloc(MANY * sizeof *texts);
	struct weir_filter *f = NULL;
	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		char *text = address[i % ADDRESSES];
		if (i < ADDRESSES)
			snprintf(text, sizeof address[0], "10.0.%u.%u", i / 256, i % 256);
		texts[i] = (struct iovec){ text, strlen(text) };
	}
	p.kind = WEIR_CUCKOO;
	p.capacity = 500;
	p.fp_rate = 0.01;
	p.seed = 7;
	p.text.steps = WEIR_TEXT_CIDR;
	assert_ok(weir_create(&f, &p));
	assert_int_equal(weir_insert_keys(f, weir_keys_iov(texts, ADDRESSES), NULL), -ENOSPC);
	const size_t taken = weir_error_taken();
	assert_in_range(taken, 400, 700);
	for (size_t i = 0; i < taken; i++)
		assert_true(weir_contains(f, texts[i].iov_base, texts[i].iov_len));
	weir_destroy(f);
	p.kind = WEIR_BLOCKED;
	assert_ok(weir_create(&f, &p));
	texts[BAD] = (struct iovec){ "nonsense", 8 };
	assert_refused(weir_fill_keys(f, weir_keys_iov(texts, MANY)), -EINVAL, "nonsense", "IP");
	assert_int_equal(weir_error_taken(), BAD);
	weir_destroy(f);
	free(texts);
}

static void matches_report_the_parent(void **state)
{
	struct weir_filter *f = set(WEIR_CLASSIC, WEIR_TEXT_SUFFIXES, false);
	struct iovec keys[WEIR_TEXT_LOOKUPS];
	char room[WEIR_TEXT_ROOM(20)];
	(void)state;
	assert_int_equal(weir_insert(f, "example.com", 11), WEIR_NEW);
	assert_int_equal(weir_insert(f, "a.b.example.com", 15), WEIR_NEW);
	assert_int_equal(weir_text_matches(f, "x.a.b.example.com", 17, room, keys), 2);
	assert_int_equal(keys[0].iov_len, 11);
	assert_int_equal(keys[1].iov_len, 15);
	assert_int_equal(weir_text_matches(f, "b.example.net", 13, room, keys), 0);
	weir_destroy(f);
	f = set(WEIR_CLASSIC, WEIR_TEXT_CIDR, false);
	assert_refused(weir_text_matches(f, "nonsense", 8, room, keys), -EINVAL, "'nonsense'",
	               "IP address");
	weir_destroy(f);
}

/* Excluding a text excludes every key that a lookup of the text probes. */
static void builders_include_and_exclude_texts(void **state)
{
	static const uint32_t kinds[] = { WEIR_FUSE, WEIR_LAYERED };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_builder *b;
		struct weir_filter *f;
		p.kind = kinds[i];
		p.fp_rate = 1e-3;
		p.text.steps = WEIR_TEXT_CIDR;
		assert_ok(weir_builder_create(&b, &p, NULL));
		assert_ok(weir_builder_add(b, "10.0.0.0/8", 10));
		assert_ok(weir_builder_add(b, "2001:db8::/40", 13));
		assert_refused(weir_builder_add(b, "nonsense", 8), -EINVAL, "nonsense", "address");
		assert_refused(weir_builder_add_hash(b, 7), -EINVAL, "a hash", "the text");
		if (kinds[i] == WEIR_LAYERED) {
			assert_ok(weir_builder_seal(b));
			for (unsigned n = 0; n < 200; n++) {
				char text[32];
				const int len = snprintf(text, sizeof text, "11.0.0.%u", n);
				assert_ok(weir_builder_exclude(b, text, (size_t)len));
			}
		}
		assert_ok(weir_builder_finish(&f, b, NULL));
		weir_builder_destroy(b);
		assert_true(weir_contains(f, "10.9.8.7", 8));
		assert_true(weir_contains(f, "2001:db8::7", 11));
		for (unsigned n = 0; kinds[i] == WEIR_LAYERED && n < 200; n++) {
			char text[32];
			const int len = snprintf(text, sizeof text, "11.0.0.%u", n);
			assert_false(weir_contains(f, text, (size_t)len));
		}
		weir_destroy(f);
	}
}

enum { ADDRESSES = 700 };

static struct weir_builder *addresses_begin(uint32_t kind, char text[ADDRESSES][16],
                                            struct iovec batch[ADDRESSES])
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_builder *b;
	p.kind = kind;
	p.fp_rate = 0.25;
	p.seed = 3;
	p.text.steps = WEIR_TEXT_CIDR;
	assert_ok(weir_builder_create(&b, &p, NULL));
	for (unsigned n = 0; n < ADDRESSES; n++) {
		const int len = snprintf(text[n], 16, "10.0.%u.%u", n / 200, n % 200);
		batch[n] = (struct iovec){ text[n], (size_t)len };
	}
	return b;
}

/* Without exclusion, a quarter of the texts would be false positives. */
static void excluded_texts_are_absent(void **state)
{
	enum { IN = 100, ONE_BY_ONE = 350 };
	static char text[ADDRESSES][16];
	struct iovec batch[ADDRESSES];
	struct weir_builder *b = addresses_begin(WEIR_LAYERED, text, batch);
	struct weir_filter *f;
	(void)state;
	assert_ok(weir_builder_add_keys(b, weir_keys_iov(batch, IN)));
	assert_ok(weir_builder_seal(b));
	for (unsigned n = IN; n < ONE_BY_ONE; n++)
		assert_ok(weir_builder_exclude(b, text[n], batch[n].iov_len));
	assert_ok(weir_builder_exclude_keys(b, weir_keys_iov(batch + ONE_BY_ONE,
	                                                     ADDRESSES - ONE_BY_ONE)));
	assert_ok(weir_builder_finish(&f, b, NULL));
	for (unsigned n = 0; n < ADDRESSES; n++)
		assert_int_equal(weir_contains(f, text[n], batch[n].iov_len), n < IN);
	weir_builder_destroy(b);
	weir_destroy(f);
}

static void builders_report_how_many_texts_were_added(void **state)
{
	enum { BAD = 300 };
	static char text[ADDRESSES][16];
	struct iovec batch[ADDRESSES];
	struct weir_builder *b = addresses_begin(WEIR_FUSE, text, batch);
	struct weir_filter *f;
	(void)state;
	batch[BAD].iov_len = 0;
	assert_int_equal(weir_builder_add_keys(b, weir_keys_iov(batch, ADDRESSES)), -EINVAL);
	assert_int_equal(weir_error_taken(), BAD);
	assert_ok(weir_builder_finish(&f, b, NULL));
	assert_int_equal(weir_contains_keys(f, weir_keys_iov(batch, BAD), NULL), BAD);
	weir_builder_destroy(b);

	struct weir_handle *h;
	struct weir_reload *r;
	assert_ok(weir_handle_create(&h, f, NULL));
	assert_ok(weir_reload_begin(&r, h, NULL));
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_iov(batch, ADDRESSES), NULL),
	                 -EINVAL);
	assert_int_equal(weir_error_taken(), BAD);
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(h));
}

static struct weir_builder *builder_of(uint32_t kind, uint32_t steps)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_builder *b;
	p.kind = kind;
	p.fp_rate = 1e-3;
	p.seed = 7;
	p.text.steps = steps;
	assert_ok(weir_builder_create(&b, &p, NULL));
	return b;
}

/* The hash of a text that is not a key is 0. */
static void builders_hash_texts_as_filters_do(void **state)
{
	static const uint32_t steps[] = { WEIR_TEXT_LOWERCASE, WEIR_TEXT_CIDR };
	static const unsigned char four[4] = { 192, 0, 2, 77 };
	const uint64_t number = NUMBER;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(steps); i++) {
		struct weir_builder *b = builder_of(WEIR_FUSE, steps[i]);
		struct weir_filter *f = set(WEIR_BLOCKED, steps[i], false);
		uint64_t hash = 1, wanted;
		assert_true(weir_builder_hash(b, "192.0.2.77", 10) ==
		            weir_hash(f, "192.0.2.77", 10));
		weir_hash_keys(f, weir_keys_fixed(four, 4, 1), &wanted);
		weir_builder_hash_keys(b, weir_keys_fixed(four, 4, 1), &hash);
		assert_true(hash == wanted);
		weir_builder_hash_keys(b, weir_keys_u64(&number, 1), &hash);
		assert_true(hash == weir_hash_u64(f, number));
		weir_builder_hash_keys(b, weir_keys_hashes(&number, 1), &hash);
		assert_true(hash == number);
		assert_true((weir_builder_hash(b, "nonsense", 8) == 0) == (i == 1));
		weir_builder_destroy(b);
		weir_destroy(f);
	}
}

/* The batch has more keys than the library hashes at once. */
static void a_builder_stops_at_a_text_that_is_not_a_key(void **state)
{
	enum { MANY = 600, BAD = 300 };
	static char address[2][MANY][16];
	struct iovec texts[2][MANY];
	struct weir_builder *b = builder_of(WEIR_LAYERED, WEIR_TEXT_CIDR);
	struct weir_filter *f = NULL;
	const uint64_t hash = 7;
	(void)state;
	for (unsigned i = 0; i < 2 * MANY; i++) { /* texts[0]: to add; texts[1]: to exclude */
		char *to = address[i / MANY][i % MANY];
		const int len = snprintf(to, 16, "1%u.0.%u.%u", i / MANY, i / 256, i % 256);
		texts[i / MANY][i % MANY] = (struct iovec){ to, (size_t)len };
	}
	texts[0][5] = texts[1][BAD] = (struct iovec){ "nonsense", 8 };
	assert_ok(weir_builder_add_keys(b, weir_keys_hashes(&hash, 0)));
	assert_refused(weir_builder_add_keys(b, weir_keys_iov(texts[0], MANY)), -EINVAL,
	               "nonsense", "address");
	assert_int_equal(weir_error_taken(), 5);
	assert_ok(weir_builder_seal(b));
	assert_refused(weir_builder_exclude_keys(b, weir_keys_iov(texts[1], MANY)), -EINVAL,
	               "nonsense", "address");
	assert_refused(weir_builder_exclude_keys(b, weir_keys_fixed("five!", 5, 1)), -EINVAL,
	               "5 bytes", "4 or 16");
	assert_refused(weir_builder_exclude_hash(b, 7), -EINVAL, "a hash", "the text");
	texts[1][BAD] = texts[1][0];
	assert_ok(weir_builder_exclude_keys(b, weir_keys_iov(texts[1], MANY)));
	assert_ok(weir_builder_finish(&f, b, NULL));
	for (unsigned i = 0; i < MANY; i++) {
		assert_true(i >= 5 || weir_contains(f, address[0][i], strlen(address[0][i])));
		assert_true(i == BAD || !weir_contains(f, address[1][i], strlen(address[1][i])));
	}
	weir_builder_destroy(b);
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_a_text_finds_it),
		cmocka_unit_test(every_form_of_a_number_finds_it),
		cmocka_unit_test(binary_addresses_equal_their_texts),
		cmocka_unit_test(each_text_of_a_long_batch_has_its_hash),
		cmocka_unit_test(hashes_are_refused_if_a_lookup_probes_several_keys),
		cmocka_unit_test(a_batch_stops_at_a_text_that_is_not_a_key),
		cmocka_unit_test(error_taken_counts_from_the_start_of_the_batch),
		cmocka_unit_test(matches_report_the_parent),
		cmocka_unit_test(builders_include_and_exclude_texts),
		cmocka_unit_test(excluded_texts_are_absent),
		cmocka_unit_test(builders_report_how_many_texts_were_added),
		cmocka_unit_test(builders_hash_texts_as_filters_do),
		cmocka_unit_test(a_builder_stops_at_a_text_that_is_not_a_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
