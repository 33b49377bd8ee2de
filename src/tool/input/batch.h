/* SPDX-License-Identifier: MIT
 * Keys on their way from files to a filter, in large batches, so that the library can load them
 * part by part and write in cache. Most are hashes. In a set where a lookup probes several keys no
 * hash stands for a text, so those are texts. */
#ifndef WEIR_TOOL_BATCH_H
#define WEIR_TOOL_BATCH_H

#include <weir/weir.h>

struct batch {
	struct batch *next;
	size_t n, room;      /* keys */
	struct iovec *texts; /* NULL: hashes */
	size_t used, bytes;  /* of the texts, which lie behind that array */
	uint64_t hashes[];
};

/* Batches kept until it is known how many keys there are. Start from { .max_bytes = ... }. */
struct spool {
	struct batch *first, *last;
	uint64_t keys, bytes, max_bytes;
	const char *limited_by; /* in a message; NULL: the memory of the machine */
	const char *remedy;     /* likewise; NULL: that of weir build */
};

/* One of many that @threads threads have at a time. @bytes: that all of them may have, with as much
 * as the library takes to load them; 0: no limit. @longest: of texts: there is room for one of so
 * many bytes. */
struct batch *batch_of_hashes(unsigned threads, uint64_t bytes);
struct batch *batch_of_texts(unsigned threads, uint64_t bytes, size_t longest);
/* The fewest @bytes. */
uint64_t batch_least(unsigned threads);
/* A copy of key @at alone. */
struct batch *batch_of_one(const struct batch *batch, size_t at);
/* Whether there is room for a text, which is then taken. */
bool batch_put(struct batch *batch, struct iovec text);
struct weir_keys batch_keys(const struct batch *batch);

/* Put a batch behind the others. Return: false if they are now more than max_bytes. */
bool spool_keep(struct spool *spool, struct batch *batch);
/* Take the first one out, to be freed; NULL: there is none. */
struct batch *spool_next(struct spool *spool);
/* All hashes that were kept, as one array, to be freed; the spool is empty then. */
uint64_t *spool_take(struct spool *spool);
void spool_free(struct spool *spool);

#endif
