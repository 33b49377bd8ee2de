/* SPDX-License-Identifier: MIT
 * Sets each field of an image's head in turn to each value at which a check may be off by one, with
 * correct checksums, and also cuts the image off at each length. Each image must pass the checks of
 * fuzz_image.c, so that an attacker's first tries are not left to chance. */
#include <weir/error.h>
#include <weir/image.h>
#include "../image_bytes.h"
#include "inputs.h"

/* The fields that the test sets end at FIELDS_END. They are those of the head, and the first table
 * entries of an image of several filters. */
enum { FIELDS_END = IMAGE_TABLE + 64, WHOLE_HEAD = 600, COMPOUND = 3 };

static const uint64_t values[] = {
	0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 1023, 1024,
	1025, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 18, (1 << 18) + 1, 1 << 20,
	(1 << 28) - 1, 1 << 28, (1 << 28) + 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	UINT64_C(1) << 32, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 1, UINT64_C(1) << 48,
	(UINT64_C(1) << 48) + 1, UINT64_C(1) << 57, UINT64_C(1) << 58, UINT64_C(1) << 63,
	UINT64_MAX,
	/* values of a rate: 0.5 and the next number, 1 and the previous number, the least normal
	 * number, the largest subnormal number, infinities, not a number */
	0x3fe0000000000000, 0x3fe0000000000001, 0x3ff0000000000000, 0x3fefffffffffffff,
	0x0010000000000000, 0x000fffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
	0x7ff8000000000000
};
enum { VALUES = sizeof values / sizeof values[0] };

static unsigned long tried;
/* Try every n-th value for each field, where n is this number. The first value depends on the
 * field, so the fields together still get all values. */
static unsigned every = 1;

static void try(const unsigned char *image, size_t n)
{
	run_exact(image, n);
	tried++;
}

/* An image as it is in the file, and a forged copy. */
struct forgery {
	unsigned char *image, *forged;
	size_t n;
};

/* With a forged number of shards image_repair_table() may write anywhere after the head. So each
 * forgery begins with the bytes of the file, and no earlier forgery spoils it. An image of several
 * filters (COMPOUND) has no table of shards, so the function is not called for such an image. */
static void set_field(const struct forgery *f, unsigned at, unsigned bytes, uint64_t value)
{
	memcpy(f->forged, f->image, f->n);
	for (unsigned i = 0; i < bytes; i++)
		f->forged[at + i] = (unsigned char)(value >> (8 * i));
	if (at < IMAGE_TABLE && f->image[IMAGE_FORMAT] != COMPOUND)
		image_repair_table(f->forged, f->n);
	image_repair(f->forged, f->n);
	try(f->forged, f->n);
}

/* Set every field of the head except the magic and the checksums, and each word at the start of the
 * table. image_repair() and image_repair_table() write the checksums, but not over a set word. */
static void every_field(const struct forgery *f)
{
	size_t n = f->n;
	for (unsigned at = 8; at + 8 <= FIELDS_END && at + 8 <= n; at += 4) {
		if (at + 8 > IMAGE_HEADER_SUM && at < IMAGE_TABLE)
			continue;
		for (unsigned v = at / 4 % every; v < VALUES; v += every) {
			if (values[v] <= UINT32_MAX)
				set_field(f, at, 4, values[v]);
			else if (at % 8 == 0)
				set_field(f, at, 8, values[v]);
		}
	}
}

/* Return: true if earlier forgeries have left no trace, so that an image with one field set to its
 * own value is valid. */
static bool no_forgery_is_left(const struct forgery *f)
{
	set_field(f, IMAGE_GENERATION, 4, image_get(f->image + IMAGE_GENERATION, 4));
	return weir_image_verify(weir_location_memory(f->forged, f->n), NULL, NULL) == 0;
}

static void every_length(const unsigned char *image, size_t n)
{
	for (size_t i = 0; i < n; i += i < WHOLE_HEAD ? every : 1 + n / 200)
		try(image, i);
}

static int forge(const char *path, unsigned unused)
{
	struct forgery f = { .n = 0 };
	(void)unused;
	f.image = image_slurp(path, &f.n);
	f.forged = f.image ? malloc(f.n + 1) : NULL;
	if (!f.forged || f.n <= IMAGE_TABLE)
		return fprintf(stderr, "%s: no image\n", path);
	every_field(&f);
	if (!no_forgery_is_left(&f))
		return fprintf(stderr, "%s: %s\n", path, weir_error_detail());
	every_length(f.image, f.n);
	free(f.forged);
	free(f.image);
	return 0;
}

int main(int argc, char **argv)
{
	every = test_is_short() ? 3 : 1;
	int files = for_each_input(argc > 1 ? argv[1] : NULL, ".weir", forge, 0);
	if (files < 0)
		return fprintf(stderr, "forged FOLDER: no folder, or in it what is no image\n");
	printf("%d images, %lu forgeries\n", files, tried);
	return files ? 0 : 1;
}
