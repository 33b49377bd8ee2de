/* SPDX-License-Identifier: MIT
 * What SCANDUMP writes and LOADCHUNK reads. */
#ifndef WEIR_REDIS_DUMP_H
#define WEIR_REDIS_DUMP_H

#include "keys.h"

enum { DUMP_HEADER_MOST = 9 * 8, DUMP_FRAME_BYTES = 4 * 8 };
enum { DUMP_BITS_MOST = (16 << 20) - DUMP_FRAME_BYTES }; /* of a chunk */
enum { DUMP_PIECE_BITS = 23 };                           /* CF: of an iterator, from bit 0 on */

struct dump_header {
	unsigned char text[DUMP_HEADER_MOST];
	size_t bytes;
	uint64_t name; /* its checksum, which names the chain in each chunk */
};
struct dump_header dump_header_of(const struct chain *c);
/* Return: is it a header of this kind, with a right checksum? Then @out has its settings, and its
 * counts. */
bool dump_parse_header(const struct key_kind *kind, const unsigned char *data, size_t bytes,
                       struct chain *out);

/* The head of a chunk of a link's bits. */
struct dump_frame {
	uint64_t name, offset, items; /* of the chain: where the bits begin; of the link */
};
void dump_put_frame(unsigned char *out, const struct dump_frame *f, const void *bits, size_t bytes);
/* Return: is the checksum right? */
bool dump_get_frame(const unsigned char *chunk, size_t bytes, struct dump_frame *out);

/* CF: what of a header's checksum an iterator has, above its piece. */
uint64_t dump_mark(uint64_t name);
/* The iterator that goes on at byte @offset of the chain. */
uint64_t dump_iterator(const struct chain *c, uint64_t name, uint64_t offset);
/* The inverse. Return: is it an iterator of the chain as it is? */
bool dump_offset(const struct chain *c, uint64_t name, uint64_t iterator, uint64_t *offset);
/* Return: the number of the link with byte @offset of the chain, which becomes the link's own. */
size_t dump_find_link(const struct chain *c, uint64_t *offset);

#endif
