/* SPDX-License-Identifier: MIT
 * The statistics of a window, from its bits. */
#include <math.h>
#include <string.h>
#include "ground/error.h"
#include "kind/spread.h"
#include "window/window.h"

enum { SAMPLE = 16384 }; /* the most lines to read for a slot, without WEIR_EXACT */

/* Means over the sampled blocks. */
struct sums {
	double fill; /* share of bits set */
	double rate; /* share of absent keys answered true */
};

/* Measure a block. Its words form z equal groups, and each key has a word in each group. */
static struct sums block_of(const struct weir_window_bits *b, const uint64_t *word)
{
	unsigned run = 8 / b->z;
	struct sums sum = { 0, 1 };
	for (unsigned z = 0; z < b->z; z++) {
		double chance = 0;
		for (unsigned i = 0; i < run; i++, word += b->stride) {
			double set = __builtin_popcountll(weir__word_load_relaxed(word)) / 64.0;
			sum.fill += set / 8;
			chance += pow(set, b->g) / run;
		}
		sum.rate *= chance;
	}
	return sum;
}

/* Return: the blocks to read in a slot. A block is one line in a ring. In columns its eight words
 * are in up to eight lines. */
static uint64_t sample(const struct weir_window_bits *b, bool exact)
{
	const uint64_t most = weir__window_is_ring(b) ? SAMPLE : SAMPLE / 8;
	return exact || b->blocks < most ? b->blocks : most;
}

static struct sums survey(const struct weir_window_bits *b, uint32_t slot, uint64_t n)
{
	const uint64_t step = b->blocks / n;
	struct sums all = { 0, 0 };
	for (uint64_t i = 0; i < n; i++) {
		struct sums one = block_of(b, b->words + slot * b->slot_step +
		                                      8 * i * step * b->stride);
		all.fill += one.fill / (double)n;
		all.rate += one.rate / (double)n;
	}
	return all;
}

/* Estimate the keys. A key with g bits in a word leaves a bit 0 with the chance (63/64)^g. */
static double keys_of(const struct weir_window_bits *b, double fill)
{
	double words = (double)b->blocks * (8 / b->z);
	return words * -log1p(-fmin(fill, 1 - 0x1p-20)) / -expm1(b->g * log1p(-1 / 64.0));
}

/* Test whether the hashes are uniform, by the test for blocked filters, since a slot has the blocks
 * of a blocked filter. */
static void judge_slot(struct weir_stats *s, const struct weir_window_bits *b, uint32_t slot,
                       uint64_t most)
{
	const struct weir_law law = { .base = b->words + slot * b->slot_step, .stride = b->stride,
		                      .blocks = b->blocks, .words = 8, .word_bits = 64,
		                      .cells = 64, .z = b->z, .g = b->g };
	const char *why = NULL;
	const uint32_t verdict = weir__spread_judge(&law, most, &why);
	if (verdict <= s->hashes_uneven)
		return;
	s->hashes_uneven = verdict;
	s->uneven_why = why;
}

static void add(struct weir_stats *s, const struct weir_window *w, struct sums one)
{
	s->fill += one.fill / w->generations;
	s->fill_max = fmax(s->fill_max, one.fill);
	s->keys_estimated += keys_of(&w->bits, one.fill);
	s->fp_rate_estimated += (1 - s->fp_rate_estimated) * one.rate;
}

/* Use one section, so that no slot is cleared during the survey. No callback of the caller runs in
 * the section. */
void weir__window_survey(const struct weir_filter *f, uint64_t lines, struct weir_stats *out)
{
	const struct weir_window *w = weir__window_of(f);
	const uint64_t n = sample(&w->bits, lines == UINT64_MAX);
	weir__read_lock(&w->rcu);
	const uint32_t newest = weir__window_newest(weir__window_load_acquire(&w->state));
	for (uint32_t i = 0; i < w->generations; i++) {
		const uint32_t slot = weir__window_slot(newest, i, w->bits.slots);
		add(out, w, survey(&w->bits, slot, n));
		judge_slot(out, &w->bits, slot, n);
	}
	weir__read_unlock(&w->rcu);
	out->sampled = (double)n / (double)w->bits.blocks;
}

static void fill_stats(const struct weir_window *w, uint64_t n, struct weir_window_stats *s)
{
	uint64_t state = weir__window_load_acquire(&w->state), now = w->clock(w->clock_arg);
	uint32_t newest = weir__window_newest(state), slot;
	s->advances = weir__window_advances(state);
	s->keys_counted = weir__window_counted(w, newest);
	for (uint32_t i = 0; i < w->generations; i++) {
		slot = weir__window_slot(newest, i, w->bits.slots);
		/* a generation that was never the newest has no age */
		s->age_seconds[i] = i > s->advances ?
		                            0 : (double)weir__window_age(w, slot, now) * 1e-9;
		s->fill[i] = survey(&w->bits, slot, n).fill;
	}
	s->due_seconds = w->period ? (double)w->period * 1e-9 - s->age_seconds[0] : INFINITY;
	s->late_seconds = (double)weir__figure_load_relaxed(&w->late) * 1e-9;
}

int weir_window_measure(const struct weir_filter *f, uint32_t effort, struct weir_window_stats *out)
{
	struct weir_window_stats s = WEIR_WINDOW_STATS_INIT;
	int err = weir__size_check(out, sizeof *out, "weir_window_stats");
	if (!err)
		err = weir__effort_check(effort);
	if (!err && f->kind != &weir__kind_window)
		err = weir__kind_cannot(f->kind, "tell generations apart");
	if (err)
		return err;
	const struct weir_window *w = weir__window_of(f);
	s.struct_size = out->struct_size;
	s.generations = w->generations;
	s.span_seconds = w->span_seconds;
	s.generation_keys = w->generation_keys;
	s.saved_ns = w->saved;
	/* a section, so that no slot is cleared during the survey */
	weir__read_lock(&w->rcu);
	fill_stats(w, sample(&w->bits, effort == WEIR_EXACT), &s);
	weir__read_unlock(&w->rcu);
	memcpy(out, &s, out->struct_size);
	return 0;
}
