/* SPDX-License-Identifier: MIT
 * A library to preload into the weir command, ahead of libweir. It loses keys, so that a test shows
 * whether the drill notices. With LOSE_INSERTS every 1,000th insert answers WEIR_NEW and inserts
 * nothing. With LOSE_COPIES weir_reload_copy() copies nothing, and getloadavg() reports a busy
 * machine. With LOSE_SOURCE the next filter lacks the last thousand hashes of each batch that the
 * loader inserts. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <weir/weir.h>

#if defined(LOSE_INSERTS)

static int (*insert)(struct weir_handle *h, uint64_t hash);

static int lose(struct weir_handle *h, uint64_t hash)
{
	static atomic_uint calls;
	return atomic_fetch_add(&calls, 1) % 1000 == 999 ? WEIR_NEW : insert(h, hash);
}

/* weir_handle_insert_hash() is an inline function, which calls a function pointer in the handle. So
 * replace that pointer. */
int weir_handle_create(struct weir_handle **out, struct weir_filter *initial,
                       const struct weir_handle_options *options)
{
	typedef int create(struct weir_handle **, struct weir_filter *,
	                   const struct weir_handle_options *);
	create *real = (create *)dlsym(RTLD_NEXT, "weir_handle_create");
	int err = real(out, initial, options);
	if (!err) {
		struct weir_handle_verbs *verbs = (struct weir_handle_verbs *)(void *)*out;
		insert = verbs->insert_hash;
		verbs->insert_hash = lose;
	}
	return err;
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
