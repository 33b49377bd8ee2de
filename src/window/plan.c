/* SPDX-License-Identifier: MIT
 * Checks the parameters of a window, and plans its generations as blocked filters, each with a
 * part of the keys and of the rate. */
#include <inttypes.h>
#include <math.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/sizing.h"
#include "kinds/blocked/blocked.h"
#include "window/window.h"

#define LEAST_RATE 1e-9 /* least fp_rate of a filter, and so of a generation */

/* Seven generations and the spare take 8 slots. In columns, a key's words of 8 slots fill one
 * line. */
static const uint32_t default_generations = 7;

static int out_of_range(int err, const char *name, double value, double least, double most)
{
	return weir__refused(err, WEIR_ERROR_RANGE, name, value, least, most, 0);
}

int weir__window_check_advances(const struct weir_params *p)
{
	const uint32_t n = p->window.generations;
	const double span = p->window.span_seconds;
	const struct weir_window_run *run = &p->window.run;
	if (n < WEIR_WINDOW_LEAST || n > WEIR_WINDOW_MOST)
		return out_of_range(
			weir__fail(-EINVAL, "window.generations %" PRIu32 ": %d to %d, or 0 for %"
			           PRIu32, n, WEIR_WINDOW_LEAST, WEIR_WINDOW_MOST,
			           default_generations),
			"window.generations", n, WEIR_WINDOW_LEAST, WEIR_WINDOW_MOST);
	if (!weir__window_spans(span))
		return out_of_range(
			weir__fail(-EINVAL, "window.span_seconds %g: %g to %g, or 0 for no advance "
			           "by time", span, WEIR__WINDOW_LEAST_SPAN,
			           WEIR__WINDOW_MOST_SPAN),
			"window.span_seconds", span, WEIR__WINDOW_LEAST_SPAN,
			WEIR__WINDOW_MOST_SPAN);
	if (run->reserved)
		return weir__fail(-EINVAL, "window.run.reserved %" PRIu32 ": leave it 0",
		                  run->reserved);
	if (run->timer && run->clock)
		return weir__fail(-EINVAL, "window.run.timer with a clock of the caller's: its "
		                  "thread sleeps by CLOCK_MONOTONIC; leave timer false and call "
		                  "weir_window_tick()");
	if (run->timer && span == 0 && !p->window.generation_keys)
		return weir__fail(-EINVAL, "window.run.timer without span_seconds or "
		                  "generation_keys: nothing would ever be due");
	return 0;
}

static int check_shape(struct weir_params *p)
{
	const uint32_t z = p->window.words_per_key, layout = p->window.layout;
	if (layout > WEIR_WINDOW_RING)
		return out_of_range(
			weir__fail(-EINVAL, "window.layout %" PRIu32 ": columns (%d), ring (%d) or "
			           "0", layout, WEIR_WINDOW_COLUMNS, WEIR_WINDOW_RING),
			"window.layout", layout, WEIR_WINDOW_COLUMNS, WEIR_WINDOW_RING);
	if (z > 8 || (z & (z - 1)))
		return out_of_range(
			weir__fail(-EINVAL, "window.words_per_key %" PRIu32 ": 1, 2, 4, 8, or 0 to "
			           "have it chosen", z),
			"window.words_per_key", z, 1, 8);
	if (layout == WEIR_WINDOW_COLUMNS && z > 1)
		return out_of_range(
			weir__fail(-EINVAL, "window.words_per_key %" PRIu32 ": a key has one word "
			           "in each of the columns; the ring takes more", z),
			"window.words_per_key", z, 1, 1);
	if (layout == WEIR_WINDOW_CHOSEN)
		p->window.layout = z > 1 ? WEIR_WINDOW_RING : WEIR_WINDOW_COLUMNS;
	if (p->window.layout == WEIR_WINDOW_COLUMNS)
		p->window.words_per_key = 1;
	return 0;
}

/* If the number of generations or the capacity is 0, fill it in. Check the other parameters. */
int weir__window_settle(struct weir_params *p)
{
	if (!p->window.generations)
		p->window.generations = default_generations;
	int err = weir__window_check_advances(p);
	if (!err)
		err = check_shape(p);
	if (!err && p->shards > 1)
		err = weir__refused(weir__fail(-EINVAL, "shards %" PRIu32 ": kind window has none, "
		                               "leave it 0", p->shards),
		                    WEIR_ERROR_KIND_LACKS, "shards", p->shards, p->kind, 0, 0);
	const uint64_t g = p->window.generations, keys = p->window.generation_keys;
	if (!err && !p->capacity)
		p->capacity = keys <= UINT64_MAX / g ? keys * g : UINT64_MAX;
	return err;
}

/* Return: the size of the window's bits in units of one generation's bits. In columns, one key's
 * words of all slots are padded to half a line or to whole lines. */
static uint64_t times(uint32_t layout, uint32_t generations)
{
	uint64_t slots = generations + 1;
	return layout == WEIR_WINDOW_RING ? slots : slots <= 4 ? 4 : (slots + 7) / 8 * 8;
}

uint64_t weir__window_bytes(uint32_t layout, uint32_t generations, uint64_t one)
{
	return times(layout, generations) * one;
}

/* Return: the rate of each of @n generations if the whole window has @rate. */
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

/* Plan a generation as a blocked filter. */
static int plan_one(const struct weir_params *p, struct weir_plan *out)
{
	struct weir_params one = WEIR_PARAMS_INIT;
	const uint64_t g = p->window.generations;
	const uint64_t n = times(p->window.layout, p->window.generations);
	const double least = LEAST_RATE * (double)g;
	if (p->fp_rate != 0 && p->fp_rate < least)
		return out_of_range(
			weir__fail(-EINVAL, "fp_rate %g: that of all %" PRIu64 " generations, %g "
			           "to 0.5", p->fp_rate, g, least),
			"fp_rate", p->fp_rate, least, 0.5);
	if (p->max_bytes && p->max_bytes / n < 64)
		return out_of_range(
			weir__fail(-EINVAL, "max_bytes %" PRIu64 ": at least %" PRIu64 ", a line "
			           "for each generation and for the one that is being cleared",
			           p->max_bytes, 64 * n),
			"max_bytes", (double)p->max_bytes, 64 * (double)n, WEIR__MOST_BYTES);
	one.capacity = weir__window_member_capacity(p->capacity, p->window.generations);
	one.fp_rate = p->fp_rate > 0 ? rate_of_one(p->fp_rate, (double)g) : 0;
	one.max_bytes = p->max_bytes / n;
	one.blocked.words_per_key = p->window.words_per_key;
	one.shards = 1;
	return weir_plan_make(&one, out);
}

/* Check that an advance by number comes at a generation's capacity or earlier. With a larger number
 * the generation would be overfull. The advance might never come, since a key that sets no new bit
 * is not counted. */
static int check_number(const struct weir_params *p, uint64_t capacity)
{
	const uint64_t room = weir__window_member_capacity(capacity, p->window.generations);
	if (p->window.generation_keys <= room)
		return 0;
	return out_of_range(
		weir__fail(-EINVAL, "window.generation_keys %" PRIu64 ": a generation has room for "
		           "%" PRIu64 " keys, its share of the capacity %" PRIu64,
		           p->window.generation_keys, room, capacity),
		"window.generation_keys", (double)p->window.generation_keys, 0, (double)room);
}

int weir__window_plan(const struct weir_params *p, struct weir_plan *out)
{
	const uint32_t n = p->window.generations, layout = p->window.layout;
	struct weir_plan one = WEIR_PLAN_INIT;
	int err = plan_one(p, &one);
	if (err)
		return err;
	out->shape.field[WEIR_WINDOW_LAYOUT] = layout;
	out->shape.field[WEIR_WINDOW_G] = n;
	out->shape.field[WEIR_WINDOW_WORDS] = one.shape.field[WEIR_BLOCKED_Z];
	out->shape.field[WEIR_WINDOW_BITS] = one.shape.field[WEIR_BLOCKED_G];
	out->shards = 1;
	out->capacity = p->capacity ? p->capacity : one.capacity * n;
	out->bytes = weir__window_bytes(layout, n, one.bytes);
	out->bits_per_key = 8 * (double)out->bytes / (double)out->capacity;
	out->fp_rate = p->fp_rate > 0 ? p->fp_rate : rate_of_all(one.fp_rate, n);
	out->fp_rate_floor = (double)out->capacity / WEIR__HASHES;
	out->reason = layout == WEIR_WINDOW_RING ?
	              "a ring: an array for each generation, of the least memory" :
	              "columns: the words of a key side by side, the fastest lookup";
	return check_number(p, out->capacity);
}
