/* SPDX-License-Identifier: MIT
 * A program that has liburcu-bp, and calls it before a fork() and after it as liburcu tells its
 * users, loads the library as a plugin. To call liburcu twice would be a deadlock, so the plugin
 * must leave it to the program. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <urcu/urcu-bp.h>
#include "../test.h"

enum { DEADLINE = 60 };

#define VERBS(X) X(weir_create) X(weir_handle_create) X(weir_handle_insert_u64) \
	X(weir_handle_contains_u64) X(weir_handle_destroy)
#define POINTER(verb) static __typeof__(&verb) plugin_##verb;
VERBS(POINTER)

static void load(void)
{
	void *library = dlopen(WEIR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
#define FIND(verb) \
	*(void **)&plugin_##verb = dlsym(library, #verb); \
	assert_non_null(plugin_##verb);
	VERBS(FIND)
}

static void test_does_a_plugin_call_liburcu_where_the_program_does(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	struct weir_handle *h;
	int status;
	(void)state;
	load();
	p.capacity = 1000, p.fp_rate = 0.01;
	assert_int_equal(plugin_weir_create(&f, &p), 0);
	assert_int_equal(plugin_weir_handle_create(&h, f, NULL), 0);
	assert_true(plugin_weir_handle_insert_u64(h, 1) >= 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(plugin_weir_handle_insert_u64(h, 2) < 0 ||
		      !plugin_weir_handle_contains_u64(h, 1) ||
		      !plugin_weir_handle_contains_u64(h, 2));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(plugin_weir_handle_contains_u64(h, 1) &&
	            !plugin_weir_handle_contains_u64(h, 2));
	assert_int_equal(plugin_weir_handle_destroy(h), 0);
}

/* liburcu blocks all signals before a fork: a deadlock there is ended by no alarm. */
static void *watch(void *unused)
{
	(void)unused;
	sleep(DEADLINE);
	fputs("still not forked\n", stderr);
	_exit(1);
}

int main(void)
{
	pthread_t watchdog;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_does_a_plugin_call_liburcu_where_the_program_does),
	};
	(void)pthread_atfork(urcu_bp_before_fork, urcu_bp_after_fork_parent,
	                     urcu_bp_after_fork_child);
	assert_int_equal(pthread_create(&watchdog, NULL, watch, NULL), 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
