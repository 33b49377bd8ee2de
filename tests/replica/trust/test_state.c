/* SPDX-License-Identifier: MIT
 * The state file: its one form, how damage is found, and which owners and modes are refused. */
#include <sodium.h>
#include "trusted.h"

/* Another program made this text, so the test does not rely on weir's writer. */
static const char golden[] =
	"weir-state 1 a 1.1 0123456789abcdef "
	"b9bf3de7255bfcf506a2d3e7900a2f0c82b15d7f4d8d250a1b98d362afd6d7c2 "
	"abababababababababababababababababababababababababababababababab "
	"1800000000000 1800086400000 0 "
	"2fd5b95c9139544a54db2b1bf55968f2e59a2cd05c615b7c38a240e15b0d305f\n";
enum { LEN = sizeof golden - 1 };

static int open_it(void)
{
	struct weir_trust *t;
	int err = weir__trust_open(&t, public_path, state_path, "a", after(0));
	if (!err)
		weir__trust_close(t);
	return err;
}

static void put(const char *text, size_t n)
{
	put_file(state_path, "state", text, n, 0600);
}

static void a_state_has_one_form(void **state)
{
	struct publication p = { .m = { .set = "a", .version = { 1, 1 },
	                                .id = UINT64_C(0x0123456789abcdef), .signed_ms = NOON,
	                                .expires_ms = NOON + DAY } };
	char text[1024];
	struct weir_trust *t = trust_at(after(0));
	(void)state;
	memset(p.m.image, 0xab, sizeof p.m.image);
	p.len = (size_t)sprintf(p.text, "weir-generation 2\nset a\nversion 1.1\n");
	assert_ok(weir__signer_sign(signer, p.text, p.len, p.line));
	assert_ok(take(t, &p, after(0)));
	weir__trust_close(t);
	assert_int_equal(get_file(text, sizeof text, state_path), LEN);
	assert_string_equal(text, golden);
	t = trust_at(after(0));
	const struct weir_accepted *h = weir__trust_accepted(t);
	assert_true(h->version.era == 1 && h->version.number == 1 && h->id == p.m.id);
	assert_true(h->signed_ms == NOON && h->expires_ms == NOON + DAY && h->ran_ms == 0);
	assert_memory_equal(h->image, p.m.image, sizeof h->image);
	assert_true(h->manifest[0] == 0xb9 && h->manifest[31] == 0xc2);
	weir__trust_close(t);
	/* Other users have no permissions, whatever the umask is. */
	struct stat st;
	assert_true(stat(state_path, &st) == 0 && st.st_mode == (S_IFREG | 0600));
}

/* A damaged state file never counts as missing. */
static void every_damage_is_found(void **state)
{
	char text[2 * LEN];
	(void)state;
	put(golden, LEN);
	assert_ok(open_it());
	for (size_t len = 0; len < LEN; len++) { /* a torn write */
		put(golden, len);
		assert_refused(open_it(), -EBADMSG, state_path, "put back a copy");
	}
	for (size_t i = 0; i < LEN; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			memcpy(text, golden, LEN);
			text[i] = (char)(text[i] ^ 1 << bit);
			put(text, LEN);
			assert_refused(open_it(), -EBADMSG, state_path, "put back a copy");
		}
		memset(text + i, 0, LEN - i); /* a page that was never written to the disk */
		put(text, LEN);
		assert_int_equal(open_it(), -EBADMSG);
	}
	memset(text, '\n', sizeof text);
	memcpy(text, golden, LEN);
	for (size_t len = LEN + 1; len < sizeof text; len++) {
		put(text, len);
		assert_int_equal(open_it(), -EBADMSG);
	}
}

/* Each text has a correct checksum. Only the last text has the right form. Other forms are refused,
 * even if they mean the same. */
static void a_state_of_another_form_is_refused(void **state)
{
	static const char *const texts[] = {
		"weir-state 1 a 01.1 ", "weir-state 1 a +1.1 ", "weir-state 1  a 1.1 ",
		"weir-state 1 a 18446744073709551617.1 ", "weir-state 2 a 1.1 ",
		"weir-state 1\na 1.1 ", "weir-state 1 a\t1.1 ", "weir-state 1 a 1.1 ",
	};
	char text[1024], hex[65];
	unsigned char hash[32];
	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		char *end = stpcpy(stpcpy(text, texts[i]), strstr(golden, "0123")) - 65;
		crypto_generichash(hash, 32, (unsigned char *)text, (size_t)(end - text), NULL, 0);
		sodium_bin2hex(hex, sizeof hex, hash, 32);
		memcpy(end, hex, 64);
		put(text, strlen(text));
		if (i == COUNT_OF(texts) - 1)
			assert_ok(open_it());
		else
			assert_refused(open_it(), -EBADMSG, state_path, "damaged");
	}
}

static void one_state_file_is_of_one_set(void **state)
{
	struct weir_trust *t;
	(void)state;
	put(golden, LEN);
	assert_refused(weir__trust_open(&t, public_path, state_path, "b", after(0)), -EINVAL,
	               "of set a", "not of b");
}

static void others_have_no_right_to_change_the_state(void **state)
{
	static const struct { mode_t mode; int err; } cases[] = {
		{ 0600, 0 }, { 0400, 0 }, { 0644, 0 }, { 0620, -EACCES }, { 0602, -EACCES },
		{ 0666, -EACCES },
	}, folders[] = {
		{ 0700, 0 }, { 0755, 0 }, { 01777, 0 }, { 0770, -EACCES }, { 0777, -EACCES },
	};
	char digits[8];
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sprintf(digits, "%04o", (unsigned)cases[i].mode);
		put_file(state_path, "state", golden, LEN, cases[i].mode);
		assert_int_equal(open_it(), cases[i].err);
		if (cases[i].err)
			assert_refused(open_it(), cases[i].err, state_path, digits);
	}
	put(golden, LEN);
	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		sprintf(digits, "%04o", (unsigned)folders[i].mode);
		assert_int_equal(chmod(folder, folders[i].mode), 0);
		assert_int_equal(open_it(), folders[i].err);
		if (folders[i].err)
			assert_refused(open_it(), folders[i].err, folder, digits);
	}
}

static void a_state_is_a_file_of_this_user_or_root(void **state)
{
	char other[256];
	(void)state;
	put_text(other, "other", golden);
	assert_int_equal(symlink(other, state_path), 0);
	assert_refused(open_it(), -ELOOP, state_path, "");
	assert_int_equal(unlink(state_path), 0);
	assert_int_equal(mkfifo(state_path, 0600), 0);
	assert_refused(open_it(), -EACCES, state_path, "not a regular file");
	assert_int_equal(unlink(state_path), 0);
	assert_int_equal(mkdir(state_path, 0700), 0);
	assert_refused(open_it(), -EACCES, state_path, "not a regular file");
	assert_int_equal(rmdir(state_path), 0);
	put(golden, LEN);
	if (geteuid() == 0) {
		assert_int_equal(chown(state_path, 4711, 0), 0);
		assert_refused(open_it(), -EACCES, state_path, "4711");
		assert_int_equal(unlink(state_path) | chown(folder, 4711, 0), 0);
		assert_refused(open_it(), -EACCES, folder, "4711");
	}
}

/* Opening a FIFO would wait for its other end for ever. */
static void a_lock_that_is_a_fifo_is_refused(void **state)
{
	struct publication p = publication(1, 1, NOON);
	struct weir_trust *t = trust_at(after(0));
	char lock[sizeof state_path + 8];
	(void)state;
	snprintf(lock, sizeof lock, "%s.lock", state_path);
	assert_int_equal(mkfifo(lock, 0600), 0);
	assert_refused(take(t, &p, after(0)), -EACCES, lock, "not a regular file: remove it");
	assert_holds(t, 0, 0);
	assert_int_equal(unlink(lock), 0);
	assert_ok(take(t, &p, after(0)));
	weir__trust_close(t);
}

/* The state has the hash of the image of its version. A node can check a file by this hash while
 * the head in redis is older than the state. */
static void the_state_says_which_file_is_its_version(void **state)
{
	struct publication p = publication(1, 1, NOON);
	struct weir_trust *t = trust_at(after(0));
	unsigned char zeros[WEIR_IMAGE_HASH] = { 0 };
	(void)state;
	assert_holds(t, 0, 0);
	assert_memory_equal(weir__trust_accepted(t)->image, zeros, sizeof zeros);
	assert_ok(take(t, &p, after(0)));
	weir__trust_close(t);
	t = trust_at(after(0));
	assert_memory_equal(weir__trust_accepted(t)->image, p.m.image, sizeof p.m.image);
	weir__trust_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(a_state_has_one_form),
		EACH(every_damage_is_found),
		EACH(a_state_of_another_form_is_refused),
		EACH(one_state_file_is_of_one_set),
		EACH(others_have_no_right_to_change_the_state),
		EACH(a_state_is_a_file_of_this_user_or_root),
		EACH(a_lock_that_is_a_fifo_is_refused),
		EACH(the_state_says_which_file_is_its_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
