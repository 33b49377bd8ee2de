/* SPDX-License-Identifier: MIT
 * The next filter of a reload: what it may be beside the current one, and how it is made. */
#include "error.h"
#include "kinds/list.h"
#include "plan.h"
#include "set/next.h"
#include "whole.h"

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
	                  "nothing can be carried over: the next filter's keys are hashed by %s, "
	                  "the current filter's by %s: make it with the current one's seed or key "
	                  "(weir build --like), or fill it from the keys",
	                  weir__hashing_text(&next->hashing, theirs),
	                  weir__hashing_text(&current->hashing, ours));
}

/* What is not given is the current filter's. */
static void complete_hashing(struct weir_params *p, const struct weir_hashing *current,
                             bool any_seed)
{
	bool other = any_seed && p->seed && p->seed != current->seed;
	if (!p->hash_key && weir__keyed(current) && !other)
		p->hash_key = current->key;
	if (!p->seed && !p->hash_key)
		p->seed = current->seed;
}

static int next_params(struct weir_params *out, const struct weir_handle *h,
                       const struct weir_params *params)
{
	const struct weir_filter *current = h->generation->current;
	bool any_seed = h->flags & WEIR_HANDLE_ANY_SEED;
	int err = weir__params_check(params, out);
	if (err)
		return err;
	complete_hashing(out, &current->hashing, any_seed);
	if (any_seed)
		return 0;
	struct weir_hashing next =
		out->hash_key ? weir__hashing_keyed(out->hash_key) :
		                weir__hashing_seeded(weir__kind(out->kind)->hash, out->seed);
	return weir__same_hashing_check(current, &next, "params.seed, hash_key and kind");
}

static int check_peak(const struct weir_handle *h, uint64_t next_bytes, uint64_t max_bytes)
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

/* H7 */
static int check_memory(struct weir_handle *h, const void *memory, uint64_t bytes)
{
	const char *whose = memory ? weir__bits_in(h, (struct weir_bits){ memory, bytes }) : NULL;
	return whose ? weir__fail(-EINVAL,
	                          "params.memory %p: %s of this handle has bits within the %llu "
	                          "bytes from there: give other memory, or none",
	                          memory, whose, (unsigned long long)bytes) :
	               0;
}

static bool takes_inserts(const struct weir_filter *f)
{
	return f->kernel->verbs.insert != NULL;
}

int weir__next_check(const struct weir_handle *h, const struct weir_filter *next)
{
	const struct weir_filter *current = h->generation->current;
	if (h->absence || takes_inserts(next) || !takes_inserts(current))
		return 0;
	return weir__fail(-ENOTSUP,
	                  "kind %s takes no inserts, and the current filter, of kind %s, does: "
	                  "those to come would be lost; create the handle with a filter of that "
	                  "kind", next->kind->name, current->kind->name);
}

/* A loader fills the next filter by inserts. */
static int check_fills(const struct weir_kind *kind)
{
	return kind->build ? weir__fail(-ENOTSUP, "kind %s is built once, from all its keys: build "
	                                "and save it, then weir_handle_refresh() takes it over",
	                                kind->name) :
	                     0;
}

int weir__next_make(struct weir_filter **out, struct weir_handle *h,
                    const struct weir_reload_options *options)
{
	const struct weir_filter *current = h->generation->current;
	struct weir_params params;
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (!options->params && h->absence)
		return weir__fail(-EINVAL, "options.params is NULL: no set is published yet that "
		                           "the next filter could be like");
	if (!options->params) {
		int err = check_fills(current->kind);
		if (!err)
			err = check_peak(h, current->bytes, options->max_bytes);
		return err ? err : weir__filter_like(out, current);
	}
	int err = next_params(&params, h, options->params);
	if (!err)
		err = check_fills(weir__kind(params.kind));
	if (!err)
		err = weir_plan(&params, &plan);
	if (!err)
		err = check_peak(h, plan.bytes, options->max_bytes);
	if (!err)
		err = check_memory(h, params.memory, plan.bytes);
	if (!err)
		err = weir_create(out, &params);
	if (!err)
		(*out)->normal = current->normal;
	return err;
}
