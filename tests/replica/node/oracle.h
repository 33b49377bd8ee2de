/* SPDX-License-Identifier: MIT
 * The oracle of simulate.c: it knows each key that was inserted, and checks that each node has the
 * keys that it must have, and follows the current log. Without faults, it also checks that redis
 * has each key whose flush is acknowledged (the rule "flush"). */

static bool in_batch(const struct weir_batch *b, uint64_t hash)
{
	const struct weir_entry e = { .hashes = b->hashes };
	for (size_t k = 0; k < b->n; k++)
		if (weir__entry_hash(&e, k) == hash)
			return true;
	return false;
}

static bool in_batches(const struct weir_batch *b, uint64_t hash)
{
	while (b && !in_batch(b, hash))
		b = b->newer;
	return b != NULL;
}

static bool in_ring(const struct weir_ring *r, uint64_t hash)
{
	return lists_have(r, hash) || in_batches(r->waiting.oldest, hash) ||
	       in_batches(r->acked.oldest, hash);
}

static void check_own(unsigned i)
{
	struct seat *seat = &s->seats[i];
	const uint64_t acked = weir__node_acknowledged(&seat->node);
	for (size_t k = 0; k < s->n_keys && !s->failed; k++) {
		struct key *key = &s->keys[k];
		if (key->owner != i || !key->told || key->removed || key->excused)
			continue;
		if (!weir_handle_contains_hash(seat->handle, key->hash))
			wrong("own", i, "a key that was inserted here has gone");
		if (s->faults || key->acked || key->ticket > acked)
			continue;
		key->acked = true;
		if (!toy_log_has(server_of(seat), key->hash) &&
		    !toy_image_has(server_of(seat), key->hash))
			wrong("flush", i, "a key is acknowledged, and redis does not have it");
	}
}

/* Return: true if node @i follows the current log and lacks nothing, and redis has all inserts of
 * node @i. */
static bool is_following(unsigned i)
{
	struct weir_node_status status;
	struct weir_node *n = &s->seats[i].node;
	const struct toy_server *server = server_of(&s->seats[i]);
	weir__node_status(n, &status);
	return server->log_there && server->head_run == server->run &&
	       n->head.mark == server->head.mark && n->tag == server->head.tag &&
	       status.state == WEIR_NODE_FOLLOWING && !status.lacks &&
	       weir__debts_lowest_stamp(n) >= WEIR_NODE_STAMP_OTHERS &&
	       !n->ring.waiting.oldest && !weir__ring_has_hashes(&n->ring) &&
	       !(n->publish_asked && n->may_publish);
}

/* Return: true if is_following(), and node @i owes no generation for inserts of other nodes. */
static bool is_well(unsigned i)
{
	return is_following(i) && weir__debts_lowest_stamp(&s->seats[i].node) == UINT64_MAX;
}

static bool all(bool (*is)(unsigned i))
{
	for (unsigned i = 0; i < s->nodes; i++)
		if (!is(i) || s->seats[i].store->server != s->seats[0].store->server)
			return false;
	return true;
}

static void check_all(void)
{
	for (unsigned i = 0; i < s->nodes; i++)
		for (size_t k = 0; k < s->n_keys && !s->failed; k++) {
			const struct key *key = &s->keys[k];
			if (!key->told || key->excused)
				continue;
			const bool there =
				weir_handle_contains_hash(s->seats[i].handle, key->hash);
			if (!key->removed && !there)
				wrong("all", i, "it lacks a key");
			if (key->gone && there && !s->faults && s->ring > 4096)
				wrong("gone", i, "it has a key that the record lacks");
		}
}
