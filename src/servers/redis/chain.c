/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include "chain.h"

enum { LINE = 64 /* alignment of a blocked filter's bits */, TAIL = 65536 * LINE /* shards */ };

/* ---- links ---- */

/* Make the filter of a blocked link. Capacity and size are given, so weir solves no formula. */
static int make_filter(const struct chain *c, struct chain_link *l, const struct chain_form *form)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	unsigned char *base = c->memory->get(form->bytes + LINE);
	if (!base)
		return weir_fail(-ENOMEM, "no memory for a link of %llu bytes",
		                 (unsigned long long)form->bytes);
	l->pad = (uint8_t)(LINE - (uintptr_t)base % LINE);
	l->bits = base + l->pad;
	p.kind = WEIR_BLOCKED;
	p.capacity = form->capacity;
	p.max_bytes = form->bytes;
	p.seed = c->seed;
	p.blocked.words_per_key = form->words_per_key;
	p.blocked.bits_per_word = form->bits_per_word;
	p.memory = l->bits;
	p.memory_bytes = form->bytes;
	int err = weir_create(&l->filter, &p);
	if (err) {
		c->memory->put(base);
		return err;
	}
	/* weir clears the bits that it uses, a whole number of lines a shard. Dumps have all bytes,
	 * which must not be what another key left here. */
	size_t tail = form->bytes < TAIL ? form->bytes : TAIL;
	memset(l->bits + form->bytes - tail, 0, tail);
	l->words_per_key = (uint8_t)form->words_per_key;
	l->bits_per_word = (uint8_t)form->bits_per_word;
	return 0;
}

/* Put an empty link at @at, which has room for the bits if the link is compact. */
static int fill_link(struct chain *c, struct chain_link *at, const struct chain_form *form)
{
	*at = (struct chain_link){ .older = c->newest, .capacity = form->capacity,
		                   .bytes = form->bytes, .probes = form->probes,
		                   .n2 = form->n2 };
	if (form->probes) {
		at->error = form->error;
		at->bits = (unsigned char *)(at + 1);
		memset(at->bits, 0, form->bytes);
	} else {
		int err = make_filter(c, at, form);
		if (err)
			return err;
	}
	c->newest = at;
	c->links++;
	return 0;
}

static size_t room_for(const struct chain_form *form)
{
	return sizeof(struct chain_link) + (form->probes ? form->bytes : 0);
}

static int check_most(const struct chain *c, const struct chain_form *form, uint64_t most)
{
	uint64_t bytes = chain_bytes(c);
	if (!most || (form->bytes <= most && bytes <= most - form->bytes))
		return 0;
	return weir_fail(-EFBIG, "the key would need %llu bytes, max-bytes is %llu",
	                 (unsigned long long)(bytes + form->bytes), (unsigned long long)most);
}

static int check_links(const struct chain *c)
{
	if (c->links < (chain_scales(c) ? CHAIN_LINKS : 1))
		return 0;
	return weir_fail(-EFBIG, "a chain has at most %d links, and 1 if it does not scale",
	                 CHAIN_LINKS);
}

int chain_append(struct chain *c, const struct chain_form *form, uint64_t most)
{
	int err = check_links(c);
	if (!err)
		err = chain_form_check(form, c->layout);
	if (!err)
		err = check_most(c, form, most);
	if (err)
		return err;
	struct chain_link *l = c->memory->get(room_for(form));
	if (!l)
		return weir_fail(-ENOMEM, "no memory for a link of %llu bytes",
		                 (unsigned long long)form->bytes);
	err = fill_link(c, l, form);
	if (err)
		c->memory->put(l);
	return err;
}

int chain_grow(struct chain *c, uint64_t most)
{
	struct chain_settings s = chain_settings_of(c);
	struct chain_form form;
	int err = check_links(c); /* first: chain_size() divides by the expansion */
	if (!err)
		err = chain_size(&s, c->links, &form);
	return err ? err : chain_append(c, &form, most);
}

/* Free what belongs to the newest link, except the link itself. Return: the link. */
static struct chain_link *empty_newest(struct chain *c)
{
	struct chain_link *l = c->newest;
	if (!l->probes) {
		weir_destroy(l->filter);
		c->memory->put(l->bits - l->pad);
	}
	c->newest = l->older;
	c->links--;
	return l;
}

void chain_shrink(struct chain *c)
{
	c->memory->put(empty_newest(c));
}

unsigned chain_list(const struct chain *c, struct chain_link *out[CHAIN_LINKS])
{
	unsigned i = c->links;
	for (struct chain_link *l = c->newest; l; l = l->older)
		out[--i] = l;
	return c->links;
}

struct chain_form chain_form_of(const struct chain_link *l)
{
	return (struct chain_form){ .capacity = l->capacity, .bytes = l->bytes,
		.probes = l->probes, .words_per_key = l->words_per_key,
		.bits_per_word = l->bits_per_word, .error = l->probes ? l->error : 0,
		.n2 = l->n2 };
}

/* ---- chains ---- */

static int check(const struct chain_settings *s)
{
	if (!(s->error > 0 && s->error < 1))
		return weir_fail(-EINVAL, "error rate %g is not between 0 and 1", s->error);
	if (!s->capacity || s->capacity > CHAIN_CAPACITY_MOST)
		return weir_fail(-EINVAL, "capacity %llu is not in 1 to %llu",
		                 (unsigned long long)s->capacity,
		                 (unsigned long long)CHAIN_CAPACITY_MOST);
	bool own = s->layout == CHAIN_OWN;
	if (s->expansion > CHAIN_EXPANSION_MOST || own != !!s->seed)
		return weir_fail(-EINVAL, "expansion %llu is above %u, or the seed is wrong",
		                 (unsigned long long)s->expansion, CHAIN_EXPANSION_MOST);
	if (own ? s->options != 0 : !redisbloom_are_options(s->options))
		return weir_fail(-EINVAL, "options %#x are unknown", s->options);
	if (!own && !s->expansion && !(s->options & REDISBLOOM_NO_SCALING))
		return weir_fail(-EINVAL, "a filter of RedisBloom's that scales has growth 0");
	return 0;
}

/* The first link lies in the chain's own allocation, so a key with one compact link has only that
 * one. */
int chain_create_as(struct chain **out, const struct chain_settings *s,
                    const struct chain_form *first, uint64_t most,
                    const struct chain_memory *memory)
{
	struct chain none = { .links = 0 };
	int err = check(s);
	if (!err)
		err = chain_form_check(first, s->layout);
	if (!err)
		err = check_most(&none, first, most);
	if (err)
		return err;
	struct chain *c = memory->get(sizeof *c + room_for(first));
	if (!c)
		return weir_fail(-ENOMEM, "no memory for a key of %llu bytes",
		                 (unsigned long long)first->bytes);
	*c = (struct chain){ .memory = memory, .error = s->error, .capacity = s->capacity,
		             .seed = s->seed, .expansion = (uint32_t)s->expansion,
		             .layout = (uint8_t)s->layout, .options = (uint8_t)s->options };
	err = fill_link(c, (struct chain_link *)(c + 1), first);
	if (err)
		memory->put(c);
	else
		*out = c;
	return err;
}

int chain_create(struct chain **out, const struct chain_settings *settings, uint64_t most,
                 const struct chain_memory *memory)
{
	struct chain_form form;
	int err = check(settings);
	if (!err)
		err = chain_size(settings, 0, &form);
	return err ? err : chain_create_as(out, settings, &form, most, memory);
}

void chain_destroy(struct chain *c)
{
	if (!c)
		return;
	while (c->links > 1)
		chain_shrink(c);
	(void)empty_newest(c);
	c->memory->put(c);
}

struct chain_settings chain_settings_of(const struct chain *c)
{
	return (struct chain_settings){ c->error, c->capacity, c->seed, c->expansion, c->layout,
		                        c->options };
}

bool chain_scales(const struct chain *c)
{
	return c->expansion && !(c->options & REDISBLOOM_NO_SCALING);
}

static void copy_link(struct chain_link *to, const struct chain_link *from)
{
	memcpy(to->bits, from->bits, from->bytes);
	to->items = from->items;
}

int chain_copy(struct chain **out, const struct chain *from)
{
	struct chain_settings s = chain_settings_of(from);
	struct chain_link *link[CHAIN_LINKS];
	struct chain_form form;
	struct chain *c;
	unsigned n = chain_list(from, link);
	form = chain_form_of(link[0]);
	int err = chain_create_as(&c, &s, &form, 0, from->memory);
	if (err)
		return err;
	copy_link(c->newest, link[0]);
	for (unsigned i = 1; !err && i < n; i++) {
		form = chain_form_of(link[i]);
		err = chain_append(c, &form, 0);
		if (!err)
			copy_link(c->newest, link[i]);
	}
	if (err)
		chain_destroy(c);
	else
		*out = c;
	return err;
}

uint64_t chain_all_capacity(const struct chain *c)
{
	uint64_t sum = 0;
	for (const struct chain_link *l = c->newest; l; l = l->older)
		sum += l->capacity;
	return sum;
}

uint64_t chain_items(const struct chain *c)
{
	uint64_t sum = 0;
	for (const struct chain_link *l = c->newest; l; l = l->older)
		sum += l->items;
	return sum;
}

uint64_t chain_bytes(const struct chain *c)
{
	uint64_t sum = 0;
	for (const struct chain_link *l = c->newest; l; l = l->older)
		sum += l->bytes;
	return sum;
}

size_t chain_usage(const struct chain *c)
{
	size_t sum = c->memory->size((void *)c);
	for (struct chain_link *l = c->newest; l; l = l->older) {
		sum += l->older ? c->memory->size(l) : 0; /* the first lies in the chain */
		if (!l->probes)
			sum += c->memory->size(l->bits - l->pad);
	}
	return sum;
}

