/* SPDX-License-Identifier: MIT
 * Inserts that are more than one into the current filter: g->beside is not 0. In a section. */
#ifndef WEIR_SRC_BESIDE_H
#define WEIR_SRC_BESIDE_H

#include "set/generation.h"
#include "set/keys.h"
#include "set/placeholder.h"

/* H1: into every filter of the record. Return: the current one's answer, or the error of the first
 * that refuses. */
int weir__insert_hash_beside(const struct weir_generation *g, uint64_t hash);
int weir__insert_key_beside(const struct weir_generation *g, const void *key, size_t len);
/* As those; also where there is nothing beside the current filter. Each filter does to the text
 * what its own keys had done. */
int weir__insert_text(const struct weir_generation *g, const void *text, size_t len);
/* Of a batch. Return: how many were new. */
int64_t weir__insert_keys_beside(const struct weir_generation *g, struct weir_keys keys,
                                 uint64_t *bitmap);

/* H9: -EINVAL, for a hash of nobody knows which filter. @verb: what is to be done with the key. */
int weir__refuse_hashes(const char *verb);

#endif
