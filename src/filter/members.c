/* SPDX-License-Identifier: MIT
 * Compounds, which are filters made of members ([FIRST-MEMBER] and [MEMBERS-STAY] in kind.h). */
#include "filter/filter.h"
#include "ground/error.h"

unsigned weir__members(const struct weir_filter *f, struct weir_member out[WEIR__MEMBERS_MOST])
{
	if (f->kind->members)
		return f->kind->members(f, out);
	out[0] = (struct weir_member){ .f = (struct weir_filter *)(uintptr_t)f };
	return 1;
}

uint64_t weir__filter_bytes(const struct weir_filter *f)
{
	struct weir_member member[WEIR__MEMBERS_MOST];
	uint64_t bytes = 0;
	for (unsigned i = weir__members(f, member); i > 0; i--)
		bytes += member[i - 1].f->bytes;
	return bytes;
}

void weir__members_free(const struct weir_member *members, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		weir_destroy(members[i].f);
}

/* The compound takes over the memory of the given first member, and makes a new first member around
 * that memory ([FIRST-MEMBER]). So this function frees the given first member. */
int weir__compound_make(struct weir_filter **out, const struct weir_layout *layout,
                        const struct weir_member *members, unsigned n, int insert_error)
{
	struct weir_filter *first = members[0].f, *f;
	struct weir_layout whole = *layout;
	whole.shards = first->shards;
	whole.lines = first->array.lines;
	int err = weir__filter_make(&f, &whole, &first->memory, insert_error);
	if (err)
		return err;
	err = f->kind->adopt(f, members, n);
	if (err) {
		f->memory = (struct weir_memory){ 0 }; /* the caller still owns the memory */
		weir_destroy(f);
		return err;
	}
	first->memory = (struct weir_memory){ 0 };
	weir_destroy(first);
	*out = f;
	return 0;
}

int weir_grow_ahead(struct weir_filter *f)
{
	if (!f->kind->grow_ahead)
		return weir__kind_cannot(f->kind, "grow");
	return f->insert_error ? weir__insert_refused(f) : f->kind->grow_ahead(f);
}
