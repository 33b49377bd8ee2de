/* SPDX-License-Identifier: MIT
 * Hashes eight 8-byte keys at a time, for callers that are compiled for any CPU. */
#include "hash/hash.h"

#if defined(WEIR_KERNEL_AVX512)

void weir__hash8_avx512(uint64_t flip8, const char *keys, size_t n, uint64_t *out)
{
	weir__hash8_each(flip8, keys, n, out);
}

#endif
