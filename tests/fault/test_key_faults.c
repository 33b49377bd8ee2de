/* SPDX-License-Identifier: MIT
 * The n-th system call fails while a key is read from its file, for every n. The whole key is read,
 * or an error text reports the failure and the caller's key is unchanged. No descriptor leaks. */
#include <errno.h>
#include "faults.h"

enum { MOST_CALLS = 50 };

static const char bytes[WEIR_SECRET_BYTES + 1] = "sixteen secrets!";
static unsigned char key[WEIR_SECRET_BYTES];

static int read_it(void)
{
	memset(key, 0x55, sizeof key);
	return weir_secret_read(key, path);
}

/* Return: true if the read of the key succeeds in spite of the error. The library retries an open
 * or a read after EINTR, and a read after EAGAIN. */
static bool is_retried(int error)
{
	const char *what = shim.what ? shim.what : "none";
	const bool reads = strstr(what, "read") != NULL, opens = strstr(what, "open") != NULL;
	return !shim.what || (error == EINTR && (reads || opens)) || (error == EAGAIN && reads);
}

static void every_call_fails(void **state)
{
	static const int errors[] = { EIO, EINTR, EAGAIN };
	unsigned char before[WEIR_SECRET_BYTES];
	(void)state;
	memset(before, 0x55, sizeof before);
	assert_true(image_spit(path, bytes, WEIR_SECRET_BYTES) && chmod(path, 0600) == 0);
	for (unsigned e = 0; e < COUNT_OF(errors); e++) {
		bool reached = true;
		unsigned n = 0;
		while (reached && ++n < MOST_CALLS) {
			const unsigned descriptors = open_descriptors();
			const int err = run_failing(read_it, n, errors[e], false);
			reached = shim.what != NULL;
			assert_true(err == (is_retried(errors[e]) ? 0 : -errors[e]));
			assert_true(!err || strstr(weir_error_detail(), path));
			assert_memory_equal(key, err ? (const void *)before : bytes, sizeof key);
			assert_int_equal(open_descriptors(), descriptors);
		}
		assert_in_range(n, 4, MOST_CALLS - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_fails),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
