/* SPDX-License-Identifier: MIT
 * Writers that are cancelled while they wait for a grace period, which a reader's section delays.
 * The writer's call must finish as if there were no cancellation. It must release the writer claim,
 * because otherwise later writers of this handle and of other handles would block. */
#include <stdatomic.h>
#include "../followers.h"
#include "../sharded.h"

enum { DEADLINE = 60 };

static struct weir_handle *h;
static struct weir_reload *open_reload;
static struct weir_handle *set;
static const struct flavor *current;

static int do_begin(void) { return weir_reload_begin(&open_reload, h, NULL); }
static int do_commit(void) { return weir_reload_commit(open_reload); }
static int do_abort(void) { return weir_reload_abort(open_reload), 0; }
static int do_rollback(void) { return weir_handle_rollback(h); }
static int do_drop(void) { return weir_handle_drop_previous(h); }
static int do_refresh(void) { return weir_handle_refresh(h, path, NULL) == 1 ? 0 : -1; }
static int do_destroy(void) { return weir_handle_destroy(h); }
static int do_set_destroy(void) { return weir_handle_destroy(set); }

/* weir_follower_stop() waits until the follower has polled the file at least once. */
static int do_follow(void)
{
	struct weir_follower *f;
	int err = weir_follower_start(&f, h, path, NULL);
	return err ? err : weir_follower_stop(f);
}

static int do_shard_begin(void)
{
	struct weir_reload *r;
	int err = shard_begin(&r, set, 1, NULL);
	return err ? err : weir_reload_commit(r);
}

static const struct verb {
	const char *name;
	int (*run)(void);
	bool begun, keeps, rolls, destroys;
} verbs[] = {
	{ .name = "begin", .run = do_begin },
	{ .name = "commit", .run = do_commit, .begun = true },
	{ .name = "abort", .run = do_abort, .begun = true },
	{ .name = "rollback", .run = do_rollback, .keeps = true },
	{ .name = "drop", .run = do_drop, .keeps = true },
	{ .name = "refresh", .run = do_refresh },
	{ .name = "stop of a follower", .run = do_follow },
	{ .name = "destroy", .run = do_destroy, .destroys = true },
	{ .name = "begin of a shard", .run = do_shard_begin, .rolls = true },
	{ .name = "destroy of a set", .run = do_set_destroy, .rolls = true, .destroys = true },
};

static void make(const struct verb *verb)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = 1000;
	p.fp_rate = 0.01;
	if (verb->rolls) {
		assert_ok(sharded_create(&set, &p, 2, current->given));
		return;
	}
	assert_ok(handle_with(&h, test_filter(WEIR_BLOCKED, 10000, 0.01), current->given));
	o.keep_previous = verb->keeps;
	if (verb->begun || verb->keeps)
		assert_ok(weir_reload_begin(&open_reload, h, &o));
	if (verb->keeps)
		assert_ok(weir_reload_commit(open_reload));
}

/* Asserts that a later writer of this handle and a writer of another handle succeed. */
static void expect_usable(const struct verb *verb)
{
	struct weir_handle *other_one = NULL;
	struct weir_reload *r;
	if (verb->run == do_begin)
		weir_reload_abort(open_reload);
	if (!verb->destroys && !verb->rolls) {
		assert_ok(weir_reload_begin(&r, h, NULL));
		assert_ok(weir_reload_commit(r));
		assert_ok(weir_handle_destroy(h));
	}
	if (!verb->destroys && verb->rolls) {
		assert_ok(do_shard_begin());
		assert_ok(weir_handle_destroy(set));
	}
	assert_ok(handle_with(&other_one, test_filter(WEIR_BLOCKED, 1000, 0.01), current->given));
	assert_ok(weir_reload_begin(&r, other_one, NULL));
	assert_ok(weir_reload_commit(r));
	assert_ok(weir_handle_destroy(other_one));
}

struct run {
	const struct verb *verb;
	atomic_int answer; /* result of the call; 1: the call has not returned */
	sem_t begun;
};

static void *run_verb(void *argument)
{
	struct run *r = argument;
	current->rcu->register_thread();
	sem_post(&r->begun);
	r->answer = r->verb->run();
	current->rcu->unregister_thread();
	return NULL;
}

/* Runs @verb in a new thread and cancels that thread. Meanwhile the sitter, another thread, stays
 * in a read section. The thread that runs cancel_in() enters no read section, so only the new
 * thread and the sitter register with the flavor. */
static void cancel_in(const struct verb *verb)
{
	struct sitter sitter;
	struct run r = { .verb = verb, .answer = 1 };
	pthread_t thread;
	make(verb);
	sitter_start(&sitter, current->rcu);
	sem_init(&r.begun, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, run_verb, &r), 0);
	while (sem_wait(&r.begun))
		;
	usleep(20000); /* by now the writer waits for the sitter's section */
	assert_int_equal(r.answer, 1);
	assert_int_equal(pthread_cancel(thread), 0);
	usleep(20000);
	sitter_end(&sitter);
	assert_int_equal(pthread_join(thread, NULL), 0);
	if (r.answer)
		fail_msg("%s, %s: answered %d (1: not at all)", current->name, verb->name,
		         r.answer);
	expect_usable(verb);
}

static void test_cancelled_writers_finish(void **state)
{
	(void)state;
	save(0, 100);
	alarm(DEADLINE); /* fail instead of hanging */
	FOR_EACH_FLAVOR(flavor) {
		current = flavor;
		for (unsigned i = 0; i < COUNT_OF(verbs); i++)
			cancel_in(&verbs[i]);
	}
	alarm(0);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_cancelled_writers_finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
