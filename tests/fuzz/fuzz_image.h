/* SPDX-License-Identifier: MIT
 * The functions between libFuzzer and the fuzz tests, and the assertion of these tests. */
#ifndef WEIR_TESTS_FUZZ_IMAGE_H
#define WEIR_TESTS_FUZZ_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/error.h>

/* Abort with the library's last error text unless the condition holds. */
#define MUST(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not so: %s (\"%s\")\n", __FILE__, __LINE__, \
			        #condition, weir_error_detail()); \
			abort(); \
		} \
	} while (0)

/* The key of the keyed images in the corpus. */
static const unsigned char fuzz_key[16] __attribute__((unused)) = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
	                                                            10, 11, 12, 13, 14, 15 };
/* The check value of fuzz_key, which a keyed image has at byte 56. */
static const unsigned char fuzz_key_check[8] __attribute__((unused)) = { 0x6f, 0x1c, 0xcb, 0x24,
	                                                                 0xce, 0x3c, 0x8f, 0x65 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#endif
