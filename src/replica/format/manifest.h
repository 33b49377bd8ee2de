/* SPDX-License-Identifier: MIT
 * The manifest of a generation: its image, and the log position up to which the image has every
 * key. A manifest is text with exactly one form, so that it can be signed. Each line is a name and
 * its values, separated by blanks. The lines come in this order, and each comes once except "has".
 *
 *     weir-generation 2
 *     set NAME                 1 to 64 letters, digits, - _ .
 *     version ERA.NUMBER       1.1 or above
 *     id HEX                   random, drawn for this generation
 *     position ID HEX          the image has every key up to this log entry, whose tag is HEX
 *     parent VERSION HEX       version and id of the generation that the publisher joined last
 *     parent none              the publisher joined no generation
 *     seen HEX ID              only if redis once lost the set: the mark of the lost epoch, and
 *                              the last entry of its log that the image has
 *     source NAME              set: a node's set; record: the application's record; rollback
 *     pure                     the image has only keys of its parent and of the log up to the
 *                              position, so a node that has these keys need not fetch the image
 *                              ([HEAD-JOIN])
 *     image HEX64 BYTES CHUNKS BLAKE2b-256 of the whole image, which is also part of the name of
 *                              each chunk; each chunk but the last has WEIR_CHUNK bytes
 *     kind NAME                the filter's kind
 *     hashing HEX              fingerprint of the filter's seed or key
 *     steps NUMBER             text steps applied to keys before hashing; 0: no steps
 *     publisher HEX            the id of the publishing node
 *     signed NUMBER            milliseconds since 1970, by its publisher's clock
 *     expires NUMBER           milliseconds since 1970; 0: never
 *     has HEX                  0 to WEIR_HAS lines: generations and tokens that are in the image
 *
 * The server is untrusted, so the reader checks every number against the other numbers. Only counts
 * that this header bounds decide how much memory is allocated. */
#ifndef WEIR_REPLICA_MANIFEST_H
#define WEIR_REPLICA_MANIFEST_H

#include "id.h"

enum {
	WEIR_SET_NAME = 64,             /* largest number of characters of a set's name */
	WEIR_CHUNK = (1 << 20) - 64,    /* largest size of a chunk, so that redis allocates 1 MiB */
	WEIR_CHUNKS = 1 << 20,
	WEIR_IMAGE_HASH = 32,
	WEIR_MANIFEST_TEXT = 4096,      /* largest size of a manifest in bytes */
};

enum weir_source { WEIR_SOURCE_SET, WEIR_SOURCE_RECORD, WEIR_SOURCE_ROLLBACK };

/* A log that redis lost: its epoch, and the last entry that an image or a node has of that log. */
struct weir_seen {
	uint64_t mark; /* the lost epoch's mark; 0: redis lost no log */
	struct weir_log_id id;
};

struct weir_manifest {
	char set[WEIR_SET_NAME + 1];
	struct weir_version version;
	uint64_t id;
	struct weir_log_id position;
	uint64_t tag;                 /* tag of the entry at position; 0 for 0-0 */
	struct weir_version parent;   /* 0.0: no parent */
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

bool weir__set_name_is(const char *name, size_t len);

/* Return: 0; -EBADMSG the sentence names the line and its error; -ENOTSUP a later version wrote
 *   @text, or its kind cannot be replicated. */
int weir__manifest_read(struct weir_manifest *out, const char *text, size_t len);
/* Write the form that weir__manifest_read() reads. Return: bytes written. */
size_t weir__manifest_write(char text[WEIR_MANIFEST_TEXT], const struct weir_manifest *m);

/* ---- kinds that can be replicated ---- */

enum weir_replicable {
	WEIR_REPLICABLE_NOT,
	WEIR_REPLICABLE_IMAGES,  /* nodes replicate only images: the kind is built once */
	WEIR_REPLICABLE_INSERTS, /* nodes replicate inserts, in any order, perhaps twice */
};

enum weir_replicable weir__replicable(uint32_t kind);
/* Return: 0; -ENOTSUP, whose sentence has the reason. */
int weir__replicable_check(uint32_t kind);

#endif
