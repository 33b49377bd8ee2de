/* SPDX-License-Identifier: MIT
 * How large a router is. A set's keys lie in pages at random, so the keys of a page are Poisson
 * distributed; and the bits that those set in a column are as balls thrown into bins. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/sizing.h"
#include "router/router.h"

#define LEAST_RATE 1e-6
#define SLACK 1.01 /* fewer rows are quicker, and so near the least memory they are as good */
#define FULL 64    /* throws a row at which exp(-FULL) of them are empty, which is none */

enum { SHARD_PAGES = 256, MOST_STEPS = 60 };

/* The chance that k throws at random meet bits of a column only, after n keys of k throws each into
 * c rows. Let x be the share of bits that are set: it is E[x^k], taken to the second order about
 * E[x]. Of x both moments are exact. */
static double rate_of(double n, double c, unsigned k)
{
	const double throws = n * k, empty = exp(throws * log1p(-1 / c));
	const double two = exp(throws * log1p(-2 / c)); /* of two rows both are empty */
	const double variance = fmax(empty / c + (1 - 1 / c) * two - empty * empty, 0);
	const double mean = 1 - empty;
	return mean > 0 ? pow(mean, k) * (1 + 0.5 * k * (k - 1) * variance / (mean * mean)) : 0;
}

double weir__router_rate(double load, unsigned columns, unsigned k)
{
	const double c = (double)(WEIR__PAGE_BITS / columns), width = 9 * sqrt(load) + 12;
	if (load * k > FULL * c) /* the sum would have as many terms as the root of the load */
		return 1;
	double n = fmax(floor(load - width), 0), rate = 0;
	double chance = exp(n * log(load) - load - lgamma(n + 1));
	for (; n <= load + width; n++) {
		rate += chance * rate_of(n, c, k);
		chance *= load / (n + 1);
	}
	return fmin(rate, 1);
}

/* The most keys a page for a rate. */
static double load_of(double rate, unsigned columns, unsigned k)
{
	double low = 1e-9, high = (double)(WEIR__PAGE_BITS / columns) * 8;
	for (unsigned i = 0; i < MOST_STEPS && high - low > 1e-6 * high; i++) {
		double middle = (low + high) / 2;
		if (weir__router_rate(middle, columns, k) > rate)
			high = middle;
		else
			low = middle;
	}
	return low;
}

/* The fewest rows near the best. @load: keys a page, where the rate is not given. */
static unsigned best_rows(const struct weir_router_options *o, unsigned columns, double load)
{
	double cost[WEIR_ROUTER_ROWS + 1], least = INFINITY;
	for (unsigned k = 1; k <= WEIR_ROUTER_ROWS; k++) {
		cost[k] = o->fp_rate > 0 ? 1 / load_of(o->fp_rate, columns, k) :
		                           weir__router_rate(load, columns, k);
		least = fmin(least, cost[k]);
	}
	unsigned k = 1;
	while (cost[k] > SLACK * least)
		k++;
	return k;
}

/* The most that have enough pages each. */
static uint32_t shards_of(uint64_t pages)
{
	uint32_t shards = 1;
	while (shards < WEIR__MOST_SHARDS && pages / SHARD_PAGES >= 2 * (uint64_t)shards)
		shards *= 2;
	return shards;
}

/* With the one of the names. */
static uint64_t pages_within(uint64_t bytes)
{
	uint64_t pages = bytes / WEIR__PAGE_BYTES;
	return pages - pages % shards_of(pages);
}

static uint64_t pages_up(double wanted)
{
	uint64_t pages = 1 + (uint64_t)fmax(ceil(wanted), 1), shards = shards_of(pages);
	return (pages + shards - 1) / shards * shards;
}

static int from_rate(const struct weir_router_options *o, struct weir_router_plan *p)
{
	const double wanted = (double)o->capacity / load_of(o->fp_rate, p->columns,
	                                                    p->rows_per_key);
	const uint64_t limit = o->max_bytes ? o->max_bytes : WEIR__MOST_BYTES;
	if (!(wanted * WEIR__PAGE_BYTES < (double)WEIR__MOST_BYTES) ||
	    pages_up(wanted) * WEIR__PAGE_BYTES > limit)
		return weir__refused(
			weir__fail(-EFBIG, "capacity %" PRIu64 " of %" PRIu32 " sets at fp_rate %g "
			           "needs %.0f bytes: %" PRIu64 " are the most", o->capacity,
			           o->sets, o->fp_rate, wanted * WEIR__PAGE_BYTES, limit),
			WEIR_ERROR_SETS_LARGE, "capacity", (double)o->capacity, o->sets,
			wanted * WEIR__PAGE_BYTES, (double)limit);
	p->bytes = pages_up(wanted) * WEIR__PAGE_BYTES;
	p->capacity = o->capacity;
	return 0;
}

static int from_bytes(const struct weir_router_options *o, struct weir_router_plan *p)
{
	const uint64_t pages = pages_within(o->max_bytes);
	p->bytes = pages * WEIR__PAGE_BYTES;
	p->capacity = o->capacity ? o->capacity :
	                            (uint64_t)((double)(pages - 1) *
	                                       load_of(o->fp_rate, p->columns, p->rows_per_key));
	return p->capacity ? 0 : weir__refused(
		weir__fail(-EINVAL, "max_bytes %" PRIu64 ": too small for one key "
		           "at fp_rate %g", o->max_bytes, o->fp_rate),
		WEIR_ERROR_ONE_KEY, "max_bytes", (double)o->max_bytes, o->fp_rate, 0, 0);
}

/* What the sets' sizes make of it. */
static void complete(const struct weir_router_options *o, struct weir_router_plan *p)
{
	const double pages = (double)(p->bytes / WEIR__PAGE_BYTES - 1);
	double used = 0;
	p->sets = o->sets;
	p->shards = shards_of(p->bytes / WEIR__PAGE_BYTES);
	p->bits_per_key = 8 * (double)p->bytes / p->columns / (double)p->capacity;
	p->fp_rate = weir__router_rate((double)p->capacity / pages, p->columns, p->rows_per_key);
	for (uint32_t set = 0; set < o->sets; set++) {
		double keys = (double)(o->keys ? o->keys[set] : p->capacity);
		used += keys / (double)p->capacity / p->columns;
		p->false_sets += keys > 0 ? weir__router_rate(keys / pages, p->columns,
		                                              p->rows_per_key) : 0;
	}
	p->bytes_wasted = (double)p->bytes * (1 - used);
}

static int check_keys(struct weir_router_options *o)
{
	uint64_t most = 0;
	for (uint32_t set = 0; o->keys && set < o->sets; set++)
		most = o->keys[set] > most ? o->keys[set] : most;
	if (!o->keys)
		return 0;
	if (o->capacity && o->capacity != most)
		return weir__fail(-EINVAL, "capacity %" PRIu64 ": leave it 0, keys says how large "
		                  "the sets are, %" PRIu64 " at most", o->capacity, most);
	if (!most)
		return weir__fail(-EINVAL, "keys: every set is empty: 1 or more in one of them");
	o->capacity = most;
	return 0;
}

static int check(struct weir_router_options *o)
{
	if (o->sets < 1 || o->sets > WEIR_ROUTER_SETS)
		return weir__refused(
			weir__fail(-EINVAL, "sets %" PRIu32 ": allowed: 1 to %d", o->sets,
			           WEIR_ROUTER_SETS),
			WEIR_ERROR_RANGE, "sets", o->sets, 1, WEIR_ROUTER_SETS, 0);
	int err = check_keys(o);
	if (!err)
		err = weir__flags_check(o->flags);
	if (err)
		return err;
	if (o->capacity > WEIR__MOST_KEYS)
		return weir__refused(
			weir__fail(-EINVAL, "capacity %" PRIu64
			           ": allowed: 1 to 2^48 keys of a set", o->capacity),
			WEIR_ERROR_RANGE, "capacity", (double)o->capacity, 1,
			(double)WEIR__MOST_KEYS, 0);
	if (o->fp_rate != 0 && !(o->fp_rate >= LEAST_RATE && o->fp_rate <= WEIR__MOST_RATE))
		return weir__refused(
			weir__fail(-EINVAL, "fp_rate %.10g: that of each set, %g to %g",
			           o->fp_rate, LEAST_RATE, WEIR__MOST_RATE),
			WEIR_ERROR_RANGE, "fp_rate", o->fp_rate, LEAST_RATE, WEIR__MOST_RATE, 0);
	if (o->max_bytes != 0 &&
	    (o->max_bytes < 2 * WEIR__PAGE_BYTES || o->max_bytes > WEIR__MOST_BYTES))
		return weir__refused(
			weir__fail(-EINVAL, "max_bytes %" PRIu64
			           ": allowed: %d, a page and that of " "the names, to 2^46",
			           o->max_bytes, 2 * WEIR__PAGE_BYTES),
			WEIR_ERROR_RANGE, "max_bytes", (double)o->max_bytes, 2 * WEIR__PAGE_BYTES,
			(double)WEIR__MOST_BYTES, 0);
	if ((o->capacity != 0) + (o->fp_rate != 0) + (o->max_bytes != 0) < 2)
		return weir__refused(
			weir__fail(-EINVAL, "capacity %" PRIu64 ", fp_rate %g, max_bytes %" PRIu64
			           ": give two of the three (0 means not given)", o->capacity,
			           o->fp_rate, o->max_bytes),
			WEIR_ERROR_TWO_OF_THREE, "capacity", (double)o->capacity, o->fp_rate,
			(double)o->max_bytes, 0);
	if (o->rows_per_key > WEIR_ROUTER_ROWS)
		return weir__refused(
			weir__fail(-EINVAL, "rows_per_key %" PRIu32 ": allowed: 1 to %d, or 0 to "
			           "have it chosen", o->rows_per_key, WEIR_ROUTER_ROWS),
			WEIR_ERROR_RANGE, "rows_per_key", o->rows_per_key, 1, WEIR_ROUTER_ROWS, 0);
	return 0;
}

int weir__router_plan(struct weir_router_options *o, const struct weir_router_options *options,
                      struct weir_router_plan *plan)
{
	struct weir_router_plan p = { .struct_size = sizeof p, .columns = 8 };
	*o = (struct weir_router_options)WEIR_ROUTER_OPTIONS_INIT;
	int err = weir__options_copy(o, sizeof *o, options, "weir_router_options");
	if (!err)
		err = check(o);
	if (err)
		return err;
	while (p.columns < o->sets)
		p.columns *= 2;
	const double load = o->fp_rate > 0 ? 0 : (double)o->capacity /
	                                         (double)(pages_within(o->max_bytes) - 1);
	p.rows_per_key = o->rows_per_key ? o->rows_per_key : best_rows(o, p.columns, load);
	err = o->capacity && o->fp_rate > 0 ? from_rate(o, &p) : from_bytes(o, &p);
	if (err)
		return err;
	complete(o, &p);
	if (p.fp_rate > WEIR__MOST_RATE * (1 + 1e-6))
		return weir__refused(
			weir__fail(-EINVAL, "max_bytes %" PRIu64 ": with %" PRIu64
			           " keys the rate " "of a set would be %.3g, %g is the most",
			           o->max_bytes, o->capacity, p.fp_rate, WEIR__MOST_RATE),
			WEIR_ERROR_RATE_MOST, "max_bytes", (double)o->max_bytes,
			(double)o->capacity, p.fp_rate, WEIR__MOST_RATE);
	*plan = p;
	return 0;
}

int weir_router_plan(const struct weir_router_options *options, struct weir_router_plan *out)
{
	struct weir_router_options o;
	struct weir_router_plan plan;
	int err = weir__size_check(out, sizeof *out, "weir_router_plan");
	if (!err)
		err = weir__router_plan(&o, options, &plan);
	if (err)
		return err;
	plan.struct_size = out->struct_size;
	memcpy(out, &plan, out->struct_size);
	return 0;
}
