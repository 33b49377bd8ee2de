/* SPDX-License-Identifier: MIT
 * Key files, signed manifests and times for the tests of trust. */
#ifndef WEIR_TESTS_REPLICA_TRUST_TRUSTED_H
#define WEIR_TESTS_REPLICA_TRUST_TRUSTED_H

#include <fcntl.h>
#include <inttypes.h>
#include "../../folder.h"
#include "trust/parts.h"

/* The seed 00 01 ... 1f and its public key. */
#define SECRET_LINE \
	"weir-key-secret 1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define PUBLIC_LINE \
	"weir-key-public 1 03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8\n"

static const uint64_t NOON = UINT64_C(1800000000000), HOUR = 3600 * 1000, DAY = 24 * 3600 * 1000;

/* Make the file @name in the folder with @text in it. @to: receives its path. */
static inline const char *put_file(char *to, const char *name, const char *text, size_t len,
                                   mode_t mode)
{
	sprintf(to, "%s/%s", folder, name);
	unlink(to); /* an old file may be writable only by root */
	int fd = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && fchmod(fd, mode) == 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
	return to;
}

static inline const char *put_text(char *to, const char *name, const char *text)
{
	return put_file(to, name, text, strlen(text), 0600);
}

/* @text: receives the whole file and a NUL byte. */
static inline size_t get_file(char *text, size_t room, const char *from)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	ssize_t n = read(fd, text, room - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
	return (size_t)n;
}

/* ---- manifests ---- */

/* @m: a manifest. @text, @len and @line: its text, the length of the text, and its signature. A
 * test may change @m alone, so that it differs from the signed text. */
struct publication {
	struct weir_manifest m;
	char text[WEIR_MANIFEST_TEXT], line[WEIR_SIGNATURE_TEXT];
	size_t len;
};

static char secret_path[256], public_path[256], state_path[256];
static struct weir_signer *signer;

static inline void sign_it(struct publication *p, const struct weir_signer *by)
{
	p->len = (size_t)snprintf(p->text, sizeof p->text, "weir-generation 2\nset %s\n"
	                          "version %" PRIu64 ".%" PRIu64 "\nid %016" PRIx64 "\n"
	                          "image %02x\nsigned %" PRIu64 "\nexpires %" PRIu64 "\n",
	                          p->m.set, p->m.version.era, p->m.version.number, p->m.id,
	                          p->m.image[0], p->m.signed_ms, p->m.expires_ms);
	assert_ok(weir__signer_sign(by, p->text, p->len, p->line));
}

/* A manifest that is signed at @signed_ms and expires a day later. */
static inline struct publication publication(uint64_t era, uint64_t number, uint64_t signed_ms)
{
	struct publication p = { .m = { .set = "a", .version = { era, number },
	                                .id = test_key(100 * era + number),
	                                .signed_ms = signed_ms, .expires_ms = signed_ms + DAY } };
	memset(p.m.image, (int)(16 * era + number), sizeof p.m.image);
	sign_it(&p, signer);
	return p;
}

static inline int take(struct weir_trust *t, const struct publication *p, struct weir_now now)
{
	return weir__trust_accept(t, &p->m, p->text, p->len, p->line, WEIR_SIGNATURE_TEXT - 1, now);
}

/* Both clocks of a machine, @ms after NOON. */
static inline struct weir_now after(uint64_t ms)
{
	return (struct weir_now){ NOON + ms, 5000 + ms };
}

static inline struct weir_trust *trust_at(struct weir_now now)
{
	struct weir_trust *t = NULL;
	assert_ok(weir__trust_open(&t, public_path, state_path, "a", now));
	return t;
}

static inline void assert_holds(const struct weir_trust *t, uint64_t era, uint64_t number)
{
	assert_int_equal(weir__trust_accepted(t)->version.era, era);
	assert_int_equal(weir__trust_accepted(t)->version.number, number);
}

/* The version in the state file, read by a second weir_trust. */
static inline struct weir_version version_on_disk(void)
{
	struct weir_trust *t = trust_at(after(0));
	struct weir_version version = weir__trust_accepted(t)->version;
	weir__trust_close(t);
	return version;
}

static inline int trust_setup(void **state)
{
	if (access("/dev/shm", W_OK) == 0) /* a disk would take a minute for the many syncs */
		setenv("TMPDIR", "/dev/shm", 0);
	folder_setup(state);
	put_text(secret_path, "secret", SECRET_LINE);
	put_text(public_path, "public", PUBLIC_LINE);
	sprintf(state_path, "%s/state", folder);
	assert_ok(weir__signer_open(&signer, secret_path));
	return 0;
}

static inline int trust_teardown(void **state)
{
	weir__signer_close(signer);
	return folder_teardown(state);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, trust_setup, trust_teardown)

#endif
