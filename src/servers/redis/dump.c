/* SPDX-License-Identifier: MIT
 * SCANDUMP and LOADCHUNK of BF and CF. A dump is a header, then chunks with the bits of each array
 * in turn. No chunk spans two arrays. Iterators and chunks depend only on the key, so a replica can
 * continue a dump that its master began. The header makes all arrays that the key had when the dump
 * began. LOADCHUNK appends a later link of BF when the first chunk of that link comes.
 *
 * A key in RedisBloom's layout is dumped in RedisBloom's format, which RedisBloom loads again
 * (raw.c): chunks are bits, and an iterator is 1 + the offset of a chunk's end. In CF keys from
 * before RedisBloom 2.2 the offset counts buckets of two bytes.
 *
 * Any other key has a header and chunks with checksums. The checksum of the header names the key,
 * and each chunk has that name, so LOADCHUNK refuses a chunk of another key.
 *
 * BF: a chunk's iterator is as in RedisBloom. Bits only change from 0 to 1, so a dump has all items
 * added before it began, even if other items are added during the dump. The header has the numbers
 * of items, but its name leaves them out, since they change during a dump.
 *
 * CF: items move and are removed, so a dump with chunks of two moments could lack items that the
 * key had at both moments. The header has the number of changes to the key, so its name identifies
 * one state. An iterator has MARK_BITS bits of the name above the number of the chunk, since
 * clients may have only 53 bits in a number. A loaded key continues the header's count of changes:
 * if an item is added before the last chunk, LOADCHUNK refuses the other chunks. */
#include <errno.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "dump.h"
#include "raw.h"

enum { CF_NAMED = 6 }; /* the fields of a header of CF that its name covers */
enum { BF_FIELDS = 6, LINK_FIELDS = 4, CF_FIELDS = 8, FRAME_FIELDS = 4, MARK_BITS = 29 };
_Static_assert(FRAME_FIELDS * 8 == DUMP_FRAME_BYTES, "bytes");
_Static_assert((BF_FIELDS + LINK_FIELDS * CHAIN_LINKS + 1) * 8 <= DUMP_HEADER_MOST, "bytes");
_Static_assert((size_t)RAW_CHAIN_MOST <= DUMP_HEADER_MOST, "bytes");
static const uint64_t BF_MAGIC = UINT64_C(0x3246425249455702);
static const uint64_t CF_MAGIC = UINT64_C(0x3246435249455702);

/* Little-endian, whatever the machine is. */
static void put(unsigned char *to, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n * 8; i++)
		to[i] = (unsigned char)(from[i / 8] >> i % 8 * 8);
}

static void get(uint64_t *to, const unsigned char *from, size_t n)
{
	memset(to, 0, n * 8);
	for (size_t i = 0; i < n * 8; i++)
		to[i / 8] |= (uint64_t)from[i] << i % 8 * 8;
}

/* ---- arrays ---- */

struct dump_key dump_of_chain(struct chain *c)
{
	struct dump_key k; /* most of it stays unset: there are few links */
	k.chain = c;
	k.cuckoo = NULL;
	k.n = chain_list(c, k.link);
	return k;
}

struct dump_key dump_of_cuckoo(struct cuckoo *c)
{
	struct dump_key k;
	k.chain = NULL;
	k.cuckoo = c;
	k.n = c->subs;
	return k;
}

unsigned char *dump_array(const struct dump_key *k, unsigned i, uint64_t *bytes)
{
	*bytes = k->chain ? k->link[i]->bytes : cuckoo_sub_bytes(k->cuckoo, i);
	return k->chain ? k->link[i]->bits : cuckoo_sub(k->cuckoo, i);
}

bool dump_is_raw(const struct dump_key *k)
{
	return k->chain ? k->chain->layout == CHAIN_REDISBLOOM : !k->cuckoo->seed;
}

unsigned dump_find(const struct dump_key *k, uint64_t *offset)
{
	uint64_t bytes;
	for (unsigned i = 0; i < k->n; i++) {
		(void)dump_array(k, i, &bytes);
		if (*offset < bytes)
			return i;
		*offset -= bytes;
	}
	return k->n;
}

/* ---- headers ---- */

static size_t put_chain(const struct dump_key *k, unsigned char *out, uint64_t *name)
{
	const struct chain *c = k->chain;
	uint64_t f[BF_FIELDS + LINK_FIELDS * CHAIN_LINKS + 1]; /* too large to zero */
	const uint64_t first[BF_FIELDS] = { BF_MAGIC, 0, c->capacity, c->seed, c->expansion, k->n };
	size_t n = BF_FIELDS;
	memcpy(f, first, sizeof first);
	memcpy(&f[1], &c->error, sizeof c->error);
	put(out, f, BF_FIELDS - 1); /* links are added during a dump, so they are not in the name */
	*name = XXH3_64bits(out, (BF_FIELDS - 1) * 8);
	for (unsigned i = 0; i < k->n; i++) {
		struct chain_form form = chain_form_of(k->link[i]);
		f[n++] = form.capacity;
		f[n++] = form.bytes;
		f[n++] = k->link[i]->items;
		f[n++] = form.probes | (uint64_t)form.words_per_key << 16 |
		         (uint64_t)form.bits_per_word << 32;
	}
	put(out, f, n);
	f[n] = XXH3_64bits(out, n * 8);
	put(out + n * 8, f + n, 1);
	return (n + 1) * 8;
}

static size_t put_cuckoo(const struct cuckoo *c, unsigned char *out, uint64_t *name)
{
	uint64_t f[CF_FIELDS] = { CF_MAGIC, c->buckets, c->seed,
		                  c->bucket | (uint64_t)c->iterations << 16 |
		                          (uint64_t)c->expansion << 32 | (uint64_t)c->subs << 48,
		                  c->deleted, c->changes, c->items };
	put(out, f, CF_FIELDS - 1);
	*name = XXH3_64bits(out, CF_NAMED * 8);
	f[CF_FIELDS - 1] = XXH3_64bits(out, (CF_FIELDS - 1) * 8);
	put(out, f, CF_FIELDS);
	return CF_FIELDS * 8;
}

size_t dump_put_header(const struct dump_key *k, unsigned char *out, uint64_t *name)
{
	*name = 0;
	if (dump_is_raw(k))
		return k->chain ? raw_put_chain(k->chain, out) : raw_put_cuckoo(k->cuckoo, out);
	return k->chain ? put_chain(k, out, name) : put_cuckoo(k->cuckoo, out, name);
}

static struct chain_form form_from(const uint64_t *f)
{
	return (struct chain_form){ .capacity = f[0], .bytes = f[1],
		                    .probes = (uint32_t)f[3] & 0xffff,
		                    .words_per_key = (uint32_t)(f[3] >> 16) & 0xffff,
		                    .bits_per_word = (uint32_t)(f[3] >> 32) };
}

static int damaged(void)
{
	return weir_fail(-EBADMSG, "the header of the dump is damaged or not this kind's");
}

int dump_make_chain(const unsigned char *header, size_t bytes, uint64_t most, struct chain **out)
{
	uint64_t f[DUMP_HEADER_MOST / 8];
	struct chain_settings s = { .layout = CHAIN_OWN };
	struct chain *c;
	size_t n = bytes / 8;
	if (bytes < 8 || bytes % 8 || bytes > DUMP_HEADER_MOST)
		return raw_make_chain(header, bytes, most, out);
	get(f, header, n);
	if (f[0] != BF_MAGIC)
		return raw_make_chain(header, bytes, most, out);
	if (n < BF_FIELDS + LINK_FIELDS + 1 || f[5] != (n - BF_FIELDS - 1) / LINK_FIELDS ||
	    (n - BF_FIELDS - 1) % LINK_FIELDS || f[n - 1] != XXH3_64bits(header, bytes - 8))
		return damaged();
	memcpy(&s.error, &f[1], sizeof s.error);
	s.capacity = f[2];
	s.seed = f[3];
	s.expansion = f[4];
	uint64_t all = 0;
	for (unsigned i = 0; i < f[5]; i++)
		all = raw_sum(all, f[BF_FIELDS + LINK_FIELDS * i + 1]);
	int err = raw_check_memory(all);
	for (unsigned i = 0; !err && i < f[5]; i++) {
		const uint64_t *at = f + BF_FIELDS + LINK_FIELDS * i;
		struct chain_form form = form_from(at);
		err = i ? chain_append(c, &form, most)
		        : chain_create_as(&c, &s, &form, most, &key_memory);
		if (!err)
			c->newest->items = at[2] < at[0] ? at[2] : at[0];
		else if (i)
			chain_destroy(c);
	}
	if (!err)
		*out = c;
	return err;
}

int dump_make_cuckoo(const unsigned char *header, size_t bytes, uint64_t most,
                     struct cuckoo **out)
{
	uint64_t f[CF_FIELDS];
	if (bytes != CF_FIELDS * 8)
		return raw_make_cuckoo(header, bytes, most, out);
	get(f, header, CF_FIELDS);
	struct cuckoo_settings s = { f[1], f[2], f[3] & 0xffff, f[3] >> 16 & 0xffff,
		                     f[3] >> 32 & 0xffff, false };
	if (f[0] != CF_MAGIC || f[CF_FIELDS - 1] != XXH3_64bits(header, bytes - 8) || !s.seed ||
	    !(f[3] >> 48) || f[4] >= CHAIN_NUMBERS || f[5] >= CHAIN_NUMBERS ||
	    f[6] >= CHAIN_NUMBERS)
		return damaged();
	int err = raw_make_subs(out, &s, f[3] >> 48, most);
	if (!err) {
		(*out)->deleted = f[4];
		(*out)->changes = f[5];
		(*out)->items = f[6];
	}
	return err;
}

/* ---- frames ---- */

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

static bool is_marked(const struct dump_key *k)
{
	return k->cuckoo && !dump_is_raw(k);
}

/* Return: the bytes that an iterator of RedisBloom's counts. */
static unsigned unit_of(const struct dump_key *k)
{
	return k->cuckoo && k->cuckoo->old_hash ? 2 : 1;
}

static uint64_t mark_of(uint64_t name)
{
	return name & ((UINT64_C(1) << MARK_BITS) - 1);
}

static uint64_t pieces_of(uint64_t bytes)
{
	return (bytes + DUMP_BITS_MOST - 1) / DUMP_BITS_MOST;
}

uint64_t dump_iterator(const struct dump_key *k, uint64_t name, uint64_t offset)
{
	uint64_t piece = 1, bytes;
	if (!is_marked(k))
		return 1 + offset / unit_of(k);
	for (unsigned i = 0; i < k->n && offset; i++) {
		(void)dump_array(k, i, &bytes);
		bytes = offset < bytes ? offset : bytes;
		piece += pieces_of(bytes);
		offset -= bytes;
	}
	return mark_of(name) << DUMP_PIECE_BITS | piece;
}

bool dump_offset(const struct dump_key *k, uint64_t name, uint64_t iterator, uint64_t *offset)
{
	uint64_t bytes;
	*offset = (iterator - 1) * unit_of(k);
	if (!is_marked(k))
		return true;
	uint64_t piece = iterator & ((1u << DUMP_PIECE_BITS) - 1);
	if (iterator == INT64_MAX) { /* the largest that a client can send is past any end */
		*offset = UINT64_MAX;
		return true;
	}
	if (iterator >> DUMP_PIECE_BITS != mark_of(name) || !piece--)
		return false;
	*offset = 0;
	for (unsigned i = 0; i < k->n; i++) {
		(void)dump_array(k, i, &bytes);
		uint64_t pieces = pieces_of(bytes);
		if (piece < pieces) {
			*offset += piece * DUMP_BITS_MOST;
			return true;
		}
		piece -= pieces;
		*offset += bytes;
	}
	return true;
}

bool dump_fits(const struct dump_key *k, uint64_t name, uint64_t iterator, uint64_t end)
{
	return is_marked(k) ? iterator >> DUMP_PIECE_BITS == mark_of(name) : iterator == 1 + end;
}
