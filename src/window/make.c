/* SPDX-License-Identifier: MIT
 * Makes and frees windows. */
#include <stdlib.h>
#include <string.h>
#include "config.h"
#include "ground/error.h"
#include "ground/system.h"
#include "ground/threads.h"
#include "window/window.h"

/* If generation_keys is this or more, count only a sample of the keys. The sampled number then has
 * a standard error of about 1 in 200. */
enum { COUNTED = 1 << 16 };

static uint64_t monotonic(void *unused)
{
	(void)unused;
	return weir__clock(CLOCK_MONOTONIC);
}

const struct weir_kernel *weir__window_kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	const unsigned z = shape->field[WEIR_WINDOW_WORDS], g = shape->field[WEIR_WINDOW_BITS];
	const bool ring = shape->field[WEIR_WINDOW_LAYOUT] == WEIR_WINDOW_RING;
	const struct weir_window_kernel *k;
#if WEIR_X86
	if (isa == WEIR_ISA_AVX512)
		k = ring ? weir__window_ring_avx512(z, g) : weir__window_columns_avx512(g);
	else if (isa == WEIR_ISA_AVX2)
		k = ring ? weir__window_ring_avx2(z, g) : weir__window_columns_avx2(g);
	else
#endif
		k = ring ? weir__window_ring_scalar(z, g) : weir__window_columns_scalar(g);
	(void)isa;
	return &k->verbs;
}

static void lay_out(struct weir_window_bits *b, const struct weir_filter *f)
{
	const struct weir_shape *shape = &f->array.shape;
	const uint64_t words = 8 * f->array.lines, slots = shape->field[WEIR_WINDOW_G] + 1;
	const bool ring = shape->field[WEIR_WINDOW_LAYOUT] == WEIR_WINDOW_RING;
	b->words = f->array.words;
	b->slots = (uint32_t)slots;
	b->stride = ring ? 1 : slots <= 4 ? 4 : (slots + 7) / 8 * 8;
	b->slot_step = ring ? words / slots : 1;
	b->blocks = (ring ? b->slot_step : words / b->stride) / 8;
	b->z = shape->field[WEIR_WINDOW_WORDS];
	b->g = shape->field[WEIR_WINDOW_BITS];
	b->far = f->outgrows_cache;
}

int weir__window_create(struct weir_filter *f)
{
	struct weir_window *w = NULL;
	if (posix_memalign((void **)&w, 64, sizeof *w))
		return weir__fail(-ENOMEM, "no memory for a window's record");
	memset(w, 0, sizeof *w);
	lay_out(&w->bits, f);
	w->kernel = (const struct weir_window_kernel *)f->kernel;
	w->generations = w->bits.slots - 1;
	w->wake = -1;
	atomic_init(&w->state, weir__window_state(0, 0, w->bits.slots));
	f->few = 0; /* even a batch of few keys uses the kernel, which prefetches itself */
	f->own = f->array.own = w;
	return 0;
}

static void count_towards(struct weir_window *w, uint64_t keys)
{
	unsigned shift = 0;
	while (keys >> shift >= COUNTED)
		shift++;
	w->sampled = keys ? (UINT64_C(1) << shift) - 1 : UINT64_MAX;
	w->enough = keys ? keys >> shift : UINT64_MAX;
}

void weir__window_configure(struct weir_window *w, const struct weir_params *p)
{
	const double span = p->window.span_seconds;
	w->run = p->window.run;
	w->rcu = weir__rcu(w->run.flavor);
	w->span_seconds = span;
	w->generation_keys = p->window.generation_keys;
	count_towards(w, w->generation_keys);
	w->clock = w->run.clock ? w->run.clock : monotonic;
	w->clock_arg = w->run.clock_arg;
	/* rounded up, so that G-1 periods are at least T */
	if (span > 0)
		w->period = (uint64_t)(span * 1e9 / (w->generations - 1)) + 1;
}

int weir__window_begin(struct weir_filter *f, const struct weir_params *p)
{
	struct weir_window *w = weir__window_of(f);
	weir__window_configure(w, p);
	const uint64_t now = w->clock(w->clock_arg);
	weir__figure_store_relaxed(&w->since[0], now ? now : 1);
	return w->run.timer ? weir__window_timer_start(w) : 0;
}

void weir__window_asked(const struct weir_filter *f, struct weir_params *out)
{
	const struct weir_window *w = weir__window_of(f);
	out->window.span_seconds = w->span_seconds;
	out->window.generation_keys = w->generation_keys;
	out->window.run = w->run;
}

void weir__window_destroy(struct weir_filter *f)
{
	WEIR__UNCANCELLED;
	weir__window_timer_stop(weir__window_of(f));
	free(f->own);
}
