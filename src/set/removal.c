/* SPDX-License-Identifier: MIT
 * The handle's removals and counts, of the current filter: H13 in generation.h. */
#include "ground/error.h"
#include "set/dual_write.h"
#include "set/generation.h"
#include "set/keys.h"

enum { SECTION_KEYS = 1 << 20 }; /* as of batches (set/batches.c): a multiple of 64 */

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

static int64_t remove_section(const struct weir_generation *g, const struct weir_keys *k, size_t at,
                              size_t n, uint64_t *bitmap)
{
	int err = k->hashes ? know_hash(g, "remove") : 0;
	if (!err)
		err = may_remove(g);
	return err ? err : weir__keys_remove(g->current, k, at, n, bitmap);
}

static int64_t remove_all(struct weir_handle *h, const struct weir_keys *k, size_t n,
                          uint64_t *bitmap)
{
	int64_t removed = 0;
	for (size_t at = 0; at < n; at += SECTION_KEYS) {
		size_t some = n - at < SECTION_KEYS ? n - at : SECTION_KEYS;
		uint64_t *answers = bitmap ? bitmap + at / 64 : NULL;
		weir__read_lock(&h->rcu);
		int64_t answer = remove_section(weir__generation(h), k, at, some, answers);
		weir__read_unlock(&h->rcu);
		if (answer < 0) {
			(void)weir__answer_all(false, n - at, answers);
			return answer;
		}
		removed += answer;
	}
	return removed;
}

int64_t weir_handle_remove_hashes(struct weir_handle *h, const uint64_t *hashes, size_t n,
                                  uint64_t *bitmap)
{
	return remove_all(h, &(struct weir_keys){ .hashes = hashes }, n, bitmap);
}

int64_t weir_handle_remove_keys(struct weir_handle *h, const struct iovec *keys, size_t n,
                                uint64_t *bitmap)
{
	return remove_all(h, &(struct weir_keys){ .vectors = keys }, n, bitmap);
}

int64_t weir_handle_remove_fixed(struct weir_handle *h, const void *keys, size_t key_bytes,
                                 size_t n, uint64_t *bitmap)
{
	return remove_all(h, &(struct weir_keys){ .fixed = keys, .key_bytes = key_bytes }, n,
	                  bitmap);
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

static int count_section(const struct weir_generation *g, const struct weir_keys *k, size_t at,
                         size_t n, int64_t *counts)
{
	int err = k->hashes ? know_hash(g, "count") : 0;
	if (!err)
		err = may_count(g);
	return err ? err : weir__keys_count(g->current, k, at, n, counts);
}

static int count_all(const struct weir_handle *h, const struct weir_keys *k, size_t n,
                     int64_t *counts)
{
	int err = 0;
	for (size_t at = 0; !err && at < n; at += SECTION_KEYS) {
		size_t some = n - at < SECTION_KEYS ? n - at : SECTION_KEYS;
		weir__read_lock(&h->rcu);
		err = count_section(weir__generation(h), k, at, some, counts + at);
		weir__read_unlock(&h->rcu);
	}
	return err;
}

int weir_handle_count_hashes(const struct weir_handle *h, const uint64_t *hashes, size_t n,
                             int64_t *counts)
{
	return count_all(h, &(struct weir_keys){ .hashes = hashes }, n, counts);
}

int weir_handle_count_keys(const struct weir_handle *h, const struct iovec *keys, size_t n,
                           int64_t *counts)
{
	return count_all(h, &(struct weir_keys){ .vectors = keys }, n, counts);
}

int weir_handle_count_fixed(const struct weir_handle *h, const void *keys, size_t key_bytes,
                            size_t n, int64_t *counts)
{
	return count_all(h, &(struct weir_keys){ .fixed = keys, .key_bytes = key_bytes }, n,
	                 counts);
}
