/* SPDX-License-Identifier: MIT
 * Normalisation: how a set rewrites text before it hashes it, so that different spellings of a key
 * match. Choose the steps in weir_params.text when you create a filter or a builder. Its image
 * stores them, and every copy keeps them.
 *
 * In such a set the plain verbs, weir_contains() and weir_insert() among them, and batches from
 * weir_keys_iov() and weir_keys_fixed() take text. The set normalises it, so its callers need not
 * know the steps, and builder and server cannot differ. With cidr, weir_keys_fixed() takes binary
 * addresses of 4 or 16 bytes. The _u64 verbs, weir_keys_u64() and hashes are never normalised.
 *
 * A set may be unable to read a text: one that is no IP address, say. Such a text is absent for a
 * lookup and -EINVAL for an insert. With cidr and suffixes one lookup probes several keys, which no
 * single hash can stand for: lookups of hashes answer true there, and other verbs of hashes
 * -EINVAL. */
#ifndef WEIR_TEXT_H
#define WEIR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/export.h>

WEIR_BEGIN_DECLS

struct weir_filter;

/** Normalisation steps, or'ed. A set applies them in this order. CIDR and SUFFIXES exclude each
 * other. */
enum weir_text_steps {
	WEIR_TEXT_TRIM = 1u << 0,      /* remove blanks and tabs at both ends, and before that one
	                                  final carriage return */
	WEIR_TEXT_LOWERCASE = 1u << 1, /* turn A to Z into a to z; other bytes stay */
	WEIR_TEXT_CIDR = 1u << 2,      /* IP addresses and prefixes: a lookup finds what covers it.
	                                  10.1.2.3/8 is 10.0.0.0/8, and an address is a prefix of 32
	                                  or 128 bits. An IPv4-mapped IPv6 prefix of 96 bits or more
	                                  (::ffff:192.0.2.0/120) is the IPv4 one (192.0.2.0/24) */
	WEIR_TEXT_SUFFIXES = 1u << 3,  /* domains: a leading "*." or "." and a final "." go; a
	                                  lookup finds the domain and its parents */
	WEIR_TEXT_CLOSED = 1u << 4,    /* not a step: refuse keys of new lengths (-EINVAL), so that
	                                  inserts cannot slow down lookups or raise the rate: n
	                                  lengths make up to n probes, and any may answer yes. Set
	                                  it where others choose the keys */
};

/** The normalisation of a set: its steps, and the key lengths that a lookup probes. All zero: none,
 * keys are taken byte by byte. An insert of a new length adds it first. It is part of the image
 * format, so its size never changes. */
struct weir_text {
	uint32_t steps;     /* enum weir_text_steps */
	uint32_t reserved;  /* 0 */
	uint64_t ipv4;      /* cidr: bit n: there are IPv4 prefixes of n bits, 0 to 32 */
	uint64_t ipv6[3];   /* cidr: bit n % 64 of word n / 64: IPv6 ones of n bits, 0 to 128 */
	uint64_t labels[2]; /* suffixes: bit n % 64 of word n / 64: domains of n labels, 1 to 127 */
};

enum {
	WEIR_TEXT_CIDR_BYTES = 17, /* most bytes in the key of an address */
	WEIR_TEXT_LOOKUPS = 129,   /* most keys that one lookup probes */
};

/** Bytes of room that weir_text_key(), weir_text_lookups() and weir_text_matches() need for a text
 * of @len bytes. */
#define WEIR_TEXT_ROOM(len) ((size_t)(len) + (WEIR_TEXT_LOOKUPS + 1) * WEIR_TEXT_CIDR_BYTES)

/**
 * Get the key that an insert of a text stores. It needs no filter: { .steps = WEIR_TEXT_CIDR }
 * parses an address, and the key is then its length in bits, one byte, and 4 or 16 bytes of it in
 * network order, those beyond the length as 0.
 * @room: WEIR_TEXT_ROOM(len) bytes.  @key: receives where the key is: in @text or @room.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL the steps cannot read the text: cidr takes no blanks, zone (%eth0), netmask,
 *   leading zero, or length above 32 or 128, nor what inet_pton refuses; suffixes takes no more
 *   than 127 labels.
 * Threads: any.  Progress: wait-free.  Cost: a copy where case or prefix change.
 */
WEIR_API WEIR_MUST_CHECK int weir_text_key(const struct weir_text *t, const void *text, size_t len,
                                           void *room, struct iovec *key);

/**
 * Get the keys that a lookup of a text probes: if one of them is in the set, so is a prefix that
 * covers it, or the domain or a parent of it.
 * @room: as above.  @keys: receives up to WEIR_TEXT_LOOKUPS keys: prefixes longest first, domains
 *   shortest first.
 * Return: how many, 0 too: then the text is certainly not in the set. Or a negative errno.
 * Errors: -EINVAL as weir_text_key(); but of more than 127 labels the parents are looked up.
 * Threads: any.  Progress: wait-free.  Cost: as above, and some nanoseconds each.
 */
WEIR_API WEIR_MUST_CHECK int weir_text_lookups(const struct weir_text *t, const void *text,
                                               size_t len, void *room, struct iovec *keys);

/**
 * Look up a text, and get those of the keys that weir_text_lookups() gives which may be in the set:
 * they tell which prefix or parent matched.
 * @room, @keys: as above.
 * Return: how many, 0 too, or a negative errno.
 * Errors: -EINVAL as weir_text_key().
 * Threads: any, as weir_contains().  Order: relaxed.  Progress: wait-free.
 * Cost: one lookup for each key, and for each a hash of it: bound the length of what strangers
 *   send. A name of 1 MiB below 127 parents takes a quarter of a second.
 */
WEIR_API WEIR_MUST_CHECK int weir_text_matches(const struct weir_filter *f, const void *text,
                                               size_t len, void *room, struct iovec *keys);

/**
 * Record the length, or the number of labels, of a key from weir_text_key(): for who counts keys
 * before the set is made, so that its rate allows for the lookups.
 * Return: true if it is new.
 * Errors: none.  Threads: one at a time.  Progress: wait-free.
 */
WEIR_API bool weir_text_note(struct weir_text *t, const struct iovec *key);

/**
 * Add the lengths of @src to @dst.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL the steps differ: their keys would not meet.
 * Threads: any, on a @dst of one's own.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_text_unite(struct weir_text *dst, const struct weir_text *src);

/** Get the normalisation of a filter, with all lengths that it has now.
 * Threads: any.  Order: relaxed.  Progress: wait-free.  Cost: nanoseconds. */
WEIR_API void weir_text_of(const struct weir_filter *f, struct weir_text *out);

/** The most keys that one lookup probes, at least 1. The false-positive rate of its answer is up to
 * so many times the filter's. */
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
