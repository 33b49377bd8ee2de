/* SPDX-License-Identifier: MIT
 * How a copy of a fingerprint leaves its slot: a mover takes it to its other bucket, or a remover
 * deletes it. Each fingerprint of a filter belongs to a stripe. A stripe has an owner ([OWNED-PART]
 * in atomic.h) and a version ([CUCKOO-SLOTS]).
 *
 * [COPY-OWNER]  Only the owner of a fingerprint's stripe clears a slot with this fingerprint. So a
 *    copy that the owner finds stays in its slot until the owner clears it. Movers and removers of
 *    one fingerprint take turns: a copy that is being removed does not move, and no removed copy
 *    comes back.
 * [VERSION-FIRST]  The owner bumps the version before each clearing. A mover writes the copy to its
 *    new slot, bumps the version, then clears the old slot.
 * [FREE-SLOT-CAS]  Any thread takes a free slot by one compare-and-swap of its word, without an
 *    owner.
 * [TWO-VERSIONS]  A lookup loads the version, both buckets, and the version again. If it finds no
 *    equal fingerprint and the version is the same, the key is absent. Proof: suppose that it reads
 *    the version of bump k. It sees everything before bump k: each earlier clearing, and the copy
 *    written before each bump up to k. It sees no clearing after bump k, since a thread that reads
 *    the result of such a clearing also sees the later bump ([CUCKOO-SLOTS]). Count the copies of
 *    this fingerprint in its two buckets, as read: those inserted, plus one for each move among the
 *    first k bumps, minus at most k clearings. If the count is 0, no more copies were inserted than
 *    removed. But each removal has an insert of its own, which came before the removal and so
 *    before its bump. The key's own insert would be one more.
 * [EIGHT-TRIES]  After eight such tries, each with a changed version, a lookup answers true. So it
 *    never waits and never misses a key.
 * [ONE-STRIPE]  A mover or remover owns one stripe at a time. A walk over the array (hold) takes
 *    all stripes, in order. So threads never deadlock: the owner of one stripe waits for nothing,
 *    and the later of two walks waits at the first stripe.
 * [WALK-MEETS-ALL]  A walk that owns all stripes meets each copy that was present before the walk:
 *    by [COPY-OWNER], no other thread clears a slot during the walk.
 * [FULL-IF-QUIET]  An insert answers "no room" only after a failed search between two quiet moments
 *    with equal versions. In a quiet moment no stripe has an owner. A mover (whose copy is then in
 *    two slots) or a remover that worked during the search owned its stripe in one of the moments,
 *    or bumped the version between them. */
#ifndef WEIR_SRC_KINDS_CUCKOO_MOVE_H
#define WEIR_SRC_KINDS_CUCKOO_MOVE_H

#include "kinds/cuckoo/cuckoo.h"

enum {
	WEIR_CUCKOO_STRIPES = 1024, /* the most stripes, few enough for the first-level cache */
	WEIR_CUCKOO_TRIES = 8,      /* [EIGHT-TRIES] */
};

/* The members are adjacent, since an owner writes both. In separate lines, each of two threads that
 * move keys would fetch two lines that the other thread has written. */
struct weir_cuckoo_stripe {
	struct weir_owner owner;
	atomic_uint version;
};

/* The kind's own state of a filter f: f->own and f->array.own point to this struct. Lookups read
 * the field stripes, and movers write to a stripe. So no stripe is on that field's cache line. */
struct weir_cuckoo {
	uint32_t stripes; /* the number of stripes, a power of two */
	atomic_uint_fast64_t walks; /* the number of walks (hold()) that own or wait for stripes */
	_Alignas(64) struct weir_cuckoo_stripe stripe[];
};

static inline const struct weir_cuckoo *weir__cuckoo_own(const struct weir_array *a)
{
	return a->own;
}

/* Return: the stripe of a fingerprint. */
WEIR__INLINE uint32_t weir__cuckoo_stripe(const struct weir_array *a, unsigned fingerprint)
{
	return fingerprint & (weir__cuckoo_own(a)->stripes - 1);
}

WEIR__INLINE const atomic_uint *weir__cuckoo_version(const struct weir_array *a,
                                                     unsigned fingerprint)
{
	return &weir__cuckoo_own(a)->stripe[weir__cuckoo_stripe(a, fingerprint)].version;
}

/* The create() and destroy() of struct weir_kind. */
int weir__cuckoo_create(struct weir_filter *f);
void weir__cuckoo_destroy(struct weir_filter *f);

/* With WEIR_CUCKOO_WAIT a thread may wait until a walk (hold()) ends. With WEIR_CUCKOO_EAGAIN the
 * thread fails instead, since it owns the stripes of another filter, over which it walks itself. */
enum weir_cuckoo_wait { WEIR_CUCKOO_WAIT, WEIR_CUCKOO_EAGAIN };

/* A copy at bit @shift of bucket @from, to be moved to its other bucket @to. */
struct weir_cuckoo_step {
	uint64_t from, to;
	unsigned shift;
	unsigned fingerprint;
};
/* Move a copy. Return: true if it was moved; false if the copy is gone, or the new bucket is full;
 * or -EAGAIN. */
int weir__cuckoo_move(const struct weir_array *a, const struct weir_cuckoo_step *step,
                      enum weir_cuckoo_wait wait);
/* Remove a copy of @spot's fingerprint from @spot's bucket, or if this bucket has no copy, from the
 * fingerprint's other bucket. Return: true if a copy was removed. */
bool weir__cuckoo_take_out(const struct weir_array *a, struct weir_cuckoo_spot spot);

/* The hold() and let_go() of struct weir_kind ([WALK-MEETS-ALL]). */
void weir__cuckoo_hold(const struct weir_filter *f);
void weir__cuckoo_let_go(const struct weir_filter *f);

/* Check for a quiet moment ([FULL-IF-QUIET]). Return: true if no stripe has an owner; @sum receives
 * the sum of the versions. If a stripe has an owner, return false after a wait or a yield. But
 * with WEIR_CUCKOO_EAGAIN and a walk in progress, fail with -EAGAIN. Also return false if a version
 * changed during the check. */
int weir__cuckoo_quiet(const struct weir_array *a, uint64_t *sum, enum weir_cuckoo_wait wait);

#endif
