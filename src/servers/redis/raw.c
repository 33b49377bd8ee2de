/* SPDX-License-Identifier: MIT
 * The headers, little-endian and packed. BF: 8 bytes items, 4 links, 4 options, 4 growth, then for
 * each link 8 bytes, 8 bits, 8 items, 8 error, 8 bits for each item, 4 probes, 8 capacity, 1 n2.
 * Before RedisBloom 2.2 the growth was always 2 and left out, and a capacity had 4 bytes. CF: 8
 * items, 8 buckets, 8 deleted, 8 sub filters, 2 bucket size, 2 iterations, 2 expansion. Before 2.2
 * the last three were always 2, 20 and 1 and left out; a key with the hash of that time keeps this
 * header.
 *
 * The option REDISBLOOM_SERVER_HASH is in our headers only. RedisBloom refuses it, since it would
 * miss the items. */
#include <errno.h>
#include <string.h>
#include "keys.h"
#include "limit.h"
#include "raw.h"

enum { BF_HEAD = 20, BF_LINK = 53, OLD_HEAD = 16, OLD_LINK = 49, CF_HEAD = 38,
       OLD_CF_HEAD = 32 };
_Static_assert(BF_HEAD + (size_t)BF_LINK * CHAIN_LINKS == RAW_CHAIN_MOST, "bytes");

/* ---- fields ---- */

struct reader {
	const unsigned char *at;
};

static uint64_t take(struct reader *r, unsigned bytes)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < bytes; i++)
		n |= (uint64_t)*r->at++ << 8 * i;
	return n;
}

static double take_double(struct reader *r)
{
	uint64_t n = take(r, 8);
	double d;
	memcpy(&d, &n, sizeof d);
	return d;
}

static void give(unsigned char **at, uint64_t n, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*(*at)++ = (unsigned char)(n >> 8 * i);
}

static void give_double(unsigned char **at, double d)
{
	uint64_t n;
	memcpy(&n, &d, sizeof n);
	give(at, n, 8);
}

int raw_check_memory(uint64_t bytes)
{
	return limit_allows(bytes) ? 0 : weir_fail(-ENOMEM, "no memory for arrays of %llu bytes",
	                                           (unsigned long long)bytes);
}

/* ---- BF ---- */

/* Return: what RedisBloom records about a link. */
static struct redisbloom_link raw_link(const struct chain_link *l)
{
	return (struct redisbloom_link){ .bytes = l->bytes, .bits = l->n2 ? 0 : 8 * l->bytes,
		.items = l->items, .error = l->error,
		.bits_per_item = redisbloom_bits_per_item(l->error), .probes = l->probes,
		.capacity = l->capacity, .n2 = l->n2 };
}

size_t raw_put_chain(const struct chain *c, unsigned char *out)
{
	struct chain_link *link[CHAIN_LINKS];
	unsigned n = chain_list(c, link);
	unsigned char *at = out;
	give(&at, chain_items(c), 8);
	give(&at, n, 4);
	give(&at, c->options, 4);
	give(&at, c->expansion, 4);
	for (unsigned i = 0; i < n; i++) {
		struct redisbloom_link l = raw_link(link[i]);
		give(&at, l.bytes, 8);
		give(&at, l.n2 ? 8 * l.bytes : l.bits, 8);
		give(&at, l.items, 8);
		give_double(&at, l.error);
		give_double(&at, l.bits_per_item);
		give(&at, l.probes, 4);
		give(&at, l.capacity, 8);
		give(&at, l.n2, 1);
	}
	return (size_t)(at - out);
}

int raw_append(struct chain **c, const struct redisbloom_link *l, uint32_t growth,
               uint32_t options, uint64_t most)
{
	struct chain_settings s = { .error = l->error, .capacity = l->capacity,
		                    .expansion = growth, .layout = CHAIN_REDISBLOOM,
		                    .options = options };
	struct chain_form form = { .capacity = l->capacity, .bytes = l->bytes, .probes = l->probes,
		                   .error = l->error, .n2 = l->n2 };
	const char *wrong = redisbloom_check(l);
	if (wrong)
		return weir_fail(-EBADMSG, "a link has %s", wrong);
	if (l->items > CHAIN_CAPACITY_MOST)
		return weir_fail(-EBADMSG, "a link has %llu items, more than there can be",
		                 (unsigned long long)l->items);
	int err = *c ? chain_append(*c, &form, most)
	             : chain_create_as(c, &s, &form, most, &key_memory);
	if (!err)
		(*c)->newest->items = l->items;
	return err;
}

static struct redisbloom_link take_link(struct reader *r, bool old)
{
	struct redisbloom_link l;
	l.bytes = take(r, 8);
	l.bits = take(r, 8);
	l.items = take(r, 8);
	l.error = take_double(r);
	l.bits_per_item = take_double(r);
	l.probes = (uint32_t)take(r, 4);
	l.capacity = take(r, old ? 4 : 8);
	l.n2 = (uint8_t)take(r, 1);
	return l;
}

uint32_t raw_old_options(uint32_t options)
{
	bool server = options & REDISBLOOM_HASH64 && !(options & REDISBLOOM_BITS) &&
	              key_options.server_hash;
	return options | (server ? REDISBLOOM_SERVER_HASH : 0);
}

int raw_make_chain(const unsigned char *header, size_t bytes, uint64_t most, struct chain **out)
{
	struct reader r = { header };
	struct chain *c = NULL;
	if (bytes < OLD_HEAD)
		return weir_fail(-EBADMSG, "a header of %zu bytes is too short", bytes);
	uint64_t items = take(&r, 8), links = take(&r, 4), sum = 0;
	uint32_t options = (uint32_t)take(&r, 4), growth = 2;
	bool old = bytes == OLD_HEAD + OLD_LINK * links;
	if (!links || links > CHAIN_LINKS || !redisbloom_are_options(options) ||
	    (!old && bytes != BF_HEAD + BF_LINK * links))
		return weir_fail(-EBADMSG, "a header of %zu bytes does not have %llu links with "
		                 "options %#x", bytes, (unsigned long long)links, options);
	if (!old)
		growth = (uint32_t)take(&r, 4);
	else
		options = raw_old_options(options);
	struct reader ahead = r;
	uint64_t all = 0;
	for (uint64_t i = 0; i < links; i++)
		all = raw_sum(all, take_link(&ahead, old).bytes);
	int err = raw_check_memory(all);
	for (uint64_t i = 0; !err && i < links; i++) {
		struct redisbloom_link l = take_link(&r, old);
		sum += l.items;
		err = raw_append(&c, &l, growth, options, most);
	}
	if (!err && sum != items)
		err = weir_fail(-EBADMSG, "the links have %llu items, the header has %llu",
		                (unsigned long long)sum, (unsigned long long)items);
	if (err)
		chain_destroy(c);
	else
		*out = c;
	return err;
}

/* ---- CF ---- */

size_t raw_put_cuckoo(const struct cuckoo *c, unsigned char *out)
{
	unsigned char *at = out;
	give(&at, c->items, 8);
	give(&at, c->buckets, 8);
	give(&at, c->deleted, 8);
	give(&at, c->subs, 8);
	if (c->old_hash)
		return (size_t)(at - out);
	give(&at, c->bucket, 2);
	give(&at, c->iterations, 2);
	give(&at, c->expansion, 2);
	return (size_t)(at - out);
}

int raw_make_subs(struct cuckoo **out, const struct cuckoo_settings *s, uint64_t subs,
                  uint64_t most)
{
	struct cuckoo shape = { .buckets = s->buckets, .bucket = (uint8_t)s->bucket,
		                .expansion = (uint16_t)s->expansion }, *c;
	uint64_t all = 0;
	for (uint64_t j = 0; j < (shape.expansion ? subs : 1); j++) {
		uint64_t bytes = cuckoo_sub_bytes(&shape, (unsigned)j);
		all = raw_sum(all, bytes ? bytes : UINT64_MAX);
	}
	int err = subs > key_subs_most() ? weir_fail(-EFBIG, "too many sub filters")
	                                 : raw_check_memory(all);
	if (!err)
		err = cuckoo_create(&c, s, most, &key_memory);
	if (err)
		return err;
	while (!err && c->subs < subs)
		err = cuckoo_grow(c, most);
	if (err)
		cuckoo_destroy(c);
	else
		*out = c;
	return err;
}

int raw_make_cuckoo(const unsigned char *header, size_t bytes, uint64_t most,
                    struct cuckoo **out)
{
	struct reader r = { header };
	struct cuckoo_settings s = { .bucket = 2, .iterations = 20, .expansion = 1,
		                     .old_hash = bytes == OLD_CF_HEAD };
	if (bytes != CF_HEAD && !s.old_hash)
		return weir_fail(-EBADMSG, "a header of %zu bytes is not one of CF", bytes);
	uint64_t items = take(&r, 8);
	s.buckets = take(&r, 8);
	uint64_t deleted = take(&r, 8), subs = take(&r, 8);
	if (!s.old_hash) {
		s.bucket = take(&r, 2);
		s.iterations = take(&r, 2);
		s.expansion = take(&r, 2);
	}
	if (!subs || subs > CUCKOO_SUBS || (subs > 1 && !s.expansion) || deleted >= CHAIN_NUMBERS ||
	    items >= CHAIN_NUMBERS)
		return weir_fail(-ERANGE, "no filter has %llu sub filters, %llu items or %llu "
		                 "deleted items", (unsigned long long)subs,
		                 (unsigned long long)items, (unsigned long long)deleted);
	int err = raw_make_subs(out, &s, subs, most);
	if (!err)
		(*out)->deleted = deleted;
	return err;
}
