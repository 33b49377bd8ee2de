/* SPDX-License-Identifier: MIT
 * A bulk load first collects the hashes that belong to each part of the filter, which needs memory.
 * Without the memory every key is still inserted. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "faults.h"
#include "ground/memory.h"

enum { BYTES = 4 << 20, KEYS = 1 << 18 };

static uint64_t *keys;
static unsigned char *memory, *wanted;

/* the size of the last cache that the library sees; 0: every filter is larger than the cache */
static uint64_t last_cache;

uint64_t __wrap_weir__last_cache_bytes(void);
uint64_t __wrap_weir__last_cache_bytes(void)
{
	return last_cache;
}

int __real_weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                              size_t place_bytes);
int __wrap_weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                              size_t place_bytes);
static uint64_t scratch; /* the number of bytes that the library has asked for */

int __wrap_weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                              size_t place_bytes)
{
	scratch += bytes;
	return __real_weir__memory_alloc(out, bytes, flags, place, place_bytes);
}

static struct weir_filter *make(unsigned char *place)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.capacity = KEYS;
	p.max_bytes = p.memory_bytes = BYTES;
	p.memory = place;
	p.blocked.words_per_key = 2, p.blocked.bits_per_word = 3;
	p.seed = 9;
	assert_ok(weir_create(&f, &p));
	return f;
}

static int setup(void **state)
{
	(void)state;
	keys = malloc(KEYS * sizeof *keys);
	memory = aligned_alloc(64, BYTES), wanted = aligned_alloc(64, BYTES);
	for (uint64_t i = 0; keys && i < KEYS; i++)
		keys[i] = test_key(i);
	return !keys || !memory || !wanted;
}

static int teardown(void **state)
{
	(void)state;
	free(keys), free(memory), free(wanted);
	return 0;
}

/* Load keys while the n-th system call fails. Return: false if there are fewer than n calls. */
static bool load_failing_at(unsigned n)
{
	struct weir_filter *f = make(memory);
	shim.calls = 0;
	shim.allocated = 0;
	shim.mapped = 0;
	shim.what = NULL;
	shim.at = n, shim.error = ENOMEM, shim.armed = true;
	int answer = weir_fill_keys(f, weir_keys_hashes(keys, KEYS));
	shim.armed = false, shim.at = 0;
	assert_ok(answer);
	assert_int_equal(shim.allocated, 0);
	assert_int_equal(shim.mapped, 0);
	assert_memory_equal(memory, wanted, BYTES);
	weir_destroy(f);
	return shim.what != NULL;
}

static void a_load_does_without(void **state)
{
	struct weir_filter *f = make(wanted);
	unsigned n = 1;
	(void)state;
	assert_true(weir_insert_keys(f, weir_keys_hashes(keys, KEYS), NULL) > 0);
	while (load_failing_at(n))
		n++;
	assert_in_range(n, 2, 10);
	weir_destroy(f);
}

static uint64_t scratch_of(uint64_t cache, size_t n)
{
	struct weir_filter *f = make(memory);
	scratch = 0, last_cache = cache;
	assert_ok(weir_fill_keys(f, weir_keys_hashes(keys, n)));
	last_cache = 0;
	weir_destroy(f);
	return scratch;
}

/* A load needs no memory if the filter fits into the cache, or if the load has fewer than two keys
 * for each line of the filter. Other loads need 8 bytes for each of at most WEIR_BULK_BUCKETS keys,
 * and up to a fifth more. */
static void scratch_as_promised(void **state)
{
	const uint64_t lines = BYTES / 64, most = 8 * WEIR_BULK_BUCKETS;
	(void)state;
	assert_int_equal(scratch_of(BYTES, KEYS), 0);
	assert_int_equal(scratch_of(0, 2 * lines - 1), 0);
	for (size_t n = 2 * lines; n <= KEYS; n += KEYS - 2 * lines) {
		uint64_t share = 8 * n < most ? 8 * n : most;
		assert_in_range(scratch_of(BYTES - 1, n), share, share + share / 5);
	}
}

static _Noreturn void go_on_changing(volatile uint64_t *hashes)
{
	alarm(60); /* ends the child if the parent fails */
	for (uint64_t i = 0;; i++)
		hashes[test_key(i) % KEYS] ^= i << 40;
}

/* Another process changes the hashes during a load. A library that read a hash twice could get
 * another value, of another part, the second time. No write may go past the end of a bucket, and
 * the next load must work. The library does not promise which keys are then in the filter. */
static void hashes_that_change_meanwhile(void **state)
{
	size_t bytes = KEYS * sizeof *keys;
	uint64_t *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	                        -1, 0);
	struct weir_filter *f = make(memory);
	(void)state;
	assert_true(shared != MAP_FAILED);
	memcpy(shared, keys, bytes);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		go_on_changing(shared);
	for (unsigned round = 0; round < 24; round++)
		assert_ok(round % 2 ? weir_insert_keys(f, weir_keys_hashes(shared, KEYS), NULL) :
		                      weir_fill_keys(f, weir_keys_hashes(shared, KEYS)));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_ok(weir_fill_keys(f, weir_keys_hashes(keys, KEYS)));
	assert_int_equal(weir_contains_keys(f, weir_keys_hashes(keys, KEYS), NULL), KEYS);
	weir_destroy(f);
	munmap(shared, bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_does_without),
		cmocka_unit_test(scratch_as_promised),
		cmocka_unit_test(hashes_that_change_meanwhile),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
