/* SPDX-License-Identifier: MIT
 * What threads put is taken once each, in pieces, and stays where it is not taken. */
#include <errno.h>
#include <pthread.h>
#include "../test.h"
#include "pending.h"

enum { THREADS = 20, EACH = 20000, MOST = 1000 }; /* more threads than lists */

static struct weir_pending p;
static unsigned char times[THREADS * EACH];
static size_t taken, pieces;
static bool refuses;

static int take(void *context, const uint64_t *hashes, size_t n)
{
	assert_ptr_equal(context, &p);
	assert_in_range(n, 1, MOST);
	if (refuses && pieces == 1)
		return -ENOBUFS;
	for (size_t i = 0; i < n; i++)
		times[hashes[i]]++;
	taken += n;
	pieces++;
	return 0;
}

static void *put(void *first)
{
	for (uint64_t i = 0; i < EACH; i++)
		if (weir__pending_put(&p, (uint64_t)(uintptr_t)first + i) != 0)
			return first;
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t thread[THREADS];
	void *failed;
	(void)state;
	weir__pending_make(&p, THREADS * EACH);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, put, (void *)(i * EACH)), 0);
	while (taken < COUNT_OF(times) / 2)
		assert_ok(weir__pending_take(&p, MOST, take, &p));
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(thread[i], &failed), 0);
		assert_null(failed);
	}
	assert_ok(weir__pending_take(&p, MOST, take, &p));
	assert_int_equal(taken, COUNT_OF(times));
	for (size_t i = 0; i < COUNT_OF(times); i++)
		assert_int_equal(times[i], 1);
	weir__pending_free(&p);
}

static void test_no_room(void **state)
{
	(void)state;
	weir__pending_make(&p, MOST + 10);
	taken = pieces = 0;
	memset(times, 0, sizeof times);
	for (uint64_t i = 0; i < MOST + 10; i++)
		assert_ok(weir__pending_put(&p, i));
	assert_refused(weir__pending_put(&p, 0), -ENOBUFS, "1010 inserts", "no room");
	/* what is refused is there the next time, behind nothing and before what comes */
	refuses = true;
	assert_int_equal(weir__pending_take(&p, MOST, take, &p), -ENOBUFS);
	assert_int_equal(taken, MOST);
	refuses = false;
	assert_ok(weir__pending_put(&p, MOST + 10));
	assert_ok(weir__pending_take(&p, MOST, take, &p));
	assert_int_equal(taken, MOST + 11);
	for (size_t i = 0; i < MOST + 11; i++)
		assert_int_equal(times[i], 1);
	assert_ok(weir__pending_take(&p, MOST, take, &p));
	assert_int_equal(pieces, 2);
	weir__pending_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_no_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
