/* SPDX-License-Identifier: MIT
 * Inserts by any thread ([RING-FIRST]), and debts: generations and tokens that the head must
 * include, since the ring does not have their keys ([RING-RELEASE]). */
#include <errno.h>
#include <stdatomic.h>
#include <weir/error.h>
#include "node.h"

void weir__debt_add(struct weir_node *n, uint64_t id, uint64_t stamp)
{
	struct weir_debt *last = &n->debts[WEIR_NODE_DEBTS - 1];
	if (n->n_debts < WEIR_NODE_DEBTS) {
		n->debts[n->n_debts++] = (struct weir_debt){ id, stamp };
		return;
	}
	*last = (struct weir_debt){ 0, stamp < last->stamp ? stamp : last->stamp };
	/* The last slot now also has a debt that the publication in flight does not pay. */
	n->n_publishing -= n->n_publishing == n->n_debts;
}

/* The debts that are paid come first in the list. One debt for the new generation replaces them. */
void weir__debts_paid(struct weir_node *n, uint64_t generation)
{
	pthread_mutex_lock(&n->lock);
	for (uint32_t i = n->n_publishing; i < n->n_debts && n->n_publishing; i++)
		n->debts[i - n->n_publishing + 1] = n->debts[i];
	if (n->n_publishing) {
		n->debts[0] = (struct weir_debt){ generation, 0 };
		n->n_debts -= n->n_publishing - 1;
	}
	n->n_publishing = 0;
	pthread_mutex_unlock(&n->lock);
}

/* Return: true if @m is so little newer that its list of ids cannot have dropped n->joined. */
static bool is_little_newer(const struct weir_node *n, const struct weir_manifest *m)
{
	return m->version.number <= n->joined.version.number + WEIR_HAS / 4;
}

/* Return: true if @m includes generation or token @id. The list of @m proves this, but keeps only
 *   the newest WEIR_HAS ids. A node that may publish trusts only the list: a dump may have been
 *   restored unseen, so the node publishes its set if @id is not in the list. A node that may not
 *   publish could never end its debt if the list has dropped @id. For that node, also return true
 *   if @m descends from @id and is new enough to have dropped @id, since within an epoch and era
 *   each head includes its predecessor ([PUBLISH-ATOMIC]). A higher era proves nothing, since it
 *   may come from a server that never had generation @id. */
static bool is_in(const struct weir_node *n, const struct weir_manifest *m, uint64_t id)
{
	return weir__manifest_has(m, id) ||
	       (id && id == n->followed && !n->may_publish &&
	        m->version.era == n->joined.version.era && !is_little_newer(n, m));
}

void weir__debts_rename(struct weir_node *n, const struct weir_manifest *m)
{
	pthread_mutex_lock(&n->lock);
	for (uint32_t i = 0; i < n->n_debts; i++) {
		struct weir_debt *d = &n->debts[i];
		if (!weir__manifest_has(m, d->id) && is_in(n, m, d->id))
			d->id = m->id;
	}
	pthread_mutex_unlock(&n->lock);
}

void weir__debts_release(struct weir_node *n, const struct weir_manifest *m)
{
	const bool released = weir__ring_release(&n->ring, m->position);
	bool all = true;
	pthread_mutex_lock(&n->lock);
	if (released)
		weir__debt_add(n, m->id, 0);
	for (uint32_t i = 0; i < n->n_debts; i++)
		all = all && weir__manifest_has(m, n->debts[i].id);
	if (all && n->n_debts) {
		n->debts[0] = (struct weir_debt){ m->id, 0 };
		n->n_debts = 1;
		n->n_publishing = 0;
	}
	pthread_mutex_unlock(&n->lock);
}

/* Return: true if an image has every key that this node applied from the lost log. */
static bool covers(const struct weir_seen *image, const struct weir_seen *had)
{
	return image->mark == had->mark && weir__log_id_compare(had->id, image->id) <= 0;
}

/* Return: true if redis has lost the generation that this node joined: @m does not list the id of
 *   that generation, and @m is so little newer that even a full list cannot have dropped the id.
 *   Return false if this node gave up that generation, since the set of this node then lacks keys
 *   of that generation. */
static bool is_lost(const struct weir_node *n, const struct weir_manifest *m)
{
	const struct weir_manifest *joined = &n->joined;
	return joined->id && joined->id != n->abandoned && !weir__manifest_has(m, joined->id) &&
	       is_little_newer(n, m);
}

void weir__debts_add_others(struct weir_node *n, const struct weir_manifest *m)
{
	if (n->images_only) /* no debts: each generation replaces the previous one */
		return;
	if (is_lost(n, m)) {
		pthread_mutex_lock(&n->lock);
		weir__debt_add(n, n->joined.id, WEIR_NODE_STAMP_OTHERS);
		pthread_mutex_unlock(&n->lock);
	}
	if (covers(&m->seen, &n->lost_cursor))
		n->lost_cursor.mark = 0;
	const bool own = n->lost_cursor.mark && /* @m may lack keys of the lost log */
	                 n->lost_cursor.mark == n->seen.mark;
	if (m->seen.mark && !(own && m->seen.mark != n->seen.mark) && !covers(&n->seen, &m->seen))
		n->seen = m->seen;
}

void weir__debts_drop_others(struct weir_node *n)
{
	uint32_t kept = 0;
	pthread_mutex_lock(&n->lock);
	for (uint32_t i = 0; i < n->n_debts; i++)
		if (n->debts[i].stamp != WEIR_NODE_STAMP_OTHERS)
			n->debts[kept++] = n->debts[i];
	n->n_debts = kept;
	n->n_publishing = 0; /* the publication in flight will be superseded */
	pthread_mutex_unlock(&n->lock);
	n->lost_cursor.mark = 0;
}

static bool head_has(const struct weir_node *n, uint64_t id)
{
	const struct weir_manifest *m = &n->newest;
	return n->head.generation && m->id == n->head.generation && m->id != n->abandoned &&
	       is_in(n, m, id);
}

uint64_t weir__debts_lowest_stamp(struct weir_node *n)
{
	uint64_t stamp = n->lost_cursor.mark && n->may_publish ? WEIR_NODE_STAMP_OTHERS
	                                                       : UINT64_MAX;
	pthread_mutex_lock(&n->lock);
	for (uint32_t i = 0; i < n->n_debts; i++) {
		const struct weir_debt *d = &n->debts[i];
		stamp = d->stamp < stamp && !head_has(n, d->id) ? d->stamp : stamp;
	}
	pthread_mutex_unlock(&n->lock);
	return stamp;
}

/* The caller holds the lock until the keys are in the set, so an image has either both the token
 * and the token's keys, or neither. */
static int token_open(struct weir_node *n)
{
	if (n->token)
		return 0;
	int err = weir__draw(&n->token);
	if (err)
		return err;
	(void)weir__has_add(&n->has, n->token);
	weir__debt_add(n, n->token,
	               atomic_load_explicit(&n->flushes_asked, memory_order_relaxed) + 1);
	return 0;
}

static int no_room(const struct weir_node *n)
{
	return weir_fail(-ENOBUFS, "set %s: %llu bytes of inserts are pending, the limit, and this "
	                 "node cannot publish: start a node with the secret key, or raise "
	                 "max_pending_bytes",
	                 n->set, (unsigned long long)n->ring.limit);
}

/* Insert keys that do not fit into the ring. */
static int64_t insert_by_token(struct weir_node *n, struct weir_keys hashes, uint64_t *bitmap)
{
	if (!n->may_publish)
		return no_room(n);
	pthread_mutex_lock(&n->lock);
	int64_t answer = token_open(n);
	if (!answer)
		answer = weir_handle_insert_keys(n->handle, hashes, bitmap);
	pthread_mutex_unlock(&n->lock);
	return answer;
}

/* Not inlined: the caller would otherwise write each hash to its stack. */
static __attribute__((noinline)) int insert_one_by_token(struct weir_node *n, uint64_t hash)
{
	uint64_t seen = 0;
	return (int)insert_by_token(n, weir_keys_hashes(&hash, 1), &seen);
}

static int built_once(const struct weir_node *n)
{
	return weir_fail(-ENOTSUP, "set %s: filters of this kind are built once: publish another",
	                 n->set);
}

int weir__node_insert_hash(struct weir_node *n, uint64_t hash)
{
	if (n->images_only)
		return built_once(n);
	/* Put the hash into the ring before it goes into the set, since a swap reads the ring. */
	if (weir__ring_put_one(&n->ring, hash))
		return weir_handle_insert_hash(n->handle, hash);
	return insert_one_by_token(n, hash);
}

int weir__node_insert(struct weir_node *n, const void *key, size_t len)
{
	return weir__node_insert_hash(n, n->inlined ? weir_inline_hash(&n->first, key, len) :
	                                              weir_handle_hash(n->handle, key, len));
}

int weir__node_insert_u64(struct weir_node *n, uint64_t key)
{
	return weir__node_insert_hash(n, n->inlined ?
	                                 weir_inline_hash(&n->first, &key, sizeof key) :
	                                 weir_handle_hash_u64(n->handle, key));
}

/* Return: the number of new keys, or a negative errno. */
static int64_t insert_hashes(struct weir_node *n, const uint64_t *hashes, size_t count,
                             uint64_t *bitmap)
{
	const size_t some = weir__ring_put(&n->ring, hashes, count);
	if (some == count)
		return weir_handle_insert_keys(n->handle, weir_keys_hashes(hashes, count), bitmap);
	if (n->may_publish)
		return insert_by_token(n, weir_keys_hashes(hashes, count), bitmap);
	int64_t answer =
		weir_handle_insert_keys(n->handle, weir_keys_hashes(hashes, some), bitmap);
	return answer < 0 ? answer : no_room(n);
}

int64_t weir__node_insert_keys(struct weir_node *n, struct weir_keys keys, uint64_t *bitmap)
{
	uint64_t hashes[512];
	int64_t new = 0;
	if (n->images_only)
		return built_once(n);
	for (size_t at = 0; at < keys.n;) {
		const size_t some = keys.n - at < 512 ? keys.n - at : 512;
		const struct weir_keys part = weir_keys_part(keys, at, some);
		weir_handle_hash_keys(n->handle, part, hashes);
		const int64_t answer =
			insert_hashes(n, hashes, some, bitmap ? bitmap + at / 64 : NULL);
		if (answer < 0)
			return answer;
		new += answer;
		at += some;
	}
	return new;
}

/* Release: pairs with the acquire in weir__node_touch(), which then sees all earlier inserts. */
uint64_t weir__node_flush(struct weir_node *n)
{
	const uint64_t number =
		atomic_fetch_add_explicit(&n->flushes_asked, 1, memory_order_release) + 1;
	if (n->ring.wake)
		n->ring.wake(n->ring.context);
	return number;
}

uint64_t weir__node_acknowledged(struct weir_node *n)
{
	return atomic_load_explicit(&n->flushes_acked, memory_order_acquire);
}
