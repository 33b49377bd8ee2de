/* SPDX-License-Identifier: MIT
 * A batch so large that it is sorted by part first needs memory for that. Whichever of its
 * allocations fails, every key is in and the answers are those of a batch that had its memory. A
 * load, which is asked for by name, reports that it had none. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "faults.h"

/* So large that it is sorted, if the cache is no larger than most; a key for every four words,
 * so that about half of the parts are filled in a copy. */
enum { BYTES = 20 << 20, KEYS = 5 << 17, MOST_CALLS = 10 };

static uint64_t *keys, *bitmap;
static unsigned char *memory, *wanted;

static struct weir_filter *make(unsigned char *place, uint32_t z)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.capacity = KEYS;
	p.max_bytes = p.memory_bytes = BYTES;
	p.memory = place;
	p.words_per_key = z, p.bits_per_word = 3;
	p.seed = 9;
	assert_ok(weir_create(&f, &p));
	return f;
}

static int setup(void **state)
{
	(void)state;
	keys = malloc(KEYS * sizeof *keys);
	bitmap = malloc(WEIR_BITMAP_WORDS(KEYS) * sizeof *bitmap);
	memory = aligned_alloc(64, BYTES), wanted = aligned_alloc(64, BYTES);
	for (uint64_t i = 0; keys && i < KEYS; i++)
		keys[i] = test_key(i);
	return !keys || !bitmap || !memory || !wanted;
}

static int teardown(void **state)
{
	(void)state;
	free(keys), free(bitmap), free(memory), free(wanted);
	return 0;
}

/* Three forms: hashes without answers, with one word a key, where no copy would do; keys of
 * eight bytes, which are hashed twice; keys of any length, whose hashes are kept. */
static int64_t insert(struct weir_filter *f, unsigned form)
{
	return form == 0 ? weir_insert_hashes(f, keys, KEYS, NULL) :
	       form == 1 ? weir_insert_fixed(f, keys, 8, KEYS, bitmap) :
	                   weir_insert_fixed(f, keys, 4, KEYS, NULL);
}

static int64_t found(const struct weir_filter *f, unsigned form)
{
	return form == 0 ? (int64_t)weir_contains_hashes(f, keys, KEYS, NULL) :
	                   (int64_t)weir_contains_fixed(f, keys, form == 1 ? 8 : 4, KEYS, NULL);
}

/* Returns whether the n-th call was reached. */
static bool insert_failing_at(unsigned form, unsigned n, int64_t fresh)
{
	struct weir_filter *f = make(memory, form ? 2 : 1);
	shim.calls = 0, shim.allocated = shim.mapped = 0, shim.what = NULL;
	shim.at = n, shim.error = ENOMEM, shim.armed = true;
	int64_t answer = insert(f, form);
	shim.armed = false, shim.at = 0;
	assert_int_equal(shim.allocated, 0);
	assert_int_equal(shim.mapped, 0);
	assert_memory_equal(memory, wanted, BYTES);
	/* Sorted, the keys come in another order, and then others of them are false positives. */
	assert_true(answer > fresh - KEYS / 1000 && answer < fresh + KEYS / 1000);
	uint64_t ones = 0;
	for (size_t i = 0; form == 1 && i < WEIR_BITMAP_WORDS(KEYS); i++)
		ones += (uint64_t)__builtin_popcountll(bitmap[i]);
	assert_true(form != 1 || ones == (uint64_t)answer);
	weir_destroy(f);
	return shim.what != NULL;
}

static void a_batch_does_without(void **state)
{
	(void)state;
	if (sysconf(_SC_LEVEL2_CACHE_SIZE) * 8 >= BYTES)
		skip();
	for (unsigned form = 0; form < 3; form++) {
		struct weir_filter *f = make(wanted, form ? 2 : 1);
		int64_t fresh = insert(f, form);
		assert_int_equal(found(f, form), KEYS);
		assert_int_equal(insert(f, form), 0); /* nothing is new the second time */
		weir_destroy(f);
		unsigned n = 1;
		while (n < MOST_CALLS && insert_failing_at(form, n, fresh))
			n++;
		assert_in_range(n, 2, MOST_CALLS - 1);
	}
}

static void a_load_says_so(void **state)
{
	struct weir_filter *f = make(memory, 2), *other = make(wanted, 2);
	(void)state;
	shim.calls = 0, shim.mapped = 0, shim.at = 1, shim.error = ENOMEM, shim.armed = true;
	assert_refused(weir_load_hashes(f, keys, KEYS), -ENOMEM, "no memory", "bytes");
	shim.at = 0;
	assert_memory_equal(memory, wanted, BYTES); /* nothing of it was loaded */
	assert_ok(weir_load_hashes(f, keys, 0));
	assert_memory_equal(memory, wanted, BYTES);
	assert_ok(weir_load_hashes(f, keys, KEYS));
	shim.armed = false;
	assert_int_equal(shim.mapped, 0);
	assert_int_equal(found(f, 0), KEYS);
	assert_ok(weir_insert_hashes(other, keys, KEYS, NULL));
	assert_memory_equal(memory, wanted, BYTES);
	weir_destroy(f), weir_destroy(other);
}

static _Noreturn void go_on_changing(volatile uint64_t *hashes)
{
	alarm(60); /* if its parent fails */
	for (uint64_t i = 0;; i++)
		hashes[test_key(i) % KEYS] ^= i << 40;
}

/* The hashes are memory that another process writes to meanwhile: between the pass that counts and
 * the one that places them they go to other parts. Which keys are in then is nobody's promise; what
 * lies behind the sorted hashes, and the next load, must be as they were. */
static void hashes_that_change_meanwhile(void **state)
{
	size_t bytes = KEYS * sizeof *keys;
	uint64_t *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	                        -1, 0);
	struct weir_filter *f = make(memory, 2);
	(void)state;
	assert_true(shared != MAP_FAILED);
	memcpy(shared, keys, bytes);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		go_on_changing(shared);
	for (unsigned round = 0; round < 12; round++) {
		uint64_t *answers = round % 4 == 1 ? bitmap : NULL;
		if (round % 2)
			assert_ok(weir_insert_hashes(f, shared, KEYS, answers));
		else
			assert_ok(weir_load_hashes(f, shared, KEYS));
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_ok(weir_load_hashes(f, keys, KEYS));
	assert_int_equal(weir_contains_hashes(f, keys, KEYS, NULL), KEYS);
	weir_destroy(f);
	munmap(shared, bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_does_without),
		cmocka_unit_test(a_load_says_so),
		cmocka_unit_test(hashes_that_change_meanwhile),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
