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
	s->false_sets += s->fp_rates[set];
}

/* Of pages at even distances, unless it is all. */
static void survey(const struct weir_array *a, bool all, struct weir_router_stats *s)
{
	const uint64_t pages = a->lines / WEIR__PAGE_LINES - 1;
	const uint64_t n = all || pages < SAMPLE_PAGES ? pages : SAMPLE_PAGES, step = pages / n;
	struct counts c = { { 0 }, { 0 }, { 0.0 } };
	for (uint64_t i = 0; i < n; i++)
		count_page(&c, a, 1 + i * step);
	s->sets = weir__router_sets(a);
	for (uint32_t set = 0; set < s->sets; set++)
		set_stats(s, a, set, &c, (double)n);
	s->sampled = (double)n / (double)pages;
}

/* ---- of the whole, as weir_measure() says it ---- */

void weir__router_look(const struct weir_filter *f, uint64_t first, uint64_t n,
                       struct weir_measure *sum)
{
	const struct weir_array *a = &f->array;
	uint64_t cells = weir__router_all(a);
	for (unsigned width = weir__router_columns(a); width < 64; width *= 2)
		cells |= cells << width;
	for (uint64_t line = first; line < first + n; line++) {
		/* in the place of the names the page behind them */
		const uint64_t at = line < WEIR__PAGE_LINES ? line + WEIR__PAGE_LINES : line;
		for (uint64_t i = 8 * at; i < 8 * at + 8; i++)
			sum->used += (unsigned)__builtin_popcountll(
				weir__word_load_relaxed(a->words + i) & cells);
	}
	sum->lines += n;
	sum->cells += 8 * n * (unsigned)__builtin_popcountll(cells);
}

void weir__router_estimate(const struct weir_filter *f, const struct weir_measure *sum,
                           double *keys, double *rate)
{
	struct weir_router_stats s = WEIR_ROUTER_STATS_INIT;
	survey(&f->array, sum->lines >= f->array.lines, &s);
	*keys = *rate = 0;
	for (uint32_t set = 0; set < s.sets; set++) {
		*keys = fmax(*keys, s.keys[set]);
		*rate = fmax(*rate, s.fp_rates[set]);
	}
}

/* ---- of each set ---- */

/* A filter of another kind is one set. */
static int measure_one(const struct weir_filter *f, uint32_t effort, struct weir_router_stats *s)
{
	struct weir_stats one = WEIR_STATS_INIT;
	int err = weir_measure(f, effort, &one);
	s->sets = 1;
	s->sampled = one.sampled;
	s->saturated = one.saturated;
	s->false_sets = s->fp_rates[0] = one.fp_rate_estimated;
	s->fill[0] = one.fill;
	s->keys[0] = one.keys_estimated;
	return err;
}

static void measure_each(const struct weir_filter *f, uint32_t effort, struct weir_router_stats *s)
{
	survey(&f->array, effort == WEIR_EXACT, s);
	/* more keys than capacity, by more than three standard deviations of the estimate */
	const double capacity = (double)f->capacity;
	const double most = capacity + 3 * sqrt(capacity / s->sampled) + 1;
	for (uint32_t set = 0; set < s->sets; set++)
		s->saturated |= (uint64_t)(s->keys[set] > most) << set;
}

int weir_router_measure(const struct weir_filter *f, uint32_t effort,
                        struct weir_router_stats *out)
{
	struct weir_router_stats s = WEIR_ROUTER_STATS_INIT;
	int err = weir__size_check(out, sizeof *out, "weir_router_stats");
	if (!err)
		err = weir__effort_check(effort);
	if (!err && f->kind == &weir__kind_router)
		measure_each(f, effort, &s);
	else if (!err)
		err = measure_one(f, effort, &s);
	if (err)
		return err;
	s.struct_size = out->struct_size;
	memcpy(out, &s, out->struct_size);
	return 0;
}
