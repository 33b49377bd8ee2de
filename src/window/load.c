/* SPDX-License-Identifier: MIT
 * Loading a window: an empty one is made as the head says, and each generation's words are put into
 * its slot as it is read. Nobody else has the window meanwhile. */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "image/compound.h"
#include "image/load.h"
#include "window/window.h"

/* One loading. Generation i of the image becomes generation i + shift; beyond the last it is
 * dropped. */
struct loading {
	struct weir_window *w;
	const struct weir_window_load_options *options;
	const struct weir_preface *preface;
	uint32_t newest; /* slot */
	unsigned shift;
	uint64_t began; /* by the window's clock: its ages were set then */
};

static int load_options(struct weir_window_load_options *out,
                        const struct weir_window_load_options *options)
{
	*out = (struct weir_window_load_options)WEIR_WINDOW_LOAD_OPTIONS_INIT;
	int err = weir__options_copy(out, sizeof *out, options, "weir_window_load_options");
	if (!err)
		err = weir__flags_check(out->flags);
	if (!err && out->forget_older > 1)
		err = weir__fail(-EINVAL, "forget_older %" PRIu32 ": 1, or 0 for no",
		                 out->forget_older);
	return err;
}

/* What it would have been created with. */
static struct weir_window_options options_of(const struct weir_preface *p,
                                             const struct weir_window_load_options *asked)
{
	struct weir_window_options o = WEIR_WINDOW_OPTIONS_INIT;
	o.generations = p->head.shape.field[WEIR_WINDOW_G];
	o.span_seconds = weir__window_span_of(p->head.own);
	o.generation_keys = p->head.own[WEIR_WINDOW_PER_KEYS];
	o.flags = asked->flags & ~WEIR_PREFAULT; /* touched when they are read, not before */
	o.timer = asked->timer;
	o.flavor = asked->flavor;
	o.clock = asked->clock;
	o.clock_arg = asked->clock_arg;
	return o;
}

static struct weir_window_plan plan_of(const struct weir_image_head *head)
{
	const uint32_t layout = head->shape.field[WEIR_WINDOW_LAYOUT];
	const uint32_t generations = head->shape.field[WEIR_WINDOW_G];
	struct weir_window_plan plan = {
		.struct_size = sizeof plan,
		.layout = layout,
		.generations = generations,
		.words_per_key = head->shape.field[WEIR_WINDOW_WORDS],
		.bits_per_word = head->shape.field[WEIR_WINDOW_BITS],
		.capacity = head->capacity,
		.bytes = weir__window_bytes(layout, generations, 64 * head->nblocks / generations)
	};
	memcpy(&plan.fp_rate, &head->rate_bits, sizeof plan.fp_rate);
	plan.bits_per_key = 8 * (double)plan.bytes / (double)plan.capacity;
	return plan;
}

/* ---- ages ---- */

/* ns since the save; none if the clock was set back. */
static uint64_t time_since(uint64_t saved)
{
	uint64_t now = weir__window_real_time(), passed = now > saved ? now - saved : 0;
	return passed < WEIR_WINDOW_OLDEST ? passed : WEIR_WINDOW_OLDEST;
}

/* How many advances would have come in that time. The first that was due at the save would have
 * come right after it, and each further one a period later. *newest: the age of what would be the
 * newest generation then. */
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

/* Set the times of all generations, and which they are. */
static void set_ages(struct loading *l, const struct weir_parts *parts)
{
	struct weir_window *w = l->w;
	const unsigned n = parts->n;
	uint64_t passed = l->options->forget_older ? time_since(w->saved) : 0;
	uint64_t newest = parts->note[0], now = l->began = w->clock(w->clock_arg);
	uint64_t advances = passed ? advances_in(passed, w->period, &newest) : 0;
	l->shift = advances < n ? (unsigned)advances : n;
	unsigned used = l->shift + weir__window_used(parts->note, n);
	used = used < n ? used : n;
	l->newest = used - 1; /* the slot, since as many advances have come */
	atomic_init(&w->state, weir__window_state(used - 1, l->newest, w->bits.slots));
	for (unsigned i = 0; i < used; i++) {
		uint64_t age = i < l->shift ? newest + i * w->period :
		                              parts->note[i - l->shift] + passed;
		uint64_t since = now - (age < WEIR_WINDOW_OLDEST ? age : WEIR_WINDOW_OLDEST);
		weir__figure_store_relaxed(
			&w->since[weir__window_slot(l->newest, i, w->bits.slots)],
			since ? since : 1);
	}
	if (!l->shift && w->enough != UINT64_MAX)
		weir__figure_store_relaxed(&w->counted[l->newest],
		                           parts->own[WEIR_WINDOW_COUNTED] / (w->sampled + 1));
}

/* The time that a load takes is no part of what was to pass since the save, unless that counts. */
static void set_later(const struct loading *l)
{
	const struct weir_window *w = l->w;
	const uint64_t took = w->clock(w->clock_arg) - l->began;
	for (uint32_t slot = 0; slot < w->bits.slots; slot++) {
		uint64_t since = weir__figure_load_relaxed(&w->since[slot]);
		if (since)
			weir__figure_store_relaxed(&l->w->since[slot],
			                           since + took ? since + took : 1);
	}
}

/* ---- bits ---- */

static int put(void *loading, unsigned i, const struct weir_member *member)
{
	struct loading *l = loading;
	const struct weir_window_bits *b = &l->w->bits;
	const uint64_t *from = member->f->array.words;
	if (i + l->shift < l->w->plan.generations) {
		uint32_t slot = weir__window_slot(l->newest, i + l->shift, b->slots);
		uint64_t *to = b->words + b->slot_step * slot;
		for (uint64_t n = 0; n < 8 * b->blocks; n++)
			to[n * b->stride] = from[n];
	}
	weir_destroy(member->f);
	return 0;
}

static int read_bits(struct loading *l, struct weir_source *source)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	options.hash_key = l->options->hash_key;
	options.progress = l->options->progress;
	options.progress_arg = l->options->progress_arg;
	return weir__members_give(put, l, l->preface, source, &options);
}

/* ---- the window ---- */

static int fits(const struct weir_window_plan *plan, const struct weir_window_options *o,
                const struct weir_window_load_options *options, const char *name)
{
	if (options->max_bytes && plan->bytes > options->max_bytes)
		return weir__fail(-EFBIG, "%s: bytes of bits is %" PRIu64 "; allowed: at most "
		                  "max_bytes, %" PRIu64, name, plan->bytes, options->max_bytes);
	if (options->forget_older && o->span_seconds == 0)
		return weir__fail(-EINVAL, "%s: forget_older, but the window advances by number "
		                  "alone", name);
	return 0;
}

/* An empty one, with the ages of what will be in it. */
static int make(struct loading *l, const char *name)
{
	const struct weir_preface *p = l->preface;
	const struct weir_window_plan plan = plan_of(&p->head);
	struct weir_layout layout;
	struct weir_parts parts = weir__parts_of(p, &layout);
	int err = weir__preface_layout(&layout, p, l->options->hash_key, name);
	if (err)
		return err;
	err = weir__window_suits(&parts);
	if (err)
		return weir__fail(err, "%s: %s", name, weir_error_detail());
	const struct weir_window_options o = options_of(p, l->options);
	err = weir__window_check_turns(&o);
	if (!err)
		err = fits(&plan, &o, l->options, name);
	if (!err)
		err = weir__window_make(&l->w, &o, &plan, &layout.hashing);
	if (err)
		return err;
	l->w->saved = p->head.own[WEIR_WINDOW_SAVED];
	set_ages(l, &parts);
	return 0;
}

static int load_behind(struct weir_window **out, struct weir_source *source,
                       const struct weir_preface *preface,
                       const struct weir_window_load_options *options)
{
	struct loading l = { .options = options, .preface = preface };
	int err = make(&l, source->name);
	if (err)
		return err;
	err = read_bits(&l, source);
	if (!err && options->flags & WEIR_PREFAULT)
		weir__memory_touch(&l.w->memory, 0, l.w->plan.bytes);
	if (!err && !options->forget_older)
		set_later(&l);
	if (!err && options->timer)
		err = weir__window_timer_start(l.w);
	if (err)
		weir_window_destroy(l.w);
	else
		*out = l.w;
	return err;
}

/* @options: checked. */
static int load(struct weir_window **out, struct weir_source *source,
                const struct weir_window_load_options *options)
{
	struct weir_preface preface;
	source->as = &weir__kind_window;
	int err = weir__preface_read(&preface, source, 0, false);
	if (err)
		return err;
	err = load_behind(out, source, &preface, options);
	weir__preface_free(&preface);
	return err;
}

static int check(struct weir_window **out, struct weir_window_load_options *o,
                 const struct weir_window_load_options *options)
{
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the loaded window needs a place");
	return load_options(o, options);
}

static int load_path(struct weir_window **out, const char *path,
                     const struct weir_window_load_options *options)
{
	struct weir_source source;
	int err = weir__source_open(&source, path, O_RDONLY);
	if (err)
		return err;
	err = weir__source_settle(&source, load(out, &source, options));
	weir__source_close(&source);
	return err;
}

int weir_window_load(struct weir_window **out, const char *path,
                     const struct weir_window_load_options *options)
{
	struct weir_window_load_options o;
	int err = check(out, &o, options);
	return err ? err : load_path(out, path, &o);
}

int weir_window_load_fd(struct weir_window **out, int fd,
                        const struct weir_window_load_options *options)
{
	char name[32];
	struct weir_source source;
	struct weir_window_load_options o;
	int err = check(out, &o, options);
	if (!err)
		err = weir__source_of_fd(&source, fd, name);
	return err ? err : load(out, &source, &o);
}

int weir_window_load_memory(struct weir_window **out, const void *image, size_t bytes,
                            const struct weir_window_load_options *options)
{
	struct weir_source source;
	struct weir_window_load_options o;
	int err = check(out, &o, options);
	if (!err)
		err = weir__source_of_memory(&source, image, bytes);
	return err ? err : load(out, &source, &o);
}

/* So that the figures are those of one moment. */
static uint64_t still(void *unused)
{
	(void)unused;
	return WEIR_WINDOW_OLDEST;
}

int weir_window_image_stats(const char *path, const struct weir_window_load_options *options,
                            struct weir_window_stats *out)
{
	struct weir_window_load_options o;
	struct weir_window *w;
	int err = weir__size_check(out, sizeof *out, "weir_window_stats");
	if (!err)
		err = load_options(&o, options);
	if (err)
		return err;
	o.hash_key = weir__no_hash_key;
	o.timer = 0;
	o.flavor = NULL;
	o.clock = still;
	err = load_path(&w, path, &o);
	if (err)
		return err;
	err = weir_window_stats(w, out);
	weir_window_destroy(w);
	return err;
}
