/* SPDX-License-Identifier: MIT
 * What is done to whole filters: union, copy, fold. */
#include "error.h"
#include "kind.h"

#define DIFFER(what, format, a, b) \
	weir__fail(-EINVAL, \
	           "cannot merge: " what " differs: " format " in the destination, " format \
	           " in the source", \
	           a, b)

static int same_layout(const struct weir_filter *a, const struct weir_filter *b)
{
	if (a->kind != b->kind)
		return DIFFER("kind", "%s", a->kind->name, b->kind->name);
	if (a->bytes != b->bytes)
		return DIFFER("bytes", "%llu", (unsigned long long)a->bytes,
		              (unsigned long long)b->bytes);
	if (a->view.words_per_key != b->view.words_per_key)
		return DIFFER("words_per_key", "%u", a->view.words_per_key, b->view.words_per_key);
	if (a->view.bits_per_word != b->view.bits_per_word)
		return DIFFER("bits_per_word", "%u", a->view.bits_per_word, b->view.bits_per_word);
	if (a->view.seed != b->view.seed)
		return DIFFER("seed", "fingerprint %08llx",
		              (unsigned long long)weir__seed_fingerprint(a->view.seed),
		              (unsigned long long)weir__seed_fingerprint(b->view.seed));
	return 0;
}

int weir__merge_check(const struct weir_filter *dst, const struct weir_filter *src)
{
	int err = same_layout(dst, src);
	if (!err && dst->view.insert_error)
		err = weir__fail(dst->view.insert_error,
		                 "cannot merge: the destination is mapped read-only");
	return err;
}

int weir_merge(struct weir_filter *dst, const struct weir_filter *src)
{
	int err = weir__merge_check(dst, src);
	if (err)
		return err;
	for (uint64_t i = 0; i < 8 * dst->view.nblocks; i++) {
		uint64_t bits = weir__word_load_relaxed(src->view.words + i);
		if (bits & ~weir__word_load_relaxed(dst->view.words + i))
			weir__word_or_relaxed(dst->view.words + i, bits);
	}
	return 0;
}

static int make(struct weir_filter **out, const struct weir_plan *layout, uint64_t seed)
{
	struct weir_memory memory;
	int err = weir__memory_alloc(&memory, layout->bytes, 0, NULL, 0);
	if (err)
		return err;
	err = weir__filter_make(out, layout, seed, &memory, 0);
	if (err)
		weir__memory_free(&memory);
	return err;
}

int weir__filter_like(struct weir_filter **out, const struct weir_filter *f)
{
	struct weir_plan layout;
	weir__filter_layout(f, &layout);
	return make(out, &layout, f->view.seed);
}

int weir_clone(struct weir_filter **out, const struct weir_filter *f)
{
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_clone needs a place for the copy");
	int err = weir__filter_like(out, f);
	if (err)
		return err;
	for (uint64_t i = 0; i < 8 * f->view.nblocks; i++)
		(*out)->view.words[i] = WEIR__LE64(weir__word_load_relaxed(f->view.words + i));
	return 0;
}

int weir_fold(struct weir_filter **out, const struct weir_filter *f, uint32_t factor)
{
	struct weir_plan layout;
	if (!out)
		return weir__fail(-EINVAL,
		                  "out is NULL: weir_fold needs a place for the smaller filter");
	if (!f->kind->fold)
		return weir__fail(-ENOTSUP, "kind %s cannot fold", f->kind->name);
	if (factor == 0 || factor & (factor - 1) || f->view.nblocks % factor)
		return weir__fail(-EINVAL, "factor %u: a power of two that divides the %llu blocks",
		                  factor, (unsigned long long)f->view.nblocks);
	weir__filter_layout(f, &layout);
	layout.bytes /= factor;
	layout.shards = layout.shards > factor ? layout.shards / factor : 1;
	layout.capacity = layout.capacity > factor ? layout.capacity / factor : 1;
	int err = make(out, &layout, f->view.seed);
	if (!err)
		f->kind->fold(*out, f, factor);
	return err;
}
