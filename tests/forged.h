/* SPDX-License-Identifier: MIT
 * Valid images with forged bits: every bit is set except those that weir_measure() samples, as
 * weir/filter.h describes. */
#ifndef WEIR_TESTS_FORGED_H
#define WEIR_TESTS_FORGED_H

#include "image_bytes.h"
#include "test.h"

enum { FORGED_SAMPLE = 1 << 20, FORGED_RUN = 4096 };

static inline void forge_bits(unsigned char *bits, uint64_t bytes, uint64_t shards)
{
	uint64_t shard = bytes / shards, most = FORGED_SAMPLE / FORGED_RUN;
	uint64_t step = shards > most ? shards / most : 1;
	uint64_t run = shards > most ? FORGED_RUN : FORGED_SAMPLE / shards / 64 * 64;
	assert_true(bytes > FORGED_SAMPLE);
	memset(bits, 0xff, bytes);
	for (uint64_t i = 0; i < shards; i += step)
		memset(bits + i * shard, 0, run);
}

/* Save a forged image of a filter for @capacity keys. Return: its number of shards. */
static inline uint64_t forge_image(const char *name, uint64_t capacity)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, capacity, 0.01);
	struct weir_stats s = WEIR_STATS_INIT;
	size_t n = 0;
	assert_ok(weir_save(f, weir_location_path(name), NULL));
	weir_destroy(f);
	unsigned char *image = image_slurp(name, &n);
	assert_non_null(image);
	uint64_t at = image_get(image + IMAGE_BITS, 8), shards = image_get(image + IMAGE_SHARDS, 4);
	forge_bits(image + at, 64 * image_get(image + IMAGE_BLOCKS, 8), shards);
	image_repair_table(image, n);
	image_repair(image, n);
	assert_true(image_spit(name, image, n));
	free(image);
	/* check the forgery: a sample sees an empty filter, but the filter is nearly full */
	assert_ok(weir_image_measure(weir_location_path(name), WEIR_SAMPLED, NULL, &s));
	assert_true(s.sampled < 1 && s.fill == 0);
	assert_ok(weir_image_measure(weir_location_path(name), WEIR_EXACT, NULL, &s));
	assert_true(s.fp_rate_estimated > 0.4);
	return shards;
}

#endif
