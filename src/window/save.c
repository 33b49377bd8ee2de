/* SPDX-License-Identifier: MIT
 * Saving a window: its generations are copied in one section (W10), and the copies are written as
 * the members of a compound. */
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "image/compound.h"
#include "image/save.h"
#include "window/window.h"

/* A generation's place, empty. */
static int member_make(struct weir_filter **out, const struct weir_window *w)
{
	const struct weir_window_plan *p = &w->plan;
	const struct weir_layout layout = {
		.kind = weir__kind(WEIR_BLOCKED),
		.hashing = w->hashing,
		.shape = weir__window_member_shape(p->words_per_key, p->bits_per_word),
		.shards = 1,
		.lines = w->bits.blocks,
		.capacity = weir__window_member_capacity(p->capacity, p->generations),
		.fp_rate = p->fp_rate / p->generations
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

/* All slots at once, since in columns they share their lines. */
static void copy_words(struct weir_compound *c, const struct weir_window *w, uint32_t newest)
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

/* In a section. The clock comes last: W10. */
static void copy(struct weir_compound *c, const struct weir_window *w)
{
	uint64_t state = weir__window_load_acquire(&w->state);
	uint32_t newest = weir__window_newest(state);
	copy_words(c, w, newest);
	uint64_t counted = weir__window_counted(w, newest);
	c->head.own[WEIR_WINDOW_COUNTED] =
		counted < WEIR_WINDOW_MOST_KEYS ? counted : WEIR_WINDOW_MOST_KEYS;
	uint64_t now = w->clock(w->clock_arg), age = 0;
	for (unsigned i = 0; i < c->n; i++) {
		uint64_t older = weir__window_age(w, weir__window_slot(newest, i, w->bits.slots),
		                                  now);
		age = older > age ? older : age; /* a clock of the caller's may go back */
		c->member[i].note = i > weir__window_advances(state) ? WEIR_WINDOW_NEVER :
		                    age < WEIR_WINDOW_OLDEST ? age : WEIR_WINDOW_OLDEST;
	}
}

/* With qsbr a thread that is offline has no sections. With the other flavors to go online or
 * offline does nothing. */
static void copy_in_section(struct weir_compound *c, const struct weir_window *w)
{
	const struct rcu_flavor_struct *flavor = w->rcu.flavor;
	const bool offline = !flavor->read_ongoing();
	if (offline)
		flavor->thread_online();
	WEIR__IN_SECTION(&w->rcu, copy(c, w));
	if (offline)
		flavor->thread_offline();
}

static void describe(struct weir_image_head *head, const struct weir_window *w)
{
	const struct weir_window_plan *p = &w->plan;
	head->shape.kind = WEIR_WINDOW;
	head->shape.field[WEIR_WINDOW_LAYOUT] = p->layout;
	head->shape.field[WEIR_WINDOW_G] = p->generations;
	head->shape.field[WEIR_WINDOW_WORDS] = p->words_per_key;
	head->shape.field[WEIR_WINDOW_BITS] = p->bits_per_word;
	head->capacity = p->capacity;
	memcpy(&head->rate_bits, &p->fp_rate, sizeof p->fp_rate);
	memcpy(&head->own[WEIR_WINDOW_SPAN], &w->span_seconds, sizeof w->span_seconds);
	head->own[WEIR_WINDOW_PER_KEYS] = w->generation_keys;
}

static int compound_of(struct weir_compound *c, const struct weir_window *w)
{
	int err = 0;
	*c = (struct weir_compound){ .n = 0 };
	while (!err && c->n < w->plan.generations) {
		err = member_make(&c->member[c->n].f, w);
		c->n += !err;
	}
	if (err) {
		weir__members_free(c->member, c->n);
		return err;
	}
	describe(&c->head, w);
	copy_in_section(c, w);
	c->head.own[WEIR_WINDOW_SAVED] = weir__window_real_time();
	return 0;
}

static int save_options(struct weir_save_options *out, const struct weir_save_options *options)
{
	int err = weir__save_options(out, options);
	if (!err && out->marks)
		err = weir__fail(-EINVAL, "marks 0x%x: 0: a window replaces no set that is served",
		                 out->marks);
	return err;
}

static int write_file(void *compound, int fd, const char *path,
                      const struct weir_save_options *options)
{
	return weir__compound_write(compound, fd, path, options, NULL, NULL);
}

int weir_window_save(const struct weir_window *w, const char *path,
                     const struct weir_save_options *options)
{
	struct weir_save_options o;
	struct weir_compound c;
	int err = weir__save_path_check(path);
	if (!err)
		err = save_options(&o, options);
	if (!err)
		err = compound_of(&c, w);
	if (err)
		return err;
	err = weir__save_path(write_file, &c, path, &o);
	weir__members_free(c.member, c.n);
	return err;
}

int weir_window_save_fd(const struct weir_window *w, int fd,
                        const struct weir_save_options *options)
{
	char name[WEIR__FD_NAME];
	struct weir_save_options o;
	struct weir_compound c;
	int err = save_options(&o, options);
	if (!err)
		err = weir__save_fd_check(fd, name);
	if (!err)
		err = compound_of(&c, w);
	if (err)
		return err;
	err = weir__compound_stream(&c, fd, name, &o);
	weir__members_free(c.member, c.n);
	return err;
}
