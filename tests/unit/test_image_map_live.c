/* SPDX-License-Identifier: MIT
 * Images that are mapped live. Several processes insert into one image at once. The tests also
 * cover the live mark and the seal. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <weir/inline.h>
#include "mapped.h"

enum { PROCESSES = 2 };

static bool is_live(void)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	assert_ok(weir_image_inspect(weir_location_path(path), &info));
	return info.live;
}

/* Insert the keys @from, @from + @step ... below @to. Return: 0 on success. */
typedef int insert_fn(struct weir_filter *f, uint64_t from, uint64_t step, uint64_t to);

/* Map the image, wait for the start, and insert the keys of this process.
 * Return: the exit status of the process, 0 on success. */
static int insert_in_process(insert_fn *insert, unsigned number, int start)
{
	struct weir_filter *f;
	char byte;
	if (weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL))
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
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
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
	assert_ok(weir_load(&g, weir_location_path(path), NULL));
	assert_int_equal(missing(g, 0, 2 * KEYS), 0);
	weir_destroy(g);
	close(start[0]);
	close(start[1]);
}

static void test_several_processes_insert_into_one_image(void **state)
{
	(void)state;
	live_in_several_processes(insert_each);
}

/* In a private filter weir_fill_keys() changes words without atomic operations. In a live map such
 * a change could undo another process's insert into the same word. */
static void test_fills_of_a_live_map_are_atomic(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++)
		live_in_several_processes(load_pieces);
}

/* Set the protection of every mapping of the image at path. */
static void protect(int protection)
{
	char line[4600];
	FILE *maps = fopen("/proc/self/maps", "r");
	bool found = false;
	assert_non_null(maps);
	while (fgets(line, sizeof line, maps)) {
		unsigned long from, end;
		if (!strstr(line, path) || sscanf(line, "%lx-%lx ", &from, &end) != 2)
			continue;
		found = true;
		assert_int_equal(mprotect((void *)from, end - from, protection), 0);
	}
	fclose(maps);
	assert_true(found);
}

/* A fill must not store a word that already has all bits of the key, because the store could undo
 * another process's insert into the word. */
static void test_a_fill_of_a_live_map_stores_no_bit_twice(void **state)
{
	uint64_t hashes[1000];
	unsigned kinds = 0;
	(void)state;
	for (uint64_t i = 0; i < COUNT_OF(hashes); i++)
		hashes[i] = test_key(i);
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		struct weir_filter *f;
		int status;
		if (!weir_kind_can(test_kinds[k], WEIR_CAN_MAP_LIVE) ||
		    weir_kind_can(test_kinds[k], WEIR_CAN_COUNT))
			continue; /* in a kind that counts, an insert of a stored key writes too */
		save_fresh(test_kinds[k], COUNT_OF(hashes));
		assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			protect(PROT_READ);
			_exit(weir_fill_keys(f, weir_keys_hashes(hashes, COUNT_OF(hashes))) != 0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (status)
			fail_msg("%s: %d", weir_kind_name(test_kinds[k]), status);
		assert_ok(weir_seal(f));
		weir_destroy(f);
		assert_int_equal(unlink(path), 0);
		kinds++;
	}
	assert_true(kinds >= 3);
}

static void test_the_live_mark_lasts_until_the_seal(void **state)
{
	struct weir_filter *f, *g, *h;
	(void)state;
	save_fresh(WEIR_CLASSIC, 1000);
	assert_ok(weir_load(&h, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_true(is_live());
	assert_refused(weir_load(&untouched, weir_location_path(path), NULL), -EBUSY, path, "live");
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_READ), NULL), -EBUSY,
	               path, "live");
	assert_refused(weir_load(&untouched, weir_location_map(path, WEIR_MAP_PRIVATE), NULL),
	               -EBUSY, path, "live");
	assert_refused(weir_verify(h), -EBUSY, path, "live");
	assert_refused(weir_verify(f), -EINVAL, "WEIR_MAP_READ", "");
	assert_ok(weir_insert_hash(f, test_key(1000)));
	/* both maps share the pages of one file */
	assert_true(weir_contains_hash(h, test_key(1000)));
	weir_destroy(f);
	assert_true(is_live());
	assert_ok(
		/* the image is still marked live, as after a crash */
		weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_ok(weir_insert_hash(g, test_key(1001)));
	assert_refused(weir_seal(f), -EBUSY, path, "elsewhere");
	assert_true(is_live());
	assert_ok(weir_insert_hash(f, test_key(1002)));
	weir_destroy(g);
	assert_ok(weir_seal(f));
	assert_false(is_live());
	assert_ok(weir_verify(h));
	/* from now on f behaves as if it were mapped with WEIR_MAP_READ */
	assert_int_equal(missing(f, 0, 1003), 0);
	assert_refused(weir_insert_hash(f, 1), -EROFS, "sealed", "");
	assert_refused(weir_insert_keys(f, weir_keys_hashes((uint64_t[]){ 1 }, 1), NULL), -EROFS,
	               "sealed", "");
	assert_refused(weir_seal(f), -EINVAL, "WEIR_MAP_LIVE", "");
	assert_ok(weir_verify(f));
	/* the sealed filter f does not prevent another live map */
	assert_ok(weir_load(&g, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_refused(weir_verify(f), -EBUSY, path, "live");
	assert_ok(weir_seal(g));
	weir_destroy(f);
	weir_destroy(g);
	weir_destroy(h);
	assert_ok(weir_load(&g, weir_location_path(path), NULL));
	assert_int_equal(missing(g, 0, 1003), 0);
	weir_destroy(g);
}

/* A view that was made before the seal cannot know of the seal. */
static void test_a_view_cannot_insert_after_the_seal(void **state)
{
	struct weir_inline_mut view;
	struct weir_filter *f;
	int status;
	(void)state;
	save_fresh(WEIR_BLOCKED, 10);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
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
	assert_ok(weir_load(&f, weir_location_path(path), NULL));
	assert_int_equal(missing(f, 0, 11), 0);
	weir_destroy(f);
}

/* Other processes would not see a new prefix length. */
static void test_a_live_map_refuses_new_prefix_lengths(void **state)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	(void)state;
	p.capacity = 100;
	p.fp_rate = 0.01;
	p.text.steps = WEIR_TEXT_CIDR;
	assert_ok(weir_create(&f, &p));
	assert_int_equal(weir_insert(f, "10.0.0.0/8", 10), WEIR_NEW);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_refused(weir_insert(f, "192.0.2.0/24", 12), -EINVAL, "192.0.2.0/24", "live");
	assert_false(weir_contains(f, "192.0.2.1", 9));
	assert_int_equal(weir_insert(f, "11.0.0.0/8", 10), WEIR_NEW);
	assert_true(weir_contains(f, "11.1.2.3", 8));
	assert_ok(weir_seal(f));
	weir_destroy(f);
}

/* A refused map leaves no live mark. */
static void test_only_capable_kinds_can_be_mapped_live(void **state)
{
	uint64_t hashes[100];
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(hashes); i++)
		hashes[i] = test_key(i);
	for (unsigned k = 0; k < COUNT_OF(test_kinds); k++) {
		const uint32_t kind = test_kinds[k];
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_filter *f = NULL;
		p.kind = kind;
		p.capacity = 100;
		p.fp_rate = 0.01;
		p.seed = test_seed(kind, 7);
		p.window.span_seconds = kind == WEIR_WINDOW;
		p.router.sets = kind == WEIR_ROUTER ? 3 : 0;
		assert_ok(weir_kind_can(kind, WEIR_CAN_BUILD) ?
		                  weir_build(&f, &p, weir_keys_hashes(hashes, COUNT_OF(hashes)),
		                             NULL) : weir_create(&f, &p));
		assert_ok(weir_save(f, weir_location_path(path), NULL));
		weir_destroy(f);
		const int err = weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL);
		assert_int_equal(err, weir_kind_can(kind, WEIR_CAN_MAP_LIVE) ? 0 : -ENOTSUP);
		if (!err) {
			assert_ok(weir_seal(f));
			weir_destroy(f);
		}
		assert_false(is_live());
		assert_ok(weir_image_verify(weir_location_path(path), NULL, NULL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_several_processes_insert_into_one_image),
		cmocka_unit_test(test_fills_of_a_live_map_are_atomic),
		cmocka_unit_test(test_a_fill_of_a_live_map_stores_no_bit_twice),
		cmocka_unit_test(test_the_live_mark_lasts_until_the_seal),
		cmocka_unit_test(test_a_view_cannot_insert_after_the_seal),
		cmocka_unit_test(test_a_live_map_refuses_new_prefix_lengths),
		cmocka_unit_test(test_only_capable_kinds_can_be_mapped_live),
	};
	return cmocka_run_group_tests(tests, folder_setup, teardown);
}
