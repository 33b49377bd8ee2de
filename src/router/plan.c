/* SPDX-License-Identifier: MIT
 * Plans the size of a router. A set's keys are in random pages, so the number of keys in a page is
 * Poisson distributed. The bits that they set in a column are like balls thrown into bins. */
#include <inttypes.h>
#include <math.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/sizing.h"
#include "router/router.h"

#define LEAST_RATE 1e-6
#define SLACK 1.01 /* fewer rows are faster, so accept 1 % more memory */
#define FULL 64    /* most bits set per row of a column; only exp(-64) of the rows stay empty */

enum { SHARD_PAGES = 256, MOST_STEPS = 60, NARROWEST = 8 /* columns */ };

/* Return: x to the power of k. Call this with a small k, since it multiplies k times. */
static double power(double x, unsigned k)
{
	double y = 1;
	while (k-- > 0)
		y *= x;
	return y;
}

/* Return: the chance that k random rows all have their bit set in a column, after n keys set k
 * random bits each in c rows. With x the share of set bits, the chance is E[x^k]. The function
 * expands it to the second order about E[x], with the exact mean and variance of x. */
static double rate_of(double n, double c, unsigned k)
{
	const double throws = n * k, empty = exp(throws * log1p(-1 / c));
	const double two = exp(throws * log1p(-2 / c)); /* chance that two rows are both empty */
	const double variance = fmax(empty / c + (1 - 1 / c) * two - empty * empty, 0);
	const double mean = 1 - empty;
	return mean > 0 ? power(mean, k) * (1 + 0.5 * k * (k - 1) * variance / (mean * mean)) : 0;
}

double weir__router_rate(double load, unsigned columns, unsigned k)
{
	const double c = (double)(WEIR__PAGE_BITS / columns), width = 9 * sqrt(load) + 12;
	if (load * k > FULL * c) /* nearly all rows are full, and the sum below would be too long */
		return 1;
	double n = fmax(floor(load - width), 0), rate = 0;
	double chance = exp(n * log(load) - load - lgamma(n + 1));
	for (; n <= load + width; n++) {
		rate += chance * rate_of(n, c, k);
		chance *= load / (n + 1);
	}
	return fmin(rate, 1);
}

/* Return: the most keys per page at a rate. The search starts from an upper bound: the load that
 * would give the rate if all pages had the same number of keys. */
static double load_of(double rate, unsigned columns, unsigned k)
{
	const double rows = (double)(WEIR__PAGE_BITS / columns);
	double low = 1e-9, high = 1 - log1p(-pow(rate, 1.0 / k)) * rows / k;
	for (unsigned i = 0; i < MOST_STEPS && high - low > 1e-6 * high; i++) {
		double middle = (low + high) / 2;
		if (weir__router_rate(middle, columns, k) > rate)
			high = middle;
		else
			low = middle;
	}
	return low;
}

/* Return: the fewest rows per key that need at most SLACK times the least memory. If fp_rate is 0:
 * the fewest rows that give at most SLACK times the least rate at @load keys per page. */
static unsigned best_rows(const struct weir_params *p, unsigned columns, double load)
{
	double cost[WEIR__ROUTER_ROWS + 1], least = INFINITY;
	for (unsigned k = 1; k <= WEIR__ROUTER_ROWS; k++) {
		cost[k] = p->fp_rate > 0 ? 1 / load_of(p->fp_rate, columns, k) :
		                           weir__router_rate(load, columns, k);
		least = fmin(least, cost[k]);
	}
	unsigned k = 1;
	while (cost[k] > SLACK * least)
		k++;
	return k;
}

/* Return: p->shards; or if it is 0, the largest power of two of shards that gives each shard at
 * least SHARD_PAGES pages. */
static uint32_t shards_of(const struct weir_params *p, uint64_t pages)
{
	uint32_t shards = 1;
	if (p->shards)
		return p->shards;
	while (shards < WEIR__MOST_SHARDS && pages / SHARD_PAGES >= 2 * (uint64_t)shards)
		shards *= 2;
	return shards;
}

/* Return: the pages that fit into max_bytes, including the page of the names. Each shard gets the
 * same number of pages. */
static uint64_t pages_within(const struct weir_params *p)
{
	uint64_t pages = p->max_bytes / WEIR__PAGE_BYTES;
	return pages - pages % shards_of(p, pages);
}

static uint64_t pages_up(const struct weir_params *p, double wanted)
{
	uint64_t pages = 1 + (uint64_t)fmax(ceil(wanted), 1), shards = shards_of(p, pages);
	return (pages + shards - 1) / shards * shards;
}

static int from_rate(const struct weir_params *p, struct weir_plan *out)
{
	const uint32_t *field = out->shape.field;
	const double wanted = (double)p->capacity / load_of(p->fp_rate, field[WEIR_ROUTER_COLUMNS],
	                                                    field[WEIR_ROUTER_PROBES]);
	const uint64_t limit = p->max_bytes ? p->max_bytes : WEIR__MOST_BYTES;
	if (!(wanted * WEIR__PAGE_BYTES < (double)WEIR__MOST_BYTES) ||
	    pages_up(p, wanted) * WEIR__PAGE_BYTES > limit)
		return weir__refused(
			weir__fail(-EFBIG, "capacity %" PRIu64 " of %" PRIu32 " sets at fp_rate %g "
			           "needs %.0f bytes: %" PRIu64 " are the most", p->capacity,
			           p->router.sets, p->fp_rate, wanted * WEIR__PAGE_BYTES, limit),
			WEIR_ERROR_SETS_LARGE, "capacity", (double)p->capacity, p->router.sets,
			wanted * WEIR__PAGE_BYTES, (double)limit);
	out->bytes = pages_up(p, wanted) * WEIR__PAGE_BYTES;
	out->capacity = p->capacity;
	return weir__shards_fit(p->shards, out->bytes);
}

static int from_bytes(const struct weir_params *p, struct weir_plan *out)
{
	const uint32_t *field = out->shape.field;
	const uint64_t pages = pages_within(p);
	out->bytes = pages * WEIR__PAGE_BYTES;
	out->capacity = p->capacity ? p->capacity :
		(uint64_t)((double)(pages - 1) * load_of(p->fp_rate, field[WEIR_ROUTER_COLUMNS],
		                                         field[WEIR_ROUTER_PROBES]));
	return out->capacity ? 0 : weir__refused(
		weir__fail(-EINVAL, "max_bytes %" PRIu64 ": too small for one key "
		           "at fp_rate %g", p->max_bytes, p->fp_rate),
		WEIR_ERROR_ONE_KEY, "max_bytes", (double)p->max_bytes, p->fp_rate, 0, 0);
}

/* Compute the rest of the plan from the sets' sizes. */
static void complete(const struct weir_params *p, struct weir_plan *out)
{
	const uint32_t columns = out->shape.field[WEIR_ROUTER_COLUMNS];
	const uint32_t rows = out->shape.field[WEIR_ROUTER_PROBES];
	const double pages = (double)(out->bytes / WEIR__PAGE_BYTES - 1);
	double used = 0;
	out->shards = shards_of(p, out->bytes / WEIR__PAGE_BYTES);
	out->bits_per_key = 8 * (double)out->bytes / (double)out->capacity;
	out->fp_rate = weir__router_rate((double)out->capacity / pages, columns, rows);
	out->fp_rate_floor = (double)out->capacity / WEIR__HASHES;
	for (uint32_t set = 0; set < p->router.sets; set++) {
		double keys = (double)(p->router.keys ? p->router.keys[set] : out->capacity);
		used += keys / (double)out->capacity / columns;
		out->router.false_sets += !p->router.keys ?
		                                  out->fp_rate :
		                          keys > 0 ?
		                                  weir__router_rate(keys / pages, columns, rows) :
		                                  0;
	}
	out->router.bytes_wasted = (double)out->bytes * (1 - used);
}

/* ---- checks ---- */

static int take_keys(struct weir_params *p)
{
	const uint64_t *keys = p->router.keys;
	uint64_t most = 0;
	for (uint32_t set = 0; keys && set < p->router.sets; set++)
		most = keys[set] > most ? keys[set] : most;
	if (!keys)
		return 0;
	if (p->capacity && p->capacity != most)
		return weir__fail(-EINVAL, "capacity %" PRIu64 ": leave it 0, router.keys says how "
		                  "large the sets are, %" PRIu64 " at most", p->capacity, most);
	if (!most)
		return weir__fail(-EINVAL,
		                  "router.keys: every set is empty: 1 or more in one of them");
	p->capacity = most;
	return 0;
}

int weir__router_settle(struct weir_params *p)
{
	p->router.sets = p->router.sets ? p->router.sets : NARROWEST;
	if (p->router.sets > WEIR_ROUTER_SETS)
		return weir__refused(
			weir__fail(-EINVAL, "router.sets %" PRIu32 ": allowed: 1 to %d",
			           p->router.sets, WEIR_ROUTER_SETS),
			WEIR_ERROR_RANGE, "sets", p->router.sets, 1, WEIR_ROUTER_SETS, 0);
	int err = take_keys(p);
	if (err)
		return err;
	if (p->fp_rate != 0 && !(p->fp_rate >= LEAST_RATE && p->fp_rate <= WEIR__MOST_RATE))
		return weir__refused(
			weir__fail(-EINVAL, "fp_rate %.10g: that of each set, %g to %g",
			           p->fp_rate, LEAST_RATE, WEIR__MOST_RATE),
			WEIR_ERROR_RANGE, "fp_rate", p->fp_rate, LEAST_RATE, WEIR__MOST_RATE, 0);
	if (p->max_bytes != 0 && p->max_bytes < 2 * WEIR__PAGE_BYTES)
		return weir__refused(
			weir__fail(-EINVAL, "max_bytes %" PRIu64
			           ": allowed: %d, a page and that of the names, to 2^46",
			           p->max_bytes, 2 * WEIR__PAGE_BYTES),
			WEIR_ERROR_RANGE, "max_bytes", (double)p->max_bytes, 2 * WEIR__PAGE_BYTES,
			(double)WEIR__MOST_BYTES, 0);
	if (p->router.rows_per_key > WEIR__ROUTER_ROWS)
		return weir__refused(
			weir__fail(-EINVAL, "router.rows_per_key %" PRIu32 ": allowed: 1 to %d, or "
			           "0 to have it chosen", p->router.rows_per_key,
			           WEIR__ROUTER_ROWS),
			WEIR_ERROR_RANGE, "rows_per_key", p->router.rows_per_key, 1,
			WEIR__ROUTER_ROWS, 0);
	return 0;
}

int weir__router_plan(const struct weir_params *p, struct weir_plan *out)
{
	uint32_t *field = out->shape.field, columns = NARROWEST;
	while (columns < p->router.sets)
		columns *= 2;
	const double load = p->fp_rate > 0 ? 0 : (double)p->capacity /
	                                         (double)(pages_within(p) - 1);
	field[WEIR_ROUTER_COLUMNS] = columns;
	field[WEIR_ROUTER_SETS_AT] = p->router.sets;
	field[WEIR_ROUTER_PROBES] =
		p->router.rows_per_key ? p->router.rows_per_key : best_rows(p, columns, load);
	int err = p->capacity && p->fp_rate > 0 ? from_rate(p, out) : from_bytes(p, out);
	if (err)
		return err;
	complete(p, out);
	if (out->fp_rate > WEIR__MOST_RATE * (1 + 1e-6))
		return weir__refused(
			weir__fail(-EINVAL, "max_bytes %" PRIu64 ": with %" PRIu64
			           " keys the rate of a set would be %.3g, %g is the most",
			           p->max_bytes, p->capacity, out->fp_rate, WEIR__MOST_RATE),
			WEIR_ERROR_RATE_MOST, "max_bytes", (double)p->max_bytes,
			(double)p->capacity, out->fp_rate, WEIR__MOST_RATE);
	out->reason = p->router.rows_per_key ?
	                      "the rows a key that were asked for" :
	                      "the fewest rows a key within 1 % of the least memory";
	return 0;
}
