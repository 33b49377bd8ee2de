/* SPDX-License-Identifier: MIT
 * How a copy of a fingerprint leaves its place: moved to its other bucket, or removed. All of a
 * filter's fingerprints are spread over stripes. A stripe has an owner (O1 in atomic.h) and a
 * version (O12).
 *
 * C1  A copy leaves its place only by the hand of the owner of its fingerprint's stripe. So what
 *     the owner finds there stays there until it clears it, and movers and removers of one
 *     fingerprint take turns: nobody moves a copy that is being removed, and none comes back.
 * C2  The owner bumps the version before each clearing. A mover has by then written the copy to
 *     its new place: it writes, bumps, clears.
 * C3  A free place is taken by one compare-and-swap of its word, by anybody, and needs no owner.
 * C4  A lookup loads the version, both buckets, and the version again. If it finds no equal
 *     fingerprint and the version is the same, the key is not there. For say that it read the
 *     version of bump k. It saw all that comes before bump k: each clearing before it, and the copy
 *     written before each bump up to it. And it saw no clearing after bump k: who reads what such a
 *     one left behind sees the later bump too (O12). Count the copies of this fingerprint in
 *     its two buckets, as read: those inserted, plus one for each move among the first k, less at
 *     most k clearings. If that is 0, at most as many were inserted as removed; but each
 *     removal has an insert of its own, which came before the removal and so before its bump, and
 *     the key's own insert is one more.
 * C5  After eight such tries with another version each a lookup answers true. So it waits for
 *     nobody and misses nothing.
 * C6  A thread owns one stripe at a time; a walk over the array (hold) takes all, in their order.
 *     So nobody waits in a circle: an owner of one waits for nothing, and of two walks one is
 *     second at the first stripe.
 * C7  A walk that owns all stripes meets each copy that was there before: nothing is cleared
 *     meanwhile, by C1.
 * C8  "No room" is answered only after a search with a quiet moment before it, and another after it
 *     with the same versions: in a quiet moment no stripe has an owner. A mover that was at work
 *     during the search, so that a copy stood in two places, or a remover, owned its stripe in one
 *     of the moments, or bumped between them. */
#ifndef WEIR_SRC_KINDS_CUCKOO_MOVE_H
#define WEIR_SRC_KINDS_CUCKOO_MOVE_H

#include "kinds/cuckoo/cuckoo.h"

enum {
	WEIR_CUCKOO_STRIPES = 1024, /* at most: they stay in the first-level cache */
	WEIR_CUCKOO_TRIES = 8,      /* C5 */
};

/* Side by side, since an owner writes both: of two threads that move keys each would otherwise
 * fetch two lines that the other has written. */
struct weir_cuckoo_stripe {
	struct weir_owner owner;
	atomic_uint version;
};

/* f->own, and the array's. Every lookup reads the first member, so no stripe is in its line. */
struct weir_cuckoo {
	uint32_t stripes; /* a power of two */
	atomic_uint_fast64_t walks; /* under way or waiting */
	_Alignas(64) struct weir_cuckoo_stripe stripe[];
};

static inline const struct weir_cuckoo *weir__cuckoo_own(const struct weir_array *a)
{
	return a->own;
}

/* The stripe of a fingerprint. */
WEIR__INLINE uint32_t weir__cuckoo_stripe(const struct weir_array *a, unsigned fingerprint)
{
	return fingerprint & (weir__cuckoo_own(a)->stripes - 1);
}

WEIR__INLINE const atomic_uint *weir__cuckoo_version(const struct weir_array *a,
                                                     unsigned fingerprint)
{
	return &weir__cuckoo_own(a)->stripe[weir__cuckoo_stripe(a, fingerprint)].version;
}

/* The kind's create and destroy. */
int weir__cuckoo_create(struct weir_filter *f);
void weir__cuckoo_destroy(struct weir_filter *f);

/* May a thread wait for a walk to end? One that is a walker itself may not (C6). */
enum weir_cuckoo_wait { WEIR_CUCKOO_WAIT, WEIR_CUCKOO_EAGAIN };

/* A copy at bit @shift of bucket @from, which is to go to its other bucket @to. */
struct weir_cuckoo_step {
	uint64_t from, to;
	unsigned shift;
	unsigned fingerprint;
};
/* Return: true: moved. false: it is not there any more, or there is no room for it. Or -EAGAIN. */
int weir__cuckoo_move(const struct weir_array *a, const struct weir_cuckoo_step *step,
                      enum weir_cuckoo_wait wait);
/* Take a copy of the fingerprint out of the bucket, else out of its other. Return: was there
 * one? */
bool weir__cuckoo_take_out(const struct weir_array *a, struct weir_cuckoo_spot spot);

/* The kind's hold and let_go (C7). */
void weir__cuckoo_hold(const struct weir_filter *f);
void weir__cuckoo_let_go(const struct weir_filter *f);

/* C8: is no stripe owned? If so, @sum receives the sum of the versions. Else this waits for an
 * owner, or is -EAGAIN. Return: true, false or -EAGAIN. */
int weir__cuckoo_quiet(const struct weir_array *a, uint64_t *sum, enum weir_cuckoo_wait wait);

#endif
