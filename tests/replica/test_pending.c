/* SPDX-License-Identifier: MIT
 * What threads put is taken once each, in pieces, and stays where it is not taken. */
#include <errno.h>
#include <pthread.h>
#include "../test.h"
#include "pending.h"

enum { THREADS = 20, EACH = 20000, HASH = 8, MOST = 1000 }; /* more threads than lists */

static struct weir_pending p;
static unsigned char times[THREADS * EACH];
static size_t taken, pieces;
static bool refuses;

static int take(void *context, const unsigned char *data, size_t bytes)
{
	const struct weir_entry e = { .kind = WEIR_ENTRY_HASHES, .data = data, .bytes = bytes };
	size_t n = weir__entry_hashes(&e);
	assert_ptr_equal(context, &p);
	assert_in_range(n, 1, MOST);
	assert_int_equal(bytes, n * HASH);
	if (refuses && pieces == 1)
		return -ENOBUFS;
	for (size_t i = 0; i < n; i++)
		times[weir__entry_hash(&e, i)]++;
	taken += n;
	pieces++;
	return 0;
}

static void *put(void *first)
{
	for (uint64_t i = 0; i < EACH; i++)
		if (weir__pending_put_hash(&p, (uint64_t)(uintptr_t)first + i) != 0)
			return first;
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t thread[THREADS];
	void *failed;
	(void)state;
	weir__pending_make(&p, WEIR_ENTRY_HASHES, THREADS * EACH * HASH);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, put, (void *)(i * EACH)), 0);
	while (taken < COUNT_OF(times) / 2)
		assert_ok(weir__pending_take(&p, MOST * HASH, take, &p));
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(thread[i], &failed), 0);
		assert_null(failed);
	}
	assert_ok(weir__pending_take(&p, MOST * HASH, take, &p));
	assert_int_equal(taken, COUNT_OF(times));
	for (size_t i = 0; i < COUNT_OF(times); i++)
		assert_int_equal(times[i], 1);
	weir__pending_free(&p);
}

static void test_no_room(void **state)
{
	(void)state;
	weir__pending_make(&p, WEIR_ENTRY_HASHES, (MOST + 10) * HASH + 7);
	taken = pieces = 0;
	memset(times, 0, sizeof times);
	for (uint64_t i = 0; i < MOST + 10; i++)
		assert_ok(weir__pending_put_hash(&p, i));
	assert_refused(weir__pending_put_hash(&p, 0), -ENOBUFS, "8080 bytes", "no room for 8 more");
	assert_ok(weir__pending_show(&p, MOST * HASH, take, &p)); /* which stays */
	assert_int_equal(taken, MOST + 10);
	taken = pieces = 0;
	memset(times, 0, sizeof times);
	/* what is refused is there the next time, behind nothing and before what comes */
	refuses = true;
	assert_int_equal(weir__pending_take(&p, MOST * HASH, take, &p), -ENOBUFS);
	assert_int_equal(taken, MOST);
	refuses = false;
	assert_ok(weir__pending_put_hash(&p, MOST + 10));
	assert_ok(weir__pending_take(&p, MOST * HASH, take, &p));
	assert_int_equal(taken, MOST + 11);
	for (size_t i = 0; i < MOST + 11; i++)
		assert_int_equal(times[i], 1);
	assert_ok(weir__pending_take(&p, MOST * HASH, take, &p));
	assert_int_equal(pieces, 2);
	weir__pending_free(&p);
}

/* Keys of all lengths come whole, in their order, in pieces that end where a key does. */
static unsigned next_key, key_pieces;

static size_t length_of(unsigned key)
{
	return key % 7 == 3 ? 300 : key % 40;
}

static int take_keys(void *context, const unsigned char *data, size_t bytes)
{
	const struct weir_entry e = { .kind = WEIR_ENTRY_KEYS, .data = data, .bytes = bytes };
	struct iovec key;
	size_t at = 0;
	unsigned n = 0;
	assert_ptr_equal(context, &p);
	for (; weir__entry_key(&e, &at, &key); n++) {
		assert_int_equal(key.iov_len, length_of(next_key));
		for (size_t i = 0; i < key.iov_len; i++)
			assert_int_equal(((unsigned char *)key.iov_base)[i], next_key & 255);
		next_key++;
	}
	assert_int_equal(at, bytes);
	assert_true(n >= 1 && (n == 1 || bytes <= 200));
	key_pieces++;
	return 0;
}

static void test_keys(void **state)
{
	enum { KEYS = 1000 };
	unsigned char key[300];
	(void)state;
	weir__pending_make(&p, WEIR_ENTRY_KEYS, 1 << 20);
	for (unsigned i = 0; i < KEYS; i++) {
		memset(key, (int)(i & 255), sizeof key);
		assert_ok(weir__pending_put_key(&p, key, (uint32_t)length_of(i)));
	}
	size_t bytes = weir__pending_bytes(&p);
	assert_ok(weir__pending_take(&p, 200, take_keys, &p));
	assert_int_equal(next_key, KEYS);
	assert_true(key_pieces > bytes / 300 && key_pieces < KEYS);
	assert_int_equal(weir__pending_bytes(&p), 0);
	weir__pending_free(&p);
}

/* The last that fits is the one that ends at the limit. */
static void test_the_limit(void **state)
{
	(void)state;
	weir__pending_make(&p, WEIR_ENTRY_HASHES, 2 * HASH);
	assert_ok(weir__pending_put_hash(&p, 1));
	assert_ok(weir__pending_put_hash(&p, 2));
	assert_refused(weir__pending_put_hash(&p, 3), -ENOBUFS, "16 bytes", "no room for 8 more");
	weir__pending_free(&p);
}

static void test_a_key_longer_than_the_room_twice(void **state)
{
	static const unsigned char key[60000];
	(void)state;
	weir__pending_make(&p, WEIR_ENTRY_KEYS, 1 << 20);
	assert_ok(weir__pending_put_key(&p, key, 1));
	assert_ok(weir__pending_put_key(&p, key, sizeof key));
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++)
		assert_true(p.lists[i].bytes <= p.lists[i].room);
	weir__pending_free(&p);
}

static void *put_one(void *context)
{
	return weir__pending_put_hash(&p, 1) == 0 ? NULL : context;
}

static void test_bytes_of_all_lists(void **state)
{
	pthread_t thread;
	void *failed;
	(void)state;
	weir__pending_make(&p, WEIR_ENTRY_HASHES, 1 << 20);
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++) { /* each comes to another list */
		assert_int_equal(pthread_create(&thread, NULL, put_one, &p), 0);
		assert_int_equal(pthread_join(thread, &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(weir__pending_bytes(&p), WEIR_PENDING_LISTS * HASH);
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++)
		assert_int_equal(p.lists[i].bytes, HASH);
	weir__pending_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_the_limit),
		cmocka_unit_test(test_a_key_longer_than_the_room_twice),
		cmocka_unit_test(test_bytes_of_all_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
