/* SPDX-License-Identifier: MIT
 * What a node asks of redis. It stands between the rules and the network: store/ implements it, and
 * so does a toy of the tests, which loses what redis may lose.
 *
 * Each call returns 0 or a negative errno with its sentence. Unless a call says more, after an
 * error nobody knows whether it was done. */
#ifndef WEIR_REPLICA_STORE_H
#define WEIR_REPLICA_STORE_H

#include "../format/entry.h"
#include "../format/head.h"
#include "../format/manifest.h"

struct weir_filter;

/* A heartbeat, and what is to be appended with it, in this order: one script (U1). */
struct weir_touch {
	uint64_t node;
	const char *report;              /* of the node, for the others; NULL: none this time */
	const struct weir_entry *entries; /* batches and calls; tags drawn, ids and before unset */
	size_t n;
	bool give_up;                    /* U9: begin an epoch that has no prev, and lose what the
	                                    log has; only if the mark is still @mark */
	uint64_t mark;
	uint64_t epoch;                  /* the last that the node saw: where nothing is left, one
	                                    begins above it */
};

/* An entry that was read. Return: 0, or a negative errno, which ends the reading and is returned.
 */
typedef int weir_entry_fn(void *context, const struct weir_entry *entry);

struct weir_publication {
	uint64_t mark;                   /* of the epoch that its position is of */
	struct weir_version base;        /* the head's version when the node began */
	struct weir_manifest *manifest;
};

struct weir_store {
	void *context;
	/* Return: 0: the entries stand together at the log's end, the last at @head->last; with
	 *   @head->full none was appended. */
	int (*touch)(void *context, const struct weir_touch *touch, struct weir_head *head);
	/* Give up to @most entries that follow @after to @entry, in order. One that does not read
	 * (weir__entry_read()) is given too, as WEIR_ENTRY_UNREAD: so the node knows its place.
	 * @n: receives how many were given. */
	int (*read)(void *context, struct weir_log_id after, size_t most, weir_entry_fn *entry,
	            void *arg, size_t *n);
	/* The newest generation's manifest. Its signature, version and expiry are checked where
	 * somebody is trusted, and its version is on the disk, when this returns 0.
	 * Return: 0; -ENOENT there is none; -EKEYREJECTED, -EKEYEXPIRED, -EBADMSG, -ENOTSUP it is
	 *   of no use: the node stays as it is and says so. */
	int (*manifest)(void *context, struct weir_manifest *out);
	/* Fetch a manifest's image and check it.
	 * Return: 0; -EINPROGRESS it is on its way, to be asked for again (to ask for another gives
	 *   it up); -ENOENT a chunk is missing, -EBADMSG, -EKEYREJECTED: it will not be better the
	 *   next time (U8). */
	int (*image)(void *context, const struct weir_manifest *m, struct weir_filter **out);
	/* Copy a filter and upload the copy, which nobody reads yet. Fills in the manifest's image,
	 * bytes and chunks. What is inserted meanwhile is in the copy or not: it is above the
	 * position (U10).
	 * Return: 0; -EINPROGRESS it is on its way, to be asked for again with the same arguments;
	 *   -ENOSPC redis is full. */
	int (*upload)(void *context, const struct weir_filter *f, struct weir_manifest *m);
	/* U12, one script. Writes, signs and sends the manifest.
	 * Return: 0; -ESTALE another epoch, no log, or another entry at the position; -EEXIST
	 *   another generation than @base is there; -ENOENT a chunk has gone. Then at most the
	 *   image that was uploaded is gone. */
	int (*publish)(void *context, const struct weir_publication *p);
	/* Who may upload a generation now. Return: 0; -EPERM somebody else has it. */
	int (*lease)(void *context, uint64_t node, uint32_t milliseconds);
};

#endif
