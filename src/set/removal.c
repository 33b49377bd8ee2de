/* SPDX-License-Identifier: MIT
 * The handle's removals and counts, of the current filter: H13 in generation.h. */
#include "ground/error.h"
#include "kind/batch.h"
#include "set/dual_write.h"
#include "set/generation.h"
#include "set/keys.h"

enum { SECTION_KEYS = 1 << 20 }; /* as of batches (set/batches.c): a multiple of 64 */

static struct weir_keys section(struct weir_keys keys, size_t at)
{
	return weir_keys_part(keys, at, keys.n - at < SECTION_KEYS ? keys.n - at : SECTION_KEYS);
}

/* H13. Return: 0, or why no key may be removed now. */
static int may_remove(const struct weir_generation *g)
{
	if (g->absence)
		return weir__fail(-EAGAIN, "no set is published yet: there is nothing to remove a "
		                           "key from");
	if (g->next)
		return weir__fail(-EBUSY, "no removal while a reload runs: it could come too early "
		                          "to one of the filters; keep the key's record, and "
		                          "repeat the removal after the commit");
	if (weir__standby(g))
		return weir__fail(-EBUSY, "no removal while the previous filter is kept: it could "
		                          "come too early to one of the filters; keep the key's "
		                          "record, and repeat the removal after "
		                          "weir_handle_drop_previous()");
	return 0;
}

static int may_count(const struct weir_generation *g)
{
	return g->absence ? weir__fail(-EAGAIN, "no set is published yet: there is nothing to "
	                                        "count") : 0;
}

/* H9 */
static int know_hash(const struct weir_generation *g, const char *verb)
{
	return g->beside & WEIR_BESIDE_NO_HASHES ? weir__refuse_hashes(verb) : 0;
}

static int remove_key(const struct weir_generation *g, const void *key, size_t len)
{
	int err = may_remove(g);
	return err ? err : weir_remove(g->current, key, len);
}

int weir_handle_remove(struct weir_handle *h, const void *key, size_t len)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = remove_key(weir__generation(h), key, len));
	return answer;
}

int weir_handle_remove_u64(struct weir_handle *h, uint64_t key)
{
	return weir_handle_remove(h, &key, sizeof key);
}

static int remove_hash(const struct weir_generation *g, uint64_t hash)
{
	int err = know_hash(g, "remove");
	if (!err)
		err = may_remove(g);
	return err ? err : weir_remove_hash(g->current, hash);
}

int weir_handle_remove_hash(struct weir_handle *h, uint64_t hash)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = remove_hash(weir__generation(h), hash));
	return answer;
}

static int64_t remove_section(const struct weir_generation *g, struct weir_keys keys,
                              uint64_t *bitmap)
{
	int err = keys.form == WEIR_KEYS_HASHES ? know_hash(g, "remove") : 0;
	if (!err)
		err = may_remove(g);
	return err ? err : weir_remove_keys(g->current, keys, bitmap);
}

int64_t weir_handle_remove_keys(struct weir_handle *h, struct weir_keys keys, uint64_t *bitmap)
{
	int64_t removed = 0;
	for (size_t at = 0; at < keys.n; at += SECTION_KEYS) {
		uint64_t *answers = bitmap ? bitmap + at / 64 : NULL;
		weir__read_lock(&h->rcu);
		int64_t answer = remove_section(weir__generation(h), section(keys, at), answers);
		weir__read_unlock(&h->rcu);
		if (answer < 0) {
			(void)weir__answer_all(false, keys.n - at, answers);
			return answer;
		}
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
	return weir_handle_count(h, &key, sizeof key);
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
