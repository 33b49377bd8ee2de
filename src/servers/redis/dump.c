/* SPDX-License-Identifier: MIT
 * SCANDUMP and LOADCHUNK of BF and CF. A dump is a header, then chunks with the bits of each link
 * in turn. No chunk spans two links. Iterators and chunks depend only on the chain, so a replica
 * can continue a dump that its master began. The header makes the first link; LOADCHUNK makes each
 * later link when the first chunk of that link comes.
 *
 * BF: the header has iterator 1, a chunk has 1 + the offset of its end. Bits only change from 0 to
 * 1, so a dump has all items added before it began, even if other items are added during the dump.
 *
 * CF: items move and are removed, so a dump with chunks of two moments could lack items that the
 * chain had at both moments. The header contains the number of changes to the chain, so its
 * checksum identifies one state. Each chunk has that checksum. An iterator has only MARK_BITS bits
 * of the checksum, above the number of the chunk, since clients may have only 53 bits in a number.
 * A loaded chain continues the header's count of changes: if an item is added before the last
 * chunk, LOADCHUNK refuses the other chunks. */
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "dump.h"

enum { BF_FIELDS = 6, CF_FIELDS = 9, FRAME_FIELDS = 4, MARK_BITS = 29 };
_Static_assert(CF_FIELDS * 8 == DUMP_HEADER_MOST && FRAME_FIELDS * 8 == DUMP_FRAME_BYTES, "bytes");
static const uint64_t BF_MAGIC = UINT64_C(0x3146425249455701);
static const uint64_t CF_MAGIC = UINT64_C(0x3146435249455701);

/* Little-endian, whatever the machine is. */
static void put(unsigned char *to, const uint64_t *from, int n)
{
	for (int i = 0; i < n * 8; i++)
		to[i] = (unsigned char)(from[i / 8] >> i % 8 * 8);
}

static void get(uint64_t *to, const unsigned char *from, int n)
{
	memset(to, 0, (size_t)n * 8);
	for (int i = 0; i < n * 8; i++)
		to[i / 8] |= (uint64_t)from[i] << i % 8 * 8;
}

struct dump_header dump_header_of(const struct chain *c)
{
	const struct chain_settings *s = &c->settings;
	uint64_t bf[BF_FIELDS] = { BF_MAGIC, 0, s->capacity, s->expansion, s->seed };
	uint64_t cf[CF_FIELDS] = { CF_MAGIC, s->capacity, s->expansion, s->seed, s->bucket,
		                   s->iterations, c->deleted, c->changes };
	uint64_t *f = chain_is_cuckoo(c) ? cf : bf;
	int n = chain_is_cuckoo(c) ? CF_FIELDS : BF_FIELDS;
	struct dump_header h = { .bytes = (size_t)n * 8 };
	memcpy(&bf[1], &s->error, sizeof s->error);
	put(h.text, f, n - 1);
	h.name = f[n - 1] = XXH3_64bits(h.text, h.bytes - 8);
	put(h.text, f, n);
	return h;
}

bool dump_parse_header(const struct key_kind *kind, const unsigned char *data, size_t bytes,
                       struct chain *out)
{
	uint64_t f[CF_FIELDS];
	if (bytes != (kind->cuckoo ? CF_FIELDS : BF_FIELDS) * 8)
		return false;
	get(f, data, (int)(bytes / 8));
	if (kind->cuckoo) {
		out->settings = (struct chain_settings){ 0, f[1], f[2], f[3], f[4], f[5] };
		out->deleted = f[6];
		out->changes = f[7];
	} else {
		out->settings = (struct chain_settings){ 0, f[2], f[3], f[4], 0, 0 };
		memcpy(&out->settings.error, &f[1], sizeof f[1]);
	}
	if (chain_is_cuckoo(out) != kind->cuckoo || out->deleted >= CHAIN_NUMBERS ||
	    out->changes >= CHAIN_NUMBERS)
		return false;
	struct dump_header again = dump_header_of(out);
	return !memcmp(again.text, data, bytes);
}

static uint64_t sum_of(const uint64_t *frame, const void *bits, size_t bytes)
{
	unsigned char first[DUMP_FRAME_BYTES - 8];
	put(first, frame, FRAME_FIELDS - 1);
	return XXH3_64bits_withSeed(bits, bytes, XXH3_64bits(first, sizeof first));
}

void dump_put_frame(unsigned char *out, const struct dump_frame *frame, const void *bits,
                    size_t bytes)
{
	uint64_t f[FRAME_FIELDS] = { frame->name, frame->offset, frame->items };
	f[FRAME_FIELDS - 1] = sum_of(f, bits, bytes);
	put(out, f, FRAME_FIELDS);
}

bool dump_get_frame(const unsigned char *chunk, size_t bytes, struct dump_frame *out)
{
	uint64_t f[FRAME_FIELDS];
	if (bytes <= DUMP_FRAME_BYTES)
		return false;
	get(f, chunk, FRAME_FIELDS);
	*out = (struct dump_frame){ f[0], f[1], f[2] };
	return f[3] == sum_of(f, chunk + DUMP_FRAME_BYTES, bytes - DUMP_FRAME_BYTES);
}

/* ---- iterators ---- */

uint64_t dump_mark(uint64_t name)
{
	return name & ((UINT64_C(1) << MARK_BITS) - 1);
}

static uint64_t pieces_of(uint64_t bytes)
{
	return (bytes + DUMP_BITS_MOST - 1) / DUMP_BITS_MOST;
}

uint64_t dump_iterator(const struct chain *c, uint64_t name, uint64_t offset)
{
	uint64_t piece = 1;
	if (!chain_is_cuckoo(c))
		return 1 + offset;
	for (size_t i = 0; i < c->links && offset; i++) {
		uint64_t bytes = offset < c->link[i].bytes ? offset : c->link[i].bytes;
		piece += pieces_of(bytes);
		offset -= bytes;
	}
	return dump_mark(name) << DUMP_PIECE_BITS | piece;
}

bool dump_offset(const struct chain *c, uint64_t name, uint64_t iterator, uint64_t *offset)
{
	*offset = iterator - 1;
	if (!chain_is_cuckoo(c))
		return true;
	uint64_t piece = iterator & ((1u << DUMP_PIECE_BITS) - 1);
	if (iterator >> DUMP_PIECE_BITS != dump_mark(name) || !piece--)
		return false;
	*offset = 0;
	for (size_t i = 0; i < c->links; i++) {
		uint64_t pieces = pieces_of(c->link[i].bytes);
		if (piece < pieces) {
			*offset += piece * DUMP_BITS_MOST;
			return true;
		}
		piece -= pieces;
		*offset += c->link[i].bytes;
	}
	return true;
}

size_t dump_find_link(const struct chain *c, uint64_t *offset)
{
	size_t i = 0;
	while (i < c->links && *offset >= c->link[i].bytes)
		*offset -= c->link[i++].bytes;
	return i;
}
