/* SPDX-License-Identifier: MIT
 * Batches of keys on their way from files to a filter. A batch is large, so that the library can
 * load the filter region by region, within the cache. Most batches contain hashes. If a lookup
 * probes several keys, a text has no single hash, and batches contain texts. */
#ifndef WEIR_TOOL_BATCH_H
#define WEIR_TOOL_BATCH_H

#include <weir/weir.h>

struct batch {
	struct batch *next;
	size_t n, room;      /* @n: number of keys; @room: largest number of keys */
	struct iovec *texts; /* NULL if the keys are hashes */
	/* @used: bytes of the texts, which follow the array @texts; @bytes: limit on @used */
	size_t used, bytes;
	uint64_t hashes[];
};

/* A list of batches that are kept until the keys are counted. Initialise with { .max_bytes = ...
 * }. */
struct spool {
	struct batch *first, *last;
	uint64_t keys, bytes, max_bytes;
	const char *limited_by; /* names the limit in a message; NULL: the machine */
	const char *remedy;     /* advice for a message; NULL: the advice of weir build */
};

/* Make a batch for one of @threads threads. @bytes: limit on the batches of all threads and on the
 * memory that the library takes to load them; 0: no limit. @longest: bytes of the longest text that
 * must fit. */
struct batch *batch_of_hashes(unsigned threads, uint64_t bytes);
struct batch *batch_of_texts(unsigned threads, uint64_t bytes, size_t longest);
/* Return: the smallest @bytes that suffices for @threads threads. */
uint64_t batch_least(unsigned threads);
/* Return: a new batch with a copy of key @at. */
struct batch *batch_of_one(const struct batch *batch, size_t at);
/* Appends a text to the batch. Return: false if the text does not fit. */
bool batch_put(struct batch *batch, struct iovec text);
struct weir_keys batch_keys(const struct batch *batch);

/* Appends a batch. Return: false if the spool now exceeds max_bytes. */
bool spool_keep(struct spool *spool, struct batch *batch);
/* Removes the first batch, which the caller frees. Return: NULL if the spool is empty. */
struct batch *spool_next(struct spool *spool);
/* Empties a spool of hashes. Return: an array of all hashes, which the caller frees. */
uint64_t *spool_take(struct spool *spool);
void spool_free(struct spool *spool);

#endif
