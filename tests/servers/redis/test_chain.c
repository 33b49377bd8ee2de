/* SPDX-License-Identifier: MIT
 * Chains of filters, without Redis. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../test.h"
#include "chain.h"

static long held; /* allocated blocks */
static long room = -1;

static void *get(size_t bytes)
{
	if (!room)
		return NULL;
	room--;
	held++;
	return malloc(bytes);
}

static void put(void *memory)
{
	held--;
	free(memory);
}

static const struct chain_memory memory = { get, put };

static void chain_grows(void **state)
{
	struct chain_settings s = { 0.01, 100, 2, 17, 0, 0 };
	struct chain *a, *b, *copy;
	uint64_t news = 0;
	(void)state;
	assert_int_equal(chain_create(&a, &s, 0, &memory), 0);
	assert_int_equal(chain_create(&b, &s, 0, &memory), 0);
	for (uint64_t i = 0; i < 5000; i++) {
		int answer = chain_add(a, &i, sizeof i, 0);
		assert_int_equal(chain_add(b, &i, sizeof i, 0), answer);
		assert_int_equal(chain_add(a, &i, sizeof i, 0), 0);
		news += (uint64_t)answer;
	}
	assert_int_equal(chain_items(a), news);
	assert_int_equal(a->links, 6);
	assert_int_equal(chain_capacity(a), 6300);
	assert_int_equal(chain_copy(&copy, a), 0);
	assert_int_equal(chain_items(copy), news);
	for (uint64_t i = 0; i < 50000; i++) {
		assert_int_equal(chain_has(b, &i, sizeof i), chain_has(a, &i, sizeof i));
		assert_int_equal(chain_has(copy, &i, sizeof i), chain_has(a, &i, sizeof i));
		assert_true(i >= 5000 || chain_has(a, &i, sizeof i));
	}
	chain_destroy(a);
	chain_destroy(b);
	chain_destroy(copy);
	assert_int_equal(held, 0);
}

static void chain_refuses(void **state)
{
	struct chain_settings s = { 0.01, 10, 0, 17, 0, 0 };
	struct chain *c;
	int answer = 0;
	(void)state;
	assert_int_equal(chain_create(&c, &s, 64 - 1, &memory), -EFBIG);
	for (room = 0; room < 2; ) {
		long pieces = room;
		assert_int_equal(chain_create(&c, &s, 0, &memory), -ENOMEM);
		assert_int_equal(held, 0);
		room = pieces + 1;
	}
	room = -1;
	assert_int_equal(chain_create(&c, &s, 0, &memory), 0);
	for (uint64_t i = 0; answer >= 0 && i < 100; i++)
		answer = chain_add(c, &i, sizeof i, 0);
	assert_int_equal(answer, -ENOSPC);
	assert_int_equal(chain_items(c), 10);
	chain_destroy(c);
	s.error = 1;
	assert_int_equal(chain_create(&c, &s, 0, &memory), -EINVAL);
	s.error = 0.5;
	s.capacity = 0;
	assert_int_equal(chain_create(&c, &s, 0, &memory), -EINVAL);
	assert_int_equal(held, 0);
}

enum { ITEMS = 4000 };

/* Add items, and remove only items that were added. @left: the number of copies of each item */
static void change(struct chain *c, uint64_t seed, unsigned *left, bool even)
{
	uint64_t x = seed;
	for (int i = 0; i < 5 * ITEMS; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		uint64_t item = (x >> 33) % ITEMS;
		if (x >> 63 && left[item]) {
			bool taken = chain_remove(c, &item, sizeof item);
			assert_true(taken || !even);
			left[item] -= taken;
		} else if (left[item] < 3) {
			assert_int_equal(chain_insert(c, &item, sizeof item, false, 0), 1);
			left[item]++;
		}
	}
}

static void same(const struct chain *a, const struct chain *b)
{
	assert_int_equal(a->links, b->links);
	for (size_t i = 0; i < a->links; i++) {
		assert_int_equal(a->link[i].items, b->link[i].items);
		assert_int_equal(a->link[i].bytes, b->link[i].bytes);
		assert_memory_equal(chain_bits(&a->link[i]), chain_bits(&b->link[i]),
		                    a->link[i].bytes);
	}
	assert_int_equal(a->changes, b->changes);
	assert_int_equal(a->deleted, b->deleted);
}

/* No added item is missed, equal changes give equal bits, and a copy behaves in the same way. */
static void cuckoo_changes(uint64_t expansion)
{
	struct chain_settings s = { 0, 300, expansion, 17, 2, 20 };
	static unsigned left[ITEMS], again[ITEMS];
	struct chain *a, *b, *copy;
	uint64_t sum = 0;
	memset(left, 0, sizeof left);
	memset(again, 0, sizeof again);
	assert_int_equal(chain_create(&a, &s, 0, &memory), 0);
	assert_int_equal(chain_create(&b, &s, 0, &memory), 0);
	change(a, 1, left, expansion < 2);
	assert_int_equal(chain_copy(&copy, a), 0);
	change(b, 1, again, expansion < 2);
	same(a, b);
	change(a, 2, left, expansion < 2);
	change(copy, 2, again, expansion < 2);
	same(a, copy);
	assert_true(a->links > 3);
	for (uint64_t i = 0; i < ITEMS; i++) {
		assert_true(chain_count(a, &i, sizeof i) >= left[i]);
		assert_int_equal(chain_has(a, &i, sizeof i),
		                 chain_count(a, &i, sizeof i) > 0);
		sum += left[i];
	}
	assert_int_equal(chain_items(a), sum);
	for (size_t i = 0; i < a->links; i++)
		assert_int_equal(chain_fingerprints(chain_bits(&a->link[i]), a->link[i].bytes),
		                 a->link[i].items);
	chain_destroy(a);
	chain_destroy(b);
	chain_destroy(copy);
	assert_int_equal(held, 0);
}

static void cuckoo_even(void **state)
{
	(void)state;
	cuckoo_changes(1);
}

static void cuckoo_uneven(void **state)
{
	(void)state;
	cuckoo_changes(2);
}

static void cuckoo_refuses(void **state)
{
	struct chain_settings s = { 0, 10, 0, 17, 2, 20 };
	struct chain *c;
	uint64_t i = 0;
	(void)state;
	assert_int_equal(chain_create(&c, &s, 0, &memory), 0);
	for (; i < 10; i++)
		assert_int_equal(chain_insert(c, &i, sizeof i, false, 0), 1);
	assert_int_equal(chain_insert(c, &i, sizeof i, false, 0), -ENOSPC);
	i = 3;
	assert_int_equal(chain_insert(c, &i, sizeof i, true, 0), 0);
	assert_true(chain_remove(c, &i, sizeof i));
	assert_int_equal(chain_insert(c, &i, sizeof i, true, 0), 1);
	c->settings.expansion = 1;
	assert_int_equal(chain_insert(c, &i, sizeof i, false, c->link[0].bytes), -EFBIG);
	room = 0;
	assert_int_equal(chain_insert(c, &i, sizeof i, false, 0), -ENOMEM);
	room = -1;
	assert_int_equal(chain_items(c), 10);
	assert_int_equal(c->changes, 12);
	chain_destroy(c);
	for (s.bucket = 256; s.bucket <= 257; s.bucket++)
		assert_int_equal(chain_create(&c, &s, 0, &memory), -EINVAL);
	s.bucket = 2;
	s.iterations = 0;
	assert_int_equal(chain_create(&c, &s, 0, &memory), -EINVAL);
	s.iterations = 20;
	s.error = 0.01;
	assert_int_equal(chain_create(&c, &s, 0, &memory), -EINVAL);
	s.error = -0.0; /* a dump has no error rate, so a loaded dump would get +0.0 */
	assert_int_equal(chain_create(&c, &s, 0, &memory), -EINVAL);
	assert_int_equal(held, 0);
}

/* Refuse an image that contradicts the settings or the number of items. */
static void append_refuses(void **state)
{
	struct chain_settings s = { 0, 1000, 1, 17, 2, 20 };
	struct weir_params p = WEIR_PARAMS_INIT;
	static char image[1 << 16];
	struct weir_filter *f;
	struct chain *c;
	(void)state;
	p.kind = WEIR_CUCKOO;
	p.capacity = 1000;
	p.fp_rate = 0.00012;
	p.cuckoo.fingerprint_bits = 16;
	p.seed = 17;
	for (int i = 0; i < 4; i++) {
		p.seed = i == 1 ? 18 : 17;
		p.capacity = i == 2 ? 2000 : 1000;
		assert_int_equal(weir_create(&f, &p), 0);
		assert_int_equal(weir_insert(f, "a", 1), WEIR_NEW);
		FILE *file = tmpfile();
		assert_non_null(file);
		assert_ok(weir_save(f, weir_location_fd(fileno(file)), NULL));
		size_t bytes = (size_t)pread(fileno(file), image, sizeof image, 0);
		fclose(file);
		weir_destroy(f);
		assert_int_equal(chain_begin(&c, &s, &memory), 0);
		int wanted = i == 0 ? 0 : i == 1 ? -EINVAL : i == 2 ? -EFBIG : -EBADMSG;
		assert_int_equal(chain_append(c, i == 3 ? 2 : 1, image, bytes), wanted);
		assert_int_equal(c->links, wanted == 0);
		assert_int_equal(wanted == 0 && chain_has(c, "a", 1), wanted == 0);
		chain_destroy(c);
	}
	assert_int_equal(held, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_grows),
		cmocka_unit_test(chain_refuses),
		cmocka_unit_test(cuckoo_even),
		cmocka_unit_test(cuckoo_uneven),
		cmocka_unit_test(cuckoo_refuses),
		cmocka_unit_test(append_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
