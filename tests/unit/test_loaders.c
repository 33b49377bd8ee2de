/* SPDX-License-Identifier: MIT
 * weir_fill_keys() while another thread owns a partition that the loader needs ([OWNED-PART],
 * [OWNER-MARK] to [OWNER-NEVER-WAITS]). The loader sleeps, whatever its scheduling priority. It
 * takes over a partition whose owner is no longer in this process. The test plays the other thread
 * and sets the owner marks itself. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include "../cpus.h"
#include "../futex_call.h"
#include "../no_memory.h"
#include "../test.h"
#include "kind/kind.h"
#include "ground/threads.h"

enum { KEYS = 200, DEADLINE = 60 };
static const double settle_seconds = 0.2, own_seconds = 1; /* seconds */

static struct weir_filter *filter;
static bool futex_refused;
static atomic_uint refused;       /* refused futex calls */
static size_t keys;               /* number of keys in each load, at most KEYS */
static uint32_t first_owned;      /* the test owns all partitions from this index on */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	va_list more;
	va_start(more, number);
	struct futex_call call = futex_call_take(more);
	va_end(more);
	if (!futex_refused)
		return __real_syscall(number, call.at, call.operation, call.value, NULL,
		                      NULL, 0);
	atomic_fetch_add(&refused, 1);
	errno = ENOSYS;
	return -1;
}

static void take_all(void)
{
	assert_ok(weir__owners_begin());
	for (uint32_t p = 0; p < filter->parts; p++)
		assert_true(weir__owner_take(&filter->owners[p]));
}

static int setup_unowned(void **state)
{
	(void)state;
	futex_refused = no_memory = false;
	refused = 0;
	filter = test_filter(WEIR_BLOCKED, 4000000, 0.01);
	assert_true(filter->parts > 1);
	first_owned = 0;
	asked_for_memory = 0;
	keys = KEYS;
	alarm(DEADLINE); /* fail instead of hanging */
	return 0;
}

static int setup(void **state)
{
	(void)setup_unowned(state);
	take_all();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	alarm(0);
	weir_destroy(filter);
	return 0;
}

static void drop_until(uint32_t end)
{
	for (; first_owned < end; first_owned++)
		weir__owner_drop(&filter->owners[first_owned]);
}

static bool load(void)
{
	uint64_t hashes[KEYS];
	for (uint64_t i = 0; i < KEYS; i++)
		hashes[i] = test_key(i);
	return weir_fill_keys(filter, weir_keys_hashes(hashes, keys)) == 0 &&
	       weir_contains_keys(filter, weir_keys_hashes(hashes, keys), NULL) == (int64_t)keys;
}

static void *loader(void *begun)
{
	sem_post(begun);
	return load() ? begun : NULL;
}

static double seconds_of(clockid_t clock)
{
	struct timespec t;
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Return: seconds of processor time that @thread uses while it waits for the partitions, which the
 * test owns. */
static double waited(pthread_t thread)
{
	clockid_t clock;
	assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
	usleep((useconds_t)(settle_seconds * 1e6));
	double before = seconds_of(clock);
	usleep((useconds_t)(own_seconds * 1e6));
	return seconds_of(clock) - before;
}

/* Load all keys in a second thread while the test owns the partitions.
 * @attributes: NULL for the default. Return: the error of pthread_create(). */
static int load_while_owned(const pthread_attr_t *attributes, bool cancel)
{
	pthread_t thread;
	sem_t begun;
	void *answer;
	sem_init(&begun, 0, 0);
	int error = pthread_create(&thread, attributes, loader, &begun);
	if (error)
		return error;
	while (sem_wait(&begun))
		;
	double taken = waited(thread);
	if (cancel)
		assert_int_equal(pthread_cancel(thread), 0);
	drop_until(filter->parts);
	assert_int_equal(pthread_join(thread, &answer), 0);
	assert_ptr_equal(answer, &begun); /* the loader has loaded all keys */
	/* a thousand short sleeps use some processor time */
	if (taken > (futex_refused ? 0.5 : 0.05))
		fail_msg("a loader that waited %.1f s took %.3f s of the processor", own_seconds,
		         taken);
	for (uint32_t p = 0; p < filter->parts; p++)
		assert_int_equal(filter->owners[p].mark, 0);
	return 0;
}

/* The loader collects the keys of all partitions first, so it loads free partitions without
 * waiting. */
static void test_a_waiting_loader_sleeps(void **state)
{
	(void)state;
	assert_int_equal(load_while_owned(NULL, false), 0);
	assert_int_equal(asked_for_memory, 1);
}

/* Even a loader of a single key collects the key, and then waits for the key's partition. */
static void test_a_loader_of_one_key_sleeps(void **state)
{
	(void)state;
	keys = 1;
	assert_int_equal(load_while_owned(NULL, false), 0);
}

/* Without memory the loader cannot collect hashes. It loads the keys of the free partitions, and
 * waits for the last partition, which the test owns. */
static void test_a_loader_without_memory_sleeps(void **state)
{
	(void)state;
	no_memory = true;
	drop_until(filter->parts - 1);
	assert_int_equal(load_while_owned(NULL, false), 0);
}

static void test_without_futex_a_loader_sleeps_in_steps(void **state)
{
	(void)state;
	futex_refused = true;
	assert_int_equal(load_while_owned(NULL, false), 0);
	/* The loader sleeps once per millisecond while the test owns the first partition, and
	 * sometimes for a later partition. Each sleep follows a refused call. We count the calls,
	 * because on a busy machine a loader that spins may also get little processor time. */
	assert_in_range(refused, 1, 10000);
}

/* No other thread would release the partitions of a loader that stops. */
static void test_a_cancelled_loader_finishes(void **state)
{
	(void)state;
	futex_refused = true; /* the loader waits at a cancellation point */
	assert_int_equal(load_while_owned(NULL, true), 0);
}

/* On a single processor, a SCHED_FIFO thread that does not sleep keeps ordinary threads from
 * running. */
static void test_a_fifo_loader_lets_ordinary_threads_run(void **state)
{
	const struct sched_param first = { .sched_priority = 1 };
	cpu_set_t all;
	pthread_attr_t a;
	(void)state;
	on_one_cpu(&all);
	pthread_attr_init(&a);
	assert_int_equal(pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED), 0);
	assert_int_equal(pthread_attr_setschedpolicy(&a, SCHED_FIFO), 0);
	assert_int_equal(pthread_attr_setschedparam(&a, &first), 0);
	int error = load_while_owned(&a, false);
	pthread_attr_destroy(&a);
	on_cpus(&all);
	if (error) {
		print_message("no SCHED_FIFO thread: %s; that takes CAP_SYS_NICE\n",
		              strerror(error));
		skip();
	}
}

/* The child of a fork() does not have the thread that owns the partitions. */
static void expect_child_loads(void)
{
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		alarm(DEADLINE / 2);
		bool again = load(); /* must release the partitions for the next load() */
		_exit(again && load() ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* in the parent, the partitions are still owned */
	assert_int_equal(load_while_owned(NULL, false), 0);
}

static void test_a_forked_child_takes_over_partitions(void **state)
{
	(void)state;
	expect_child_loads();
}

/* The first load of a process may start after fork() has started, because fork handlers of other
 * libraries take time. liburcu's handlers take some milliseconds. */
static bool load_begins;

static void at_fork(void)
{
	if (load_begins)
		take_all();
}

static void test_a_first_load_may_begin_during_a_fork(void **state)
{
	(void)state;
	load_begins = true;
	expect_child_loads();
	load_begins = false;
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* must be the first load of the process */
		cmocka_unit_test_setup_teardown(test_a_first_load_may_begin_during_a_fork,
		                                setup_unowned, teardown),
		fresh(test_a_waiting_loader_sleeps),
		fresh(test_a_loader_of_one_key_sleeps),
		fresh(test_a_loader_without_memory_sleeps),
		fresh(test_without_futex_a_loader_sleeps_in_steps),
		fresh(test_a_cancelled_loader_finishes),
		fresh(test_a_fifo_loader_lets_ordinary_threads_run),
		fresh(test_a_forked_child_takes_over_partitions),
	};
	if (pthread_atfork(at_fork, NULL, NULL))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
