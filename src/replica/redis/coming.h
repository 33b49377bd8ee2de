/* SPDX-License-Identifier: MIT
 * An image on its way. It is fetched, checked and loaded on a thread of its own and by a connection
 * of its own, one at a time: it may take minutes, in which the node has to send, apply and confirm
 * inserts. All of this is called by the node's thread alone. */
#ifndef WEIR_REPLICA_COMING_H
#define WEIR_REPLICA_COMING_H

#include "redis.h"

/* image() of server.h. Chunks that have come stay after a failure, and a later call for the same
 * image goes on from there: each after a longer pause (weir__wire_backoff()), and until something
 * comes the answer is that failure. */
int weir__redis_image(void *context, const struct weir_manifest *m, struct weir_filter **out);
/* Likewise, but it waits for it. */
int weir__redis_image_await(struct weir_redis *r, const struct weir_manifest *m,
                            struct weir_filter **out);

/* Is it being fetched at this moment, so that there is nothing to ask for? */
bool weir__redis_image_comes(const struct weir_redis *r, const struct weir_manifest *m);
/* How many bytes of how many are here of what is on its way; 0 of 0: nothing is. */
void weir__redis_image_bytes(const struct weir_redis *r, uint64_t *here, uint64_t *all);
/* Give up what is on its way if it is not the image of @wanted (NULL: of none): at once, but its
 * memory is freed by a later call if its thread has not ended yet. */
void weir__redis_image_only(struct weir_redis *r, const struct weir_manifest *wanted);
/* Stop whatever is on its way, and wait for its thread, which ends at once. */
void weir__redis_image_stop(struct weir_redis *r);

/* ---- the image of a manifest, on the thread that waits for it ---- */

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
