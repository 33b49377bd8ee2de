/* SPDX-License-Identifier: MIT
 * Several processes share one state file: no process undoes another's update, and a killed process
 * leaves no lock. */
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include "trusted.h"

enum { PROCESSES = 4, VERSIONS = 60 };

/* Accept the versions in a random order, with @process as the seed. Return: the exit status. */
static int take_all(unsigned process, const struct publication *p)
{
	uint64_t random = process;
	struct weir_trust *t = trust_at(after(0));
	struct weir_version last = { 0, 0 };
	for (unsigned i = 0; i < VERSIONS; i++) {
		unsigned ahead = (unsigned)(test_random(&random) % 8);
		const struct publication *one = &p[i + ahead < VERSIONS ? i + ahead : VERSIONS - 1];
		int err = take(t, one, after(0));
		struct weir_version now = weir__trust_accepted(t)->version;
		struct weir_version disk = version_on_disk();
		if ((err && err != -EKEYREJECTED) || weir__version_compare(now, last) < 0 ||
		    weir__version_compare(disk, now) < 0 ||
		    (!err && weir__version_compare(now, one->m.version) != 0))
			return 1;
		last = now;
	}
	weir__trust_close(t);
	return 0;
}

static void no_process_undoes_another_ones_update(void **state)
{
	static struct publication p[VERSIONS];
	pid_t pids[PROCESSES];
	(void)state;
	for (unsigned i = 0; i < VERSIONS; i++)
		p[i] = publication(1, i + 1, NOON);
	for (unsigned i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(take_all(i, p));
		assert_true(pids[i] > 0);
	}
	for (unsigned i = 0; i < PROCESSES; i++) {
		int status = -1;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(version_on_disk().number, VERSIONS);
}

static void a_process_that_was_killed_leaves_no_lock(void **state)
{
	struct publication p = publication(1, 1, NOON);
	int pipes[2], status;
	char byte = 0;
	(void)state;
	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int lock = weir__file_lock(state_path);
		byte = lock >= 0;
		_exit(write(pipes[1], &byte, 1) == 1 ? pause() : 1);
	}
	assert_true(read(pipes[0], &byte, 1) == 1 && byte == 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(pipes[0]);
	close(pipes[1]);
	struct weir_trust *t = trust_at(after(0));
	assert_ok(take(t, &p, after(0)));
	weir__trust_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(no_process_undoes_another_ones_update),
		EACH(a_process_that_was_killed_leaves_no_lock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
