/* SPDX-License-Identifier: MIT
 * Two toy servers that do in C what the two scripts of redis do (touch.lua and publish.lua), and
 * that lose data as redis may. Server 1 is the first master. Server 0 is its fallback: a saved
 * state, or a replica that is promoted. Each node has a store. The faults are those of
 * tests/model/union.pml. */
#ifndef WEIR_TESTS_REPLICA_TOY_H
#define WEIR_TESTS_REPLICA_TOY_H

#include "node/store.h"

enum { TOY_KEEP = 2, TOY_STORES = 1024 };

struct toy_entry;
struct toy_generation;

struct toy_server {
	uint64_t run;
	bool log_there, head_there;
	struct weir_head head;
	uint64_t head_run;
	struct weir_log_id last_id;      /* last id of the log, unchanged by deletions */
	const struct toy_entry **log;
	size_t n, capacity;
	struct toy_generation *kept[TOY_KEEP]; /* newest first; [0] is the generation of the head */
	uint64_t holder, held_until;     /* the lease: the id of its owner, and its end */
	bool down, full;
};

struct toy_store {
	struct weir_store store;
	struct toy *toy;
	unsigned server;
	bool no_read;                    /* toy_read() fails */
	struct weir_filter *uploading;   /* copy of the filter for generation `upload` */
	uint64_t upload, image;          /* ids of the generations in transfer; 0: none */
	unsigned remaining,              /* calls until the upload is complete */
	         image_left;             /* calls until the fetch is complete */
};

struct toy {
	struct toy_server server[2];
	uint64_t clock, random;
	unsigned failing;                /* number of calls in 1000 that fail */
	unsigned slow;                   /* the largest number of calls that a transfer of an
	                                    image takes; 0: one call */
	uint64_t bytes_in,               /* bytes that nodes wrote */
	         bytes_out,              /* bytes that nodes read */
	         calls;
	struct toy_store stores[TOY_STORES];
};

void toy_make(struct toy *t, uint64_t seed);
void toy_free(struct toy *t);
struct toy_store *toy_store(struct toy *t, unsigned i, unsigned server);
uint64_t toy_number(struct toy *t, uint64_t below);

/* The faults. */
void toy_save(struct toy *t);                    /* server 0 becomes a copy of server 1 */
void toy_fall_back(struct toy *t, bool restart); /* server 1 becomes a copy of server 0; @restart
                                                    false: server 1 keeps running */
void toy_flush(struct toy_server *s);
void toy_drop_log(struct toy_server *s);
void toy_delete(struct toy_server *s, size_t i); /* @i: a batch's index in the log */
void toy_spoil(struct toy_server *s, size_t i);  /* nodes cannot read entry @i afterwards */
void toy_lose_image(struct toy_server *s);

/* Return: true if an entry of the log has @hash. */
bool toy_log_has(const struct toy_server *s, uint64_t hash);
/* Return: true if the head's image has @hash. */
bool toy_image_has(const struct toy_server *s, uint64_t hash);
/* Return: the manifest of the head, the manifest of kept generation @i, or the image of the head;
 *   NULL: missing. */
const struct weir_manifest *toy_head(const struct toy_server *s);
const struct weir_manifest *toy_kept(const struct toy_server *s, unsigned i);
const struct weir_filter *toy_head_image(const struct toy_server *s);

#endif
