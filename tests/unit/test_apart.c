/* SPDX-License-Identifier: MIT
 * A debug build aborts if one thread copies a filter that has removals while another thread
 * inserts or removes. One thread plays both sides in this test. Other builds skip the test. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kind/kind.h"
#include "../folder.h"

#ifdef WEIR_DEBUG

static void merge(struct weir_filter *f)
{
	assert_ok(weir_merge(f, f));
}

static void clone(struct weir_filter *f)
{
	struct weir_filter *copy = NULL;
	assert_ok(weir_clone(&copy, f));
	weir_destroy(copy);
}

static void fold(struct weir_filter *f)
{
	struct weir_filter *folded = NULL;
	assert_ok(weir_fold(&folded, f, 1));
	weir_destroy(folded);
}

static void save(struct weir_filter *f)
{
	assert_ok(weir_save(f, weir_location_path(path), NULL));
}

static void insert(struct weir_filter *f)
{
	assert_ok(weir_insert(f, "a", 1));
}

static void insert_hash(struct weir_filter *f)
{
	assert_ok(weir_insert_hash(f, 1));
}

static void insert_u64(struct weir_filter *f)
{
	assert_ok(weir_insert_u64(f, 1));
}

static void insert_many(struct weir_filter *f)
{
	uint64_t hashes[100] = { 1 };
	assert_true(weir_insert_keys(f, weir_keys_hashes(hashes, 100), NULL) >= 0);
}

static void remove_one(struct weir_filter *f)
{
	assert_ok(weir_insert(f, "b", 1));
	assert_int_equal(weir_remove(f, "b", 1), 1);
}

static void remove_many(struct weir_filter *f)
{
	uint64_t hash = 5;
	assert_true(weir_remove_keys(f, weir_keys_hashes(&hash, 1), NULL) >= 0);
}

/* Return: true if the function @verb aborts the process. If @whole, @verb copies the filter while a
 * change is in progress. Otherwise, @verb changes the filter while a copy is in progress. @text:
 * gets the error message. */
static bool dies(struct weir_filter *f, void (*verb)(struct weir_filter *), bool whole,
                  char text[256])
{
	int fds[2], status;
	assert_int_equal(pipe(fds), 0);
	pid_t child = fork();
	if (child == 0) {
		dup2(fds[1], 2);
		signal(SIGABRT, SIG_DFL);
		if (whole)
			weir__change_begin(f);
		else
			weir__whole_begin(f, "weir_clone");
		verb(f);
		_exit(0);
	}
	close(fds[1]);
	ssize_t n = read(fds[0], text, 255);
	text[n > 0 ? n : 0] = 0;
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void a_change_during_a_copy_aborts(void **state)
{
	static const struct { void (*verb)(struct weir_filter *); const char *name; } verbs[] = {
		{ merge, "weir_merge of" }, { clone, "weir_clone of" }, { fold, "weir_fold of" },
		{ save, "weir_save of" },
		{ insert, "beside an insert" }, { insert_hash, "beside an insert" },
		{ insert_u64, "beside an insert" }, { insert_many, "beside an insert" },
		{ remove_one, "beside an insert" }, { remove_many, "beside an insert" },
	};
	struct weir_filter *counting = test_filter(WEIR_COUNTING, 100, 0.01),
	                   *frequency = test_filter(WEIR_FREQUENCY, 100, 0.01);
	(void)state;
	for (size_t i = 0; i < COUNT_OF(verbs); i++) {
		bool whole = i < 4;
		char text[256];
		verbs[i].verb(counting); /* the call alone does not abort */
		if (!dies(counting, verbs[i].verb, whole, text) || !strstr(text, verbs[i].name) ||
		    !strstr(text, "kind counting"))
			fail_msg("%s: %s", verbs[i].name, text);
		/* kinds without removal may be changed during a copy */
		assert_true(i >= 8 || !dies(frequency, verbs[i].verb, whole, text));
	}
	weir_destroy(counting), weir_destroy(frequency);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(
		a_change_during_a_copy_aborts, folder_setup, folder_teardown) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void)
{
	return 77;
}
#endif
