/* SPDX-License-Identifier: MIT
 * Loads a window: makes an empty window with the parameters in the image's head, then reads each
 * generation and copies it into its slot. The window is private until the load ends. */
#include <inttypes.h>
#include <string.h>
#include "ground/error.h"
#include <weir/image.h>
#include "window/window.h"

/* ---- ages ---- */

/* Return: ns since the save; 0 if the clock was set back. */
static uint64_t time_since(uint64_t saved)
{
	uint64_t now = weir__window_real_time(), passed = now > saved ? now - saved : 0;
	return passed < WEIR_WINDOW_OLDEST ? passed : WEIR_WINDOW_OLDEST;
}

/* Return: the number of advances that would have come in @passed ns. The first advance comes at
 * the time when it was due at the save, and each later advance comes one period after its
 * predecessor. @newest: has the newest generation's age at the save, and receives its age after the
 * advances. */
static uint64_t advances_in(uint64_t passed, uint64_t period, uint64_t *newest)
{
	uint64_t due = *newest < period ? period - *newest : 0;
	if (passed < due) {
		*newest += passed;
		return 0;
	}
	*newest = (passed - due) % period;
	return 1 + (passed - due) / period;
}

/* Set the slots and the times of all generations. */
static void set_ages(struct weir_window *w, const struct weir_parts *parts)
{
	const unsigned n = parts->n;
	uint64_t passed = w->run.forget_older ? time_since(w->saved) : 0;
	uint64_t newest = parts->note[0], now = w->began = w->clock(w->clock_arg);
	uint64_t advances = passed ? advances_in(passed, w->period, &newest) : 0;
	w->shift = advances < n ? (unsigned)advances : n;
	unsigned used = w->shift + weir__window_used(parts->note, n);
	used = used < n ? used : n;
	const uint32_t slot = used - 1; /* the newest slot after used - 1 advances */
	atomic_init(&w->state, weir__window_state(used - 1, slot, w->bits.slots));
	for (unsigned i = 0; i < used; i++) {
		uint64_t age = i < w->shift ? newest + i * w->period :
		                              parts->note[i - w->shift] + passed;
		uint64_t since = now - (age < WEIR_WINDOW_OLDEST ? age : WEIR_WINDOW_OLDEST);
		weir__figure_store_relaxed(&w->since[weir__window_slot(slot, i, w->bits.slots)],
		                           since ? since : 1);
	}
	if (!w->shift && w->enough != UINT64_MAX)
		weir__figure_store_relaxed(&w->counted[slot],
		                           parts->own[WEIR_WINDOW_COUNTED] / (w->sampled + 1));
}

/* Subtract the duration of the load from the ages. Do not call this if run.forget_older is set,
 * since then the ages count all time since the save. */
static void set_later(struct weir_window *w)
{
	const uint64_t took = w->clock(w->clock_arg) - w->began;
	for (uint32_t slot = 0; slot < w->bits.slots; slot++) {
		uint64_t since = weir__figure_load_relaxed(&w->since[slot]);
		if (since)
			weir__figure_store_relaxed(&w->since[slot],
			                           since + took ? since + took : 1);
	}
}

/* ---- bits ---- */

void weir__window_put(struct weir_filter *f, unsigned i, const struct weir_filter *member)
{
	const struct weir_window *w = weir__window_of(f);
	const struct weir_window_bits *b = &w->bits;
	const uint64_t *from = member->array.words;
	const uint32_t newest = weir__window_newest(weir__window_load_acquire(&w->state));
	if (i + w->shift >= w->generations)
		return;
	uint64_t *to = b->words + b->slot_step * weir__window_slot(newest, i + w->shift, b->slots);
	for (uint64_t n = 0; n < 8 * b->blocks; n++)
		to[n * b->stride] = from[n];
}

/* ---- the window ---- */

/* Return: the parameters with which the window could have been created. */
static struct weir_params params_of(const struct weir_parts *p,
                                    const struct weir_load_options *asked)
{
	struct weir_params out = WEIR_PARAMS_INIT;
	out.window.generations = p->whole->shape.field[WEIR_WINDOW_G];
	out.window.span_seconds = weir__window_span_of(p->own);
	out.window.generation_keys = p->own[WEIR_WINDOW_PER_KEYS];
	out.window.run = asked->run;
	return out;
}

static int fits(const struct weir_params *p, uint64_t bytes,
                const struct weir_load_options *options)
{
	if (options->max_bytes && bytes > options->max_bytes)
		return weir__fail(-EFBIG, "bytes of bits is %" PRIu64 "; allowed: at most "
		                  "max_bytes, %" PRIu64, bytes, options->max_bytes);
	if (options->run.forget_older && p->window.span_seconds == 0)
		return weir__fail(-EINVAL, "forget_older, but the window advances by number alone");
	return 0;
}

static int make(struct weir_filter **out, const struct weir_layout *whole, uint64_t bytes,
                const struct weir_load_options *options)
{
	struct weir_layout layout = *whole;
	struct weir_memory memory;
	/* do not prefault here: weir__window_thawed() touches the pages */
	int err = weir__memory_alloc(&memory, bytes, options->flags & ~WEIR_PREFAULT,
	                             options->memory, options->memory_bytes);
	if (err)
		return err;
	layout.lines = bytes / 64;
	layout.flags = options->flags;
	err = weir__filter_make(out, &layout, &memory, 0);
	if (err)
		weir__memory_free(&memory);
	return err;
}

/* Make an empty window, with the ages of the generations that will be loaded. */
int weir__window_thaw(struct weir_filter **out, const struct weir_parts *parts,
                      const struct weir_load_options *options)
{
	const struct weir_layout *whole = parts->whole;
	const struct weir_params p = params_of(parts, options);
	int err = weir__window_check_image(parts);
	if (err)
		return err;
	const uint32_t n = p.window.generations, layout = whole->shape.field[WEIR_WINDOW_LAYOUT];
	const uint64_t bytes = weir__window_bytes(layout, n, 64 * whole->lines / n);
	err = weir__window_check_advances(&p);
	if (!err)
		err = fits(&p, bytes, options);
	if (!err)
		err = make(out, whole, bytes, options);
	if (err)
		return err;
	struct weir_window *w = weir__window_of(*out);
	weir__window_configure(w, &p);
	w->saved = parts->own[WEIR_WINDOW_SAVED];
	set_ages(w, parts);
	return 0;
}

int weir__window_thawed(struct weir_filter *f, const struct weir_load_options *options)
{
	struct weir_window *w = weir__window_of(f);
	if (options->flags & WEIR_PREFAULT)
		weir__memory_touch(&f->memory, 0, f->bytes);
	if (!w->run.forget_older)
		set_later(w);
	return w->run.timer ? weir__window_timer_start(w) : 0;
}
