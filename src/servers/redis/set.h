/* SPDX-License-Identifier: MIT
 * A set of libweir-redis whose keys are in this server. src/replica/store reads and writes the set
 * as for a node, but sends its commands within the server. The server runs one command at a time,
 * so nothing else changes the set during a command of this module. */
#ifndef WEIR_REDIS_SET_H
#define WEIR_REDIS_SET_H

#include "keys.h" /* first, since hiredis has macros REDIS_OK and REDIS_ERR */
#include "../../replica/store/parts.h"

struct set {
	struct redis_context *context;
	struct weir_redis *redis;
	struct weir_head head;          /* generation 0: the set has no generation yet */
	struct weir_manifest manifest;  /* manifest of head.generation */
};

/* Functions that return an int return 0 or a negative errno, with weir_error_detail(). */

/* Read a set's head and manifest. Refuses a signed generation, a kind other than blocked,
 * normalised keys, and a KEY whose name begins with the prefix of the set's own keys. Close @s in
 * any case.
 * @words: KEY SET name. @touch: send a heartbeat as a node does,
 *   which begins the set or an epoch if needed. */
int set_open(struct set *s, struct redis_context *context, struct redis_string **words, bool touch);
void set_close(struct set *s);
static inline const char *set_name(const struct set *s)
{
	return s->redis->o.set;
}

/* Check that set and key can be merged: the key must have one link and the seed of the set. */
int set_check_key(const struct set *s, const struct chain *c);

/* Read and check the manifest's image.
 * @most: limit in bytes of the filter's bits; 0: the size of the image's chunks, so that a
 *   compressed image cannot unpack to more memory than its chunks take in redis */
int set_image(struct set *s, uint64_t most, struct weir_filter **out);

/* Insert the hashes that follow the manifest in the log, up to the log's end ([LOG-READING]).
 * @hashing: fingerprint of the filter's seed. @batches: receives the number of batches.
 * Errors: -ENOENT an entry is missing, so @f lacks its keys. */
int set_replay(const struct set *s, struct weir_filter *f, uint64_t hashing, uint64_t *batches);

/* For weir_redis_options.call: call a command as the user who sent our command. */
int set_call(void *context, const struct iovec *args, size_t n, struct redisReply **reply);

#endif
