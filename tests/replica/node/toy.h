/* SPDX-License-Identifier: MIT
 * Two servers with the two scripts' semantics, which lose what redis may lose: server 1 is the
 * master of the beginning; server 0 is what it falls back to, a state that was saved or a replica
 * that is promoted. A store for each node, and the faults of tests/model/union.pml. */
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
	struct weir_log_id last_id;      /* of the log's key, whatever was deleted */
	const struct toy_entry **log;
	size_t n, room;
	struct toy_generation *kept[TOY_KEEP]; /* the newest first; that is the head's */
	uint64_t holder, held_until;     /* the lease */
	bool down, full;
};

struct toy_store {
	struct weir_store store;
	struct toy *toy;
	unsigned server;
	bool no_read;                    /* its readings fail */
	struct weir_filter *uploading;   /* a copy, of the manifest with this id */
	uint64_t upload, image;
	unsigned left, image_left;       /* askings until it is there */
};

struct toy {
	struct toy_server server[2];
	uint64_t clock, random;
	unsigned failing;                /* of 1000 calls */
	unsigned slow;                   /* askings, at most, until an image has come or gone */
	bool lost_image;                 /* once: the head's cannot be read any more */
	uint64_t bytes_in, bytes_out, calls; /* by nodes: written, read */
	struct toy_store stores[TOY_STORES];
};

void toy_make(struct toy *t, uint64_t seed);
void toy_free(struct toy *t);
struct toy_store *toy_store(struct toy *t, unsigned i, unsigned server);
uint64_t toy_number(struct toy *t, uint64_t below);

/* The faults. */
void toy_save(struct toy *t);                    /* server 0 has what server 1 has */
void toy_fall_back(struct toy *t, bool restart); /* and back; false: as a dump that is put back */
void toy_flush(struct toy_server *s);
void toy_drop_log(struct toy_server *s);
void toy_delete(struct toy_server *s, size_t i); /* if it is a batch */
void toy_spoil(struct toy_server *s, size_t i);  /* it does not read any more */
void toy_lose_image(struct toy_server *s);

/* Is the hash in the log, or in the head's image? */
bool toy_log_has(const struct toy_server *s, uint64_t hash);
bool toy_image_has(const struct toy_server *s, uint64_t hash);
/* The newest generation and its image, or NULL. */
const struct weir_manifest *toy_head(const struct toy_server *s);
const struct weir_manifest *toy_kept(const struct toy_server *s, unsigned i);
const struct weir_filter *toy_head_image(const struct toy_server *s);

#endif
