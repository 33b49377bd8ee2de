/* SPDX-License-Identifier: MIT
 * The manifest of a generation: which image it is, and the place in the stream up to which that
 * image has everything. It is text of one form only, so that it can be signed: lines of a name, a
 * blank and values, each name once and in this order.
 *
 *     weir-manifest 1
 *     set NAME                     1 to 64 letters, digits, - _ .
 *     epoch HEX                    L1
 *     generation NUMBER            from 1 on
 *     base NUMBER                  the generation that it replaces; 0: none
 *     lineage HEX                  drawn for the first generation, which has no base, and the same
 *                                  of all since (L12)
 *     position ID                  L6
 *     entries NUMBER               ever added to the stream up to there (L7)
 *     covered ID                   the position of the generation that it replaces, if that is of
 *                                  the same epoch, else 0-0 (L3)
 *     kind NAME                    of the filter, as in manifest.h
 *     hashing HEX                  fingerprint of seed or key (weir_image_inspect())
 *     stream keys                  if batches are of keys, so that another generation may be of
 *                                  another seed (L13)
 *     source set                   if nothing was taken out: the image has what a node's set had,
 *                                  or a key and the generation before. Who has more keeps it (L12)
 *     source record                or if it was made from the application's record (L13). Neither
 *                                  stands there if it is a generation of before, published again
 *     follows CHECKSUM             if the image has nothing but what that of the generation that it
 *                                  replaces, of this checksum, and the stream up to the position
 *                                  have: who has those need not get it (L11)
 *     image BYTES CHECKSUM         XXH3, 128 bits, of the whole image
 *     chunks NUMBER BYTES HEX      of so many bytes each, the last maybe fewer; the number in
 *                                  their names is drawn each time an image is stored
 *     publisher HEX                the node's id
 *     published NUMBER             milliseconds of the server's clock
 *     path TEXT                    if it is got by HTTP: below the base URL that nodes are given
 *     origin HEX NUMBER            L8, one a node, ascending
 *
 * It comes from a server that may be anybody's: every number is checked against the others, and
 * nothing that it says decides how much memory is taken but the counts that are bounded here. */
#ifndef WEIR_REPLICA_MANIFEST_H
#define WEIR_REPLICA_MANIFEST_H

#include <stddef.h>
#include <stdint.h>
#include "cursor.h"
#include "number.h"
#include "origins.h"

enum {
	WEIR_MANIFEST_NAME = 64,        /* characters of a set's name */
	WEIR_MANIFEST_PATH = 255,       /* of a path */
	WEIR_MANIFEST_TEXT = 4 << 20,   /* bytes of a manifest: 65,536 origins fit */
	WEIR_MANIFEST_CHUNK = 64 << 20, /* bytes of a chunk, at most */
	WEIR_MANIFEST_CHUNKS = 1 << 20,
};

enum weir_source {
	WEIR_SOURCE_AGAIN, /* of before: no line says it */
	WEIR_SOURCE_SET,
	WEIR_SOURCE_RECORD,
};

struct weir_manifest {
	char set[WEIR_MANIFEST_NAME + 1];
	char epoch[WEIR_REPLICA_EPOCH + 1];
	uint64_t generation, base, lineage;
	struct weir_cursor cursor; /* position and entries */
	struct weir_stream_id covered;
	uint32_t kind;
	uint64_t hashing;
	bool of_keys; /* its line "stream" */
	enum weir_source source;
	bool follows;
	uint64_t followed[2]; /* if it does: the checksum */
	uint64_t bytes, checksum[2]; /* of the image; the checksum's high half first */
	uint64_t chunks, chunk_bytes, stored;
	uint64_t publisher;
	uint64_t published_ms;
	char path[WEIR_MANIFEST_PATH + 1]; /* "": none */
};

/* Is this a set's name? */
bool weir__set_name_is(const char *name, size_t len);
/* Is this a path below a base URL: parts of letters, digits, - _ . joined by single slashes, none
 * of them "." or ".."? */
bool weir__manifest_path_is(const char *path, size_t len);

/* Read @text. @origins: receives those of its lines; from zeros, freed by the caller also after a
 * failure.
 * Return: 0; -EBADMSG with the line and what is wrong there; -ENOTSUP a later version's, or a kind
 *   that cannot be replicated; -ENOMEM. */
int weir__manifest_read(struct weir_manifest *out, struct weir_origins *origins, const char *text,
                        size_t len);
/* Write a manifest that weir__manifest_read() would take.
 * @text: receives malloc'ed text of @len bytes. Return: 0 or -ENOMEM. */
int weir__manifest_write(char **text, size_t *len, const struct weir_manifest *m,
                         const struct weir_origins *origins);
/* Before it is published: what no node could read would stay there, in the way of every other.
 * Return: as weir__manifest_read(). */
int weir__manifest_check(const char *text, size_t len);

/* ---- which kinds can be the same on every node ---- */

enum weir_replicable {
	WEIR_REPLICABLE_NOT,
	WEIR_REPLICABLE_IMAGES,  /* built once: images alone */
	WEIR_REPLICABLE_INSERTS, /* an insert may come twice, and inserts in any order */
};

enum weir_replicable weir__replicable(uint32_t kind);
/* Return: 0; -ENOTSUP with the reason. */
int weir__replicable_check(uint32_t kind);
/* The kind of that name. Return: 0; -ENOTSUP it is unknown, or cannot be replicated. */
int weir__replicable_named(uint32_t *out, const char *name, size_t len);

#endif
