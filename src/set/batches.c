/* SPDX-License-Identifier: MIT
 * The handle's batches, and its removals and counts on the current filter ([REMOVAL-IN-CURRENT] in
 * generation.h). A batch opens a new section for every SECTION_KEYS keys, so that a grace period
 * waits for milliseconds, not for the whole batch. */
#include "ground/error.h"
#include "kind/batch.h"
#include "set/sharded/sharded.h"

enum { SECTION_KEYS = 1 << 20 }; /* a multiple of 64: whole words of the bitmap */

static struct weir_keys section(struct weir_keys keys, size_t at)
{
	return weir_keys_part(keys, at, keys.n - at < SECTION_KEYS ? keys.n - at : SECTION_KEYS);
}

static int64_t contain_section(const struct weir_generation *g, struct weir_keys keys,
                               uint64_t *bitmap)
{
	if (keys.form == WEIR_KEYS_HASHES && g->by_hash == &weir__any_hash)
		return weir__answer_all(true, keys.n, bitmap);
	return weir_contains_keys(g->current, keys, bitmap);
}

int64_t weir_handle_contains_keys(const struct weir_handle *h, struct weir_keys keys,
                                  uint64_t *bitmap)
{
	int64_t found = 0;
	for (size_t at = 0; at < keys.n; at += SECTION_KEYS) {
		weir__read_lock(&h->rcu);
		found += contain_section(weir__generation(h), section(keys, at),
		                         bitmap ? bitmap + at / 64 : NULL);
		weir__read_unlock(&h->rcu);
	}
	return found;
}

/* [DUAL-WRITE]: insert into every filter of the record. Return: the number of new keys, or the
 * error of a refusal. */
static int64_t insert_section(const struct weir_handle *h, struct weir_keys keys,
                              uint64_t *bitmap)
{
	const struct weir_generation *g = weir__generation(h);
	if (h->sharded)
		return weir__keys_form(keys) ?
		               weir__sharded_insert_keys(h->sharded, keys, bitmap) :
		               weir__stopped(0, weir__keys_refused());
	return g->beside ? weir__insert_keys_beside(g, keys, bitmap) :
	                   weir_insert_keys(g->current, keys, bitmap);
}

int64_t weir_handle_insert_keys(struct weir_handle *h, struct weir_keys keys, uint64_t *bitmap)
{
	const size_t n = keys.n;
	int64_t inserted = 0;
	for (size_t at = 0; at < n; at += SECTION_KEYS) {
		const struct weir_keys some = section(keys, at);
		weir__read_lock(&h->rcu);
		int64_t answer = insert_section(h, some, bitmap ? bitmap + at / 64 : NULL);
		size_t taken = answer < 0 ? at + weir_error_taken() : 0;
		weir__read_unlock(&h->rcu);
		if (answer < 0) {
			size_t rest = at + some.n; /* n or a multiple of 64, so whole words */
			(void)weir__answer_all(false, n - rest,
			                       bitmap ? bitmap + rest / 64 : NULL);
			return weir__stopped(taken, answer);
		}
		inserted += answer;
	}
	return inserted;
}

/* ---- removals and counts ---- */

/* [REMOVAL-IN-CURRENT]: check that keys may be removed now. Return: 0 or a negative errno. */
static int may_remove(const struct weir_generation *g)
{
	if (g->absence)
		return weir__fail(-EAGAIN, "no set is published yet: there is nothing to remove a "
		                           "key from");
	if (g->next)
		return weir__fail(-EBUSY, "a reload runs, and an insert may reach its filter after "
		                          "this removal: keep the key, and remove it after the "
		                          "commit");
	if (weir__standby(g))
		return weir__fail(-EBUSY, "the handle keeps its previous filter, and an insert may "
		                          "reach it after this removal: keep the key, and remove "
		                          "it after weir_handle_drop_previous()");
	return 0;
}

static int may_count(const struct weir_generation *g)
{
	return g->absence ? weir__fail(-EAGAIN, "no set is published yet: there is nothing to "
	                                        "count") : 0;
}

/* [ANY-SEED]: refuse a hash if the filters hash differently, since it may belong to any filter. */
static int know_hash(const struct weir_generation *g, const char *verb)
{
	return g->beside & WEIR_BESIDE_NO_HASHES ? weir__refuse_hashes(verb) : 0;
}

/* Remove a hash from its shard, or from the handle's current filter. Call this in a section. */
static int remove_hash(const struct weir_handle *h, uint64_t hash)
{
	const struct weir_generation *g = weir__generation(h);
	if (h->sharded) {
		g = weir__shard_record(h->sharded, hash);
		hash = weir__share_hash(h->sharded->bits, hash);
	}
	int err = know_hash(g, "remove");
	if (!err)
		err = may_remove(g);
	return err ? err : weir_remove_hash(g->current, hash);
}

static int remove_key(const struct weir_handle *h, const void *key, size_t len)
{
	const struct weir_generation *g = weir__generation(h);
	if (h->sharded)
		return remove_hash(h, weir_hash(g->current, key, len));
	int err = may_remove(g);
	return err ? err : weir_remove(g->current, key, len);
}

int weir_handle_remove(struct weir_handle *h, const void *key, size_t len)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = remove_key(h, key, len));
	return answer;
}

static int remove_u64(const struct weir_handle *h, uint64_t key)
{
	const struct weir_generation *g = weir__generation(h);
	if (h->sharded)
		return remove_hash(h, weir_hash_u64(g->current, key));
	int err = may_remove(g);
	return err ? err : weir_remove_u64(g->current, key);
}

int weir_handle_remove_u64(struct weir_handle *h, uint64_t key)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = remove_u64(h, key));
	return answer;
}

int weir_handle_remove_hash(struct weir_handle *h, uint64_t hash)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = remove_hash(h, hash));
	return answer;
}

/* Return: true if the error ends a batch. Other errors concern only one key. */
static bool stops(int answer)
{
	return answer == -EBUSY || answer == -ENOTSUP || answer == -EROFS;
}

/* Remove key by key, up to the first key whose shard refuses removals. */
static int64_t remove_from_shards(const struct weir_handle *h, struct weir_keys keys,
                                  uint64_t *bitmap)
{
	int64_t removed = 0;
	if (keys.n && !weir__keys_form(keys))
		return weir__keys_refused();
	for (size_t i = 0; i < keys.n; i++) {
		uint64_t hash;
		weir__keys_hash(&h->sharded->hashing, WEIR_ISA_SCALAR, weir_keys_part(keys, i, 1),
		                &hash);
		int answer = remove_hash(h, hash);
		if (stops(answer))
			return answer;
		removed += answer == 1;
		if (bitmap)
			bitmap[i / 64] |= (uint64_t)(answer == 1) << i % 64;
	}
	return removed;
}

static int64_t remove_section(const struct weir_handle *h, struct weir_keys keys, uint64_t *bitmap)
{
	const struct weir_generation *g = weir__generation(h);
	int err = keys.form == WEIR_KEYS_HASHES ? know_hash(g, "remove") : 0;
	if (!err)
		err = may_remove(g);
	return err ? err : weir_remove_keys(g->current, keys, bitmap);
}

int64_t weir_handle_remove_keys(struct weir_handle *h, struct weir_keys keys, uint64_t *bitmap)
{
	int64_t removed = 0;
	(void)weir__answer_all(false, keys.n, bitmap);
	for (size_t at = 0; at < keys.n; at += SECTION_KEYS) {
		const struct weir_keys some = section(keys, at);
		uint64_t *answers = bitmap ? bitmap + at / 64 : NULL;
		weir__read_lock(&h->rcu);
		int64_t answer = h->sharded ? remove_from_shards(h, some, answers) :
		                              remove_section(h, some, answers);
		weir__read_unlock(&h->rcu);
		if (answer < 0)
			return answer;
		removed += answer;
	}
	return removed;
}

static int64_t count_key(const struct weir_generation *g, const void *key, size_t len)
{
	int err = may_count(g);
	return err ? err : weir_count(g->current, key, len);
}

int64_t weir_handle_count(const struct weir_handle *h, const void *key, size_t len)
{
	int64_t answer;
	WEIR__IN_SECTION(&h->rcu, answer = count_key(weir__generation(h), key, len));
	return answer;
}

int64_t weir_handle_count_u64(const struct weir_handle *h, uint64_t key)
{
	int64_t count;
	const int64_t answer = weir_handle_count_keys(h, weir_keys_u64(&key, 1), &count);
	return answer < 0 ? answer : count;
}

static int64_t count_hash(const struct weir_generation *g, uint64_t hash)
{
	int err = know_hash(g, "count");
	if (!err)
		err = may_count(g);
	return err ? err : weir_count_hash(g->current, hash);
}

int64_t weir_handle_count_hash(const struct weir_handle *h, uint64_t hash)
{
	int64_t answer;
	WEIR__IN_SECTION(&h->rcu, answer = count_hash(weir__generation(h), hash));
	return answer;
}

static int64_t count_section(const struct weir_generation *g, struct weir_keys keys,
                             int64_t *counts)
{
	int err = keys.form == WEIR_KEYS_HASHES ? know_hash(g, "count") : 0;
	if (!err)
		err = may_count(g);
	return err ? err : weir_count_keys(g->current, keys, counts);
}

int64_t weir_handle_count_keys(const struct weir_handle *h, struct weir_keys keys, int64_t *counts)
{
	int64_t counted = 0, answer = 0;
	for (size_t at = 0; answer >= 0 && at < keys.n; at += SECTION_KEYS) {
		weir__read_lock(&h->rcu);
		answer = count_section(weir__generation(h), section(keys, at), counts + at);
		weir__read_unlock(&h->rcu);
		counted += answer;
	}
	return answer < 0 ? answer : counted;
}
