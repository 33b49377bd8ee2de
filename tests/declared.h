/* SPDX-License-Identifier: MIT
 * Images that declare far more bits than they contain: one shard of any size, in a sparse file of
 * some kilobytes, or in a frame that the test writes. Everything but the bits is valid. */
#ifndef WEIR_TESTS_DECLARED_H
#define WEIR_TESTS_DECLARED_H

#include <weir/weir.h>
#include "image_bytes.h"

enum { DECLARED_LENGTH = 96, DECLARED_HUGE_PAGE = 2 << 20 };

/* Write the head and the table of an image with @bytes of bits, a multiple of 64. @sum: the shard's
 * checksum, for the table. Return: a descriptor positioned at the first bit, or -1. */
static inline int declare_head(const char *name, uint64_t bytes, bool packed, uint64_t sum)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	size_t n = 0;
	params.capacity = 10;
	params.fp_rate = 0.01;
	params.seed = 42;
	if (weir_create(&f, &params))
		return -1;
	const bool saved = weir_save(f, weir_location_path(name), NULL) > 0;
	weir_destroy(f);
	unsigned char *image = saved ? image_slurp(name, &n) : NULL;
	if (!image)
		return -1;
	uint64_t at = packed || bytes < DECLARED_HUGE_PAGE ? IMAGE_PAGE : DECLARED_HUGE_PAGE;
	image_put64(image + IMAGE_BLOCKS, bytes / 64);
	image[IMAGE_COMPRESSION] = packed;
	image_put64(image + IMAGE_BITS, at);
	image_put64(image + DECLARED_LENGTH, packed ? 0 : at + bytes);
	image_put64(image + IMAGE_TABLE, sum);
	image_repair(image, IMAGE_PAGE);
	int fd = open(name, O_RDWR | O_TRUNC);
	if (fd >= 0 && (write(fd, image, IMAGE_PAGE) != IMAGE_PAGE ||
	                ftruncate(fd, (off_t)at) || lseek(fd, 0, SEEK_END) < 0)) {
		close(fd);
		fd = -1;
	}
	free(image);
	return fd;
}

/* Write a plain image with @bytes of bits, which are a hole. If the file system refuses such a
 * large file, try half as many bytes, and so on. */
static inline bool declare_image(const char *name, uint64_t bytes)
{
	bool done = false;
	while (!done && bytes >= DECLARED_HUGE_PAGE) {
		int fd = declare_head(name, bytes, false, 0);
		done = fd >= 0 && ftruncate(fd, DECLARED_HUGE_PAGE + (off_t)bytes) == 0;
		if (fd >= 0)
			close(fd);
		bytes /= 2;
	}
	return done;
}

#endif
