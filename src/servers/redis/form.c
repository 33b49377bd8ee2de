/* SPDX-License-Identifier: MIT
 * The sizes of links. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include "chain.h"

enum { MOST_PROBES = 32, CACHED = 64 };
static const double ERROR_MOST = 0.25, ERROR_LEAST = 1e-9;

/* ---- error rate and capacity of link n ---- */

/* With an expansion, link 0 has half of the rate. Link n has 0.31 / (n + 1)^1.5 of it, and the sum
 * of these parts over all n > 0 is 0.4997. Halving the rate from link to link, as RedisBloom does,
 * would spend 30 bits for an item of link 13; these parts spend 20. */
static double own_error(const struct chain_settings *s, unsigned n)
{
	double error = fmin(s->error, ERROR_MOST);
	if (s->expansion)
		error *= n ? 0.31 / ((n + 1) * sqrt(n + 1)) : 0.5;
	return fmax(error, ERROR_LEAST);
}

double chain_error(const struct chain_settings *s, unsigned n)
{
	return s->layout == CHAIN_REDISBLOOM ? ldexp(s->error, -(int)n) : own_error(s, n);
}

static uint64_t capacity_of(const struct chain_settings *s, unsigned n)
{
	uint64_t capacity = s->capacity;
	for (unsigned i = 0; i < n && capacity < CHAIN_CAPACITY_MOST; i++)
		capacity = capacity > CHAIN_CAPACITY_MOST / s->expansion ? CHAIN_CAPACITY_MOST
		                                                         : capacity * s->expansion;
	return capacity;
}

/* ---- compact links ---- */

/* The bits that k = ceil(log2(1 / error)) independent probes need for the error rate. */
static double size_compact(double error, struct chain_form *out)
{
	double k = fmin(ceil(-log2(error) - 1e-9), MOST_PROBES);
	out->probes = (uint32_t)k;
	return -k / log1p(-pow(error, 1 / k)) * (double)out->capacity;
}

/* ---- blocked links ---- */

/* The layout and the bits of an item, which depend only on the error rate. weir's formula takes
 * 0.3 ms, so the last results are kept. Only the server's main thread creates keys. */
struct sized {
	double error, bits_per_key;
	struct weir_shape shape;
};

static int size_rate(double error, struct sized *out)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	p.kind = WEIR_BLOCKED;
	p.capacity = UINT64_C(1) << 26; /* large, so that whole lines round little */
	p.fp_rate = error;
	int err = weir_plan_make(&p, &plan);
	if (!err)
		*out = (struct sized){ error, plan.bits_per_key, plan.shape };
	return err;
}

static int size_blocked(double error, struct chain_form *out)
{
	static struct sized cache[CACHED];
	struct sized *s = &cache[(unsigned)(-log2(error) * 16) % CACHED];
	int err = s->error == error ? 0 : size_rate(error, s);
	if (err)
		return err;
	out->bytes = 64 * (uint64_t)ceil(s->bits_per_key * (double)out->capacity / 512);
	out->probes = 0;
	out->words_per_key = s->shape.field[0];
	out->bits_per_word = s->shape.field[1];
	return 0;
}

/* ---- RedisBloom's layout ---- */

static void size_redisbloom(const struct chain_settings *s, unsigned n, struct chain_form *out)
{
	struct redisbloom_link l;
	redisbloom_size(&l, capacity_of(s, n), fmax(chain_error(s, n), DBL_MIN), s->options);
	*out = (struct chain_form){ .capacity = l.capacity, .bytes = l.bytes, .probes = l.probes,
		                    .error = l.error, .n2 = l.n2 };
}

int chain_size(const struct chain_settings *s, unsigned n, struct chain_form *out)
{
	if (s->layout == CHAIN_REDISBLOOM) {
		size_redisbloom(s, n, out);
		return 0;
	}
	/* Most keys have the size of the key before, so no logarithm is computed for them. */
	static struct chain_form last;
	static double last_error;
	double error = own_error(s, n);
	uint64_t capacity = capacity_of(s, n);
	if (capacity == last.capacity && error == last_error) {
		*out = last;
		return 0;
	}
	*out = (struct chain_form){ .capacity = capacity };
	double bits = size_compact(error, out);
	if (bits > CHAIN_COMPACT * 8.0)
		return size_blocked(error, out);
	out->bytes = 8 * (uint64_t)ceil(bits / 64);
	last = *out;
	last_error = error;
	return 0;
}

int chain_form_check(const struct chain_form *f, enum chain_layout layout)
{
	if (layout == CHAIN_REDISBLOOM) {
		struct redisbloom_link l = { .bytes = f->bytes, .bits = f->n2 ? 0 : 8 * f->bytes,
			.error = f->error, .bits_per_item = redisbloom_bits_per_item(f->error),
			.probes = f->probes, .capacity = f->capacity, .n2 = f->n2 };
		const char *wrong = redisbloom_check(&l);
		return wrong ? weir_fail(-EBADMSG, "a link has %s", wrong) : 0;
	}
	bool compact = f->probes && f->probes <= MOST_PROBES && f->bytes <= CHAIN_COMPACT &&
	               f->bytes % 8 == 0 && !f->words_per_key && !f->bits_per_word;
	bool blocked = !f->probes && f->bytes % 64 == 0 && f->words_per_key && f->bits_per_word;
	if (!f->capacity || f->capacity > CHAIN_CAPACITY_MOST || !f->bytes || f->bytes >> 52 ||
	    f->n2 || (!compact && !blocked))
		return weir_fail(-EBADMSG, "no link has a capacity of %llu, %llu bytes and %u "
		                 "probes", (unsigned long long)f->capacity,
		                 (unsigned long long)f->bytes, f->probes);
	return 0;
}
