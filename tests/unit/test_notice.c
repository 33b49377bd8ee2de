/* SPDX-License-Identifier: MIT
 * Notices about one file name in a folder, and about names that begin with the file name and a
 * mark such as ".delta-". Other files cause no notice. Otherwise a follower would poll once for
 * each file of a busy folder. */
#include <fcntl.h>
#include "../test.h"
#include "set/follow/follow.h"

static char *folder;

static int make_folder(void **state) { (void)state; folder = test_folder(); return 0; }
static int remove_folder(void **state) { (void)state; test_folder_remove(folder); return 0; }

static const char *in_folder(const char *name)
{
	static char paths[2][512];
	static unsigned turn;
	char *path = paths[turn++ % 2];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void write_to(const char *name)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(close(fd), 0);
}

static void rename_to(const char *from, const char *to)
{
	assert_int_equal(rename(in_folder(from), in_folder(to)), 0);
}

static const char *const others[] = {
	"set", "set.wei", "set.weir2", "set.weir.delta", "set.weir.tmp", "Set.weir", "aset.weir",
	".weir-new-1", "t.weir.delta-1",
};

static void begin(struct weir_notice *n, const char *mark)
{
	*n = weir__notice(folder, "set.weir", mark);
	weir__notice_renew(n);
	assert_true(n->fd >= 0);
	assert_false(weir__notice_read(n));
}

static void other_files_cause_no_notice(void **state)
{
	(void)state;
	for (unsigned marked = 0; marked < 2; marked++) {
		struct weir_notice n;
		begin(&n, marked ? ".delta-" : NULL);
		for (size_t i = 0; i < COUNT_OF(others); i++) {
			write_to(others[i]);
			assert_false(weir__notice_read(&n));
			rename_to(others[i], "elsewhere");
			assert_false(weir__notice_read(&n));
			rename_to("elsewhere", others[i]);
			assert_false(weir__notice_read(&n));
			assert_int_equal(unlink(in_folder(others[i])), 0);
			assert_false(weir__notice_read(&n));
		}
		weir__notice_close(&n);
	}
}

static void the_file_and_marked_names_cause_notices(void **state)
{
	static const char *const names[] = { "set.weir", "set.weir.delta-", "set.weir.delta-1-2" };
	(void)state;
	for (unsigned marked = 0; marked < 2; marked++)
		for (size_t i = 0; i < COUNT_OF(names); i++) {
			const bool concerned = marked || i == 0;
			struct weir_notice n;
			begin(&n, marked ? ".delta-" : NULL);
			write_to("other");
			write_to(names[i]);
			write_to("other");
			assert_int_equal(weir__notice_read(&n), concerned);
			assert_false(weir__notice_read(&n)); /* each event is reported once */
			rename_to("other", names[i]);
			assert_int_equal(weir__notice_read(&n), concerned);
			assert_int_equal(unlink(in_folder(names[i])), 0);
			assert_int_equal(weir__notice_read(&n), concerned);
			weir__notice_close(&n);
		}
}

/* The folder is renamed, and a new folder gets the old name. */
static void a_replaced_folder_causes_a_notice(void **state)
{
	struct weir_notice n;
	char inner[512];
	(void)state;
	snprintf(inner, sizeof inner, "%s/inner", folder);
	assert_int_equal(mkdir(inner, 0700), 0);
	n = weir__notice(inner, "set.weir", NULL);
	weir__notice_renew(&n);
	rename_to("inner", "aside");
	assert_true(weir__notice_read(&n));
	assert_int_equal(mkdir(inner, 0700), 0);
	weir__notice_renew(&n);
	(void)weir__notice_read(&n);
	write_to("aside/set.weir");
	assert_false(weir__notice_read(&n));
	write_to("inner/set.weir");
	assert_true(weir__notice_read(&n));
	weir__notice_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_files_cause_no_notice),
		cmocka_unit_test(the_file_and_marked_names_cause_notices),
		cmocka_unit_test(a_replaced_folder_causes_a_notice),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
