/* SPDX-License-Identifier: MIT
 * Lists, each under a lock of its own that is held for an append, or while what is in it becomes
 * batches. A thread keeps to one list. */
#include "pending.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>

void weir__pending_make(struct weir_pending *p, enum weir_entry_kind kind, size_t limit)
{
	p->kind = kind;
	p->limit = limit;
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++) {
		p->lists[i] = (struct weir_pending_list){ .data = NULL };
		pthread_mutex_init(&p->lists[i].lock, NULL);
	}
}

void weir__pending_free(struct weir_pending *p)
{
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++) {
		pthread_mutex_destroy(&p->lists[i].lock);
		free(p->lists[i].data);
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

/* Make room for one that takes so many bytes. Return: 0, or why there is none. */
static int make_room(struct weir_pending_list *list, size_t limit, size_t bytes)
{
	if (bytes > limit - list->bytes)
		return weir_fail(-ENOBUFS, "%zu bytes of inserts of this thread wait to be sent to "
		                 "the other nodes: there is no room for %zu more", list->bytes,
		                 bytes);
	if (bytes <= list->room - list->bytes)
		return 0;
	size_t room = list->room ? 2 * list->room : 8192;
	while (room - list->bytes < bytes)
		room *= 2;
	unsigned char *data = realloc(list->data, room);
	if (!data)
		return weir_fail(-ENOMEM, "no memory for %zu bytes of inserts that wait to be sent "
		                 "to the other nodes", room);
	list->data = data;
	list->room = room;
	return 0;
}

/* The thread's list, locked, with room for so many bytes unless @err says why not. */
static struct weir_pending_list *begin(struct weir_pending *p, size_t bytes, int *err)
{
	struct weir_pending_list *list = &p->lists[list_of_thread()];
	pthread_mutex_lock(&list->lock);
	*err = make_room(list, p->limit, bytes);
	return list;
}

static int end(struct weir_pending_list *list, size_t bytes, int err)
{
	list->bytes += err ? 0 : bytes;
	pthread_mutex_unlock(&list->lock);
	return err;
}

int weir__pending_put_hash(struct weir_pending *p, uint64_t hash)
{
	int err;
	struct weir_pending_list *list = begin(p, sizeof hash, &err);
	if (!err)
		weir__entry_put_hash(list->data + list->bytes, 0, hash);
	return end(list, sizeof hash, err);
}

int weir__pending_put_key(struct weir_pending *p, const void *key, uint32_t len)
{
	int err;
	size_t bytes = weir__entry_key_room(len);
	struct weir_pending_list *list = begin(p, bytes, &err);
	if (!err)
		weir__entry_put_key(list->data + list->bytes, key, len);
	return end(list, bytes, err);
}

size_t weir__pending_bytes(struct weir_pending *p)
{
	size_t n = 0;
	for (unsigned i = 0; i < WEIR_PENDING_LISTS; i++) {
		pthread_mutex_lock(&p->lists[i].lock);
		n += p->lists[i].bytes;
		pthread_mutex_unlock(&p->lists[i].lock);
	}
	return n;
}

/* @at: receives how many bytes were given. */
static int give(const struct weir_pending *p, const struct weir_pending_list *list, size_t most,
                weir_pending_fn *take, void *context, size_t *at)
{
	int err = 0;
	*at = 0;
	while (!err && *at < list->bytes) {
		size_t n = weir__entry_piece(p->kind, list->data + *at, list->bytes - *at, most);
		err = take(context, list->data + *at, n);
		if (!err)
			*at += n;
	}
	return err;
}

static int give_all(struct weir_pending *p, size_t most, weir_pending_fn *take, void *context,
                    bool stays)
{
	int err = 0;
	for (unsigned i = 0; i < WEIR_PENDING_LISTS && !err; i++) {
		struct weir_pending_list *list = &p->lists[i];
		size_t at;
		pthread_mutex_lock(&list->lock);
		err = give(p, list, most, take, context, &at);
		if (at && !stays) {
			memmove(list->data, list->data + at, list->bytes - at);
			list->bytes -= at;
		}
		pthread_mutex_unlock(&list->lock);
	}
	return err;
}

int weir__pending_take(struct weir_pending *p, size_t most, weir_pending_fn *take, void *context)
{
	return give_all(p, most, take, context, false);
}

int weir__pending_show(struct weir_pending *p, size_t most, weir_pending_fn *show, void *context)
{
	return give_all(p, most, show, context, true);
}
