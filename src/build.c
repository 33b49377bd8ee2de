/* SPDX-License-Identifier: MIT
 * Filters of the kinds that are built once, from all their keys. */
#include <weir/build.h>
#include "error.h"
#include "kinds/list.h"
#include "plan.h"

static int check(struct weir_params *p, const uint64_t *hashes, size_t n)
{
	const struct weir_kind *kind = weir__kind(p->kind);
	if (!p->seed && !p->hash_key)
		return weir__fail(-EINVAL, "seed 0: give the one that the hashes were made with");
	if (n && !hashes)
		return weir__fail(-EINVAL, "hashes is NULL: %zu of them to build from", n);
	return kind->build ? 0 : weir__kind_cannot(kind, "be built: create it, then insert");
}

/* The parameters with the capacity that the hashes ask for where none is given. */
static int params_for(struct weir_params *out, const struct weir_params *params, size_t n)
{
	struct weir_params given;
	int err = weir__params_copy(params, &given);
	if (!err && !given.capacity)
		given.capacity = n;
	return err ? err : weir__params_check(&given, out);
}

int weir_build(struct weir_filter **out, const struct weir_params *params, const uint64_t *hashes,
               size_t n)
{
	struct weir_params p;
	struct weir_filter *f = NULL;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_build needs a place for the filter");
	int err = params_for(&p, params, n);
	if (!err)
		err = check(&p, hashes, n);
	if (!err)
		err = weir_create(&f, &p);
	if (!err)
		err = f->kind->build(f, hashes, n);
	if (err)
		weir_destroy(f);
	else
		*out = f;
	return err;
}
