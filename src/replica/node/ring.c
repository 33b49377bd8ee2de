/* SPDX-License-Identifier: MIT
 * Lists, to each of which a few threads keep, and what becomes of them. */
#include "ring.h"
#include <endian.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 64 }; /* hashes of a new list's room: few nodes insert more between two sendings */

void weir__ring_make(struct weir_ring *r, uint64_t limit, void (*wake)(void *), void *context)
{
	*r = (struct weir_ring){ .limit = limit, .wake = wake, .context = context };
	pthread_mutex_init(&r->lock, NULL);
}

static void free_all(struct weir_batch *b)
{
	while (b) {
		struct weir_batch *newer = b->newer;
		free(b);
		b = newer;
	}
}

void weir__ring_free(struct weir_ring *r)
{
	for (unsigned i = 0; i < WEIR_RING_LISTS; i++)
		free(r->lists[i].batch);
	free_all(r->full);
	free_all(r->waiting.oldest);
	free_all(r->acked.oldest);
	pthread_mutex_destroy(&r->lock);
}

/* Threads take lists in turn, as they come. */
static struct weir_ring_list *enter(struct weir_ring *r)
{
	static atomic_uint threads;
	static _Thread_local unsigned number; /* 0: none yet */
	if (!number)
		number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) %
		         WEIR_RING_LISTS + 1;
	return &r->lists[number - 1];
}

/* Acquire and release: what the last holder wrote to the list is seen by the next one. */
static void hold(struct weir_ring_list *list)
{
	while (atomic_exchange_explicit(&list->held, true, memory_order_acquire))
		sched_yield();
}

static void let_go(struct weir_ring_list *list)
{
	atomic_store_explicit(&list->held, false, memory_order_release);
}

/* Relaxed: a number alone, which publishes nothing. Return: how many hashes there is room for. */
static size_t reserve(struct weir_ring *r, size_t wanted)
{
	uint64_t used = atomic_load_explicit(&r->used, memory_order_relaxed), some;
	do {
		some = used < r->limit ? (r->limit - used) / 8 : 0;
		some = some < wanted ? some : wanted;
	} while (some && !atomic_compare_exchange_weak_explicit(&r->used, &used, used + 8 * some,
	                                                        memory_order_relaxed,
	                                                        memory_order_relaxed));
	return some;
}

/* More room for a list that is held. @wake: whether as much waits as is worth sending at once.
 * Return: whether there is some. */
static bool grow(struct weir_ring *r, struct weir_ring_list *list, bool *wake)
{
	struct weir_batch *b = list->batch;
	if (b && b->n == WEIR_ENTRY_HASHES) {
		pthread_mutex_lock(&r->lock);
		b->newer = r->full;
		r->full = b;
		pthread_mutex_unlock(&r->lock);
		b = list->batch = NULL;
	}
	const size_t room = b ? b->room : 0, most = WEIR_ENTRY_HASHES - room;
	const size_t more = reserve(r, !b ? FIRST : 3 * room < most ? 3 * room : most);
	if (!more)
		return false;
	b = realloc(b, sizeof *b + 8 * (room + more));
	if (!b) {
		atomic_fetch_sub_explicit(&r->used, 8 * more, memory_order_relaxed);
		return false;
	}
	b->n = room;
	b->room = room + more;
	list->batch = b;
	const uint64_t before =
		atomic_fetch_add_explicit(&r->in_lists, 8 * more, memory_order_relaxed);
	*wake |= before / WEIR_RING_WAKE != (before + 8 * more) / WEIR_RING_WAKE;
	return true;
}

size_t weir__ring_put(struct weir_ring *r, const uint64_t *hashes, size_t n)
{
	struct weir_ring_list *list = enter(r);
	bool wake = false;
	size_t i = 0;
	hold(list);
	for (; i < n; i++) {
		struct weir_batch *b = list->batch;
		if (!b || b->n == b->room) {
			if (!grow(r, list, &wake))
				break;
			b = list->batch;
		}
		const uint64_t hash = htole64(hashes[i]);
		memcpy(b->hashes + 8 * b->n++, &hash, sizeof hash);
	}
	let_go(list);
	if (wake && r->wake)
		r->wake(r->context);
	return i;
}

static void append(struct weir_batches *to, struct weir_batch *b)
{
	b->newer = NULL;
	b->older = to->newest;
	*(to->newest ? &to->newest->newer : &to->oldest) = b;
	to->newest = b;
}

static void take_out(struct weir_batches *from, struct weir_batch *b)
{
	*(b->older ? &b->older->newer : &from->oldest) = b->newer;
	*(b->newer ? &b->newer->older : &from->newest) = b->older;
}

/* What many small batches take beside their hashes counts too. */
static void make_batch(struct weir_ring *r, struct weir_batch *b, uint64_t stamp)
{
	const size_t room = b->room;
	struct weir_batch *smaller = realloc(b, sizeof *b + 8 * b->n);
	b = smaller ? smaller : b;
	b->room = b->n;
	b->stamp = stamp;
	b->replaces = false;
	append(&r->waiting, b);
	atomic_fetch_sub_explicit(&r->in_lists, 8 * room, memory_order_relaxed);
	atomic_fetch_add_explicit(&r->used, sizeof *b + 8 * b->n - 8 * room, memory_order_relaxed);
}

/* Lists first: one that becomes full meanwhile is among the full ones then. */
void weir__ring_collect(struct weir_ring *r, uint64_t stamp)
{
	for (unsigned i = 0; i < WEIR_RING_LISTS; i++) {
		struct weir_ring_list *list = &r->lists[i];
		hold(list);
		struct weir_batch *b = list->batch;
		list->batch = NULL;
		let_go(list);
		if (b)
			make_batch(r, b, stamp);
	}
	pthread_mutex_lock(&r->lock);
	struct weir_batch *b = r->full;
	r->full = NULL;
	pthread_mutex_unlock(&r->lock);
	while (b) {
		struct weir_batch *newer = b->newer;
		make_batch(r, b, stamp);
		b = newer;
	}
}

void weir__ring_acked(struct weir_ring *r, size_t n, struct weir_log_id last)
{
	uint64_t before = 0;
	for (size_t i = n; i > 0; i--) {
		struct weir_batch *b = r->waiting.oldest;
		take_out(&r->waiting, b);
		b->id = (struct weir_log_id){ last.epoch, last.n - (i - 1) };
		b->before = before;
		before = b->tag;
		append(&r->acked, b);
	}
}

void weir__ring_again(struct weir_ring *r, struct weir_log_id after, struct weir_log_id upto,
                      bool replace)
{
	for (struct weir_batch *b = r->acked.newest, *older; b; b = older) {
		older = b->older;
		if (weir__log_id_compare(b->id, after) <= 0)
			return;
		if (weir__log_id_compare(b->id, upto) <= 0) {
			take_out(&r->acked, b);
			b->replaces = replace;
			append(&r->waiting, b);
		}
	}
}

bool weir__ring_release(struct weir_ring *r, struct weir_log_id position)
{
	bool any = false;
	struct weir_batch *b;
	while ((b = r->acked.oldest) && weir__log_id_compare(b->id, position) <= 0) {
		take_out(&r->acked, b);
		atomic_fetch_sub_explicit(&r->used, sizeof *b + 8 * b->n, memory_order_relaxed);
		free(b);
		any = true;
	}
	return any;
}

struct weir_batch *weir__ring_find(const struct weir_ring *r, struct weir_log_id id)
{
	struct weir_batch *b = r->acked.newest;
	while (b && weir__log_id_compare(b->id, id) > 0)
		b = b->older;
	return b && weir__log_id_compare(b->id, id) == 0 ? b : NULL;
}

uint64_t weir__ring_stamp(const struct weir_ring *r)
{
	uint64_t stamp = UINT64_MAX;
	for (const struct weir_batch *b = r->waiting.oldest; b; b = b->newer)
		stamp = b->stamp < stamp ? b->stamp : stamp;
	return stamp;
}
