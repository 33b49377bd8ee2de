/* SPDX-License-Identifier: MIT
 * What is in each set, from its column in a sample of pages. */
#include <math.h>
#include <string.h>
#include "ground/error.h"
#include "router/router.h"

enum { SAMPLE_PAGES = 256 };

/* Of each set: bits that are set in the page, and in all pages; the rate in all, summed. */
struct counts {
	uint64_t page[WEIR_ROUTER_SETS];
	uint64_t all[WEIR_ROUTER_SETS];
	double rate[WEIR_ROUTER_SETS];
};

static void count_page(struct counts *c, const struct weir_array *a, uint64_t number)
{
	const uint64_t *page = a->words + WEIR__PAGE_WORDS * number, all = weir__router_all(a);
	const unsigned columns = weir__router_columns(a);
	const double rows = (double)(WEIR__PAGE_BITS / columns);
	memset(c->page, 0, sizeof c->page);
	for (unsigned i = 0; i < WEIR__PAGE_WORDS; i++) {
		uint64_t word = weir__word_load_relaxed(page + i);
		for (unsigned at = 0; at < 64; at += columns)
			for (uint64_t cell = word >> at & all; cell; cell &= cell - 1)
				c->page[__builtin_ctzll(cell)]++;
	}
	for (uint32_t set = 0; set < weir__router_sets(a); set++) {
		c->all[set] += c->page[set];
		c->rate[set] += pow((double)c->page[set] / rows, weir__router_probes(a));
	}
}

/* The keys of a set in all pages. A key throws k bits into a page's rows, and a page's keys are
 * Poisson distributed: so the share of bits that are 0 is exp(-load * (1 - (1 - 1/rows)^k)). */
static double keys_of(const struct weir_array *a, double fill)
{
	const double rows = (double)(WEIR__PAGE_BITS / weir__router_columns(a));
	const double pages = (double)(a->lines / WEIR__PAGE_LINES - 1);
	const double each = -expm1(weir__router_probes(a) * log1p(-1 / rows));
	return pages * -log1p(-fmin(fill, 1 - 0x1p-20)) / each;
}

static void set_stats(struct weir_router_stats *s, const struct weir_array *a, uint32_t set,
                      const struct counts *c, double pages)
{
	const double rows = (double)(WEIR__PAGE_BITS / weir__router_columns(a));
	s->fill[set] = (double)c->all[set] / (rows * pages);
	s->keys[set] = keys_of(a, s->fill[set]);
	s->fp_rates[set] = c->rate[set] / pages;
	s->keys_estimated += s->keys[set];
	s->false_sets += s->fp_rates[set];
	/* more keys than capacity, by more than three standard deviations of the estimate */
	const double most = (double)s->capacity + 3 * sqrt((double)s->capacity / s->sampled) + 1;
	s->saturated |= (uint64_t)(s->keys[set] > most) << set;
}

static void survey(const struct weir_array *a, struct weir_router_stats *s)
{
	const uint64_t pages = a->lines / WEIR__PAGE_LINES - 1;
	const uint64_t n = pages < SAMPLE_PAGES ? pages : SAMPLE_PAGES, step = pages / n;
	struct counts c = { { 0 }, { 0 }, { 0.0 } };
	for (uint64_t i = 0; i < n; i++)
		count_page(&c, a, 1 + i * step);
	s->sampled = (double)n / (double)pages;
	for (uint32_t set = 0; set < s->sets; set++)
		set_stats(s, a, set, &c, (double)n);
}

int weir_router_stats(const struct weir_router *r, struct weir_router_stats *out)
{
	const struct weir_filter *f = weir__router_filter(r);
	int err = weir__size_check(out, sizeof *out, "weir_router_stats");
	if (err)
		return err;
	struct weir_router_stats s = {
		.struct_size = out->struct_size,
		.sets = weir__router_sets(&f->array),
		.columns = weir__router_columns(&f->array),
		.rows_per_key = weir__router_probes(&f->array),
		.shards = f->shards,
		.capacity = f->capacity,
		.fp_rate = f->fp_rate,
		.bytes = f->bytes,
		.seed_fingerprint = weir__seed_fingerprint(f->hashing.seed)
	};
	memcpy(s.names, weir__router_own(f)->name, sizeof s.names);
	survey(&f->array, &s);
	memcpy(out, &s, out->struct_size);
	return 0;
}
