/* SPDX-License-Identifier: MIT
 * Keys in each form that a batch takes. The including file defines KEYS, the number of keys. */
#ifndef WEIR_TESTS_UNIT_FULL_KEYS_H
#define WEIR_TESTS_UNIT_FULL_KEYS_H

#include <sys/uio.h>
#include "full_sharded.h"

enum { FORMS = 3 };
static uint64_t numbers[KEYS], hashes[KEYS];
static struct iovec vectors[KEYS];

static int make_keys(void **state)
{
	struct weir_hashing hashing = weir__hashing_seeded(&weir__xxh3, BOUNDED_SEED);
	(void)state;
	for (unsigned i = 0; i < KEYS; i++) {
		numbers[i] = test_key(i);
		vectors[i] = (struct iovec){ &numbers[i], 8 };
		hashes[i] = weir__hash_by(&hashing, &numbers[i], 8);
	}
	return 0;
}

/* Return: the first @n keys as hashes (@form 0), byte strings (1) or numbers (2). */
static struct weir_keys keys_of(unsigned form, size_t n)
{
	return form == 0 ? weir_keys_hashes(hashes, n) :
	       form == 1 ? weir_keys_iov(vectors, n) : weir_keys_u64(numbers, n);
}

#endif
