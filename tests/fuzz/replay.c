/* SPDX-License-Identifier: MIT
 * Runs the corpus without libFuzzer: replay FOLDER [MUTATIONS]. Each file runs once, then with many
 * mutations. The mutations have fixed seeds and use the fuzz test's mutator, with a plain mutation
 * of bytes in place of libFuzzer's. */
#include "../image_bytes.h"
#include "inputs.h"

enum { MOST_BYTES = 1 << 17 };

static uint64_t turns;

/* Replaces libFuzzer's function: change some bytes, or the length. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	uint64_t r = XXH3_64bits(&turns, sizeof turns);
	turns++;
	if (size == 0)
		return 0;
	if (r % 8 == 0 && max_size > size) {
		data[size] = (uint8_t)(r >> 8);
		return size + 1;
	}
	if (r % 8 == 1)
		return 1 + (r >> 8) % size;
	for (unsigned i = 0; i <= (r >> 4 & 3); i++)
		data[(r >> (8 + 8 * i)) % size] ^= (uint8_t)(1u << (r >> (40 + 3 * i) & 7));
	return size;
}

static int replay(const char *path, unsigned mutations)
{
	static uint8_t bytes[MOST_BYTES];
	size_t n = 0;
	unsigned char *original = image_slurp(path, &n);
	if (!original || n > MOST_BYTES) {
		fprintf(stderr, "%s: cannot read it, or larger than %d bytes\n", path, MOST_BYTES);
		return -1;
	}
	run_exact(original, n);
	for (unsigned i = 0, size = 0; i < mutations; i++) {
		if (i % 8 == 0) { /* at most eight mutations build on each other */
			memcpy(bytes, original, n);
			size = (unsigned)n;
		}
		size = (unsigned)LLVMFuzzerCustomMutator(bytes, size, MOST_BYTES, i);
		(void)LLVMFuzzerTestOneInput(bytes, size);
	}
	free(original);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned mutations = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	if (test_is_short())
		mutations /= 4;
	int files = for_each_input(argv[1], "", replay, mutations);
	if (files < 0) {
		fprintf(stderr, "replay FOLDER [MUTATIONS]: no folder, or a file that failed\n");
		return 2;
	}
	printf("%d files, %u mutations of each\n", files, mutations);
	return files ? 0 : 1;
}
