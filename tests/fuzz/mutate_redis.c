/* SPDX-License-Identifier: MIT
 * A mutator for fuzz_redis.c that corrects the checksums of the images in a value, and of a dump's
 * header and chunks. The mutator changes a number of the value or of a header, an image's head, or
 * some bytes. Mostly it also adjusts the fields that must agree with the change. */
#include <stdbool.h>
#include <string.h>
#include "../image_bytes.h"
#include "fuzz_image.h"

enum { MOST_LINKS = 64, FRAME = 32 };

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

/* ---- a value: numbers, then for each filter of its chain (link) an item count, a length and an
 * image ---- */

static size_t numbers_of(const uint8_t *data)
{
	return data[0] & 1 ? 9 : 5;
}

/* Find a value's images, up to the first impossible length. Return: the number of images. */
static unsigned find_images(const uint8_t *data, size_t size, size_t *at, size_t *bytes)
{
	unsigned n = 0;
	size_t next = 1 + 8 * numbers_of(data);
	while (n < MOST_LINKS && next + 16 <= size) {
		const uint64_t length = image_get(data + next + 8, 8);
		if (length > size - next - 16)
			break;
		at[n] = next + 16;
		bytes[n++] = length;
		next += 16 + length;
	}
	return n;
}

/* Set the item count of a cuckoo link to the number of fingerprints in its image. */
static void count_items(uint8_t *image, size_t bytes)
{
	uint64_t items = 0;
	for (size_t i = IMAGE_PAGE; i + 2 <= bytes; i += 2)
		items += image_get(image + i, 2) != 0;
	image_put64(image - 16, items);
}

static void mutate_image(uint8_t *image, size_t bytes, unsigned *state)
{
	const uint64_t r = random_of(state);
	if (bytes < IMAGE_PAGE + 64)
		return;
	if (r & 1)
		image_put64(image + 8 + 4 * ((r >> 8) % 34), number(state));
	else if (r & 2)
		(void)LLVMFuzzerMutate(image, IMAGE_TABLE, IMAGE_TABLE);
	else
		(void)LLVMFuzzerMutate(image + IMAGE_PAGE, bytes - IMAGE_PAGE, bytes - IMAGE_PAGE);
	memcpy(image, "WEIRIMG1", 8);
}

static void repair_value(uint8_t *data, size_t size, uint64_t how, unsigned *state)
{
	size_t at[MOST_LINKS], bytes[MOST_LINKS];
	const unsigned n = find_images(data, size, at, bytes);
	if (n && how & 1) {
		const uint64_t i = random_of(state) % n;
		mutate_image(data + at[i], bytes[i], state);
	}
	for (unsigned i = 0; i < n; i++) {
		if (bytes[i] < IMAGE_TABLE + 8)
			continue;
		image_repair_table(data + at[i], bytes[i]);
		image_repair(data + at[i], bytes[i]);
		if (data[0] & 1 && how & 14)
			count_items(data + at[i], bytes[i]);
	}
	if (n && how & 0x70)
		image_put64(data + 1 + 8 * (numbers_of(data) - 1), n);
	if (n && !(how & 0x380)) { /* raise a link's item count by one, or set it at random */
		uint8_t *items = data + at[random_of(state) % n] - 16;
		image_put64(items, how & 0x400 ? image_get(items, 8) + 1 : number(state));
	}
}

/* ---- pieces of a dump ---- */

static void repair_chunk(uint8_t *piece, size_t bytes, const uint8_t *name, uint64_t how)
{
	if (how & 7)
		memcpy(piece, name, 8);
	const uint64_t seed = XXH3_64bits(piece, FRAME - 8);
	image_put64(piece + FRAME - 8, XXH3_64bits_withSeed(piece + FRAME, bytes - FRAME, seed));
	const uint64_t offset = image_get(piece + 8, 8);
	if (how & 0x70) /* the iterator, which stands before the length */
		image_put64(piece - 12, how & 0x100 ? offset + bytes - FRAME + 1 :
		                        (image_get(name, 8) & 0x1fffffff) << 23 | (how >> 9 & 7));
}

static void repair_pieces(uint8_t *data, size_t size, uint64_t how)
{
	const size_t header = data[0] & 1 ? 72 : 48;
	uint8_t *at = data + 1;
	size_t left = size - 1;
	uint8_t name[8] = { 0 };
	while (left > 12) {
		size_t bytes = image_get(at + 8, 4);
		bytes = bytes < left - 12 ? bytes : left - 12;
		at += 12;
		if (bytes == header) {
			image_put64(at + header - 8, XXH3_64bits(at, header - 8));
			memcpy(name, at + header - 8, 8);
		} else if (bytes > FRAME) {
			repair_chunk(at, bytes, name, (how & ~UINT64_C(0x100)) |
			                              (data[0] & 1 ? 0 : 0x100));
		}
		at += bytes;
		left -= 12 + bytes;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	unsigned state = seed;
	const uint64_t how = random_of(&state);
	const size_t fields = size < 100 ? 0 : data[0] & 2 ? 8 : numbers_of(data) + 1;
	if (size < 100 || how % 16 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	if (how & 0x100)
		image_put64(data + 1 + (data[0] & 2 ? 20 : 0) + 8 * (random_of(&state) % fields),
		            number(&state));
	else if (how & 0x200)
		size = LLVMFuzzerMutate(data, size, max_size);
	if (size < 100)
		return size;
	if (data[0] & 2)
		repair_pieces(data, size, how >> 16);
	else
		repair_value(data, size, how >> 16, &state);
	return size;
}
