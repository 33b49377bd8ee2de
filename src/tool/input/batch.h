/* SPDX-License-Identifier: MIT
 * Keys on their way from files to a filter. Batches are large, so that the library can load the
 * filter part by part and write in cache. Most batches hold hashes. If a lookup probes several
 * keys, no single hash stands for a text, so batches hold texts. */
#ifndef WEIR_TOOL_BATCH_H
#define WEIR_TOOL_BATCH_H

#include <weir/weir.h>

struct batch {
	struct batch *next;
	size_t n, room;      /* keys */
	struct iovec *texts; /* NULL: hashes */
	size_t used, bytes;  /* of the texts' bytes, which lie behind that array */
	uint64_t hashes[];
};

/* Batches that are kept until the keys are counted. Start from { .max_bytes = ... }. */
struct spool {
	struct batch *first, *last;
	uint64_t keys, bytes, max_bytes;
	const char *limited_by; /* in a message; NULL: the memory of the machine */
	const char *remedy;     /* in a message; NULL: that of weir build */
};

/* Make a batch for one of @threads threads. @bytes: limit of the batches of all threads, with the
 * memory that the library takes to load them; 0: no limit. @longest: bytes of a text that must
 * fit. */
struct batch *batch_of_hashes(unsigned threads, uint64_t bytes);
struct batch *batch_of_texts(unsigned threads, uint64_t bytes, size_t longest);
/* Return: the least @bytes. */
uint64_t batch_least(unsigned threads);
/* Return: a batch with a copy of key @at. */
struct batch *batch_of_one(const struct batch *batch, size_t at);
/* Puts a text into the batch. Return: false if it does not fit. */
bool batch_put(struct batch *batch, struct iovec text);
struct weir_keys batch_keys(const struct batch *batch);

/* Appends a batch. Return: false if the spool now exceeds max_bytes. */
bool spool_keep(struct spool *spool, struct batch *batch);
/* Return: the first batch, for the caller to free; NULL: the spool is empty. */
struct batch *spool_next(struct spool *spool);
/* Return: all hashes as one array, for the caller to free. Empties the spool. */
uint64_t *spool_take(struct spool *spool);
void spool_free(struct spool *spool);

#endif
