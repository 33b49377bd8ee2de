/* SPDX-License-Identifier: MIT
 * A server that loses what a server may lose: its newest state, when a replica that lags takes its
 * place or it starts from a file; an answer, after what was asked for was done or before. And what
 * somebody may do to it: trim a stream, delete an entry, delete all. */
#ifndef WEIR_TESTS_REPLICA_TOY_H
#define WEIR_TESTS_REPLICA_TOY_H

#include "server.h"

struct toy_entry; /* never changes: states share them */

/* What is replicated and lost together. */
struct toy_state {
	const struct toy_entry **entries;
	size_t n;
	uint64_t added;
	struct weir_stream_id last;
	char *manifest;
	size_t manifest_len;
	uint64_t generation;
	struct weir_stream_id position; /* of the manifest */
};

struct toy {
	struct weir_server server;
	struct toy_state now, replica;
	unsigned epochs;
	uint64_t clock;
	uint64_t random;
	unsigned failing; /* of 1000 calls */
	bool no_image;    /* somebody has deleted chunks */
	bool bad_image;   /* somebody has changed them */
	unsigned slow;    /* of 1000 times that an image is asked for, it is on its way */
	bool lags;        /* the replica answers no WAIT */
	struct toy_image *images;
	struct toy_entry *all;
};

void toy_make(struct toy *t, uint64_t seed);
void toy_free(struct toy *t);
/* WAIT. Return: whether the replica has everything. */
bool toy_wait(struct toy *t);
/* The replica takes over: another epoch. */
void toy_fail_over(struct toy *t);
void toy_trim(struct toy *t, size_t n); /* the first n */
void toy_delete(struct toy *t, size_t i);
void toy_delete_all(struct toy *t);
void toy_flush(struct toy *t); /* the manifest too */
uint64_t toy_number(struct toy *t, uint64_t below);
/* For qsort(): the numbers of nodes, as weir__node_heal() wants them. */
int toy_ascending(const void *a, const void *b);
/* Is this hash in a batch of the stream? The image of the manifest there is, or NULL. */
bool toy_stream_has(const struct toy *t, uint64_t hash);
const struct weir_filter *toy_image(const struct toy *t);

#endif
