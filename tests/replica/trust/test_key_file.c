/* SPDX-License-Identifier: MIT
 * Files of keys: one form, nobody else's, and made whole or not at all. */
#include <dirent.h>
#include "key_text.h"

static int make_folder(void **state)
{
	*state = test_folder();
	return 0;
}

static int remove_folder(void **state)
{
	test_folder_remove(*state);
	return 0;
}

static void test_read(void **state)
{
	char path[256];
	unsigned char seed[WEIR_KEY_SEED], keys[WEIR_KEYS_TRUSTED][WEIR_KEY_PUBLIC];
	size_t n = 0;
	assert_ok(weir__key_file_secret(seed, put_text(path, *state, "secret", SECRET_LINE)));
	for (unsigned i = 0; i < sizeof seed; i++)
		assert_int_equal(seed[i], i);
	assert_ok(weir__key_file_public(keys, &n, put_text(path, *state, "public", PUBLIC_LINE)));
	assert_int_equal(n, 1);
	assert_true(keys[0][0] == 0x03 && keys[0][31] == 0xb8);
}

/* What the file should have been, if it has been read. */
static void print(char line[WEIR_KEY_LINE + 1], const char *first, const unsigned char key[32])
{
	int n = sprintf(line, "%s", first);
	for (unsigned i = 0; i < 32; i++)
		n += sprintf(line + n, "%02x", key[i]);
	strcpy(line + n, "\n");
}

/* At every place every byte; in short what a digit, a word or a blank may be, and what stands
 * beside them. */
static void test_every_byte(void **state)
{
	static const char bytes[] = "0123456789abcdef" "AFGg/:@`~!-.kyrtspuliw "
	                            "\t\n\r\v\x7f\x80\xff";
	char path[256], line[WEIR_KEY_LINE + 1], again[WEIR_KEY_LINE + 1];
	unsigned char keys[WEIR_KEYS_TRUSTED][WEIR_KEY_PUBLIC];
	const unsigned values = test_is_short() ? sizeof bytes /* 0 too */ : 256;
	unsigned taken[2] = { 0 };
	for (unsigned i = 0; i < 2 * WEIR_KEY_LINE * values; i++) {
		bool secret = i % 2;
		size_t n = 1, at = i / 2 % WEIR_KEY_LINE;
		strcpy(line, secret ? SECRET_LINE : PUBLIC_LINE);
		unsigned value = i / 2 / WEIR_KEY_LINE;
		line[at] = values == 256 ? (char)value : bytes[value];
		put_file(path, *state, "key", line, WEIR_KEY_LINE, 0600);
		int err = secret ? weir__key_file_secret(keys[0], path) :
		                   weir__key_file_public(keys, &n, path);
		if (err) {
			assert_int_equal(err, -EBADMSG);
			continue;
		}
		print(again, secret ? "weir-key-secret 1 " : "weir-key-public 1 ", keys[0]);
		assert_memory_equal(line, again, WEIR_KEY_LINE);
		assert_int_equal(n, 1);
		taken[secret]++;
	}
	/* each digit of a secret may be each of 16; of other public keys an eighth or so is one */
	assert_int_equal(taken[1], 64 * 16 + 19);
	assert_true(taken[0] > 19 + 64 && taken[0] < 64 * 16);
}

static void test_lengths(void **state)
{
	static const char line[] = SECRET_LINE "\n";
	char path[256];
	unsigned char keys[WEIR_KEYS_TRUSTED][WEIR_KEY_PUBLIC];
	size_t n = 0;
	for (size_t len = 0; len < sizeof line; len++) {
		put_file(path, *state, "key", line, len, 0600);
		assert_int_equal(weir__key_file_secret(keys[0], path),
		                 len == WEIR_KEY_LINE ? 0 : -EBADMSG);
	}
	for (size_t len = 0; len < sizeof line; len++) {
		put_file(path, *state, "key", PUBLIC_LINE "\n", len, 0600);
		assert_int_equal(weir__key_file_public(keys, &n, path),
		                 len == WEIR_KEY_LINE ? 0 : -EBADMSG);
	}
	assert_refused(weir__key_file_public(keys, &n, path), -EBADMSG, path, "line 2 is cut");
	put_text(path, *state, "key", "");
	assert_refused(weir__key_file_public(keys, &n, path), -EBADMSG, path, "empty");
	assert_refused(weir__key_file_secret(keys[0], put_text(path, *state, "key", PUBLIC_LINE)),
	               -EBADMSG, path, "no secret key");
	assert_refused(weir__key_file_public(keys, &n, put_text(path, *state, "key", SECRET_LINE)),
	               -EBADMSG, path, "line 1 is no public key");
}

static void test_several(void **state)
{
	char path[256], secret[256], public[256];
	char text[(WEIR_KEYS_TRUSTED + 1) * WEIR_KEY_LINE + 1];
	unsigned char keys[WEIR_KEYS_TRUSTED][WEIR_KEY_PUBLIC];
	size_t n = 0;
	for (int i = 0; i <= WEIR_KEYS_TRUSTED; i++) {
		sprintf(secret, "%s/secret-%d", (char *)*state, i);
		sprintf(public, "%s/public-%d", (char *)*state, i);
		assert_ok(weir__key_make(secret, public));
		get_file(text + i * WEIR_KEY_LINE, WEIR_KEY_LINE + 1, public);
	}
	put_text(path, *state, "keys", text);
	assert_refused(weir__key_file_public(keys, &n, path), -EBADMSG, path, "64 public keys");
	put_file(path, *state, "keys", text, WEIR_KEYS_TRUSTED * WEIR_KEY_LINE, 0600);
	assert_ok(weir__key_file_public(keys, &n, path));
	assert_int_equal(n, WEIR_KEYS_TRUSTED);
	for (size_t i = 0; i < n; i++) {
		char line[WEIR_KEY_LINE + 1];
		print(line, "weir-key-public 1 ", keys[i]);
		assert_memory_equal(line, text + i * WEIR_KEY_LINE, WEIR_KEY_LINE);
	}
	memcpy(text + 2 * WEIR_KEY_LINE, text, WEIR_KEY_LINE);
	put_file(path, *state, "keys", text, 3 * WEIR_KEY_LINE, 0600);
	assert_refused(weir__key_file_public(keys, &n, path), -EBADMSG, path,
	               "line 3 has the key of line 1");
	memset(text + WEIR_KEY_LINE + 18, '0', 64); /* a point of small order */
	put_file(path, *state, "keys", text, 2 * WEIR_KEY_LINE, 0600);
	assert_refused(weir__key_file_public(keys, &n, path), -EBADMSG, path,
	               "line 2 is no public key: no secret");
	assert_int_equal(n, WEIR_KEYS_TRUSTED);
}

static void test_rights(void **state)
{
	static const struct { mode_t mode; int secret, public; } cases[] = {
		{ 0600, 0, 0 }, { 0400, 0, 0 }, { 0440, 0, 0 }, { 0640, 0, 0 },
		{ 0644, -EACCES, 0 }, { 0604, -EACCES, 0 }, { 0601, -EACCES, 0 },
		{ 0602, -EACCES, -EACCES }, { 0620, -EACCES, -EACCES },
		{ 0660, -EACCES, -EACCES }, { 0666, -EACCES, -EACCES },
	};
	char secret[256], public[256];
	struct weir_signer *s;
	struct weir_trust *t;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char digits[8];
		sprintf(digits, "%04o", (unsigned)cases[i].mode);
		put_file(secret, *state, "secret", SECRET_LINE, WEIR_KEY_LINE, cases[i].mode);
		put_file(public, *state, "public", PUBLIC_LINE, WEIR_KEY_LINE, cases[i].mode);
		if (cases[i].secret) {
			assert_refused(weir__signer_open(&s, secret), -EACCES, secret, digits);
		} else {
			assert_ok(weir__signer_open(&s, secret));
			weir__signer_close(s);
		}
		if (cases[i].public) {
			assert_refused(weir__trust_open(&t, public), -EACCES, public, digits);
		} else {
			assert_ok(weir__trust_open(&t, public));
			weir__trust_close(t);
		}
		assert_int_equal(unlink(secret) | unlink(public), 0);
	}
}

static void test_no_files(void **state)
{
	char path[256];
	struct weir_signer *s;
	struct weir_trust *t;
	assert_refused(weir__signer_open(&s, *state), -EACCES, *state, "no regular file");
	assert_refused(weir__trust_open(&t, *state), -EACCES, *state, "no regular file");
	sprintf(path, "%s/none", (char *)*state);
	assert_refused(weir__signer_open(&s, path), -ENOENT, path, "cannot open");
	assert_refused(weir__trust_open(&t, path), -ENOENT, path, "cannot open");
	assert_int_equal(mkfifo(path, 0600), 0); /* nobody will ever write to it */
	assert_refused(weir__signer_open(&s, path), -EACCES, path, "no regular file");
	assert_refused(weir__trust_open(&t, path), -EACCES, path, "no regular file");
	put_text(path, *state, "secret", SECRET_LINE);
	if (geteuid() == 0) { /* only root can give a file away */
		assert_int_equal(chown(path, 4711, 0), 0);
		assert_refused(weir__signer_open(&s, path), -EACCES, path, "4711");
		assert_refused(weir__trust_open(&t, path), -EACCES, path, "4711");
	}
}

static int files_in(const char *folder)
{
	int n = -2; /* . and .. */
	DIR *d = opendir(folder);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_make(void **state)
{
	char secret[256], public[256], text[256], again[256];
	struct stat st;
	struct weir_signer *s;
	struct weir_trust *t;
	sprintf(secret, "%s/secret", (char *)*state);
	sprintf(public, "%s/public", (char *)*state);
	mode_t mask = umask(0);
	assert_ok(weir__key_make(secret, public));
	umask(mask);
	assert_int_equal(files_in(*state), 2);
	assert_true(stat(secret, &st) == 0 && st.st_mode == (S_IFREG | 0600) && st.st_nlink == 1);
	assert_true(stat(public, &st) == 0 && st.st_mode == (S_IFREG | 0644) && st.st_nlink == 1);
	assert_ok(weir__signer_open(&s, secret));
	weir__signer_close(s);
	assert_ok(weir__trust_open(&t, public));
	weir__trust_close(t);

	get_file(text, sizeof text, secret);
	assert_refused(weir__key_make(secret, public), -EEXIST, secret, "");
	get_file(again, sizeof again, secret);
	assert_string_equal(text, again);
	/* the one is there: then the other is not made either */
	assert_int_equal(unlink(secret), 0);
	get_file(text, sizeof text, public);
	assert_refused(weir__key_make(secret, public), -EEXIST, public, "");
	get_file(again, sizeof again, public);
	assert_string_equal(text, again);
	assert_int_equal(files_in(*state), 1);
	/* nor when both are one, or the other has no place, or neither */
	assert_refused(weir__key_make(secret, secret), -EEXIST, secret, "");
	sprintf(public, "%s/none/public", (char *)*state);
	assert_refused(weir__key_make(secret, public), -ENOENT, public, "");
	assert_refused(weir__key_make(public, secret), -ENOENT, public, "");
	assert_int_equal(files_in(*state), 1);
}

static void test_never_the_same(void **state)
{
	char secret[256], public[256], texts[2][256];
	for (int i = 0; i < 2; i++) {
		sprintf(secret, "%s/secret-%d", (char *)*state, i);
		sprintf(public, "%s/public-%d", (char *)*state, i);
		assert_ok(weir__key_make(secret, public));
		assert_int_equal(get_file(texts[i], sizeof texts[i], secret), WEIR_KEY_LINE);
	}
	assert_string_not_equal(texts[0], texts[1]);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_read),
		EACH(test_every_byte),
		EACH(test_lengths),
		EACH(test_several),
		EACH(test_rights),
		EACH(test_no_files),
		EACH(test_make),
		EACH(test_never_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
