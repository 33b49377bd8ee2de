/* SPDX-License-Identifier: MIT
 * What a node asks of the server. Each call is atomic there (one script), and compares the epoch
 * with the node's first (L1). It stands between the rules and the network: redis implements it, and
 * a toy of the tests does, that loses what a server may lose. */
#ifndef WEIR_REPLICA_SERVER_H
#define WEIR_REPLICA_SERVER_H

#include <stdbool.h>
#include "format/cursor.h"
#include "format/entry.h"
#include "format/manifest.h"

struct weir_filter;

/* A batch to append. */
struct weir_sending {
	const char *epoch;
	enum weir_entry_kind kind;
	uint64_t node, sequence, hashing;
	const void *data;
	size_t bytes;
};

/* An entry that was read. Return: 0, or a negative errno, which ends the reading. */
typedef int weir_entry_fn(void *context, struct weir_stream_id id, const struct weir_entry *entry);

/* Will an image be no better the next time: damaged, not signed, not for this node? No memory, or a
 * server that is away, passes. */
bool weir__image_refused(int err);

/* Each returns 0 or a negative errno with its sentence; of all -ESTALE: the server's epoch is
 * another. Other errors, unless a call says more: nobody knows whether it was done. */
struct weir_server {
	void *context;
	/* @id: receives that of the entry. If somebody has deleted the stream, it begins with an id
	 * above the position of the manifest there is, and WEIR_STREAM_LEAP entries more are said
	 * to have been added than there were: so that every cursor and manifest of before finds
	 * that entries have gone, also when as many have come since.
	 * -ENOSPC: it was not appended, the server has no room left but for an image. */
	int (*append)(void *context, const struct weir_sending *s, struct weir_stream_id *id);
	/* Give up to @most entries after @after to @entry, in order.
	 * @counts: receives what the stream was when they were read; before the first of them.
	 * @n: receives how many there were. */
	int (*read)(void *context, const char *epoch, struct weir_stream_id after, size_t most,
	            struct weir_stream_counts *counts, weir_entry_fn *entry, void *arg, size_t *n);
	/* The manifest there is, and the epoch; whatever the node's own epoch is.
	 * @epoch: receives "" if it is not known; else it is, also after a failure: the manifest
	 * may be nobody's that is trusted.
	 * @text: receives malloc'ed text, or NULL: there is no manifest. */
	int (*manifest)(void *context, char epoch[WEIR_REPLICA_EPOCH + 1], char **text,
	                size_t *len);
	/* Fetch and check the image of a manifest.
	 * weir__image_refused(): all of it is there, and it will not do.
	 * -EINPROGRESS: it is on its way, to be asked for again; to ask for another gives it up. */
	int (*image)(void *context, const struct weir_manifest *m, struct weir_filter **out);
	/* Store a filter's image, which nobody reads yet, and complete @m: bytes, checksum, chunks,
	 * published_ms. Then WAIT.
	 * @safe: receives whether as many replicas as were asked for have what was written until
	 * now. */
	int (*store)(void *context, const struct weir_filter *f, struct weir_manifest *m,
	             bool *safe);
	/* Milliseconds, of a clock that all nodes can see; where manifests are signed, of one that
	 * the server's owner cannot set. */
	int (*now)(void *context, uint64_t *ms);
	/* L10, and trim the stream up to m->covered. @text: of @m.
	 * -EEXIST: the manifest there is not of generation m->base, nothing was published.
	 * -EPERM: the lease is somebody else's, likewise. */
	int (*publish)(void *context, const struct weir_manifest *m, const char *text, size_t len);
};

#endif
