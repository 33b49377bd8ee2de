/* SPDX-License-Identifier: MIT
 * SipHash-2-4 with an output of 64 bits: a hash that nobody can foretell who has not the key.
 * Source: Aumasson, Bernstein 2012, "SipHash: a fast short-input PRF". */
#ifndef WEIR_SRC_HASH_SIPHASH_H
#define WEIR_SRC_HASH_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { WEIR_SIPHASH_KEY = 16 }; /* bytes */

/* @bytes may be NULL when @n is 0. The same on every machine. */
uint64_t weir__siphash(const unsigned char key[WEIR_SIPHASH_KEY], const void *bytes, size_t n);

#endif
