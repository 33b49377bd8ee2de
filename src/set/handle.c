/* SPDX-License-Identifier: MIT
 * The handle: creation, destruction, and the verbs on one key. */
#include <stdlib.h>
#include <weir/normalise.h>
#include "ground/error.h"
#include "ground/threads.h"
#include "set/generation.h"

extern inline const struct weir_filter *weir_handle_get(const struct weir_handle *h);

_Static_assert(offsetof(struct weir_handle, generation) ==
                       offsetof(struct weir_handle_head, generation),
               "the frozen head");
_Static_assert(offsetof(struct weir_generation, current) ==
                       offsetof(struct weir_generation_head, current),
               "the frozen head");

enum { FLAGS = WEIR_HANDLE_ANY_SEED | WEIR_HANDLE_OWN_HASHES | WEIR_HANDLE_ANY_STEPS };

/* Over the defaults, and checked. */
static int read_options(struct weir_handle_options *out, const struct weir_handle_options *options)
{
	int err = weir__options_copy(out, sizeof *out, options, "weir_handle_options");
	if (!err && out->flags & ~(uint32_t)FLAGS)
		err = weir__fail(-EINVAL, "options.flags %#x: there is no such flag", out->flags);
	if (!err && (unsigned)out->absent > WEIR_ABSENT_NO)
		err = weir__fail(-EINVAL, "options.absent %u: WEIR_ABSENT_REFUSED, _YES or _NO",
		                 (unsigned)out->absent);
	return err;
}

/* Not published yet. The caller still owns @initial. NULL: no memory. */
static struct weir_handle *make(struct weir_filter *initial, struct weir_absence *absence,
                                const struct weir_handle_options *options)
{
	struct weir_handle *h = NULL;
	struct weir_generation *first = weir__record(initial, NULL, NULL, 1);
	if (!first || posix_memalign((void **)&h, 64, sizeof *h)) {
		free(first);
		(void)weir__fail(-ENOMEM, "no memory for a handle");
		return NULL;
	}
	*h = (struct weir_handle){ .rcu = weir__rcu(options->flavor),
	                           .flags = options->flags,
	                           .absence = absence,
	                           .writer = &h->claimed };
	(void)weir__publish(h, first);
	return h;
}

int weir_handle_create(struct weir_handle **out, struct weir_filter *initial,
                       const struct weir_handle_options *options)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *placeholder = NULL;
	struct weir_absence *absence = NULL;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_handle_create needs it");
	int err = read_options(&o, options);
	if (!err && !initial)
		err = weir__absence_make(&absence, &placeholder, &o);
	if (err)
		return err;
	struct weir_handle *h = make(initial ? initial : placeholder, absence, &o);
	if (h) {
		*out = h;
		return 0;
	}
	weir_destroy(placeholder);
	weir__absence_free(absence);
	return -ENOMEM;
}

void weir__handle_free(struct weir_handle *h)
{
	weir__retired_wait(h); /* call_rcu's thread uses the handle */
	struct weir_generation *last = h->generation;
	weir_destroy(last->current);
	weir_destroy(last->previous);
	weir__absence_free(h->absence);
	free(last);
	free(h);
}

int weir_handle_destroy(struct weir_handle *h)
{
	WEIR__UNCANCELLED;
	if (!h)
		return 0;
	/* Before the claim, which a look of the follower's may have: what the caller is to do is
	 * the same, whether or not one is under way. */
	if (weir__flag_held_acquire(&h->followed))
		return weir__fail(-EBUSY, "weir_handle_destroy: a follower of this handle runs: "
		                          "weir_follower_stop() comes first");
	int err = weir__destroy_begin(h, "weir_handle_destroy");
	if (err)
		return err;
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

bool weir_handle_contains_u64(const struct weir_handle *h, uint64_t key)
{
	bool answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir_contains_u64(weir__generation(h)->current, key));
	return answer;
}

bool weir_handle_contains_hash(const struct weir_handle *h, uint64_t hash)
{
	bool answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir_contains_hash(weir__generation(h)->by_hash, hash));
	return answer;
}

static inline bool alone(const struct weir_generation *g)
{
	return __builtin_expect(!g->beside, 1);
}

static inline int insert_hash(const struct weir_generation *g, uint64_t hash)
{
	return alone(g) ? weir_insert_hash(g->current, hash) : weir__insert_hash_beside(g, hash);
}

static inline int insert_key(const struct weir_generation *g, const void *key, size_t len)
{
	return alone(g) ? weir_insert(g->current, key, len) : weir__insert_key_beside(g, key, len);
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

static inline int insert_u64(const struct weir_generation *g, uint64_t key)
{
	return alone(g) ? weir_insert_u64(g->current, key) :
	                  weir__insert_key_beside(g, &key, sizeof key);
}

int weir_handle_insert_u64(struct weir_handle *h, uint64_t key)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = insert_u64(weir__generation(h), key));
	return answer;
}

uint64_t weir_handle_hash(const struct weir_handle *h, const void *key, size_t len)
{
	weir__read_lock(&h->rcu);
	uint64_t hash = weir_hash(weir__generation(h)->current, key, len);
	weir__read_unlock(&h->rcu);
	return hash;
}

uint64_t weir_handle_hash_u64(const struct weir_handle *h, uint64_t key)
{
	return weir_handle_hash(h, &key, sizeof key);
}

void weir_handle_hash_keys(const struct weir_handle *h, struct weir_keys keys, uint64_t *out)
{
	WEIR__IN_SECTION(&h->rcu, weir_hash_keys(weir__generation(h)->current, keys, out));
}

/* ---- texts: each filter does to them what its own keys had done ---- */

int weir_handle_normal_contains(const struct weir_handle *h, const void *text, size_t len)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu,
	                 answer = weir_normal_contains(weir__generation(h)->current, text, len));
	return answer;
}

int weir_handle_normal_insert(struct weir_handle *h, const void *text, size_t len)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir__insert_text(weir__generation(h), text, len));
	return answer;
}
