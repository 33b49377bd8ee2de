/* SPDX-License-Identifier: MIT
 * An entry of the stream: a node's batch, as names and values in this order.
 *
 *     v 1                   the format's version
 *     n HEX                 the node (WEIR_REPLICA_NODE digits)
 *     q NUMBER              the batch's sequence number, from 1 on (L4); where there are no keys,
 *                           that of the node's last batch, 0: it has sent none
 *     s HEX                 fingerprint of the seed or key by which its hashes were made
 *     then one of
 *     h BYTES               hashes, 8 bytes each, the lowest first
 *     k BYTES               keys, each after its length in 4 bytes, the lowest first
 *     w HEX NUMBER          no keys: the node lacks those of another from this sequence on (L8)
 *     i                     no keys: the node is idle
 *
 * It comes from a server that may be anybody's. */
#ifndef WEIR_REPLICA_ENTRY_H
#define WEIR_REPLICA_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "number.h"

enum weir_entry_kind { WEIR_ENTRY_HASHES, WEIR_ENTRY_KEYS, WEIR_ENTRY_WANTED, WEIR_ENTRY_IDLE,
                       WEIR_ENTRY_FOREIGN /* it is nobody's: passed by */ };

struct weir_entry {
	enum weir_entry_kind kind;
	uint64_t node, sequence, hashing;
	const unsigned char *data; /* hashes or keys: the caller's bytes */
	size_t bytes;
	uint64_t wanted_node, wanted_sequence;
};

/* Read an entry of @n strings, names and values in turn, and check all of it, keys too.
 * Return: 0; -EBADMSG what is wrong; -ENOTSUP a later version's: whoever passes it by lacks its
 *   keys. */
int weir__entry_read(struct weir_entry *out, const struct iovec *strings, size_t n);

/* Of an entry of hashes. */
size_t weir__entry_hashes(const struct weir_entry *e);
uint64_t weir__entry_hash(const struct weir_entry *e, size_t i);
void weir__entry_put_hash(unsigned char *data, size_t i, uint64_t hash);

/* Of an entry of keys: the one at @at, which begins with 0 and becomes where the next one is.
 * Return: false: there are no more. */
bool weir__entry_key(const struct weir_entry *e, size_t *at, struct iovec *key);
/* The bytes that a key takes there, and the key as it stands there. */
size_t weir__entry_key_room(size_t len);
void weir__entry_put_key(unsigned char *data, const void *key, uint32_t len);

/* Of hashes or keys that stand one behind another: the bytes of as many of them, from the first on,
 * as @most bytes hold, or of the first alone if that is longer. */
size_t weir__entry_piece(enum weir_entry_kind kind, const unsigned char *data, size_t bytes,
                         size_t most);

#endif
