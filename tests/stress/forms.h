/* SPDX-License-Identifier: MIT
 * One set of keys in each form that a handle's functions take: one by one or as a batch, as hashes
 * or as bytes. */
#ifndef WEIR_TESTS_FORMS_H
#define WEIR_TESTS_FORMS_H

#include <sys/uio.h>
#include "stress.h"

/* HASHES, KEYS and FIXED pass all keys in one call */
enum form { EACH_HASH, EACH_KEY, HASHES, KEYS, FIXED, FORMS };

enum { MOST_KEYS = 64 };

struct keys {
	unsigned n;
	uint64_t numbers[MOST_KEYS], hashes[MOST_KEYS];
	struct iovec vectors[MOST_KEYS];
};

/* @hash: weir_hash() of the eight bytes of @number. */
void keys_add(struct keys *k, uint64_t number, uint64_t hash);
/* Insert the keys. The test ends if the handle refuses a key. */
void keys_insert(struct weir_handle *h, const struct keys *k, enum form form);
/* Return: the number of keys that the handle finds. */
unsigned keys_found(const struct weir_handle *h, const struct keys *k, enum form form);

#endif
