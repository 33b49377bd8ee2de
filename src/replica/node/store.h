/* SPDX-License-Identifier: MIT
 * The calls that a node makes to redis. They stand between the rules and the network: store/
 * implements them, and so does a toy of the tests, which loses what redis may lose.
 *
 * Each call returns 0 or a negative errno with its sentence. After an error the call may have taken
 * effect or not, unless its comment says more. */
#ifndef WEIR_REPLICA_STORE_H
#define WEIR_REPLICA_STORE_H

#include "../format/entry.h"
#include "../format/head.h"
#include "../format/manifest.h"

struct weir_filter;

/* A heartbeat and the entries to append with it, in this order: one script (U1). */
struct weir_touch {
	uint64_t node;
	const char *report;              /* of the node, for the others; NULL: none this time */
	const struct weir_entry *entries; /* batches and calls; tags set, ids and before unset */
	size_t n;
	bool give_up;                    /* U9: begin an epoch without prev, and set lost to the
	                                    log's last id; only if the mark is still @mark */
	uint64_t mark;
	uint64_t epoch;                  /* the last that the node saw: if redis has neither log
	                                    nor head, the next epoch is above it */
};

/* Takes an entry. Return: 0; a negative errno ends the reading, which returns it. */
typedef int weir_entry_fn(void *context, const struct weir_entry *entry);

struct weir_publication {
	uint64_t mark;                   /* of the position's epoch */
	struct weir_version base;        /* the head's version when the node began */
	struct weir_manifest *manifest;
};

struct weir_store {
	void *context;
	/* Return: 0: the entries are the last ones of the log, the last at @head->last; with
	 *   @head->full redis appended none. */
	int (*touch)(void *context, const struct weir_touch *touch, struct weir_head *head);
	/* Pass up to @most entries after @after to @entry, in order. An entry that
	 * weir__entry_read() refuses comes as WEIR_ENTRY_UNREAD, so the node knows its place.
	 * @n: receives how many were passed. */
	int (*read)(void *context, struct weir_log_id after, size_t most, weir_entry_fn *entry,
	            void *arg, size_t *n);
	/* Read the newest generation's manifest. If the node trusts keys, 0 means that the
	 * signature is good. Unless the head is an older one (U5), version and expiry are checked
	 * too, and the version is on the disk.
	 * Return: 0; -ENOENT redis has none; -EKEYREJECTED, -EKEYEXPIRED, -EBADMSG, -ENOTSUP it
	 *   cannot be used: the node stays as it is and reports that. */
	int (*manifest)(void *context, struct weir_manifest *out);
	/* Fetch a manifest's image and check it.
	 * Return: 0; -EINPROGRESS in flight, ask again (asking for another image gives it up);
	 *   -ENOENT a chunk is missing, -EBADMSG, -EKEYREJECTED: a retry does not help (U8). */
	int (*image)(void *context, const struct weir_manifest *m, struct weir_filter **out);
	/* Copy a filter and upload the copy, which no node reads before publish(). Fills in the
	 * manifest's image, bytes and chunks. A key inserted during the copy may be in it or not:
	 * its entry is above the position (U10).
	 * Return: 0; -EINPROGRESS in flight, ask again with the same arguments; -ENOSPC redis is
	 *   full. */
	int (*upload)(void *context, const struct weir_filter *f, struct weir_manifest *m);
	/* U12, one script. Writes, signs and sends the manifest.
	 * Return: 0; -ESTALE another epoch, no log, or another entry at the position; -EEXIST the
	 *   head's version is not @base; -ENOENT a chunk is gone. These three lose at most the
	 *   uploaded image. */
	int (*publish)(void *context, const struct weir_publication *p);
	/* Take or renew the lease to upload a generation. Return: 0; -EPERM another node holds it.
	 */
	int (*lease)(void *context, uint64_t node, uint32_t milliseconds);
};

#endif
