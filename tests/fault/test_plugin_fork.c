/* SPDX-License-Identifier: MIT
 * fork() in a program that loads weir as a plugin. liburcu's fork handlers must run exactly once.
 * weir calls them or, with TEST_OWN_URCU, the program registers them before it loads weir. Two
 * calls are a deadlock. Without a call the child waits for threads that it lacks. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "../test.h"
#ifdef TEST_OWN_URCU
#include <urcu/urcu-bp.h>
#endif

enum { FORKS = 3, DEADLINE = 60 };

#define VERBS(X) \
	X(weir_create) X(weir_handle_create) X(weir_handle_destroy) X(weir_handle_insert_hash) \
	X(weir_handle_contains_hash) X(weir_reload_begin) X(weir_reload_copy) X(weir_reload_commit)

#define POINTER(verb) static __typeof__(&verb) p_##verb;
VERBS(POINTER)

static struct weir_handle *h;
static void (*lock)(void), (*unlock)(void), (*barrier)(void);
static sem_t sits, ends;

static void *find(void *library, const char *name)
{
	void *found = dlsym(library, name);
	assert_non_null(found);
	return found;
}

static int setup(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	(void)state;
	void *weir = dlopen(WEIR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!weir)
		fail_msg("%s", dlerror());
#define FIND(verb) *(void **)&p_##verb = find(weir, #verb);
	VERBS(FIND)
	void *urcu = dlopen("liburcu-bp.so.8", RTLD_NOW | RTLD_NOLOAD);
	assert_non_null(urcu);
	*(void **)&lock = find(urcu, "urcu_bp_read_lock");
	*(void **)&unlock = find(urcu, "urcu_bp_read_unlock");
	*(void **)&barrier = find(urcu, "urcu_bp_barrier");
	params.capacity = 10000;
	params.fp_rate = 0.01;
	params.seed = 42;
	return p_weir_create(&f, &params) || p_weir_handle_create(&h, f, NULL);
}

/* A thread that stays in a read-side section while the process forks. */
static void *sit(void *argument)
{
	lock();
	sem_post(&sits);
	while (sem_wait(&ends))
		;
	unlock();
	return argument;
}

static int reload(bool defer_free)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	o.defer_free = defer_free;
	return p_weir_reload_begin(&r, h, &o) || p_weir_reload_copy(r, WEIR_ALL_SETS) ||
	       p_weir_reload_commit(r);
}

static int serve(uint64_t key)
{
	if (p_weir_handle_insert_hash(h, test_key(key)) < 0 || reload(false) || reload(true))
		return 1;
	return !p_weir_handle_contains_hash(h, test_key(key));
}

/* Return: the child's status. A child that hangs may have blocked every signal but SIGKILL. */
static int status_of(pid_t child)
{
	int status = 0;
	pid_t ended = 0;
	for (unsigned i = 0; !ended && i < 100 * DEADLINE; i++) {
		ended = waitpid(child, &status, WNOHANG);
		(void)usleep(10000);
	}
	if (ended)
		return status;
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_a_fork_in_a_plugins_program_does_not_hang(void **state)
{
	(void)state;
	sem_init(&sits, 0, 0);
	sem_init(&ends, 0, 0);
	for (unsigned i = 0; i < FORKS; i++) {
		pthread_t thread;
		assert_int_equal(serve(2 * i), 0); /* starts the thread of call_rcu */
		/* fork() waits for call_rcu's thread, which must not wait for this thread. */
		barrier();
		assert_int_equal(pthread_create(&thread, NULL, sit, NULL), 0);
		while (sem_wait(&sits))
			;
		alarm(DEADLINE); /* ends a fork that hangs */
		pid_t child = fork();
		assert_true(child >= 0);
		alarm(0);
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(serve(2 * i + 1) ? 1 : p_weir_handle_destroy(h) ? 2 : 0);
		}
		assert_int_equal(status_of(child), 0);
		sem_post(&ends);
		pthread_join(thread, NULL);
	}
	assert_int_equal(serve(2 * FORKS), 0);
	assert_int_equal(p_weir_handle_destroy(h), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fork_in_a_plugins_program_does_not_hang),
	};
#ifdef TEST_OWN_URCU
	(void)pthread_atfork(urcu_bp_before_fork, urcu_bp_after_fork_parent,
	                     urcu_bp_after_fork_child);
	(void)pthread_atfork(urcu_bp_call_rcu_before_fork, urcu_bp_call_rcu_after_fork_parent,
	                     urcu_bp_call_rcu_after_fork_child);
#endif
	return cmocka_run_group_tests(tests, setup, NULL);
}
