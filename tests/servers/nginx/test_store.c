/* SPDX-License-Identifier: MIT
 * The slots that nginx's processes share, without nginx: readers, leaders and killed processes.
 * Each child process does one step for each request on its pipe, and answers the request. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include "../../folder.h"
#include "reading.h"

enum { ROOM = 1 << 20, KEYS = 500 };

/* A function that __wrap_fcntl64() calls once, just before the next lock of a reader; or NULL. */
static void (*before_lock)(void);
int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
{
	va_list list;
	va_start(list, command);
	void *argument = va_arg(list, void *);
	va_end(list);
	if (command == F_SETLK && ((struct flock *)argument)->l_type == F_RDLCK && before_lock) {
		void (*now)(void) = before_lock;
		before_lock = NULL;
		now();
	}
	return __real_fcntl64(fd, command, argument);
}

/* If true, weir_load() of a filter in memory fails with -ENOMEM. */
static bool no_memory;
int __real_weir_load(struct weir_filter **out, struct weir_location from,
                     const struct weir_load_options *options);
int __wrap_weir_load(struct weir_filter **out, struct weir_location from,
                     const struct weir_load_options *options);
int __wrap_weir_load(struct weir_filter **out, struct weir_location from,
                     const struct weir_load_options *options)
{
	return no_memory && from.form == WEIR_LOCATION_MAP_MEMORY ?
	       -ENOMEM : __real_weir_load(out, from, options);
}

static struct store *store;

/* Set @n has the keys n * KEYS to (n + 1) * KEYS - 1. */
static void save_set(uint64_t n)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, KEYS, 0.001);
	for (uint64_t i = 0; i < KEYS; i++)
		assert_ok(weir_insert_u64(f, test_key(n * KEYS + i)));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

static bool has_set(struct store *s, uint64_t n)
{
	const struct weir_filter *f = store_filter(s);
	if (!f)
		return false;
	for (uint64_t i = 0; i < KEYS; i++)
		if (!weir_contains_u64(f, test_key(n * KEYS + i)))
			return false;
	return true;
}

/* Take all steps of a leader. Return: 0, the error of store_begin(), or the error of the read. */
static int put_set(struct store *s)
{
	static struct reading r;
	r = (struct reading){ .store = s };
	int err = store_begin(s);
	if (err)
		return err;
	reading_run(&r);
	if (r.err)
		store_abandon(s);
	else
		store_publish(s, &r.facts);
	return r.err;
}

/* ---- processes ---- */

struct child {
	pid_t pid;
	int to, from;
};

/* A request is a letter and a number; the answer is a number. */
static int serve(char what, uint64_t n)
{
	switch (what) {
	case 'h': return has_set(store, n);
	case 'l': return store_lead(store);
	case 'r': return store_resign(store), 1;
	case 'b': return store_begin(store);
	case 'a': return store_abandon(store), 1;
	case 'd': return memset(store->filling, 0xa5, store->room / 2), 1; /* half fill a slot */
	case 'p': return put_set(store);
	case 'n': return store_filter(store) == NULL;
	default: abort();
	}
}

static struct child begin_child(void)
{
	int to[2], from[2];
	struct child c;
	assert_true(pipe(to) == 0 && pipe(from) == 0);
	c.pid = fork();
	if (c.pid == 0) {
		char what;
		uint64_t n;
		while (read(to[0], &what, 1) == 1 && read(to[0], &n, sizeof n) == sizeof n) {
			int answer = serve(what, n);
			if (write(from[1], &answer, sizeof answer) < 0)
				break;
		}
		_exit(0);
	}
	assert_true(c.pid > 0);
	close(to[0]);
	close(from[1]);
	c.to = to[1];
	c.from = from[0];
	return c;
}

static int ask(const struct child *c, char what, uint64_t n)
{
	int answer = -1;
	assert_true(write(c->to, &what, 1) == 1 && write(c->to, &n, sizeof n) == sizeof n);
	assert_int_equal(read(c->from, &answer, sizeof answer), sizeof answer);
	return answer;
}

static void end_child(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->to);
	close(c->from);
}

static int setup(void **state)
{
	if (folder_setup(state))
		return 1;
	signal(SIGPIPE, SIG_IGN);
	return store_create(&store, path, ROOM, *state != NULL, NULL);
}

static int teardown(void **state)
{
	store_release(store);
	return folder_teardown(state);
}

/* ---- tests ---- */

static void test_a_set_for_all(void **state)
{
	struct child a = begin_child(), b = begin_child();
	(void)state;
	assert_int_equal(ask(&a, 'n', 0), 1);
	assert_int_equal(ask(&a, 'l', 0), 1);
	assert_int_equal(ask(&b, 'l', 0), 0); /* only one process leads */
	assert_int_equal(store_leader(store), a.pid);
	for (uint64_t n = 1; n < 6; n++) {
		save_set(n);
		assert_int_equal(ask(&a, 'p', 0), 0);
		assert_int_equal(ask(&b, 'h', n), 1);
		assert_int_equal(ask(&a, 'h', n), 1);
		assert_int_equal(ask(&a, 'h', n - 1), 0);
	}
	assert_int_equal(ask(&a, 'r', 0), 1);
	assert_int_equal(ask(&b, 'l', 0), 1);
	assert_int_equal(store_leader(store), b.pid);
	end_child(&a);
	end_child(&b);
	assert_int_equal(store_leader(store), 0);
}

/* [SLOT-EXCLUSIVE], [SLOT-SHARED]: the leader fills a reader's slot only after the reader has
 * switched or was killed. */
static void test_a_slot_in_use_is_not_filled(void **state)
{
	(void)state;
	for (unsigned killed = 0; killed < 2; killed++) {
		struct child reader = begin_child();
		save_set(1);
		assert_true(store_lead(store));
		assert_int_equal(put_set(store), 0);
		assert_int_equal(ask(&reader, 'h', 1), 1);
		save_set(2);
		assert_int_equal(put_set(store), 0); /* fills the slot that no reader uses */
		save_set(3);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(put_set(store), -EBUSY);
		assert_true(has_set(store, 2));
		if (killed)
			end_child(&reader);
		else
			assert_int_equal(ask(&reader, 'h', 2), 1);
		assert_int_equal(put_set(store), 0);
		assert_true(has_set(store, 3));
		if (!killed) {
			assert_int_equal(ask(&reader, 'h', 3), 1);
			end_child(&reader);
		}
	}
}

/* [KILLED-LOCKS]: a leader is killed while it fills a slot. The set stays, and the next leader
 * fills a slot. */
static void test_a_leader_is_killed(void **state)
{
	(void)state;
	save_set(1);
	assert_true(store_lead(store));
	assert_int_equal(put_set(store), 0);
	store_resign(store);
	for (uint64_t n = 2; n < 6; n++) {
		struct child leader = begin_child();
		assert_int_equal(ask(&leader, 'l', 0), 1);
		assert_int_equal(ask(&leader, 'h', n - 1), 1);
		assert_int_equal(ask(&leader, 'b', 0), 0);
		assert_int_equal(ask(&leader, 'd', 0), 1);
		assert_false(store_lead(store));
		assert_true(has_set(store, n - 1));
		end_child(&leader);
		assert_true(has_set(store, n - 1));
		save_set(n);
		assert_true(store_lead(store));
		assert_int_equal(put_set(store), 0);
		assert_true(has_set(store, n));
		store_resign(store);
	}
}

/* [SLOT-SHARED]: a reader loads the word, then locks the slot that the word names. Between these
 * two steps, the leader publishes another set and half fills that slot. */
static struct child meanwhile;
static void publish_and_spoil(void)
{
	assert_int_equal(ask(&meanwhile, 'p', 0), 0);
	assert_int_equal(ask(&meanwhile, 'b', 0), 0);
	assert_int_equal(ask(&meanwhile, 'd', 0), 1);
	assert_int_equal(ask(&meanwhile, 'a', 0), 1);
}

static void test_a_slot_is_lost_before_it_is_locked(void **state)
{
	(void)state;
	meanwhile = begin_child();
	save_set(1);
	assert_int_equal(ask(&meanwhile, 'l', 0), 1);
	assert_int_equal(ask(&meanwhile, 'p', 0), 0);
	save_set(2);
	before_lock = publish_and_spoil;
	assert_true(has_set(store, 2));
	assert_null(before_lock);
	save_set(3); /* the reader locks only the slot that it reads */
	assert_int_equal(ask(&meanwhile, 'p', 0), 0);
	assert_true(has_set(store, 3));
	end_child(&meanwhile);
}

/* [PROCESS-LOCKS]: a process fills one slot at a time, and never the slot that it reads. */
static void test_one_filling_at_a_time(void **state)
{
	(void)state;
	save_set(1);
	assert_true(store_lead(store));
	assert_int_equal(put_set(store), 0);
	assert_true(has_set(store, 1));
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_begin(store), -EBUSY);
	assert_true(has_set(store, 1));
	store_abandon(store);
	assert_int_equal(store_begin(store), 0);
	store_abandon(store);
	store_withdraw(store);
	assert_null(store_filter(store));
	save_set(2);
	assert_int_equal(put_set(store), 0);
	assert_true(has_set(store, 2));
	/* Without memory this process keeps set 2, so it must not fill the slot of set 2. */
	save_set(3);
	assert_int_equal(put_set(store), 0);
	no_memory = true;
	assert_true(has_set(store, 2));
	assert_int_equal(store_begin(store), -EBUSY);
	assert_true(has_set(store, 2));
	no_memory = false;
	assert_true(has_set(store, 3));
	assert_int_equal(store_begin(store), 0);
	store_abandon(store);
}

/* The pages of the unused slot are freed. */
static void test_pages_are_given_back(void **state)
{
	struct stat st;
	(void)state;
	assert_true(store_lead(store));
	for (uint64_t n = 1; n < 3; n++) {
		save_set(n);
		assert_int_equal(put_set(store), 0);
		assert_true(has_set(store, n));
	}
	assert_true(store_has_unused_pages(store));
	assert_int_equal(fstat(store->fd, &st), 0);
	blkcnt_t both = st.st_blocks;
	assert_int_equal(store_begin(store), 0);
	store_free_pages(store);
	store_abandon(store);
	assert_false(store_has_unused_pages(store));
	assert_int_equal(fstat(store->fd, &st), 0);
	assert_true(st.st_blocks < both);
	assert_true(has_set(store, 2));
	save_set(3);
	assert_int_equal(put_set(store), 0);
	assert_true(has_set(store, 3));
}

/* After a leader abandons a slot and resigns, the next leader may fill the slot at once. */
static void test_a_filling_is_abandoned(void **state)
{
	struct child first = begin_child(), second = begin_child();
	(void)state;
	save_set(1);
	assert_int_equal(ask(&first, 'l', 0), 1);
	assert_int_equal(ask(&first, 'b', 0), 0);
	assert_int_equal(ask(&first, 'a', 0), 1);
	assert_int_equal(ask(&first, 'r', 0), 1);
	assert_int_equal(ask(&second, 'l', 0), 1);
	assert_int_equal(ask(&second, 'p', 0), 0);
	assert_int_equal(ask(&first, 'h', 1), 1);
	end_child(&first);
	end_child(&second);
}

/* After exec() a new nginx binary does not inherit the memory. */
static void test_closed_by_exec(void **state)
{
	(void)state;
	assert_true(fcntl(store->fd, F_GETFD) & FD_CLOEXEC);
}

/* A file gets other content of the same length, and keeps its old time. */
static void test_a_file_made_to_look_the_same(void **state)
{
	struct file_identity before, after;
	struct stat st;
	(void)state;
	save_set(1);
	assert_int_equal(file_identify(&before, path), 0);
	assert_int_equal(stat(path, &st), 0);
	usleep(20000); /* longer than a tick */
	int fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "X", 1, 5000), 1);
	close(fd);
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){ st.st_atim, st.st_mtim },
	                           0), 0);
	assert_int_equal(file_identify(&after, path), 0);
	assert_true(before.modified == after.modified && before.inode == after.inode);
	assert_false(file_same(&before, &after));
}

/* Replace the file while it is read: the reader may have read the old file or the new file. */
static int replace_it(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	save_set(2);
	return 0;
}

static void test_replaced_while_it_is_read(void **state)
{
	static const struct file_identity none;
	struct reading r = { .store = store, .stop = replace_it };
	(void)state;
	save_set(1);
	assert_true(store_lead(store));
	assert_int_equal(store_begin(store), 0);
	reading_run(&r);
	assert_int_equal(r.err, 0);
	assert_true(r.changed && file_same(&r.facts.file, &none));
	store_publish(store, &r.facts);
	assert_true(has_set(store, 1));
}

static void test_facts_and_refusals(void **state)
{
	struct file_identity file = { .inode = 7 };
	struct store_facts facts;
	(void)state;
	assert_true(store_lead(store));
	assert_false(store_facts(store, &facts) && facts.number);
	store_refused(store, &file, "a sentence", true);
	assert_true(store_facts(store, &facts));
	assert_string_equal(facts.sentence, "a sentence");
	assert_true(file_same(&facts.refused, &file) && facts.refused_again == 1);
	save_set(1);
	assert_int_equal(put_set(store), 0);
	assert_true(store_facts(store, &facts));
	assert_int_equal(facts.number, 1);
	assert_int_equal(facts.refused_since, 0);
	assert_true(facts.keys > 0.9 * KEYS && facts.keys < 1.1 * KEYS);
	assert_int_equal(file_identify(&file, path), 0);
	assert_true(file_same(&facts.file, &file));
	store_refused(store, &file, "another", false);
	store_withdraw(store);
	assert_true(store_facts(store, &facts));
	assert_int_equal(facts.number, 2);
	assert_string_equal(facts.sentence, "another");
	assert_false(store_has_set(store));
}

/* An implausible set, a damaged image or a missing file is refused. */
static void test_bad_files(void **state)
{
	struct reading r = { .store = store };
	(void)state;
	assert_true(store_lead(store));
	r.keys_before = 100 * KEYS;
	save_set(1);
	assert_int_equal(store_begin(store), 0);
	reading_run(&r);
	assert_int_equal(r.err, -ECANCELED);
	assert_non_null(strstr(r.sentence, "under a tenth"));
	r.keys_before = 0;
	reading_run(&r);
	assert_int_equal(r.err, 0);
	assert_int_equal(truncate(path, 1000), 0);
	reading_run(&r);
	assert_int_equal(r.err, -EBADMSG);
	assert_non_null(strstr(r.sentence, path));
	assert_true(reading_is_final(r.err));
	assert_int_equal(unlink(path), 0);
	reading_run(&r);
	assert_int_equal(r.err, -ENOENT);
	assert_non_null(strstr(r.sentence, path));
	store_abandon(store);
	assert_false(store_has_set(store));
}

static void test_too_large(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 2000000, 0.01);
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_true(store_lead(store));
	assert_int_equal(put_set(store), -ENOSPC);
}

/* In a store with the option map, a reader uses a file only after the leader has checked it. */
static void test_mapped(void **state)
{
	struct child reader = begin_child();
	(void)state;
	save_set(1);
	assert_true(store_lead(store));
	assert_int_equal(put_set(store), 0);
	assert_int_equal(ask(&reader, 'h', 1), 1);
	save_set(2);
	assert_int_equal(ask(&reader, 'h', 1), 1);
	assert_int_equal(put_set(store), 0);
	save_set(3); /* before the reader switches */
	assert_int_equal(ask(&reader, 'h', 1), 1);
	assert_int_equal(put_set(store), 0);
	assert_int_equal(ask(&reader, 'h', 3), 1);
	end_child(&reader);
}

/* Readers switch while a leader fills slots. */
static void test_many_swaps(void **state)
{
	enum { READERS = 3, SWAPS = 200 };
	struct child reader[READERS];
	(void)state;
	assert_true(store_lead(store));
	for (unsigned i = 0; i < READERS; i++)
		reader[i] = begin_child();
	for (uint64_t n = 1; n < SWAPS; n++) {
		save_set(n);
		int err;
		while ((err = put_set(store)) == -EBUSY)
			for (unsigned i = 0; i < READERS; i++)
				assert_int_equal(ask(&reader[i], 'h', n - 1), 1);
		assert_int_equal(err, 0);
		assert_int_equal(ask(&reader[n % READERS], 'h', n), 1);
	}
	for (unsigned i = 0; i < READERS; i++)
		end_child(&reader[i]);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(test_a_set_for_all),
		WITH_STORE(test_a_slot_in_use_is_not_filled),
		WITH_STORE(test_a_leader_is_killed),
		WITH_STORE(test_a_slot_is_lost_before_it_is_locked),
		WITH_STORE(test_one_filling_at_a_time),
		WITH_STORE(test_pages_are_given_back),
		WITH_STORE(test_a_filling_is_abandoned),
		WITH_STORE(test_closed_by_exec),
		WITH_STORE(test_a_file_made_to_look_the_same),
		WITH_STORE(test_replaced_while_it_is_read),
		WITH_STORE(test_facts_and_refusals),
		WITH_STORE(test_bad_files),
		WITH_STORE(test_too_large),
		cmocka_unit_test_prestate_setup_teardown(test_mapped, setup, teardown, "map"),
		WITH_STORE(test_many_swaps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
