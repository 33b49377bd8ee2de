/* SPDX-License-Identifier: MIT
 * The formats that SCANDUMP writes and LOADCHUNK reads (dump.c explains them). */
#ifndef WEIR_REDIS_DUMP_H
#define WEIR_REDIS_DUMP_H

#include "keys.h"

enum { DUMP_FRAME_BYTES = 4 * 8, DUMP_BITS_MOST = (16 << 20) - DUMP_FRAME_BYTES };
enum { DUMP_PIECE_BITS = 23 }; /* CF, weir's format: bits of an iterator that number a chunk */

/* The arrays of a key: the bits of its links, or its sub filters. One of @chain and @cuckoo is
 * NULL. */
struct dump_key {
	struct chain *chain;
	struct cuckoo *cuckoo;
	struct chain_link *link[CHAIN_LINKS];
	unsigned n; /* arrays */
};
struct dump_key dump_of_chain(struct chain *c);
struct dump_key dump_of_cuckoo(struct cuckoo *c);
unsigned char *dump_array(const struct dump_key *k, unsigned i, uint64_t *bytes);
/* Return: true if the key is dumped in RedisBloom's format. */
bool dump_is_raw(const struct dump_key *k);

/* The header of a key. @out: has room for DUMP_HEADER_MOST bytes. @name: receives the checksum that
 * identifies the key in each chunk; 0 if raw. Return: the number of bytes. */
enum { DUMP_HEADER_MOST = 8 * (7 + 7 * CHAIN_LINKS) };
size_t dump_put_header(const struct dump_key *k, unsigned char *out, uint64_t *name);
/* Make a key from a header. Return: 0, and an empty key of the header's size; or a negative errno:
 * -EBADMSG a damaged header. */
int dump_make_chain(const unsigned char *header, size_t bytes, uint64_t most, struct chain **out);
int dump_make_cuckoo(const unsigned char *header, size_t bytes, uint64_t most,
                     struct cuckoo **out);

/* The header of a chunk, in weir's format. */
struct dump_frame {
	uint64_t name,   /* of the key */
	         offset, /* offset of the bits in all arrays, laid end to end */
	         items;  /* items of the array */
};
void dump_put_frame(unsigned char *out, const struct dump_frame *f, const void *bits, size_t bytes);
/* Return: true if the checksum is correct. */
bool dump_get_frame(const unsigned char *chunk, size_t bytes, struct dump_frame *out);

/* Return: the iterator that continues at byte @offset of the arrays. */
uint64_t dump_iterator(const struct dump_key *k, uint64_t name, uint64_t offset);
/* The inverse of dump_iterator(). Return: true if the iterator fits the key's current state. */
bool dump_offset(const struct dump_key *k, uint64_t name, uint64_t iterator, uint64_t *offset);
/* Return: true if a chunk of the key has this iterator. */
bool dump_fits(const struct dump_key *k, uint64_t name, uint64_t iterator, uint64_t end);
/* Return: the array with byte @offset, or the number of arrays. @offset becomes the offset in that
 * array. */
unsigned dump_find(const struct dump_key *k, uint64_t *offset);

#endif
