/* SPDX-License-Identifier: MIT
 * Computes keys of eight bytes from their hashes. */
#ifndef WEIR_TESTS_UNHASH_H
#define WEIR_TESTS_UNHASH_H

#include <stdint.h>

/* Return: the bits that a seed of XXH3 flips. @hash_of_zeros: the hash of eight zero bytes. */
uint64_t unhash_flip(uint64_t hash_of_zeros);
/* Return: the key of eight bytes whose XXH3 is @hash. @flip: the answer of unhash_flip(). */
uint64_t unhash_xxh3(uint64_t hash, uint64_t flip);
/* Return: the key of eight bytes whose XXH64 with seed 0 is @hash. */
uint64_t unhash_xxh64(uint64_t hash);

#endif
