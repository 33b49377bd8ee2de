/* SPDX-License-Identifier: MIT
 * Normalisation: how a set rewrites text before it hashes it, so that different spellings of a key
 * match. Choose the steps in weir_params.text when you create a filter or a builder:
 *
 *     params.text.steps = WEIR_TEXT_TRIM | WEIR_TEXT_LOWERCASE;
 *     weir_create(&f, &params);
 *     weir_insert(f, " Example.ORG ", 13);
 *     weir_contains(f, "example.org", 11)     true
 *
 * The image stores the steps, and every copy keeps them. So callers need not know them, and builder
 * and server always agree. In such a set the verbs on bytes, such as weir_contains() and
 * weir_insert(), and batches from weir_keys_iov() and weir_keys_fixed() take text. With cidr,
 * weir_keys_fixed() takes binary addresses of 4 or 16 bytes; lookups of other widths answer true.
 * The _u64 verbs, weir_keys_u64() and hashes are never normalised.
 *
 * If a set cannot parse a text, because it is not an IP address, say, a lookup answers that it is
 * absent, and an insert fails with -EINVAL. With cidr and suffixes one lookup probes several keys,
 * so one hash cannot stand for a text. In such sets lookups of hashes answer true, and other verbs
 * on hashes fail with -EINVAL. */
#ifndef WEIR_TEXT_H
#define WEIR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/export.h>

WEIR_BEGIN_DECLS

struct weir_filter;

/** Normalisation steps, or'ed. A set applies them in the order of this list. CIDR and SUFFIXES
 * exclude each other. */
enum weir_text_steps {
	WEIR_TEXT_TRIM = 1u << 0,      /* remove one final carriage return, then blanks and tabs at
	                                  both ends */
	WEIR_TEXT_LOWERCASE = 1u << 1, /* turn A to Z into a to z; other bytes stay */
	WEIR_TEXT_CIDR = 1u << 2,      /* read IP addresses and prefixes: a lookup finds any prefix
	                                  that covers the address. 10.1.2.3/8 becomes 10.0.0.0/8; an
	                                  address is a prefix of 32 or 128 bits. An IPv4-mapped IPv6
	                                  prefix of 96 bits or more becomes an IPv4 prefix:
	                                  ::ffff:192.0.2.0/120 is 192.0.2.0/24 */
	WEIR_TEXT_SUFFIXES = 1u << 3,  /* read domains: a lookup finds the domain and its parents. A
	                                  leading "*." or "." and a final "." are removed */
	WEIR_TEXT_CLOSED = 1u << 4,    /* not a step: refuse keys of new lengths (-EINVAL). Set it
	                                  if clients choose the keys, because n lengths cost up
	                                  to n probes a lookup, and each probe may give a false
	                                  positive */
};

/** The normalisation of a set: its steps, and the key lengths that a lookup probes. With steps 0
 * keys are bytes and stay as they are. An insert of a key with a new length first records that
 * length. A set that is closed or mapped live refuses the key instead. The struct is part of the
 * image format, so its size never changes. */
struct weir_text {
	uint32_t steps;     /* enum weir_text_steps */
	uint32_t reserved;  /* 0 */
	uint64_t ipv4;      /* cidr: bit n is set if the set has IPv4 prefixes of n bits, 0 to 32 */
	uint64_t ipv6[3];   /* cidr: bit n % 64 of word n / 64 is set if the set has IPv6 prefixes
	                       of n bits, 0 to 128 */
	uint64_t labels[2]; /* suffixes: bit n % 64 of word n / 64 is set if the set has domains of
	                       n labels, 1 to 127 */
};

enum {
	WEIR_TEXT_CIDR_BYTES = 17, /* the size of an address's key in bytes, at most */
	WEIR_TEXT_LOOKUPS = 129,   /* the number of keys that one lookup probes, at most */
};

/** Bytes at @room that weir_text_key(), weir_text_lookups() and weir_text_matches() need for a text
 * of @len bytes. */
#define WEIR_TEXT_ROOM(len) ((size_t)(len) + (WEIR_TEXT_LOOKUPS + 1) * WEIR_TEXT_CIDR_BYTES)

/**
 * Get the key that an insert of a text stores. The call needs no filter: with { .steps =
 * WEIR_TEXT_CIDR } it parses an address. The key is then one byte, the length in bits, and the 4 or
 * 16 bytes of the address in network order, with 0 in the bits beyond that length.
 * @room: scratch memory of WEIR_TEXT_ROOM(len) bytes.  @key: receives the key, in @text or @room.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if the text cannot be parsed. cidr refuses blanks, zones (%eth0), netmasks,
 *   leading zeros, lengths above 32 or 128, and all that inet_pton refuses. suffixes refuses more
 *   than 127 labels.
 * Threads: any.  Progress: wait-free.  Cost: a pass over the text; with lowercase also a copy.
 */
WEIR_API WEIR_MUST_CHECK int weir_text_key(const struct weir_text *t, const void *text, size_t len,
                                           void *room, struct iovec *key);

/**
 * Get the keys that a lookup of a text probes. A set that has one of these keys has a prefix that
 * covers the address, or the domain or one of its parents.
 * @room: scratch memory of WEIR_TEXT_ROOM(len) bytes.  @keys: receives up to WEIR_TEXT_LOOKUPS
 *   pointers into @text or @room: prefixes longest first, domains shortest first.
 * Return: the number of keys; 0 if the text is certainly not in the set; or a negative errno.
 * Errors: -EINVAL as weir_text_key(), but a domain of more than 127 labels is no error: the call
 *   returns the keys of its parents.
 * Threads: any.  Progress: wait-free.  Cost: as weir_text_key(), and some nanoseconds a key.
 */
WEIR_API WEIR_MUST_CHECK int weir_text_lookups(const struct weir_text *t, const void *text,
                                               size_t len, void *room, struct iovec *keys);

/**
 * Look up a text, and get the probed keys that may be in the set. The keys tell which prefix or
 * parent matched.
 * @room, @keys: as for weir_text_lookups().
 * Return: the number of keys, which may be 0; or a negative errno.
 * Errors: -EINVAL as weir_text_key().
 * Threads: any, as weir_contains().  Order: relaxed.  Progress: wait-free.
 * Cost: for each key one hash and one lookup. So limit the length of texts from strangers: a name
 *   of 1 MiB with 127 parents takes a quarter of a second.
 */
WEIR_API WEIR_MUST_CHECK int weir_text_matches(const struct weir_filter *f, const void *text,
                                               size_t len, void *room, struct iovec *keys);

/**
 * Record the length, or the number of labels, of a key from weir_text_key(). Do so for all keys
 * before you create the set, so that the set's plan counts the probes of a lookup.
 * Return: true if the length or number was not recorded yet.
 * Errors: none.  Threads: one at a time.  Progress: wait-free.
 */
WEIR_API bool weir_text_note(struct weir_text *t, const struct iovec *key);

/**
 * Add the lengths and numbers of labels of one normalisation, @src, to another, @dst.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if the steps differ, since equal texts could then give different keys.
 * Threads: any, each on its own @dst.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_text_unite(struct weir_text *dst, const struct weir_text *src);

/** Get the normalisation of a filter, with all lengths that it has recorded up to now.
 * Threads: any.  Order: relaxed.  Progress: wait-free.  Cost: nanoseconds. */
WEIR_API void weir_text_of(const struct weir_filter *f, struct weir_text *out);

/** Get the largest number of keys that one lookup of a text probes, at least 1. The false-positive
 * rate of the lookup is up to that number times the filter's rate. */
static inline uint32_t weir_text_most(const struct weir_text *t)
{
	unsigned four = (unsigned)__builtin_popcountll(t->ipv4), six = 0, labels = 0;
	for (unsigned i = 0; i < 3; i++)
		six += (unsigned)__builtin_popcountll(t->ipv6[i]);
	for (unsigned i = 0; i < 2; i++)
		labels += (unsigned)__builtin_popcountll(t->labels[i]);
	unsigned most = four > six ? four : six;
	most = labels > most ? labels : most;
	return most > 1 ? most : 1;
}

WEIR_END_DECLS

#endif
