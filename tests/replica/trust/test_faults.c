/* SPDX-License-Identifier: MIT
 * While a version is accepted, the n-th system call fails for every n, or the process is killed at
 * that call, or the power fails. The state file then has the complete old state or the complete new
 * state. The version may be used only if the file has the new state. */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "../../fault/faults.h"
#include "../../fault/power.h"
#include "trusted.h"

enum { MOST_CALLS = 60, FEWEST = 15 };

static struct publication old, new;
static struct weir_trust *t;

static void prepare(void)
{
	old = publication(1, 1, NOON);
	new = publication(1, 2, NOON);
	t = trust_at(after(0));
	assert_ok(take(t, &old, after(0)));
}

static int take_new(void)
{
	return take(t, &new, after(0));
}

static void a_call_that_fails_leaves_the_old_state(void **state)
{
	static const int errors[] = { EIO, ENOSPC, EROFS, ENOMEM };
	(void)state;
	for (unsigned e = 0; e < COUNT_OF(errors); e++) {
		bool reached = true;
		unsigned n = 0;
		while (reached && ++n < MOST_CALLS) {
			unlink(state_path);
			prepare();
			const unsigned descriptors = open_descriptors();
			const int err = run_failing(take_new, n, errors[e], false);
			reached = shim.what != NULL;
			const bool needless = reached && strncmp(shim.what, "unlink", 6) == 0;
			if (!reached || needless || err == 0) {
				assert_int_equal(err, 0);
				assert_true(!reached || needless || !strcmp(shim.what, "free"));
			} else {
				assert_int_equal(err, -errors[e]);
				assert_non_null(strstr(weir_error_detail(), folder));
				assert_holds(t, 1, 1);
			}
			assert_int_equal(open_descriptors(), descriptors);
			assert_in_range(version_on_disk().number, err ? 1 : 2, 2);
			/* The next try succeeds. */
			assert_ok(take_new());
			assert_holds(t, 1, 2);
			assert_int_equal(version_on_disk().number, 2);
			weir__trust_close(t);
		}
		assert_in_range(n, FEWEST, MOST_CALLS - 1);
	}
}

static void a_short_write_is_a_full_disk(void **state)
{
	(void)state;
	struct rlimit limit, before;
	prepare();
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){ 100, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	int err = take_new();
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_refused(err, -ENOSPC, state_path, "cannot write");
	assert_int_equal(version_on_disk().number, 1);
	assert_ok(take_new());
	weir__trust_close(t);
}

/* On a full disk the version that was accepted before stays usable. */
static void a_full_disk_refuses_a_higher_version_alone(void **state)
{
	(void)state;
	prepare();
	shim.refused = "write";
	shim.refused_error = ENOSPC;
	assert_refused(take_new(), -ENOSPC, state_path, "cannot write");
	assert_ok(take(t, &old, after(0)));
	assert_ok(weir__trust_recheck(t, after(HOUR / 2)));
	assert_refused(weir__trust_recheck(t, after(HOUR)), -ENOSPC, state_path, "cannot write");
	assert_refused(weir__trust_recheck(t, after(DAY)), -EKEYEXPIRED, "version 1.1", "");
	shim.refused = NULL;
	assert_int_equal(version_on_disk().number, 1);
	assert_ok(take_new());
	weir__trust_close(t);
}

static void a_folder_for_reading_alone_refuses_a_higher_version_alone(void **state)
{
	(void)state;
	if (geteuid() != 0 || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(folder, folder, NULL, MS_BIND, NULL))
		skip();
	prepare();
	assert_int_equal(mount(NULL, folder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), 0);
	assert_ok(take(t, &old, after(0)));
	assert_refused(take_new(), -EROFS, state_path, "");
	assert_holds(t, 1, 1);
	weir__trust_close(t);
	t = trust_at(after(0));
	assert_ok(take(t, &old, after(0)));
	assert_int_equal(mount(NULL, folder, NULL, MS_BIND | MS_REMOUNT, NULL), 0);
	assert_ok(take_new());
	weir__trust_close(t);
	assert_int_equal(umount(folder), 0);
}

/* Return: true if the process was killed at call @n. */
static bool killed_at(unsigned n)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		shim.die = true;
		_exit(run_failing(take_new, n, 0, false) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
	return status != 0;
}

static void a_process_killed_at_any_call_leaves_a_whole_state(void **state)
{
	bool killed = true;
	unsigned n = 0, olds = 0, news = 0;
	(void)state;
	while (killed && ++n < MOST_CALLS) {
		unlink(state_path);
		prepare();
		weir__trust_close(t);
		t = trust_at(after(0));
		killed = killed_at(n);
		const uint64_t number = version_on_disk().number;
		assert_in_range(number, 1, 2);
		(number == 1 ? &olds : &news)[0]++;
		assert_ok(take_new());
		weir__trust_close(t);
	}
	assert_in_range(n, FEWEST, MOST_CALLS - 1);
	assert_true(olds > 5 && news > 1);
	/* The folder has only four files: two keys, the state file and its lock. */
	char name[256];
	assert_int_equal(folder_entries(folder, "none", name), 4);
}

/* ---- power ---- */

static char texts[2][1024];
static size_t lens[2];

static bool state_is_right(const unsigned char *text, size_t n, bool answered)
{
	bool is_old = text && n == lens[0] && memcmp(text, texts[0], n) == 0,
	     is_new = text && n == lens[1] && memcmp(text, texts[1], n) == 0;
	return is_new || (is_old && !answered);
}

/* Accept a version, and try power cuts at each step. @sync_less: the number of the sync that the
 * disk skips, counted from 1; 0: the disk skips no sync.
 * Return: the number of power cuts after which the state file is wrong. */
static unsigned cut(unsigned sync_less)
{
	unlink(state_path);
	prepare();
	power_begin(state_path, 4096, state_is_right);
	shim.ignored = "fsync";
	shim.ignored_at = sync_less;
	shim.armed = true;
	assert_ok(take_new());
	shim.armed = false;
	power_end();
	shim.ignored_at = 0;
	weir__trust_close(t);
	if (power.bad && !sync_less)
		print_error("%s\n", power.first_bad);
	return power.bad;
}

static void a_power_cut_leaves_a_whole_state(void **state)
{
	(void)state;
	prepare();
	lens[0] = get_file(texts[0], sizeof texts[0], state_path);
	assert_ok(take_new());
	lens[1] = get_file(texts[1], sizeof texts[1], state_path);
	weir__trust_close(t);
	assert_int_equal(cut(0), 0);
	assert_true(power.cuts > 20);
	/* Accepting a version syncs the folder twice, the file, and the folder twice again. Without
	 * the third sync, that of the file, the state file must be wrong after some cuts. */
	assert_true(cut(3) > 0);
}

static bool answered_is_there(const unsigned char *text, size_t n, bool answered)
{
	return text ? n == WEIR_KEY_LINE && text[n - 1] == '\n' : !answered;
}

static void a_power_cut_leaves_a_whole_key(void **state)
{
	char secret[256], public[256];
	const char *const files[] = { secret, public };
	(void)state;
	sprintf(secret, "%s/new-secret", folder);
	sprintf(public, "%s/new-public", folder);
	for (unsigned i = 0; i < COUNT_OF(files); i++) {
		power_begin(files[i], 4096, answered_is_there);
		shim.armed = true;
		assert_ok(weir__key_make(secret, public));
		shim.armed = false;
		power_end();
		assert_int_equal(power.bad, 0);
		assert_int_equal(unlink(secret) | unlink(public), 0);
	}
}

/* Whichever call fails, weir__key_make() leaves both key files or none. */
static void a_call_that_fails_makes_no_key(void **state)
{
	char secret[256], public[256];
	unsigned n = 0;
	int err = -EIO;
	(void)state;
	sprintf(secret, "%s/new-secret", folder);
	sprintf(public, "%s/new-public", folder);
	while ((err || shim.what) && ++n < MOST_CALLS) {
		shim.at = n;
		shim.error = EIO;
		shim.calls = 0;
		shim.what = NULL;
		shim.armed = true;
		err = weir__key_make(secret, public);
		shim.armed = false;
		assert_int_equal(access(secret, F_OK), access(public, F_OK));
		assert_int_equal(access(secret, F_OK), err ? -1 : 0);
		assert_true(err == 0 || strstr(weir_error_detail(), folder));
		unlink(secret);
		unlink(public);
		sprintf(secret + strlen(secret), ".new");
		unlink(secret);
		secret[strlen(secret) - 4] = '\0';
		sprintf(public + strlen(public), ".new");
		unlink(public);
		public[strlen(public) - 4] = '\0';
	}
	assert_in_range(n, 10, MOST_CALLS - 1);
}

/* Another process may not have synced the state that it wrote, so a reader first syncs the
 * state file's folder. */
static void a_state_that_was_read_is_on_the_disk(void **state)
{
	(void)state;
	prepare();
	shim.refused = "fsync";
	shim.refused_error = EIO;
	assert_refused(take(t, &old, after(0)), -EIO, folder, "disk");
	shim.refused = NULL;
	assert_ok(take(t, &old, after(0)));
	weir__trust_close(t);
}

static void another_takes_first(const struct shim_call *call)
{
	struct publication newest = publication(1, 3, NOON);
	if (strcmp(call->what, "flock") != 0)
		return;
	struct weir_trust *other = trust_at(after(0));
	assert_ok(take(other, &newest, after(0)));
	weir__trust_close(other);
}

/* This process reads the state file, then locks it. Between these two steps, another process
 * accepts a higher version. */
static void a_version_that_another_process_accepts_stays(void **state)
{
	(void)state;
	prepare();
	shim.look = another_takes_first;
	int err = take_new();
	shim.look = NULL;
	assert_refused(err, -EKEYREJECTED, "version 1.2", "older than 1.3");
	assert_int_equal(version_on_disk().number, 3);
	weir__trust_close(t);
}

static void a_process_that_hangs_with_the_lock_is_reported(void **state)
{
	(void)state;
	prepare();
	int lock = weir__file_lock(state_path);
	assert_true(lock >= 0);
	shim.no_waiting = true;
	assert_refused(take_new(), -EAGAIN, state_path, "within 10 s");
	shim.no_waiting = false;
	assert_holds(t, 1, 1);
	assert_ok(take(t, &old, after(0)));
	close(lock);
	assert_ok(take_new());
	weir__trust_close(t);
}

/* Other users may create files in the folder. If such a file is in the way, weir__trust_accept()
 * must not return -EEXIST, which says that the state has another generation of this version. */
static void an_obstacle_to_the_state_is_no_second_version(void **state)
{
	char way[sizeof state_path + 8];
	(void)state;
	prepare();
	snprintf(way, sizeof way, "%s.new", state_path);
	assert_int_equal(mkdir(way, 0700), 0);
	assert_refused(take_new(), -EACCES, state_path, ".new");
	assert_holds(t, 1, 1);
	assert_int_equal(version_on_disk().number, 1);
	assert_ok(take(t, &old, after(0)));
	assert_int_equal(rmdir(way), 0);
	assert_ok(take_new());
	assert_int_equal(version_on_disk().number, 2);
	weir__trust_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(a_call_that_fails_leaves_the_old_state),
		EACH(a_short_write_is_a_full_disk),
		EACH(a_full_disk_refuses_a_higher_version_alone),
		EACH(a_process_killed_at_any_call_leaves_a_whole_state),
		EACH(a_power_cut_leaves_a_whole_state),
		EACH(a_power_cut_leaves_a_whole_key),
		EACH(a_call_that_fails_makes_no_key),
		EACH(a_state_that_was_read_is_on_the_disk),
		EACH(a_version_that_another_process_accepts_stays),
		EACH(a_process_that_hangs_with_the_lock_is_reported),
		EACH(an_obstacle_to_the_state_is_no_second_version),
		EACH(a_folder_for_reading_alone_refuses_a_higher_version_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
