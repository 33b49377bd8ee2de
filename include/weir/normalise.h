/* SPDX-License-Identifier: MIT
 * What is done to a key before it is hashed, so that keys as people write them meet: always in this
 * order: trim, lowercase, then cidr or suffixes. It stands in the image (struct weir_normal), and
 * whoever looks up asks the filter for it, so that builder and server cannot differ:
 *
 *     answer = weir_normal_contains(f, text, len);           a filter
 *     answer = weir_handle_normal_contains(h, text, len);    a handle, whose files may have other
 *                                                            steps with WEIR_HANDLE_ANY_STEPS
 *
 * The other verbs take keys as they are: weir_contains() of a text finds nothing in a set of
 * prefixes, nor in other cases than the set's.
 */
#ifndef WEIR_NORMALISE_H
#define WEIR_NORMALISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/export.h>

WEIR_BEGIN_DECLS

struct weir_filter;

/** Steps, or'ed; those of cidr and suffixes exclude each other. */
enum weir_normal_steps {
	WEIR_NORMAL_TRIM = 1u << 0,      /* blanks and tabs around the key go, and before them one
	                                    carriage return at its end */
	WEIR_NORMAL_LOWERCASE = 1u << 1, /* A to Z become a to z; other bytes stay */
	WEIR_NORMAL_CIDR = 1u << 2,      /* the key is an IP address or prefix: weir_normal_cidr();
	                                    a lookup asks for each length that the set holds */
	WEIR_NORMAL_SUFFIXES = 1u << 3,  /* the key is a domain: a leading "*." or "." and a final
	                                    "." go; a lookup asks for it and for each parent that
	                                    has a number of labels that the set holds */
};

/** What is done. All zero: nothing, keys are taken byte by byte. */
struct weir_normal {
	uint32_t steps;     /* enum weir_normal_steps */
	uint32_t reserved;  /* 0 */
	uint64_t ipv4;      /* cidr: bit n: there are IPv4 prefixes of n bits, 0 to 32 */
	uint64_t ipv6[3];   /* cidr: bit n % 64 of word n / 64: IPv6 ones of n bits, 0 to 128 */
	uint64_t labels[2]; /* suffixes: bit n % 64 of word n / 64: domains of n labels, 1 to 127 */
};

enum {
	WEIR_CIDR_KEY = 17,        /* bytes of the longest key of weir_normal_cidr() */
	WEIR_NORMAL_LOOKUPS = 129, /* more keys than these no lookup takes */
};

/**
 * The bytes without blanks and tabs around them, and without one carriage return before the end.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API struct iovec weir_normal_trim(const void *text, size_t len);

/**
 * The key of an IP address or prefix: its length in bits, one byte, then the 4 or 16 bytes of the
 * address in network order, those beyond the length as 0: 10.1.2.3/8 is 10.0.0.0/8. An address is a
 * prefix of 32 or 128 bits. An IPv4-mapped IPv6 prefix of 96 bits or more (::ffff:192.0.2.0/120) is
 * the IPv4 one (192.0.2.0/24); a shorter IPv6 prefix, ::/0 too, covers no IPv4 address.
 * @key: receives it: WEIR_CIDR_KEY bytes of room.
 * Return: its bytes, 5 or 17, or a negative errno.
 * Errors: -EINVAL @text is no prefix: it has blanks, a zone (%eth0), a netmask, a leading zero, a
 *   length above 32 or 128, or else is not as inet_pton takes it. The sentence has it.
 * Threads: any.  Progress: wait-free.  Cost: some 50 ns.
 */
WEIR_API WEIR_MUST_CHECK int weir_normal_cidr(unsigned char *key, const void *text, size_t len);

/** Bytes of room that weir_normal_key() and weir_normal_lookups() need for a text of @len bytes. */
WEIR_API size_t weir_normal_room(const struct weir_normal *n, size_t len);

/**
 * The key to insert for a text.
 * @room: weir_normal_room() bytes.  @key: receives where the key is: in @text or @room.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL no prefix, as weir_normal_cidr(); of suffixes: more than 127 labels.
 * Threads: any.  Progress: wait-free.  Cost: a copy where case or prefix change.
 */
WEIR_API WEIR_MUST_CHECK int weir_normal_key(const struct weir_normal *n, const void *text,
                                             size_t len, void *room, struct iovec *key);

/**
 * The keys to look up for a text: if one of them is in the set, a prefix that covers it is, or the
 * domain or a parent of it; if none is, certainly not. Of a prefix those that cover all of it.
 * @room: as above.  @keys: receives where they are: room for WEIR_NORMAL_LOOKUPS.
 * Return: how many, 0 too: then the text is certainly not in the set. Or a negative errno.
 * Errors: -EINVAL no prefix, as weir_normal_cidr().
 * Threads: any.  Progress: wait-free.  Cost: as above, and some nanoseconds each.
 */
WEIR_API WEIR_MUST_CHECK int weir_normal_lookups(const struct weir_normal *n, const void *text,
                                                 size_t len, void *room, struct iovec *keys);

/** The most keys that one lookup asks for, at least 1. The rate of its answer is up to so many
 * times the filter's. */
WEIR_API uint32_t weir_normal_most(const struct weir_normal *n);

/** Note the length, or the number of labels, of a key from weir_normal_key().
 * Return: whether it was not there before. */
WEIR_API bool weir_normal_note(struct weir_normal *n, const struct iovec *key);

/**
 * Let @dst have the lengths and numbers of labels of @src too.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL the steps differ: their keys would not meet.
 * Threads: any, on a @dst of one's own.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_normal_unite(struct weir_normal *dst,
                                               const struct weir_normal *src);

/** What is done to the keys of this filter: as weir_normal_set() or its image had it.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds. */
WEIR_API void weir_normal_of(const struct weir_filter *f, struct weir_normal *out);

/**
 * Set what is done to the keys of a filter, for the verbs below and for weir_save(). Copies, folds
 * and a reload's next filter inherit it; a merge refuses another one.
 * @f: a filter that no other thread has yet.  @n: NULL: nothing.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL unknown steps, cidr and suffixes together, or lengths without their step.
 * Threads: none beside it.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_normal_set(struct weir_filter *f, const struct weir_normal *n);

/**
 * Look up a text as the filter's own struct weir_normal wants it.
 * Return: 1 it may be in the set, 0 it is certainly not, or a negative errno.
 * Errors: -EINVAL no prefix, in a set of prefixes; -ENOMEM lowercase of a text above 4096 bytes.
 * Threads: any, as weir_contains().  Order: relaxed.  Progress: wait-free but for that memory.
 * Cost: that of weir_normal_most() lookups as a batch.
 */
WEIR_API WEIR_MUST_CHECK int weir_normal_contains(const struct weir_filter *f, const void *text,
                                                  size_t len);

/**
 * Insert a text likewise.
 * Return: WEIR_NEW, WEIR_SEEN, or a negative errno.
 * Errors: as weir_normal_key() and weir_insert(); -EINVAL a length, or number of labels, that the
 *   filter's struct weir_normal lacks: no lookup would ask for it; -ENOMEM as above.
 * Threads: any, as weir_insert().  Order: relaxed.  Progress: wait-free but for that memory.
 * Cost: an insert.
 */
WEIR_API int weir_normal_insert(struct weir_filter *f, const void *text, size_t len);

WEIR_END_DECLS

#endif
