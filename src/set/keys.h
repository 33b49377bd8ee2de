/* SPDX-License-Identifier: MIT
 * One key in any of the forms that a verb is given it, also out of a batch. */
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

/* Key @at of a batch that has a form. */
static inline struct weir_given weir__keys_one(struct weir_keys k, size_t at)
{
	const struct iovec *vector = k.at;
	if (k.form == WEIR_KEYS_HASHES)
		return (struct weir_given){ .hash = ((const uint64_t *)k.at)[at] };
	if (k.form == WEIR_KEYS_IOV)
		return (struct weir_given){
			.key = vector[at].iov_base ? vector[at].iov_base : "",
			.len = vector[at].iov_len
		};
	return (struct weir_given){ .key = (const char *)k.at + at * k.width, .len = k.width };
}

#endif
