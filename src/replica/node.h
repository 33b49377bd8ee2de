/* SPDX-License-Identifier: MIT
 * A node: a handle that is kept equal to those of the other nodes. The rules are in rules.h; what
 * is done when, and the waiting, is the caller's: one thread calls all of this but
 * weir__node_insert(). */
#ifndef WEIR_REPLICA_NODE_H
#define WEIR_REPLICA_NODE_H

#include <stdatomic.h>
#include <weir/handle.h>
#include <weir/reload.h>
#include "format/manifest.h"
#include "format/origins.h"
#include "pending.h"
#include "retain.h"
#include "server.h"

enum {
	/* bytes. Each reading of the stream makes the server look at its first and last entry, so a
	 * batch is no larger than a round trip is worth */
	WEIR_NODE_BATCH = 65536,
	WEIR_NODE_KEY = WEIR_NODE_BATCH - 4, /* bytes of a key, where batches are of keys */
	WEIR_NODE_READ = 64,     /* entries in one call: at most so many batches are in memory */
	WEIR_NODE_CALLS = 4096,  /* until it is the turn of something else */
};

struct weir_node {
	const struct weir_server *server;
	struct weir_handle *handle;
	char set[WEIR_MANIFEST_NAME + 1];
	uint64_t id;      /* random for each start */
	uint64_t hashing; /* fingerprint of the seed or key of the filter, and of all others unless
	                     batches are of keys (L13) */
	uint32_t kind;
	bool images_only; /* it takes no inserts */
	uint32_t steps;   /* of normalisation */
	bool is_signed; /* generations are: an image has what the stream, which is not, may lack,
	                   and its time is not the server's */
	struct weir_pending pending;
	struct weir_retained retained;
	/* the set has more than what was joined and the stream and retained batches have (L11) */
	_Atomic bool has_more;

	char epoch[WEIR_REPLICA_EPOCH + 1]; /* "": none was met yet */
	struct weir_cursor cursor;
	struct weir_origins origins;
	uint64_t applied;            /* entries, ever */
	bool outdated;               /* its name: others wait for batches of it that it does not
	                                retain any more, or never sent */
	uint64_t foreign;            /* of those, nobody's, or by another seed or key */
	bool gap;                    /* L7: entries have gone unread */
	bool ahead;                  /* in a new epoch, until an image is joined or published there:
	                                what came before its position may be in it alone, and the
	                                set may have what is nowhere else */
	bool healed;                 /* L8: something was lacking that nobody sent, and no image
	                                had: nodes that live may have it in their sets */
	bool united;                 /* L12: the node's own set was kept, and no image has it */
	bool gave;                   /* L12: the image that is joined has it now, and may be lost
	                                with its epoch */
	bool alone;                  /* L12: nor has anybody published since it was kept */
	bool apart;                  /* L12: the server lost what its set has, and no record came
	                                since: what follows a generation may be in no stream */
	struct weir_manifest joined; /* whose image is in the handle; generation 0: none */
	struct weir_manifest seen;   /* the one that the server had last, joined or not */
	struct weir_stream_id covered; /* L3: by the manifest that was seen last, in this epoch */
	uint64_t newest;             /* the highest generation that was joined or published: others
	                                may be anybody's, and none could follow the last number */
	struct weir_refused {        /* an image that was there as a whole and would not do */
		uint64_t generation, checksum[2];
		int err;
		char why[384];
	} refused;
};

/* @handle: has its first filter. @stream: hashes or keys, of all nodes alike (L13). @limit: bytes
 * of retained batches. */
void weir__node_make(struct weir_node *n, const struct weir_server *server,
                     struct weir_handle *handle, const char *set, uint64_t id,
                     enum weir_entry_kind stream, uint64_t limit);
void weir__node_free(struct weir_node *n);
/* Before anything was inserted: the handle's filter is the image of this manifest, which was read
 * in that epoch. @origins: are taken over. */
void weir__node_start(struct weir_node *n, const char *epoch, const struct weir_manifest *m,
                      struct weir_origins *origins);

/* Return: @err, with the set's name before its sentence; 0 is none. */
int weir__node_fail(const struct weir_node *n, int err);

/* Any thread (L2). @kept: receives 0; or -ENOBUFS, -ENOMEM: the key is in this node's set until
 * another image comes, and in no other node's.
 * Return: as weir_handle_insert(); -ENOTSUP sets of this kind take no inserts, or a hash where
 *   batches are of keys; -E2BIG a key of more than WEIR_NODE_KEY bytes there. */
int weir__node_insert(struct weir_node *n, const void *key, size_t len, int *kept);
int weir__node_insert_hash(struct weir_node *n, uint64_t hash, int *kept);
/* Of a batch. @kept: receives how many of the keys are kept for this node alone. */
int64_t weir__node_insert_keys(struct weir_node *n, struct weir_keys keys, uint64_t *bitmap,
                               uint64_t *kept);
/* Are batches of keys? Then filters may be of different seeds (L13). */
static inline bool weir__node_of_keys(const struct weir_node *n)
{
	return n->pending.kind == WEIR_ENTRY_KEYS;
}
/* Is a generation's image hashed by another seed or key, where that tells the sets apart? */
static inline bool weir__node_is_foreign(const struct weir_node *n, const struct weir_manifest *m)
{
	return m->generation && !m->of_keys && m->hashing != n->hashing;
}
/* Take another name: those that knew the old one may have forgotten how far it came (L8).
 * Return: 0, or -EIO the system gives no random number. */
int weir__node_rename(struct weir_node *n);

/* Send what is pending and retained (L3, L4).
 * Return: 0: all is confirmed; -ENOSPC the server is full; -ENOBUFS the node is; or the
 *   server's. */
int weir__node_send(struct weir_node *n);
/* Send the node's last sequence number, if all else is confirmed: who lacks a batch finds out. */
int weir__node_idle(struct weir_node *n);
/* Ask @node for its batches from @sequence on; 0 and 1: every node for all that it retains. */
int weir__node_want(struct weir_node *n, uint64_t node, uint64_t sequence);

/* Read what is new in the stream, and apply it (L5, L7, L8). Return: 0, or the server's. */
int weir__node_read(struct weir_node *n);
/* Look for another epoch or manifest, and join it (L1, L11).
 * Return: 0; -EINPROGRESS its image is on its way: look again; or the server's. */
int weir__node_look(struct weir_node *n);
/* Is it to join the manifest that it has seen last, since it lacks what that has? */
bool weir__node_lacks_image(const struct weir_node *n);
/* Is its image, or one like it, in the handle, or does the set stand in for it (L13)? */
bool weir__node_has_joined(const struct weir_node *n, const struct weir_manifest *m);
/* Or since a new epoch began (L11)? */
bool weir__node_wants_image(const struct weir_node *n);
/* End a gap, and the waiting for nodes that have gone (L8). @alive: those that live, ascending. Who
 * lives and is not among them sends again what is lacking when it meets the next manifest.
 * Return: whether it is complete now. */
bool weir__node_heal(struct weir_node *n, const uint64_t *alive, size_t count);
/* Forget the numbers of nodes that are not among @alive, so that manifests do not grow for ever. If
 * one of them lives all the same, it costs it its retained batches once more, and others a while in
 * which they are not complete. */
void weir__node_forget(struct weir_node *n, const uint64_t *alive, size_t count);
/* Has it all that the stream and the image had? (L9) */
bool weir__node_complete(const struct weir_node *n);
/* Publish the set as it is (L6, L9, L10), and what @more has, unless that is NULL.
 * Return: 0; -EAGAIN the node is not complete; as weir_merge(); or the server's. */
int weir__node_publish(struct weir_node *n, const struct weir_filter *more);

/* Where the stream ends before a record is read that an image is made from (L6). */
struct weir_mark {
	char epoch[WEIR_REPLICA_EPOCH + 1];
	struct weir_cursor cursor;
	struct weir_origins origins;
};

/* @mark: to be freed by weir__mark_free(). Return: 0, or the server's. */
int weir__node_mark(struct weir_node *n, struct weir_mark *mark);
void weir__mark_free(struct weir_mark *mark);
/* Publish @f, made from a record that was read after @mark was taken. The node need not be
 * complete; it joins what it published as all others do.
 * Return: 0; -ESTALE the epoch is another than the mark's; -EKEYREJECTED @f hashes otherwise, where
 *   batches are of hashes; -ENOTSUP a kind that cannot follow the set's; or the server's. */
int weir__node_publish_from(struct weir_node *n, const struct weir_filter *f,
                            const struct weir_mark *mark);

/* Publish a generation of before again, as the newest: its image, and all that the stream has,
 * which is everything since. @text: its manifest's.
 * Return: 0; -ENOENT what followed it has gone from the stream; or the server's. */
int weir__node_publish_again(struct weir_node *n, const char *text, size_t len);

/* Of the parts of a node. */

/* @m is joined. */
void weir__node_joined(struct weir_node *n, const struct weir_manifest *m);
/* L3: @m is the manifest there is. What it lacks of this node's batches is to be sent again. */
void weir__node_covered(struct weir_node *n, const struct weir_manifest *m,
                        const struct weir_origins *origins);
/* Is it a manifest of this set, with such batches? Return: 0; -EBADMSG, -EINVAL. */
int weir__node_check(const struct weir_node *n, const struct weir_manifest *m);

/* All that is pending becomes batches. Return: 0, -ENOBUFS, -ENOMEM. */
int weir__node_collect(struct weir_node *n);
/* Insert all of an entry into the handle or, where @next is given, into that alone.
 * Return: 0; -EKEYREJECTED its hashes are by another seed or key; as weir_insert(). */
int weir__node_apply(const struct weir_node *n, const struct weir_entry *e,
                     struct weir_reload *next);
/* As weir__node_apply(), and note in @origins what it says of its node. What is no entry of this
 * set's nodes is passed by: none can apply it, none waits for it.
 * @foreign: receives whether it was. Return: 0; as weir_insert(); -ENOMEM, -ENOBUFS. */
int weir__node_take(const struct weir_node *n, struct weir_origins *origins,
                    const struct weir_entry *e, struct weir_reload *next, bool *foreign);
/* L11. Return: 0, -EAGAIN the entries that follow it have gone, or the server's. */
int weir__node_join(struct weir_node *n, const struct weir_manifest *m,
                    const struct weir_origins *origins);

#endif
