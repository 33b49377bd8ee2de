/* SPDX-License-Identifier: MIT
 * See batch.h. */
#include <stdlib.h>
#include <string.h>
#include "batch.h"
#include "output/say.h"

/* Limits on the room of batches, in hashes. A batch has room for 256 Ki to 4 Mi hashes. The batches
 * of up to 128 threads together have room for at most 32 Mi hashes. The unused part of a batch is
 * never written, so it takes no memory. */
#define BATCH_MOST ((size_t)4 << 20)
#define BATCH_LEAST ((size_t)256 << 10)
#define BATCHES_MOST ((size_t)32 << 20)
/* The smallest batch if memory is short, in hashes. These are 128 KiB, so malloc() maps each batch
 * by itself, and free() returns its memory to the system. */
#define BATCH_SHORT ((size_t)16 << 10)
/* Bytes for one hash: 8 in the batch, and up to 24 more while the library sorts the batch. */
#define HASH_BYTES ((size_t)32)

/* A batch has room for TEXT_BYTES bytes per text, on average. With its iovec of 16 bytes, such a
 * text takes the memory of HASHES_A_TEXT hashes. */
enum { TEXT_BYTES = 32, HASHES_A_TEXT = 6 };

static struct batch *batch_new(size_t room, size_t each, size_t bytes)
{
	struct batch *batch = xmalloc(sizeof *batch + room * each + bytes);
	*batch = (struct batch){ .room = room, .bytes = bytes };
	return batch;
}

static size_t room_of(unsigned threads, uint64_t bytes)
{
	const uint64_t share = bytes / threads / HASH_BYTES;
	size_t room = BATCHES_MOST / threads;
	room = room > BATCH_MOST ? BATCH_MOST : room < BATCH_LEAST ? BATCH_LEAST : room;
	if (bytes && share < room)
		room = share < BATCH_SHORT ? BATCH_SHORT : share;
	return room;
}

uint64_t batch_least(unsigned threads)
{
	return threads * BATCH_SHORT * HASH_BYTES;
}

struct batch *batch_of_hashes(unsigned threads, uint64_t bytes)
{
	return batch_new(room_of(threads, bytes), sizeof(uint64_t), 0);
}

static struct batch *of_texts(size_t room, size_t bytes)
{
	struct batch *batch = batch_new(room, sizeof *batch->texts, bytes);
	batch->texts = (struct iovec *)(void *)batch->hashes;
	return batch;
}

struct batch *batch_of_texts(unsigned threads, uint64_t bytes, size_t longest)
{
	const size_t room = room_of(threads, bytes) / HASHES_A_TEXT, text = room * TEXT_BYTES;
	return of_texts(room, longest > text ? longest : text);
}

struct batch *batch_of_one(const struct batch *batch, size_t at)
{
	struct batch *one;
	if (batch->texts) {
		one = of_texts(1, batch->texts[at].iov_len);
		(void)batch_put(one, batch->texts[at]);
	} else {
		one = batch_new(1, sizeof(uint64_t), 0);
		one->hashes[one->n++] = batch->hashes[at];
	}
	return one;
}

bool batch_put(struct batch *batch, struct iovec text)
{
	char *to = (char *)(batch->texts + batch->room) + batch->used;
	if (batch->n == batch->room || batch->bytes - batch->used < text.iov_len)
		return false;
	if (text.iov_len)
		memcpy(to, text.iov_base, text.iov_len);
	batch->texts[batch->n++] = (struct iovec){ to, text.iov_len };
	batch->used += text.iov_len;
	return true;
}

struct weir_keys batch_keys(const struct batch *batch)
{
	return batch->texts ? weir_keys_iov(batch->texts, batch->n) :
	                      weir_keys_hashes(batch->hashes, batch->n);
}

/* ---- spools ---- */

bool spool_keep(struct spool *spool, struct batch *batch)
{
	const size_t each = batch->texts ? sizeof *batch->texts : sizeof *batch->hashes;
	batch->next = NULL;
	*(spool->first ? &spool->last->next : &spool->first) = batch;
	spool->last = batch;
	spool->keys += batch->n;
	spool->bytes += batch->n * each + batch->used;
	return spool->bytes <= spool->max_bytes;
}

struct batch *spool_next(struct spool *spool)
{
	struct batch *batch = spool->first;
	if (batch)
		spool->first = batch->next;
	return batch;
}

uint64_t *spool_take(struct spool *spool)
{
	uint64_t *all = xmalloc(spool->keys * sizeof *all);
	size_t at = 0;
	for (struct batch *batch; (batch = spool_next(spool)) != NULL; free(batch)) {
		memcpy(all + at, batch->hashes, batch->n * sizeof *all);
		at += batch->n;
	}
	return all;
}

void spool_free(struct spool *spool)
{
	for (struct batch *batch; (batch = spool_next(spool)) != NULL;)
		free(batch);
}
