/* SPDX-License-Identifier: MIT
 * Saves a window: copies its generations in one section ([COPY-IN-SECTION]), as the members of its
 * image. */
#include <string.h>
#include "ground/error.h"
#include "window/window.h"

/* Make an empty filter for one generation. */
static int member_make(struct weir_filter **out, const struct weir_filter *f)
{
	const struct weir_window *w = weir__window_of(f);
	const struct weir_layout layout = {
		.kind = weir__kind(WEIR_BLOCKED),
		.hashing = f->hashing,
		.shape = weir__window_member_shape(w->bits.z, w->bits.g),
		.shards = 1,
		.lines = w->bits.blocks,
		.capacity = weir__window_member_capacity(f->capacity, w->generations),
		.fp_rate = f->fp_rate / w->generations
	};
	struct weir_memory memory;
	int err = weir__memory_alloc(&memory, 64 * layout.lines, 0, NULL, 0);
	if (err)
		return err;
	err = weir__filter_make(out, &layout, &memory, 0);
	if (err)
		weir__memory_free(&memory);
	return err;
}

/* Copy all slots in one pass, since in columns they share lines. */
static void copy_words(struct weir_frozen *c, const struct weir_window *w, uint32_t newest)
{
	const struct weir_window_bits *b = &w->bits;
	const uint64_t *from[WEIR_WINDOW_MOST];
	for (unsigned i = 0; i < c->n; i++)
		from[i] = b->words + b->slot_step * weir__window_slot(newest, i, b->slots);
	for (uint64_t n = 0; n < 8 * b->blocks; n++)
		for (unsigned i = 0; i < c->n; i++)
			c->member[i].f->array.words[n] =
				WEIR__LE64(weir__word_load_relaxed(from[i] + n * b->stride));
}

/* Copy words and ages. The clock is read last ([COPY-IN-SECTION]). Call this in a section. */
static void copy(struct weir_frozen *c, const struct weir_window *w)
{
	uint64_t state = weir__window_load_acquire(&w->state);
	uint32_t newest = weir__window_newest(state);
	copy_words(c, w, newest);
	uint64_t counted = weir__window_counted(w, newest);
	c->own[WEIR_WINDOW_COUNTED] =
		counted < WEIR_WINDOW_MOST_KEYS ? counted : WEIR_WINDOW_MOST_KEYS;
	uint64_t now = w->clock(w->clock_arg), age = 0;
	for (unsigned i = 0; i < c->n; i++) {
		uint64_t older = weir__window_age(w, weir__window_slot(newest, i, w->bits.slots),
		                                  now);
		age = older > age ? older : age; /* the caller's clock may go back */
		c->member[i].note = i > weir__window_advances(state) ? WEIR_WINDOW_NEVER :
		                    age < WEIR_WINDOW_OLDEST ? age : WEIR_WINDOW_OLDEST;
	}
}

/* With qsbr an offline thread has no sections, so go online. With other flavors this is a no-op. */
static void copy_in_section(struct weir_frozen *c, const struct weir_window *w)
{
	const struct rcu_flavor_struct *flavor = w->rcu.flavor;
	const bool offline = !flavor->read_ongoing();
	if (offline)
		flavor->thread_online();
	WEIR__IN_SECTION(&w->rcu, copy(c, w));
	if (offline)
		flavor->thread_offline();
}

int weir__window_freeze(const struct weir_filter *f, struct weir_frozen *out)
{
	const struct weir_window *w = weir__window_of(f);
	int err = 0;
	*out = (struct weir_frozen){ .n = 0 };
	while (!err && out->n < w->generations) {
		err = member_make(&out->member[out->n].f, f);
		out->n += !err;
	}
	if (err) {
		weir__members_free(out->member, out->n);
		return err;
	}
	memcpy(&out->own[WEIR_WINDOW_SPAN], &w->span_seconds, sizeof w->span_seconds);
	out->own[WEIR_WINDOW_PER_KEYS] = w->generation_keys;
	copy_in_section(out, w);
	out->own[WEIR_WINDOW_SAVED] = weir__window_real_time();
	return 0;
}
