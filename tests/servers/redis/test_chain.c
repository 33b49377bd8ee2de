/* SPDX-License-Identifier: MIT
 * Chains of blocked filters, without Redis. */
#include <errno.h>
#include <stdlib.h>
#include "../../test.h"
#include "chain.h"

static long held; /* pieces of memory */
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
	struct chain_settings s = { 0.01, 100, 2, 17 };
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
	struct chain_settings s = { 0.01, 10, 0, 17 };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_grows),
		cmocka_unit_test(chain_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
