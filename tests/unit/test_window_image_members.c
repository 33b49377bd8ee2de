/* SPDX-License-Identifier: MIT
 * Images of windows with exchanged members and valid checksums. Either a load and a verification
 * both fail with a message, or the window works and stays the same through a save and a load. */
#include <fcntl.h>
#include "window_image.h"

enum { HEADS = 17, ROOM = 1 << 18, TRIES = 3000 };

/* An image in parts: the page with the head of the window, and the image of every member (one
 * generation). */
struct parts {
	unsigned char page[IMAGE_PAGE];
	unsigned char *member[HEADS + 1];
	size_t bytes[HEADS + 1];
	unsigned n;
};

static uint64_t state_of_random = 1;

static uint64_t below(uint64_t n)
{
	return test_random(&state_of_random) % n;
}

static void put32(unsigned char *at, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static unsigned char *copy_of(const unsigned char *bytes, size_t n)
{
	unsigned char *copy = malloc(n);
	assert_non_null(copy);
	memcpy(copy, bytes, n);
	return copy;
}

/* Split an uncompressed image into its parts. */
static void take_apart(struct parts *p, const struct weir_filter *w)
{
	size_t n = 0;
	unsigned char *bytes = saved_bytes(w, &n);
	memcpy(p->page, bytes, IMAGE_PAGE);
	p->n = (unsigned)image_get(bytes + IMAGE_MEMBERS, 4);
	for (size_t i = 0, at = IMAGE_PAGE; i < p->n; i++) {
		p->bytes[i] = image_get(bytes + at + 96, 8);
		p->member[i] = copy_of(bytes + at, p->bytes[i]);
		at = (at + p->bytes[i] + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
	}
	free(bytes);
}

static void let_go(struct parts *p)
{
	for (unsigned i = 0; i < p->n; i++)
		free(p->member[i]);
}

static struct parts copy_parts(const struct parts *from)
{
	struct parts p = *from;
	for (unsigned i = 0; i < p.n; i++)
		p.member[i] = copy_of(from->member[i], from->bytes[i]);
	return p;
}

/* Join the parts and repair all checksums. Return: the number of bytes. */
static size_t put_together(struct parts *p, unsigned char *out)
{
	size_t end = IMAGE_PAGE;
	memset(out, 0, ROOM);
	for (unsigned i = 0; i < p->n; i++) {
		size_t at = (end + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
		assert_true(at + p->bytes[i] <= ROOM);
		image_repair_table(p->member[i], p->bytes[i]);
		image_repair(p->member[i], p->bytes[i]);
		memcpy(out + at, p->member[i], p->bytes[i]);
		if (i < 16)
			memcpy(p->page + IMAGE_TABLE + ROW * i + 8, out + at + IMAGE_COMMIT, 8);
		end = at + p->bytes[i];
	}
	image_put64(p->page + 96, end);
	image_repair(p->page, IMAGE_PAGE);
	memcpy(out, p->page, IMAGE_PAGE);
	return end;
}

static uint64_t a_value(uint64_t was)
{
	static const uint64_t values[] = { 0, 1, 2, 3, 8, 16, 17, 64, 1024, 65536, UINT32_MAX,
		                           UINT64_C(1) << 40, UINT64_C(1) << 48,
		                           UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX };
	switch (below(4)) {
	case 0: return was + 1;
	case 1: return was - 1;
	case 2: return was ^ UINT64_C(1) << below(64);
	default: return values[below(COUNT_OF(values))];
	}
}

/* Change a number of 4 or 8 bytes in @head, which is the head of the window or of a member. */
static void change_number(unsigned char *head)
{
	static const unsigned four[] = { 8, 12, 16, 20, 48, 52, 72, 76, 104, 108, 112, 116, 120,
		                         132, 136, 140 };
	static const unsigned eight[] = { 24, 32, 56, 64, 80, 88, 96, 144, 152, 176, 192, 200,
		                          216, 224 };
	if (below(2)) {
		unsigned at = four[below(COUNT_OF(four))];
		put32(head + at, a_value(image_get(head + at, 4)));
	} else {
		unsigned at = eight[below(COUNT_OF(eight))];
		image_put64(head + at, a_value(image_get(head + at, 8)));
	}
}

static void exchange_members(struct parts *p, const struct parts *other)
{
	unsigned a = (unsigned)below(p->n), b = (unsigned)below(p->n);
	unsigned char *was = p->member[a];
	const struct parts *from = below(2) ? other : p;
	unsigned of = (unsigned)below(from->n);
	switch (below(3)) {
	case 0: /* exchange two members */
		p->member[a] = p->member[b];
		p->member[b] = was;
		of = (unsigned)p->bytes[a];
		p->bytes[a] = p->bytes[b];
		p->bytes[b] = of;
		break;
	case 1: /* replace one member by a copy of a member of @from */
		p->member[a] = copy_of(from->member[of], from->bytes[of]);
		p->bytes[a] = from->bytes[of];
		free(was);
		break;
	default: /* add or drop one member */
		if (p->n > 1 && below(2)) {
			free(p->member[--p->n]);
		} else if (p->n < HEADS) {
			p->member[p->n] = copy_of(from->member[of], from->bytes[of]);
			p->bytes[p->n++] = from->bytes[of];
		}
		put32(p->page + IMAGE_MEMBERS, p->n);
		if (below(2))
			put32(p->page + 108, p->n);
		break;
	}
}

static void change_ages(struct parts *p)
{
	const unsigned used = (unsigned)below(18);
	uint64_t age = 0;
	for (unsigned i = 0; i < p->n && i < 16; i++) {
		age += below(UINT64_C(1) << below(58));
		image_put64(p->page + IMAGE_TABLE + ROW * i, i > used ? UINT64_MAX : age);
	}
}

static void change(struct parts *p, const struct parts *other)
{
	switch (below(6)) {
	case 0: change_number(p->page); break;
	case 1: change_number(p->member[below(p->n)]); break;
	case 2: exchange_members(p, other); break;
	case 3: change_ages(p); break;
	case 4: { /* set an equal generation or seed in all heads */
		const unsigned at = below(2) ? IMAGE_GENERATION : 56;
		const uint64_t value = below(UINT64_MAX) | 1;
		image_put64(p->page + at, value);
		for (unsigned i = 0; i < p->n; i++)
			image_put64(p->member[i] + at, value);
		break;
	}
	default: { /* flip bits */
		unsigned i = (unsigned)below(p->n);
		if (p->bytes[i] > IMAGE_PAGE)
			p->member[i][IMAGE_PAGE + below(p->bytes[i] - IMAGE_PAGE)] ^= 0x55;
		break;
	}
	}
}

static void assert_verified(const unsigned char *bytes, size_t n, int loaded)
{
	assert_true(image_spit(path, bytes, n));
	int err = weir_image_verify(weir_location_path(path), NULL, NULL);
	assert_true(!err || weir_error_detail()[0]);
	if (loaded != -ENOTSUP && loaded != -EKEYREJECTED)
		assert_true(!err == !loaded);
}

/* Asserts that the window accepts keys and forgets them in time, and that a save and a load do not
 * change it. */
static void assert_works(struct weir_filter *w)
{
	const struct weir_load_options load = load_options();
	const uint32_t generations = stats_of(w).generations;
	struct weir_filter *again = NULL;
	size_t n = 0;
	assert_true(weir_insert_u64(w, 7) >= 0);
	assert_int_equal(weir_age(w, &(uint64_t){ 7 }, 8), 0);
	assert_ok(weir_window_advance(w));
	assert_true(weir_contains_u64(w, 7));
	unsigned char *bytes = saved_bytes(w, &n);
	assert_ok(weir_load(&again, weir_location_memory(bytes, n), &load));
	free(bytes);
	assert_alike(w, again, 3);
	for (uint32_t i = 1; i < generations; i++)
		assert_ok(weir_window_advance(again));
	assert_false(weir_contains_u64(again, 7));
	weir_destroy(again);
}

/* Return: true if the changed image was loaded and the window works. */
static bool attempt(struct parts *p, const struct parts *other)
{
	static unsigned char bytes[ROOM];
	struct weir_load_options load = load_options();
	struct weir_filter *w = NULL;
	for (uint64_t times = 1 + below(2); times; times--)
		change(p, other);
	size_t n = put_together(p, bytes);
	load.run.forget_older = below(4) == 0 && image_get(bytes + OWN, 8) != 0;
	load.max_bytes = 1 << 24;
	/* a sanitizer would report a read beyond the end */
	unsigned char *exact = copy_of(bytes, n);
	int err = weir_load(&w, weir_location_memory(exact, n), &load);
	free(exact);
	assert_true(err ? w == NULL && weir_error_detail()[0] : w != NULL);
	if (err != -EFBIG)
		assert_verified(bytes, n, err);
	if (!err)
		assert_works(w);
	weir_destroy(w);
	return !err;
}

static void exchanged_members_are_refused(void **state)
{
	unsigned windows = 0;
	(void)state;
	for (unsigned i = 0; i < TRIES; i += 30) {
		struct weir_params o = options(2 + i % 15, 1 + i / 30 % 2);
		struct parts one, other;
		o.capacity = 30 * o.window.generations;
		o.window.words_per_key = o.window.layout == WEIR_WINDOW_RING ? 1 + i % 2 : 1;
		struct weir_filter *a = lived(&o, i % 3);
		take_apart(&one, a);
		weir_destroy(a);
		o.window.generations = 2 + (i + 7) % 15;
		a = lived(&o, 1);
		take_apart(&other, a);
		weir_destroy(a);
		for (unsigned t = 0; t < 30; t++) {
			struct parts p = copy_parts(&one);
			windows += attempt(&p, &other);
			let_go(&p);
		}
		let_go(&one);
		let_go(&other);
	}
	assert_true(windows > TRIES / 20 && windows < TRIES - TRIES / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(exchanged_members_are_refused) };
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
