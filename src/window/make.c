/* SPDX-License-Identifier: MIT
 * A window is made and freed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "config.h"
#include "ground/error.h"
#include "ground/system.h"
#include "ground/threads.h"
#include "window/window.h"

/* Counted in a sample, a generation's number is right to about 1 in 200. */
enum { COUNTED = 1 << 16 };

static uint64_t monotonic(void *unused)
{
	(void)unused;
	return weir__clock(CLOCK_MONOTONIC);
}

static const struct weir_window_kernel *kernel_for(enum weir_isa isa,
                                                   const struct weir_window_plan *plan)
{
	unsigned z = plan->words_per_key, g = plan->bits_per_word;
	bool ring = plan->layout == WEIR_WINDOW_RING;
#if WEIR_X86
	if (isa == WEIR_ISA_AVX512)
		return ring ? weir__window_ring_avx512(z, g) : weir__window_columns_avx512(g);
	if (isa == WEIR_ISA_AVX2)
		return ring ? weir__window_ring_avx2(z, g) : weir__window_columns_avx2(g);
#endif
	(void)isa;
	return ring ? weir__window_ring_scalar(z, g) : weir__window_columns_scalar(g);
}

static void lay_out(struct weir_window *w)
{
	const struct weir_window_plan *p = &w->plan;
	struct weir_window_bits *b = &w->bits;
	uint64_t words = p->bytes / 8, slots = p->generations + 1;
	bool ring = p->layout == WEIR_WINDOW_RING;
	b->words = w->memory.bits;
	b->slots = (uint32_t)slots;
	b->stride = ring ? 1 : slots <= 4 ? 4 : (slots + 7) / 8 * 8;
	b->slot_step = ring ? words / slots : 1;
	b->blocks = (ring ? b->slot_step : words / b->stride) / 8;
	b->z = p->words_per_key;
	b->g = p->bits_per_word;
	b->far = p->bytes > weir__cache_bytes();
}

static void count_towards(struct weir_window *w, uint64_t keys)
{
	unsigned shift = 0;
	while (keys >> shift >= COUNTED)
		shift++;
	w->sampled = keys ? (UINT64_C(1) << shift) - 1 : UINT64_MAX;
	w->enough = keys ? keys >> shift : UINT64_MAX;
}

/* All but its bits' memory. */
static void furnish(struct weir_window *w, const struct weir_window_options *o, enum weir_isa isa)
{
	w->isa = isa;
	w->kernel = *kernel_for(isa, &w->plan);
	w->rcu = weir__rcu(o->flavor);
	w->span_seconds = o->span_seconds;
	w->generation_keys = o->generation_keys;
	count_towards(w, o->generation_keys);
	w->wake = -1;
	w->clock = o->clock ? o->clock : monotonic;
	w->clock_arg = o->clock_arg;
	/* rounded up, so that G-1 of them are T at least */
	if (o->span_seconds > 0)
		w->period = (uint64_t)(o->span_seconds * 1e9 / (o->generations - 1)) + 1;
}

int weir__window_make(struct weir_window **out, const struct weir_window_options *o,
                      const struct weir_window_plan *plan, const struct weir_hashing *hashing)
{
	struct weir_window *w = NULL;
	enum weir_isa isa;
	int err = weir__isa_choose(&isa);
	if (err)
		return err;
	if (posix_memalign((void **)&w, 64, sizeof *w))
		return weir__fail(-ENOMEM, "no memory for a window's record");
	memset(w, 0, sizeof *w);
	w->plan = *plan;
	w->hashing = *hashing;
	w->flip8 = weir__flip8(hashing->seed);
	err = weir__memory_alloc(&w->memory, plan->bytes, o->flags, NULL, 0);
	if (err) {
		free(w);
		return err;
	}
	lay_out(w);
	furnish(w, o, isa);
	atomic_init(&w->state, weir__window_state(0, 0, w->bits.slots));
	uint64_t now = w->clock(w->clock_arg);
	weir__figure_store_relaxed(&w->since[0], now ? now : 1);
	*out = w;
	return 0;
}

int weir_window_create(struct weir_window **out, const struct weir_window_options *options)
{
	struct weir_window_options o;
	struct weir_window_plan plan;
	struct weir_hashing hashing;
	struct weir_window *w;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_window_create needs a place for the "
		                  "window");
	int err = weir__window_plan(&o, options, &plan);
	if (!err)
		err = weir__hashing_of(&hashing, &weir__xxh3, o.seed, o.hash_key);
	if (!err)
		err = weir__window_make(&w, &o, &plan, &hashing);
	if (err)
		return err;
	err = o.timer ? weir__window_timer_start(w) : 0;
	if (err)
		weir_window_destroy(w);
	else
		*out = w;
	return err;
}

int weir_window_destroy(struct weir_window *w)
{
	WEIR__UNCANCELLED;
	if (!w)
		return 0;
	weir__window_timer_stop(w);
	weir__memory_free(&w->memory);
	free(w);
	return 0;
}

uint64_t weir_window_hash(const struct weir_window *w, const void *key, size_t len)
{
	return weir__hash_by(&w->hashing, key, len);
}
