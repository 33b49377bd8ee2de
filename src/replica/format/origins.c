/* SPDX-License-Identifier: MIT
 * A sorted array: nodes are few, come rarely, and are looked up once a batch. */
#include "origins.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>

void weir__origins_free(struct weir_origins *o)
{
	free(o->of);
	*o = (struct weir_origins){ 0 };
}

/* Where @node is, or would be. */
static size_t place_of(const struct weir_origins *o, uint64_t node)
{
	size_t from = 0, to = o->n;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (o->of[middle].node < node)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

int weir__origins_cover_all(struct weir_origins *o, const struct weir_origins *by)
{
	int err = 0;
	for (size_t i = 0; i < by->n && !err; i++)
		err = weir__origins_cover(o, by->of[i].node, by->of[i].sequence);
	return err;
}

const struct weir_origin *weir__origins_find(const struct weir_origins *o, uint64_t node)
{
	size_t at = place_of(o, node);
	return at < o->n && o->of[at].node == node ? &o->of[at] : NULL;
}

static int more_room(struct weir_origins *o)
{
	if (o->n == WEIR_ORIGINS)
		return weir_fail(-ENOBUFS, "batches of more than %d nodes are in the stream",
		                 WEIR_ORIGINS);
	size_t room = o->room ? 2 * o->room : 16;
	struct weir_origin *of = realloc(o->of, room * sizeof *of);
	if (!of)
		return weir_fail(-ENOMEM, "no memory for the sequence numbers of %zu nodes", room);
	o->of = of;
	o->room = room;
	return 0;
}

static int find_or_add(struct weir_origin **out, struct weir_origins *o, uint64_t node)
{
	size_t at = place_of(o, node);
	if (at == o->n || o->of[at].node != node) {
		int err = o->n == o->room ? more_room(o) : 0;
		if (err)
			return err;
		memmove(&o->of[at + 1], &o->of[at], (o->n - at) * sizeof *o->of);
		o->of[at] = (struct weir_origin){ .node = node };
		o->n++;
	}
	*out = &o->of[at];
	return 0;
}

static bool waits(const struct weir_origin *origin)
{
	return origin->seen > origin->sequence && !origin->abandoned;
}

/* Neither number ever falls. */
static void raise_to(struct weir_origins *o, struct weir_origin *origin, uint64_t sequence,
                     uint64_t seen)
{
	o->waiting -= waits(origin);
	origin->abandoned = false;
	if (origin->sequence < sequence)
		origin->sequence = sequence;
	if (origin->seen < seen)
		origin->seen = seen;
	o->waiting += waits(origin);
}

int weir__origins_see(struct weir_origins *o, uint64_t node, uint64_t sequence)
{
	struct weir_origin *origin;
	int err = find_or_add(&origin, o, node);
	if (err)
		return err;
	enum weir_origin_news news = sequence <= origin->sequence     ? WEIR_ORIGIN_AGAIN :
	                             sequence == origin->sequence + 1 ? WEIR_ORIGIN_NEXT :
	                                                                WEIR_ORIGIN_HOLE;
	raise_to(o, origin, news == WEIR_ORIGIN_NEXT ? sequence : 0, sequence);
	if (news == WEIR_ORIGIN_NEXT && !waits(origin))
		origin->heard = o->gap;
	return news;
}

int weir__origins_hear(struct weir_origins *o, uint64_t node, uint64_t sequence)
{
	struct weir_origin *origin;
	int err = find_or_add(&origin, o, node);
	if (err)
		return err;
	raise_to(o, origin, 0, sequence);
	if (!waits(origin))
		origin->heard = o->gap;
	return 0;
}

int weir__origins_cover(struct weir_origins *o, uint64_t node, uint64_t sequence)
{
	struct weir_origin *origin;
	int err = find_or_add(&origin, o, node);
	if (!err)
		raise_to(o, origin, sequence, sequence);
	return err;
}

bool weir__origins_reach(const struct weir_origins *o, const struct weir_origins *other)
{
	for (size_t i = 0; i < other->n; i++) {
		const struct weir_origin *own = weir__origins_find(o, other->of[i].node);
		if (!own || own->sequence < other->of[i].sequence)
			return false;
	}
	return true;
}

bool weir__origins_whole(const struct weir_origins *o, uint64_t node)
{
	const struct weir_origin *origin = weir__origins_find(o, node);
	return origin && origin->heard == o->gap && !waits(origin);
}

void weir__origins_abandon(struct weir_origins *o, uint64_t node)
{
	size_t at = place_of(o, node);
	if (at == o->n || o->of[at].node != node)
		return;
	o->waiting -= waits(&o->of[at]);
	o->of[at].abandoned = true;
}

void weir__origins_forget(struct weir_origins *o, uint64_t node)
{
	size_t at = place_of(o, node);
	if (at == o->n || o->of[at].node != node)
		return;
	o->waiting -= waits(&o->of[at]);
	o->n--;
	memmove(&o->of[at], &o->of[at + 1], (o->n - at) * sizeof *o->of);
}
