/* SPDX-License-Identifier: MIT
 * The links of a chain. */
#include <errno.h>
#include <string.h>
#include "chain.h"

enum { LINE = 64 }; /* what a filter's memory is aligned to */
static const double ERROR_MOST = 0.25, ERROR_LEAST = 1e-9;
static const uint64_t CAPACITY_MOST = UINT64_C(1) << 48;

/* ---- what link number n is ---- */

static double error_of(const struct chain_settings *s, size_t n)
{
	double error = s->error < ERROR_MOST ? s->error : ERROR_MOST;
	for (size_t i = s->expansion ? 0 : 1; i <= n; i++)
		error /= 2;
	return error > ERROR_LEAST ? error : ERROR_LEAST;
}

static uint64_t capacity_of(const struct chain_settings *s, size_t n)
{
	uint64_t capacity = s->capacity;
	for (size_t i = 0; i < n && capacity < CAPACITY_MOST; i++)
		capacity = capacity > CAPACITY_MOST / s->expansion ? CAPACITY_MOST
		                                                   : capacity * s->expansion;
	return capacity;
}

static struct weir_params params_of(const struct chain_settings *s, size_t n)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = capacity_of(s, n);
	p.fp_rate = error_of(s, n);
	p.seed = s->seed + n ? s->seed + n : 1;
	return p;
}

/* ---- links ---- */

unsigned char *chain_bits(const struct chain_link *l)
{
	return (unsigned char *)l->memory + (LINE - (uintptr_t)l->memory % LINE);
}

static int make_link(struct chain *c, struct chain_link *out, const struct weir_params *like)
{
	struct weir_params p = *like;
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = weir_plan(&p, &plan);
	if (err)
		return err;
	*out = (struct chain_link){ .capacity = p.capacity, .bytes = plan.bytes };
	out->memory = c->memory->get(plan.bytes + LINE);
	if (!out->memory)
		return weir_fail(-ENOMEM, "no memory for a link of %llu bytes",
		                 (unsigned long long)plan.bytes);
	p.memory = chain_bits(out);
	p.memory_bytes = plan.bytes;
	err = weir_create(&out->filter, &p);
	if (err)
		c->memory->put(out->memory);
	return err;
}

static void free_link(struct chain *c, struct chain_link *l)
{
	weir_destroy(l->filter);
	c->memory->put(l->memory);
}

int chain_grow(struct chain *c, uint64_t most)
{
	struct weir_params p = params_of(&c->settings, c->links);
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (c->links == CHAIN_LINKS)
		return weir_fail(-EFBIG, "a chain has at most %d links", CHAIN_LINKS);
	int err = weir_plan(&p, &plan);
	if (err)
		return err;
	if (most && plan.bytes + chain_bytes(c) > most)
		return weir_fail(-EFBIG, "the key would need %llu bytes, max-bytes is %llu",
		                 (unsigned long long)(plan.bytes + chain_bytes(c)),
		                 (unsigned long long)most);
	err = make_link(c, &c->link[c->links], &p);
	c->links += !err;
	return err;
}

void chain_shrink(struct chain *c)
{
	free_link(c, &c->link[--c->links]);
}

/* ---- chains ---- */

int chain_begin(struct chain **out, const struct chain_settings *s,
                const struct chain_memory *memory)
{
	if (!(s->error > 0 && s->error < 1))
		return weir_fail(-EINVAL, "error rate %g is not between 0 and 1", s->error);
	if (!s->capacity || s->capacity > UINT64_C(1) << 30)
		return weir_fail(-EINVAL, "capacity %llu is not in 1 to 1073741824",
		                 (unsigned long long)s->capacity);
	if (s->expansion > 32768 || !s->seed)
		return weir_fail(-EINVAL, "expansion %llu is above 32768, or the seed is 0",
		                 (unsigned long long)s->expansion);
	struct chain *c = memory->get(sizeof *c);
	if (!c)
		return weir_fail(-ENOMEM, "no memory for a chain");
	memset(c, 0, sizeof *c);
	c->settings = *s;
	c->memory = memory;
	*out = c;
	return 0;
}

int chain_create(struct chain **out, const struct chain_settings *settings, uint64_t most,
                 const struct chain_memory *memory)
{
	struct chain *c;
	int err = chain_begin(&c, settings, memory);
	if (err)
		return err;
	err = chain_grow(c, most);
	if (err)
		chain_destroy(c);
	else
		*out = c;
	return err;
}

void chain_destroy(struct chain *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->links; i++)
		free_link(c, &c->link[i]);
	c->memory->put(c);
}

/* A link with the bits of another filter, in memory of the chain's own. */
static int append_like(struct chain *c, const struct weir_filter *from, uint64_t items)
{
	struct weir_params p = params_of(&c->settings, c->links);
	struct chain_link *l = &c->link[c->links];
	int err = make_link(c, l, &p);
	if (err)
		return err;
	err = weir_merge(l->filter, from);
	if (err) {
		free_link(c, l);
		return err;
	}
	l->items = items;
	c->links++;
	return 0;
}

int chain_copy(struct chain **out, const struct chain *from)
{
	struct chain *c;
	int err = chain_begin(&c, &from->settings, from->memory);
	if (err)
		return err;
	for (size_t i = 0; !err && i < from->links; i++)
		err = append_like(c, from->link[i].filter, from->link[i].items);
	if (err)
		chain_destroy(c);
	else
		*out = c;
	return err;
}

int chain_append(struct chain *c, uint64_t items, const void *image, size_t bytes)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f;
	if (c->links >= (c->settings.expansion ? (size_t)CHAIN_LINKS : 1))
		return weir_fail(-EBADMSG, "there are more links than the chain may have");
	struct weir_params p = params_of(&c->settings, c->links);
	if (items > p.capacity)
		return weir_fail(-EBADMSG, "link %zu has %llu items, its capacity is %llu",
		                 c->links, (unsigned long long)items,
		                 (unsigned long long)p.capacity);
	/* Images are plain: so none is larger in memory than here. */
	o.max_bytes = bytes;
	int err = weir_load_memory(&f, image, bytes, &o);
	if (err)
		return err;
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	err = weir_plan(&p, &plan);
	if (!err)
		err = weir_stats(f, &s);
	/* Before memory is taken: the settings may ask for more than the image has. */
	if (!err && s.bytes != plan.bytes)
		err = weir_fail(-EBADMSG, "link %zu has %llu bytes of bits instead of %llu",
		                c->links, (unsigned long long)s.bytes,
		                (unsigned long long)plan.bytes);
	if (!err)
		err = append_like(c, f, items);
	weir_destroy(f);
	return err;
}

/* ---- items ---- */

bool chain_has(const struct chain *c, const void *item, size_t len)
{
	for (size_t i = c->links; i-- > 0;)
		if (weir_contains(c->link[i].filter, item, len))
			return true;
	return false;
}

int chain_add(struct chain *c, const void *item, size_t len, uint64_t most)
{
	if (chain_has(c, item, len))
		return 0;
	struct chain_link *last = &c->link[c->links - 1];
	if (last->items >= last->capacity) {
		if (!c->settings.expansion)
			return weir_fail(-ENOSPC, "the chain of one link is full: %llu items",
			                 (unsigned long long)last->items);
		int err = chain_grow(c, most);
		if (err)
			return err;
		last = &c->link[c->links - 1];
	}
	int answer = weir_insert(last->filter, item, len);
	last->items += answer == WEIR_NEW;
	return answer;
}

uint64_t chain_capacity(const struct chain *c)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < c->links; i++)
		sum += c->link[i].capacity;
	return sum;
}

uint64_t chain_items(const struct chain *c)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < c->links; i++)
		sum += c->link[i].items;
	return sum;
}

uint64_t chain_bytes(const struct chain *c)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < c->links; i++)
		sum += c->link[i].bytes;
	return sum;
}
