/* SPDX-License-Identifier: MIT
 * A node's own inserts: pending, sent, confirmed. */
#include "node.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include "format/number.h"

enum {
	PENDING = 8 << 20, /* bytes in each list */
	FEW = 64,          /* keys of a batch whose hashes need no memory */
};

void weir__node_make(struct weir_node *n, const struct weir_server *server,
                     struct weir_handle *handle, const char *set, uint64_t id,
                     enum weir_entry_kind stream, uint64_t limit)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	*n = (struct weir_node){ .server = server, .handle = handle, .id = id };
	snprintf(n->set, sizeof n->set, "%s", set);
	if (weir_handle_measure(handle, &s, &filter) == 0) {
		n->hashing = filter.seed_fingerprint;
		n->kind = filter.shape.kind;
		n->steps = filter.steps;
		n->images_only = weir__replicable(n->kind) == WEIR_REPLICABLE_IMAGES;
	}
	weir__pending_make(&n->pending, stream, PENDING);
	weir__retained_make(&n->retained, limit);
}

void weir__node_free(struct weir_node *n)
{
	weir__pending_free(&n->pending);
	weir__retained_free(&n->retained);
	weir__origins_free(&n->origins);
}

int weir__node_fail(const struct weir_node *n, int err)
{
	return err ? weir_fail(err, "set %s: %s", n->set, weir_error_detail()) : 0;
}

static int check_inserts(const struct weir_node *n)
{
	return n->images_only ? weir_fail(-ENOTSUP, "set %s: filters of this kind are built once: "
	                                  "publish another", n->set) : 0;
}

static int no_hashes(const struct weir_node *n)
{
	return weir_fail(-ENOTSUP, "set %s: its batches are of keys, since filters may come by "
	                 "another seed: a hash does not do", n->set);
}

static int too_long(const struct weir_node *n, size_t bytes)
{
	return weir_fail(-E2BIG, "set %s: a key of %zu bytes: %d are the most where batches are of "
	                 "keys", n->set, bytes, WEIR_NODE_KEY);
}

int weir__node_insert_hash(struct weir_node *n, uint64_t hash, int *kept)
{
	*kept = 0;
	int err = check_inserts(n);
	if (!err && weir__node_of_keys(n))
		err = no_hashes(n);
	if (err)
		return err;
	*kept = weir__pending_put_hash(&n->pending, hash); /* L2: first */
	if (*kept)
		atomic_store_explicit(&n->has_more, true, memory_order_relaxed);
	return weir_handle_insert_hash(n->handle, hash);
}

static int insert_key(struct weir_node *n, const void *key, size_t len, int *kept)
{
	if (len > WEIR_NODE_KEY)
		return too_long(n, len);
	*kept = weir__pending_put_key(&n->pending, key, (uint32_t)len); /* L2: first */
	if (*kept)
		atomic_store_explicit(&n->has_more, true, memory_order_relaxed);
	return weir_handle_insert(n->handle, key, len);
}

int weir__node_insert(struct weir_node *n, const void *key, size_t len, int *kept)
{
	*kept = 0;
	int err = check_inserts(n);
	if (err)
		return err;
	return weir__node_of_keys(n) ?
		insert_key(n, key, len, kept) :
		weir__node_insert_hash(n, weir_handle_hash(n->handle, key, len), kept);
}

/* ---- a batch ---- */

/* Key @i of a batch of keys. */
static struct iovec key_of(struct weir_keys keys, size_t i)
{
	const char *fixed = keys.at;
	return keys.form == WEIR_KEYS_IOV ? ((const struct iovec *)keys.at)[i] :
	       (struct iovec){ (void *)(uintptr_t)(fixed + i * keys.width), keys.width };
}

static int check_keys(const struct weir_node *n, struct weir_keys keys)
{
	if (keys.form == WEIR_KEYS_HASHES)
		return no_hashes(n);
	if (keys.form == WEIR_KEYS_U64 && n->steps)
		return weir_fail(-ENOTSUP, "set %s: it normalises, and its batches are of keys: "
		                 "the other nodes would take a number for text", n->set);
	for (size_t i = 0; i < keys.n; i++)
		if (key_of(keys, i).iov_len > WEIR_NODE_KEY)
			return too_long(n, key_of(keys, i).iov_len);
	return 0;
}

static uint64_t put_keys(struct weir_node *n, struct weir_keys keys)
{
	uint64_t kept = 0;
	for (size_t i = 0; i < keys.n; i++) {
		const struct iovec key = key_of(keys, i);
		kept += !!weir__pending_put_key(&n->pending, key.iov_base, (uint32_t)key.iov_len);
	}
	return kept;
}

/* Pending by their hashes, then in the handle by them. */
static int64_t insert_hashes(struct weir_node *n, struct weir_keys keys, uint64_t *bitmap,
                             uint64_t *kept)
{
	uint64_t few[FEW], *made = keys.n <= FEW ? few : malloc(8 * keys.n);
	if (!made)
		return weir_fail(-ENOMEM, "set %s: no memory for %zu hashes", n->set,
		                 (size_t)keys.n);
	weir_handle_hash_keys(n->handle, keys, made);
	for (size_t i = 0; i < keys.n; i++)
		*kept += !!weir__pending_put_hash(&n->pending, made[i]); /* L2: first */
	const int64_t answer =
		weir_handle_insert_keys(n->handle, weir_keys_hashes(made, keys.n), bitmap);
	if (made != few)
		free(made);
	return answer;
}

int64_t weir__node_insert_keys(struct weir_node *n, struct weir_keys keys, uint64_t *bitmap,
                               uint64_t *kept)
{
	const bool form = keys.form != WEIR_KEYS_NONE && keys.form <= WEIR_KEYS_U64;
	const bool of_keys = weir__node_of_keys(n);
	int64_t answer = check_inserts(n);
	*kept = 0;
	if (!answer && form && of_keys)
		answer = check_keys(n, keys);
	if (answer)
		return answer;
	if (!form || !keys.n) /* the handle refuses it, or there is nothing to do */
		return weir_handle_insert_keys(n->handle, keys, bitmap);
	if (of_keys) {
		*kept = put_keys(n, keys); /* L2: first */
		answer = weir_handle_insert_keys(n->handle, keys, bitmap);
	} else {
		answer = insert_hashes(n, keys, bitmap, kept);
	}
	if (*kept)
		atomic_store_explicit(&n->has_more, true, memory_order_relaxed);
	return answer;
}

int weir__node_rename(struct weir_node *n)
{
	int err = weir__random(&n->id);
	if (!err)
		weir__retained_renumber(&n->retained);
	return err;
}

/* A batch of these. */
static int retain(void *context, const unsigned char *data, size_t bytes)
{
	struct weir_node *n = context;
	return weir__retained_add(&n->retained, data, bytes);
}

int weir__node_collect(struct weir_node *n)
{
	const uint64_t some = n->retained.limit / 4; /* a batch of more might never have room */
	return weir__pending_take(&n->pending, some < WEIR_NODE_BATCH ? some : WEIR_NODE_BATCH,
	                          retain, n);
}

static int append(struct weir_node *n, const struct weir_sending *sending,
                  struct weir_stream_id *id)
{
	return n->server->append(n->server->context, sending, id);
}

static int send_one(struct weir_node *n, const struct weir_batch *b)
{
	struct weir_stream_id id;
	struct weir_sending s = { .epoch = n->epoch,
	                          .kind = n->pending.kind,
	                          .node = n->id,
	                          .sequence = b->sequence,
	                          .hashing = n->hashing,
	                          .data = b->data,
	                          .bytes = b->bytes };
	int err = append(n, &s, &id);
	if (err)
		weir__retained_unsure(&n->retained);
	else
		(void)weir__retained_confirm(&n->retained, id);
	return err;
}

static int send_retained(struct weir_node *n)
{
	const struct weir_batch *b;
	int err = 0;
	while (!err && (b = weir__retained_send(&n->retained)))
		err = send_one(n, b);
	return err;
}

int weir__node_send(struct weir_node *n)
{
	int full = weir__node_collect(n);
	int err = send_retained(n);
	return err ? err : full;
}

/* An entry without keys. It has the number of the last batch, so it is sent when that is there;
 * whatever is in no batch yet, and may find no room for one. */
static int send_word(struct weir_node *n, enum weir_entry_kind kind, const char *text)
{
	struct weir_stream_id id;
	struct weir_sending s = { .epoch = n->epoch,
	                          .kind = kind,
	                          .node = n->id,
	                          .sequence = n->retained.last,
	                          .hashing = n->hashing,
	                          .data = text,
	                          .bytes = strlen(text) };
	int err = send_retained(n);
	return err ? err : append(n, &s, &id);
}

int weir__node_idle(struct weir_node *n)
{
	return send_word(n, WEIR_ENTRY_IDLE, "");
}

int weir__node_want(struct weir_node *n, uint64_t node, uint64_t sequence)
{
	char text[40];
	snprintf(text, sizeof text, "%016" PRIx64 " %" PRIu64, node, sequence);
	return send_word(n, WEIR_ENTRY_WANTED, text);
}
