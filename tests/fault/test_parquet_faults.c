/* SPDX-License-Identifier: MIT
 * The n-th system call fails while a Parquet file is opened and a filter is read. An error text
 * reports the failure, and nothing leaks. A short or interrupted read continues. */
#include <errno.h>
#include <weir/parquet.h>
#include "faults.h"

enum { MOST_CALLS = 1000 };

/* Return: 0, or the error. */
static int use(void)
{
	struct weir_parquet *p = NULL;
	struct weir_filter *f = NULL;
	uint64_t hash;
	const int32_t first = -20000;
	int err = weir_parquet_open(&p, PARQUET_FILES "/numbers.parquet", NULL);
	assert_int_equal(err == 0, p != NULL);
	if (!err)
		err = weir_parquet_read(&f, p, 0, 0);
	assert_int_equal(err == 0, f != NULL);
	assert_ok(weir_parquet_hash(&hash, WEIR_PARQUET_INT32, &first, sizeof first));
	assert_true(!f || weir_contains_hash(f, hash));
	weir_parquet_close(p);
	weir_destroy(f);
	return err;
}

/* Open and read while the n-th system call fails. Return: false if there are fewer than n calls. */
static bool fail_at(unsigned n, int error)
{
	unsigned descriptors = open_descriptors();
	shim.at = n;
	shim.error = error;
	shim.calls = 0;
	shim.allocated = 0;
	shim.mapped = 0;
	shim.what = NULL;
	shim.armed = true;
	int answer = use();
	shim.armed = false;
	shim.at = 0;
	const char *what = shim.what ? shim.what : "none";
	if (answer < 0 && !*weir_error_detail())
		fail_msg("call %u (%s): answered %d without a sentence", n, what, answer);
	if (answer < 0 && answer != -error && answer != -ENOMEM)
		fail_msg("call %u (%s): answered %d, not %d", n, what, answer, -error);
	if (open_descriptors() != descriptors || shim.allocated || shim.mapped)
		fail_msg("call %u (%s): %u descriptors more, %ld allocations, %ld bytes mapped", n,
		         what, open_descriptors() - descriptors, shim.allocated, shim.mapped);
	/* Success is allowed if the call was interrupted, which weir retries, or if it was a
	 * close() of the clean-up. */
	assert_true(answer || error == EINTR || !shim.what || strcmp(shim.what, "close") == 0);
	return shim.what != NULL;
}

static void every_call_fails(void **state)
{
	static const int errors[] = { EIO, ENOMEM, EACCES, EINTR };
	(void)state;
	for (unsigned e = 0; e < COUNT_OF(errors); e++) {
		unsigned n = 1;
		while (n < MOST_CALLS && fail_at(n, errors[e]))
			n++;
		assert_in_range(n, 15, MOST_CALLS - 1);
	}
}

static void interrupted_and_short(void **state)
{
	(void)state;
	shim.trickle = shim.armed = true;
	int answer = use();
	shim.trickle = shim.armed = false;
	assert_ok(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_fails),
		cmocka_unit_test(interrupted_and_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
