/* SPDX-License-Identifier: MIT
 * The value of a chain, in BF keys and in windows: a string with the numbers of the chain and of
 * its links, and a string with the bits of each link.
 *
 * Redis tries to compress each string of more than 20 bytes, and that is most of what a small key
 * costs. So the numbers are as short as they can be: those of a key of BF.ADD have 18 bytes. */
#include <errno.h>
#include <string.h>
#include "rdb.h"

enum { NUMBER_MOST = 10, LINK_MOST = 8 * NUMBER_MOST, TEXT_MOST = LINK_MOST * (1 + CHAIN_LINKS) };

/* ---- numbers: 7 bits a byte, the least first; the last byte is below 128 ---- */

static unsigned char *put(unsigned char *at, uint64_t n)
{
	for (; n >= 128; n >>= 7)
		*at++ = (unsigned char)(n | 128);
	*at++ = (unsigned char)n;
	return at;
}

static unsigned char *put_fixed(unsigned char *at, uint64_t n)
{
	n = key_little(n);
	memcpy(at, &n, 8);
	return at + 8;
}

/* An error rate is mostly one of 1 / n, such as 0.01, and then n has few bytes. */
static unsigned char *put_error(unsigned char *at, double error)
{
	double n = 1 / error;
	uint64_t whole = n >= 1 && n < UINT32_MAX ? (uint64_t)(n + 0.5) : 0, bits;
	if (whole && 1 / (double)whole == error)
		return put(at, whole);
	memcpy(&bits, &error, 8);
	return put_fixed(put(at, 0), bits);
}

/* A string that is read from its begin. @wrong: it ended early, or a number is too long. */
struct reader {
	const unsigned char *at, *end;
	bool wrong;
};

static uint64_t get(struct reader *r)
{
	uint64_t n = 0;
	for (unsigned shift = 0; r->at < r->end && shift < 64; shift += 7) {
		n |= (uint64_t)(*r->at & 127) << shift;
		if (*r->at++ < 128)
			return n;
	}
	r->wrong = true;
	return 0;
}

static uint64_t get_fixed(struct reader *r)
{
	uint64_t n = 0;
	r->wrong |= r->end - r->at < 8;
	if (!r->wrong) {
		memcpy(&n, r->at, 8);
		r->at += 8;
	}
	return key_little(n);
}

static double get_error(struct reader *r)
{
	uint64_t n = get(r);
	double error = 1 / (double)n;
	if (!n) {
		n = get_fixed(r);
		memcpy(&error, &n, 8);
	}
	return error;
}

/* ---- writing ---- */

static unsigned char *put_link(unsigned char *at, const struct chain_link *l, bool own)
{
	struct chain_form f = chain_form_of(l);
	at = put(at, f.capacity);
	at = put(at, l->items);
	at = put(at, f.bytes);
	at = put(at, f.probes);
	if (!f.probes)
		at = put(put(at, f.words_per_key), f.bits_per_word);
	return own ? at : put_error(put(at, f.n2), f.error);
}

void rdb_save_chain(struct redis_io *io, const struct chain *c)
{
	unsigned char text[TEXT_MOST], *at = text;
	struct chain_link *link[CHAIN_LINKS];
	unsigned n = chain_list(c, link);
	at = put(at, c->layout | c->options << 1);
	at = put_fixed(at, c->seed);
	at = put(at, c->expansion);
	at = put(at, c->capacity);
	at = put_error(at, c->error);
	at = put(at, n);
	for (unsigned i = 0; i < n; i++)
		at = put_link(at, link[i], c->layout == CHAIN_OWN);
	redis.SaveStringBuffer(io, (const char *)text, (size_t)(at - text));
	for (unsigned i = 0; i < n; i++)
		redis.SaveStringBuffer(io, (const char *)link[i]->bits, link[i]->bytes);
}

/* ---- reading ---- */

/* Make or lengthen the chain by a link with the form @f and the bits @bits. */
static int append(struct chain **c, const struct chain_settings *s, const struct chain_form *f,
                  uint64_t items, const char *bits)
{
	if (items > (s->layout == CHAIN_OWN ? f->capacity : CHAIN_CAPACITY_MOST))
		return weir_fail(-EBADMSG, "a link has %llu items, its capacity is %llu",
		                 (unsigned long long)items, (unsigned long long)f->capacity);
	uint64_t most = key_most_for_value();
	struct chain_settings first = *s;
	if (s->layout == CHAIN_REDISBLOOM) { /* these are the first link's, as in RedisBloom */
		first.error = f->error;
		first.capacity = f->capacity;
	}
	int err = *c ? chain_append(*c, f, most) : chain_create_as(c, &first, f, most, &key_memory);
	if (err)
		return err;
	memcpy((*c)->newest->bits, bits, f->bytes);
	(*c)->newest->items = items;
	return 0;
}

/* Read the string of a link's bits, and append the link. Its size is that of the bits, so a value
 * takes no more memory than its strings have. */
static int load_bits(struct redis_io *io, struct chain **c, const struct chain_settings *s,
                     const struct chain_form *f, uint64_t items)
{
	size_t bytes = 0;
	char *bits = redis.LoadStringBuffer(io, &bytes);
	if (!bits || redis.IsIOError(io))
		return rdb_ended();
	int err = bytes == f->bytes
	                  ? append(c, s, f, items, bits)
	                  : weir_fail(-EBADMSG, "a link of %llu bytes has %zu",
	                              (unsigned long long)f->bytes, bytes);
	redis.Free(bits);
	return err;
}

static uint32_t get_small(struct reader *r)
{
	uint64_t n = get(r);
	r->wrong |= n > UINT8_MAX;
	return (uint32_t)n;
}

static int load_link(struct redis_io *io, struct reader *r, struct chain **c,
                     const struct chain_settings *s)
{
	struct chain_form f = { .capacity = get(r) };
	uint64_t items = get(r);
	f.bytes = get(r);
	uint64_t probes = get(r);
	r->wrong |= probes > UINT16_MAX;
	f.probes = (uint32_t)probes;
	if (!f.probes) {
		f.words_per_key = get_small(r);
		f.bits_per_word = get_small(r);
	}
	if (s->layout == CHAIN_REDISBLOOM) {
		f.n2 = (uint8_t)get_small(r);
		f.error = get_error(r);
	}
	return r->wrong ? rdb_ended() : load_bits(io, c, s, &f, items);
}

static int load_links(struct redis_io *io, struct reader *r, struct chain **c)
{
	uint64_t layout = get_small(r);
	struct chain_settings s = { .layout = layout & 1 ? CHAIN_REDISBLOOM : CHAIN_OWN,
		                    .options = (uint32_t)layout >> 1, .seed = get_fixed(r) };
	s.expansion = get(r);
	s.capacity = get(r);
	s.error = get_error(r);
	uint64_t links = get(r);
	if (r->wrong || !links)
		return rdb_ended();
	int err = 0;
	for (uint64_t i = 0; !err && i < links; i++)
		err = load_link(io, r, c, &s);
	if (!err && r->at != r->end)
		err = weir_fail(-EBADMSG, "a chain has numbers of more than %llu links",
		                (unsigned long long)links);
	return err;
}

int rdb_load_chain(struct redis_io *io, struct chain **c)
{
	size_t bytes = 0;
	char *text = redis.LoadStringBuffer(io, &bytes);
	if (!text || redis.IsIOError(io))
		return rdb_ended();
	struct reader r = { (unsigned char *)text, (unsigned char *)text + bytes, false };
	int err = load_links(io, &r, c);
	redis.Free(text);
	return err;
}
