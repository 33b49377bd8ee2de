/* SPDX-License-Identifier: MIT
 * Measures the stack of the functions that worker threads call. Servers have threads and coroutines
 * with stacks of 16 to 24 KiB. Most functions use at most 6 KiB, even for batches. Up to 7 KiB are
 * allowed for weir_fill_keys(), for batches of a layered filter, and for a cuckoo filter that moves
 * keys or gets batches. Up to 9 KiB are allowed for batches of texts, and for a handle of cuckoo
 * filters. The stack of an idle thread is subtracted. With another compiler or on another machine
 * the functions may use twice as much. */
#include <limits.h>
#include <sys/mman.h>
#include <weir/guard.h>
#include "../handles.h"
#include "../sharded.h"

#if defined(__x86_64__) && !defined(__clang__)
enum { TIMES = 1 };
#else
enum { TIMES = 2 };
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define OTHER_STACKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define OTHER_STACKS 1
#endif
#endif

enum { KEYS = 1024, MOST = 6144, MOST_OTHERS = 7168, MOST_TWICE = 9216 };
enum { STACK = 256 << 10, PAINT = 0xa5 };

static struct subject {
	struct weir_filter *f;
	struct weir_handle *h;
	struct weir_reload *r;
	struct weir_guard *g;
	uint64_t numbers[KEYS], bitmap[KEYS / 64], masks[KEYS];
	int64_t counts[KEYS];
	struct iovec texts[KEYS];
	char text[KEYS][24];
} s;

static struct weir_keys form(unsigned i)
{
	return i == 0 ? weir_keys_iov(s.texts, KEYS) :
	       i == 1 ? weir_keys_fixed(s.text[0], sizeof s.text[0], KEYS) :
	       i == 2 ? weir_keys_u64(s.numbers, KEYS) : weir_keys_hashes(s.numbers, KEYS);
}

#define EACH_FORM(call) \
	for (unsigned i = 0; i < 4; i++) { \
		const struct weir_keys keys = form(i); \
		(void)!(call); \
	}

/* Ignores the results, because a kind refuses functions that it does not support. */
static void single(void)
{
	for (unsigned i = 0; i < KEYS; i++) {
		const uint64_t number = s.numbers[i];
		const struct iovec *t = &s.texts[i];
		(void)!weir_insert(s.f, t->iov_base, t->iov_len);
		(void)!weir_insert_u64(s.f, number);
		(void)!weir_insert_hash(s.f, number);
		(void)weir_contains(s.f, t->iov_base, t->iov_len);
		(void)weir_contains_u64(s.f, number);
		(void)weir_contains_hash(s.f, number);
		(void)!weir_count(s.f, t->iov_base, t->iov_len);
		(void)weir_route(s.f, t->iov_base, t->iov_len);
		(void)weir_age(s.f, t->iov_base, t->iov_len);
		(void)!weir_remove(s.f, t->iov_base, t->iov_len);
		(void)!weir_insert_into(s.f, 0, t->iov_base, t->iov_len);
	}
}

static void batches(void)
{
	static uint64_t hashes[KEYS];
	EACH_FORM(weir_insert_keys(s.f, keys, s.bitmap));
	EACH_FORM(weir_contains_keys(s.f, keys, s.bitmap));
	EACH_FORM(weir_count_keys(s.f, keys, s.counts));
	EACH_FORM(weir_route_keys(s.f, keys, s.masks));
	EACH_FORM(weir_insert_into_keys(s.f, 0, keys, s.bitmap));
	EACH_FORM(weir_remove_keys(s.f, keys, s.bitmap));
	EACH_FORM((weir_hash_keys(s.f, keys, hashes), 0));
}

static void fill(void)
{
	EACH_FORM(weir_fill_keys(s.f, keys));
}

static void handle_verbs(void)
{
	for (unsigned i = 0; i < KEYS; i++) {
		const uint64_t number = s.numbers[i];
		const struct iovec *t = &s.texts[i];
		(void)!weir_handle_insert(s.h, t->iov_base, t->iov_len);
		(void)!weir_handle_insert_u64(s.h, number);
		(void)!weir_handle_insert_hash(s.h, number);
		(void)weir_handle_contains(s.h, t->iov_base, t->iov_len);
		(void)weir_handle_contains_hash(s.h, number);
		(void)!weir_handle_count(s.h, t->iov_base, t->iov_len);
		(void)weir_handle_route(s.h, t->iov_base, t->iov_len);
		(void)!weir_handle_remove(s.h, t->iov_base, t->iov_len);
	}
	EACH_FORM(weir_handle_insert_keys(s.h, keys, s.bitmap));
	EACH_FORM(weir_handle_contains_keys(s.h, keys, s.bitmap));
	EACH_FORM(weir_handle_count_keys(s.h, keys, s.counts));
	EACH_FORM(weir_handle_route_keys(s.h, keys, s.masks));
	EACH_FORM(weir_handle_remove_keys(s.h, keys, s.bitmap));
}

static void reload_verbs(void)
{
	EACH_FORM(weir_reload_insert_keys(s.r, keys, s.bitmap));
}

static void nothing(void) { }

/* ---- the measurement ---- */

static void *run(void *verbs)
{
	(*(void (**)(void))verbs)();
	return NULL;
}

/* Return: the number of stack bytes that were written. */
static size_t depth(void (*verbs)(void))
{
	pthread_t thread;
	pthread_attr_t attr;
	unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
	                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t untouched = 0;
	assert_true(stack != MAP_FAILED);
	memset(stack, PAINT, STACK);
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstack(&attr, stack, STACK), 0);
	assert_int_equal(pthread_create(&thread, &attr, run, &verbs), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	while (untouched < STACK && stack[untouched] == PAINT)
		untouched++;
	pthread_attr_destroy(&attr);
	munmap(stack, STACK);
	return STACK - untouched;
}

static void measure(const char *what, void (*verbs)(void), size_t most)
{
	/* The dynamic linker resolves a function at the function's first call, which uses more
	 * stack. So this thread makes the first calls before the measurement. */
	verbs();
	const size_t taken = depth(verbs) - depth(nothing);
	print_message("%-32s %5zu\n", what, taken);
	if (taken > TIMES * most)
		fail_msg("%s: %zu bytes of stack, %zu are the most", what, taken, TIMES * most);
}

/* Run the functions in a thread with a small stack. */
static void in_a_small_thread(void (*verbs)(void))
{
	pthread_t thread;
	pthread_attr_t attr;
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN + 8192), 0);
	assert_int_equal(pthread_create(&thread, &attr, run, &verbs), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attr);
}

static struct weir_params params_of(uint32_t kind)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = kind;
	p.capacity = 4 * KEYS;
	p.fp_rate = 0.01;
	return p;
}

static void make(const struct weir_params *p)
{
	if (weir_kind_can(p->kind, WEIR_CAN_BUILD))
		assert_ok(weir_build(&s.f, p, weir_keys_u64(s.numbers, KEYS), NULL));
	else
		assert_ok(weir_create(&s.f, p));
}

static const uint32_t kinds[] = { WEIR_BLOCKED, WEIR_CLASSIC, WEIR_COUNTING, WEIR_GROWING,
	                          WEIR_CUCKOO, WEIR_FUSE, WEIR_LAYERED, WEIR_SPLIT,
	                          WEIR_FREQUENCY, WEIR_ROUTER, WEIR_WINDOW };

static void stack_of_filter_functions(void **state)
{
	char what[64];
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		const struct weir_params p = params_of(kinds[k]);
		make(&p);
		snprintf(what, sizeof what, "%s, one key", weir_kind_name(kinds[k]));
		measure(what, single, MOST);
		snprintf(what, sizeof what, "%s, batches", weir_kind_name(kinds[k]));
		measure(what, batches, kinds[k] == WEIR_CUCKOO || kinds[k] == WEIR_LAYERED ?
		                       MOST_OTHERS : MOST);
		snprintf(what, sizeof what, "%s, fill", weir_kind_name(kinds[k]));
		measure(what, fill, MOST_OTHERS);
		in_a_small_thread(single);
		in_a_small_thread(batches);
		in_a_small_thread(fill);
		weir_destroy(s.f);
	}
}

static void stack_of_text_functions(void **state)
{
	static const uint32_t steps[] = { WEIR_TEXT_LOWERCASE, WEIR_TEXT_CIDR, WEIR_TEXT_SUFFIXES };
	char what[64];
	(void)state;
	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		struct weir_params p = params_of(WEIR_BLOCKED);
		p.text.steps = steps[i];
		make(&p);
		snprintf(what, sizeof what, "text steps 0x%x", steps[i]);
		measure(what, single, MOST);
		measure(what, batches, MOST_TWICE);
		in_a_small_thread(batches);
		weir_destroy(s.f);
	}
}

/* With more keys than fit, an insert searches for slots and moves other keys. */
static void stack_of_a_full_cuckoo_filter(void **state)
{
	struct weir_params p = params_of(WEIR_CUCKOO);
	(void)state;
	p.capacity = KEYS + KEYS / 2;
	make(&p);
	measure("cuckoo, full, one key", single, MOST_OTHERS);
	measure("cuckoo, full, batches", batches, MOST_OTHERS);
	in_a_small_thread(batches);
	weir_destroy(s.f);
}

static void stack_of_handle_functions(void **state)
{
	char what[64];
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		const struct weir_params p = params_of(kinds[k]);
		const size_t most = kinds[k] == WEIR_CUCKOO ? MOST_TWICE : MOST;
		if (weir_kind_can(kinds[k], WEIR_CAN_BUILD) ||
		    !weir_kind_can(kinds[k], WEIR_CAN_PUBLISH))
			continue;
		make(&p);
		assert_ok(weir_handle_create(&s.h, s.f, NULL));
		snprintf(what, sizeof what, "handle of %s", weir_kind_name(kinds[k]));
		measure(what, handle_verbs, most);
		assert_ok(weir_reload_begin(&s.r, s.h, NULL));
		snprintf(what, sizeof what, "handle of %s, reload", weir_kind_name(kinds[k]));
		measure(what, handle_verbs, most);
		snprintf(what, sizeof what, "reload of %s", weir_kind_name(kinds[k]));
		measure(what, reload_verbs, most);
		in_a_small_thread(handle_verbs);
		in_a_small_thread(reload_verbs);
		assert_ok(weir_reload_abort(s.r));
		assert_ok(weir_handle_destroy(s.h));
	}
}

static void stack_of_sharded_functions(void **state)
{
	const struct weir_params p = params_of(WEIR_BLOCKED);
	(void)state;
	assert_ok(sharded_create(&s.h, &p, 4, NULL));
	measure("sharded handle", handle_verbs, MOST);
	assert_ok(shard_begin(&s.r, s.h, 1, NULL));
	measure("sharded handle, reload", handle_verbs, MOST);
	measure("reload of a shard", reload_verbs, MOST);
	in_a_small_thread(handle_verbs);
	in_a_small_thread(reload_verbs);
	assert_ok(weir_reload_abort(s.r));
	assert_ok(weir_handle_destroy(s.h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_of_filter_functions),
		cmocka_unit_test(stack_of_text_functions),
		cmocka_unit_test(stack_of_a_full_cuckoo_filter),
		cmocka_unit_test(stack_of_handle_functions),
		cmocka_unit_test(stack_of_sharded_functions),
	};
#ifdef OTHER_STACKS
	(void)tests;
	return 77;
#else
	for (unsigned i = 0; i < KEYS; i++) {
		s.numbers[i] = test_key(i);
		snprintf(s.text[i], sizeof s.text[i], "x%u.b%u.example.org", i, i % 7);
		s.texts[i] = (struct iovec){ s.text[i], strlen(s.text[i]) };
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
