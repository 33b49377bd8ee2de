/* SPDX-License-Identifier: MIT
 * Builders: keys from several threads, duplicates, keys that exceed the memory limit, and
 * errors. */
#include <errno.h>
#include <pthread.h>
#include "../folder.h"
#include "../test.h"

enum { KEYS = 300000, THREADS = 4 };

static struct weir_params params(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = WEIR_FUSE;
	p.fp_rate = 0.004;
	return p;
}

static struct weir_builder *begun(const struct weir_params *p,
                                  const struct weir_builder_options *o)
{
	struct weir_builder *b = NULL;
	assert_ok(weir_builder_create(&b, p, o));
	assert_non_null(b);
	return b;
}

static struct weir_filter *finished(struct weir_builder *b, struct weir_build_report *report)
{
	struct weir_filter *f = NULL;
	assert_ok(weir_builder_finish(&f, b, report));
	assert_non_null(f);
	weir_builder_destroy(b);
	return f;
}

static void assert_has(const struct weir_filter *f, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		assert_true(weir_contains_u64(f, test_key(i)));
}

struct adder {
	struct weir_builder *b;
	unsigned number;
};

/* Two threads add each key, in two different forms. The form depends on the numbers of the key and
 * of the thread. */
static void *add(void *arg)
{
	const struct adder *a = arg;
	for (uint64_t i = a->number / 2; i < KEYS; i += THREADS / 2) {
		const uint64_t key = test_key(i), hash = weir_builder_hash(a->b, &key, 8);
		const struct iovec whole = { (void *)(uintptr_t)&key, 8 };
		switch ((i + a->number) % 6) {
		case 0: assert_ok(weir_builder_add(a->b, &key, 8)); break;
		case 1: assert_ok(weir_builder_add_u64(a->b, key)); break;
		case 2: assert_ok(weir_builder_add_hash(a->b, hash)); break;
		case 3:
			assert_ok(weir_builder_add_keys(a->b, weir_keys_hashes(&hash, 1)));
			break;
		case 4:
			assert_ok(weir_builder_add_keys(a->b, weir_keys_iov(&whole, 1)));
			break;
		default:
			assert_ok(weir_builder_add_keys(a->b, weir_keys_u64(&key, 1)));
		}
	}
	return NULL;
}

static struct weir_filter *by_threads(const struct weir_builder_options *o,
                                      struct weir_build_report *report)
{
	const struct weir_params p = params();
	struct adder adder[THREADS];
	pthread_t thread[THREADS];
	struct weir_builder *b = begun(&p, o);
	for (unsigned i = 0; i < THREADS; i++) {
		adder[i] = (struct adder){ b, i };
		assert_int_equal(pthread_create(&thread[i], NULL, add, &adder[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return finished(b, report);
}

static void a_thread_spills_what_idle_threads_have_buffered(void **state)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report report = WEIR_BUILD_REPORT_INIT;
	(void)state;
	o.max_memory = 63 << 20;
	o.spill_folder = folder;
	const struct weir_params p = params();
	struct weir_builder *b = begun(&p, &o);
	pthread_t thread[THREADS];
	struct adder adder[THREADS];
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < THREADS; i++) {
			adder[i] = (struct adder){ b, i };
			assert_int_equal(pthread_create(&thread[i], NULL, add, &adder[i]), 0);
		}
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
	}
	struct weir_filter *f = finished(b, &report);
	assert_has(f, KEYS);
	assert_true(report.added == 6 * KEYS && report.keys == KEYS);
	assert_true(report.spilled_bytes > 0);
	weir_destroy(f);
}

static void from_several_threads(void **state)
{
	(void)state;
	for (uint32_t threads = 0; threads <= 3; threads++) {
		struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
		struct weir_build_report report = WEIR_BUILD_REPORT_INIT;
		o.threads = threads;
		struct weir_filter *f = by_threads(&o, &report);
		assert_has(f, KEYS);
		assert_true(report.added == 2 * KEYS && report.keys == KEYS);
		assert_true(report.spilled_bytes == 0 && report.sort_seconds > 0 &&
		            report.build_seconds > 0);
		weir_destroy(f);
	}
}

static void a_call_with_more_keys_than_are_hashed_at_once(void **state)
{
	enum { MANY = 1000 };
	static uint64_t keys[MANY];
	static struct iovec vectors[MANY];
	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		keys[i] = test_key(i);
		vectors[i] = (struct iovec){ &keys[i], 8 };
	}
	for (int fixed = 0; fixed < 2; fixed++) {
		struct weir_build_report report = WEIR_BUILD_REPORT_INIT;
		const struct weir_params p = params();
		struct weir_builder *b = begun(&p, NULL);
		assert_ok(fixed ? weir_builder_add_keys(b, weir_keys_u64(keys, MANY)) :
		                  weir_builder_add_keys(b, weir_keys_iov(vectors, MANY)));
		struct weir_filter *f = finished(b, &report);
		assert_true(report.added == MANY && report.keys == MANY);
		assert_has(f, MANY);
		weir_destroy(f);
	}
}

/* The keys go to an unnamed file in spill_folder. */
static void keys_beyond_max_memory_are_spilled(void **state)
{
	enum { MORE = 3000000 };
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report report = WEIR_BUILD_REPORT_INIT;
	struct weir_params p = params();
	struct weir_filter *f = NULL;
	(void)state;
	o.max_memory = 63 << 20; /* the minimum for one thread, plus some MiB for hashes */
	struct weir_builder *b = begun(&p, &o);
	int err = 0;
	for (uint64_t i = 0; i < MORE && !err; i++)
		err = weir_builder_add_u64(b, test_key(i));
	assert_refused(err, -EFBIG, "max_memory", "spill_folder");
	assert_refused(weir_builder_add_u64(b, 1), -EFBIG, "an earlier call has failed", "");
	assert_refused(weir_builder_finish(&f, b, NULL), -EFBIG, "an earlier call has failed", "");
	weir_builder_destroy(b);
	o.spill_folder = folder;
	b = begun(&p, &o);
	for (uint64_t i = 0; i < MORE; i++)
		assert_ok(weir_builder_add_u64(b, test_key(i / 2)));
	f = finished(b, &report);
	assert_has(f, MORE / 2);
	assert_true(report.added == MORE && report.keys == MORE / 2);
	assert_true(report.spilled_bytes > 8 * MORE / 4);
	weir_destroy(f);
	o.spill_folder = "/nowhere";
	b = begun(&p, &o);
	err = 0;
	for (uint64_t i = 0; i < MORE && !err; i++)
		err = weir_builder_add_u64(b, test_key(i));
	assert_refused(err, -ENOENT, "spill_folder /nowhere", "no such file");
	weir_builder_destroy(b);
}

enum { ADDED = 2000000 };
static uint64_t added;

/* This function takes no address of a local variable, because AddressSanitizer would put red zones
 * around the variable. A cancelled thread would leave the red zones on its stack, and
 * AddressSanitizer would report an error. */
static void *add_cancelled(void *builder)
{
	static const uint64_t hash = 1;
	pthread_cancel(pthread_self());
	for (added = 0; added < ADDED; added++) /* some of these calls write to the file */
		assert_ok(weir_builder_add_keys(builder, weir_keys_hashes(&hash, 1)));
	pthread_testcancel();
	return NULL;
}

/* If a cancelled thread stopped within a write, it would never release its lock. */
static void a_cancelled_thread_finishes_its_write(void **state)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report report = WEIR_BUILD_REPORT_INIT;
	const struct weir_params p = params();
	pthread_t thread;
	void *result = NULL;
	(void)state;
	o.max_memory = 63 << 20;
	o.spill_folder = folder;
	struct weir_builder *b = begun(&p, &o);
	assert_int_equal(pthread_create(&thread, NULL, add_cancelled, b), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_true(result == PTHREAD_CANCELED && added == ADDED);
	struct weir_filter *f = finished(b, &report);
	assert_true(report.added == ADDED && report.keys == 1 && report.spilled_bytes > 0);
	weir_destroy(f);
}

static void builders_hash_with_the_secret_or_seed(void **state)
{
	struct weir_params p = params();
	(void)state;
	for (int keyed = 0; keyed < 2; keyed++) {
		p.secret = keyed ? "sixteen secrets!" : NULL;
		struct weir_builder *b = begun(&p, NULL);
		const uint64_t hash = weir_builder_hash(b, "one", 3), number = 77;
		uint64_t batch;
		weir_builder_hash_keys(b, weir_keys_u64(&number, 1), &batch);
		assert_true(batch == weir_builder_hash(b, &number, 8));
		assert_ok(weir_builder_add(b, "one", 3));
		struct weir_filter *f = finished(b, NULL);
		assert_int_equal(weir_hash(f, "one", 3), hash);
		assert_true(weir_contains(f, "one", 3));
		weir_destroy(f);
	}
	p.secret = NULL;
	p.seed = 11;
	struct weir_builder *b = begun(&p, NULL);
	assert_int_equal(weir_builder_hash(b, "one", 3), weir_hash_seeded(11, "one", 3));
	struct weir_filter *f = finished(b, NULL);
	assert_int_equal(weir_hash(f, "one", 3), weir_hash_seeded(11, "one", 3));
	weir_destroy(f);
}

static uint64_t last_done, stop_at;

static int progress(void *arg, uint64_t done, uint64_t total)
{
	assert_true(arg == &last_done && done >= last_done && done <= total);
	last_done = done;
	if (done >= stop_at)
		usleep(20000); /* so that other threads wait for the lock */
	return done >= stop_at;
}

static void progress_can_stop_a_build(void **state)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	const struct weir_params p = params();
	struct weir_filter *f = NULL;
	(void)state;
	o.progress = progress;
	o.progress_arg = &last_done;
	for (unsigned stop = 0; stop < 6; stop++) {
		/* a thread that stops must let the other threads finish */
		o.threads = 1 + stop / 3 * 2;
		struct weir_builder *b = begun(&p, &o);
		stop_at = stop % 3 == 0 ? UINT64_MAX : stop % 3 == 1 ? 1 : 20000;
		last_done = 0;
		for (uint64_t i = 0; i < 10000; i++)
			assert_ok(weir_builder_add_u64(b, test_key(i)));
		int err = weir_builder_finish(&f, b, NULL);
		assert_int_equal(err, stop % 3 ? -ECANCELED : 0);
		assert_true(stop % 3 == 0 || strstr(weir_error_detail(), "of 20000 hashes"));
		assert_true(stop % 3 != 0 || last_done == 20000);
		weir_builder_destroy(b);
		weir_destroy(f);
		f = NULL;
	}
}

static void wrong_arguments_are_refused(void **state)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report report = WEIR_BUILD_REPORT_INIT;
	struct weir_params p = params();
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
	(void)state;
	assert_refused(weir_builder_create(NULL, &p, NULL), -EINVAL, "out is NULL", "");
	assert_refused(weir_builder_create(&b, NULL, NULL), -EINVAL, "weir_params is NULL", "");
	p.kind = WEIR_BLOCKED;
	assert_refused(weir_builder_create(&b, &p, NULL), -ENOTSUP, "kind blocked", "be built");
	p.kind = WEIR_WINDOW;
	assert_refused(weir_builder_create(&b, &p, NULL), -ENOTSUP, "kind window", "be built");
	/* errors that do not depend on the number of keys are reported before any key is added */
	p = params();
	p.fuse.fingerprint_bits = 33;
	assert_refused(weir_builder_create(&b, &p, NULL), -EINVAL, "fingerprint_bits 33", "32");
	p.fuse.fingerprint_bits = 2;
	assert_refused(weir_builder_create(&b, &p, NULL), -EINVAL, "fingerprint_bits 2", "fp_rate");
	p = params();
	p.fp_rate = 0;
	assert_refused(weir_builder_create(&b, &p, NULL), -EINVAL, "fp_rate 0, max_bytes 0",
	               "as many keys as come");
	p = params();
	o.threads = 1025;
	assert_refused(weir_builder_create(&b, &p, &o), -EINVAL, "threads 1025", "1 to 1024");
	o.threads = 2;
	o.max_memory = 64 << 20;
	assert_refused(weir_builder_create(&b, &p, &o), -EINVAL, "max_memory 67108864",
	               "2 threads");
	o.struct_size = 1;
	assert_refused(weir_builder_create(&b, &p, &o), -EINVAL, "weir_builder_options", "1");
	assert_null(b);
	b = begun(&p, NULL);
	assert_refused(weir_builder_finish(NULL, b, NULL), -EINVAL, "out is NULL", "");
	report.struct_size = 1;
	assert_refused(weir_builder_finish(&f, b, &report), -EINVAL, "weir_build_report", "1");
	assert_ok(weir_builder_add(b, "one", 3));
	assert_ok(weir_builder_finish(&f, b, NULL));
	assert_refused(weir_builder_add(b, "two", 3), -EINVAL, "was finished", "");
	struct weir_filter *second = NULL;
	assert_refused(weir_builder_finish(&second, b, NULL), -EINVAL, "was finished", "");
	weir_destroy(f);
	weir_builder_destroy(b);
	weir_builder_destroy(NULL);
	const uint64_t hashes[] = { 1, 2, 3 }; /* the hashes come from an unknown seed */
	assert_refused(weir_build(&second, &p, weir_keys_hashes(hashes, 3), NULL), -EINVAL,
	               "seed 0", "made with");
	assert_null(second);
	assert_true(weir_kind_can(WEIR_FUSE, WEIR_CAN_BUILD) &&
	            !weir_kind_can(WEIR_BLOCKED, WEIR_CAN_BUILD) &&
	            !weir_kind_can(77, WEIR_CAN_BUILD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_several_threads),
		cmocka_unit_test(a_call_with_more_keys_than_are_hashed_at_once),
		cmocka_unit_test(keys_beyond_max_memory_are_spilled),
		cmocka_unit_test(a_thread_spills_what_idle_threads_have_buffered),
		cmocka_unit_test(a_cancelled_thread_finishes_its_write),
		cmocka_unit_test(builders_hash_with_the_secret_or_seed),
		cmocka_unit_test(progress_can_stop_a_build),
		cmocka_unit_test(wrong_arguments_are_refused),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
