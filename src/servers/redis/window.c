/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include "window.h"

/* ---- settings ---- */

static int check(const struct window_settings *s)
{
	if (!(s->error > 0 && s->error < 1))
		return weir_fail(-EINVAL, "error rate %g is not between 0 and 1", s->error);
	if (!s->generations || s->generations > WINDOW_GENERATIONS)
		return weir_fail(-EINVAL, "%llu generations are not in 1 to %d",
		                 (unsigned long long)s->generations, WINDOW_GENERATIONS);
	if (!s->seconds || s->seconds > WINDOW_SECONDS_MOST)
		return weir_fail(-EINVAL, "%llu seconds are not in 1 to %u",
		                 (unsigned long long)s->seconds, WINDOW_SECONDS_MOST);
	if (!s->capacity || s->capacity > CHAIN_CAPACITY_MOST)
		return weir_fail(-EINVAL, "capacity %llu is not in 1 to %llu",
		                 (unsigned long long)s->capacity,
		                 (unsigned long long)CHAIN_CAPACITY_MOST);
	if (!s->seed || s->expansion > CHAIN_EXPANSION_MOST)
		return weir_fail(-EINVAL, "expansion %llu is above %u, or the seed is 0",
		                 (unsigned long long)s->expansion, CHAIN_EXPANSION_MOST);
	return 0;
}

struct window_settings window_settings_of(const struct window *w)
{
	return (struct window_settings){ w->error, w->capacity, w->seconds, w->generations,
		                         w->expansion, w->seed };
}

/* A lookup asks up to generations + 1 chains, whose error rates add up to the window's. */
static struct chain_settings settings_of_chain(const struct window *w)
{
	unsigned n = w->generations;
	return (struct chain_settings){ .error = w->error / (n + 1),
		                        .capacity = (w->capacity + n - 1) / n, .seed = w->seed,
		                        .expansion = w->expansion, .layout = CHAIN_OWN };
}

/* ---- windows ---- */

int window_make(struct window **out, const struct window_settings *s,
                const struct chain_memory *memory)
{
	int err = check(s);
	if (err)
		return err;
	struct window *w = memory->get(sizeof *w + (s->generations + 1) * sizeof w->ring[0]);
	if (!w)
		return weir_fail(-ENOMEM, "no memory for a window");
	*w = (struct window){ .memory = memory, .error = s->error, .capacity = s->capacity,
		              .seed = s->seed, .seconds = (uint32_t)s->seconds,
		              .expansion = (uint32_t)s->expansion,
		              .generations = (uint8_t)s->generations };
	*out = w;
	return 0;
}

static void push(struct window *w, uint64_t begin, struct chain *c)
{
	w->ring[w->n++] = (struct window_generation){ begin, c };
	w->newest = begin;
}

int window_create(struct window **out, const struct window_settings *s, uint64_t now,
                  uint64_t most, const struct chain_memory *memory)
{
	struct window *w;
	struct chain *c;
	int err = window_make(&w, s, memory);
	if (err)
		return err;
	struct chain_settings of_chain = settings_of_chain(w);
	err = chain_create(&c, &of_chain, most, memory);
	if (err) {
		window_destroy(w);
		return err;
	}
	push(w, now, c);
	*out = w;
	return 0;
}

void window_destroy(struct window *w)
{
	if (!w)
		return;
	for (unsigned i = 0; i < w->n; i++)
		chain_destroy(w->ring[i].chain);
	w->memory->put(w);
}

int window_copy(struct window **out, const struct window *from)
{
	struct window_settings s = window_settings_of(from);
	struct window *w;
	int err = window_make(&w, &s, from->memory);
	if (err)
		return err;
	for (unsigned i = 0; !err && i < from->n; i++) {
		struct chain *c;
		err = chain_copy(&c, from->ring[i].chain);
		if (!err)
			push(w, from->ring[i].begin, c);
	}
	w->newest = from->newest;
	w->ahead = from->ahead;
	if (err)
		window_destroy(w);
	else
		*out = w;
	return err;
}

/* ---- loading ---- */

static bool same_settings(const struct chain_settings *a, const struct chain_settings *b)
{
	return a->error == b->error && a->capacity == b->capacity && a->seed == b->seed &&
	       a->expansion == b->expansion && a->layout == b->layout && a->options == b->options;
}

int window_append(struct window *w, uint64_t begin, struct chain *chain)
{
	struct chain_settings should = settings_of_chain(w), is = chain_settings_of(chain);
	uint64_t step = window_step(w);
	if (!same_settings(&should, &is))
		return weir_fail(-EBADMSG, "a generation has other settings than its window");
	if (begin > WINDOW_TIME_MOST)
		return weir_fail(-EBADMSG, "a generation begins at %llu, which is too late",
		                 (unsigned long long)begin);
	if (w->n && (begin <= w->ring[w->n - 1].begin || (begin - w->ring[0].begin) % step ||
	             (begin - w->ring[0].begin) / step > w->generations))
		return weir_fail(-EBADMSG, "a generation that begins at %llu does not fit the "
		                 "others", (unsigned long long)begin);
	push(w, begin, chain);
	return 0;
}

int window_advance(struct window *w, uint64_t newest)
{
	if (!w->n || newest > WINDOW_TIME_MOST || newest < w->newest ||
	    newest - w->ring[w->n - 1].begin >= window_step(w))
		return weir_fail(-EBADMSG, "the newest time %llu is not in the newest generation",
		                 (unsigned long long)newest);
	w->newest = newest;
	return 0;
}

/* ---- writes ---- */

/* Return: the bytes of bits that generation @i may have. @i may be a new one. Other generations
 * that expire before @from do not count. */
static uint64_t room(const struct window *w, unsigned i, uint64_t from, uint64_t most)
{
	uint64_t others = 0;
	if (!most)
		return 0;
	for (unsigned j = 0; j < w->n; j++)
		if (j != i && window_reads(w, j, from))
			others += chain_bytes(w->ring[j].chain);
	return others < most ? most - others : 1; /* no chain has so few bytes */
}

/* The chain only knows its own part of the limit. */
static int explain(const struct window *w, int err, uint64_t most)
{
	if (err != -EFBIG || !most)
		return err;
	return weir_fail(-EFBIG, "the key has %llu bytes and would exceed max-bytes, %llu",
	                 (unsigned long long)window_bytes(w), (unsigned long long)most);
}

/* Free the generations that no reader at @time reads [WINDOW-FREE]. */
static void expire(struct window *w, uint64_t time)
{
	unsigned gone = 0;
	while (gone < w->n && !window_reads(w, gone, time))
		chain_destroy(w->ring[gone++].chain);
	w->n -= (uint8_t)gone;
	memmove(w->ring, w->ring + gone, w->n * sizeof w->ring[0]);
}

/* Begin a generation if @time lies past the end of the newest one. */
static int turn(struct window *w, uint64_t time, uint64_t most)
{
	uint64_t step = window_step(w), begin = w->ring[w->n - 1].begin;
	struct chain_settings s = settings_of_chain(w);
	struct chain *c;
	if (time - begin < step)
		return 0;
	int err = chain_create(&c, &s, room(w, w->n, time, most), w->memory);
	if (err)
		return explain(w, err, most);
	expire(w, time);
	push(w, begin + (time - begin) / step * step, c);
	return 0;
}

int window_add(struct window *w, uint64_t hash, uint64_t time, uint64_t most)
{
	time = window_time(w, time);
	int err = turn(w, time, most);
	if (err)
		return err;
	unsigned last = w->n - 1u;
	err = chain_add_hash(w->ring[last].chain, hash, room(w, last, 0, most));
	if (err > 0)
		w->newest = time;
	return explain(w, err, most);
}

void window_note_clock(struct window *w, uint64_t time, uint64_t now)
{
	if (time > now && time - now > w->ahead)
		w->ahead = time - now;
}

/* ---- reads ---- */

uint64_t window_hash(const struct window *w, const void *item, size_t len)
{
	return chain_hash(w->ring[0].chain, item, len);
}

bool window_has(const struct window *w, uint64_t hash, uint64_t now)
{
	bool found = false;
	for (unsigned i = w->n; !found && i-- && window_reads(w, i, now);)
		chain_has_hashes(w->ring[i].chain, &hash, 1, &found);
	return found;
}

enum { AT_ONCE = 64 };

void window_has_hashes(const struct window *w, const uint64_t *hashes, size_t n, uint64_t now,
                       bool *found)
{
	memset(found, 0, n * sizeof *found);
	for (size_t first = 0; first < n; first += AT_ONCE) {
		size_t some = n - first < AT_ONCE ? n - first : AT_ONCE;
		for (unsigned i = w->n; i-- && window_reads(w, i, now);) {
			bool here[AT_ONCE];
			chain_has_hashes(w->ring[i].chain, hashes + first, some, here);
			for (size_t j = 0; j < some; j++)
				found[first + j] |= here[j];
		}
	}
}

/* ---- sizes ---- */

uint64_t window_items(const struct window *w, uint64_t now)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < w->n; i++)
		sum += window_reads(w, i, now) ? chain_items(w->ring[i].chain) : 0;
	return sum;
}

uint64_t window_bytes(const struct window *w)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < w->n; i++)
		sum += chain_bytes(w->ring[i].chain);
	return sum;
}

size_t window_usage(const struct window *w)
{
	size_t sum = w->memory->size((void *)w);
	for (unsigned i = 0; i < w->n; i++)
		sum += chain_usage(w->ring[i].chain);
	return sum;
}
