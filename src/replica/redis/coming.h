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

#endif
