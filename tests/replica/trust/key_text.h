/* SPDX-License-Identifier: MIT
 * Files of keys for the tests. */
#ifndef WEIR_TESTS_REPLICA_TRUST_KEY_TEXT_H
#define WEIR_TESTS_REPLICA_TRUST_KEY_TEXT_H

#include <errno.h>
#include <fcntl.h>
#include "../../test.h"
#include "trust/sign.h"

/* The seed 00 01 ... 1f and its public key. */
#define SECRET_LINE \
	"weir-key-secret 1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
#define PUBLIC_LINE \
	"weir-key-public 1 03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8\n"

/* @path: receives @folder/@name, which is made with @text in it. */
static inline const char *put_file(char *path, const char *folder, const char *name,
                                   const char *text, size_t len, mode_t mode)
{
	sprintf(path, "%s/%s", folder, name);
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && fchmod(fd, mode) == 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
	return path;
}

static inline const char *put_text(char *path, const char *folder, const char *name,
                                   const char *text)
{
	return put_file(path, folder, name, text, strlen(text), 0600);
}

/* @text: receives all of a file and a NUL byte. */
static inline size_t get_file(char *text, size_t room, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	ssize_t n = read(fd, text, room - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
	return (size_t)n;
}

#endif
