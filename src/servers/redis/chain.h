/* SPDX-License-Identifier: MIT
 * A chain of Bloom filters, independent of Redis. Each filter is a link. A chain appends a link
 * when its newest link has as many items as its capacity. An item that is in any link is not added
 * again.
 *
 * A chain with an expansion shares the error rate that the caller asks for among its links: half of
 * it for the first link, and smaller and smaller parts of the other half for later links
 * (own_error() in form.c). So the sum stays below that rate, however many links there are. A chain
 * with expansion 0 has one link, with the whole rate.
 *
 * A link of up to CHAIN_COMPACT bytes is compact: its bits follow its record in memory, and its k
 * probes are those of weir's kind classic. A larger link is a filter of weir's kind blocked, since
 * it has only one cache miss for each lookup. One hash of the item, by XXH3 with the chain's seed,
 * serves all links.
 *
 * A chain that comes from RedisBloom keeps RedisBloom's layout, in all links (redisbloom.h).
 *
 * Replicas rely on determinism: equal settings and equal changes in one order give equal bits. */
#ifndef WEIR_REDIS_CHAIN_H
#define WEIR_REDIS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/weir.h>
#include "memory.h"
#include "redisbloom.h"

/* The most links of a chain. RedisBloom halves the error rate from link to link, and makes no link
 * of rate 0. The rate of a first link, which is below 1, can be halved 1,074 times before it is 0.
 */
enum { CHAIN_LINKS = 1075, CHAIN_COMPACT = 4096 };
/* Every number that clients may read is below this limit. */
#define CHAIN_NUMBERS (UINT64_C(1) << 62)

enum chain_layout { CHAIN_OWN, CHAIN_REDISBLOOM };
struct chain_settings {
	double error;       /* between 0 and 1; a link has at most 0.25 */
	uint64_t capacity;  /* of the first link: 1 to CHAIN_CAPACITY_MOST */
	uint64_t seed;      /* of the hash; 0 in RedisBloom's layout, else not 0 */
	uint64_t expansion; /* factor from one link's capacity to the next; 0: only one link */
	enum chain_layout layout;
	uint32_t options;   /* in RedisBloom's layout, redisbloom.h has them; else 0 */
};
#define CHAIN_CAPACITY_MOST (UINT64_C(1) << 48)
#define CHAIN_EXPANSION_MOST UINT32_MAX

/* The size of a link. A file or a dump has the form of each link, so loading solves no formula, and
 * a later version may size new links otherwise. */
struct chain_form {
	uint64_t capacity;
	uint64_t bytes;  /* of bits: a multiple of 8; if blocked of 64 */
	uint32_t probes; /* bits that an item sets; 0: blocked */
	uint32_t words_per_key, bits_per_word; /* blocked: as in struct weir_params; else 0 */
	double error;    /* RedisBloom's layout: the error rate and n2; else 0 */
	uint8_t n2;
};

struct chain_link {
	struct chain_link *older; /* the link before; NULL: this is the first link */
	union {
		struct weir_filter *filter; /* blocked: the filter on the bits */
		double error;               /* RedisBloom's layout: as in struct chain_form */
	};
	unsigned char *bits;
	uint64_t capacity, items, bytes;
	uint32_t probes;          /* as in struct chain_form; 0: blocked */
	uint8_t pad;              /* blocked: bytes from the allocation to the bits */
	uint8_t n2;               /* as in struct chain_form, like the two below */
	uint8_t words_per_key, bits_per_word;
};

struct chain {
	struct chain_link *newest;
	const struct chain_memory *memory;
	double error; /* this and the other members, except links, are the settings */
	uint64_t capacity, seed;
	uint32_t expansion;
	uint16_t links;
	uint8_t layout, options;
};

/* Functions that return an int return 0 or a negative errno, with weir_error_detail(). -EFBIG: the
 * key would have more than @most bytes of bits. @most 0: no limit. */
int chain_create(struct chain **out, const struct chain_settings *settings, uint64_t most,
                 const struct chain_memory *memory);
/* As chain_create(), with a first link of the form @first, which may come from an enemy. */
int chain_create_as(struct chain **out, const struct chain_settings *settings,
                    const struct chain_form *first, uint64_t most,
                    const struct chain_memory *memory);
void chain_destroy(struct chain *c);
int chain_copy(struct chain **out, const struct chain *from);
struct chain_settings chain_settings_of(const struct chain *c);
/* Return: true if the chain may have more than one link. */
bool chain_scales(const struct chain *c);

/* Append an empty link, with the form that follows from the settings or with the form @form, which
 * may come from an enemy. chain_shrink() removes the newest link, but not the first. */
int chain_grow(struct chain *c, uint64_t most);
int chain_append(struct chain *c, const struct chain_form *form, uint64_t most);
void chain_shrink(struct chain *c);
/* List the links, oldest first. Return: their number. */
unsigned chain_list(const struct chain *c, struct chain_link *out[CHAIN_LINKS]);
struct chain_form chain_form_of(const struct chain_link *l);

/* items.c: add an item. Return: 1 a new item; 0 a duplicate; or a negative errno, and the chain is
 * unchanged: -ENOSPC a chain of one link is full, -EFBIG, -ENOMEM. */
int chain_add(struct chain *c, const void *item, size_t len, uint64_t most);
/* As chain_add(), with chain_hash() of the item. */
int chain_add_hash(struct chain *c, uint64_t hash, uint64_t most);
bool chain_has(const struct chain *c, const void *item, size_t len);
/* Look up many items, whose hashes the caller has. @found: one answer for each hash. */
void chain_has_hashes(const struct chain *c, const uint64_t *hashes, size_t n, bool *found);
/* Hash an item of a chain that is not in RedisBloom's layout. */
uint64_t chain_hash(const struct chain *c, const void *item, size_t len);

uint64_t chain_all_capacity(const struct chain *c);
uint64_t chain_items(const struct chain *c);
uint64_t chain_bytes(const struct chain *c);
/* Return: the memory of the chain from its allocator. The record of a blocked filter, some 400
 * bytes, is malloc's, and Redis does not count it either. */
size_t chain_usage(const struct chain *c);

/* form.c: the error rate of link @n of a chain; and its size. */
double chain_error(const struct chain_settings *s, unsigned n);
int chain_size(const struct chain_settings *s, unsigned n, struct chain_form *out);
/* Return: 0 if a link can have this form, else -EBADMSG. */
int chain_form_check(const struct chain_form *form, enum chain_layout layout);

#endif
