/* SPDX-License-Identifier: MIT
 * Stripes, moves and removals: the rules are in move.h. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "ground/threads.h"
#include "kinds/cuckoo/move.h"

static uint32_t stripes_for(uint64_t lines)
{
	uint32_t stripes = 1;
	while (stripes < WEIR_CUCKOO_STRIPES && 2 * stripes <= lines)
		stripes *= 2;
	return stripes;
}

int weir__cuckoo_create(struct weir_filter *f)
{
	uint32_t stripes = stripes_for(f->array.lines);
	struct weir_cuckoo *own;
	size_t bytes = sizeof *own + stripes * sizeof own->stripe[0];
	if (posix_memalign((void **)&own, 64, bytes))
		return weir__fail(-ENOMEM, "no memory for the %u stripes of a cuckoo filter",
		                  stripes);
	memset(own, 0, bytes);
	own->stripes = stripes;
	f->own = f->array.own = own;
	return 0;
}

void weir__cuckoo_destroy(struct weir_filter *f)
{
	free(f->own);
}

/* ---- owning a stripe ---- */

static struct weir_cuckoo *own_of(const struct weir_array *a)
{
	return a->own;
}

static void bump(const struct weir_array *a, uint32_t stripe)
{
	weir__version_bump_release(&own_of(a)->stripe[stripe].version);
}

/* Wait until the stripe may be free. With WEIR_CUCKOO_WAIT, sleep until then. With
 * WEIR_CUCKOO_EAGAIN, fail if a walk (hold()) is in progress; if no walk is, only yield once. */
static int wait_for(const struct weir_array *a, uint32_t stripe, enum weir_cuckoo_wait wait)
{
	if (wait == WEIR_CUCKOO_WAIT) {
		weir__owner_wait(&own_of(a)->stripe[stripe].owner);
		return 0;
	}
	if (weir__figure_load_relaxed(&own_of(a)->walks))
		return weir__fail(-EAGAIN, "the filter is being copied, saved or merged, and a "
		                  "key must move: try again when that is done");
	sched_yield();
	return 0;
}

static int take_stripe(const struct weir_array *a, uint32_t stripe, enum weir_cuckoo_wait wait)
{
	int err = 0;
	while (!err && !weir__owner_take(&own_of(a)->stripe[stripe].owner))
		err = wait_for(a, stripe, wait);
	return err;
}

static void drop_stripe(const struct weir_array *a, uint32_t stripe)
{
	weir__owner_drop(&own_of(a)->stripe[stripe].owner);
}

/* ---- only for the owner ---- */

/* Clear the slot in which this thread has found a copy. The copy is still there, since this thread
 * owns the stripe ([COPY-OWNER]). */
static void clear_slot(uint64_t *word, unsigned shift, unsigned width)
{
	uint64_t seen = weir__place_load_acquire(word);
	uint64_t mask = ((UINT64_C(1) << width) - 1) << shift;
	while (!weir__place_swap_release(word, &seen, seen & ~mask))
		;
}

/* Write a copy into a free slot ([FREE-SLOT-CAS]). Return: false if the bucket is full. */
static bool write_copy(uint64_t *word, unsigned fingerprint, unsigned width)
{
	uint64_t seen = weir__place_load_acquire(word), zeros;
	do {
		zeros = weir__cuckoo_zeros(seen, width);
		if (!zeros)
			return false;
	} while (!weir__place_swap_release(
		word, &seen,
		seen | (uint64_t)fingerprint << weir__cuckoo_lowest(zeros, width)));
	return true;
}

int weir__cuckoo_move(const struct weir_array *a, const struct weir_cuckoo_step *step,
                      enum weir_cuckoo_wait wait)
{
	unsigned width = weir__cuckoo_width(a);
	uint32_t stripe = weir__cuckoo_stripe(a, step->fingerprint);
	uint64_t *from = a->words + step->from;
	int err = take_stripe(a, stripe, wait);
	if (err)
		return err;
	bool there = weir__cuckoo_at(weir__place_load_acquire(from), step->shift, width) ==
	             step->fingerprint;
	bool moved = there && write_copy(a->words + step->to, step->fingerprint, width);
	if (moved) {
		bump(a, stripe); /* [VERSION-FIRST] */
		clear_slot(from, step->shift, width);
	}
	drop_stripe(a, stripe);
	return moved;
}

/* Remove a copy from one bucket. Return: true if the bucket had a copy. */
static bool take_out_of(const struct weir_array *a, uint64_t bucket, unsigned fingerprint,
                        unsigned width)
{
	uint64_t *word = a->words + bucket;
	uint64_t found = weir__cuckoo_zeros(weir__place_load_acquire(word) ^
	                                            fingerprint * weir__cuckoo_ones(width), width);
	if (!found)
		return false;
	bump(a, weir__cuckoo_stripe(a, fingerprint)); /* [VERSION-FIRST] */
	clear_slot(word, weir__cuckoo_lowest(found, width), width);
	return true;
}

bool weir__cuckoo_take_out(const struct weir_array *a, struct weir_cuckoo_spot spot)
{
	unsigned width = weir__cuckoo_width(a);
	uint32_t stripe = weir__cuckoo_stripe(a, spot.fingerprint);
	uint64_t other = weir__cuckoo_other(a, spot.bucket, spot.fingerprint);
	(void)take_stripe(a, stripe, WEIR_CUCKOO_WAIT);
	bool found = take_out_of(a, spot.bucket, spot.fingerprint, width) ||
	             take_out_of(a, other, spot.fingerprint, width);
	drop_stripe(a, stripe);
	return found;
}

/* ---- all stripes ---- */

void weir__cuckoo_hold(const struct weir_filter *f)
{
	struct weir_cuckoo *own = f->own;
	weir__figure_add_relaxed(&own->walks, 1);
	for (uint32_t stripe = 0; stripe < own->stripes; stripe++) /* [ONE-STRIPE] */
		(void)take_stripe(&f->array, stripe, WEIR_CUCKOO_WAIT);
}

void weir__cuckoo_let_go(const struct weir_filter *f)
{
	struct weir_cuckoo *own = f->own;
	weir__figure_sub_relaxed(&own->walks, 1);
	for (uint32_t stripe = 0; stripe < own->stripes; stripe++)
		drop_stripe(&f->array, stripe);
}

/* For each stripe, read the version, then the owner, then the version again. If the search came
 * before this check, a thread that owned the stripe during the search may have dropped it since.
 * The second read then sees the version that this thread has bumped. If the search comes after this
 * check, a thread may take the stripe after the read of the owner. The first read then gives the
 * version from before this thread's bump. */
int weir__cuckoo_quiet(const struct weir_array *a, uint64_t *sum, enum weir_cuckoo_wait wait)
{
	const struct weir_cuckoo *own = weir__cuckoo_own(a);
	*sum = 0;
	for (uint32_t i = 0; i < own->stripes; i++) {
		const struct weir_cuckoo_stripe *stripe = &own->stripe[i];
		unsigned version = weir__version_load_acquire(&stripe->version);
		if (weir__owner_held(&stripe->owner))
			return wait_for(a, i, wait);
		if (weir__version_load_acquire(&stripe->version) != version)
			return false;
		*sum += version;
	}
	return true;
}
