/* SPDX-License-Identifier: MIT
 * A secret in a file, as 16 bytes or as 32 hexadecimal digits. The tests also cover files without a
 * secret, and files that other users may read. */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include "../test.h"

static char *folder;

static int make_folder(void **state) { (void)state; folder = test_folder(); return 0; }
static int remove_folder(void **state) { (void)state; test_folder_remove(folder); return 0; }

static const char *file_of(const void *bytes, size_t n, mode_t mode)
{
	static char path[512];
	snprintf(path, sizeof path, "%s/key", folder);
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && fchmod(fd, mode) == 0);
	close(fd);
	return path;
}

static const unsigned char secret[WEIR_SECRET_BYTES] = {
	0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0xab, 0xcd,
	0xef, 0x10, 0x20, 0x30, 0x09, 0x90, 0x9a, 0xa9,
};
static const char digits[] = "00017f80FF0AabCDef10203009909aA9\n";

static void a_secret_has_two_forms(void **state)
{
	const struct { const void *bytes; size_t n; mode_t mode; } forms[] = {
		{ secret, sizeof secret, 0600 },
		{ digits, 32, 0400 },
		{ digits, 33, 0640 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		unsigned char key[WEIR_SECRET_BYTES + 1];
		memset(key, 0x55, sizeof key);
		assert_ok(weir_secret_read(key, file_of(forms[i].bytes, forms[i].n,
		                                        forms[i].mode)));
		assert_memory_equal(key, secret, sizeof secret);
		/* no byte beyond the secret was written */
		assert_int_equal(key[WEIR_SECRET_BYTES], 0x55);
	}
}

/* Asserts that the call fails and leaves the caller's secret unchanged. */
static void refuse(const char *path, int err, const char *a, const char *b)
{
	unsigned char key[WEIR_SECRET_BYTES] = { 1, 2, 3 }, before[WEIR_SECRET_BYTES];
	memcpy(before, key, sizeof key);
	assert_refused(weir_secret_read(key, path), err, a, b);
	assert_memory_equal(key, before, sizeof key);
}

static void files_without_a_secret_are_refused(void **state)
{
	static const struct { const char *bytes; size_t n; } none[] = {
		{ "", 0 }, { digits, 15 }, { digits, 17 }, { digits, 31 },
		{ "00017f80FF0AabCDef10203009909aA9x", 33 },
		{ "00017f80FF0AabCDef10203009909aA9\n\n", 34 },
		{ "00017f80FF0AabCDef10203009909aAg", 32 },
		{ "00017f80FF0AabCDef10203009909a\0\n", 32 },
		{ "0x017f80FF0AabCDef10203009909aA9", 32 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(none); i++)
		refuse(file_of(none[i].bytes, none[i].n, 0600), -EBADMSG, "not a key of 16 bytes",
		       "head -c 16");
	refuse("/no/such/key", -ENOENT, "/no/such/key: cannot open it", "no such file");
	refuse(folder, -EISDIR, folder, "a directory, not a key");
	refuse(NULL, -EINVAL, "path", "NULL");
	assert_refused(weir_secret_read(NULL, folder), -EINVAL, "key", "NULL");
	if (access("/proc/self/mem", R_OK) == 0) /* a read at address 0 fails */
		refuse("/proc/self/mem", -EIO, "/proc/self/mem: cannot read it", "");
}

static void files_that_others_may_read_are_refused(void **state)
{
	static const mode_t modes[] = { 0604, 0602, 0601, 0620, 0644, 0666 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		char mode[16];
		snprintf(mode, sizeof mode, "mode is %04o", (unsigned)modes[i]);
		refuse(file_of(secret, sizeof secret, modes[i]), -EACCES, mode,
		       "others may read or write");
	}
	if (geteuid() != 0)
		return;
	const char *path = file_of(secret, sizeof secret, 0600);
	assert_int_equal(chown(path, 1, (gid_t)-1), 0);
	refuse(path, -EACCES, "belongs to user 1,", "yours or root's");
	/* the file belongs to root and is readable by its group */
	unsigned char key[WEIR_SECRET_BYTES];
	assert_int_equal(chown(path, 0, 65534) | chmod(path, 0640) | chmod(folder, 0711), 0);
	assert_int_equal(setegid(65534) | seteuid(65534), 0);
	const int answer = weir_secret_read(key, path);
	assert_int_equal(seteuid(0) | setegid(0), 0);
	assert_ok(answer);
	assert_memory_equal(key, secret, sizeof secret);
}

/* The writer of the pipe writes one byte at a time. */
static void a_secret_may_arrive_in_parts(void **state)
{
	char path[512];
	unsigned char key[WEIR_SECRET_BYTES];
	(void)state;
	snprintf(path, sizeof path, "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	pid_t child = fork();
	if (child == 0) {
		int fd = open(path, O_WRONLY);
		for (size_t i = 0; i < sizeof secret; i++) {
			if (write(fd, secret + i, 1) != 1)
				_exit(1);
			usleep(1000);
		}
		_exit(0);
	}
	assert_true(child > 0);
	assert_ok(weir_secret_read(key, path));
	assert_memory_equal(key, secret, sizeof secret);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_secret_has_two_forms),
		cmocka_unit_test(files_without_a_secret_are_refused),
		cmocka_unit_test(files_that_others_may_read_are_refused),
		cmocka_unit_test(a_secret_may_arrive_in_parts),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
