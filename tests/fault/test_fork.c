/* SPDX-License-Identifier: MIT
 * A server forks after it has created its handle. Afterwards each process has its own copy of the
 * handle, at the same address, and inserts, reloads and follows. The library calls liburcu's fork
 * handlers; a program that registers these handlers too ("registered") causes no conflict. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <urcu/urcu-bp.h>
#include "../followers.h"

static bool registered;

enum { CHILDREN = 3, KEYS = 2000, DEADLINE = 60 };

/* Work that every process does. Return: 0, or the number of the step that failed. */
static int serve(struct weir_handle *h, uint64_t first, bool defer_free)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	o.defer_free = defer_free;
	o.keep_previous = true;
	for (uint64_t i = 0; i < KEYS; i++) {
		if (weir_handle_insert_hash(h, test_key(first + i)) < 0)
			return 1;
		if (i % (KEYS / 8) == 0 &&
		    (weir_reload_begin(&r, h, &o) || weir_reload_copy(r, WEIR_ALL_SETS) ||
		     weir_reload_commit(r)))
			return 2;
		if (i % (KEYS / 2) == 7 && weir_handle_rollback(h))
			return 3;
	}
	return missing_in(h, 0, 100) || missing_in(h, first, first + KEYS) ? 4 : 0;
}

/* Serve in a child process. The child exits with 0 or with the number of the step that failed. If
 * the child hangs, it dies of SIGALRM. */
static pid_t fork_server(struct weir_handle *h, uint64_t first, bool defer_free)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		alarm(DEADLINE);
		int wrong = serve(h, first, defer_free);
		_exit(wrong ? wrong : weir_handle_destroy(h) ? 5 : 0);
	}
	return child;
}

static void reap(unsigned n)
{
	int status;
	while (n--) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

static void test_children_serve_on_their_own(void **state)
{
	struct weir_handle *h = open_handle(flavors, 40000);
	(void)state;
	insert_into(h, 0, 100);
	for (unsigned deferred = 0; deferred < 2; deferred++) {
		for (unsigned i = 1; i <= CHILDREN; i++)
			fork_server(h, i * KEYS, deferred);
		assert_int_equal(serve(h, 10 * KEYS, deferred), 0);
		reap(CHILDREN);
		/* the parent does not have the children's keys */
		assert_true(missing_in(h, KEYS, (CHILDREN + 1) * KEYS) > CHILDREN * KEYS * 9 / 10);
	}
	close_handle(flavors, h);
}

/* At the fork a thread of the parent is in a read-side section. The child lacks this thread, so no
 * grace period of the child waits for it. */
static void test_a_child_ignores_a_section_of_a_parents_thread(void **state)
{
	struct weir_handle *h = open_handle(flavors, 40000);
	struct sitter sitter;
	(void)state;
	insert_into(h, 0, 100);
	sitter_start(&sitter, flavors->rcu);
	for (unsigned deferred = 0; deferred < 2; deferred++)
		fork_server(h, KEYS, deferred);
	reap(2);
	sitter_end(&sitter);
	assert_int_equal(serve(h, KEYS, false), 0);
	close_handle(flavors, h);
}

static int follow_and_serve(struct weir_handle *h, uint64_t first)
{
	heard.swaps = heard.failures = 0;
	struct weir_follower *f = follow(h, often, false);
	expect(flavors, 1, 0);
	int wrong = missing_in(h, 0, 100) ? 10 : weir_follower_stop(f) ? 11 : 0;
	return wrong ? wrong : serve(h, first, true);
}

static void test_followers_after_fork(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	(void)state;
	save(0, 100);
	for (unsigned i = 1; i <= CHILDREN; i++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			alarm(DEADLINE);
			int wrong = follow_and_serve(h, i * KEYS);
			_exit(wrong ? wrong : weir_handle_destroy(h) ? 5 : 0);
		}
	}
	assert_int_equal(follow_and_serve(h, 10 * KEYS), 0);
	reap(CHILDREN);
	close_handle(flavors, h);
}

/* The child lacks the follower's thread, so the child's weir_follower_stop() only frees the
 * follower. Then the child can start another follower. */
static int in_child(struct weir_handle *h, struct weir_follower *f)
{
	struct weir_filter *next = test_filter(WEIR_BLOCKED, 10000, 0.01);
	struct weir_handle *mine = NULL;
	if (weir_handle_destroy(h) != -EBUSY || weir_follower_stop(f) ||
	    weir_handle_create(&mine, next, NULL))
		return 1;
	/* the parent's follower has loaded this file already */
	if (weir_handle_refresh(h, path, NULL) != 0 || missing_in(h, 0, 100))
		return 2;
	heard.swaps = heard.failures = 0;
	f = follow(mine, never, false);
	expect(flavors, 1, 0);
	if (missing_in(mine, 0, 100) || weir_follower_stop(f) || weir_handle_destroy(mine) ||
	    weir_handle_destroy(h))
		return 3;
	return 0;
}

static bool reads_as(const char *task, const char *file, const char *format, const char *as)
{
	char name[300], text[32] = "";
	snprintf(name, sizeof name, "/proc/self/task/%s/%s", task, file);
	FILE *f = fopen(name, "r");
	if (!f)
		return false;
	bool read = fscanf(f, format, text) == 1;
	fclose(f);
	return read && strcmp(text, as) == 0;
}

static bool follower_sleeps(void)
{
	bool sleeps = false;
	DIR *dir = opendir("/proc/self/task");
	assert_non_null(dir);
	for (struct dirent *task; !sleeps && (task = readdir(dir)) != NULL;)
		sleeps = reads_as(task->d_name, "comm", "%31s", "weir-follow") &&
		         reads_as(task->d_name, "stat", "%*d %*s %1s", "S");
	closedir(dir);
	return sleeps;
}

static void test_a_child_can_stop_the_parents_follower(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	int status;
	(void)state;
	save(0, 100);
	struct weir_follower *f = follow(h, never, false);
	expect(flavors, 1, 0);
	/* before the follower sleeps it may own locks, which would stay locked in the child */
	WAIT_UNTIL(follower_sleeps());
	assert_true(follower_sleeps());
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		alarm(DEADLINE);
		_exit(in_child(h, f));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	save(100, 200); /* the child's stop has not ended the parent's follower */
	expect(flavors, 2, 0);
	assert_ok(weir_follower_stop(f));
	close_handle(flavors, h);
}

/* ---- a fork in the middle of a load ---- */

enum { LOADED = 400000 };

struct loading {
	struct weir_filter *f;
	uint64_t *hashes;
	atomic_bool stop;
	sem_t begun;
};

static void *load_on_and_on(void *argument)
{
	struct loading *l = argument;
	sem_post(&l->begun);
	while (!l->stop)
		assert_ok(weir_fill_keys(l->f, weir_keys_hashes(l->hashes, LOADED)));
	return NULL;
}

/* A bulk load owns the part of the filter that it writes, so the loading thread owns random parts
 * at the fork. In the child no part may have an owner. */
static void test_children_of_a_fork_in_a_load(void **state)
{
	struct loading l = { .f = test_filter(WEIR_BLOCKED, 4000000, 0.01),
	                     .hashes = malloc(LOADED * sizeof(uint64_t)) };
	pthread_t thread;
	(void)state;
	assert_non_null(l.hashes);
	for (uint64_t i = 0; i < LOADED; i++)
		l.hashes[i] = test_key(i);
	sem_init(&l.begun, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, load_on_and_on, &l), 0);
	while (sem_wait(&l.begun))
		;
	for (unsigned i = 0; i < 20; i++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			alarm(DEADLINE);
			int err = weir_fill_keys(l.f, weir_keys_hashes(l.hashes, LOADED));
			_exit(err || weir_contains_keys(l.f, weir_keys_hashes(l.hashes, LOADED),
			                                NULL) != LOADED);
		}
		reap(1);
	}
	l.stop = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
	weir_destroy(l.f);
	free(l.hashes);
}

/* ---- a fork while liburcu or a reload is busy ---- */

struct busy {
	struct weir_handle *h;
	atomic_bool stop;
};

/* An assert of cmocka ends a program from another thread without a message. */
static void must(int64_t answer, const char *call)
{
	if (answer >= 0)
		return;
	fprintf(stderr, "%s: %s: %s\n", call, strerror((int)-answer), weir_error_detail());
	abort();
}

static void *reload_on_and_on(void *argument)
{
	struct busy *b = argument;
	while (!b->stop) {
		struct weir_reload *r;
		must(weir_reload_begin(&r, b->h, NULL), "begin");
		must(weir_reload_copy(r, WEIR_ALL_SETS), "copy");
		must(weir_reload_commit(r), "commit");
	}
	return NULL;
}

static void *look_up_once(void *argument)
{
	struct busy *b = argument;
	must(weir_handle_contains_hash(b->h, test_key(0)) ? 0 : -ENOENT, "contains");
	return NULL;
}

/* Start and join threads. Each thread takes the lock of liburcu's registry twice, to register and
 * to unregister. */
static void *begin_threads(void *argument)
{
	struct busy *b = argument;
	pthread_t thread;
	while (!b->stop) {
		must(-pthread_create(&thread, NULL, look_up_once, b), "pthread_create");
		must(-pthread_join(thread, NULL), "pthread_join");
	}
	return NULL;
}

/* Use the handle in the child, and a handle of the child's own. A new thread also looks up keys. */
static int use_all(struct weir_handle *h)
{
	struct busy b = { .h = h };
	struct weir_handle *own = NULL;
	struct weir_reload *r;
	pthread_t thread;
	if (missing_in(h, 0, 100) || pthread_create(&thread, NULL, look_up_once, &b) ||
	    pthread_join(thread, NULL))
		return 1;
	if (weir_handle_create(&own, test_filter(WEIR_BLOCKED, 1000, 0.01), NULL) ||
	    weir_reload_begin(&r, own, NULL) || weir_reload_commit(r) || weir_handle_destroy(own))
		return 2;
	return 0;
}

/* On a busy machine about one child of 6,000 hangs: no call protects the lock init_lock of liburcu
 * 0.13.2, which a thread takes when it registers and when it ends. */
static void test_children_of_a_busy_program_serve(void **state)
{
	struct busy b = { 0 };
	void *(*const busy_with[])(void *) = { reload_on_and_on, begin_threads, begin_threads };
	pthread_t threads[COUNT_OF(busy_with)];
	(void)state;
	if (TEST_SANITIZED)
		skip(); /* the sanitizer's allocator stays locked in a child */
	b.h = open_handle(flavors, 40000);
	insert_into(b.h, 0, 100);
	for (size_t i = 0; i < COUNT_OF(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, busy_with[i], &b), 0);
	unsigned hung = 0, wrong = 0;
	for (unsigned i = 0; i < 300; i++) {
		int status;
		pid_t child = fork();
		must(child, "fork");
		if (child == 0) {
			alarm(DEADLINE / 4);
			_exit(use_all(b.h));
		}
		must(waitpid(child, &status, 0), "waitpid");
		hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
		wrong += WIFSIGNALED(status) ? WTERMSIG(status) != SIGALRM : status != 0;
	}
	b.stop = true;
	for (size_t i = 0; i < COUNT_OF(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(wrong, 0);
	assert_true(hung <= 1);
	close_handle(flavors, b.h);
}

/* A grace period that waits for the forking thread does not block the fork. With liburcu's own fork
 * handlers the fork would block. */
static void test_a_fork_in_a_section(void **state)
{
	struct busy b = { 0 };
	pthread_t thread;
	(void)state;
	if (registered)
		skip();
	b.h = open_handle(flavors, 40000);
	insert_into(b.h, 0, 100);
	assert_int_equal(pthread_create(&thread, NULL, reload_on_and_on, &b), 0);
	for (unsigned i = 0; i < 50; i++) {
		urcu_bp_read_lock();
		usleep(1000); /* by then the reload mostly waits for a grace period */
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0)
			_exit(0);
		urcu_bp_read_unlock();
		reap(1);
	}
	b.stop = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
	close_handle(flavors, b.h);
}

static sem_t forked;

static void fork_there(struct rcu_head *head)
{
	pid_t child = fork();
	(void)head;
	assert_true(child >= 0);
	if (child == 0)
		_exit(0);
	sem_post(&forked);
}

/* With liburcu's own fork handlers, call_rcu's thread would wait for itself. */
static void test_a_fork_in_a_callback(void **state)
{
	struct timespec end;
	struct rcu_head head;
	(void)state;
	if (registered)
		skip();
	assert_int_equal(sem_init(&forked, 0, 0), 0);
	assert_int_equal(clock_gettime(CLOCK_REALTIME, &end), 0);
	end.tv_sec += DEADLINE;
	urcu_bp_call_rcu(&head, fork_there);
	assert_int_equal(sem_timedwait(&forked, &end), 0);
	reap(1);
}

struct sleeper {
	struct weir_handle *h;
	atomic_bool begun, stop;
};

/* Reload with a pace at which the loader sleeps 99.9 % of the time. */
static void *reload_slowly(void *argument)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct sleeper *s = argument;
	struct weir_reload *r;
	o.pace = 0.001;
	assert_ok(weir_reload_begin(&r, s->h, &o));
	s->begun = true;
	for (uint64_t i = 0; !s->stop; i++)
		assert_ok(weir_reload_insert_hash(r, test_key(KEYS + i % KEYS)));
	assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
	assert_ok(weir_reload_commit(r));
	return NULL;
}

/* The child lacks the loader's thread, so the parent's reload stays open in the child. Lookups and
 * inserts work. A new reload and a destroy answer -EBUSY. */
static int serve_beside_it(struct weir_handle *h)
{
	struct weir_reload *r;
	if (missing_in(h, 0, 100))
		return 1;
	for (uint64_t i = 0; i < KEYS; i++)
		if (weir_handle_insert_hash(h, test_key(2 * KEYS + i)) < 0)
			return 2;
	if (missing_in(h, 2 * KEYS, 3 * KEYS))
		return 3;
	return weir_reload_begin(&r, h, NULL) == -EBUSY && weir_handle_destroy(h) == -EBUSY ? 0 : 4;
}

static void test_a_child_serves_while_the_parents_loader_sleeps(void **state)
{
	struct sleeper s = { .h = open_handle(flavors, 40000) };
	pthread_t thread;
	(void)state;
	insert_into(s.h, 0, 100);
	assert_int_equal(pthread_create(&thread, NULL, reload_slowly, &s), 0);
	while (!s.begun)
		usleep(100);
	for (unsigned i = 0; i < 10; i++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			alarm(DEADLINE);
			_exit(serve_beside_it(s.h));
		}
		reap(1);
	}
	s.stop = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(missing_in(s.h, 0, 100), 0);
	close_handle(flavors, s.h);
}

/* A loader forks between two calls. Parent and child each continue their own copy of the reload. */
static void test_a_loader_forks(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = open_handle(flavors, 40000);
	struct weir_reload *r;
	(void)state;
	insert_into(h, 0, 100);
	o.pace = 0.1;
	assert_ok(weir_reload_begin(&r, h, &o));
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		alarm(DEADLINE);
	bool failed = false;
	for (uint64_t i = 100; i < KEYS; i++)
		failed |= weir_reload_insert_hash(r, test_key(i)) < 0;
	failed |= weir_reload_copy(r, WEIR_ALL_SETS) || weir_reload_commit(r) ||
	          missing_in(h, 0, KEYS);
	if (child == 0)
		_exit(failed);
	assert_false(failed);
	reap(1);
	close_handle(flavors, h);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, folder_teardown)

/* The argument "registered" registers liburcu's fork handlers, as liburcu's manual asks. */
int main(int argc, char **argv)
{
	(void)argv;
	const struct CMUnitTest tests[] = {
		fresh(test_children_serve_on_their_own),
		fresh(test_a_child_ignores_a_section_of_a_parents_thread),
		fresh(test_followers_after_fork),
		fresh(test_a_child_can_stop_the_parents_follower),
		fresh(test_children_of_a_fork_in_a_load),
		fresh(test_a_child_serves_while_the_parents_loader_sleeps),
		fresh(test_a_loader_forks),
		fresh(test_children_of_a_busy_program_serve),
		fresh(test_a_fork_in_a_section),
		fresh(test_a_fork_in_a_callback),
	};
	registered = argc > 1;
	if (!registered)
		return cmocka_run_group_tests(tests, NULL, NULL);
	(void)pthread_atfork(urcu_bp_before_fork, urcu_bp_after_fork_parent,
	                     urcu_bp_after_fork_child);
	/* Before a fork, handlers run in the reverse order of their registration. These come
	 * last, so that call_rcu's thread is stopped first, and started last after the fork. */
	(void)pthread_atfork(urcu_bp_call_rcu_before_fork, urcu_bp_call_rcu_after_fork_parent,
	                     urcu_bp_call_rcu_after_fork_child);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
