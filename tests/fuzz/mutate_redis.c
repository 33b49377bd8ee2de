/* SPDX-License-Identifier: MIT
 * A mutator for fuzz_redis.c that corrects the checksums of a dump's header and chunks. It changes
 * a number of the value or of a header, or some bytes. Then it mostly corrects the fields that must
 * agree with the change. */
#include <stdbool.h>
#include <string.h>
#include "../image_bytes.h"
#include "fuzz_image.h"

enum { FRAME = 32, NAMED = 40, CF_NAMED = 48 }; /* the bytes of a header that its name covers */

static uint64_t random_of(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return XXH3_64bits(state, sizeof *state);
}

static uint64_t number(unsigned *state)
{
	static const uint64_t edges[] = { 0, 1, 2, 4, 255, 256, 32768, 65535, 65536, 1 << 30,
		                          (1 << 30) + 1, UINT64_C(1) << 62, UINT64_MAX,
		                          0x3fe0000000000000, 0x3f847ae147ae147b,
		                          0x8000000000000000, 0x7ff8000000000000 };
	const uint64_t r = random_of(state);
	if (r & 1)
		return r >> 8 & (r & 16 ? 1023 : 7);
	return r & 2 ? edges[(r >> 8) % (sizeof edges / 8)] : r;
}

/* ---- pieces of a dump ---- */

static bool is_header(const uint8_t *at, size_t bytes)
{
	return bytes >= 56 && bytes % 8 == 0 &&
	       (!memcmp(at, "\x02WEIRBF2", 8) || !memcmp(at, "\x02WEIRCF2", 8));
}

/* Correct a header's checksum. @name: receives the name that the header's chunks have. */
static void repair_header(uint8_t *at, size_t bytes, uint8_t *name)
{
	image_put64(at + bytes - 8, XXH3_64bits(at, bytes - 8));
	image_put64(name, XXH3_64bits(at, at[5] == 'B' ? NAMED : CF_NAMED));
}

static void repair_chunk(uint8_t *piece, size_t bytes, const uint8_t *name, bool cuckoo,
                         uint64_t how)
{
	if (how & 7)
		memcpy(piece, name, 8);
	const uint64_t seed = XXH3_64bits(piece, FRAME - 8);
	image_put64(piece + FRAME - 8, XXH3_64bits_withSeed(piece + FRAME, bytes - FRAME, seed));
	const uint64_t offset = image_get(piece + 8, 8);
	if (how & 0x70) /* the iterator, which stands before the length */
		image_put64(piece - 12, cuckoo ? (image_get(name, 8) & 0x1fffffff) << 23 |
		                                         (how >> 9 & 7)
		                               : offset + bytes - FRAME + 1);
}

static void repair_pieces(uint8_t *data, size_t size, uint64_t how)
{
	uint8_t *at = data + 1, name[8] = { 0 };
	size_t left = size - 1;
	bool named = false;
	while (left > 12) {
		size_t bytes = image_get(at + 8, 4);
		bytes = bytes < left - 12 ? bytes : left - 12;
		at += 12;
		if (is_header(at, bytes)) {
			repair_header(at, bytes, name);
			named = true;
		} else if (named && bytes > FRAME) {
			repair_chunk(at, bytes, name, data[0] & 1, how);
		}
		at += bytes;
		left -= 12 + bytes;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	enum { FIELDS = 12 };
	unsigned state = seed;
	const uint64_t how = random_of(&state);
	const size_t first = data[0] & 2 ? 13 : 1;
	if (size < first + 8 * FIELDS || how % 16 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	if (how & 0x100)
		image_put64(data + first + 8 * (random_of(&state) % FIELDS), number(&state));
	else if (how & 0x200)
		size = LLVMFuzzerMutate(data, size, max_size);
	if (size > 13 && data[0] & 2)
		repair_pieces(data, size, how >> 16);
	return size;
}
