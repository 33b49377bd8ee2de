/* SPDX-License-Identifier: MIT
 * Lists of inserting threads, and batches made from their hashes. */
#include "ring.h"
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>

enum { FIRST_CHUNK = 64,     /* hashes in a list's first chunk */
       LARGEST_CHUNK = 1024, /* largest number of hashes in a chunk */
       CHUNK_GROWTH = 4 };   /* capacity of a chunk, relative to the chunk before */

/* ---- lists of threads, and making a ring ---- */

static _Atomic uint64_t lists_owned = 1; /* bit i: list i has an owner; bit 0: always set */
static _Thread_local unsigned own_list; /* the number of this thread's own list; 0: no own list */
static pthread_key_t at_exit;
static bool has_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Release: the next owner of the list sees the writes of this thread. */
static void release_list(void *bit)
{
	own_list = 0;
	atomic_fetch_and_explicit(&lists_owned, ~(UINT64_C(1) << (uintptr_t)bit),
	                          memory_order_release);
}

static void make_key(void)
{
	has_key = pthread_key_create(&at_exit, release_list) == 0;
}

/* Acquire: pairs with release_list(). Return: a list that this thread now owns; 0: the shared
 * list. */
static unsigned claim_list(void)
{
	pthread_once(&once, make_key);
	uint64_t all = atomic_load_explicit(&lists_owned, memory_order_relaxed);
	do {
		if (!~all || !has_key)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(&lists_owned, &all, all | (all + 1),
	                                                memory_order_acquire,
	                                                memory_order_relaxed));
	const unsigned bit = (unsigned)__builtin_ctzll(~all);
	if (!pthread_setspecific(at_exit, (void *)(uintptr_t)bit))
		return bit;
	release_list((void *)(uintptr_t)bit);
	return 0;
}

void weir__ring_make(struct weir_ring *r, uint64_t limit, void (*wake)(void *), void *context)
{
	*r = (struct weir_ring){ .limit = limit, .wake = wake, .context = context };
	pthread_mutex_init(&r->shared, NULL);
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
		for (struct weir_chunk *c = r->lists[i].oldest, *newer; c; c = newer) {
			newer = c->newer;
			free(c);
		}
	free_all(r->waiting.oldest);
	free_all(r->acked.oldest);
	pthread_mutex_destroy(&r->shared);
}

/* ---- the thread that inserts ---- */

/* Relaxed: the counter publishes no data. Return: the number of hashes that fit into the budget. */
static size_t reserve(struct weir_ring *r, size_t wanted)
{
	uint64_t used = atomic_load_explicit(&r->used, memory_order_relaxed), fits;
	do {
		fits = used < r->limit ? (r->limit - used) / 8 : 0;
		fits = fits < wanted ? fits : wanted;
	} while (fits && !atomic_compare_exchange_weak_explicit(&r->used, &used, used + 8 * fits,
	                                                        memory_order_relaxed,
	                                                        memory_order_relaxed));
	return fits;
}

/* Append a chunk to @list, which has no chunk or a full newest chunk.
 * @wake: set to true if the node's thread should wake up and send hashes.
 * Return: false if the budget or the memory is used up. */
static bool grow(struct weir_ring *r, struct weir_ring_list *list, bool *wake)
{
	struct weir_chunk *old = list->newest;
	const size_t wanted = old ? CHUNK_GROWTH * old->capacity : FIRST_CHUNK;
	const size_t capacity = reserve(r, wanted < LARGEST_CHUNK ? wanted : LARGEST_CHUNK);
	struct weir_chunk *c = capacity ? malloc(sizeof *c + 8 * capacity) : NULL;
	if (!c) {
		atomic_fetch_sub_explicit(&r->used, 8 * capacity, memory_order_relaxed);
		return false;
	}
	*c = (struct weir_chunk){ .capacity = capacity };
	if (old) { /* count `old` before the store below, after which it may be freed */
		const uint64_t more = 8 * old->capacity;
		const uint64_t before =
			atomic_fetch_add_explicit(&r->full, more, memory_order_relaxed);
		*wake |= before / WEIR_RING_WAKE != (before + more) / WEIR_RING_WAKE;
	}
	list->newest = c;
	/* release: publishes the chunk's contents; pairs with the acquires in ready(), oldest() */
	atomic_store_explicit(old ? &old->newer : &list->oldest, c, memory_order_release);
	return true;
}

/* The caller owns the list, or has the shared list's lock. Return: the number of hashes added. */
static inline size_t put_in_chunk(struct weir_ring_list *list, const uint64_t *hashes, size_t n)
{
	struct weir_chunk *c = list->newest;
	if (!c)
		return 0;
	const size_t at = atomic_load_explicit(&c->n, memory_order_relaxed);
	const size_t fits = n < c->capacity - at ? n : c->capacity - at;
	if (!fits)
		return 0;
	for (size_t i = 0; i < fits; i++)
		c->hashes[at + i] = htole64(hashes[i]);
	/* release: publishes the hashes and c->n; pairs with the acquires in ready(), fill() */
	atomic_store_explicit(&c->n, at + fits, memory_order_release);
	return fits;
}

static size_t put(struct weir_ring *r, struct weir_ring_list *list, const uint64_t *hashes,
                  size_t n, bool *wake)
{
	size_t done = put_in_chunk(list, hashes, n);
	while (done < n && grow(r, list, wake))
		done += put_in_chunk(list, hashes + done, n - done);
	return done;
}

size_t weir__ring_put(struct weir_ring *r, const uint64_t *hashes, size_t n)
{
	bool wake = false;
	if (!own_list)
		own_list = claim_list() + 1;
	const bool shared = own_list == 1;
	if (shared)
		pthread_mutex_lock(&r->shared);
	const size_t fits = put(r, &r->lists[own_list - 1], hashes, n, &wake);
	if (shared)
		pthread_mutex_unlock(&r->shared);
	if (wake && r->wake)
		r->wake(r->context);
	return fits;
}

/* Not inlined: the caller would otherwise save registers for each hash. */
static __attribute__((noinline)) bool put_slow(struct weir_ring *r, uint64_t hash)
{
	return weir__ring_put(r, &hash, 1);
}

bool weir__ring_put_one(struct weir_ring *r, uint64_t hash)
{
	const unsigned own = own_list;
	if (own > 1 && put_in_chunk(&r->lists[own - 1], &hash, 1))
		return true;
	return put_slow(r, hash);
}

/* ---- the node's thread ---- */

/* Return: the number of unread hashes of a list. Other threads can only raise this number. */
static size_t ready(const struct weir_ring_list *list)
{
	size_t n = 0;
	const struct weir_chunk *c = atomic_load_explicit(&list->oldest, memory_order_acquire);
	for (; c; c = atomic_load_explicit(&c->newer, memory_order_acquire))
		n += atomic_load_explicit(&c->n, memory_order_acquire);
	return n - list->read_pos;
}

bool weir__ring_has_hashes(const struct weir_ring *r)
{
	for (unsigned i = 0; i < WEIR_RING_LISTS; i++)
		if (ready(&r->lists[i]))
			return true;
	return false;
}

/* Read `used` last. A thread adds a chunk to `used` before the chunk is visible here, so `used` is
 * never less than the free capacity that this function has counted. */
uint64_t weir__ring_bytes(const struct weir_ring *r)
{
	uint64_t free = 0;
	for (unsigned i = 0; i < WEIR_RING_LISTS; i++) {
		const struct weir_chunk *c =
			atomic_load_explicit(&r->lists[i].oldest, memory_order_acquire);
		for (; c; c = atomic_load_explicit(&c->newer, memory_order_acquire))
			free += c->capacity - atomic_load_explicit(&c->n, memory_order_acquire);
	}
	return atomic_load_explicit(&r->used, memory_order_relaxed) - 8 * free;
}

/* Keep the newest chunk even if all its hashes are read, since its thread still uses it. */
static struct weir_chunk *oldest(struct weir_ring *r, struct weir_ring_list *list)
{
	struct weir_chunk *c = atomic_load_explicit(&list->oldest, memory_order_acquire);
	struct weir_chunk *newer = atomic_load_explicit(&c->newer, memory_order_acquire);
	if (list->read_pos < c->capacity || !newer)
		return c;
	atomic_fetch_sub_explicit(&r->full, 8 * c->capacity, memory_order_relaxed);
	free(c);
	list->read_pos = 0;
	atomic_store_explicit(&list->oldest, newer, memory_order_relaxed);
	return newer;
}

/* Fill a batch from a list that has at least as many hashes as the batch can hold. */
static void fill(struct weir_ring *r, struct weir_ring_list *list, struct weir_batch *b)
{
	while (b->n < b->capacity) {
		const struct weir_chunk *c = oldest(r, list);
		const size_t has =
			atomic_load_explicit(&c->n, memory_order_acquire) - list->read_pos;
		const size_t fits = has < b->capacity - b->n ? has : b->capacity - b->n;
		memcpy(b->hashes + 8 * b->n, c->hashes + list->read_pos, 8 * fits);
		list->read_pos += fits;
		b->n += fits;
	}
}

static void append(struct weir_batches *to, struct weir_batch *b)
{
	b->newer = NULL;
	b->older = to->newest;
	*(to->newest ? &to->newest->newer : &to->oldest) = b;
	to->newest = b;
}

static void unlink_batch(struct weir_batches *from, struct weir_batch *b)
{
	*(b->older ? &b->older->newer : &from->oldest) = b->newer;
	*(b->newer ? &b->newer->older : &from->newest) = b->older;
}

/* The next search must not start at a batch that was freed. */
static void unlink_acked(struct weir_ring *r, struct weir_batch *b)
{
	if (r->last_found == b)
		r->last_found = b->newer ? b->newer : b->older;
	unlink_batch(&r->acked, b);
}

/* The budget includes the headers of batches, since many small batches add up. */
int weir__ring_collect(struct weir_ring *r, uint64_t stamp)
{
	for (unsigned i = 0; i < WEIR_RING_LISTS; i++)
		for (size_t left = ready(&r->lists[i]), fits; left; left -= fits) {
			fits = left < WEIR_ENTRY_HASHES ? left : WEIR_ENTRY_HASHES;
			struct weir_batch *b = malloc(sizeof *b + 8 * fits);
			if (!b)
				return weir_fail(-ENOMEM, "no memory for %zu hashes to send", fits);
			*b = (struct weir_batch){ .capacity = fits, .stamp = stamp };
			fill(r, &r->lists[i], b);
			append(&r->waiting, b);
			atomic_fetch_add_explicit(&r->used, sizeof *b, memory_order_relaxed);
		}
	return 0;
}

void weir__ring_acked(struct weir_ring *r, size_t n, struct weir_log_id last)
{
	uint64_t before = 0;
	for (size_t i = n; i > 0; i--) {
		struct weir_batch *b = r->waiting.oldest;
		unlink_batch(&r->waiting, b);
		r->lowest = r->lowest == b ? NULL : r->lowest;
		b->id = (struct weir_log_id){ last.epoch, last.n - (i - 1) };
		b->before = before;
		before = b->tag;
		append(&r->acked, b);
	}
}

void weir__ring_requeue(struct weir_ring *r, struct weir_log_id after, struct weir_log_id upto,
                        bool replace)
{
	for (struct weir_batch *b = r->acked.newest, *older; b; b = older) {
		older = b->older;
		if (weir__log_id_compare(b->id, after) <= 0)
			return;
		if (weir__log_id_compare(b->id, upto) <= 0) {
			unlink_acked(r, b);
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
		unlink_acked(r, b);
		atomic_fetch_sub_explicit(&r->used, sizeof *b + 8 * b->n, memory_order_relaxed);
		free(b);
		any = true;
	}
	return any;
}

/* A node looks up its entries in order, and the ring may have a million batches. So each search
 * begins where the last search ended. */
struct weir_batch *weir__ring_find(struct weir_ring *r, struct weir_log_id id)
{
	struct weir_batch *b = r->last_found ? r->last_found : r->acked.newest;
	while (b && b->newer && weir__log_id_compare(b->id, id) < 0)
		b = b->newer;
	while (b && b->older && weir__log_id_compare(b->id, id) > 0)
		b = b->older;
	r->last_found = b;
	return b && weir__log_id_compare(b->id, id) == 0 ? b : NULL;
}

/* Each round calls this, and a million batches that are sent again take a thousand rounds. So
 * remember the batch with the lowest stamp, and compare it only with the batches added since the
 * last call. After redis has acknowledged that batch, the next call searches all batches again. */
uint64_t weir__ring_lowest_stamp(struct weir_ring *r)
{
	struct weir_batch *b = r->lowest ? r->lowest_upto->newer : r->waiting.oldest;
	for (; b; b = b->newer) {
		if (!r->lowest || b->stamp <= r->lowest->stamp)
			r->lowest = b;
		r->lowest_upto = b;
	}
	return r->lowest ? r->lowest->stamp : UINT64_MAX;
}
