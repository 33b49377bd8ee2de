/* SPDX-License-Identifier: MIT
 * The handle: creation, destruction, and the verbs on one key. */
#include <stdlib.h>
#include "cancel.h"
#include "error.h"
#include "options.h"
#include "set/generation.h"
#include "set/handle.h"

extern inline const struct weir_filter *weir_handle_get(const struct weir_handle *h);

_Static_assert(offsetof(struct weir_handle, generation) ==
                       offsetof(struct weir_handle_head, generation),
               "the frozen head");
_Static_assert(offsetof(struct weir_generation, current) ==
                       offsetof(struct weir_generation_head, current),
               "the frozen head");

int weir_handle_create(struct weir_handle **out, struct weir_filter *initial,
                       const struct weir_handle_options *options)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h = NULL;
	if (!out || !initial)
		return weir__fail(-EINVAL, "%s is NULL: weir_handle_create needs it",
		                  out ? "initial" : "out");
	int err = weir__options_copy(&o, sizeof o, options, "weir_handle_options");
	if (err)
		return err;
	struct weir_generation *first = weir__record(initial, NULL, NULL, 1);
	if (!first || posix_memalign((void **)&h, 64, sizeof *h)) {
		free(first);
		return weir__fail(-ENOMEM, "no memory for a handle");
	}
	*h = (struct weir_handle){ .generation = first,
	                           .rcu = weir__rcu(o.flavor),
	                           .writer = &h->claimed };
	*out = h;
	return 0;
}

void weir__handle_free(struct weir_handle *h)
{
	weir__retired_wait(h); /* call_rcu's thread uses the handle */
	struct weir_generation *last = h->generation;
	weir_destroy(last->current);
	weir_destroy(last->previous);
	free(last);
	free(h);
}

int weir_handle_destroy(struct weir_handle *h)
{
	WEIR__UNCANCELLED;
	if (!h)
		return 0;
	int err = weir__destroy_begin(h, "weir_handle_destroy");
	if (err)
		return err;
	if (weir__flag_held_acquire(&h->followed)) {
		weir__writer_release(h);
		return weir__fail(-EBUSY, "weir_handle_destroy: a follower of this handle runs: "
		                          "weir_follow_stop() comes first");
	}
	weir__synchronize(&h->rcu);
	weir__handle_free(h);
	return 0;
}

bool weir_handle_contains(const struct weir_handle *h, const void *key, size_t len)
{
	bool answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir_contains(weir__generation(h)->current, key, len));
	return answer;
}

bool weir_handle_contains_hash(const struct weir_handle *h, uint64_t hash)
{
	bool answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir_contains_hash(weir__generation(h)->current, hash));
	return answer;
}

/* The other filters of a record (H1). Return: @answer, or the error of the first that refuses. */
static int insert_others(const struct weir_generation *g, uint64_t hash, int answer)
{
	struct weir_filter *others[] = { g->next, g->previous };
	for (unsigned i = 0; i < 2; i++) {
		int other = others[i] ? weir_insert_hash(others[i], hash) : 0;
		if (other < 0)
			return other;
	}
	return answer;
}

static inline bool alone(const struct weir_generation *g)
{
	return __builtin_expect(!g->next && !g->previous, 1);
}

static inline int insert_hash(const struct weir_generation *g, uint64_t hash)
{
	int answer = weir_insert_hash(g->current, hash);
	return alone(g) || answer < 0 ? answer : insert_others(g, hash, answer);
}

static inline int insert_key(const struct weir_generation *g, const void *key, size_t len)
{
	if (alone(g))
		return weir_insert(g->current, key, len);
	return insert_hash(g, weir_hash(g->current, key, len)); /* hashed once: all have one seed */
}

int weir_handle_insert_hash(struct weir_handle *h, uint64_t hash)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = insert_hash(weir__generation(h), hash));
	return answer;
}

int weir_handle_insert(struct weir_handle *h, const void *key, size_t len)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = insert_key(weir__generation(h), key, len));
	return answer;
}

uint64_t weir_handle_hash(const struct weir_handle *h, const void *key, size_t len)
{
	weir__read_lock(&h->rcu);
	uint64_t hash = weir_hash(weir__generation(h)->current, key, len);
	weir__read_unlock(&h->rcu);
	return hash;
}

int weir_handle_remove(struct weir_handle *h, const void *key, size_t len)
{
	weir__read_lock(&h->rcu);
	const struct weir_generation *g = weir__generation(h);
	int answer = alone(g) ?
	                     weir_remove(g->current, key, len) :
	                     weir__fail(
	                             -EBUSY,
	                             "no removal %s: it could come too early to one of the filters",
	                             g->next ? "while a reload runs" :
	                                       "while the previous filter is kept");
	weir__read_unlock(&h->rcu);
	return answer;
}
