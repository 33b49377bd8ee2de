/* SPDX-License-Identifier: MIT
 * Keys in one of the three forms that batches take, so that the code that works through a batch
 * is written once. */
#ifndef WEIR_SRC_KEYS_H
#define WEIR_SRC_KEYS_H

#include <sys/uio.h>
#include <weir/filter.h>

/* One key, as a verb was given it. */
struct weir_given {
	const void *key; /* NULL: by its hash */
	size_t len;
	uint64_t hash;
	bool text; /* a key as people write it: normalise.h */
};

struct weir_keys {
	const uint64_t *hashes; /* or */
	const struct iovec *vectors; /* or */
	const char *fixed;
	size_t key_bytes; /* of fixed */
};

static inline void weir__keys_hash(const struct weir_filter *f, const struct weir_keys *k,
                                   size_t at, size_t n, uint64_t *out)
{
	if (k->hashes)
		for (size_t i = 0; i < n; i++)
			out[i] = k->hashes[at + i];
	else if (k->vectors)
		weir_hash_keys(f, k->vectors + at, n, out);
	else
		weir_hash_fixed(f, k->fixed + at * k->key_bytes, k->key_bytes, n, out);
}

static inline struct weir_given weir__keys_one(const struct weir_keys *k, size_t at)
{
	if (k->hashes)
		return (struct weir_given){ .hash = k->hashes[at] };
	if (k->vectors)
		return (struct weir_given){
			.key = k->vectors[at].iov_base ? k->vectors[at].iov_base : "",
			.len = k->vectors[at].iov_len
		};
	return (struct weir_given){ .key = k->fixed + at * k->key_bytes, .len = k->key_bytes };
}

static inline size_t weir__keys_contain(const struct weir_filter *f, const struct weir_keys *k,
                                        size_t at, size_t n, uint64_t *bitmap)
{
	if (k->hashes)
		return weir_contains_hashes(f, k->hashes + at, n, bitmap);
	if (k->vectors)
		return weir_contains_keys(f, k->vectors + at, n, bitmap);
	return weir_contains_fixed(f, k->fixed + at * k->key_bytes, k->key_bytes, n, bitmap);
}

static inline int64_t weir__keys_remove(struct weir_filter *f, const struct weir_keys *k, size_t at,
                                        size_t n, uint64_t *bitmap)
{
	if (k->hashes)
		return weir_remove_hashes(f, k->hashes + at, n, bitmap);
	if (k->vectors)
		return weir_remove_keys(f, k->vectors + at, n, bitmap);
	return weir_remove_fixed(f, k->fixed + at * k->key_bytes, k->key_bytes, n, bitmap);
}

static inline int weir__keys_count(const struct weir_filter *f, const struct weir_keys *k,
                                   size_t at, size_t n, int64_t *counts)
{
	if (k->hashes)
		return weir_count_hashes(f, k->hashes + at, n, counts);
	if (k->vectors)
		return weir_count_keys(f, k->vectors + at, n, counts);
	return weir_count_fixed(f, k->fixed + at * k->key_bytes, k->key_bytes, n, counts);
}

static inline int64_t weir__keys_insert(struct weir_filter *f, const struct weir_keys *k, size_t at,
                                        size_t n, uint64_t *bitmap)
{
	if (k->hashes)
		return weir_insert_hashes(f, k->hashes + at, n, bitmap);
	if (k->vectors)
		return weir_insert_keys(f, k->vectors + at, n, bitmap);
	return weir_insert_fixed(f, k->fixed + at * k->key_bytes, k->key_bytes, n, bitmap);
}

#endif
