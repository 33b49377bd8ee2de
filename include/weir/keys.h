/* SPDX-License-Identifier: MIT
 * A batch of keys. Every function on many keys takes a struct weir_keys by value. The struct points
 * to the caller's arrays, which must stay valid during the call.
 *
 *     weir_insert_keys(f, weir_keys_u64(ids, n), NULL);
 *     found = weir_contains_keys(f, weir_keys_iov(names, n), bitmap);
 *
 * Each function that takes keys (a verb) has four forms:
 *
 *     weir_contains(f, key, len)           bytes
 *     weir_contains_u64(f, number)         a number: its eight bytes in this machine's memory
 *     weir_contains_hash(f, hash)          a hash by weir_hash(), or by your own function if it is
 *                                          uniform in all 64 bits (else use the _u64 form)
 *     weir_contains_keys(f, keys, bitmap)  a batch, whose cache misses overlap
 *
 * A builder and a reload export only the last form. Their headers define the other three forms as
 * inline functions, which pass a batch of one key. */
#ifndef WEIR_KEYS_H
#define WEIR_KEYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/export.h>

WEIR_BEGIN_DECLS

/** The type of the array at weir_keys.at. */
enum weir_keys_form {
	WEIR_KEYS_NONE = 0,   /* a batch that is too large: 2^40 keys and more, or fixed keys above
	                         65,535 bytes. Inserts fail with -EINVAL, and lookups answer true */
	WEIR_KEYS_HASHES = 1, /* uint64_t hashes */
	WEIR_KEYS_FIXED = 2,  /* keys of one width, side by side. A set that normalises takes them
	                         as text, or with cidr as binary addresses (<weir/text.h>) */
	WEIR_KEYS_IOV = 3,    /* struct iovec, one for each key. A set that normalises takes them
	                         as text */
	WEIR_KEYS_U64 = 4,    /* uint64_t numbers, which no set normalises */
};

/** A batch of keys, made by the functions below. Its two words travel in registers; a third word
 * would cost 15 ns a call. */
struct weir_keys {
	const void *at;      /* the array */
	uint64_t n : 40;     /* number of keys */
	uint64_t width : 16; /* bytes of a key in WEIR_KEYS_FIXED, 8 in WEIR_KEYS_U64, 0 in the
	                        other forms */
	uint64_t form : 8;   /* enum weir_keys_form */
};

/** Words in a bitmap of @n answers. Bit i % 64 of word i / 64 is for key i. Bits past @n are 0. */
#define WEIR_BITMAP_WORDS(n) (((size_t)(n) + 63) / 64)

/** Make a batch of any form. The public constructors below call it. */
static inline struct weir_keys weir__keys(const void *at, uint64_t n, uint64_t width, uint64_t form)
{
	struct weir_keys k;
	k.at = at;
	k.n = (n >> 40 ? UINT64_MAX : n) & 0xffffffffff;
	k.width = width & 0xffff;
	k.form = n >> 40 || width >> 16 ? 0 : form & 0xff; /* 0: WEIR_KEYS_NONE */
	return k;
}

/** Make a batch of @n keys of any length. An iov_base may be NULL if its length is 0. */
static inline struct weir_keys weir_keys_iov(const struct iovec *keys, size_t n)
{
	return weir__keys(keys, n, 0, WEIR_KEYS_IOV);
}

/** Make a batch of @n keys of @width bytes each, up to 65,535. In a set with cidr (<weir/text.h>)
 * they must be binary addresses of 4 or 16 bytes; with other normalisation they are text. */
static inline struct weir_keys weir_keys_fixed(const void *keys, size_t width, size_t n)
{
	return weir__keys(keys, n, width, WEIR_KEYS_FIXED);
}

/** Make a batch of @n numbers. The key is the eight bytes of a number in this machine's memory. The
 * library hashes such keys, and fixed keys of 8 bytes, faster than all others. */
static inline struct weir_keys weir_keys_u64(const uint64_t *numbers, size_t n)
{
	return weir__keys(numbers, n, 8, WEIR_KEYS_U64);
}

/** Make a batch of @n hashes. All hashes come from the hash function and seed of the object that
 * takes the batch, or all come from your own function if it is uniform in all 64 bits
 * (weir_hash()). */
static inline struct weir_keys weir_keys_hashes(const uint64_t *hashes, size_t n)
{
	return weir__keys(hashes, n, 0, WEIR_KEYS_HASHES);
}

/** Get a part of a batch: @n keys from key number @first on. */
static inline struct weir_keys weir_keys_part(struct weir_keys k, size_t first, size_t n)
{
	size_t each = k.form == WEIR_KEYS_IOV   ? sizeof(struct iovec) :
	              k.form == WEIR_KEYS_FIXED ? (size_t)k.width : sizeof(uint64_t);
	return weir__keys((const char *)k.at + first * each, n, k.width, k.form);
}

WEIR_END_DECLS

#endif
