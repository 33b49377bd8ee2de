/* SPDX-License-Identifier: MIT
 * Mapped images: what each mode shares and refuses, several processes that insert into one at
 * once, the live mark and the seal, and what verification finds. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <weir/inline.h>
#include "../image_bytes.h"
#include "../folder.h"

enum { KEYS = 200000, PROCESSES = 2 };

static struct weir_filter *untouched;

static int teardown(void **state)
{
	(void)folder_teardown(state);
	return untouched != NULL;
}

/* A new image at path with the first @n keys, sized for twice KEYS. False: the kind cannot be
 * saved. */
static bool save_if_it_can(uint32_t kind, uint64_t n)
{
	struct weir_filter *f = test_filter(kind, 2 * KEYS, 0.01);
	uint64_t *hashes = malloc((n + 1) * sizeof *hashes);
	for (uint64_t i = 0; i < n; i++)
		hashes[i] = test_key(i);
	assert_ok(test_fill(&f, hashes, n));
	int err = weir_save(f, path, NULL);
	assert_ok(err == -ENOTSUP ? 0 : err);
	free(hashes);
	weir_destroy(f);
	return err == 0;
}

static void save_fresh(uint32_t kind, uint64_t n)
{
	assert_true(save_if_it_can(kind, n));
}

static uint64_t missing(const struct weir_filter *f, uint64_t from, uint64_t to)
{
	uint64_t n = 0;
	for (uint64_t i = from; i < to; i++)
		n += !weir_contains_hash(f, test_key(i));
	return n;
}

static bool is_live(void)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_info(path, &info));
	return info.live;
}

/* What a kind lacks altogether it says so of, mapped or not. */
static void assert_read_only(int64_t answer)
{
	assert_true(answer == -EROFS || answer == -ENOTSUP);
	assert_refused(answer, (int)answer, answer == -EROFS ? "read-only" : "cannot", "");
}

static void test_read_only(void **state)
{
	struct weir_filter *f;
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		if (!save_if_it_can(test_kinds[k], 1000))
			continue;
		assert_ok(weir_map(&f, path, WEIR_MAP_READ, NULL));
		assert_int_equal(missing(f, 0, 1000), 0);
		assert_true(missing(f, 1000, 2000) > 900);
		int refused = test_takes_inserts(f) ? -EROFS : -ENOTSUP;
		const char *sentence = refused == -EROFS ? "read-only" : "cannot";
		assert_refused(weir_insert_hash(f, 1), refused, sentence, "");
		assert_refused(weir_insert_hashes(f, (uint64_t[]){ 1 }, 1, NULL), refused, sentence,
		               "");
		assert_refused(weir_load_hashes(f, (uint64_t[]){ 1 }, 1), refused, sentence, "");
		assert_read_only(weir_merge(f, f));
		assert_ok(weir_verify(f));
		assert_refused(weir_seal(f), -EINVAL, "WEIR_MAP_LIVE", "");
		struct weir_filter *copy;
		assert_ok(weir_clone(&copy, f)); /* one's own, so it takes inserts */
		if (refused == -EROFS)
			assert_ok(weir_insert_hash(copy, test_key(5000)));
		weir_destroy(copy);
		weir_destroy(f);
	}
}

/* A kind that merges and takes inserts says that it is mapped, and not that it cannot. */
static void test_blocked_read_only(void **state)
{
	struct weir_filter *f;
	(void)state;
	save_fresh(WEIR_BLOCKED, 10);
	assert_ok(weir_map(&f, path, WEIR_MAP_READ, NULL));
	assert_refused(weir_insert_hash(f, 1), -EROFS, "read-only", "");
	assert_refused(weir_merge(f, f), -EROFS, "read-only", "");
	weir_destroy(f);
}

/* Inserts the keys @from, @from + @step ... below @to; 0 is success. */
typedef int insert_fn(struct weir_filter *f, uint64_t from, uint64_t step, uint64_t to);

static int insert_each(struct weir_filter *f, uint64_t from, uint64_t step, uint64_t to)
{
	for (uint64_t i = from; i < to; i += step)
		if (weir_insert_hash(f, test_key(i)) < 0)
			return 3;
	return 0;
}

static int load_pieces(struct weir_filter *f, uint64_t from, uint64_t step, uint64_t to)
{
	uint64_t hashes[512];
	size_t n = 0;
	for (uint64_t i = from; i < to; i += step) {
		hashes[n++] = test_key(i);
		if (n == 512 && weir_load_hashes(f, hashes, n))
			return 3;
		n %= 512;
	}
	return weir_load_hashes(f, hashes, n) ? 3 : 0;
}

static void test_private(void **state)
{
	struct weir_filter *f, *g;
	size_t n = 0, m = 0;
	(void)state;
	save_fresh(WEIR_BLOCKED, 1000);
	unsigned char *before = image_slurp(path, &n);
	assert_ok(weir_map(&f, path, WEIR_MAP_PRIVATE, NULL));
	assert_ok(insert_each(f, 1000, 2, 2000));
	assert_ok(load_pieces(f, 1001, 2, 2000));
	assert_int_equal(missing(f, 0, 2000), 0);
	assert_refused(weir_verify(f), -EINVAL, "WEIR_MAP_READ", "");
	assert_refused(weir_seal(f), -EINVAL, "WEIR_MAP_LIVE", "");
	assert_ok(weir_map(&g, path, WEIR_MAP_READ, NULL));
	assert_true(missing(g, 1000, 2000) > 900);
	weir_destroy(f);
	weir_destroy(g);
	unsigned char *after = image_slurp(path, &m);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(before);
	free(after);
}

static void test_replaced_while_mapped(void **state)
{
	struct weir_filter *f;
	(void)state;
	save_fresh(WEIR_BLOCKED, 1000);
	assert_ok(weir_map(&f, path, WEIR_MAP_READ, NULL));
	save_fresh(WEIR_BLOCKED, 10);
	assert_int_equal(missing(f, 0, 1000), 0); /* the old file lives on as long as its mapping */
	assert_ok(weir_verify(f));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(missing(f, 0, 1000), 0);
	weir_destroy(f);
}

/* Each process inserts keys of its own, waits for the others at the start, and exits; 0 is
 * success. */
static int insert_in_process(insert_fn *insert, unsigned number, int start)
{
	struct weir_filter *f;
	char byte;
	if (weir_map(&f, path, WEIR_MAP_LIVE, NULL))
		return 1;
	if (read(start, &byte, 1) != 1)
		return 2;
	int failed = insert(f, number, PROCESSES, KEYS);
	weir_destroy(f);
	return failed;
}

static void live_in_several_processes(insert_fn *insert)
{
	struct weir_filter *f, *g;
	int start[2], status;
	save_fresh(WEIR_BLOCKED, 0);
	assert_ok(weir_map(&f, path, WEIR_MAP_LIVE, NULL));
	assert_int_equal(pipe(start), 0);
	for (unsigned p = 0; p < PROCESSES; p++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0)
			_exit(insert_in_process(insert, p, start[0]));
	}
	usleep(20000);
	assert_int_equal(write(start[1], "go", PROCESSES), PROCESSES);
	assert_int_equal(insert(f, KEYS, 1, 2 * KEYS), 0);
	for (unsigned p = 0; p < PROCESSES; p++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(missing(f, 0, 2 * KEYS), 0);
	assert_true(missing(f, 2 * KEYS, 3 * KEYS) > KEYS / 100 * 97);
	assert_ok(weir_seal(f));
	weir_destroy(f);
	assert_ok(weir_load(&g, path, NULL));
	assert_int_equal(missing(g, 0, 2 * KEYS), 0);
	weir_destroy(g);
	close(start[0]);
	close(start[1]);
}

static void test_live_in_several_processes(void **state)
{
	(void)state;
	live_in_several_processes(insert_each);
}

/* Plain stores, as into a private filter, would undo what another process inserts into the same
 * word at that moment. */
static void test_live_loads_are_atomic(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++)
		live_in_several_processes(load_pieces);
}

static void test_live_mark_and_seal(void **state)
{
	struct weir_filter *f, *g, *h;
	(void)state;
	save_fresh(WEIR_CLASSIC, 1000);
	assert_ok(weir_map(&h, path, WEIR_MAP_READ, NULL));
	assert_ok(weir_map(&f, path, WEIR_MAP_LIVE, NULL));
	assert_true(is_live());
	assert_refused(weir_load(&untouched, path, NULL), -EBUSY, path, "live");
	assert_refused(weir_map(&untouched, path, WEIR_MAP_READ, NULL), -EBUSY, path, "live");
	assert_refused(weir_map(&untouched, path, WEIR_MAP_PRIVATE, NULL), -EBUSY, path, "live");
	assert_refused(weir_verify(h), -EBUSY, path, "live");
	assert_refused(weir_verify(f), -EINVAL, "WEIR_MAP_READ", "");
	assert_ok(weir_insert_hash(f, test_key(1000)));
	assert_true(weir_contains_hash(h, test_key(1000))); /* one file, one set of pages */
	weir_destroy(f);
	assert_true(is_live());
	assert_ok(weir_map(&f, path, WEIR_MAP_LIVE, NULL)); /* as after a crash */
	assert_ok(weir_map(&g, path, WEIR_MAP_LIVE, NULL));
	assert_ok(weir_insert_hash(g, test_key(1001)));
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	assert_true(is_live());
	assert_ok(weir_insert_hash(f, test_key(1002)));
	weir_destroy(g);
	assert_ok(weir_seal(f));
	assert_false(is_live());
	assert_ok(weir_verify(h));
	/* it is now as if mapped to read */
	assert_int_equal(missing(f, 0, 1003), 0);
	assert_refused(weir_insert_hash(f, 1), -EROFS, "sealed", "");
	assert_refused(weir_insert_hashes(f, (uint64_t[]){ 1 }, 1, NULL), -EROFS, "sealed", "");
	assert_refused(weir_seal(f), -EINVAL, "WEIR_MAP_LIVE", "");
	assert_ok(weir_verify(f));
	assert_ok(weir_map(&g, path, WEIR_MAP_LIVE, NULL)); /* and in nobody's way */
	assert_refused(weir_verify(f), -EBUSY, path, "live");
	assert_ok(weir_seal(g));
	weir_destroy(f);
	weir_destroy(g);
	weir_destroy(h);
	assert_ok(weir_load(&g, path, NULL));
	assert_int_equal(missing(g, 0, 1003), 0);
	weir_destroy(g);
}

/* Flip one bit of shard @shard behind everybody's back. */
static void damage(uint32_t shard)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	unsigned char byte;
	assert_ok(weir_image_info(path, &info));
	off_t at = (off_t)(info.file_bytes - info.bytes + shard * (info.bytes / info.shards) + 77);
	int fd = open(path, O_RDWR);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 4;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void test_verify_names_the_shard(void **state)
{
	struct weir_load_options unverified = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f;
	char name[32];
	(void)state;
	unverified.no_verify = true;
	for (uint32_t shard = 0; shard < 4; shard++) {
		snprintf(name, sizeof name, "shard %u ", shard);
		save_fresh(WEIR_BLOCKED, KEYS);
		assert_ok(weir_map(&f, path, WEIR_MAP_READ, NULL));
		damage(shard);
		assert_refused(weir_verify(f), -EBADMSG, path, name);
		weir_destroy(f);
		assert_refused(weir_map(&untouched, path, WEIR_MAP_READ, NULL), -EBADMSG, path,
		               name);
		assert_refused(weir_map(&untouched, path, WEIR_MAP_LIVE, NULL), -EBADMSG, path,
		               name);
		assert_refused(weir_load(&untouched, path, NULL), -EBADMSG, path, name);
		assert_ok(weir_map(&f, path, WEIR_MAP_READ, &unverified));
		assert_refused(weir_verify(f), -EBADMSG, path, name);
		weir_destroy(f);
	}
}

/* Between the table and the bits. Read or mapped, the sentence names the byte. */
static void test_verify_names_a_reserved_byte(void **state)
{
	struct weir_filter *f;
	(void)state;
	save_fresh(WEIR_BLOCKED, 1000);
	assert_ok(weir_map(&f, path, WEIR_MAP_READ, NULL));
	int fd = open(path, O_RDWR);
	assert_int_equal(pwrite(fd, "\7", 1, 4000), 1);
	close(fd);
	assert_refused(weir_verify(f), -EBADMSG, path, "reserved byte 4000 holds 7");
	weir_destroy(f);
	assert_refused(weir_load(&untouched, path, NULL), -EBADMSG, path,
	               "reserved byte 4000 holds 7");
}

/* From 2 MiB up the mapping is placed so that huge pages can serve it. */
static void test_a_large_one_is_aligned(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 4000000, 0.01), *g;
	struct weir_inline view;
	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_save(f, path, NULL));
	weir_destroy(f);
	for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_PRIVATE; mode++) {
		assert_ok(weir_map(&g, path, (enum weir_map_mode)mode, NULL));
		assert_ok(weir_inline_init(&view, g));
		assert_int_equal((uintptr_t)view.words % (2 << 20), 0);
		assert_int_equal(missing(g, 0, 1000), 0);
		weir_destroy(g);
	}
}

/* A view made before the seal does not know of it: its inserts must not reach the sealed image. */
static void test_a_view_cannot_insert_after_the_seal(void **state)
{
	struct weir_inline_mut view;
	struct weir_filter *f;
	int status;
	(void)state;
	save_fresh(WEIR_BLOCKED, 10);
	assert_ok(weir_map(&f, path, WEIR_MAP_LIVE, NULL));
	assert_ok(weir_inline_init_mut(&view, f));
	assert_ok(weir_inline_insert_hash(&view, test_key(10)));
	assert_ok(weir_seal(f));
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		_exit(weir_inline_insert_hash(&view, test_key(11)) < 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	weir_destroy(f);
	assert_ok(weir_load(&f, path, NULL));
	assert_int_equal(missing(f, 0, 11), 0);
	weir_destroy(f);
}

static void test_no_write_permission(void **state)
{
	struct weir_filter *f;
	(void)state;
	save_fresh(WEIR_BLOCKED, 1);
	assert_int_equal(chmod(path, 0400), 0);
	if (geteuid() != 0) /* root may write anything */
		assert_refused(weir_map(&untouched, path, WEIR_MAP_LIVE, NULL), -EACCES, path, "");
	assert_ok(weir_map(&f, path, WEIR_MAP_PRIVATE, NULL));
	assert_int_equal(weir_insert_hash(f, test_key(77)), WEIR_NEW);
	weir_destroy(f);
}

#if TEST_ZSTD
static void test_compressed_is_not_mapped(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	(void)state;
	o.zstd_level = 1;
	unlink(path);
	assert_ok(weir_save(f, path, &o));
	for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE; mode++)
		assert_refused(weir_map(&untouched, path, (enum weir_map_mode)mode, NULL), -EINVAL,
		               path, "compressed");
	weir_destroy(f);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_blocked_read_only),
		cmocka_unit_test(test_private),
		cmocka_unit_test(test_replaced_while_mapped),
		cmocka_unit_test(test_live_in_several_processes),
		cmocka_unit_test(test_live_loads_are_atomic),
		cmocka_unit_test(test_live_mark_and_seal),
		cmocka_unit_test(test_verify_names_the_shard),
		cmocka_unit_test(test_verify_names_a_reserved_byte),
		cmocka_unit_test(test_a_large_one_is_aligned),
		cmocka_unit_test(test_a_view_cannot_insert_after_the_seal),
		cmocka_unit_test(test_no_write_permission),
#if TEST_ZSTD
		cmocka_unit_test(test_compressed_is_not_mapped),
#endif
	};
	return cmocka_run_group_tests(tests, folder_setup, teardown);
}
