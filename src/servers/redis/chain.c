/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "chain.h"

enum { LINE = 64 }; /* alignment of a filter's memory */
enum { FINGERPRINT = 16 };
static const double ERROR_MOST = 0.25, ERROR_LEAST = 1e-9, CUCKOO_ERROR = 0.00012;
static const uint64_t CAPACITY_MOST = UINT64_C(1) << 48;

/* ---- the parameters of link n ---- */

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
	p.kind = s->bucket ? WEIR_CUCKOO : WEIR_BLOCKED;
	p.cuckoo.fingerprint_bits = s->bucket ? FINGERPRINT : 0;
	p.capacity = capacity_of(s, n);
	p.fp_rate = s->bucket ? CUCKOO_ERROR : error_of(s, n);
	p.seed = s->bucket || s->seed + n == 0 ? s->seed : s->seed + n;
	return p;
}

/* ---- links ---- */

unsigned char *chain_bits(const struct chain_link *l)
{
	return (unsigned char *)l->memory + (LINE - (uintptr_t)l->memory % LINE);
}

/* A bucket has four fingerprints of 16 bits. A fingerprint of 0 is a free slot, in any byte
 * order. */
uint64_t chain_fingerprints(const void *bits, uint64_t bytes)
{
	const unsigned char *at = bits;
	uint64_t sum = 0;
	for (uint64_t i = 0; i < bytes; i += 8) {
		uint16_t place[4];
		memcpy(place, at + i, sizeof place);
		for (int k = 0; k < 4; k++)
			sum += place[k] != 0;
	}
	return sum;
}

static int make_link(struct chain *c, struct chain_link *out, const struct weir_params *like)
{
	struct weir_params p = *like;
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = weir_plan_make(&p, &plan);
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
	int err = weir_plan_make(&p, &plan);
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

static int check(const struct chain_settings *s)
{
	if (s->bucket ? s->error != 0 || signbit(s->error) : !(s->error > 0 && s->error < 1))
		return weir_fail(-EINVAL, "error rate %g is not between 0 and 1", s->error);
	if (!s->capacity || s->capacity > UINT64_C(1) << 30)
		return weir_fail(-EINVAL, "capacity %llu is not in 1 to 1073741824",
		                 (unsigned long long)s->capacity);
	if (s->expansion > 32768 || !s->seed)
		return weir_fail(-EINVAL, "expansion %llu is above 32768, or the seed is 0",
		                 (unsigned long long)s->expansion);
	if (s->bucket > 255 || s->iterations > 65535 || !s->bucket != !s->iterations)
		return weir_fail(-EINVAL, "bucket size %llu is above 255, or %llu iterations are "
		                 "above 65535, or one of them is 0",
		                 (unsigned long long)s->bucket,
		                 (unsigned long long)s->iterations);
	return 0;
}

int chain_begin(struct chain **out, const struct chain_settings *s,
                const struct chain_memory *memory)
{
	int err = check(s);
	if (err)
		return err;
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

/* Append a link with a copy of @bits.
 * @from: NULL, or the filter of @bits, which must have the link's parameters */
static int append_bits(struct chain *c, const unsigned char *bits, struct weir_filter *from,
                       uint64_t items)
{
	struct weir_params p = params_of(&c->settings, c->links);
	struct chain_link *l = &c->link[c->links];
	int err = make_link(c, l, &p);
	if (err)
		return err;
	err = from ? weir_merge(from, l->filter) : 0; /* merging the empty filter adds no keys,
	                                                 but compares the parameters */
	if (err) {
		free_link(c, l);
		return err;
	}
	memcpy(chain_bits(l), bits, l->bytes);
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
		err = append_bits(c, chain_bits(&from->link[i]), NULL, from->link[i].items);
	c->deleted = from->deleted;
	c->changes = from->changes;
	if (err)
		chain_destroy(c);
	else
		*out = c;
	return err;
}

/* @at: has plan->bytes bytes */
static int append_image(struct chain *c, uint64_t items, const void *image, size_t bytes,
                        const struct weir_plan *plan, unsigned char *at)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_filter *f;
	o.max_bytes = plan->bytes;
	o.memory = at;
	o.memory_bytes = plan->bytes;
	int err = weir_load(&f, weir_location_memory(image, bytes), &o);
	if (err)
		return err;
	err = weir_measure(f, WEIR_SAMPLED, &s);
	if (!err && s.bytes != plan->bytes)
		err = weir_fail(-EBADMSG, "link %zu has %llu bytes of bits instead of %llu",
		                c->links, (unsigned long long)s.bytes,
		                (unsigned long long)plan->bytes);
	if (!err && chain_is_cuckoo(c) && items != chain_fingerprints(at, plan->bytes))
		err = weir_fail(-EBADMSG, "link %zu does not have the %llu items that its header "
		                "says",
		                c->links, (unsigned long long)items);
	if (!err)
		err = append_bits(c, at, f, items);
	weir_destroy(f);
	return err;
}

int chain_append(struct chain *c, uint64_t items, const void *image, size_t bytes)
{
	struct chain_link scratch;
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (c->links >= (c->settings.expansion ? (size_t)CHAIN_LINKS : 1))
		return weir_fail(-EBADMSG, "there are more links than the chain may have");
	struct weir_params p = params_of(&c->settings, c->links);
	if (items > p.capacity && !chain_is_cuckoo(c))
		return weir_fail(-EBADMSG, "link %zu has %llu items, its capacity is %llu",
		                 c->links, (unsigned long long)items,
		                 (unsigned long long)p.capacity);
	int err = weir_plan_make(&p, &plan);
	if (err)
		return err;
	/* A plain image has all its bits, so untrusted settings cannot demand more memory. */
	if (plan.bytes > bytes)
		return weir_fail(-EBADMSG, "link %zu is %llu bytes of bits, its image %llu bytes",
		                 c->links, (unsigned long long)plan.bytes,
		                 (unsigned long long)bytes);
	scratch.memory = c->memory->get(plan.bytes + LINE);
	if (!scratch.memory)
		return weir_fail(-ENOMEM, "no memory for an image of %llu bytes",
		                 (unsigned long long)bytes);
	err = append_image(c, items, image, bytes, &plan, chain_bits(&scratch));
	c->memory->put(scratch.memory);
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
