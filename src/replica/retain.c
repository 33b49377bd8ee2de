/* SPDX-License-Identifier: MIT
 * A list in the order of sequence numbers. Those before next are confirmed, those from it on are
 * not. */
#include "retain.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>

void weir__retained_make(struct weir_retained *r, uint64_t limit)
{
	*r = (struct weir_retained){ .limit = limit };
}

void weir__retained_free(struct weir_retained *r)
{
	while (r->oldest) {
		struct weir_batch *b = r->oldest;
		r->oldest = b->later;
		free(b);
	}
	*r = (struct weir_retained){ .limit = r->limit };
}

int weir__retained_add(struct weir_retained *r, const void *data, size_t bytes)
{
	uint64_t cost;
	if (__builtin_add_overflow(sizeof *r->newest, bytes, &cost) || cost > r->limit ||
	    r->bytes > r->limit - cost)
		return weir_fail(-ENOBUFS, "max_pending_bytes %llu: %llu bytes of inserts are kept "
		                 "for the other nodes, and there is no room for %llu more, until "
		                 "generations are published",
		                 (unsigned long long)r->limit, (unsigned long long)r->bytes,
		                 (unsigned long long)bytes);
	struct weir_batch *b = malloc(cost);
	if (!b)
		return weir_fail(-ENOMEM, "no memory to keep %llu bytes of inserts for the other "
		                 "nodes", (unsigned long long)bytes);
	*b = (struct weir_batch){ .sequence = ++r->last, .bytes = bytes };
	if (bytes)
		memcpy(b->data, data, bytes);
	*(r->newest ? &r->newest->later : &r->oldest) = b;
	r->newest = b;
	if (!r->next)
		r->next = b;
	r->bytes += cost;
	return 0;
}

const struct weir_batch *weir__retained_send(struct weir_retained *r)
{
	if (r->under_way || !r->next)
		return NULL;
	r->under_way = true;
	return r->next;
}

bool weir__retained_confirm(struct weir_retained *r, struct weir_stream_id id)
{
	if (!r->under_way)
		return false;
	r->under_way = false;
	r->next->confirmed = true;
	r->next->id = id;
	if (weir__stream_id_compare(id, r->highest) > 0)
		r->highest = id;
	r->next = r->next->later;
	return true;
}

void weir__retained_unsure(struct weir_retained *r)
{
	r->under_way = false;
}

size_t weir__retained_again(struct weir_retained *r, uint64_t sequence)
{
	size_t n = 0;
	for (struct weir_batch *b = r->oldest; b; b = b->later) {
		if (b->sequence < sequence)
			continue;
		if (n++ == 0 && b->confirmed) {
			r->next = b;
			r->under_way = false;
		}
		b->confirmed = false;
	}
	return n;
}

void weir__retained_anew(struct weir_retained *r)
{
	r->under_way = false;
	r->highest = (struct weir_stream_id){ 0, 0 };
	(void)weir__retained_again(r, 0);
}

bool weir__retained_beyond(struct weir_retained *r, struct weir_stream_id last)
{
	bool beyond = weir__stream_id_compare(r->highest, last) > 0;
	if (beyond)
		weir__retained_anew(r);
	return beyond;
}

void weir__retained_renumber(struct weir_retained *r)
{
	r->last = 0;
	for (struct weir_batch *b = r->oldest; b; b = b->later)
		b->sequence = ++r->last;
	weir__retained_anew(r);
}

size_t weir__retained_uncovered(struct weir_retained *r, struct weir_stream_id position,
                                uint64_t sequence)
{
	for (const struct weir_batch *b = r->oldest; b; b = b->later)
		if (b->confirmed && b->sequence > sequence &&
		    weir__stream_id_compare(b->id, position) <= 0)
			return weir__retained_again(r, b->sequence);
	return 0;
}

size_t weir__retained_forget(struct weir_retained *r, struct weir_stream_id covered)
{
	size_t n = 0;
	while (r->oldest && r->oldest->confirmed &&
	       weir__stream_id_compare(r->oldest->id, covered) <= 0) {
		struct weir_batch *b = r->oldest;
		r->oldest = b->later;
		r->bytes -= sizeof *b + b->bytes;
		free(b);
		n++;
	}
	if (!r->oldest)
		r->newest = NULL;
	return n;
}
