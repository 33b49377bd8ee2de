/* SPDX-License-Identifier: MIT
 * Another manifest, or another epoch (L1). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include "node.h"

bool weir__node_has_joined(const struct weir_node *n, const struct weir_manifest *m)
{
	return n->joined.generation == m->generation && n->joined.checksum[0] == m->checksum[0] &&
	       n->joined.checksum[1] == m->checksum[1] && strcmp(n->joined.epoch, m->epoch) == 0;
}

bool weir__node_lacks_image(const struct weir_node *n)
{
	return n->seen.generation && !weir__node_has_joined(n, &n->seen);
}

void weir__node_joined(struct weir_node *n, const struct weir_manifest *m)
{
	n->joined = *m;
	n->ahead = n->healed = n->united = n->gave = n->alone = false;
	if (n->newest < m->generation)
		n->newest = m->generation;
}

bool weir__node_wants_image(const struct weir_node *n)
{
	return weir__node_lacks_image(n) || (n->seen.generation && n->ahead);
}

/* L1, L3: ids and counts of before mean nothing here. L11: whatever the looks that follow find, the
 * set is joined anew. */
static void meet(struct weir_node *n, const char *epoch)
{
	memcpy(n->epoch, epoch, sizeof n->epoch);
	weir__retained_anew(&n->retained);
	n->cursor = (struct weir_cursor){ .consumed = 0 };
	n->covered = n->cursor.at;
	n->gap = false;
	n->ahead = true;
	n->united |= n->gave;
}

int weir__node_check(const struct weir_node *n, const struct weir_manifest *m)
{
	if (strcmp(m->set, n->set) != 0)
		return weir_fail(-EBADMSG, "the manifest of set %s says that it is that of %s",
		                 n->set, m->set);
	if (m->of_keys != weir__node_of_keys(n))
		return weir_fail(-EINVAL, "set %s: its batches are of %s, as generation %" PRIu64
		                 " says, and this node's are not (stream_keys)", n->set,
		                 m->of_keys ? "keys" : "hashes", m->generation);
	return 0;
}

static int check_hashing(const struct weir_node *n, const struct weir_manifest *m)
{
	if (weir__node_is_foreign(n, m))
		return weir_fail(-EKEYREJECTED, "set %s: generation %" PRIu64 " is hashed by "
		                 "another seed or key: %08" PRIx64 ", here it is %08" PRIx64
		                 " (DEL the set's keys, and a node of either can publish its own)",
		                 n->set, m->generation, m->hashing, n->hashing);
	return 0;
}

/* A node that was away, or taken for gone, may find that a generation was made without batches of
 * its own that are in the stream no more. */
void weir__node_covered(struct weir_node *n, const struct weir_manifest *m,
                        const struct weir_origins *origins)
{
	const struct weir_origin *own = weir__origins_find(origins, n->id);
	if (strcmp(m->epoch, n->epoch) != 0)
		return;
	(void)weir__retained_uncovered(&n->retained, m->cursor.at, own ? own->sequence : 0);
	n->covered = m->covered;
	if (weir__stream_id_compare(n->covered, n->cursor.at) > 0) /* ids were set back since */
		n->covered = (struct weir_stream_id){ 0, 0 };
}

/* Was it made in this epoch, and what is joined here was not? */
static bool made_since(const struct weir_node *n, const struct weir_manifest *m)
{
	return strcmp(m->epoch, n->epoch) == 0 && strcmp(n->joined.epoch, n->epoch) != 0;
}

/* L13. One that this node's set has replaced is there again, after a failover or since somebody put
 * it back: the set has what that has, but for what was to go, and by another seed. In the next
 * epoch it is the one that the set stands in for already. */
static bool was_replaced(const struct weir_node *n, const struct weir_manifest *m)
{
	return m->hashing != n->hashing && m->lineage == n->joined.lineage && !made_since(n, m) &&
	       (m->generation < n->joined.generation || weir__node_has_joined(n, m));
}

/* L11. Is it what is joined here, and the stream up to a position of this epoch? */
static bool follows(const struct weir_node *n, const struct weir_manifest *m)
{
	const struct weir_manifest *j = &n->joined;
	return m->follows && j->generation == m->base && j->lineage == m->lineage &&
	       j->checksum[0] == m->followed[0] && j->checksum[1] == m->followed[1] &&
	       m->hashing == n->hashing && strcmp(m->epoch, n->epoch) == 0;
}

/* L11. Then the set has all that the image has, when the stream was read up to there, and of each
 * node what the image has of it. */
static bool has_all_of(struct weir_node *n, const struct weir_manifest *m,
                       const struct weir_origins *origins)
{
	if (n->ahead || n->healed || n->is_signed || !follows(n, m))
		return false;
	if (weir__stream_id_compare(n->cursor.at, m->cursor.at) < 0)
		(void)weir__node_read(n); /* how far it came the cursor says */
	return weir__node_complete(n) && weir__origins_reach(&n->origins, origins) &&
	       weir__stream_id_compare(n->cursor.at, m->cursor.at) >= 0;
}

static int stand_in(struct weir_node *n, const struct weir_manifest *m,
                    const struct weir_origins *origins)
{
	int err = weir__origins_cover_all(&n->origins, origins);
	if (err)
		return err;
	const bool replaced = was_replaced(n, m), united = n->united; /* nothing took its place */
	if (replaced)
		n->has_more = true;
	weir__node_joined(n, m);
	n->united = united || replaced;
	n->alone = replaced;
	n->apart |= replaced;
	return 0;
}

/* Take over a manifest that is not joined yet, or follow one that is. */
static int take(struct weir_node *n, const struct weir_manifest *m,
                const struct weir_origins *origins, bool anew)
{
	int err = weir__node_check(n, m);
	if (err)
		return err;
	n->seen = *m;
	err = check_hashing(n, m);
	if (err)
		return err;
	if (anew)
		n->cursor = m->cursor;
	bool lacks = n->ahead || !weir__node_has_joined(n, m);
	if (lacks && (was_replaced(n, m) || has_all_of(n, m, origins)))
		err = stand_in(n, m, origins);
	else if (lacks)
		err = weir__node_join(n, m, origins);
	if (!err)
		weir__node_covered(n, m, origins);
	return err;
}

int weir__node_look(struct weir_node *n)
{
	char epoch[WEIR_REPLICA_EPOCH + 1], *text;
	struct weir_origins origins = { 0 };
	struct weir_manifest m;
	size_t len;
	int err = n->server->manifest(n->server->context, epoch, &text, &len);
	bool anew = epoch[0] && strcmp(epoch, n->epoch) != 0;
	if (anew)
		meet(n, epoch);
	if (err)
		return err;
	if (!text)
		n->seen = (struct weir_manifest){ .generation = 0 };
	if (text)
		err = weir__node_fail(n, weir__manifest_read(&m, &origins, text, len));
	if (text && !err)
		err = take(n, &m, &origins, anew);
	weir__origins_free(&origins);
	free(text);
	return err;
}

void weir__node_start(struct weir_node *n, const char *epoch, const struct weir_manifest *m,
                      struct weir_origins *origins)
{
	meet(n, epoch);
	weir__origins_free(&n->origins);
	n->origins = *origins;
	*origins = (struct weir_origins){ 0 };
	weir__node_joined(n, m);
	n->seen = *m;
	n->cursor = m->cursor;
}
