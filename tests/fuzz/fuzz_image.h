/* SPDX-License-Identifier: MIT
 * What libFuzzer calls, and what it offers. */
#ifndef WEIR_TESTS_FUZZ_IMAGE_H
#define WEIR_TESTS_FUZZ_IMAGE_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#endif
