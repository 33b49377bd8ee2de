/* SPDX-License-Identifier: MIT
 * Images as bytes, for tests that read or damage them: read and write whole files, and repair the
 * checksums. The offsets are repeated here on purpose, because they define the format. */
#ifndef WEIR_TESTS_IMAGE_BYTES_H
#define WEIR_TESTS_IMAGE_BYTES_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>
#include "short.h"

enum { IMAGE_FORMAT = 8, IMAGE_BLOCKS = 24, IMAGE_SHARDS = 52, IMAGE_GENERATION = 64,
       IMAGE_COMPRESSION = 72, IMAGE_MEMBERS = 76, IMAGE_BITS = 88, IMAGE_MARKS = 136,
       IMAGE_STEPS = 140, IMAGE_HEADER_SUM = 488, IMAGE_TABLE_SUM = 496, IMAGE_COMMIT = 504,
       IMAGE_TABLE = 512, IMAGE_PAGE = 4096 };

/* XOR with each of these numbers gives all other values of a byte. Loads are slow under a
 * sanitizer, so there only every seventh number is used. */
enum { IMAGE_VALUE_STEP = TEST_SANITIZED ? 7 : 1 };
enum { IMAGE_VALUES = 254 / IMAGE_VALUE_STEP + 1 };
#define FOR_EACH_VALUE(x) for (unsigned x = 1; x < 256; x += IMAGE_VALUE_STEP)

static inline uint64_t image_get(const unsigned char *p, unsigned bytes)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)p[i] << (8 * i);
	return value;
}

static inline void image_put64(unsigned char *p, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		p[i] = (unsigned char)(value >> (8 * i));
}

/* Return: the number of bytes in the table: 8 for each shard or, in an image of several filters, 16
 * for each filter. */
static inline uint64_t image_table(const unsigned char *image)
{
	return image[8] == 3 ? 16 * image_get(image + IMAGE_MEMBERS, 4) :
	                       8 * image_get(image + IMAGE_SHARDS, 4);
}

/* Set the header's three checksums to match its contents, within the first @n bytes. The table does
 * not change, and an image that is marked live stays marked. */
static inline void image_repair(unsigned char *image, size_t n)
{
	if (n < IMAGE_TABLE)
		return;
	uint64_t table = image_table(image), there = n - IMAGE_TABLE;
	bool live = memcmp(image + IMAGE_COMMIT, "WEIRLIVE", 8) == 0;
	image_put64(image + IMAGE_TABLE_SUM,
	            XXH3_64bits(image + IMAGE_TABLE, table < there ? table : there));
	image_put64(image + IMAGE_HEADER_SUM, XXH3_64bits(image, IMAGE_HEADER_SUM));
	if (!live)
		image_put64(image + IMAGE_COMMIT, XXH3_64bits(image + IMAGE_HEADER_SUM, 16));
}

/* Set a plain image's shard checksums to match its bits, within the first @n bytes. */
static inline void image_repair_table(unsigned char *image, size_t n)
{
	uint64_t shards = n < IMAGE_TABLE ? 0 : image_get(image + IMAGE_SHARDS, 4);
	uint64_t blocks = shards ? image_get(image + IMAGE_BLOCKS, 8) : 0;
	uint64_t at = shards ? image_get(image + IMAGE_BITS, 8) : 0;
	uint64_t each = shards && blocks < n ? 64 * blocks / shards : 0;
	if (!each || image_get(image + IMAGE_COMPRESSION, 4) || at > n ||
	    shards > (n - at) / each || shards > (n - IMAGE_TABLE) / 8)
		return;
	for (uint64_t i = 0; i < shards; i++)
		image_put64(image + IMAGE_TABLE + 8 * i, XXH3_64bits(image + at + i * each, each));
}

/* Return: the contents of a file, allocated by malloc(), or NULL if it cannot be read. */
static inline unsigned char *image_slurp(const char *name, size_t *n)
{
	struct stat st;
	unsigned char *bytes = NULL;
	FILE *file = fopen(name, "rb");
	if (file && fstat(fileno(file), &st) == 0 &&
	    (bytes = malloc((size_t)st.st_size + 1)) != NULL)
		*n = fread(bytes, 1, (size_t)st.st_size, file);
	if (file)
		fclose(file);
	return bytes;
}

static inline bool image_spit(const char *name, const void *bytes, size_t n)
{
	FILE *file = fopen(name, "wb");
	bool whole = file && fwrite(bytes, 1, n, file) == n;
	return file && fclose(file) == 0 && whole;
}

/* Flip bits of the byte at @at in the file itself, so that other mappings of the file change. */
static inline bool image_flip(const char *name, uint64_t at, unsigned char bits)
{
	unsigned char byte = 0;
	int fd = open(name, O_RDWR);
	bool there = pread(fd, &byte, 1, (off_t)at) == 1;
	byte ^= bits;
	there = there && pwrite(fd, &byte, 1, (off_t)at) == 1;
	return close(fd) == 0 && there;
}

#endif
