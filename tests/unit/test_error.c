/* SPDX-License-Identifier: MIT
 * Error names, texts, and the sentence that belongs to a thread. */
#include <errno.h>
#include <pthread.h>
#include "../test.h"

static void names_and_texts(void **state)
{
	(void)state;
	assert_string_equal(weir_error_name(-EINVAL), "EINVAL");
	assert_string_equal(weir_error_name(EINVAL), "EINVAL");
	assert_string_equal(weir_error_name(0), "OK");
	assert_string_equal(weir_strerror(0), "success");
	assert_string_equal(weir_strerror(-ENOMEM), "not enough memory");
	assert_string_equal(weir_strerror(ENOMEM), weir_strerror(-ENOMEM));
}

static void unknown_codes(void **state)
{
	static const int codes[] = { 9999, -9999, INT32_MIN, INT32_MAX, -ESRCH };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		assert_string_equal(weir_error_name(codes[i]), "E?");
		assert_string_equal(weir_strerror(codes[i]), "unknown error");
	}
}

/* Every code that a header promises or the system gives has a name and a text of its own. */
static void every_promised_code_is_known(void **state)
{
#define NAMED(code) { code, #code }
	static const struct {
		int code;
		const char *name;
	} codes[] = {
		NAMED(EINVAL),   NAMED(ENOMEM),    NAMED(ENOTSUP),   NAMED(EFBIG),
		NAMED(EROFS),    NAMED(EBADMSG),   NAMED(EBUSY),     NAMED(ECANCELED),
		NAMED(EDEADLK),  NAMED(ENOENT),    NAMED(EACCES),    NAMED(EPERM),
		NAMED(EEXIST),   NAMED(EISDIR),    NAMED(ENOTDIR),   NAMED(ENOSPC),
		NAMED(EDQUOT),   NAMED(EIO),       NAMED(EPIPE),     NAMED(EINTR),
		NAMED(EAGAIN),   NAMED(EBADF),     NAMED(EMFILE),    NAMED(ENFILE),
		NAMED(ENODEV),   NAMED(ENXIO),     NAMED(ELOOP),     NAMED(ENAMETOOLONG),
		NAMED(ESTALE),   NAMED(ETXTBSY),   NAMED(EOVERFLOW), NAMED(ECONNRESET),
		NAMED(ENOTCONN), NAMED(ETIMEDOUT), NAMED(ESPIPE),    NAMED(EXDEV),
		NAMED(EMLINK),   NAMED(EFAULT),    NAMED(ENOSYS),
		NAMED(EKEYREJECTED), NAMED(ECONNREFUSED), NAMED(EHOSTUNREACH),
		NAMED(ENETUNREACH),  NAMED(EPROTO),       NAMED(EMSGSIZE),
	};
#undef NAMED
	(void)state;
	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		assert_string_equal(weir_error_name(-codes[i].code), codes[i].name);
		assert_string_not_equal(weir_strerror(-codes[i].code), "unknown error");
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(weir_strerror(-codes[i].code),
			                        weir_strerror(-codes[j].code));
	}
}

static int fail_with_capacity(uint64_t capacity)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.capacity = capacity;
	params.fp_rate = 0.01;
	int err = weir_create(&f, &params);
	assert_true(err < 0);
	assert_null(f);
	return err;
}

static void *other_thread(void *arg)
{
	const char **seen = arg;
	seen[0] = strdup(weir_error_detail()); /* before any failure of its own */
	fail_with_capacity(UINT64_MAX);
	seen[1] = strdup(weir_error_detail());
	return NULL;
}

static void the_sentence_is_the_threads_own(void **state)
{
	const char *seen[2];
	pthread_t thread;
	char mine[512];
	(void)state;
	fail_with_capacity((UINT64_C(1) << 48) + 1);
	snprintf(mine, sizeof mine, "%s", weir_error_detail());
	assert_non_null(strstr(mine, "281474976710657"));
	assert_int_equal(pthread_create(&thread, NULL, other_thread, seen), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_string_equal(seen[0], "");
	assert_non_null(strstr(seen[1], "18446744073709551615"));
	assert_string_equal(weir_error_detail(), mine);
	free((void *)seen[0]);
	free((void *)seen[1]);
}

static void success_leaves_the_sentence(void **state)
{
	char before[512];
	(void)state;
	fail_with_capacity(UINT64_MAX);
	snprintf(before, sizeof before, "%s", weir_error_detail());
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 100, 0.01);
	assert_int_equal(weir_insert(f, "key", 3), WEIR_NEW);
	assert_string_equal(weir_error_detail(), before);
	weir_destroy(f);
}

/* Who stands on the library fails as it does. */
static void callers_fail_alike(void **state)
{
	char first[WEIR_SENTENCE_BYTES];
	(void)state;
	assert_int_equal(weir_fail(-ETIMEDOUT, "%s: no answer in %d ms", "a\x1b[2Jb", 250),
	                 -ETIMEDOUT);
	assert_string_equal(weir_error_detail(), "a\\033[2Jb: no answer in 250 ms");
	snprintf(first, sizeof first, "%s", weir_error_detail());
	assert_int_equal(weir_fail(-EIO, "%s, after 3 tries", weir_error_detail()), -EIO);
	assert_memory_equal(weir_error_detail(), first, strlen(first));
	assert_string_equal(weir_error_detail() + strlen(first), ", after 3 tries");
	assert_int_equal(weir_fail(-EIO, "%0*d", 2000, 7), -EIO);
	assert_int_equal(strlen(weir_error_detail()), WEIR_SENTENCE_BYTES - 1);
}

static void the_library_says_its_version(void **state)
{
	char version[64];
	(void)state;
	snprintf(version, sizeof version, "%d.%d.%d", WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR,
	         WEIR_VERSION_PATCH);
	assert_string_equal(version, WEIR_VERSION_STRING);
	assert_string_equal(weir_version(), WEIR_VERSION_STRING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_texts),
		cmocka_unit_test(unknown_codes),
		cmocka_unit_test(every_promised_code_is_known),
		cmocka_unit_test(the_sentence_is_the_threads_own),
		cmocka_unit_test(success_leaves_the_sentence),
		cmocka_unit_test(callers_fail_alike),
		cmocka_unit_test(the_library_says_its_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
