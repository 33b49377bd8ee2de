/* SPDX-License-Identifier: MIT
 * Two copies of the library in one process, as two plugins would load them: each with RTLD_LOCAL,
 * and with handles, reloads and a follower. Then the test closes both copies while threads that
 * used them still run, and loads both copies again. The process has only one liburcu, so the copies
 * share liburcu's state of each thread. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include "../image_bytes.h"
#include "../folder.h"

enum { COPIES = 2, ROUNDS = 5, KEYS = 500 };

#define VERBS(X) \
	X(weir_create) X(weir_save) X(weir_handle_create) X(weir_handle_destroy) \
	X(weir_handle_contains_hash) X(weir_handle_insert_hash) X(weir_reload_begin) \
	X(weir_reload_copy) X(weir_reload_commit) X(weir_follower_start) X(weir_follower_stop) \
	X(weir_handle_get)

/* One plugin's own copy of weir. */
struct plugin {
	void *library;
	struct weir_handle *h;
	struct weir_follower *f;
#define POINTER(verb) __typeof__(&verb) verb;
	VERBS(POINTER)
};

static void load(struct plugin *p, const char *file)
{
	p->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!p->library)
		fail_msg("%s", dlerror());
#define FIND(verb) \
	*(void **)&p->verb = dlsym(p->library, #verb); \
	assert_non_null(p->verb);
	VERBS(FIND)
}

static void start(struct plugin *p)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = 10000;
	params.fp_rate = 0.01;
	params.seed = 42;
	assert_int_equal(p->weir_create(&f, &params), 0);
	assert_true(p->weir_save(f, weir_location_path(path), NULL) > 0);
	assert_int_equal(p->weir_handle_create(&p->h, f, NULL), 0);
}

/* Insert keys from @first on, and reload. Old filters are freed after a wait or by call_rcu. */
static void use(struct plugin *p, uint64_t first)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	for (uint64_t i = first; i < first + KEYS; i++) {
		assert_true(p->weir_handle_insert_hash(p->h, test_key(i)) >= 0);
		if (i % 100 == 0) {
			o.defer_free = i % 200 == 0;
			assert_int_equal(p->weir_reload_begin(&r, p->h, &o), 0);
			assert_int_equal(p->weir_reload_copy(r, WEIR_ALL_SETS), 0);
			assert_int_equal(p->weir_reload_commit(r), 0);
		}
	}
	for (uint64_t i = first; i < first + KEYS; i++)
		assert_true(p->weir_handle_contains_hash(p->h, test_key(i)));
}

/* A thread that has looked up keys in both plugins and outlives them. */
struct visitor {
	struct plugin *plugins;
	pthread_t thread;
	sem_t seen, closed;
	unsigned hits;
};

static void *visit(void *argument)
{
	struct visitor *v = argument;
	for (unsigned i = 0; i < COPIES; i++)
		v->hits += v->plugins[i].weir_handle_contains_hash(v->plugins[i].h,
		                                                   test_key(i * KEYS));
	sem_post(&v->seen);
	while (sem_wait(&v->closed))
		;
	return NULL; /* liburcu, if still loaded, unregisters the thread now */
}

static void visit_start(struct visitor *v, struct plugin *plugins)
{
	*v = (struct visitor){ .plugins = plugins };
	sem_init(&v->seen, 0, 0);
	sem_init(&v->closed, 0, 0);
	assert_int_equal(pthread_create(&v->thread, NULL, visit, v), 0);
	while (sem_wait(&v->seen))
		;
}

static void test_two_copies(void **state)
{
	struct plugin plugins[COPIES];
	struct visitor visitor;
	char files[COPIES][4200];
	size_t n = 0;
	unsigned char *library = image_slurp(WEIR_LIBRARY, &n);
	(void)state;
	for (unsigned i = 0; i < COPIES; i++) {
		snprintf(files[i], sizeof files[i], "%s/plugin%u.so", folder, i);
		assert_true(image_spit(files[i], library, n));
	}
	free(library);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < COPIES; i++) {
			load(&plugins[i], files[i]);
			start(&plugins[i]);
		}
		assert_true(plugins[0].weir_handle_get != plugins[1].weir_handle_get);
		for (unsigned i = 0; i < COPIES; i++) {
			use(&plugins[i], i * KEYS);
			assert_int_equal(plugins[i].weir_follower_start(&plugins[i].f, plugins[i].h,
			                                                path, NULL),
			                 0);
		}
		for (unsigned i = 0; i < COPIES; i++)
			assert_int_equal(plugins[i].weir_follower_stop(plugins[i].f), 0);
		for (unsigned i = 0; i < COPIES; i++)
			use(&plugins[i], i * KEYS); /* the follower has loaded an empty set */
		visit_start(&visitor, plugins);
		for (unsigned i = 0; i < COPIES; i++) {
			assert_int_equal(plugins[i].weir_handle_destroy(plugins[i].h), 0);
			assert_int_equal(dlclose(plugins[i].library), 0);
		}
		sem_post(&visitor.closed);
		pthread_join(visitor.thread, NULL);
		assert_int_equal(visitor.hits, COPIES);
		usleep(20000); /* time for a thread that liburcu may have left running */
	}
}

/* An earlier plugin has used liburcu-bp, so the thread's record lies in dynamically allocated
 * storage. A library that accesses this record at a fixed offset (static TLS) could not be loaded
 * any more. */
static void test_liburcu_used_before(void **state)
{
	(void)state;
	void *before = dlopen("liburcu-bp.so.8", RTLD_NOW | RTLD_LOCAL);
	assert_non_null(before);
	void (*lock)(void), (*unlock)(void);
	*(void **)&lock = dlsym(before, "urcu_bp_read_lock");
	*(void **)&unlock = dlsym(before, "urcu_bp_read_unlock");
	assert_true(lock && unlock);
	lock();
	unlock();
	struct plugin p;
	load(&p, WEIR_LIBRARY);
	start(&p);
	use(&p, 0);
	assert_int_equal(p.weir_handle_destroy(p.h), 0);
	dlclose(p.library);
	dlclose(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_liburcu_used_before), /* first, while nothing is loaded yet */
		cmocka_unit_test(test_two_copies),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
