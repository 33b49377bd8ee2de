/* SPDX-License-Identifier: MIT
 * The options of a window, checked, and its size: that of blocked filters of a share of the keys
 * and of the rate each. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kinds/blocked/blocked.h"
#include "window/window.h"

#define LEAST_RATE 1e-9 /* a filter's, so a generation's */

static const uint32_t default_generations = 7; /* whose columns, with the spare's, fill a line */

int weir__window_check_turns(const struct weir_window_options *o)
{
	if (o->generations < WEIR_WINDOW_LEAST || o->generations > WEIR_WINDOW_MOST)
		return weir__fail(-EINVAL, "generations %" PRIu32 ": %d to %d, or 0 for %" PRIu32,
		                  o->generations, WEIR_WINDOW_LEAST, WEIR_WINDOW_MOST,
		                  default_generations);
	if (!weir__window_spans(o->span_seconds))
		return weir__fail(-EINVAL, "span_seconds %g: %g to %g, or 0 for no advance by time",
		                  o->span_seconds, WEIR__WINDOW_LEAST_SPAN, WEIR__WINDOW_MOST_SPAN);
	if (o->timer > 1)
		return weir__fail(-EINVAL, "timer %" PRIu32 ": 1, or 0 for none", o->timer);
	if (o->timer && o->clock)
		return weir__fail(-EINVAL, "timer with a clock of the caller's: its thread sleeps "
		                  "by CLOCK_MONOTONIC; leave timer 0 and call weir_window_tick()");
	if (o->timer && o->span_seconds == 0 && !o->generation_keys)
		return weir__fail(-EINVAL, "timer without span_seconds or generation_keys: nothing "
		                  "would ever be due");
	return 0;
}

static int check_shape(struct weir_window_options *o)
{
	uint32_t z = o->words_per_key;
	if (o->layout > WEIR_WINDOW_RING)
		return weir__fail(-EINVAL, "layout %" PRIu32 ": columns (%d), ring (%d) or 0",
		                  o->layout, WEIR_WINDOW_COLUMNS, WEIR_WINDOW_RING);
	if (o->layout == WEIR_WINDOW_COLUMNS && z > 1)
		return weir__fail(-EINVAL, "words_per_key %" PRIu32 ": a key has one word in each "
		                  "of the columns; the ring takes more", z);
	if (o->layout == WEIR_WINDOW_CHOSEN)
		o->layout = z > 1 ? WEIR_WINDOW_RING : WEIR_WINDOW_COLUMNS;
	if (o->layout == WEIR_WINDOW_COLUMNS)
		o->words_per_key = 1;
	return 0;
}

/* How many times a generation's bytes the window has. The columns' words of one place fill lines,
 * or half a line. */
static uint64_t times(uint32_t layout, uint32_t generations)
{
	uint64_t slots = generations + 1;
	return layout == WEIR_WINDOW_RING ? slots : slots <= 4 ? 4 : (slots + 7) / 8 * 8;
}

uint64_t weir__window_bytes(uint32_t layout, uint32_t generations, uint64_t one)
{
	return times(layout, generations) * one;
}

/* The rate of one generation, of which there are n. */
static double rate_of_one(double rate, double n)
{
	return -expm1(log1p(-rate) / n);
}

static double rate_of_all(double rate, double n)
{
	return -expm1(log1p(-rate) * n);
}

uint64_t weir__window_member_capacity(uint64_t capacity, uint32_t generations)
{
	return capacity / generations + (capacity % generations != 0);
}

/* A generation as a blocked filter. */
static int plan_one(struct weir_window_options *o, struct weir_plan *out)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	uint64_t g = o->generations, n = times(o->layout, o->generations);
	if (!o->capacity)
		o->capacity = o->generation_keys <= UINT64_MAX / g ? o->generation_keys * g :
		                                                     UINT64_MAX;
	const double least = LEAST_RATE * (double)g;
	if (o->fp_rate != 0 && !(o->fp_rate >= least && o->fp_rate <= 0.5))
		return weir__fail(-EINVAL, "fp_rate %g: that of all %" PRIu64 " generations, %g to "
		                  "0.5", o->fp_rate, g, least);
	if ((o->capacity != 0) + (o->fp_rate != 0) + (o->max_bytes != 0) < 2)
		return weir__fail(-EINVAL, "capacity %" PRIu64 ", fp_rate %g, max_bytes %" PRIu64
		                  ": give two of the three (0 means not given)", o->capacity,
		                  o->fp_rate, o->max_bytes);
	if (o->max_bytes && o->max_bytes / n < 64)
		return weir__fail(-EINVAL, "max_bytes %" PRIu64 ": at least %" PRIu64 ", a line "
		                  "for each generation and for the one that is being cleared",
		                  o->max_bytes, 64 * n);
	p.capacity = weir__window_member_capacity(o->capacity, o->generations);
	p.fp_rate = o->fp_rate > 0 ? rate_of_one(o->fp_rate, (double)g) : 0;
	p.max_bytes = o->max_bytes / n;
	p.words_per_key = o->words_per_key;
	p.shards = 1;
	return weir_plan_make(&p, out);
}

/* Later than at its capacity an advance by number would come to a generation that is overfull, or
 * never: what is inserted into full words changes nothing and counts for nothing. */
static int check_number(const struct weir_window_options *o, uint64_t capacity)
{
	const uint64_t room = weir__window_member_capacity(capacity, o->generations);
	if (o->generation_keys <= room)
		return 0;
	return weir__fail(-EINVAL, "generation_keys %" PRIu64 ": a generation has room for %" PRIu64
	                  " keys, its share of the capacity %" PRIu64, o->generation_keys, room,
	                  capacity);
}

int weir__window_plan(struct weir_window_options *o, const struct weir_window_options *options,
                      struct weir_window_plan *plan)
{
	struct weir_plan one = WEIR_PLAN_INIT;
	*o = (struct weir_window_options)WEIR_WINDOW_OPTIONS_INIT;
	int err = weir__options_copy(o, sizeof *o, options, "weir_window_options");
	if (!err && !o->generations)
		o->generations = default_generations;
	if (!err)
		err = weir__window_check_turns(o);
	if (!err)
		err = weir__flags_check(o->flags);
	if (!err)
		err = check_shape(o);
	if (!err)
		err = plan_one(o, &one);
	if (err)
		return err;
	*plan = (struct weir_window_plan){
		.struct_size = sizeof *plan,
		.layout = o->layout,
		.generations = o->generations,
		.words_per_key = one.shape.field[WEIR_BLOCKED_Z],
		.bits_per_word = one.shape.field[WEIR_BLOCKED_G],
		.capacity = o->capacity ? o->capacity : one.capacity * o->generations,
		.bytes = weir__window_bytes(o->layout, o->generations, one.bytes),
		.fp_rate = o->fp_rate > 0 ? o->fp_rate : rate_of_all(one.fp_rate, o->generations)
	};
	plan->bits_per_key = 8 * (double)plan->bytes / (double)plan->capacity;
	return check_number(o, plan->capacity);
}

int weir_window_plan(const struct weir_window_options *options, struct weir_window_plan *out)
{
	struct weir_window_options o;
	struct weir_window_plan plan;
	int err = weir__size_check(out, sizeof *out, "weir_window_plan");
	if (!err)
		err = weir__window_plan(&o, options, &plan);
	if (err)
		return err;
	plan.struct_size = out->struct_size;
	memcpy(out, &plan, out->struct_size);
	return 0;
}
