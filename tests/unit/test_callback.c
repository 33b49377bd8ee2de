/* SPDX-License-Identifier: MIT
 * A callback of call_rcu must not destroy a handle, because weir_handle_destroy() could wait for
 * the callback's own thread. */
#include <urcu/urcu-bp.h>
#include "../handles.h"
#include "../sharded.h"

static struct {
	struct rcu_head head;
	struct weir_handle *h;
	struct weir_handle *set;
	int answer, set_answer;
	char sentence[512];
	sem_t over;
} callback;

static void destroy_in_callback(struct rcu_head *head)
{
	(void)head;
	callback.set_answer = weir_handle_destroy(callback.set);
	callback.answer = weir_handle_destroy(callback.h);
	snprintf(callback.sentence, sizeof callback.sentence, "%s", weir_error_detail());
	sem_post(&callback.over);
}

/* The commit queues the freeing of the old filter behind the callback that destroys the handle. */
static void test_destroy_fails_in_a_callback(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	(void)state;
	p.capacity = 1000;
	p.fp_rate = 0.01;
	o.defer_free = true;
	alarm(60); /* fail instead of hanging */
	FOR_EACH_FLAVOR(flavor) {
		struct sitter sitter;
		callback.h = open_handle(flavor, 10000);
		assert_ok(sharded_create(&callback.set, &p, 2, flavor->given));
		sem_init(&callback.over, 0, 0);
		struct weir_reload *r;
		assert_ok(weir_reload_begin(&r, callback.h, &o));
		sitter_start(&sitter, flavor->rcu);
		flavor->rcu->update_call_rcu(&callback.head, destroy_in_callback);
		assert_ok(weir_reload_commit(r));
		sitter_end(&sitter);
		flavor->rcu->thread_offline();
		while (sem_wait(&callback.over))
			;
		flavor->rcu->thread_online();
		assert_int_equal(callback.set_answer, -EDEADLK);
		assert_int_equal(callback.answer, -EDEADLK);
		assert_non_null(strstr(callback.sentence, "in a callback of call_rcu"));
		assert_ok(weir_handle_destroy(callback.set));
		close_handle(flavor, callback.h); /* outside a callback, the destroy succeeds */
	}
	alarm(0);
}

/* A thread that has its own call_rcu data is not the thread that runs the callbacks, so the thread
 * may destroy a handle. If a handle uses a copy of a flavor struct, weir cannot recognise the
 * callback thread, so weir lets every thread destroy the handle. */
static void test_destroy_works_outside_callbacks(void **state)
{
	static struct rcu_flavor_struct mine;
	/* this data is never freed, because liburcu 0.13 would not join its thread */
	static struct call_rcu_data *own;
	struct weir_handle *h;
	(void)state;
	own = urcu_bp_create_call_rcu_data(0, -1);
	assert_non_null(own);
	urcu_bp_set_thread_call_rcu_data(own);
	assert_ok(weir_handle_create(&h, test_filter(WEIR_BLOCKED, 1000, 0.01), NULL));
	assert_ok(weir_handle_destroy(h));
	urcu_bp_set_thread_call_rcu_data(NULL);
	mine = urcu_bp_flavor;
	assert_ok(handle_with(&h, test_filter(WEIR_BLOCKED, 1000, 0.01), &mine));
	assert_ok(weir_handle_destroy(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_destroy_fails_in_a_callback),
		cmocka_unit_test(test_destroy_works_outside_callbacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
