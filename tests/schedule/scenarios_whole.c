/* SPDX-License-Identifier: MIT
 * Operations on whole filters during inserts. A merge, a copy and a saved image have every key that
 * was promised before the operation began, and no later key is lost. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "forms.h"

enum { MERGED = 2 };

/* Before the merge, key 0 is in the source. During the merge one thread inserts key 1 into the
 * destination and promises slot 1, and another thread inserts key 2 into the source and promises
 * slot 3. */
static void insert_into_source(void *unused)
{
	(void)unused;
	det_assert(form_insert(subject->other, hash_of(2)) == WEIR_NEW);
	promise(3);
}

static void merge(void *unused)
{
	(void)unused;
	bool early = promised(3);
	det_assert(weir_merge(subject->filter, subject->other) == 0);
	det_assert(form_contains(subject->filter, hash_of(0)));
	det_assert(!early || form_contains(subject->filter, hash_of(2)));
	promise(MERGED);
}

static void verify_merge(void *unused)
{
	(void)unused;
	det_assert(!promised(1) || form_contains(subject->filter, hash_of(1)));
	det_assert(!promised(MERGED) || form_contains(subject->filter, hash_of(0)));
}

static void merged(void)
{
	static struct insertion insertion = { 1, 1 };
	scenario_begin();
	form_insert(subject->other, hash_of(0));
	det_spawn(insert_thread, &insertion);
	det_spawn(insert_into_source, NULL);
	det_spawn(merge, NULL);
	det_spawn_reader(verify_merge, NULL);
	det_join_all();
	det_assert(answer[1] == WEIR_NEW);
	det_assert(form_contains(subject->filter, hash_of(0)) &&
	           form_contains(subject->filter, hash_of(1)));
	det_assert(form_contains(subject->other, hash_of(0)) &&
	           form_contains(subject->other, hash_of(2)));
	det_assert(!form_contains(subject->other, hash_of(1)));
}

/* Checks that @copy has the keys that were promised before the copy began, and does not have key 2,
 * which is never inserted. */
static void check_copy(struct weir_filter *copy, bool zero, bool one)
{
	det_assert(!zero || form_contains(copy, hash_of(0)));
	det_assert(!one || form_contains(copy, hash_of(1)));
	det_assert(!form_contains(copy, hash_of(2)));
	weir_destroy(copy);
	det_assert(det_allocated() == 0);
}

static void copy(void *unused)
{
	struct weir_filter *made = NULL;
	(void)unused;
	bool zero = promised(0), one = promised(1);
	det_assert(weir_clone(&made, subject->filter) == 0);
	check_copy(made, zero, one);
}

static void save_stream(void *unused)
{
	struct weir_filter *loaded = NULL;
	(void)unused;
	bool zero = promised(0), one = promised(1);
	int fd = memfd_create("image", 0);
	det_assert(fd >= 0 && weir_save(subject->filter, weir_location_fd(fd), NULL) > 0);
	bool read = lseek(fd, 0, SEEK_SET) == 0 &&
	            weir_load(&loaded, weir_location_fd(fd), NULL) == 0;
	close(fd);
	if (!read)
		det_fail("what was saved cannot be loaded: %s", weir_error_detail());
	check_copy(loaded, zero, one);
}

static void save_file(void *unused)
{
	struct weir_filter *loaded = NULL;
	char path[64];
	(void)unused;
	bool zero = promised(0), one = promised(1);
	/* The image is a file in memory if possible, because disks are not under test. */
	snprintf(path, sizeof path, "%s/weir-schedule-%d",
	         access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	det_assert(weir_save(subject->filter, weir_location_path(path), NULL) > 0);
	bool read = weir_load(&loaded, weir_location_path(path), NULL) == 0;
	unlink(path);
	if (!read)
		det_fail("what was saved cannot be loaded: %s", weir_error_detail());
	check_copy(loaded, zero, one);
}

static void snapshot(void (*thread)(void *))
{
	static struct insertion insertions[] = { { 0, 0 }, { 1, 1 } };
	scenario_begin();
	det_spawn(insert_thread, &insertions[0]);
	det_spawn(insert_thread, &insertions[1]);
	det_spawn(thread, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && answer[1] == WEIR_NEW);
}

static void copied(void)
{
	snapshot(copy);
}

static void saved_to_stream(void)
{
	snapshot(save_stream);
}

static void saved_to_file(void)
{
	snapshot(save_file);
}

static bool mergeable(const struct subject *s)
{
	return one_line(s) && s->merges;
}

static bool copyable(const struct subject *s)
{
	return one_line(s) && s->copies;
}

const struct scenario whole_scenarios[] = {
	{ .name = "merged",
	  .group = "whole",
	  .body = merged,
	  .fits = mergeable,
	  .search_words = 2 },
	{ .name = "copied", .group = "whole", .body = copied, .fits = copyable, .search_words = 2 },
	{ .name = "to a stream",
	  .group = "whole",
	  .body = saved_to_stream,
	  .fits = copyable,
	  .search_words = 1,
	  .cost = 20 },
	{ .name = "to a file",
	  .group = "whole",
	  .body = saved_to_file,
	  .fits = copyable,
	  .search_words = 1,
	  .cost = 20 },
	{ .name = NULL },
};
