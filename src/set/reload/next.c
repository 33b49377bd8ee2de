/* SPDX-License-Identifier: MIT
 * The next filter of a reload: which filters may follow the current one, and how a reload makes
 * them. */
#include <math.h>
#include <weir/build.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "set/generation.h"
#include "set/reload/reload.h"

int weir__same_hashing_check(const struct weir_filter *current, const struct weir_hashing *next,
                             const char *whose)
{
	char theirs[WEIR_HASHING_TEXT], ours[WEIR_HASHING_TEXT];
	if (weir__same_hashing(&current->hashing, next))
		return 0;
	return weir__fail(-EINVAL,
	                  "%s: keys hashed by %s, where the current filter's are by %s: all "
	                  "filters of a handle share one hash, unless it was made with "
	                  "WEIR_HANDLE_ANY_SEED",
	                  whose, weir__hashing_text(next, theirs),
	                  weir__hashing_text(&current->hashing, ours));
}

int weir__carry_check(const struct weir_filter *next, const struct weir_filter *current)
{
	char theirs[WEIR_HASHING_TEXT], ours[WEIR_HASHING_TEXT];
	if (weir__same_hashing(&current->hashing, &next->hashing))
		return weir__merge_check(next, current);
	return weir__fail(-EINVAL,
	                  "cannot carry inserts over: the next filter hashes keys by %s, the "
	                  "current one by %s: build it like the current one (weir build --like), "
	                  "or fill it from the keys",
	                  weir__hashing_text(&next->hashing, theirs),
	                  weir__hashing_text(&current->hashing, ours));
}

/* Prefix lengths may differ, since each lookup uses the prefix lengths of its filter. */
int weir__same_steps_check(const struct weir_handle *h, const struct weir_text *next,
                           const char *whose)
{
	const struct weir_filter *current = h->generation->current;
	char theirs[WEIR__TEXT_WORDS], ours[WEIR__TEXT_WORDS];
	if (h->flags & WEIR_HANDLE_ANY_STEPS || weir__text_alike(&current->text, next))
		return 0;
	return weir__fail(-EINVAL, "%s: it normalises keys by %s, lookups by %s: a server would "
	                  "miss keys: replace it by weir build --force %s, or set "
	                  "WEIR_HANDLE_ANY_STEPS",
	                  whose, weir__text_words(next, theirs),
	                  weir__text_words(&current->text, ours),
	                  current->text.steps ? "and the options of those steps" :
	                                          "--plain-keys");
}

int weir__same_sets_check(const struct weir_handle *h, const struct weir_filter *next,
                          const char *whose)
{
	const struct weir_filter *current = h->generation->current;
	const bool routes = current->kind->alike || next->kind->alike;
	if (h->absence || !routes)
		return 0;
	int err = current->kind != next->kind ?
		weir__fail(-EINVAL, "of kind %s, the current filter of kind %s",
		           next->kind->name, current->kind->name) :
		next->kind->alike(current, next);
	return err ? weir__fail(err, "%s: %s: all routers of a handle have the same sets", whose,
	                        weir_error_detail()) : 0;
}

typedef int params_check(const struct weir_params *in, struct weir_params *out);

/* Use the current filter's hashing by default, unless the kind's format fixes the hash. */
static void complete_hashing(struct weir_params *p, const struct weir_hashing *current,
                             bool any_seed)
{
	bool other = any_seed && p->seed && p->seed != current->seed;
	if (weir__kind(p->kind)->as_is)
		return;
	if (!p->secret && weir__keyed(current) && !other)
		p->secret = current->key;
	if (!p->seed && !p->secret)
		p->seed = current->seed;
}

/* Use the current filter's steps and prefix lengths by default, so that lookups in the next filter
 * probe every text that they probe now. */
static void complete_text(struct weir_params *out, const struct weir_filter *current)
{
	if (!out->text.steps && weir__kind_can(weir__kind(out->kind)) & WEIR_CAN_NORMALISE)
		weir_text_of(current, &out->text);
}

static int next_params(struct weir_params *out, const struct weir_handle *h,
                       const struct weir_params *params, params_check *check)
{
	const struct weir_filter *current = h->generation->current;
	bool any_seed = h->flags & WEIR_HANDLE_ANY_SEED;
	int err = check(params, out);
	if (err)
		return err;
	complete_hashing(out, &current->hashing, any_seed);
	complete_text(out, current);
	err = weir__same_steps_check(h, &out->text, "params.text");
	if (err)
		return err;
	if (any_seed)
		return 0;
	struct weir_hashing next =
		out->secret ? weir__hashing_keyed(out->secret) :
		                weir__hashing_seeded(weir__kind(out->kind)->hash, out->seed);
	return weir__same_hashing_check(current, &next, "params.seed, secret and kind");
}

int weir__peak_check(const struct weir_handle *h, uint64_t next_bytes, uint64_t max_bytes)
{
	uint64_t held = weir__held_bytes(h, h->generation);
	if (max_bytes && (next_bytes > max_bytes || held > max_bytes - next_bytes))
		return weir__fail(
			-EFBIG,
			"max_bytes %llu: %llu bytes are held and the next filter needs %llu more",
			(unsigned long long)max_bytes, (unsigned long long)held,
			(unsigned long long)next_bytes);
	return 0;
}

/* [BITS-IN-USE]: refuse memory that holds the bits of a filter of the handle. */
static int check_memory(struct weir_handle *h, const void *memory, uint64_t bytes)
{
	const char *whose = memory ? weir__bits_in(h, (struct weir_bits){ memory, bytes }) : NULL;
	return whose ? weir__fail(-EINVAL,
	                          "params.memory %p: %s of this handle has bits within the %llu "
	                          "bytes from there: give other memory, or none",
	                          memory, whose, (unsigned long long)bytes) :
	               0;
}

bool weir__inserts_count(const struct weir_handle *h)
{
	return h->absence ? h->absence->limit > 0 : !h->generation->current->insert_error;
}

static int check_inserts(const struct weir_handle *h, const struct weir_kind *next)
{
	if (!weir__inserts_count(h))
		return 0;
	if (h->absence)
		return weir__fail(-ENOTSUP, "kind %s takes no inserts, and the handle keeps those "
		                  "that come before its first set: make it with keep_inserts 0",
		                  next->name);
	return weir__fail(-ENOTSUP,
	                  "kind %s takes no inserts, and the current filter, of kind %s, does: "
	                  "give a filter of kind %s, or create the handle anew (start the server "
	                  "again)", next->name,
	                  h->generation->current->kind->name, h->generation->current->kind->name);
}

int weir__next_check(const struct weir_handle *h, const struct weir_filter *next)
{
	int err = weir__abilities_check(weir_can(next, WEIR_CAN_ALL), h->can, next->kind,
	                                "each filter of the handle");
	return err || next->kernel->verbs.insert ? err : check_inserts(h, next->kind);
}

/* Check the kind before the filter is made. No filter can do more than its kind. */
static int check_kind(const struct weir_handle *h, const struct weir_kind *kind)
{
	return weir__abilities_check(weir__kind_can(kind), h->can, kind,
	                             "each filter of the handle");
}

static int check_given(const struct weir_handle *h, const struct weir_reload_options *options)
{
	return options->params || !h->absence ? 0 :
	       weir__fail(-EINVAL, "options.params is NULL: no set is published yet that the next "
	                  "filter could be like");
}

bool weir__next_is_built(const struct weir_handle *h, const struct weir_reload_options *options)
{
	struct weir_params p;
	if (!options->params)
		return !h->absence && h->generation->current->kind->build;
	return weir__params_copy(options->params, &p) == 0 && weir_kind_can(p.kind, WEIR_CAN_BUILD);
}

int weir__next_make(struct weir_filter **out, struct weir_handle *h,
                    const struct weir_reload_options *options)
{
	const struct weir_filter *current = h->generation->current;
	struct weir_params params;
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = check_given(h, options);
	if (err)
		return err;
	if (!options->params) {
		err = weir__peak_check(h, current->bytes, options->max_bytes);
		return err ? err : weir__filter_like(out, current);
	}
	err = next_params(&params, h, options->params, weir__params_check);
	if (!err)
		err = check_kind(h, weir__kind(params.kind));
	if (!err)
		err = weir_plan_make(&params, &plan);
	if (!err)
		err = weir__peak_check(h, plan.bytes, options->max_bytes);
	if (!err)
		err = check_memory(h, params.memory, plan.bytes);
	if (!err)
		err = weir_create(out, &params);
	if (err)
		return err;
	err = weir__next_check(h, *out);
	if (!err)
		err = weir__same_sets_check(h, *out, "params.router");
	if (err)
		weir_destroy(*out);
	return err;
}

/* ---- kinds that are built once ---- */

/* Take kind, fields, rate, hashing and text steps from the current filter. The capacity stays 0, so
 * it is unlimited. */
static int params_like(struct weir_params *out, const struct weir_filter *current)
{
	*out = (struct weir_params)WEIR_PARAMS_INIT;
	int err = weir_params_shape(out, &current->array.shape);
	out->fp_rate = fmax(current->fp_rate, 1e-9);
	out->seed = current->hashing.seed;
	out->secret = weir__keyed(&current->hashing) ? current->hashing.key : NULL;
	weir_text_of(current, &out->text);
	return err;
}

/* Limit the next filter to the bytes that max_bytes leaves. */
static int limit_peak(struct weir_params *p, const struct weir_handle *h, uint64_t max_bytes)
{
	int err = weir__peak_check(h, p->max_bytes ? p->max_bytes : 64, max_bytes);
	if (!err && max_bytes && !p->max_bytes)
		p->max_bytes = max_bytes - weir__held_bytes(h, h->generation);
	return err;
}

int weir__next_collect(struct weir_builder **out, struct weir_handle *h,
                       const struct weir_reload_options *options)
{
	struct weir_builder_options build = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_params params;
	int err = options->params ?
		next_params(&params, h, options->params, weir__params_check_open) :
		params_like(&params, h->generation->current);
	if (!err)
		err = check_kind(h, weir__kind(params.kind));
	if (!err)
		err = check_inserts(h, weir__kind(params.kind));
	if (!err)
		err = limit_peak(&params, h, options->max_bytes);
	if (!err)
		err = check_memory(h, params.memory, params.memory_bytes);
	if (!err)
		err = weir__options_copy(&build, sizeof build, options->build,
		                         "weir_builder_options");
	if (!err && options->pace > 0)
		build.threads = 1; /* the pace is a share of one core */
	return err ? err : weir_builder_create(out, &params, &build);
}

/* ---- a next filter that the caller has made ---- */

/* Refuse options that say how to make the next filter, since the caller has made it. */
static int check_options(const struct weir_reload_options *o)
{
	if (!o->params && !o->build)
		return 0;
	return weir__fail(-EINVAL, "options.%s is given with options.next: the next filter is made "
	                  "already", o->params ? "params" : "build");
}

/* [FREE-AFTER-GRACE], [BITS-IN-USE]: refuse a filter that a generation record of the handle names,
 * or whose bits overlap with those of the handle's filters. */
static int check_unused(struct weir_handle *h, const struct weir_filter *next)
{
	const struct weir_generation *g = h->generation;
	const char *whose = next == g->current  ? "the current filter" :
	                    next == g->previous ? "the previous filter" :
	                                          weir__bits_in(h, weir__filter_bits(next));
	return whose ? weir__fail(-EINVAL, "the next filter has its bits where %s of this handle "
	                          "has its own: load a filter of its own", whose) : 0;
}

/* Refuse a next filter that refuses inserts. Each insert goes to the current filter and to the next
 * filter, so every insert would fail. */
static int check_writable(const struct weir_handle *h, const struct weir_filter *next)
{
	if (!next->kernel->verbs.insert || !next->insert_error || !weir__inserts_count(h))
		return 0;
	return weir__fail(-EROFS, "the next filter is mapped read-only, or was sealed, and the "
	                  "handle takes inserts: load it, or map it WEIR_MAP_PRIVATE");
}

int weir__next_take(struct weir_handle *h, const struct weir_reload_options *options)
{
	struct weir_filter *next = options->next;
	int err = check_options(options);
	if (!err)
		err = check_unused(h, next);
	if (!err && !(h->flags & WEIR_HANDLE_ANY_SEED))
		err = weir__same_hashing_check(h->generation->current, &next->hashing,
		                               "the next filter");
	if (!err)
		err = weir__same_steps_check(h, &next->text, "the next filter");
	if (!err)
		err = weir__same_sets_check(h, next, "the next filter");
	if (!err)
		err = weir__next_check(h, next);
	if (!err)
		err = check_writable(h, next);
	if (!err)
		err = weir__peak_check(h, weir__filter_bytes(next), options->max_bytes);
	return err ? err : weir__filter_own(next);
}
