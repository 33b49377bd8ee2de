/* SPDX-License-Identifier: MIT
 * Error names and texts, and the error message of each thread. */
#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include "../test.h"

static void known_codes_have_names_and_texts(void **state)
{
	(void)state;
	assert_string_equal(weir_error_name(-EINVAL), "EINVAL");
	assert_string_equal(weir_error_name(EINVAL), "EINVAL");
	assert_string_equal(weir_error_name(0), "OK");
	assert_string_equal(weir_strerror(0), "success");
	assert_string_equal(weir_strerror(-ENOMEM), "not enough memory");
	assert_string_equal(weir_strerror(ENOMEM), weir_strerror(-ENOMEM));
}

static void unknown_codes_have_a_text(void **state)
{
	static const int codes[] = { 9999, -9999, INT32_MIN, INT32_MAX, -ESRCH };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		assert_string_equal(weir_error_name(codes[i]), "E?");
		assert_string_equal(weir_strerror(codes[i]), "unknown error");
	}
}

/* The list has codes that a header promises and codes that system calls may return. */
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
		NAMED(EDOM),         NAMED(ENOBUFS),      NAMED(ENOLCK),
		NAMED(EINPROGRESS),  NAMED(ENODATA),
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

static const char *sources;

static bool is_known(const char *name)
{
	if (strcmp(name, "EOPNOTSUPP") == 0) /* equals ENOTSUP on Linux */
		return true;
	for (int code = 1; code < 4096; code++)
		if (strcmp(weir_error_name(code), name) == 0)
			return true;
	return false;
}

static void ask_line(const char *path, const char *line)
{
	char name[24];
	for (const char *at = line; (at = strstr(at, "-E")) != NULL; at += 2) {
		bool word = at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '-');
		size_t n = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		if (word || n < 4 || n >= sizeof name || isalnum((unsigned char)at[n + 1]) ||
		    at[n + 1] == '_')
			continue;
		memcpy(name, at + 1, n);
		name[n] = 0;
		if (!is_known(name))
			fail_msg("%s: weir_error_name() does not know %s", path, name);
	}
}

static unsigned files_asked;

static int ask_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const char *end = strrchr(path, '.');
	char line[1024];
	(void)st;
	(void)at;
	if (type != FTW_F || !end || (strcmp(end, ".c") && strcmp(end, ".h")))
		return 0;
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		ask_line(path, line);
	fclose(file);
	files_asked++;
	return 0;
}

/* Regression: the library returned EDOM, ENOBUFS and other codes without a name or a text. */
static void every_code_that_the_sources_return_is_known(void **state)
{
	(void)state;
	if (TEST_SANITIZED)
		/* other builds read the same sources; MemorySanitizer misses what nftw() writes */
		skip();
	assert_int_equal(nftw(sources, ask_file, 16, FTW_PHYS), 0);
	assert_true(files_asked > 100);
	assert_true(is_known("EDOM") && is_known("ENOLCK") && !is_known("ESRCH"));
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
	seen[0] = strdup(weir_error_detail()); /* before this thread's first failure */
	fail_with_capacity(UINT64_MAX);
	seen[1] = strdup(weir_error_detail());
	return NULL;
}

static void each_thread_has_its_own_message(void **state)
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

static void success_keeps_the_last_message(void **state)
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

static void callers_can_set_the_message(void **state)
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

static void the_library_reports_its_version(void **state)
{
	char version[64];
	(void)state;
	snprintf(version, sizeof version, "%d.%d.%d", WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR,
	         WEIR_VERSION_PATCH);
	assert_string_equal(version, WEIR_VERSION_STRING);
	assert_string_equal(weir_version(), WEIR_VERSION_STRING);
}

static void a_refusal_reports_check_field_and_values(void **state)
{
	enum { CHOICES = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 };
	static const struct {
		struct weir_params params;
		enum weir_error_code code;
		const char *thing;
		double values[4];
	} refused[] = {
		{ { .capacity = 1ull << 50, .fp_rate = 0.01 }, WEIR_ERROR_RANGE, "capacity",
		  { 0x1p50, 1, 0x1p48 } },
		{ { .capacity = 9, .fp_rate = 0.75 }, WEIR_ERROR_RANGE, "fp_rate",
		  { 0.75, 1e-9, 0.5 } },
		{ { .capacity = 9, .max_bytes = 63 }, WEIR_ERROR_RANGE, "max_bytes",
		  { 63, 64, 0x1p46 } },
		{ { .capacity = 9 }, WEIR_ERROR_TWO_OF_THREE, "capacity", { 9, 0, 0 } },
		{ { .capacity = 9, .fp_rate = 0.01, .classic.probes = 3 }, WEIR_ERROR_KIND_LACKS,
		  "classic.probes", { 3, WEIR_BLOCKED } },
		{ { .capacity = 9, .fp_rate = 0.01, .growing.max_capacity = 3 },
		  WEIR_ERROR_KIND_LACKS, "growing.max_capacity", { 3, WEIR_BLOCKED } },
		{ { .capacity = 9, .fp_rate = 0.01, .layered.exclude_keys = 3 },
		  WEIR_ERROR_KIND_LACKS, "layered.exclude_keys", { 3, WEIR_BLOCKED } },
		{ { .capacity = 9, .fp_rate = 0.01, .blocked.words_per_key = 3 },
		  WEIR_ERROR_CHOICE, "words_per_key", { 3, CHOICES } },
		{ { .capacity = 9, .fp_rate = 0.01, .blocked.words_per_key = 8,
		    .blocked.bits_per_word = 99 },
		  WEIR_ERROR_RANGE, "bits_per_word", { 99, 1, 2 } },
		{ { .kind = WEIR_CLASSIC, .capacity = 9, .fp_rate = 0.01, .classic.probes = 33 },
		  WEIR_ERROR_RANGE, "probes", { 33, 1, 32 } },
		{ { .kind = WEIR_COUNTING, .capacity = 9, .fp_rate = 0.01,
		    .counting.counter_bits = 3 },
		  WEIR_ERROR_CHOICE, "counter_bits", { 3, 1 << 4 | 1 << 8 | 1 << 16 } },
		{ { .kind = WEIR_CUCKOO, .capacity = 9, .fp_rate = 0.01,
		    .cuckoo.fingerprint_bits = 3 },
		  WEIR_ERROR_CHOICE, "fingerprint_bits", { 3, 1 << 12 | 1 << 16 } },
		{ { .kind = WEIR_FUSE, .capacity = 9, .fp_rate = 0.01,
		    .fuse.fingerprint_bits = 33 },
		  WEIR_ERROR_RANGE, "fingerprint_bits", { 33, 1, 32 } },
		/* kinds that are built once; the caller sets two or all three of capacity, fp_rate
		 * and max_bytes */
		{ { .kind = WEIR_FUSE, .capacity = 1ull << 46, .fp_rate = 0.01 },
		  WEIR_ERROR_TOO_LARGE, "capacity", { 0x1p46, 0.01, 79716740497408, 0x1p46 } },
		{ { .kind = WEIR_FUSE, .capacity = 1000000, .fp_rate = 0.01, .max_bytes = 1000 },
		  WEIR_ERROR_TOO_LARGE, "capacity", { 1000000, 0.01, 1131520, 1000 } },
		{ { .kind = WEIR_FUSE, .capacity = 1000000, .max_bytes = 1000 },
		  WEIR_ERROR_WIDTH_BYTES, "max_bytes", { 1000, 1000000, 1 } },
		{ { .kind = WEIR_FUSE, .max_bytes = 1 << 20, .fp_rate = 0.001,
		    .fuse.fingerprint_bits = 4 },
		  WEIR_ERROR_WIDTH, "fingerprint_bits", { 4, 0.0625, 0.001 } },
		{ { .kind = WEIR_LAYERED, .capacity = 1ull << 47, .fp_rate = 0.1 },
		  WEIR_ERROR_LISTS_LARGE, "capacity", { 0x1p47, 0, 79723182948352, 0x1p46 } },
		{ { .kind = WEIR_LAYERED, .capacity = 1000000, .fp_rate = 0.01,
		    .max_bytes = 1000 },
		  WEIR_ERROR_LISTS_LARGE, "capacity", { 1000000, 0, 989696, 1000 } },
		{ { .kind = WEIR_LAYERED, .capacity = 1000000, .max_bytes = 1000 },
		  WEIR_ERROR_WIDTH_BYTES, "max_bytes", { 1000, 1000000, 1 } },
		{ { .kind = WEIR_LAYERED, .max_bytes = 64, .fp_rate = 1e-9 },
		  WEIR_ERROR_ONE_KEY, "max_bytes", { 64, 1e-9 } },
		{ { .kind = WEIR_LAYERED, .capacity = 1000, .fp_rate = 0.001,
		    .layered.fingerprint_bits = 4 },
		  WEIR_ERROR_WIDTH, "fingerprint_bits", { 4, 0.03125, 0.001 } },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(refused); i++) {
		struct weir_params params = refused[i].params;
		struct weir_plan plan = WEIR_PLAN_INIT;
		struct weir_error_info info = WEIR_ERROR_INFO_INIT;
		params.struct_size = sizeof params;
		const int err = weir_plan_make(&params, &plan);
		weir_error_last(&info);
		assert_int_equal(info.struct_size, sizeof info);
		const bool too_large = refused[i].code == WEIR_ERROR_TOO_LARGE ||
		                       refused[i].code == WEIR_ERROR_LISTS_LARGE ||
		                       refused[i].code == WEIR_ERROR_WIDTH_BYTES;
		assert_int_equal(err, too_large ? -EFBIG : -EINVAL);
		assert_int_equal(info.err, err);
		assert_int_equal(info.code, refused[i].code);
		assert_string_equal(info.thing, refused[i].thing);
		for (unsigned v = 0; v < 4; v++)
			assert_true(info.values[v] >= refused[i].values[v] &&
			            info.values[v] <= refused[i].values[v]);
		/* the error message begins with the same field */
		assert_memory_equal(weir_error_detail(), info.thing, strlen(info.thing));
	}
}

/* In an older caller's struct, weir_error_last() fills only the fields that exist. */
static void the_last_failure_replaces_the_numbers(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_error_info info = WEIR_ERROR_INFO_INIT;
	(void)state;
	params.capacity = 1000000;
	params.fp_rate = 0.01;
	params.max_bytes = 65536;
	assert_int_equal(weir_plan_make(&params, &plan), -EFBIG);
	info.struct_size = offsetof(struct weir_error_info, thing);
	weir_error_last(&info);
	assert_int_equal(info.struct_size, offsetof(struct weir_error_info, thing));
	assert_true(info.err == -EFBIG && info.code == WEIR_ERROR_TOO_LARGE && !info.thing);
	info.struct_size = sizeof info;
	weir_error_last(&info);
	assert_true(info.values[0] >= 1e6 && info.values[0] <= 1e6 && info.values[2] > 65536 &&
	            info.values[3] <= 65536 && info.values[3] >= 65536);
	assert_int_equal(weir_fail(-EIO, "something else"), -EIO);
	weir_error_last(&info);
	assert_true(info.err == -EIO && info.code == WEIR_ERROR_OTHER && !info.thing);
	/* every version of the header has a larger struct, so the call writes nothing */
	info.struct_size = sizeof info.struct_size - 1;
	(void)weir_fail(-EINVAL, "another thing");
	weir_error_last(&info);
	assert_int_equal(info.err, -EIO);
}

/* ---- a struct_size that no version of the header has, and a file that cannot be opened ---- */

static struct weir_filter *filter;

static int by_handle(size_t size)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_params params = { .struct_size = sizeof params };
	struct weir_handle *h = NULL;
	o.params = &params; /* some sizes end within this pointer */
	o.struct_size = size;
	int err = weir_handle_create(&h, NULL, &o);
	assert_null(h);
	return err;
}

static int by_params(size_t size)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.struct_size = size;
	int err = weir_create(&f, &p);
	assert_null(f);
	return err;
}

static int by_save(size_t size)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.struct_size = size;
	return (int)weir_save(filter, weir_location_room(NULL, 0), &o);
}

static int by_load(size_t size)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	o.struct_size = size;
	return weir_load(&f, weir_location_memory("", 1), &o);
}

static int by_stats(size_t size)
{
	struct weir_stats s = WEIR_STATS_INIT;
	s.struct_size = size;
	return weir_measure(filter, WEIR_SAMPLED, &s);
}

static int by_plan(size_t size)
{
	struct weir_params p = { .struct_size = sizeof p, .capacity = 1, .fp_rate = 0.5 };
	struct weir_plan plan = WEIR_PLAN_INIT;
	plan.struct_size = size;
	return weir_plan_make(&p, &plan);
}

/* If a size ended within a pointer, the library would use half of the caller's pointer. */
static void a_size_that_ends_within_a_field_is_refused(void **state)
{
	static const struct {
		int (*call)(size_t size);
		size_t most;
	} sized[] = {
		{ by_handle, sizeof(struct weir_handle_options) },
		{ by_params, sizeof(struct weir_params) },
		{ by_save, sizeof(struct weir_save_options) },
		{ by_load, sizeof(struct weir_load_options) },
		{ by_stats, sizeof(struct weir_stats) },
		{ by_plan, sizeof(struct weir_plan) },
	};
	struct weir_error_info info = WEIR_ERROR_INFO_INIT;
	char value[64];
	(void)state;
	filter = test_filter(WEIR_BLOCKED, 100, 0.01);
	for (size_t i = 0; i < COUNT_OF(sized); i++)
		for (size_t size = sizeof size; size < sized[i].most; size++) {
			snprintf(value, sizeof value, "struct_size %zu:", size);
			if (size % sizeof(void *))
				assert_refused(sized[i].call(size), -EINVAL, value, "_INIT");
		}
	weir_destroy(filter);
	(void)weir_fail(-EIO, "a failure");
	info.struct_size = offsetof(struct weir_error_info, thing) + 4;
	weir_error_last(&info);
	assert_int_equal(info.err, 0); /* nothing was written */
}

/* The code lets a front end choose a remedy without parsing the error message. */
static void a_file_that_cannot_be_opened_has_a_code(void **state)
{
	struct weir_error_info info = WEIR_ERROR_INFO_INIT;
	struct weir_filter *f = NULL;
	unsigned char key[WEIR_SECRET_BYTES];
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(i ? weir_secret_read(key, "/no/such/file") :
		                     weir_load(&f, weir_location_path("/no/such/file"), NULL),
		                 -ENOENT);
		weir_error_last(&info);
		assert_int_equal(info.err, -ENOENT);
		assert_int_equal(info.code, WEIR_ERROR_OPEN);
		assert_string_equal(info.thing, "errno");
		assert_true(info.values[0] > ENOENT - 0.5 && info.values[0] < ENOENT + 0.5);
		assert_non_null(strstr(weir_error_detail(), "/no/such/file: cannot open it: "));
		(void)weir_fail(-EIO, "something else");
	}
}

int main(int argc, char **argv)
{
	sources = argc > 1 ? argv[1] : "src";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_codes_have_names_and_texts),
		cmocka_unit_test(unknown_codes_have_a_text),
		cmocka_unit_test(every_promised_code_is_known),
		cmocka_unit_test(every_code_that_the_sources_return_is_known),
		cmocka_unit_test(each_thread_has_its_own_message),
		cmocka_unit_test(success_keeps_the_last_message),
		cmocka_unit_test(callers_can_set_the_message),
		cmocka_unit_test(a_refusal_reports_check_field_and_values),
		cmocka_unit_test(the_last_failure_replaces_the_numbers),
		cmocka_unit_test(a_size_that_ends_within_a_field_is_refused),
		cmocka_unit_test(a_file_that_cannot_be_opened_has_a_code),
		cmocka_unit_test(the_library_reports_its_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
