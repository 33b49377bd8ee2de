/* SPDX-License-Identifier: MIT
 * The calls that a node makes to redis. They separate the rules from the network: store/ implements
 * them, and so does a simulation in the tests, which loses what redis may lose.
 *
 * Each call returns 0 or a negative errno with its sentence. After an error the call may or may not
 * have taken effect, unless the comment of the call says more. */
#ifndef WEIR_REPLICA_STORE_H
#define WEIR_REPLICA_STORE_H

#include "../format/entry.h"
#include "../format/head.h"
#include "../format/manifest.h"

struct weir_filter;

/* A heartbeat and the entries to append with it in this order, in one script ([NEW-EPOCH]). */
struct weir_touch {
	uint64_t node;
	const char *report;              /* this node's new report; NULL: redis keeps the old one */
	const struct weir_entry *entries; /* batches and calls; each has a tag, but no `id` and no
	                                     `before` yet */
	size_t n;
	bool give_up;                    /* begin an epoch if the head still has @mark. In the new
	                                    head, prev is 0 and lost is the log's last id
	                                    ([GIVE-UP]) */
	uint64_t mark;
	uint64_t epoch;                  /* the last epoch that the node saw. If redis has neither
	                                    log nor head, the next epoch is above this one */
};

/* weir_store.read() calls this with each entry. Return: 0; a negative errno ends the read, which
 * then returns that errno. */
typedef int weir_entry_fn(void *context, const struct weir_entry *entry);

struct weir_publication {
	uint64_t mark;                   /* mark of the position's epoch */
	struct weir_version base;        /* version of the head when the publication began */
	struct weir_manifest *manifest;
};

struct weir_store {
	void *context;
	/* Return: 0: if @head->full is set, redis appended none of the entries. Otherwise redis
	 *   appended all of them, and @head->last is the id of the last entry of the log. */
	int (*touch)(void *context, const struct weir_touch *touch, struct weir_head *head);
	/* Pass up to @most entries after @after to @entry, in order. If weir__entry_read() refuses
	 * an entry, pass it as WEIR_ENTRY_UNREAD, so the node knows its id. @n: receives the number
	 * of entries passed. */
	int (*read)(void *context, struct weir_log_id after, size_t most, weir_entry_fn *entry,
	            void *arg, size_t *n);
	/* Read the newest generation's manifest. If the node trusts keys, 0 means that the
	 * signature is valid. Unless the head is too old ([HEAD-JOIN]), 0 also means that version
	 * and expiry are valid, and that the state file on the disk has the version. Return: 0;
	 * -ENOENT redis has none; -EKEYREJECTED, -EKEYEXPIRED, -EBADMSG, -ENOTSUP the manifest
	 * cannot be used: the node keeps its set and reports the error. */
	int (*manifest)(void *context, struct weir_manifest *out);
	/* Fetch a manifest's image and check it.
	 * Return: 0; -EINPROGRESS in flight: call again (a call for another image cancels this
	 *   one); -ENOENT a chunk is missing; -EBADMSG, -EKEYREJECTED the image is not that of its
	 *   manifest. After these three errors the node calls other nodes ([CALL-FOR-KEYS]).
	 *   -EFBIG, -ENOTSUP this node cannot use the image. */
	int (*image)(void *context, const struct weir_manifest *m, struct weir_filter **out);
	/* Copy a filter and upload the copy, which no node reads before publish(). Sets the
	 * manifest's image, bytes and chunks. The copy may lack a key that is inserted during the
	 * copy: the log entry of that key is above the manifest's position, so nodes read it from
	 * the log ([WHEN-TO-PUBLISH]).
	 * Return: 0; -EINPROGRESS in flight: call again with the same arguments; -ENOSPC redis is
	 *   full. */
	int (*upload)(void *context, const struct weir_filter *f, struct weir_manifest *m);
	/* Write, sign and send the manifest, in one script ([PUBLISH-ATOMIC]).
	 * Return: 0; -ESTALE another epoch, no log, or another entry at the position; -EEXIST the
	 *   head's version is not @base; -ENOENT a chunk is missing. These three errors lose at
	 *   most the uploaded image. */
	int (*publish)(void *context, const struct weir_publication *p);
	/* Take or renew the lease to upload. Return: 0; -EPERM another node has the lease. */
	int (*lease)(void *context, uint64_t node, uint32_t milliseconds);
};

#endif
