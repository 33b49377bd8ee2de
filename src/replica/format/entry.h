/* SPDX-License-Identifier: MIT
 * A log entry: names and values in this order.
 *
 *     t HEX      its tag, which no other entry has. Its node draws the tag at random, or derives
 *                it from the old tag (weir__tag_next()) to send an entry again for nodes that
 *                lack it
 *     a HEX      the tag of the previous entry; 16 zeros in the log's first entry ([LOG-READING])
 *     then one of
 *     b BYTES    a batch: node, fingerprint of the seed, hashes; each 8 bytes, little-endian
 *     g VERSION  this generation was published
 *     c HEX VERSION  node HEX calls for a generation after VERSION ([CALL-FOR-KEYS])
 *     p ID       the first entry of an epoch; ID is the log's last id before the epoch
 *
 * The scripts add "a", since only they know the previous tag. The server is untrusted, so the
 * reader checks every entry. */
#ifndef WEIR_REPLICA_ENTRY_H
#define WEIR_REPLICA_ENTRY_H

#include <sys/uio.h>
#include "id.h"

enum weir_entry_kind {
	WEIR_ENTRY_BATCH,
	WEIR_ENTRY_GENERATION,
	WEIR_ENTRY_CALL,
	WEIR_ENTRY_EPOCH,
	WEIR_ENTRY_UNREAD, /* weir__entry_read() failed, so only the entry's id is known */
};

enum {
	WEIR_ENTRY_HASHES = 8190,                       /* largest number of hashes in a batch */
	WEIR_ENTRY_BYTES = 16 + 8 * WEIR_ENTRY_HASHES,  /* 64 KiB */
};

struct weir_entry {
	struct weir_log_id id;
	uint64_t tag, before;
	enum weir_entry_kind kind;
	uint64_t node;               /* for a batch or call: the id of the sending node */
	uint64_t hashing;            /* for a batch: fingerprint of the seed */
	const unsigned char *hashes; /* for a batch: the caller's bytes, 8 for each hash */
	size_t n;
	struct weir_version version; /* for a generation or call */
	struct weir_log_id last;     /* for the first entry of an epoch: the id before this entry */
};

/* Read and check an entry of @n strings, names and values in turn. A node that skips an invalid
 * entry lacks the keys of that entry. Return: 0; -EBADMSG the entry is malformed; -ENOTSUP a later
 * version wrote it. */
int weir__entry_read(struct weir_entry *out, struct weir_log_id id, const struct iovec *strings,
                     size_t n);

static inline uint64_t weir__entry_hash(const struct weir_entry *e, size_t i)
{
	uint64_t hash = 0;
	for (int byte = 7; byte >= 0; byte--)
		hash = hash << 8 | e->hashes[8 * i + (size_t)byte];
	return hash;
}

/* The tag of the entry that replaces the entry with @tag. */
static inline uint64_t weir__tag_next(uint64_t tag)
{
	return 3 * tag; /* 3 is odd, so distinct tags stay distinct, and no tag becomes 0 */
}

/* Write the value of a batch, call or generation. @to: has room for WEIR_ENTRY_BYTES bytes. Return:
 * the bytes written. */
size_t weir__entry_write(unsigned char *to, const struct weir_entry *e);

#endif
