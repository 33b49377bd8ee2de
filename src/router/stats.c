/* SPDX-License-Identifier: MIT
 * The statistics of each set, from its column in a sample of pages. */
#include <math.h>
#include <string.h>
#include "ground/error.h"
#include "kind/spread.h"
#include "router/router.h"

enum { SAMPLE_PAGES = 256 };

/* Counts of the pages of a survey, for each set. */
struct counts {
	uint64_t page[WEIR_ROUTER_SETS]; /* bits set in the page that was counted last */
	/* all: the bits set in the counted pages together. squares: the sum, over the counted
	 * pages, of the square of the bits set in the page. */
	uint64_t all[WEIR_ROUTER_SETS], squares[WEIR_ROUTER_SETS];
	uint64_t fullest[WEIR_ROUTER_SETS]; /* bits set in the fullest counted page */
	double rate[WEIR_ROUTER_SETS];      /* sum of the rates of the counted pages */
};

static uint64_t pages_of(const struct weir_array *a)
{
	return a->lines / WEIR__PAGE_LINES - 1;
}

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
		c->squares[set] += c->page[set] * c->page[set];
		if (c->page[set] > c->fullest[set])
			c->fullest[set] = c->page[set];
		c->rate[set] += pow((double)c->page[set] / rows, weir__router_probes(a));
	}
}

/* Estimate the keys of a set in all pages. A key sets k bits of its page. The number of keys in a
 * page is Poisson distributed, with the mean load. So the share of 0 bits is
 * exp(-load * (1 - (1 - 1/rows)^k)). */
static double keys_of(const struct weir_array *a, double fill)
{
	const double rows = (double)(WEIR__PAGE_BITS / weir__router_columns(a));
	const double pages = (double)pages_of(a);
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

/* Count pages at even distances, or all pages. Return: the number of pages counted. */
static uint64_t count(struct counts *c, const struct weir_array *a, bool all)
{
	const uint64_t pages = pages_of(a);
	const uint64_t n = all || pages < SAMPLE_PAGES ? pages : SAMPLE_PAGES, step = pages / n;
	memset(c, 0, sizeof *c);
	for (uint64_t i = 0; i < n; i++)
		count_page(c, a, 1 + i * step);
	return n;
}

static void survey(const struct weir_array *a, bool all, struct weir_router_stats *s)
{
	const uint64_t pages = pages_of(a);
	struct counts c;
	const uint64_t n = count(&c, a, all);
	s->sets = weir__router_sets(a);
	for (uint32_t set = 0; set < s->sets; set++)
		set_stats(s, a, set, &c, (double)n);
	s->sampled = (double)n / (double)pages;
}

/* ---- the whole router, for weir_measure() ---- */

void weir__router_look(const struct weir_filter *f, uint64_t first, uint64_t n,
                       struct weir_measure *sum)
{
	const struct weir_array *a = &f->array;
	uint64_t cells = weir__router_all(a);
	for (unsigned width = weir__router_columns(a); width < 64; width *= 2)
		cells |= cells << width;
	for (uint64_t line = first; line < first + n; line++) {
		/* instead of the names, count the page after them */
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

/* ---- are the hashes uniform? ---- */

/* For this test a page is a block of one word, and a row is a cell of that word. */
static struct weir_spread spread_of(const struct weir_array *a, const struct counts *c,
                                    uint32_t set, uint64_t n)
{
	return (struct weir_spread){
		.law = { .blocks = pages_of(a), .words = 1, .cells = WEIR__PAGE_BITS /
		         weir__router_columns(a), .z = 1, .g = weir__router_probes(a) },
		.words = n,
		.used = c->all[set],
		.squares = c->squares[set],
		.crowd = (unsigned)c->fullest[set]
	};
}

/* For each word of a page, choose one of its rows by the word's number, and count the pages in
 * which this row has the set's bit. */
static void count_rows(struct weir_spread *s, const struct weir_array *a, uint32_t set)
{
	const uint64_t pages = s->law.blocks, n = pages < SAMPLE_PAGES ? pages : SAMPLE_PAGES;
	const unsigned columns = weir__router_columns(a);
	s->counted = n;
	for (uint64_t page = 0; page < n; page++)
		for (unsigned i = 0; i < WEIR__PAGE_WORDS; i++)
			s->at[i] += weir__word_load_relaxed(a->words + WEIR__PAGE_WORDS *
			            (1 + page * (pages / n)) + i) >> (columns * i % 64 + set) & 1;
}

/* Judge all sets. Count rows only in the fullest set, since all sets share one hash function. */
static uint32_t judge_sets(const struct weir_array *a, bool all, const char **why, uint64_t *used)
{
	struct counts c;
	const uint64_t n = count(&c, a, all);
	uint32_t worst = WEIR_UNEVEN_UNKNOWN, fullest = 0;
	*used = 0;
	for (uint32_t set = 0; set < weir__router_sets(a); set++) {
		*used += c.all[set];
		fullest = c.all[set] > c.all[fullest] ? set : fullest;
	}
	for (uint32_t set = 0; set < weir__router_sets(a) && worst != WEIR_UNEVEN_YES; set++) {
		struct weir_spread s = spread_of(a, &c, set, n);
		if (set == fullest)
			count_rows(&s, a, set);
		const uint32_t verdict = weir__spread_verdict(&s, why);
		worst = verdict > worst ? verdict : worst;
	}
	return worst;
}

/* Like weir__spread_judge(), report uneven hashes only if each of several surveys finds them and
 * no later survey finds over 1/1000 more bits set than the first survey. */
uint32_t weir__router_judge(const struct weir_filter *f, bool all, const char **why)
{
	enum { LOOKS = 3 };
	uint64_t first, used;
	uint32_t verdict = judge_sets(&f->array, all, why, &first);
	for (unsigned i = 0; verdict == WEIR_UNEVEN_YES && i < LOOKS; i++) {
		verdict = judge_sets(&f->array, all, why, &used);
		if (used - first > first / 1000)
			verdict = WEIR_UNEVEN_UNKNOWN;
	}
	*why = verdict == WEIR_UNEVEN_YES ? *why : NULL;
	return verdict;
}

/* ---- statistics of each set ---- */

/* Measure a filter of another kind as one set. */
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
	/* a set is saturated if its estimate exceeds the capacity by three standard deviations */
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
