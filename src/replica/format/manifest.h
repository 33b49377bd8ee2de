/* SPDX-License-Identifier: MIT
 * The manifest of a generation names its image, and the place in the log up to which that image
 * has every key. It is text with exactly one form, so that it can be signed: lines of a name, a
 * blank and values, in this order, and each once except "has".
 *
 *     weir-generation 2
 *     set NAME                 1 to 64 letters, digits, - _ .
 *     version ERA.NUMBER       from 1.1 on
 *     id HEX                   drawn for this generation
 *     position ID HEX          the image has every key up to this log entry, whose tag is HEX
 *     parent VERSION HEX       the generation that its publisher had joined, and its id; or
 *     parent none
 *     seen HEX ID              only if redis once lost the set: the mark of the lost epoch, and
 *                              the last entry of its log that the image has
 *     source NAME              set: a node's set; record: the application's record; rollback
 *     pure                     only if the image has just its parent and the log up to the
 *                              position: a node that has both need not fetch it (U5)
 *     image HEX64 BYTES CHUNKS BLAKE2b-256 of the whole image, which names its chunks; each but
 *                              the last has WEIR_CHUNK bytes
 *     kind NAME                of the filter
 *     hashing HEX              fingerprint of its seed or key
 *     steps NUMBER             text steps applied to keys before hashing; 0: none
 *     publisher HEX            the node
 *     signed NUMBER            milliseconds since 1970, by its publisher's clock
 *     expires NUMBER           milliseconds since 1970; 0: never
 *     has HEX                  0 to WEIR_HAS lines: generations and tokens that are in the image
 *
 * The server is untrusted: the reader checks every number against the others. Only counts that are
 * bounded here decide how much memory is allocated. */
#ifndef WEIR_REPLICA_MANIFEST_H
#define WEIR_REPLICA_MANIFEST_H

#include "id.h"

enum {
	WEIR_SET_NAME = 64,             /* characters of a set's name */
	WEIR_CHUNK = (1 << 20) - 64,    /* bytes: with its header it fills 1 MiB of jemalloc */
	WEIR_CHUNKS = 1 << 20,
	WEIR_IMAGE_HASH = 32,
	WEIR_MANIFEST_TEXT = 4096,      /* bytes of a manifest, at most */
};

enum weir_source { WEIR_SOURCE_SET, WEIR_SOURCE_RECORD, WEIR_SOURCE_ROLLBACK };

/* A log that redis lost: its epoch, and the last entry of it that an image or node has. */
struct weir_seen {
	uint64_t mark; /* of the lost epoch; 0: redis lost none */
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

bool weir__set_name_is(const char *name, size_t len);

/* Return: 0; -EBADMSG the sentence names the line and its error; -ENOTSUP of a later version, or
 *   of a kind that cannot be replicated. */
int weir__manifest_read(struct weir_manifest *out, const char *text, size_t len);
/* Write the form that weir__manifest_read() takes. Return: its bytes. */
size_t weir__manifest_write(char text[WEIR_MANIFEST_TEXT], const struct weir_manifest *m);

/* ---- kinds that can be replicated ---- */

enum weir_replicable {
	WEIR_REPLICABLE_NOT,
	WEIR_REPLICABLE_IMAGES,  /* built once: by images alone */
	WEIR_REPLICABLE_INSERTS, /* inserts may repeat, and come in any order */
};

enum weir_replicable weir__replicable(uint32_t kind);
/* Return: 0; -ENOTSUP with the reason. */
int weir__replicable_check(uint32_t kind);

#endif
