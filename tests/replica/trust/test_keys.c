/* SPDX-License-Identifier: MIT
 * Key files have one form, and are never written in part. A file that others can write is refused,
 * and so is a secret that others can read. */
#include <dirent.h>
#include "trusted.h"

static int read_secret(const char *file)
{
	struct weir_signer *s;
	int err = weir__signer_open(&s, file);
	if (!err)
		weir__signer_close(s);
	return err;
}

static unsigned char keys[WEIR_KEYS_TRUSTED][WEIR_KEY_BYTES];

static void print(char line[WEIR_KEY_LINE + 1], const char *first, const unsigned char key[32])
{
	int n = sprintf(line, "%s", first);
	for (unsigned i = 0; i < 32; i++)
		n += sprintf(line + n, "%02x", key[i]);
	strcpy(line + n, "\n");
}

static void a_key_has_one_form(void **state)
{
	static const char bytes[] = "0123456789abcdefAFGg/:@`~!-.kyrtspuliw \t\n\r\v\x7f\x80\xff";
	char to[256], line[WEIR_KEY_LINE + 1], again[WEIR_KEY_LINE + 1];
	(void)state;
	assert_int_equal(weir__keys_read(keys, public_path), 1);
	assert_true(keys[0][0] == 0x03 && keys[0][31] == 0xb8);
	for (unsigned i = 0; i < 2 * WEIR_KEY_LINE * sizeof bytes; i++) {
		const size_t at = i / 2 % WEIR_KEY_LINE;
		const bool digit = at >= 18 && at < 82;
		const char c = bytes[i / 2 / WEIR_KEY_LINE];
		strcpy(line, i % 2 ? SECRET_LINE : PUBLIC_LINE);
		const bool right = c == line[at] ||
		                   (digit && c && strchr("0123456789abcdef", c) != NULL);
		line[at] = c;
		put_file(to, "key", line, WEIR_KEY_LINE, 0600);
		if (i % 2) {
			assert_int_equal(read_secret(to), right ? 0 : -EBADMSG);
			continue;
		}
		assert_int_equal(weir__keys_read(keys, to), right ? 1 : -EBADMSG);
		if (right) {
			print(again, "weir-key-public 1 ", keys[0]);
			assert_memory_equal(line, again, WEIR_KEY_LINE);
		}
	}
}

static void a_file_of_another_length_is_refused(void **state)
{
	static const char secret[] = SECRET_LINE "\n", public[] = PUBLIC_LINE "\n";
	char to[256];
	(void)state;
	for (size_t len = 0; len < sizeof secret; len++) {
		put_file(to, "key", secret, len, 0600);
		assert_int_equal(read_secret(to), len == WEIR_KEY_LINE ? 0 : -EBADMSG);
	}
	for (size_t len = 0; len < sizeof public; len++) {
		put_file(to, "key", public, len, 0600);
		assert_int_equal(weir__keys_read(keys, to), len == WEIR_KEY_LINE ? 1 : -EBADMSG);
	}
	assert_refused(weir__keys_read(keys, to), -EBADMSG, to, "line 2 of at most 64");
	assert_refused(read_secret(public_path), -EBADMSG, public_path, "weir-key-secret");
	assert_refused(weir__keys_read(keys, secret_path), -EBADMSG, secret_path, "public");
}

static void up_to_64_keys_are_trusted(void **state)
{
	char to[256], secret[256], public[256], line[WEIR_KEY_LINE + 1];
	char text[(WEIR_KEYS_TRUSTED + 1) * WEIR_KEY_LINE + 1];
	(void)state;
	for (int i = 0; i <= WEIR_KEYS_TRUSTED; i++) {
		sprintf(secret, "%s/secret-%d", folder, i);
		sprintf(public, "%s/public-%d", folder, i);
		assert_ok(weir__key_make(secret, public));
		get_file(text + i * WEIR_KEY_LINE, WEIR_KEY_LINE + 1, public);
	}
	put_text(to, "keys", text);
	assert_refused(weir__keys_read(keys, to), -EBADMSG, to, "line 65");
	put_file(to, "keys", text, WEIR_KEYS_TRUSTED * WEIR_KEY_LINE, 0600);
	assert_int_equal(weir__keys_read(keys, to), WEIR_KEYS_TRUSTED);
	for (size_t i = 0; i < WEIR_KEYS_TRUSTED; i++) {
		print(line, "weir-key-public 1 ", keys[i]);
		assert_memory_equal(line, text + i * WEIR_KEY_LINE, WEIR_KEY_LINE);
	}
	put_file(to, "secrets", SECRET_LINE SECRET_LINE, 2 * WEIR_KEY_LINE, 0600);
	assert_refused(read_secret(to), -EBADMSG, to, "line 2 of at most 1");
}

static void others_have_no_right_to_a_file_of_keys(void **state)
{
	static const struct { mode_t mode; int secret, public; } cases[] = {
		{ 0600, 0, 1 }, { 0400, 0, 1 }, { 0440, 0, 1 }, { 0640, 0, 1 },
		{ 0644, -EACCES, 1 }, { 0604, -EACCES, 1 }, { 0601, -EACCES, 1 },
		{ 0602, -EACCES, -EACCES }, { 0620, -EACCES, -EACCES },
		{ 0660, -EACCES, -EACCES }, { 0666, -EACCES, -EACCES },
	};
	char to[256], digits[8];
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sprintf(digits, "%04o", (unsigned)cases[i].mode);
		put_file(to, "secret", SECRET_LINE, WEIR_KEY_LINE, cases[i].mode);
		assert_int_equal(read_secret(to), cases[i].secret);
		if (cases[i].secret)
			assert_refused(read_secret(to), -EACCES, to, digits);
		put_file(to, "public", PUBLIC_LINE, WEIR_KEY_LINE, cases[i].mode);
		assert_int_equal(weir__keys_read(keys, to), cases[i].public);
		if (cases[i].public < 0)
			assert_refused(weir__keys_read(keys, to), -EACCES, to, digits);
	}
}

static void only_a_file_of_this_user_or_root_has_keys(void **state)
{
	char to[256];
	(void)state;
	assert_refused(read_secret(folder), -EACCES, folder, "not a regular file");
	sprintf(to, "%s/none", folder);
	assert_refused(read_secret(to), -ENOENT, to, "cannot open");
	assert_refused(weir__keys_read(keys, to), -ENOENT, to, "cannot open");
	assert_int_equal(mkfifo(to, 0600), 0); /* a FIFO without a writer */
	assert_refused(weir__keys_read(keys, to), -EACCES, to, "not a regular file");
	sprintf(to, "%s/link", folder); /* as Kubernetes mounts a secret */
	assert_int_equal(symlink(secret_path, to), 0);
	assert_ok(read_secret(to));
	if (geteuid() == 0) { /* only root can give a file away */
		assert_int_equal(chown(secret_path, 4711, 0) | chown(public_path, 4711, 0), 0);
		assert_refused(read_secret(secret_path), -EACCES, secret_path, "4711");
		assert_refused(weir__keys_read(keys, public_path), -EACCES, public_path, "4711");
	}
}

static int files(void)
{
	int n = -2; /* do not count . and .. */
	DIR *d = opendir(folder);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void a_pair_is_made_whole_or_not_at_all(void **state)
{
	char secret[256], public[256], text[256], again[256];
	struct stat st;
	(void)state;
	sprintf(secret, "%s/new-secret", folder);
	sprintf(public, "%s/new-public", folder);
	mode_t mask = umask(0);
	assert_ok(weir__key_make(secret, public));
	umask(mask);
	assert_int_equal(files(), 4);
	assert_true(stat(secret, &st) == 0 && st.st_mode == (S_IFREG | 0600) && st.st_nlink == 1);
	assert_true(stat(public, &st) == 0 && st.st_mode == (S_IFREG | 0644) && st.st_nlink == 1);
	assert_ok(read_secret(secret));
	assert_int_equal(weir__keys_read(keys, public), 1);
	get_file(text, sizeof text, secret);
	assert_refused(weir__key_make(secret, public), -EEXIST, secret, "exists");
	get_file(again, sizeof again, secret);
	assert_string_equal(text, again);
	/* If one of the two key files exists, the call does not make the other file. */
	assert_int_equal(unlink(secret), 0);
	assert_refused(weir__key_make(secret, public), -EEXIST, public, "exists");
	assert_refused(weir__key_make(secret, secret), -EEXIST, secret, "exists");
	/* Another process's unfinished file stays. */
	put_text(again, "new-secret.new", "mine");
	assert_refused(weir__key_make(secret, public), -EEXIST, again, "exists");
	get_file(text, sizeof text, again);
	assert_string_equal(text, "mine");
	assert_int_equal(unlink(again), 0);
	sprintf(public, "%s/none/public", folder);
	assert_refused(weir__key_make(secret, public), -ENOENT, public, "cannot write");
	assert_refused(weir__key_make(public, secret), -ENOENT, public, "cannot write");
	assert_int_equal(files(), 3);
}

static void no_two_pairs_are_the_same(void **state)
{
	char secret[256], public[256], texts[2][256];
	(void)state;
	for (int i = 0; i < 2; i++) {
		sprintf(secret, "%s/secret-%d", folder, i);
		sprintf(public, "%s/public-%d", folder, i);
		assert_ok(weir__key_make(secret, public));
		assert_int_equal(get_file(texts[i], sizeof texts[i], secret), WEIR_KEY_LINE);
	}
	assert_string_not_equal(texts[0], texts[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(a_key_has_one_form),
		EACH(a_file_of_another_length_is_refused),
		EACH(up_to_64_keys_are_trusted),
		EACH(others_have_no_right_to_a_file_of_keys),
		EACH(only_a_file_of_this_user_or_root_has_keys),
		EACH(a_pair_is_made_whole_or_not_at_all),
		EACH(no_two_pairs_are_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
