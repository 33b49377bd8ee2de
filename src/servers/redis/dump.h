/* SPDX-License-Identifier: MIT
 * The format that SCANDUMP writes and LOADCHUNK reads. */
#ifndef WEIR_REDIS_DUMP_H
#define WEIR_REDIS_DUMP_H

#include "keys.h"

enum { DUMP_HEADER_MOST = 9 * 8, DUMP_FRAME_BYTES = 4 * 8 };
enum { DUMP_BITS_MOST = (16 << 20) - DUMP_FRAME_BYTES }; /* bytes of bits in a chunk */
enum { DUMP_PIECE_BITS = 23 };                           /* CF: bits of an iterator that are the
                                                            chunk's number */

struct dump_header {
	unsigned char text[DUMP_HEADER_MOST];
	size_t bytes;
	uint64_t name; /* checksum of the header; identifies the chain in each chunk */
};
struct dump_header dump_header_of(const struct chain *c);
/* Check a header and its checksum. @out: receives settings and counts. Return: true if valid. */
bool dump_parse_header(const struct key_kind *kind, const unsigned char *data, size_t bytes,
                       struct chain *out);

/* The header of a chunk of a link's bits. */
struct dump_frame {
	uint64_t name,   /* dump_header.name of the chain */
	         offset, /* offset of the bits in the chain */
	         items;  /* items of the link */
};
void dump_put_frame(unsigned char *out, const struct dump_frame *f, const void *bits, size_t bytes);
/* Return: true if the checksum is correct. */
bool dump_get_frame(const unsigned char *chunk, size_t bytes, struct dump_frame *out);

/* CF: the bits of a header's checksum that an iterator contains, above the chunk's number. */
uint64_t dump_mark(uint64_t name);
/* Return: the iterator that continues at byte @offset of the chain. */
uint64_t dump_iterator(const struct chain *c, uint64_t name, uint64_t offset);
/* The inverse of dump_iterator(). Return: true if the iterator fits the chain's current state. */
bool dump_offset(const struct chain *c, uint64_t name, uint64_t iterator, uint64_t *offset);
/* Return: the link with byte @offset of the chain. @offset becomes the offset in that link. */
size_t dump_find_link(const struct chain *c, uint64_t *offset);

#endif
