/* SPDX-License-Identifier: MIT
 * How far each node's batches have been applied here, and whose have a hole (L8 in rules.h). */
#ifndef WEIR_REPLICA_ORIGINS_H
#define WEIR_REPLICA_ORIGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_origin {
	uint64_t node;
	uint64_t sequence; /* all up to it were applied, or are in the image that was joined */
	uint64_t seen;     /* the highest that was applied; above sequence: there is a hole */
	uint64_t heard;    /* the gap after which its last number was known, without a hole */
	bool abandoned;    /* it has gone, it seems: nobody waits for what is lacking of it */
};

enum { WEIR_ORIGINS = 65536 }; /* at most: names are the server's, so somebody may make them up */

struct weir_origins {
	struct weir_origin *of; /* by node, ascending */
	size_t n, room;
	size_t waiting; /* of those, how many have a hole and are waited for */
	uint64_t gap;   /* how many gaps there have been (L7) */
};

enum weir_origin_news {
	WEIR_ORIGIN_NEXT,  /* as it should be */
	WEIR_ORIGIN_AGAIN, /* it was there before */
	WEIR_ORIGIN_HOLE,  /* it is not the next: others before it are lacking */
};

void weir__origins_free(struct weir_origins *o);

/* A batch of @node was applied; @sequence is 1 or more, and a node begins with 1.
 * Return: enum weir_origin_news; -ENOMEM, -ENOBUFS there are too many nodes. */
int weir__origins_see(struct weir_origins *o, uint64_t node, uint64_t sequence);
/* @node says that its last batch is @sequence, or that it has sent none: 0. Return: 0; likewise. */
int weir__origins_hear(struct weir_origins *o, uint64_t node, uint64_t sequence);
/* An image was joined that has all of @node's up to @sequence. Return: 0; likewise. */
int weir__origins_cover(struct weir_origins *o, uint64_t node, uint64_t sequence);
/* Likewise, of all that another knows of. */
int weir__origins_cover_all(struct weir_origins *o, const struct weir_origins *by);
/* Return: what is known of @node; NULL: nothing. */
const struct weir_origin *weir__origins_find(const struct weir_origins *o, uint64_t node);
/* Were all applied up to those that the other names? */
bool weir__origins_reach(const struct weir_origins *o, const struct weir_origins *other);
/* Was it heard since the last gap, and is nothing lacking of it? */
bool weir__origins_whole(const struct weir_origins *o, uint64_t node);
/* It seems to have gone: nobody waits for it, until it is heard again. */
void weir__origins_abandon(struct weir_origins *o, uint64_t node);
/* A node has gone for good. */
void weir__origins_forget(struct weir_origins *o, uint64_t node);

#endif
