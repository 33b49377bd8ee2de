/* SPDX-License-Identifier: MIT
 * Files that change while they are read: they shrink, grow, are written to, go live. The progress function does it after the first
 * shard, so it is the same in every run. */
#include <errno.h>
#include "../image_bytes.h"
#include "../folder.h"

static int shrink(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	return done < total ? truncate(path, (off_t)(IMAGE_PAGE + done + 1)) : 0;
}

static int grow(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done;
	return truncate(path, (off_t)(IMAGE_PAGE + total + 1));
}

static int overwrite(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done;
	int fd = open(path, O_WRONLY);
	int answer = pwrite(fd, "other", 5, (off_t)(IMAGE_PAGE + total - 5)) == 5 ? 0 : 1;
	close(fd);
	return answer;
}

static int go_live(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return overwrite(arg, done, total) || truncate(path, (off_t)(IMAGE_PAGE + total)) ||
	       weir_map(arg, path, WEIR_MAP_LIVE, &(struct weir_load_options){ sizeof(struct weir_load_options), .no_verify = true });
}

static void test_changes_while_read(void **state)
{
	static const struct { weir_progress_fn *change; const char *word; } cases[] = {
		{ shrink, "ends at byte" }, { grow, "goes on" }, { overwrite, "shard" } };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cases); i++)
		for (int how = 0; how < 3; how++) {
			struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
			struct weir_filter *f = test_filter(WEIR_BLOCKED, 200000, 0.01), *g = NULL;
			assert_ok(weir_save(f, path, NULL));
			weir_destroy(f);
			o.progress = cases[i].change;
			int answer = how == 0 ? weir_load(&g, path, &o) : weir_map(&g, path, how == 1 ? WEIR_MAP_READ : WEIR_MAP_LIVE, &o);
			assert_refused(answer, -EBADMSG, path, cases[i].word);
			assert_null(g);
		}
}

/* Another process maps it live and inserts while it is verified: busy for a reader, fine for one more live mapping. */
static void test_goes_live_while_verified(void **state)
{
	(void)state;
	for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE; mode++) {
		struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
		struct weir_filter *f = test_filter(WEIR_BLOCKED, 200000, 0.01), *g = NULL, *live = NULL;
		assert_ok(weir_save(f, path, NULL));
		weir_destroy(f);
		o.progress = go_live;
		o.progress_arg = &live;
		int answer = weir_map(&g, path, (enum weir_map_mode)mode, &o);
		if (mode == WEIR_MAP_LIVE)
			assert_ok(answer);
		else
			assert_refused(answer, -EBUSY, path, "live");
		weir_destroy(g);
		weir_destroy(live);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes_while_read),
		cmocka_unit_test(test_goes_live_while_verified),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
