/* SPDX-License-Identifier: MIT
 * The image of a manifest, on the thread that waits for it (coming.h). */
#ifndef WEIR_REPLICA_IMAGE_H
#define WEIR_REPLICA_IMAGE_H

#include "redis.h"

/* A file without a name in memory, and what is in it. */
struct weir_image_file {
	int fd;
	uint64_t chunks;       /* that are here, from the first on */
	_Atomic uint64_t here; /* bytes; any thread */
	bool master;           /* alone is asked, no replica */
	bool mixed;            /* some of it is a replica's */
	char away[256];        /* why the replica is not asked any more; "" */
};

/* Return: 0; -EFBIG it is larger than this node takes; the errno of making a file. */
int weir__image_begin(const struct weir_redis *r, const struct weir_manifest *m,
                      struct weir_image_file *f);
/* Get what is lacking, by @r's connection or by HTTP; chunks that came stay after a failure.
 * Return: 0, -EAGAIN a chunk is not there, -EBADMSG one has another size; those of the connection,
 *   or of weir__fetch(). */
int weir__image_get(struct weir_redis *r, const struct weir_manifest *m, struct weir_image_file *f);
/* What does not check may be a replica's fault: begin anew, by the master alone.
 * Return: whether some of it was a replica's. */
bool weir__image_again(struct weir_image_file *f);
/* Check all of it, then load it. Return: 0; as image() of server.h. */
int weir__image_load(const struct weir_redis *r, const struct weir_manifest *m,
                     const struct weir_image_file *f, struct weir_filter **out);
void weir__image_end(struct weir_image_file *f);

#endif
