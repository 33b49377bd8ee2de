/* SPDX-License-Identifier: MIT
 * Replacing a handle's filter under full load, and taking that back.
 *
 *     weir_reload_begin     makes the next filter; from its return on every insert goes to both
 *     weir_reload_insert*   the loader fills it, from as many threads as it likes
 *     weir_reload_copy      or carries over what the current filter has (copy-on-write)
 *     weir_reload_commit    the gate, then the switch;   or weir_reload_abort
 *
 * The loader reads its source after weir_reload_begin() has returned: what was inserted before is
 * the source's to have, or the copy's. The peak is two filters; three while the previous one is
 * kept, or until a deferred free.
 */
#ifndef WEIR_RELOAD_H
#define WEIR_RELOAD_H

#include <weir/handle.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

struct weir_reload;

/**
 * What a filter must pass before it is published; all zero: anything passes. A refusal keeps the
 * current filter and its sentence names what was refused.
 */
struct weir_gate {
	/* 0: pass; anything else refuses; NULL: none */
	int (*check)(const struct weir_filter *next, void *context);
	void *context;
	/* keys that the set must have: a source that came up empty or cut short lacks them */
	const struct iovec *must_hit;
	size_t must_hits;
	/* keys that must not be blocked; each is refused by chance with probability fp_rate */
	const struct iovec *must_miss;
	size_t must_misses;
	double max_fill;    /* share of bits set, 0 to 1; 0: any */
	double max_fp_rate; /* of the bits as they are, not as asked; 0: any */
	double min_keys;    /* distinct keys, estimated from the bits; 0: any */
};
#define WEIR_GATE_INIT { 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0 }

struct weir_reload_options {
	size_t struct_size;               /* sizeof(struct weir_reload_options) */
	/* of the next filter: another size, rate, kind or memory; NULL: size and layout of the
	 * current one, in private memory with no flags. The seed stays. */
	const struct weir_params *params;
	/* refuse if all filters together would have more bytes of bits; 0: no limit */
	uint64_t max_bytes;
	/* after the commit: it receives every insert too, so that a rollback loses none */
	bool keep_previous;
	/* free the old filter by call_rcu instead of waiting for the grace period in the commit */
	bool defer_free;
	struct weir_gate gate;
};
#define WEIR_RELOAD_OPTIONS_INIT \
	{ \
		sizeof(struct weir_reload_options), 0, 0, false, false, WEIR_GATE_INIT \
	}

/**
 * Make the next filter, publish it beside the current one, and wait until every inserter knows:
 * from the return of this call on each insert through the handle goes to both.
 * @out: receives the reload; untouched on failure.
 * @options: copied; what it points to must live until the commit. NULL for the defaults.
 * Return: 0 or a negative errno (then nothing has changed).
 * Errors: -EBUSY a reload, refresh or rollback runs; -EDEADLK inside a read-side section; -EFBIG
 *   more than max_bytes; -EINVAL, -ENOTSUP, -ENOMEM as weir_create(); -EINVAL params name another
 *   seed, or the gate's limits make no sense.
 * Threads: any one.  Progress: blocking (memory, a grace period).
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_begin(struct weir_reload **out, struct weir_handle *h,
                                               const struct weir_reload_options *options);

/**
 * Insert into the next filter alone.
 * Return: as weir_insert().
 * Threads: any number of loader threads, with inserts and lookups through the handle; all of them
 *   have ended before the commit.
 * Progress, Cost: as weir_insert(). weir_reload_insert_hashes() and _fixed() of many keys sort them
 *   by shard first and write in cache: the way to load millions.
 */
WEIR_API int weir_reload_insert(struct weir_reload *r, const void *key, size_t len);
WEIR_API int weir_reload_insert_hash(struct weir_reload *r, uint64_t hash);
WEIR_API int64_t weir_reload_insert_hashes(struct weir_reload *r, const uint64_t *hashes, size_t n);
WEIR_API int64_t weir_reload_insert_keys(struct weir_reload *r, const struct iovec *keys, size_t n);
WEIR_API int64_t weir_reload_insert_fixed(struct weir_reload *r, const void *keys, size_t key_bytes,
                                          size_t n);

/**
 * Or the current filter's bits into the next: every insert that had returned before
 * weir_reload_begin() was called is in it then.
 * Return: 0 or a negative errno.  Errors: -EINVAL the two differ in kind, size or layout:
 *   weir_error_detail() names the field.
 * Threads: as weir_reload_insert().  Progress: wait-free.  Cost: memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_copy(struct weir_reload *r);

/** How far a reload is. Start from WEIR_RELOAD_PROGRESS_INIT. */
struct weir_reload_progress {
	size_t struct_size;
	/* distinct keys in the next filter, estimated from its bits: nobody counts, so nobody
	 * waits */
	double keys;
	double share;   /* of its capacity */
	double seconds; /* since weir_reload_begin() returned */
};
#define WEIR_RELOAD_PROGRESS_INIT { sizeof(struct weir_reload_progress), 0.0, 0.0, 0.0 }
/** Return: 0 or -EINVAL (struct_size).  Threads: any, before the commit.  Cost: as weir_stats(). */
WEIR_API WEIR_MUST_CHECK int weir_reload_progress(const struct weir_reload *r,
                                                  struct weir_reload_progress *out);

/** The next filter, for reading: before the commit. */
WEIR_API const struct weir_filter *weir_reload_next(const struct weir_reload *r);

/**
 * Ask the gate, then publish the next filter as the current one, wait for a grace period, and free
 * the old one.
 * @r: is gone afterwards, unless the answer is -EDEADLK.
 * Return: 0, or -ECANCELED: the gate refused, the reload is aborted and the current filter stays;
 *   -EDEADLK inside a section.
 * Threads: one, all loader threads having ended.  Progress: blocking (a grace period, unless
 *   defer_free).
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_commit(struct weir_reload *r);

/**
 * Give the reload up; the current filter has missed nothing.
 * @r: is gone afterwards; NULL for nothing.
 * Threads: as weir_reload_commit().  Progress: blocking (a grace period), unless defer_free is set
 *   or the caller is in a section.
 */
WEIR_API void weir_reload_abort(struct weir_reload *r);

/**
 * Publish the previous filter, which keep_previous has kept, as the current one; the rejected one
 * is freed. No insert is lost: the previous filter has received each since.
 * Return: 0 or a negative errno.  Errors: -ENOENT none is kept; -EBUSY; -EDEADLK; -ENOMEM.
 * Threads: any one.  Progress: blocking (a grace period).
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_rollback(struct weir_handle *h);
/** Free the previous filter: the new one has proved itself. Return, Errors: as
 * weir_handle_rollback(). */
WEIR_API WEIR_MUST_CHECK int weir_handle_drop_previous(struct weir_handle *h);

WEIR_END_DECLS

#endif
