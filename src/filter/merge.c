/* SPDX-License-Identifier: MIT
 * Union, copy and fold of whole filters. The checks are here; the kind does the work. */
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/kind.h"

enum { PIECE_LINES = WEIR__PIECE / 64 };

#define DIFFER(what, format, a, b) \
	weir__fail(-EINVAL, \
	           "cannot merge: %s differs: " format " in the destination, " format \
	           " in the source", \
	           what, a, b)

static int same_shape(const struct weir_filter *dst, const struct weir_filter *src)
{
	const uint32_t *a = dst->array.shape.field, *b = src->array.shape.field;
	for (unsigned i = 0; i < WEIR_SHAPE_FIELDS; i++)
		if (a[i] != b[i])
			return DIFFER(dst->kind->fields[i], "%u", a[i], b[i]);
	return 0;
}

static int same_hashing(const struct weir_hashing *dst, const struct weir_hashing *src)
{
	char a[WEIR_HASHING_TEXT], b[WEIR_HASHING_TEXT];
	if (weir__same_hashing(dst, src))
		return 0;
	return DIFFER(dst->by != src->by ? "hash" : weir__keyed(dst) ? "key" : "seed", "%s",
	              weir__hashing_text(dst, a), weir__hashing_text(src, b));
}

static int same_steps(const struct weir_text *dst, const struct weir_text *src)
{
	char a[WEIR__TEXT_WORDS], b[WEIR__TEXT_WORDS];
	return weir__text_alike(dst, src) ?
	               0 : DIFFER("what is done to keys", "%s", weir__text_words(dst, a),
	                          weir__text_words(src, b));
}

/* Note the prefix lengths and the numbers of labels of src in dst, before any bits are merged
 * ([LENGTH-FIRST]). If inserts cannot note a new length in dst, a merge cannot do so either. */
static int take_lengths(struct weir_filter *dst, const struct weir_filter *src)
{
	struct weir_text now, more;
	weir__text_load(&src->text, &now);
	weir__text_load(&dst->text, &more);
	const struct weir_text had = more;
	now.steps = more.steps;
	int err = weir_text_unite(&more, &now);
	if (err || !memcmp(&had, &more, sizeof had))
		return err;
	if (had.steps & WEIR_TEXT_CLOSED || dst->memory.shared)
		return weir__fail(-EINVAL, "cannot merge: the source has keys of %s that the "
		                  "destination has none of, and it is %s",
		                  had.steps & WEIR_TEXT_CIDR ? "prefix lengths" :
		                                               "numbers of labels",
		                  dst->memory.shared ? "mapped live" : "closed");
	weir__text_unite_shared(&dst->text, &more);
	return 0;
}

static int same_layout(const struct weir_filter *dst, const struct weir_filter *src)
{
	if (dst->kind != src->kind)
		return DIFFER("kind", "%s", dst->kind->name, src->kind->name);
	if (dst->bytes != src->bytes)
		return DIFFER("bytes", "%llu", (unsigned long long)dst->bytes,
		              (unsigned long long)src->bytes);
	if (dst->max_capacity != src->max_capacity)
		return DIFFER("max_capacity", "%llu", (unsigned long long)dst->max_capacity,
		              (unsigned long long)src->max_capacity);
	/* The rate decides the size of later members, so both rates must be equal. */
	if (dst->kind->join && (dst->fp_rate < src->fp_rate || dst->fp_rate > src->fp_rate))
		return DIFFER("fp_rate", "%g", dst->fp_rate, src->fp_rate);
	if ((dst->flags ^ src->flags) & WEIR_ONCE)
		return DIFFER("WEIR_ONCE", "%d", (dst->flags & WEIR_ONCE) != 0,
		              (src->flags & WEIR_ONCE) != 0);
	int err = same_shape(dst, src);
	if (!err && dst->kind->alike)
		err = dst->kind->alike(dst, src);
	if (!err)
		err = same_hashing(&dst->hashing, &src->hashing);
	return err ? err : same_steps(&dst->text, &src->text);
}

int weir__merge_check(const struct weir_filter *dst, const struct weir_filter *src)
{
	int err = weir__set_check(src, "weir_merge");
	if (!err)
		err = same_layout(dst, src);
	if (!err && !dst->kind->merge && !dst->kind->join)
		err = weir__kind_cannot(dst->kind, "merge");
	if (!err && dst->insert_error)
		err = weir__insert_refused(dst);
	return err;
}

static int merge_lines(struct weir_filter *dst, const struct weir_filter *src,
                       weir_progress_fn *progress, void *progress_arg)
{
	const uint64_t lines = dst->array.lines;
	/* Inserts wait while a filter is held, so no progress function may run then: it might
	 * sleep, or insert. */
	const uint64_t piece = dst->kind->hold ? lines : PIECE_LINES;
	int err = 0;
	weir__hold(src);
	for (uint64_t at = dst->kind->head_lines, n; !err && at < lines; at += n) {
		n = lines - at < piece ? lines - at : piece;
		err = dst->kind->merge(dst, src, at, n);
		if (!err && at + n < lines)
			err = weir__progress(progress, progress_arg, 64 * (at + n), dst->bytes,
			                     "bytes");
	}
	weir__let_go(src);
	return err;
}

/* Merge member by member; no member is itself a compound. Merge only members that the
 * source has at the start. Later members ([MEMBERS-STAY]) hold inserts that the merge may miss. */
static int merge_members(struct weir_filter *dst, const struct weir_filter *src,
                         weir_progress_fn *progress, void *progress_arg)
{
	struct weir_member to[WEIR__MEMBERS_MOST], from[WEIR__MEMBERS_MOST],
		now[WEIR__MEMBERS_MOST];
	const unsigned n = weir__members(src, from);
	int err = dst == src ? 0 : dst->kind->join(dst, from, n);
	if (err || dst == src)
		return err;
	(void)weir__members(dst, to);
	for (unsigned i = 0; !err && i < n; i++)
		err = merge_lines(to[i].f, from[i].f, progress, progress_arg);
	(void)weir__members(src, now);
	for (unsigned i = 0; i < n; i++)
		dst->kind->joined(dst, i, now[i].note - from[i].note);
	return err;
}

int weir__merge(struct weir_filter *dst, const struct weir_filter *src,
                weir_progress_fn *progress, void *progress_arg)
{
	const int err = take_lengths(dst, src);
	if (err)
		return err;
	return dst->kind->join ? merge_members(dst, src, progress, progress_arg) :
	                         merge_lines(dst, src, progress, progress_arg);
}

/* Merge all of src. If that fails, dst keeps nothing of src, unless dst has WEIR_ONCE and so cannot
 * remove keys. No other thread changes either filter. */
static int merge_whole(struct weir_filter *dst, const struct weir_filter *src)
{
	int err = weir__merge_check(dst, src);
	if (err)
		return err;
	err = weir__merge(dst, src, NULL, NULL);
	if (err && dst->kind->take_back && weir__removes(dst))
		dst->kind->take_back(dst, src, weir_error_taken());
	return err;
}

int weir_merge(struct weir_filter *dst, const struct weir_filter *src)
{
	weir__whole_begin(dst, "weir_merge");
	weir__whole_begin(src, "weir_merge");
	int err = merge_whole(dst, src);
	weir__whole_end(src);
	weir__whole_end(dst);
	return err;
}

static int make(struct weir_filter **out, const struct weir_layout *layout,
                const struct weir_params *params)
{
	struct weir_memory memory;
	int err = weir__memory_alloc(&memory, 64 * layout->lines, 0, NULL, 0);
	if (err)
		return err;
	err = weir__filter_new(out, layout, &memory, params);
	if (err)
		weir__memory_free(&memory);
	return err;
}

int weir__filter_like(struct weir_filter **out, const struct weir_filter *f)
{
	const struct weir_layout layout = weir__filter_layout(f);
	struct weir_params params = WEIR_PARAMS_INIT;
	if (f->kind->asked)
		f->kind->asked(f, &params);
	return make(out, &layout, &params);
}

static int clone_compound(struct weir_filter **out, const struct weir_filter *f)
{
	struct weir_member member[WEIR__MEMBERS_MOST], now[WEIR__MEMBERS_MOST];
	struct weir_layout layout = weir__filter_layout(f);
	unsigned n = weir__members(f, member), done = 0;
	int err = 0;
	while (!err && done < n) {
		err = weir_clone(&now[done].f, member[done].f);
		done += !err;
	}
	/* Read the notes after the copy: a member's note (its count of keys) must cover all copied
	 * keys. */
	(void)weir__members(f, member);
	for (unsigned i = 0; i < done; i++)
		now[i].note = member[i].note;
	if (!err)
		err = weir__compound_make(out, &layout, now, n, 0);
	if (err)
		weir__members_free(now, done);
	return err;
}

int weir_clone(struct weir_filter **out, const struct weir_filter *f)
{
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_clone needs a place for the copy");
	const uint64_t head = f->kind->head_lines;
	if (f->kind->members)
		return clone_compound(out, f);
	if (!f->kind->snapshot)
		return weir__kind_cannot(f->kind, "be copied");
	int err = weir__set_check(f, "weir_clone");
	if (!err)
		err = weir__filter_like(out, f);
	if (err)
		return err;
	weir__whole_begin(f, "weir_clone");
	weir__hold(f);
	f->kind->snapshot(f, head, f->array.lines - head, (*out)->array.words + 8 * head);
	weir__let_go(f);
	weir__whole_end(f);
	return 0;
}

static int fold_layout(struct weir_layout *layout, const struct weir_filter *f, uint32_t factor)
{
	const unsigned block_lines = f->kernel->block_lines ? f->kernel->block_lines : 1;
	const uint64_t blocks = f->array.lines / block_lines;
	const bool power = factor && !(factor & (factor - 1));
	if (power && f->kind->folded)
		return f->kind->folded(layout, factor);
	if (!power || blocks % factor)
		return weir__fail(-EINVAL, "factor %u: a power of two that divides the %llu blocks",
		                  factor, (unsigned long long)blocks);
	layout->lines /= factor;
	return 0;
}

static int fold_into(struct weir_filter **out, const struct weir_filter *f, uint32_t factor)
{
	struct weir_layout layout = weir__filter_layout(f);
	struct weir_filter *folded;
	int err = weir__set_check(f, "weir_fold");
	if (!err)
		err = fold_layout(&layout, f, factor);
	if (err)
		return err;
	layout.shards = layout.shards > factor ? layout.shards / factor : 1;
	layout.capacity = layout.capacity > factor ? layout.capacity / factor : 1;
	err = make(&folded, &layout, NULL);
	if (err)
		return err;
	weir__whole_begin(f, "weir_fold");
	err = f->kind->fold(folded, f, factor);
	weir__whole_end(f);
	if (err)
		weir_destroy(folded);
	else
		*out = folded;
	return err;
}

int weir_fold(struct weir_filter **out, const struct weir_filter *f, uint32_t factor)
{
	if (!out)
		return weir__fail(-EINVAL,
		                  "out is NULL: weir_fold needs a place for the smaller filter");
	if (!f->kind->fold)
		return weir__kind_cannot(f->kind, "fold");
	return fold_into(out, f, factor);
}
