/* SPDX-License-Identifier: MIT
 * Computes statistics from all bits of a filter, or from a sample spread over the shards. */
#include <math.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "ground/system.h"
#include "kind/spread.h"

enum { RUN_LINES = WEIR__SURVEY_FEWEST_LINES, PIECE_LINES = WEIR__PIECE / 64 };

/* A sample has the first lines of every step-th shard. A random sample has one run of consecutive
 * lines in each group of step shards. The run is in a random shard of the group, begins at a random
 * line and wraps around at the end of the shard. */
struct sample {
	uint64_t lines;
	uint32_t step;
	bool random;
	uint64_t number;
};

/* Choose a sample. Keys hash to random lines, so the first lines of a shard are as good as any,
 * unless an attacker made the bits. The sample consists of runs of adjacent lines, each at least a
 * page long, because lines that lie apart would each miss the cache and the TLB. */
static struct sample choose(const struct weir_filter *f, const struct weir_survey *survey)
{
	struct sample s = { .lines = f->array.lines / f->shards, .step = 1 };
	uint64_t most = survey->lines, runs = most / RUN_LINES;
	if (f->array.lines <= most || (survey->unforeseen && weir__random(&s.number)))
		return s;
	s.random = survey->unforeseen;
	s.lines = f->shards <= runs ? most / f->shards : RUN_LINES;
	if (f->shards > runs)
		s.step = f->shards / (uint32_t)runs;
	return s;
}

/* A walk through the runs of a sample. */
struct walk {
	const struct weir_filter *f;
	const struct weir_survey *survey;
	struct sample sample;
	uint64_t whole;       /* lines in a shard */
	uint64_t done,  /* lines measured so far */
		total;  /* lines in the whole sample */
	struct weir_spread *spread; /* the test [SPREAD], which reads all runs; or NULL */
};

/* splitmix64 (Steele, Lea, Flood 2014), scaled to 0 .. n-1. @n: at least 1. */
static uint64_t draw(struct sample *s, uint64_t n)
{
	uint64_t z = s->number += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return weir__mulhi64(z ^ z >> 31, n);
}

static int report_progress(const struct walk *w)
{
	if (w->done % PIECE_LINES || w->done == w->total)
		return 0;
	return weir__progress(w->survey->progress, w->survey->progress_arg, 64 * w->done,
	                      64 * w->total, "bytes");
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A caller's hashes that are small numbers, addresses or times fill lines near the ends of the
 * array. So read_ends() reads some lines at both ends. */
enum { FIRST_LINES = 1024, LAST_LINES = 256 };

/* Read the blocks that begin in n lines from @line on into w->spread. */
static void spread_look(struct walk *w, uint64_t line, uint64_t n)
{
	const struct weir_law *law = &w->spread->law;
	const uint64_t words = (uint64_t)law->words * law->word_bits / 64; /* in a block */
	const uint64_t first = (8 * line + words - 1) / words;
	const uint64_t end = least((8 * (line + n) + words - 1) / words, law->blocks);
	if (first >= end)
		return;
	weir__spread_look(w->spread, first, end - first);
	weir__spread_count(w->spread, first, end - first);
}

/* Read the lines at both ends of an array that was only sampled. A sample that is not random
 * already has the first lines. */
static void read_ends(struct walk *w)
{
	const uint64_t lines = w->f->array.lines, seen = w->sample.random ? 0 : w->sample.lines;
	if (w->total == lines)
		return;
	if (seen < FIRST_LINES)
		spread_look(w, seen, FIRST_LINES - seen);
	if (lines > LAST_LINES)
		spread_look(w, lines - LAST_LINES, LAST_LINES);
}

/* Measure one run. If the sample is random, the run is in a random shard of the group of
 * sample.step shards that begins with @shard. Otherwise the run is in @shard. */
static int measure_run(struct walk *w, uint32_t shard, struct weir_measure *sum)
{
	uint64_t at = 0;
	int err = 0;
	if (w->sample.random) {
		shard += (uint32_t)draw(&w->sample, least(w->sample.step, w->f->shards - shard));
		at = draw(&w->sample, w->whole);
	}
	for (uint64_t left = w->sample.lines, n; !err && left; left -= n) {
		n = least(least(left, w->whole - at), PIECE_LINES - w->done % PIECE_LINES);
		w->f->kind->measure(w->f, shard * w->whole + at, n, sum);
		if (w->spread)
			spread_look(w, shard * w->whole + at, n);
		at = (at + n) % w->whole;
		w->done += n;
		err = report_progress(w);
	}
	return err;
}

/* Return: true if the estimated keys exceed the capacity by over three standard deviations. */
static bool saturated(const struct weir_stats *s)
{
	return s->keys_estimated >
	       (double)s->capacity + 3 * sqrt((double)s->capacity / s->sampled) + 1;
}

static double fill_of(const struct weir_measure *m)
{
	return (double)m->used / (double)m->cells;
}

/* ---- figures ---- */

/* Return: the number of keys by which the estimate from a sample may be off. */
static double keys_error(const struct weir_stats *s)
{
	return s->sampled < 1 ? 3 * sqrt(s->keys_estimated / s->sampled) + 10 / s->sampled : 0;
}

static int measure(const struct weir_filter *f, const struct weir_survey *survey,
                   struct weir_stats *s)
{
	struct weir_measure all = { 0 };
	struct weir_spread spread;
	struct weir_law law;
	struct walk w = { .f = f, .survey = survey, .sample = choose(f, survey) };
	w.whole = f->array.lines / f->shards;
	w.total = w.sample.lines * ((f->shards - 1) / w.sample.step + 1);
	if (weir__spread_law(f, &law)) {
		const double share = (double)w.total / (double)f->array.lines;
		weir__spread_begin(&spread, &law, (uint64_t)(share * (double)law.blocks));
		w.spread = &spread;
	}
	for (uint32_t shard = 0; shard < f->shards; shard += w.sample.step) {
		struct weir_measure one = { 0 };
		int err = measure_run(&w, shard, &one);
		if (err)
			return err;
		s->fill_max = fmax(s->fill_max, fill_of(&one));
		all.lines += one.lines;
		all.cells += one.cells;
		all.used += one.used;
		all.stuck += one.stuck;
		all.rate += one.rate;
	}
	s->fill = fill_of(&all);
	s->sampled = (double)all.lines / (double)f->array.lines;
	f->kind->estimate(f, &all, &s->keys_estimated, &s->fp_rate_estimated);
	if (w.spread) {
		read_ends(&w);
		weir__spread_end(&spread);
		s->hashes_uneven = weir__spread_verdict(&spread, &s->uneven_why);
		s->hashes_uneven = weir__spread_confirm(&law, weir__spread_enough(&law),
		                                        s->hashes_uneven, &s->uneven_why);
	}
	if (f->kind->judge)
		s->hashes_uneven = f->kind->judge(f, survey->lines >= f->array.lines,
		                                  &s->uneven_why);
	s->saturated = saturated(s);
	s->keys_error = keys_error(s);
	s->counters_stuck = (uint64_t)llround((double)all.stuck / s->sampled);
	return 0;
}

/* The progress of one member among several. */
struct part {
	const struct weir_survey *survey;
	uint64_t before, /* bytes of bits in the earlier members */
		total;   /* bytes of bits in all members */
};

static int part_progress(void *arg, uint64_t done, uint64_t total)
{
	const struct part *part = arg;
	(void)total;
	return part->survey->progress(part->survey->progress_arg, part->before + done,
	                              part->total);
}

/* Add the figures of a member that has @share of the bits. Means are weighted by share. A lookup
 * answers true if any member does, so the rate is the chance that at least one member answers
 * true. */
static void add_member(struct weir_stats *s, const struct weir_stats *one, double share)
{
	s->fill += share * one->fill;
	s->fill_max = fmax(s->fill_max, one->fill_max);
	s->sampled += share * one->sampled;
	s->keys_estimated += one->keys_estimated;
	s->keys_error = hypot(s->keys_error, one->keys_error);
	s->fp_rate_estimated += (1 - s->fp_rate_estimated) * one->fp_rate_estimated;
	s->saturated |= one->saturated;
	if (one->hashes_uneven > s->hashes_uneven) {
		s->hashes_uneven = one->hashes_uneven;
		s->uneven_why = one->uneven_why;
	}
}

/* Split a compound's budget of lines over its members, by size. */
static int measure_all(const struct weir_filter *f, const struct weir_survey *survey,
                       struct weir_stats *s)
{
	struct weir_member member[WEIR__MEMBERS_MOST];
	struct part part = { .survey = survey };
	if (f->kind->figures) {
		f->kind->figures(f, survey->lines, s);
		s->saturated = saturated(s);
		s->keys_error = keys_error(s);
		return 0;
	}
	unsigned n = weir__members(f, member);
	if (n == 1 && member[0].f == f)
		return measure(f, survey, s);
	for (unsigned i = 0; i < n; i++)
		part.total += member[i].f->bytes;
	s->bytes = part.total;
	for (unsigned i = 0; i < n; i++) {
		struct weir_stats one = { .capacity = member[i].f->capacity };
		double share = (double)member[i].f->bytes / (double)part.total;
		struct weir_survey own = { .lines = UINT64_MAX, .unforeseen = survey->unforeseen };
		if (survey->lines < UINT64_MAX)
			own.lines = WEIR__SURVEY_FEWEST_LINES +
			            (uint64_t)(share * (double)survey->lines);
		if (survey->progress) {
			own.progress = part_progress;
			own.progress_arg = &part;
		}
		int err = measure(member[i].f, &own, &one);
		if (err)
			return err;
		add_member(s, &one, share);
		part.before += member[i].f->bytes;
	}
	return 0;
}

/* ---- the check that a filter to be saved or published was filled by uniform hashes ---- */

static int fail_uneven(const char *who, const char *why)
{
	return weir__refused(weir__fail(-EDOM, "%s: the hashes are not uniform: %s; allow_uneven "
	                                "takes the filter as it is", who, why),
	                     WEIR_ERROR_UNEVEN, "allow_uneven", 0, 0, 0, 0);
}

static uint32_t judge(const struct weir_filter *f, const char **why)
{
	struct weir_law law;
	if (f->kind->judge)
		return f->kind->judge(f, false, why);
	return weir__spread_law(f, &law) ?
	               weir__spread_judge(&law, weir__spread_enough(&law), why) :
	               WEIR_UNEVEN_UNKNOWN;
}

int weir__hashes_check(const struct weir_filter *f, const char *who)
{
	struct weir_member member[WEIR__MEMBERS_MOST];
	const char *why = NULL;
	if (f->kind->figures || f->kind->survey)
		return 0;
	const unsigned n = weir__members(f, member);
	for (unsigned i = 0; i < n; i++)
		if (judge(member[i].f, &why) == WEIR_UNEVEN_YES)
			return fail_uneven(who, why);
	return 0;
}

bool weir__nearly_full(const struct weir_filter *f, double keys)
{
	const double share = 0.9;
	return f->kind->most && keys >= share * (double)f->kind->most(f);
}

int weir__effort_check(uint32_t effort)
{
	if (effort <= WEIR_EXACT)
		return 0;
	return weir__fail(-EINVAL, "effort %u: WEIR_SAMPLED (%d) or WEIR_EXACT (%d)", effort,
	                  WEIR_SAMPLED, WEIR_EXACT);
}

int weir__survey(const struct weir_filter *f, const struct weir_survey *survey,
                 struct weir_stats *out)
{
	int err = weir__size_check(out, sizeof *out, "weir_stats");
	if (err)
		return err;
	struct weir_stats s = {
		.struct_size = out->struct_size,
		.shape = f->array.shape,
		.shards = f->shards,
		.bytes = f->bytes,
		.capacity = f->capacity,
		.fp_rate = f->fp_rate,
		.isa = weir__isa_name(f->kernel->isa),
		.seed_fingerprint = weir__seed_fingerprint(f->array.seed),
		.max_capacity = f->max_capacity ? f->max_capacity : f->capacity,
		.marks = f->marks | (weir__keyed(&f->hashing) ? WEIR_MARK_KEYED : 0) |
		         (f->flags & WEIR_ONCE ? WEIR_MARK_ONCE : 0)
	};
	struct weir_text now;
	weir__text_load(&f->text, &now);
	s.steps = now.steps;
	s.lookups = weir_text_most(&now);
	if (f->kind->survey) {
		err = f->kind->survey(f, survey, &s);
	} else {
		err = measure_all(f, survey, &s);
		s.nearly_full = weir__nearly_full(f, s.keys_estimated);
	}
	if (!err)
		memcpy(out, &s, out->struct_size);
	return err;
}

int weir_measure(const struct weir_filter *f, uint32_t effort, struct weir_stats *out)
{
	const struct weir_survey survey = { .lines = effort == WEIR_EXACT ? UINT64_MAX :
	                                             WEIR__SURVEY_SAMPLE_LINES };
	int err = weir__set_check(f, "weir_measure");
	if (!err)
		err = weir__effort_check(effort);
	return err ? err : weir__survey(f, &survey, out);
}
