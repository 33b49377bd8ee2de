/* SPDX-License-Identifier: MIT
 * Lists of hashes, each under a lock of its own that is held for an append, or while its hashes
 * become batches. A thread keeps to one list. */
#include "pending.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>

void weir__pending_make(struct weir_pending *p, size_t limit)
{
	p->limit = limit;
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++) {
		p->lists[i] = (struct weir_pending_list){ .hashes = NULL };
		pthread_mutex_init(&p->lists[i].lock, NULL);
	}
}

void weir__pending_free(struct weir_pending *p)
{
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++) {
		pthread_mutex_destroy(&p->lists[i].lock);
		free(p->lists[i].hashes);
	}
}

/* Threads take lists in turn, as they come. */
static unsigned list_of_thread(void)
{
	static atomic_uint threads;
	static _Thread_local unsigned number; /* 0: none yet */
	if (!number)
		number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) %
			 WEIR_PENDING_LISTS + 1;
	return number - 1;
}

static int put(struct weir_pending_list *list, size_t limit, uint64_t hash)
{
	if (list->n == limit)
		return weir_fail(-ENOBUFS, "%zu inserts of this thread wait to be sent to the "
		                 "other nodes: there is no room for more", limit);
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 1024;
		uint64_t *hashes = realloc(list->hashes, room * sizeof *hashes);
		if (!hashes)
			return weir_fail(-ENOMEM, "no memory for %zu inserts that wait to be sent "
			                 "to the other nodes", room);
		list->hashes = hashes;
		list->room = room;
	}
	list->hashes[list->n++] = hash;
	return 0;
}

int weir__pending_put(struct weir_pending *p, uint64_t hash)
{
	struct weir_pending_list *list = &p->lists[list_of_thread()];
	pthread_mutex_lock(&list->lock);
	int err = put(list, p->limit, hash);
	pthread_mutex_unlock(&list->lock);
	return err;
}

size_t weir__pending_count(struct weir_pending *p)
{
	size_t n = 0;
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++) {
		pthread_mutex_lock(&p->lists[i].lock);
		n += p->lists[i].n;
		pthread_mutex_unlock(&p->lists[i].lock);
	}
	return n;
}

static int take_list(struct weir_pending_list *list, size_t most, weir_pending_fn *take,
                     void *context)
{
	size_t at = 0;
	int err = 0;
	while (!err && at < list->n) {
		size_t n = list->n - at < most ? list->n - at : most;
		err = take(context, list->hashes + at, n);
		if (!err)
			at += n;
	}
	memmove(list->hashes, list->hashes + at, (list->n - at) * sizeof *list->hashes);
	list->n -= at;
	return err;
}

int weir__pending_take(struct weir_pending *p, size_t most, weir_pending_fn *take, void *context)
{
	int err = 0;
	for (unsigned i = 0; i < WEIR_PENDING_LISTS && !err; i++) {
		struct weir_pending_list *list = &p->lists[i];
		pthread_mutex_lock(&list->lock);
		if (list->n)
			err = take_list(list, most, take, context);
		pthread_mutex_unlock(&list->lock);
	}
	return err;
}
