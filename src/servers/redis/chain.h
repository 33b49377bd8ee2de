/* SPDX-License-Identifier: MIT
 * A chain of blocked filters that grows without end: an item is new only if no link has it. It
 * knows nothing of Redis.
 *
 * The first link has half the error rate that was asked, each next one half of its predecessor's,
 * so that the sum stays below what was asked. Link i hashes with the chain's seed + i. So equal
 * settings and equal items, in one order, give equal bits: that is what replicas rely on. */
#ifndef WEIR_REDIS_CHAIN_H
#define WEIR_REDIS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/weir.h>

enum { CHAIN_LINKS = 64 };

struct chain_memory {
	void *(*get)(size_t bytes); /* NULL: there is none */
	void (*put)(void *memory);
};

struct chain_settings {
	double error;       /* between 0 and 1; of more than 0.25 a chain has 0.25 */
	uint64_t capacity;  /* of the first link: 1 to 2^30 */
	uint64_t expansion; /* times the last link's capacity; 0: one link for ever */
	uint64_t seed;      /* not 0 */
};

struct chain_link {
	struct weir_filter *filter;
	void *memory;       /* the filter's bits are in here */
	uint64_t capacity, items, bytes;
};

struct chain {
	struct chain_settings settings;
	const struct chain_memory *memory;
	size_t links;
	struct chain_link link[CHAIN_LINKS];
};

/* All return 0 or a negative errno, with weir_error_detail(), where they return an int.
 * @most: bytes of bits that all links may have, 0: any number; -EFBIG says that it was met. */
int chain_create(struct chain **out, const struct chain_settings *settings, uint64_t most,
                 const struct chain_memory *memory);
void chain_destroy(struct chain *c);
int chain_copy(struct chain **out, const struct chain *from);

/* Return: 1 it was new, 0 it was there, or a negative errno: -ENOSPC a chain of one link is full,
 * -EFBIG, -ENOMEM. Then nothing was changed. */
int chain_add(struct chain *c, const void *item, size_t len, uint64_t most);
/* One more link, empty; and without the last one. */
int chain_grow(struct chain *c, uint64_t most);
void chain_shrink(struct chain *c);
/* A link's bits: any bits are a filter. */
unsigned char *chain_bits(const struct chain_link *l);
bool chain_has(const struct chain *c, const void *item, size_t len);

uint64_t chain_capacity(const struct chain *c);
uint64_t chain_items(const struct chain *c);
uint64_t chain_bytes(const struct chain *c);

/* To read one back: make it empty of links, then append each image in turn. All is checked against
 * the settings: a chain that this accepts is one that chain_add() could have made. */
int chain_begin(struct chain **out, const struct chain_settings *settings,
                const struct chain_memory *memory);
int chain_append(struct chain *c, uint64_t items, const void *image, size_t bytes);

#endif
