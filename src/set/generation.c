/* SPDX-License-Identifier: MIT
 * Generation records, the writer's claim, and the freeing of retired objects. */
#include <stdlib.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "ground/system.h"
#include "rcu/rcu.h"
#include "set/generation.h"

struct weir_generation *weir__record(struct weir_filter *current, struct weir_filter *next,
                                     struct weir_filter *previous, uint64_t number)
{
	struct weir_generation *record = malloc(sizeof *record);
	if (record)
		*record = (struct weir_generation){ .current = current,
		                                    .next = next,
		                                    .previous = previous,
		                                    .number = number,
		                                    .since = weir__seconds() };
	return record;
}

/* A filter that probes several keys per lookup notes each key's length during the insert
 * ([LENGTH-FIRST]). So it must read the text itself, and cannot use a hash computed for another
 * filter. */
static bool same_hashes_of_texts(const struct weir_text *a, const struct weir_text *b)
{
	return a->steps == b->steps && !weir__text_several(a);
}

/* [ANY-SEED]: return the first filter that hashes in the same way as filter @of. */
static unsigned char first_alike(const struct weir_generation *g, unsigned char of)
{
	const struct weir_filter *filter = weir__record_filter(g, of);
	for (unsigned char i = 0; filter && i < of; i++) {
		const struct weir_filter *before = weir__record_filter(g, i);
		if (before && weir__same_hashing(&before->hashing, &filter->hashing) &&
		    same_hashes_of_texts(&before->text, &filter->text))
			return i;
	}
	return of;
}

void weir__record_complete(const struct weir_handle *h, struct weir_generation *record)
{
	bool hashes = !(h->flags & WEIR_HANDLE_ANY_SEED) || h->flags & WEIR_HANDLE_OWN_HASHES;
	record->absence = h->absence;
	record->by_hash = hashes || h->absence ? record->current : &weir__any_hash;
	record->beside = (record->next || record->previous ? WEIR_BESIDE_FILTERS : 0) |
	                 (hashes ? 0 : WEIR_BESIDE_NO_HASHES) |
	                 (record->absence ? WEIR_BESIDE_ABSENCE : 0);
	for (unsigned char i = 0; i < WEIR_RECORD_FILTERS; i++)
		record->alike[i] = first_alike(record, i);
}

int weir__writer_begin(struct weir_handle *h, const char *verb)
{
	if (weir__in_section(&h->rcu))
		return weir__fail(-EDEADLK,
		                  "%s inside a read-side section: it would wait for its own caller",
		                  verb);
	if (!weir__flag_claim_acquire(&h->whole->claimed))
		return weir__fail(-EBUSY,
		                  "%s: a reload, refresh or rollback of this handle is under way",
		                  verb);
	return 0;
}

int weir__one_filter_check(const struct weir_handle *h, const char *verb)
{
	return h->sharded ? weir__fail(-ENOTSUP, "%s: the set is sharded: replace it shard by "
	                               "shard, by weir_reload_all()", verb) : 0;
}

int weir__destroy_begin(struct weir_handle *h, const char *verb)
{
	if (weir__in_callback(h->rcu.flavor))
		return weir__fail(-EDEADLK,
		                  "%s in a callback of call_rcu: it could wait for its own thread; "
		                  "let another thread call it",
		                  verb);
	return weir__writer_begin(h, verb);
}

static uint64_t bytes_of(const struct weir_filter *f)
{
	return f ? weir__filter_bytes(f) : 0;
}

uint64_t weir__held_bytes(const struct weir_handle *h, const struct weir_generation *g)
{
	return bytes_of(g->current) + bytes_of(g->next) + bytes_of(g->previous) +
	       weir__figure_load_relaxed(&h->bytes_retired);
}

struct weir_bits weir__filter_bits(const struct weir_filter *f)
{
	return f ? (struct weir_bits){ f->array.words, f->bytes } : (struct weir_bits){ 0 };
}

static bool overlap(struct weir_bits a, struct weir_bits b)
{
	uintptr_t x = (uintptr_t)a.at, y = (uintptr_t)b.at;
	return x < y ? y - x < a.bytes : x - y < b.bytes;
}

/* [BITS-IN-USE]: free the entries that call_rcu's thread no longer holds. */
static void forget_freed(struct weir_handle *h)
{
	struct weir_retired **at = &h->retired;
	while (*at) {
		struct weir_retired *retired = *at;
		if (weir__flag_held_acquire(&retired->held)) {
			at = &retired->older;
		} else {
			*at = retired->older;
			free(retired);
		}
	}
}

const char *weir__bits_in(struct weir_handle *h, struct weir_bits place)
{
	const struct weir_generation *g = h->generation;
	if (overlap(weir__filter_bits(g->current), place))
		return "the current filter";
	if (overlap(weir__filter_bits(g->previous), place))
		return "the previous filter";
	forget_freed(h);
	for (const struct weir_retired *r = h->retired; r; r = r->older)
		if (overlap(r->bits[0], place) || overlap(r->bits[1], place))
			return "a filter that call_rcu has still to free";
	return NULL;
}

static void free_retired(struct weir_retired *retired)
{
	for (unsigned i = 0; i < 2; i++) {
		weir__filter_free(retired->filters[i]);
		free(retired->records[i]);
	}
	weir__absence_free(retired->absence);
}

static void free_deferred(struct rcu_head *head)
{
	struct weir_retired *retired = caa_container_of(head, struct weir_retired, head);
	WEIR__SECTIONS_ENDED(head); /* pairs with WEIR__SECTION_ENDS() in weir__retire() */
	struct weir_handle *h = retired->handle;
	const uint64_t bytes = retired->bytes;
	WEIR__SECTIONS_ENDED((void *)(uintptr_t)h->rcu.flavor);
	free_retired(retired);
	weir__figure_sub_relaxed(&h->bytes_retired, bytes);
	/* [BITS-IN-USE]: after this store the writer may free @retired */
	weir__flag_release(&retired->held);
	/* after this store the handle may be freed: see weir__retired_wait() */
	weir__users_sub_release(&h->retiring);
}

void weir__retire(struct weir_handle *h, struct weir_retired *retired, bool defer)
{
	if (!defer) {
		weir__synchronize(&h->rcu);
		free_retired(retired);
		free(retired);
		return;
	}
	forget_freed(h);
	retired->handle = h;
	for (unsigned i = 0; i < 2; i++)
		retired->bits[i] = weir__filter_bits(retired->filters[i]);
	(void)weir__flag_claim_acquire(&retired->held);
	retired->older = h->retired;
	h->retired = retired;
	weir__users_add_relaxed(&h->retiring);
	/* keep the sum for free_deferred(), since running inserts may still grow the filters */
	retired->bytes = bytes_of(retired->filters[0]) + bytes_of(retired->filters[1]);
	weir__figure_add_relaxed(&h->bytes_retired, retired->bytes);
	WEIR__SECTION_ENDS(&retired->head); /* call_rcu's thread reads the writes above */
	h->rcu.flavor->update_call_rcu(&retired->head, free_deferred);
}

void weir__retired_wait(struct weir_handle *h)
{
	while (weir__users_load_acquire(&h->retiring))
		weir__barrier(&h->rcu);
	forget_freed(h);
}
