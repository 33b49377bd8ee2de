/* SPDX-License-Identifier: MIT
 * The growing kind's formulas: the number of layers and the size of each.
 * Source: Almeida, Baquero, Preguica, Hutchison 2007 (scalable Bloom filters). The paper tightens
 * the rate from layer to layer. Here the number of layers is bounded, so equal shares suffice. */
#include <inttypes.h>
#include <math.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "growing/growing.h"
#include "kind/sizing.h"

enum {
	COUNTED = 8192,     /* the fewest keys that a full layer counts ([SAMPLED-COUNT]) */
	MOST_SAMPLE = 15,
	SOLVED = 1 << 20,   /* weir__layer_bits() plans this capacity; rounding adds under 1e-3 */
};
/* The lowest rate that a plan gives a layer, far above the error of the blocked kind's formula,
 * about 1e-13. */
static const double least_share = 1e-9;

uint64_t weir__layer_sample(uint64_t keys)
{
	uint64_t sample = 0;
	while (sample < MOST_SAMPLE && keys / (2 * sample + 2) >= COUNTED)
		sample = 2 * sample + 1;
	return sample;
}

/* Return: n standard deviations of a layer's estimated number of keys. One key in (sample + 1) is
 * counted, and the count is scaled up, so the variance is keys * sample. */
static uint64_t deviations(uint64_t keys, unsigned n)
{
	return (uint64_t)ceil(n * sqrt((double)keys * (double)weir__layer_sample(keys)));
}

uint64_t weir__layer_full(uint64_t keys)
{
	return keys + deviations(keys, 3);
}

uint64_t weir__layer_room(uint64_t keys)
{
	return keys + deviations(keys, 6);
}

/* Return: the number of keys in n full layers, at most WEIR__MOST_KEYS. */
static uint64_t keys_of(uint64_t capacity, unsigned n)
{
	uint64_t layers = 0;
	for (unsigned i = 0; i < n; i++)
		layers = layers * WEIR__LAYER_TIMES + 1;
	return capacity > WEIR__MOST_KEYS / layers ? WEIR__MOST_KEYS : capacity * layers;
}

uint64_t weir__layer_capacity(uint64_t capacity, uint64_t max_capacity, unsigned layer)
{
	uint64_t before = layer ? keys_of(capacity, layer) : 0;
	uint64_t whole = keys_of(capacity, layer + 1);
	return (whole < max_capacity ? whole : max_capacity) - before;
}

uint64_t weir__layer_lines(double bits_per_key, uint64_t keys, uint32_t *shards)
{
	return weir__lines(bits_per_key * (double)weir__layer_room(keys), 1, 0, shards);
}

int weir__layer_bits(double *bits_per_key, double fp_rate, uint32_t z, uint32_t g)
{
	/* Beyond these bounds the formula's errors matter. The rate of a filter that was planned by
	 * its size may lie beyond them. */
	const double lowest = 1e-10, highest = WEIR__MOST_RATE;
	const struct weir_params params = { .kind = WEIR_BLOCKED,
		                            .capacity = SOLVED,
		                            .fp_rate = fmin(fmax(fp_rate, lowest), highest),
		                            .blocked = { .words_per_key = z,
		                                         .bits_per_word = g } };
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = weir__kind(WEIR_BLOCKED)->plan(&params, &plan);
	*bits_per_key = plan.bits_per_key;
	return err;
}

/* Return: the largest capacity of a layer that is sized for @room keys. */
static uint64_t capacity_in(uint64_t room)
{
	uint64_t keys = room;
	while (keys > 1 && weir__layer_room(keys) > room)
		keys -= weir__layer_room(keys) - room > keys / 2 ? 1 :
		                                                   weir__layer_room(keys) - room;
	return keys;
}

/* ---- the plan ---- */

/* Return: max_capacity as the caller gave it; 0: the caller gave none. */
static uint64_t given_max(const struct weir_params *p)
{
	return p->growing.max_capacity;
}

static int check_share(const struct weir_params *p, unsigned layers, double floor_rate)
{
	double least = fmax(least_share, 2 * floor_rate) * layers;
	if (p->fp_rate == 0 || p->fp_rate >= least)
		return 0;
	return weir__refused(
		weir__fail(-EINVAL,
		           "fp_rate %g: with %u layers, each with its share, at least %g: "
		           "a lower max_capacity needs fewer layers", p->fp_rate, layers, least),
		WEIR_ERROR_RANGE, "fp_rate", p->fp_rate, least, WEIR__MOST_RATE, 0);
}

/* Compute the rate of the first layer at its capacity. The layer is sized for more keys. */
static int rate_at_capacity(const struct weir_params *first, struct weir_plan *out)
{
	struct weir_params full = *first;
	struct weir_plan plan = WEIR_PLAN_INIT;
	full.capacity = out->capacity;
	full.max_bytes = out->bytes;
	full.fp_rate = 0;
	full.shards = out->shards;
	full.blocked.words_per_key = out->shape.field[WEIR_GROWING_Z];
	full.blocked.bits_per_word = out->shape.field[WEIR_GROWING_G];
	int err = weir__kind(WEIR_BLOCKED)->plan(&full, &plan);
	out->fp_rate = plan.fp_rate;
	return err;
}

/* Plan the first layer as a blocked filter with its share of the rate. */
static int plan_one(const struct weir_params *p, unsigned layers, uint64_t capacity,
                    struct weir_plan *out)
{
	struct weir_params first = *p;
	/* Subtract the floor, which is the rate that equal 64-bit hashes add, from each layer's
	 * share. No layer's floor exceeds the floor of all keys. */
	uint64_t most = given_max(p) ? given_max(p) : keys_of(capacity, layers);
	double floor_rate = (double)most / WEIR__HASHES;
	int err = check_share(p, layers, floor_rate);
	if (err)
		return err;
	first.kind = WEIR_BLOCKED;
	first.blocked.words_per_key = p->growing.words_per_key;
	first.blocked.bits_per_word = p->growing.bits_per_word;
	if (p->fp_rate > 0)
		first.fp_rate = p->fp_rate / layers - floor_rate;
	if (p->capacity && p->fp_rate > 0)
		first.capacity = weir__layer_room(p->capacity);
	out->shape.kind = WEIR_BLOCKED;
	err = weir__kind(WEIR_BLOCKED)->plan(&first, out);
	out->shape.kind = WEIR_GROWING;
	out->shape.field[WEIR_GROWING_LAYERS] = layers;
	out->capacity = p->capacity ? p->capacity : err ? 0 : capacity_in(out->capacity);
	return err ? err : rate_at_capacity(&first, out);
}

static int plan_first(const struct weir_params *p, unsigned layers, struct weir_plan *out)
{
	int err = plan_one(p, layers, p->capacity, out);
	/* Without a capacity, the first plan had a floor of 0. So plan again, with the floor of the
	 * capacity that the first plan found. */
	return err || p->capacity || given_max(p) ? err :
	       plan_one(p, layers, out->capacity, out);
}

static unsigned layers_for(uint64_t capacity, uint64_t max_capacity)
{
	unsigned n = 1;
	while (n < WEIR__LAYERS_MOST && keys_of(capacity, n) < max_capacity)
		n++;
	return n;
}

/* Without a capacity, the first layer's capacity and the number of layers depend on each other:
 * with more layers, the first layer gets fewer keys. So try each number of layers. */
static int plan_layers(const struct weir_params *p, struct weir_plan *out)
{
	unsigned n = given_max(p) ? layers_for(p->capacity ? p->capacity : 1, given_max(p)) :
	                               layers_for(p->capacity ? p->capacity : 1, WEIR__MOST_KEYS);
	if (p->capacity || !given_max(p))
		return plan_first(p, n, out);
	int err = 0;
	for (n = 1; !err && n <= WEIR__LAYERS_MOST; n++) {
		err = plan_first(p, n, out);
		if (!err && out->capacity >= given_max(p))
			out->capacity = given_max(p);
		if (!err && keys_of(out->capacity, n) >= given_max(p))
			return 0;
	}
	return err;
}

bool weir__layers_legal(uint64_t capacity, uint64_t max_capacity, unsigned layers)
{
	return max_capacity >= capacity && layers_for(capacity, max_capacity) == layers &&
	       max_capacity <= keys_of(capacity, layers);
}

static int check_most(const struct weir_params *p, const struct weir_plan *plan)
{
	uint64_t most = keys_of(plan->capacity, WEIR__LAYERS_MOST);
	if (given_max(p) && given_max(p) < plan->capacity)
		return weir__refused(
			weir__fail(-EINVAL, "max_capacity %" PRIu64
			           ": less than the first layer's " "capacity, which is %" PRIu64,
			           given_max(p), plan->capacity),
			WEIR_ERROR_RANGE, "max_capacity", (double)given_max(p),
			(double)plan->capacity, (double)most, 0);
	if (given_max(p) > most)
		return weir__refused(
			weir__fail(-EINVAL, "max_capacity %" PRIu64
			           ": %d layers from a capacity of " "%" PRIu64 " on hold %" PRIu64
			           ": give a larger capacity", given_max(p), WEIR__LAYERS_MOST,
			           plan->capacity, most),
			WEIR_ERROR_RANGE, "max_capacity", (double)given_max(p),
			(double)plan->capacity, (double)most, 0);
	return 0;
}

/* Compute the size of the full filter, and the size just after each layer is published, when the
 * newest layer is empty and the others are full. A layer is allocated before its publication, but
 * its memory stays untouched until then. */
static int plan_full(struct weir_plan *out, double share)
{
	uint64_t keys = 0, bytes = 0;
	uint32_t shards;
	double bits_per_key;
	int err = weir__layer_bits(&bits_per_key, share, out->shape.field[WEIR_GROWING_Z],
	                           out->shape.field[WEIR_GROWING_G]);
	if (err)
		return err;
	out->growing.worst_bits_per_key = out->growing.late_bits_per_key = out->bits_per_key;
	for (unsigned i = 0; i < out->shape.field[WEIR_GROWING_LAYERS]; i++) {
		uint64_t own = weir__layer_capacity(out->capacity, out->growing.max_capacity, i);
		bytes += i ? 64 * weir__layer_lines(bits_per_key, own, &shards) : out->bytes;
		if (i) {
			out->growing.late_bits_per_key = 8 * (double)bytes / (double)keys;
			out->growing.worst_bits_per_key = fmax(out->growing.worst_bits_per_key,
			                                       out->growing.late_bits_per_key);
		}
		keys += own;
	}
	out->growing.full_bytes = bytes;
	out->growing.full_bits_per_key = 8 * (double)bytes / (double)keys;
	return 0;
}

int weir__growing_plan(const struct weir_params *p, struct weir_plan *out)
{
	if (given_max(p) > WEIR__MOST_KEYS)
		return weir__refused(
			weir__fail(-EINVAL, "max_capacity %" PRIu64 ": allowed: up to 2^48 keys",
			           given_max(p)),
			WEIR_ERROR_RANGE, "max_capacity", (double)given_max(p), 1,
			(double)WEIR__MOST_KEYS, 0);
	int err = p->capacity ? check_most(p, &(struct weir_plan){ .capacity = p->capacity }) : 0;
	if (!err)
		err = plan_layers(p, out);
	if (!err)
		err = check_most(p, out);
	if (err)
		return err;
	unsigned layers = out->shape.field[WEIR_GROWING_LAYERS];
	double share = out->fp_rate;
	out->growing.max_capacity = given_max(p) ? given_max(p) : keys_of(out->capacity, layers);
	out->bits_per_key = 8 * (double)out->bytes / (double)out->capacity;
	out->fp_rate *= layers;
	if (out->fp_rate > WEIR__MOST_RATE * (1 + 1e-6))
		return weir__refused(
			weir__fail(-EINVAL, "max_bytes %" PRIu64 ": with %" PRIu64 " keys in the "
			           "first of %u layers the rate of all would be %.3g, %g is the "
			           "most", p->max_bytes, out->capacity, layers, out->fp_rate,
			           WEIR__MOST_RATE),
			WEIR_ERROR_RATE_MOST, "max_bytes", (double)p->max_bytes,
			(double)out->capacity, out->fp_rate, WEIR__MOST_RATE);
	out->fp_rate_floor = (double)out->growing.max_capacity / WEIR__HASHES;
	out->reason = "the blocked layout for each layer's share of the rate";
	return plan_full(out, p->fp_rate > 0 ? p->fp_rate / layers : share);
}
