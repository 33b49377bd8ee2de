/* SPDX-License-Identifier: MIT
 * The checks of the gate, with an error message for each refusal. */
#include <sys/uio.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "set/reload/reload.h"

/* Return: the number of bytes of a canary to print. */
static int shown(const struct iovec *key)
{
	return (int)(key->iov_len < 64 ? key->iov_len : 64);
}

/* Return: true if the filter gives the answer @wanted to a canary key. A shard is asked only for
 * canaries that belong to it, by the rotated hash. Canaries of other shards are checked when those
 * shards are replaced. */
static bool answers(const struct weir_filter *next, const struct weir_share *share,
                    const struct iovec *key, bool wanted)
{
	if (!share->bits)
		return weir_contains(next, key->iov_base, key->iov_len) == wanted;
	const uint64_t hash = weir_hash(next, key->iov_base, key->iov_len);
	return weir__share_shard(share->bits, hash) != share->shard ||
	       weir_contains_hash(next, weir__share_hash(share->bits, hash)) == wanted;
}

static int ask_canaries(const struct weir_gate *gate, const struct weir_filter *next,
                        const struct weir_share *share)
{
	for (size_t i = 0; i < gate->must_hits; i++)
		if (!answers(next, share, &gate->must_hit[i], true))
			return weir__fail(-ECANCELED,
			                  "the gate refused: key %zu of must_hit, \"%.*s\", is not "
			                  "in the next filter",
			                  i, shown(&gate->must_hit[i]),
			                  (const char *)gate->must_hit[i].iov_base);
	for (size_t i = 0; i < gate->must_misses; i++)
		if (!answers(next, share, &gate->must_miss[i], false))
			return weir__fail(-ECANCELED,
			                  "the gate refused: key %zu of must_miss, \"%.*s\", is in "
			                  "the next filter",
			                  i, shown(&gate->must_miss[i]),
			                  (const char *)gate->must_miss[i].iov_base);
	return 0;
}

static int ask_figures(const struct weir_gate *gate, const struct weir_filter *next,
                       weir_progress_fn *progress, void *progress_arg)
{
	struct weir_stats s = WEIR_STATS_INIT;
	const struct weir_survey all = { .lines = UINT64_MAX, /* a sample could miss a few keys */
		                         .progress = progress,
		                         .progress_arg = progress_arg };
	int err = weir__survey(next, &all, &s);
	if (err)
		return err;
	if (gate->max_fill > 0 && s.fill > gate->max_fill)
		return weir__fail(-ECANCELED, "the gate refused: fill %.4f, where max_fill is %.4f",
		                  s.fill, gate->max_fill);
	if (gate->max_fp_rate > 0 && s.fp_rate_estimated > gate->max_fp_rate)
		return weir__fail(-ECANCELED,
		                  "the gate refused: the bits answer %.6f of absent keys with "
		                  "true, where max_fp_rate is %.6f",
		                  s.fp_rate_estimated, gate->max_fp_rate);
	if (s.keys_estimated < gate->min_keys)
		return weir__fail(-ECANCELED,
		                  "the gate refused: about %.0f keys, where min_keys is %.0f",
		                  s.keys_estimated, gate->min_keys);
	return 0;
}

/* Check the hashes, and turn a failure into the gate's errno. */
static int ask_hashes(const struct weir_filter *next)
{
	return weir__hashes_check(next, "the gate refused") ? -ECANCELED : 0;
}

static int check_fields(const struct weir_gate *gate)
{
	if (gate->must_hits && !gate->must_hit)
		return weir__fail(-EINVAL, "gate.must_hit is NULL, must_hits %zu", gate->must_hits);
	if (gate->must_misses && !gate->must_miss)
		return weir__fail(-EINVAL, "gate.must_miss is NULL, must_misses %zu",
		                  gate->must_misses);
	if (!(gate->max_fill >= 0 && gate->max_fill <= 1))
		return weir__fail(-EINVAL, "gate.max_fill %g: allowed: 0 to 1, 0 for any",
		                  gate->max_fill);
	if (!(gate->max_fp_rate >= 0 && gate->max_fp_rate <= 1))
		return weir__fail(-EINVAL, "gate.max_fp_rate %g: allowed: 0 to 1, 0 for any",
		                  gate->max_fp_rate);
	if (!(gate->min_keys >= 0))
		return weir__fail(-EINVAL, "gate.min_keys %g: allowed: 0 or more", gate->min_keys);
	return 0;
}

int weir__gate_take(struct weir_gate *copy, const struct weir_gate **gate)
{
	*copy = (struct weir_gate)WEIR_GATE_INIT;
	int err = weir__options_copy(copy, sizeof *copy, *gate, "weir_gate");
	if (!err)
		err = check_fields(copy);
	/* the copy is complete: fields that an older header lacks have their defaults */
	copy->struct_size = sizeof *copy;
	if (*gate)
		*gate = copy;
	return err;
}

int weir__gate_ask(const struct weir_gate *gate, const struct weir_filter *next,
                   const struct weir_share *share, weir_progress_fn *progress, void *progress_arg)
{
	int err = 0;
	if (!gate)
		return 0;
	if (gate->max_fill > 0 || gate->max_fp_rate > 0 || gate->min_keys > 0)
		err = share->bits ? weir__gate_ask_set(gate, next, share, progress, progress_arg) :
		                    ask_figures(gate, next, progress, progress_arg);
	if (!err && !gate->allow_uneven)
		err = ask_hashes(next);
	if (!err)
		err = ask_canaries(gate, next, share);
	if (!err && gate->check) {
		int answer = gate->check(next, gate->context);
		if (answer)
			err = weir__fail(-ECANCELED, "the gate refused: check answered %d", answer);
	}
	return err;
}
