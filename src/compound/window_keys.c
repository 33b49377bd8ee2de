/* SPDX-License-Identifier: MIT
 * The hashes of a window's batches. */
#include "compound/window.h"

void weir__window_hash_keys(const struct weir_window *w, const struct iovec *keys, size_t n,
                            uint64_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = weir__hash_by(&w->hashing, keys[i].iov_base, keys[i].iov_len);
}

void weir__window_hash_fixed(const struct weir_window *w, const char *keys, size_t key_bytes,
                             size_t n, uint64_t *out)
{
	if (key_bytes == 8 && !weir__keyed(&w->hashing)) {
		weir__hash8_for(w->isa, w->flip8, keys, n, out);
		return;
	}
	for (size_t i = 0; i < n; i++)
		out[i] = weir__hash_by(&w->hashing, keys + i * key_bytes, key_bytes);
}
