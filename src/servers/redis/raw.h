/* SPDX-License-Identifier: MIT
 * RedisBloom's headers of a dump, by which its keys come and go. */
#ifndef WEIR_REDIS_RAW_H
#define WEIR_REDIS_RAW_H

#include "chain.h"
#include "cuckoo.h"

/* The most bytes of a header of BF. */
enum { RAW_CHAIN_MOST = 20 + 53 * CHAIN_LINKS };
/* Write the header of a key in RedisBloom's layout. Return: the number of bytes. */
size_t raw_put_chain(const struct chain *c, unsigned char *out);
size_t raw_put_cuckoo(const struct cuckoo *c, unsigned char *out);
/* Make an empty key from a header, which may come from an enemy. Return: 0 or a negative errno. */
int raw_make_chain(const unsigned char *header, size_t bytes, uint64_t most, struct chain **out);
int raw_make_cuckoo(const unsigned char *header, size_t bytes, uint64_t most,
                    struct cuckoo **out);

/* Refuse a header before its arrays are filled, since that may take minutes. Return: 0, or -ENOMEM
 * if memory of @bytes is not left. */
int raw_check_memory(uint64_t bytes);
/* Return: the sum, or UINT64_MAX. */
static inline uint64_t raw_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}
/* Make a filter of @subs empty sub filters. */
int raw_make_subs(struct cuckoo **out, const struct cuckoo_settings *s, uint64_t subs,
                  uint64_t most);

/* Append a link to a chain of RedisBloom's layout, or make the chain. @c: the chain, or NULL, which
 * receives the chain. @growth, @options: of the chain. Return: 0 or a negative errno; the caller
 * destroys the chain. */
int raw_append(struct chain **c, const struct redisbloom_link *l, uint32_t growth,
               uint32_t options, uint64_t most);
/* Return: the options of a key from before RedisBloom 2.2, with REDISBLOOM_SERVER_HASH if
 * loadmodule had the argument redisbloom-2.0.1. */
uint32_t raw_old_options(uint32_t options);

#endif
