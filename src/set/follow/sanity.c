/* SPDX-License-Identifier: MIT
 * Compares an image's rate with its fp_rate, and its keys with those of the current filter. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "set/follow/follow.h"

static const double saturated = 1.01; /* warn if the keys exceed this multiple of the capacity */

/* Return: positive: @next has too few keys; negative: @next has enough keys; 0: the samples do not
 * decide. If every bit of the current filter is set, its number of keys is unknown. Then the answer
 * is negative. */
static int shrunk(const struct weir_stats *next, const struct weir_stats *before)
{
	double above = before->keys_error, here = next->keys_error;
	if (!isfinite(before->keys_estimated) ||
	    next->keys_estimated - here >= WEIR_SANE_KEYS * (before->keys_estimated + above))
		return -1;
	return next->keys_estimated + here < WEIR_SANE_KEYS * (before->keys_estimated - above);
}

/* @fewer: receives true if @next has too few keys. @before: receives the statistics of
 * @current. */
static int ask_keys(bool *fewer, const struct weir_filter *next, const struct weir_filter *current,
                    const struct weir_survey *sample, struct weir_stats *s,
                    struct weir_stats *before)
{
	struct weir_survey all = *sample;
	all.lines = UINT64_MAX;
	int err = weir__survey(current, sample, before);
	int answer = err ? 0 : shrunk(s, before);
	if (!err && !answer)
		err = weir__survey(next, &all, s);
	if (!err && !answer)
		err = weir__survey(current, &all, before);
	*fewer = !err && answer >= 0 && shrunk(s, before) > 0;
	return err;
}

/* If both the rate and the number of keys are at fault, name both, so that the builder can mend
 * both faults together. */
static int refuse(const char *path, bool full, bool fewer, const struct weir_stats *s,
                  const struct weir_stats *before)
{
	char rate[160] = "", keys[160] = "";
	if (full)
		snprintf(rate, sizeof rate,
		         "overfull: it answers %.6f of absent keys with true, above twice the %.6f "
		         "asked: build it with a larger -n", s->fp_rate_estimated, s->fp_rate);
	if (fewer)
		snprintf(keys, sizeof keys,
		         "about %.0f keys, where the current filter has about %.0f: under a tenth: "
		         "build it of the whole list", s->keys_estimated, before->keys_estimated);
	return weir__fail(-ECANCELED,
	                  "%s: refused: %s%s%s. If it is meant, weir build%s%s marks it as such, "
	                  "and it is taken",
	                  path, rate, full && fewer ? "; and " : "", keys,
	                  full ? " --allow-overfull" : "", fewer ? " --allow-shrink" : "");
}

/* A saturated filter is overfull if its rate exceeds twice fp_rate. A check of saturation alone is
 * not enough, since a hostile image may declare any capacity. But in a filter of few keys, the rate
 * may exceed twice fp_rate by chance: one full line adds 1 / lines to the rate of a sample of that
 * many lines. So a filter that is not saturated is overfull only if its rate exceeds twice fp_rate
 * by more than a margin. The margin is 1 / lines, but 0.1 for fewer than 10 lines. For a compound
 * the margin is always 0.1, since a small layer of a growing filter may have few lines. */
static bool overfull(const struct weir_filter *f, const struct weir_stats *s)
{
	const double above = s->fp_rate_estimated - WEIR_SANE_RATE * s->fp_rate;
	const double lines = f->kind->members ? 0 : s->sampled * (double)s->bytes / 64;
	return above > 0 && (s->saturated || (s->fp_rate > 0 && above > 1 / fmax(lines, 10)));
}

int weir__sanity_ask(const char *path, const struct weir_filter *next,
                     const struct weir_filter *current, weir_progress_fn *progress,
                     void *progress_arg)
{
	struct weir_stats s = WEIR_STATS_INIT, before = WEIR_STATS_INIT;
	const struct weir_survey sample = { .lines = WEIR__SURVEY_SAMPLE_LINES,
		                            .unforeseen = true,
		                            .progress = progress,
		                            .progress_arg = progress_arg };
	bool fewer = false;
	int err = weir__survey(next, &sample, &s);
	bool full = !err && overfull(next, &s) && !(next->marks & WEIR_MARK_OVERFULL_ALLOWED);
	if (!err && current && !(next->marks & WEIR_MARK_SHRINK_ALLOWED))
		err = ask_keys(&fewer, next, current, &sample, &s, &before);
	return !err && (full || fewer) ? refuse(path, full, fewer, &s, &before) : err;
}

void weir__sanity_report(const struct weir_handle *h, const char *path,
                         char text[WEIR_SANITY_TEXT])
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	char plain[WEIR_SANITY_TEXT];
	int n = snprintf(plain, sizeof plain, "%.250s: taken over", path);
	if (weir_handle_measure(h, &s, &filter) == 0 && filter.saturated &&
	    filter.keys_estimated > saturated * (double)filter.capacity)
		snprintf(plain + n, sizeof plain - (size_t)n,
		         ", but saturated: about %.0f keys in a capacity of %llu, so it answers "
		         "%.6f of absent keys with true, where %.6f was asked",
		         filter.keys_estimated, (unsigned long long)filter.capacity,
		         filter.fp_rate_estimated, filter.fp_rate);
	weir_escape(text, WEIR_SANITY_TEXT, plain, strlen(plain));
}
