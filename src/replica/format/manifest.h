/* SPDX-License-Identifier: MIT
 * The manifest of a generation: which image it is, and the place in the log up to which that image
 * has everything. It is text of one form only, so that it can be signed: lines of a name, a blank
 * and values, each name once and in this order.
 *
 *     weir-generation 2
 *     set NAME                 1 to 64 letters, digits, - _ .
 *     version ERA.NUMBER       from 1.1 on
 *     id HEX                   drawn for this generation
 *     position ID HEX          the log's entry up to which the image has everything, and its tag
 *     parent VERSION HEX       the generation that its publisher had joined, and its id; or
 *     parent none
 *     seen HEX ID              if redis once lost the set: the epoch's mark, and the last entry of
 *                              that log that the image has
 *     source NAME              set: a node's set; record: the application's record; rollback
 *     pure                     if the image has nothing but its parent's and the log up to the
 *                              position: who has those need not fetch it (U5)
 *     image HEX64 BYTES CHUNKS BLAKE2b-256 of the whole image, which names its chunks; all of
 *                              WEIR_CHUNK bytes but the last
 *     kind NAME                of the filter
 *     hashing HEX              fingerprint of its seed or key
 *     steps NUMBER             what is done to keys before hashing; 0: nothing
 *     publisher HEX            the node
 *     signed NUMBER            milliseconds since 1970, by its publisher's clock
 *     expires NUMBER           likewise; 0: never
 *     has HEX                  0 to WEIR_HAS lines: generations and tokens that are in the image
 *
 * It comes from a server that may be anybody's: every number is checked against the others, and
 * nothing that it says decides how much memory is taken but the counts that are bounded here. */
#ifndef WEIR_REPLICA_MANIFEST_H
#define WEIR_REPLICA_MANIFEST_H

#include "id.h"

enum {
	WEIR_SET_NAME = 64,             /* characters of a set's name */
	WEIR_CHUNK = (1 << 20) - 64,    /* bytes: with its head it takes a mebibyte of jemalloc's */
	WEIR_CHUNKS = 1 << 20,
	WEIR_IMAGE_HASH = 32,
	WEIR_MANIFEST_TEXT = 4096,      /* bytes of a manifest, at most */
};

enum weir_source { WEIR_SOURCE_SET, WEIR_SOURCE_RECORD, WEIR_SOURCE_ROLLBACK };

/* How far the log of an epoch was applied that redis has lost since. */
struct weir_seen {
	uint64_t mark; /* of the epoch; 0: redis lost none */
	struct weir_log_id id;
};

struct weir_manifest {
	char set[WEIR_SET_NAME + 1];
	struct weir_version version;
	uint64_t id;
	struct weir_log_id position;
	uint64_t tag;                 /* of the entry there; 0 at 0-0 */
	struct weir_version parent;   /* 0.0: none */
	uint64_t parent_id;
	struct weir_seen seen;
	enum weir_source source;
	bool pure;
	unsigned char image[WEIR_IMAGE_HASH];
	uint64_t bytes, chunks;
	uint32_t kind;
	uint64_t hashing;
	uint32_t steps;
	uint64_t publisher;
	uint64_t signed_ms, expires_ms;
	struct weir_has has;
};

/* Is this a set's name? */
bool weir__set_name_is(const char *name, size_t len);

/* Return: 0; -EBADMSG with the line and what is wrong there; -ENOTSUP a later version's, or a kind
 *   that cannot be replicated. */
int weir__manifest_read(struct weir_manifest *out, const char *text, size_t len);
/* Write a manifest that weir__manifest_read() takes. Return: its bytes. */
size_t weir__manifest_write(char text[WEIR_MANIFEST_TEXT], const struct weir_manifest *m);

/* ---- which kinds can be the same on every node ---- */

enum weir_replicable {
	WEIR_REPLICABLE_NOT,
	WEIR_REPLICABLE_IMAGES,  /* built once: images alone */
	WEIR_REPLICABLE_INSERTS, /* an insert may come twice, and inserts in any order */
};

enum weir_replicable weir__replicable(uint32_t kind);
/* Return: 0; -ENOTSUP with the reason. */
int weir__replicable_check(uint32_t kind);

#endif
