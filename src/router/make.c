/* SPDX-License-Identifier: MIT
 * A router is made, copied in its layout, and freed. */
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "ground/threads.h"
#include "router/router.h"

/* The names are in the memory already. It is the router's on success, and freed on failure. */
static int make(struct weir_filter **out, const struct weir_layout *layout,
                struct weir_memory *memory)
{
	struct weir_filter *f;
	int err = weir__filter_make(&f, layout, memory, 0);
	if (err) {
		weir__memory_free(memory);
		return err;
	}
	err = weir__router_read_names(f);
	if (err)
		weir_destroy(f);
	else
		*out = f;
	return err;
}

static struct weir_layout layout_of(const struct weir_router_options *o,
                                    const struct weir_router_plan *p,
                                    const struct weir_hashing *hashing)
{
	return (struct weir_layout){
		.kind = &weir__kind_router,
		.hashing = *hashing,
		.shape = { WEIR_ROUTER, { p->columns, p->rows_per_key, p->sets } },
		.shards = p->shards,
		.lines = p->bytes / 64,
		.capacity = p->capacity,
		.flags = o->flags,
		.fp_rate = o->fp_rate > 0 ? o->fp_rate : p->fp_rate
	};
}

int weir_router_create(struct weir_router **out, const struct weir_router_options *options)
{
	struct weir_router_options o;
	struct weir_router_plan plan;
	struct weir_hashing hashing;
	struct weir_memory memory;
	struct weir_filter *f;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_router_create needs a place for the "
		                  "router");
	int err = weir__router_plan(&o, options, &plan);
	if (!err)
		err = weir__memory_given(o.memory, o.memory_bytes);
	if (!err)
		err = weir__hashing_of(&hashing, weir__kind_router.hash, o.seed, o.hash_key);
	if (!err)
		err = weir__memory_alloc(&memory, plan.bytes, o.flags, o.memory, o.memory_bytes);
	if (err)
		return err;
	err = weir__router_write_names(memory.bits, &o);
	if (err) {
		weir__memory_free(&memory);
		return err;
	}
	const struct weir_layout layout = layout_of(&o, &plan, &hashing);
	err = make(&f, &layout, &memory);
	if (!err)
		*out = weir__router_of(f);
	return err;
}

int weir__router_like(struct weir_filter **out, const struct weir_filter *f)
{
	struct weir_layout layout = weir__filter_layout(f);
	struct weir_memory memory;
	int err = weir__memory_alloc(&memory, f->bytes, f->flags, NULL, 0);
	if (err)
		return err;
	memcpy(memory.bits, weir__router_own(f)->name, WEIR__PAGE_BYTES);
	return make(out, &layout, &memory);
}

int weir_router_destroy(struct weir_router *r)
{
	WEIR__UNCANCELLED;
	return r ? weir_destroy(weir__router_mut(r)) : 0;
}

uint64_t weir_router_hash(const struct weir_router *r, const void *key, size_t len)
{
	return weir__hash_by(&weir__router_filter(r)->hashing, key, len);
}

/* ---- unions of whole routers, and copies of some of their sets ---- */

static int check(const struct weir_filter *dst, const struct weir_filter *src)
{
	int err = weir__merge_check(dst, src);
	return err ? err : weir__router_alike(dst, src);
}

/* The bits of these sets in a word: once for each of its cells. */
static uint64_t in_each_cell(const struct weir_array *a, uint64_t sets)
{
	uint64_t bits = sets & weir__router_all(a);
	for (unsigned width = weir__router_columns(a); width < 64; width *= 2)
		bits |= bits << width;
	return bits;
}

int weir__router_copy_sets(struct weir_filter *dst, const struct weir_filter *src, uint64_t sets)
{
	const uint64_t wanted = in_each_cell(&src->array, sets), words = 8 * src->array.lines;
	int err = check(dst, src);
	for (uint64_t i = WEIR__PAGE_WORDS; !err && i < words; i++) {
		uint64_t bits = weir__word_load_relaxed(src->array.words + i) & wanted;
		if (bits & ~weir__word_load_relaxed(dst->array.words + i))
			weir__word_or_relaxed(dst->array.words + i, bits);
	}
	return err;
}

int weir_router_merge(struct weir_router *dst, const struct weir_router *src)
{
	return weir__router_copy_sets(weir__router_mut(dst), weir__router_filter(src),
	                              ~UINT64_C(0));
}
