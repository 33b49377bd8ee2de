/* SPDX-License-Identifier: MIT
 * The statistics that the gate checks when one shard of a set is replaced.
 *
 * [GATE-WHOLE-SET]  The gate checks the set as it would be with the new shard. Keys add up. All
 *    shards have the same size, and absent keys spread evenly over the shards. So fill and rate of
 *    the set are the means of the shards' fill and rate.
 * [GATE-CLAIMED]  The statistics of the other shards hold until the commit: the set is claimed, so
 *    no other writer replaces a shard. Inserts go on and only add.
 * [GATE-OTHER-SHARDS]  If the set would break a limit, a shard that keeps the limit for its own
 *    part passes all the same, since the other shards may be the cause. So a set that inserts have
 *    overfilled can be mended shard by shard. A shard with at least as many keys as the shard it
 *    replaces passes too, since a first load starts below min_keys.
 * [GATE-LAST-SHARD]  The last shard of a round (all other shards were replaced more recently)
 *    completes the set, so min_keys applies to it without [GATE-OTHER-SHARDS].
 * [GATE-SHORT-SOURCE]  The first shard already shows that a source is empty or short. Keys spread
 *    over the shards at random, so a source with min_keys keys gives each shard about min_keys /
 *    shards of them. Only one shard in a billion has fewer by 6 standard deviations (of a Poisson
 *    variable). Without this check, several shards would be replaced before the set falls below
 *    min_keys.
 *
 * The gate first estimates the set's statistics from a sample of the other shards. Only if the
 * sample breaks a limit does the gate count all bits. Then the exact counts decide. */
#include <math.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "set/generation.h"
#include "set/reload/reload.h"

/* The sample has a page of each shard, and at most this many other lines: 64 MiB. So its cost has
 * an upper bound. */
enum { SAMPLE_LINES = 1 << 20 };

struct figures {
	double keys, fill, rate;
};

/* A new shard and the set that it joins. */
struct part {
	weir_progress_fn *progress;
	void *progress_arg;
	const struct weir_share *share;
	uint32_t shards;
	struct figures next; /* figures of the new shard */
};

static struct figures measure(const struct part *p, const struct weir_filter *f, uint64_t lines)
{
	struct weir_stats s = WEIR_STATS_INIT;
	const struct weir_survey survey = { .lines = lines,
		                            .progress = p->progress,
		                            .progress_arg = p->progress_arg };
	(void)weir__survey(f, &survey, &s); /* cannot fail: progress never stops it */
	return (struct figures){ s.keys_estimated, s.fill, s.fp_rate_estimated };
}

/* [GATE-CLAIMED]: return the record that a shard of the set publishes now. */
static const struct weir_generation *record_of(const struct part *p, uint32_t shard)
{
	return p->share->handles[shard]->generation;
}

/* [GATE-WHOLE-SET]: compute the set's statistics from all bits or from a sample. */
static struct figures set_figures(const struct part *p, bool exact)
{
	uint64_t lines = WEIR__SURVEY_FEWEST_LINES + SAMPLE_LINES / p->shards;
	struct figures sum = p->next;
	for (uint32_t i = 0; i < p->shards; i++) {
		if (i == p->share->shard)
			continue;
		struct figures one = measure(p, record_of(p, i)->current,
		                             exact ? UINT64_MAX : lines);
		sum.keys += one.keys;
		sum.fill += one.fill;
		sum.rate += one.rate;
	}
	return (struct figures){ sum.keys, sum.fill / p->shards, sum.rate / p->shards };
}

/* [GATE-LAST-SHARD]: return true if the new shard is the last one of a round. */
static bool completes_a_round(const struct part *p)
{
	uint64_t number = record_of(p, p->share->shard)->number;
	for (uint32_t i = 0; i < p->shards; i++)
		if (i != p->share->shard && record_of(p, i)->number <= number)
			return false;
	return true;
}

static int ask_keys(const struct part *p, double min_keys)
{
	double mean = min_keys / p->shards;
	if (p->next.keys < mean - 6 * sqrt(mean)) /* [GATE-SHORT-SOURCE] */
		return weir__fail(-ECANCELED,
		                  "the gate refused: about %.0f keys in shard %u, where the share "
		                  "of min_keys %.0f is %.0f",
		                  p->next.keys, p->share->shard, min_keys, mean);
	const struct weir_filter *before = record_of(p, p->share->shard)->current;
	bool own_part = p->next.keys >= mean ||
	                p->next.keys >= measure(p, before, UINT64_MAX).keys;
	if (own_part && !completes_a_round(p)) /* [GATE-OTHER-SHARDS] */
		return 0;
	if (set_figures(p, false).keys >= min_keys)
		return 0;
	double keys = set_figures(p, true).keys;
	if (keys >= min_keys)
		return 0;
	return weir__fail(-ECANCELED,
	                  "the gate refused: about %.0f keys in the set with this shard %u, "
	                  "where min_keys is %.0f",
	                  keys, p->share->shard, min_keys);
}

static int ask_fill(const struct part *p, double max)
{
	if (p->next.fill <= max || set_figures(p, false).fill <= max) /* [GATE-OTHER-SHARDS] */
		return 0;
	double fill = set_figures(p, true).fill;
	if (fill <= max)
		return 0;
	return weir__fail(-ECANCELED,
	                  "the gate refused: fill %.4f of the set with this shard %u, which has "
	                  "%.4f, where max_fill is %.4f",
	                  fill, p->share->shard, p->next.fill, max);
}

static int ask_rate(const struct part *p, double max)
{
	if (p->next.rate <= max || set_figures(p, false).rate <= max) /* [GATE-OTHER-SHARDS] */
		return 0;
	double rate = set_figures(p, true).rate;
	if (rate <= max)
		return 0;
	return weir__fail(-ECANCELED,
	                  "the gate refused: the set with this shard %u answers %.6f of absent "
	                  "keys with true, the shard itself %.6f, where max_fp_rate is %.6f",
	                  p->share->shard, rate, p->next.rate, max);
}

int weir__gate_check_set(const struct weir_gate *gate)
{
	if (!gate->check)
		return 0;
	return weir__fail(-EINVAL, "gate.check: it would see one shard of the set, where "
	                           "lookups of keys are wrong: look at weir_reload_next() before "
	                           "the commit, or in fill, with rotated hashes");
}

int weir__gate_ask_set(const struct weir_gate *gate, const struct weir_filter *next,
                       const struct weir_share *share, weir_progress_fn *progress,
                       void *progress_arg)
{
	struct part p = { .progress = progress,
	                  .progress_arg = progress_arg,
	                  .share = share,
	                  .shards = UINT32_C(1) << share->bits };
	int err = 0;
	p.next = measure(&p, next, UINT64_MAX);
	if (gate->min_keys > 0)
		err = ask_keys(&p, gate->min_keys);
	if (!err && gate->max_fill > 0)
		err = ask_fill(&p, gate->max_fill);
	if (!err && gate->max_fp_rate > 0)
		err = ask_rate(&p, gate->max_fp_rate);
	return err;
}
