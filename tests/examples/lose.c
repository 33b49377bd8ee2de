/* SPDX-License-Identifier: MIT
 * Preloaded under the weir command it stands before the library and loses keys, so that a test
 * sees whether the drill notices: built with LOSE_INSERTS every 1,000th insert answers WEIR_NEW
 * and inserts nothing, with LOSE_COPIES a reload's copy carries nothing over, with LOSE_SOURCE
 * the loader's hashes reach the next filter short of the last thousand of each batch. With
 * LOSE_COPIES the machine is also busy. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <weir/weir.h>

#if defined(LOSE_INSERTS)

int weir_handle_insert_hash(struct weir_handle *h, uint64_t hash)
{
	static atomic_uint calls;
	typedef int insert(struct weir_handle *, uint64_t);
	insert *real = (insert *)dlsym(RTLD_NEXT, "weir_handle_insert_hash");
	return atomic_fetch_add(&calls, 1) % 1000 == 999 ? WEIR_NEW : real(h, hash);
}

#elif defined(LOSE_COPIES)

int weir_reload_copy(struct weir_reload *r, uint64_t sets)
{
	(void)r, (void)sets;
	return 0;
}

int getloadavg(double loads[], int n)
{
	for (int i = 0; i < n; i++)
		loads[i] = 3;
	return n;
}

#else

int64_t weir_reload_insert_keys(struct weir_reload *r, struct weir_keys keys, uint64_t *bitmap)
{
	typedef int64_t insert(struct weir_reload *, struct weir_keys, uint64_t *);
	insert *real = (insert *)dlsym(RTLD_NEXT, "weir_reload_insert_keys");
	return real(r, weir_keys_part(keys, 0, keys.n > 1000 ? keys.n - 1000 : 0), bitmap);
}

#endif
