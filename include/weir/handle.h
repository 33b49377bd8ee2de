/* SPDX-License-Identifier: MIT
 * A set that is replaced while it is in use: one published pointer, readers in RCU read-side
 * sections (liburcu), no insert lost.
 *
 *     struct weir_handle *set;              create once:  weir_handle_create(&set, filter, NULL)
 *     weir_handle_contains(set, key, len)   any worker, at any time, also while reload.h replaces
 *                                           the filter
 *     weir_handle_insert(set, key, len)     likewise
 *
 * The promise. A key whose insert has returned is found by every later lookup through the handle,
 * across reloads, rollbacks and refreshes, if
 *   - the insert began after weir_reload_begin() had returned, or no reload ran: nothing more is
 *     asked for;
 *   - the insert returned before weir_reload_begin() was called: the loader's source has the key,
 *     or weir_reload_copy() carries it. So the application writes its own record first and inserts
 *     then, and the loader reads that record after weir_reload_begin().
 * The promise to a lookup counts from the moment it reads the published pointer: per call, or, in a
 * section of the caller's own, per weir_handle_get(). A filter kept from one get over two lookups
 * is the set as of that get.
 *
 *                       | contains insert get | reload_insert | begin commit refresh ... | destroy
 *     contains, insert  |         yes         |      yes      |           yes            |  no (a)
 *     get ... use       |         yes         |      yes      |           yes (b)        |  no (a)
 *     begin commit ...  |         yes         |   yes (begin) |   -EBUSY for all but one |  -EBUSY
 *   (a) destroy waits for sections that began before it; no later one may use the handle.
 *   (b) begin, commit, refresh, rollback and destroy wait for all sections: called inside one they
 *     answer -EDEADLK.
 *
 * Flavors. NULL is urcu-bp: threads need no registration. Any other (&rcu_flavor, as the urcu
 * header that you include names it: memb, qsbr, mb): the threads that call the verbs are registered
 * with it; with qsbr they are online and report quiescent states. A section of qsbr is everything
 * between two quiescent states, so there a thread that holds a filter from weir_handle_get() must
 * not call begin, commit, refresh, rollback or destroy (liburcu lets them pass through a quiescent
 * state, and no -EDEADLK can be told). After fork() the child's copy of an ordinary filter is its
 * own; a handle in it works if the child of urcu-bp is told by pthread_atfork(urcu_bp_before_fork,
 * urcu_bp_after_fork_parent, urcu_bp_after_fork_child), as for every user of liburcu, and then, if
 * anything is freed by call_rcu (defer_free, an abort inside a section), by
 * pthread_atfork(urcu_bp_call_rcu_before_fork, ...) as well. A handle that a writer of another
 * thread holds at the moment of fork() stays -EBUSY in the child.
 * A plugin may be closed by dlclose() when its handles are destroyed; libweir.so then stays loaded,
 * since threads go on that use liburcu. A plugin that has libweir.a in it is linked with -z
 * nodelete for the same reason.
 */
#ifndef WEIR_HANDLE_H
#define WEIR_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/filter.h>

WEIR_BEGIN_DECLS

struct iovec;
struct rcu_flavor_struct; /* liburcu's <urcu/flavor.h> */
struct weir_handle;

/**
 * Publish a filter.
 * @out: receives the handle; untouched on failure.
 * @initial: the first generation; the handle owns it from now on. On failure it is still the
 *   caller's.
 * @flavor: of RCU; NULL: urcu-bp. It must outlive the handle.
 * Return: 0 or a negative errno.  Errors: -EINVAL NULL; -ENOMEM.
 * Threads: any.  Order: publish the handle itself with release order (a thread's start does).
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_create(struct weir_handle **out,
                                                struct weir_filter *initial,
                                                const struct rcu_flavor_struct *flavor);

/**
 * Wait for the sections that may still use the handle, then free it and every filter it holds.
 * Whoever may find the handle must find it in a section, through a pointer that the caller has
 * cleared before: then readers that arrive meanwhile find no handle, and those that found it are
 * waited for.
 * @h: a handle, or NULL for nothing.
 * Return: 0 or a negative errno (then nothing happened).
 * Errors: -EBUSY a reload is open or a follower (follow.h) runs; -EDEADLK inside a read-side
 *   section.
 * Threads: the last user.  Progress: blocking (a grace period).
 */
WEIR_API int weir_handle_destroy(struct weir_handle *h);

/* What weir_handle_get() reads; frozen. */
struct weir_generation_head {
	struct weir_filter *current;
};
struct weir_handle_head {
	const struct weir_generation_head *generation;
};

/**
 * The current filter, inside the caller's own read-side section of the handle's flavor; valid until
 * that section ends. For lookups, as many as the section holds. Inserts go through
 * weir_handle_insert(): one made into this filter alone is lost if a reload is running, which is
 * why it is const.
 * Return: the filter, never NULL.
 * Threads: any, registered with the flavor.  Order: acquire.  Progress: wait-free.  Cost: two loads
 *   of lines that only a reload writes.
 */
WEIR_API inline const struct weir_filter *weir_handle_get(const struct weir_handle *h)
{
	return __atomic_load_n(&((const struct weir_handle_head *)h)->generation, __ATOMIC_ACQUIRE)
	        ->current;
}

/**
 * As weir_contains() of the current filter, in a section of its own.
 * Threads: any, registered with the flavor (urcu-bp: any).  Order: every insert through the handle
 *   that happens-before this call is seen.  Progress: wait-free; with urcu-bp a thread's first call
 *   registers it (a lock, an allocation).
 * Cost: a lookup, two loads and a section: some 4 ns with urcu-bp, whose sections are in line; with
 *   another flavor two calls more. Who asks for several keys at a time holds one section of his own
 *   over weir_handle_get(): that costs what the bare filter costs.
 */
WEIR_API bool weir_handle_contains(const struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_contains(), of a hash made with weir_handle_hash() or the caller's own
 * function. */
WEIR_API bool weir_handle_contains_hash(const struct weir_handle *h, uint64_t hash);
/**
 * As the batches of filter.h, of the filter that is current when the call begins, or (beyond 1 Mi
 * keys, so that a grace period does not wait for all of them) when each million does.
 */
WEIR_API size_t weir_handle_contains_hashes(const struct weir_handle *h, const uint64_t *hashes,
                                            size_t n, uint64_t *bitmap);
WEIR_API size_t weir_handle_contains_keys(const struct weir_handle *h, const struct iovec *keys,
                                          size_t n, uint64_t *bitmap);
WEIR_API size_t weir_handle_contains_fixed(const struct weir_handle *h, const void *keys,
                                           size_t key_bytes, size_t n, uint64_t *bitmap);

/**
 * Insert a key into every filter that the published record names: the current one, the next one
 * while a reload runs, the previous one while it is kept.
 * Return: as weir_insert() of the current filter, or a negative errno of another (then the key may
 *   be in some and is promised nothing).
 * Errors: -EROFS the current filter is mapped read-only; -ENOTSUP a kind without insert.
 * Threads, Order, Progress: as weir_handle_contains().  Cost: an insert; during a reload about two.
 */
WEIR_API int weir_handle_insert(struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_insert(), of a hash made with weir_handle_hash() or the caller's own function. */
WEIR_API int weir_handle_insert_hash(struct weir_handle *h, uint64_t hash);
/** Batches: @bitmap and the count returned are of the current filter, as for
 * weir_insert_hashes(). */
WEIR_API int64_t weir_handle_insert_hashes(struct weir_handle *h, const uint64_t *hashes, size_t n,
                                           uint64_t *bitmap);
WEIR_API int64_t weir_handle_insert_keys(struct weir_handle *h, const struct iovec *keys, size_t n,
                                         uint64_t *bitmap);
WEIR_API int64_t weir_handle_insert_fixed(struct weir_handle *h, const void *keys, size_t key_bytes,
                                          size_t n, uint64_t *bitmap);

/** As weir_hash(): all generations of a handle have one seed (weir_handle_refresh() refuses an
 * image with another). */
WEIR_API uint64_t weir_handle_hash(const struct weir_handle *h, const void *key, size_t len);

/**
 * As weir_remove(), where the kind can.
 * Errors: -EBUSY while a reload runs or the previous filter is kept: a removal that came too early
 *   to one of them would make a false negative; -ENOTSUP; -EROFS.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_remove(struct weir_handle *h, const void *key, size_t len);

/** What a handle holds. Start from WEIR_HANDLE_STATS_INIT. */
struct weir_handle_stats {
	size_t struct_size;       /* sizeof(struct weir_handle_stats) */
	/* of the current filter: 1, then one more with each commit, refresh and rollback */
	uint64_t generation;
	double age;               /* seconds since it was published */
	bool reloading;           /* a reload is open */
	bool previous_kept;       /* weir_handle_rollback() can */
	/* of bits, all filters together, those waiting for their grace period too */
	uint64_t bytes;
	uint64_t swaps;           /* commits, refreshes and rollbacks so far */
	uint64_t refused;         /* commits and refreshes that the gate or a bad file stopped */
	struct weir_stats filter; /* of the current filter, as weir_stats() */
};
#define WEIR_HANDLE_STATS_INIT \
	{ \
		sizeof(struct weir_handle_stats), 0, 0.0, false, false, 0, 0, 0, WEIR_STATS_INIT \
	}

/**
 * What the handle holds now.
 * Return: 0 or a negative errno.  Errors: -EINVAL struct_size.
 * Threads: any, registered with the flavor.  Progress: wait-free.  Cost: as weir_stats().
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_stats(const struct weir_handle *h,
                                               struct weir_handle_stats *out);

WEIR_END_DECLS

#endif
