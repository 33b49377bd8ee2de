/* SPDX-License-Identifier: MIT
 * An entry of the log, as names and values in this order:
 *
 *     t HEX      its tag: drawn by its node, so that no two entries are taken for one; that of an
 *                entry that is sent again for those who lack it: weir__tag_again()
 *     a HEX      the tag of the entry before it; 16 zeros: it is the log's first (U4)
 *     then one of
 *     b BYTES    a batch: node, fingerprint of the seed, hashes, each 8 bytes, the lowest first
 *     g VERSION  that generation came
 *     c HEX VERSION  that node calls for a generation after this one (U8)
 *     p ID       the first entry of an epoch: the id before it
 *
 * Scripts add the second line, for they alone know it. Entries come from a server that may be
 * anybody's. */
#ifndef WEIR_REPLICA_ENTRY_H
#define WEIR_REPLICA_ENTRY_H

#include <sys/uio.h>
#include "id.h"

enum weir_entry_kind {
	WEIR_ENTRY_BATCH,
	WEIR_ENTRY_GENERATION,
	WEIR_ENTRY_CALL,
	WEIR_ENTRY_EPOCH,
	WEIR_ENTRY_UNREAD, /* it has an id, and is none of the others: no script writes one */
};

enum {
	WEIR_ENTRY_HASHES = 8190,                       /* of a batch, at most */
	WEIR_ENTRY_BYTES = 16 + 8 * WEIR_ENTRY_HASHES,  /* 64 KiB */
};

struct weir_entry {
	struct weir_log_id id;
	uint64_t tag, before;
	enum weir_entry_kind kind;
	uint64_t node;               /* of a batch or call */
	uint64_t hashing;            /* of a batch: by which seed its hashes were made */
	const unsigned char *hashes; /* of a batch: the caller's bytes, 8 a hash */
	size_t n;
	struct weir_version version; /* of a generation or call */
	struct weir_log_id last;     /* of an epoch's first entry: the id before it */
};

/* Read an entry of @n strings, names and values in turn, and check all of it.
 * Return: 0; -EBADMSG what is wrong: whoever passes it by lacks its keys; -ENOTSUP a later
 *   version's, likewise. */
int weir__entry_read(struct weir_entry *out, struct weir_log_id id, const struct iovec *strings,
                     size_t n);

static inline uint64_t weir__entry_hash(const struct weir_entry *e, size_t i)
{
	uint64_t hash = 0;
	for (int byte = 7; byte >= 0; byte--)
		hash = hash << 8 | e->hashes[8 * i + (size_t)byte];
	return hash;
}

/* The tag of an entry that replaces the one of this tag. */
static inline uint64_t weir__tag_again(uint64_t tag)
{
	return 3 * tag; /* no two tags share it, and none has 0 */
}

/* Write what stands behind b, c or g. @to: WEIR_ENTRY_BYTES. Return: how many bytes. */
size_t weir__entry_write(unsigned char *to, const struct weir_entry *e);

#endif
