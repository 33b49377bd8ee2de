/* SPDX-License-Identifier: MIT
 * A mutator that corrects the checksums, because inputs with wrong checksums would reach little
 * code. A mutation mostly changes a few bytes or one field. Often the mutator also adjusts the
 * fields that depend on others (offsets, lengths), so that the loader believes a changed size. Or
 * it moves all fields into their ranges, and then gives several shards only to compressed images,
 * because a plain image of several shards would be large. One mutation in sixteen corrects
 * nothing. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if TEST_ZSTD
#include <zstd.h>
#endif
#include "../image_bytes.h"
#include "fuzz_image.h"

enum { MOST_SHARD = 1 << 20 };

static const uint16_t fields[][2] = { /* offset and size in bytes */
	{ 8, 4 },  { 12, 4 }, { 16, 4 }, { 20, 4 }, { 24, 8 }, { 32, 8 }, { 40, 8 }, { 48, 4 },
	{ 52, 4 }, { 56, 8 }, { 64, 8 }, { 72, 4 }, { 76, 4 }, { 80, 8 }, { 88, 8 }, { 96, 8 },
	/* numbers of a shape, for kinds that store them here */
	{ 104, 4 }, { 108, 4 }, { 112, 4 }, { 116, 4 }, { 120, 4 }, { 124, 4 }, { 128, 4 },
	/* format 2: the marks, the steps of normalisation, and two words of a later format */
	{ 136, 4 }, { 140, 4 }, { 144, 8 }, { 152, 8 }, { 160, 8 }, { 168, 8 }, { 176, 8 },
	{ 184, 8 }, { 192, 4 }, { 484, 4 },
	/* format 3, an image of several filters: four words that the kind defines, and the first
	 * five words of the table */
	{ 192, 8 }, { 200, 8 }, { 208, 8 }, { 216, 8 }, { 512, 8 }, { 520, 8 }, { 528, 8 },
	{ 536, 8 }, { 544, 8 },
};

static uint64_t random_of(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return XXH3_64bits(state, sizeof *state);
}

/* Return: a small number, a number near a power of two, or any random number. */
static uint64_t number(unsigned *state)
{
	uint64_t r = random_of(state);
	switch (r % 4) {
	case 0:
		return r >> 8 & 15;
	case 1:
		return (UINT64_C(1) << (r >> 8 & 63)) + (r >> 16 & 3) - 1;
	case 2:
		return (r >> 8 & 31) * 1024;
	}
	return random_of(state);
}

static void set_field(uint8_t *data, unsigned *state)
{
	const uint16_t *field = fields[random_of(state) % (sizeof fields / sizeof fields[0])];
	uint64_t value = number(state);
	for (unsigned i = 0; i < field[1]; i++)
		data[field[0] + i] = (uint8_t)(value >> (8 * i));
}

static void put32(uint8_t *p, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> (8 * i));
}

/* Move the steps of normalisation into their range. The words of an absent step become 0. */
static uint64_t tame_steps(uint8_t *data)
{
	uint64_t steps = image_get(data + IMAGE_STEPS, 4) & 15;
	if (steps & 4)
		steps &= 7;
	put32(data + IMAGE_STEPS, steps);
	image_put64(data + 144, image_get(data + 144, 8) & ((UINT64_C(1) << 33) - 1));
	image_put64(data + 168, data[168] & 1);
	data[176] &= 0xfe;
	if (!(steps & 4))
		memset(data + 144, 0, 32);
	if (!(steps & 8))
		memset(data + 176, 0, 16);
	return steps;
}

/* Set the fields of a fuse filter: one or two parts, and no more segments than a part has room
 * for. */
static void tame_fuse(uint8_t *data, uint64_t was, uint64_t parts)
{
	const uint64_t width = 1 + was % 32, blocks = (image_get(data + IMAGE_BLOCKS, 8) + 1) & ~1;
	const uint64_t cells = 8 * (64 * (blocks >> parts) - 16) / width;
	const uint64_t bits = cells >> (was >> 32 & 7) < 3 ? 0 : was >> 32 & 7;
	image_put64(data + IMAGE_BLOCKS, blocks);
	put32(data + 104, width);
	put32(data + 108, bits);
	put32(data + 112, 3 + (was >> 40) % ((cells >> bits) - 2));
	put32(data + 116, parts);
}

/* Set the fields of a layered filter. The first level is in the first of at least three lines, and
 * the second level in the last two. */
static void tame_layered(uint8_t *data, uint64_t was, uint64_t then)
{
	const uint64_t width = 1 + was % 32, blocks = image_get(data + IMAGE_BLOCKS, 8) + 2;
	const uint64_t parts = then & 1, bits = then >> 8 & 7;
	const uint64_t cells = 8 * (64 - 16) / width, second = 8 * (parts ? 48 : 112);
	const uint64_t segments = second >> bits;
	image_put64(data + IMAGE_BLOCKS, blocks);
	put32(data + 104, width);
	put32(data + 108, cells < 6 ? 0 : was >> 32 & 1);
	put32(data + 112, 3 + (was >> 40) % ((cells >> data[108]) - 2));
	put32(data + 116, 0);
	put32(data + 120, bits);
	put32(data + 124, segments > 3 ? 3 + (then >> 16) % (segments - 2) : 3);
	put32(data + 128, parts);
}

/* Set the fields of a split filter: any number of blocks, and the hash without a seed. */
static void tame_split(uint8_t *data, uint64_t was)
{
	put32(data + 48, 2);
	image_put64(data + 56, 0);
	put32(data + 104, 2 * image_get(data + IMAGE_BLOCKS, 8) - (was & 1));
}

/* Set the numbers of pages, columns, rows and sets of a router. The names of its sets stay. */
static void tame_router(uint8_t *data, uint64_t numbers, uint64_t blocks)
{
	image_put64(data + IMAGE_BLOCKS, 64 * (2 + blocks / 64 % 3));
	put32(data + IMAGE_SHARDS, 1);
	put32(data + 104, UINT64_C(8) << (numbers & 3));
	put32(data + 108, 1 + (numbers >> 32) % 10);
	put32(data + 112, 1 + (numbers >> 8) % 8);
}

/* Reduce the value of every field into the range of the field. */
static void tame(uint8_t *data)
{
	/* a valid kind stays; other numbers become kinds with many fields */
	static const uint8_t kinds[] = { 0, 1, 2, 8, 4, 5, 6, 7, 8, 9, 5, 2, 6, 7, 9, 4 };
	uint64_t kind = kinds[data[12] & 15], blocks = image_get(data + IMAGE_BLOCKS, 8);
	uint64_t z = kind ? UINT64_C(1) + data[16] % 32 : UINT64_C(1) << (data[16] & 3);
	uint64_t packed = data[IMAGE_COMPRESSION] & 1;
	uint64_t shards = packed ? UINT64_C(1) << (data[IMAGE_SHARDS] & 1) : 1;
	uint64_t marks = data[IMAGE_MARKS] & (kind == 7 ? 6 : 7);
	uint64_t steps = data[58] & 1 || kind == 7 ? 0 : tame_steps(data);
	put32(data + 8, marks || steps ? 2 : 1);
	put32(data + 12, kind);
	const bool counters = kind == 2 || kind == 8;
	put32(data + 16, kind > 1 ? 0 : z);
	put32(data + 20, kind > 1 ? 0 : kind ? 1 : 1 + data[20] % (z < 4 ? 10 : 20 / z));
	image_put64(data + IMAGE_BLOCKS, shards == 1 ? 1 + blocks % 8 : 2048);
	image_put64(data + 32, 1 + image_get(data + 32, 8) % (UINT64_C(1) << 48));
	image_put64(data + 40, 1 + image_get(data + 40, 8) % UINT64_C(0x3fefffffffffffff));
	put32(data + 48, marks & 1 ? 3 : 1);
	if (marks & 1 && data[57] & 1) /* otherwise the image is refused */
		memcpy(data + 56, fuzz_key_check, 8);
	put32(data + IMAGE_SHARDS, shards);
	put32(data + IMAGE_COMPRESSION, packed);
	memset(data + 76, 0, 4);
	unsigned fingerprint = data[104] & 1 ? 16 : 12, bits = data[104] & 3, words = data[108] & 3;
	const uint64_t built = image_get(data + 104, 8), parts = data[116] & 1;
	const uint64_t then = image_get(data + 120, 8);
	memset(data + 104, 0, IMAGE_MARKS - 104);
	if (kind == 4)
		put32(data + 104, fingerprint);
	if (counters) /* counters of 4 to 32 bits: a key has one counter in each of 1 to 8 words */
		put32(data + 104, (kind == 2 ? UINT64_C(4) : UINT64_C(8)) << bits % 3),
			put32(data + 108, UINT64_C(1) << words), put32(data + 112, 1);
	if (kind == 5)
		tame_fuse(data, built, parts);
	if (kind == 6)
		tame_layered(data, built, then);
	if (kind == 7)
		tame_split(data, built);
	if (kind == 9)
		tame_router(data, built, blocks);
	unsigned later = steps ? 192 : IMAGE_MARKS;
	memset(data + later, 0, IMAGE_HEADER_SUM - later);
	put32(data + IMAGE_MARKS, marks);
}

/* Adjust the dependent fields and the length of the image. Return: the length. */
static size_t settle(uint8_t *data, size_t size, size_t max_size)
{
	uint64_t shards = image_get(data + IMAGE_SHARDS, 4);
	uint64_t blocks = image_get(data + IMAGE_BLOCKS, 8);
	uint64_t bits = (IMAGE_TABLE + 8 * shards + 4095) / 4096 * 4096;
	uint64_t length = bits + 64 * blocks;
	image_put64(data + 80, IMAGE_TABLE);
	image_put64(data + IMAGE_BITS, bits);
	if (image_get(data + IMAGE_COMPRESSION, 4)) {
		image_put64(data + 96, 0);
		return size;
	}
	image_put64(data + 96, length);
	if (blocks >= 1 << 20 || length > max_size)
		return size;
	if (length > size)
		memset(data + size, 0, length - size);
	if (8 * shards < bits - IMAGE_TABLE && IMAGE_TABLE + 8 * shards < length)
		memset(data + IMAGE_TABLE + 8 * shards, 0, bits - IMAGE_TABLE - 8 * shards);
	return length;
}

#if TEST_ZSTD
/* Correct the checksum of every shard whose frame unpacks, up to the first frame with an impossible
 * length. */
static void sum_frames(uint8_t *data, size_t size)
{
	static unsigned char shard[MOST_SHARD];
	uint64_t shards = image_get(data + IMAGE_SHARDS, 4);
	uint64_t blocks = image_get(data + IMAGE_BLOCKS, 8), at = image_get(data + IMAGE_BITS, 8);
	if (!shards || blocks > (1 << 20) || 64 * blocks / shards > MOST_SHARD || at > size ||
	    8 * shards > size - IMAGE_TABLE)
		return;
	for (uint64_t i = 0; i < shards && size - at >= 8; i++) {
		uint64_t n = image_get(data + at, 8);
		at += 8;
		if (n > size - at)
			return;
		size_t got = ZSTD_decompress(shard, sizeof shard, data + at, n);
		if (!ZSTD_isError(got))
			image_put64(data + IMAGE_TABLE + 8 * i, XXH3_64bits(shard, got));
		at += n;
	}
}
#endif

/* Return: the start of the member after @at in a plain image of several filters, or 0 if no further
 * member fits. */
static uint64_t member_after(const uint8_t *data, size_t size, uint64_t at)
{
	uint64_t length = at == 0 ? IMAGE_PAGE : image_get(data + at + 96, 8);
	if (length < IMAGE_PAGE || length > size - at)
		return 0;
	at += (length + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
	return at <= size && size - at >= IMAGE_PAGE ? at : 0;
}

/* In an image of several filters (members), correct the checksums of each member, and the copy of
 * its commit record in the table of the whole image. */
static void repair_members(uint8_t *data, size_t size)
{
	uint8_t *row = data + IMAGE_TABLE;
	uint64_t n = image_get(data + IMAGE_MEMBERS, 4);
	for (uint64_t at = member_after(data, size, 0); at && n-- && row < data + IMAGE_PAGE;
	     at = member_after(data, size, at), row += 16) {
		image_repair_table(data + at, size - at);
		image_repair(data + at, size - at);
		memcpy(row + 8, data + at + IMAGE_COMMIT, 8);
	}
}

static bool compound(const uint8_t *data)
{
	return data[IMAGE_FORMAT] == 3;
}

static void repair(uint8_t *data, size_t size)
{
	if (compound(data)) {
		repair_members(data, size);
		image_repair(data, size);
		return;
	}
#if TEST_ZSTD
	if (image_get(data + IMAGE_COMPRESSION, 4))
		sum_frames(data, size);
#endif
	image_repair_table(data, size);
	image_repair(data, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	unsigned state = seed;
	uint64_t how = random_of(&state);
	if (size < IMAGE_PAGE || how % 16 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	if (how >> 8 & 1 && compound(data) && how >> 11 & 1 && member_after(data, size, 0))
		set_field(data + member_after(data, size, 0), &state);
	else if (how >> 8 & 1)
		set_field(data, &state);
	else if (how >> 9 & 1)
		(void)LLVMFuzzerMutate(data + 8, IMAGE_HEADER_SUM - 8, IMAGE_HEADER_SUM - 8);
	else if (how >> 10 & 1 && size > IMAGE_PAGE)
		size = IMAGE_PAGE + LLVMFuzzerMutate(data + IMAGE_PAGE, size - IMAGE_PAGE,
		                                     max_size - IMAGE_PAGE);
	else
		size = LLVMFuzzerMutate(data, size, max_size);
	if (size < IMAGE_PAGE)
		return size;
	memcpy(data, "WEIRIMG1", 8);
	if (how >> 18 & 1 && !compound(data))
		tame(data);
	if ((how >> 16 & 3 || how >> 18 & 1) && !compound(data))
		size = settle(data, size, max_size);
	if ((how >> 24) % 64 == 0)
		memcpy(data + IMAGE_COMMIT, "WEIRLIVE", 8);
	repair(data, size);
	return size;
}
