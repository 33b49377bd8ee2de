/* SPDX-License-Identifier: MIT
 * Keys of eight bytes from their hashes. */
#ifndef WEIR_TESTS_UNHASH_H
#define WEIR_TESTS_UNHASH_H

#include <stdint.h>

/* The bits that a seed of XXH3 flips, found from the hash of eight zeros. */
uint64_t unhash_flip(uint64_t hash_of_zeros);
uint64_t unhash_xxh3(uint64_t hash, uint64_t flip);
/* With seed 0. */
uint64_t unhash_xxh64(uint64_t hash);

#endif
