/* SPDX-License-Identifier: MIT
 * A router is a filter with up to 64 sets: shards, tenants or files, say. One lookup finds the sets
 * that may have a key. It returns a 64-bit mask, in which bit i belongs to set i.
 *
 *     struct weir_params params = WEIR_PARAMS_INIT;
 *     params.kind = WEIR_ROUTER, params.router.sets = 12;
 *     params.capacity = 1000000, params.fp_rate = 0.01;    of each set
 *     err = weir_create(&f, &params);
 *     weir_insert_into(f, 3, key, len);
 *     mask = weir_route(f, key, len);
 *
 * Create, merge, save, load, measure and publish a router like any other filter; its kind is
 * WEIR_ROUTER. The verbs of this header work on every filter: a filter of another kind has one set,
 * number 0. The verbs of <weir/filter.h> work on a router: weir_contains() asks all sets, and
 * weir_insert() inserts into all sets. So a program that mixes the verbs of both headers gets no
 * false negatives.
 *
 * A router is bit-sliced. It has a column for each set, and 8, 16, 32 or 64 columns in all. A row
 * is one bit of each column. A key selects some rows, all within one page of 4 KiB: 6 rows at 1 %.
 * An insert into set i sets bit i of each selected row. A lookup is the bitwise and of the selected
 * rows, so it costs the same for one set and for 64. With 64 full sets at 1 %, an absent key
 * matches 0.64 sets on average.
 *
 * All columns have the bits that the largest set needs. The plan reports how much memory smaller
 * sets waste. If sets differ much in size, or there are more than 64, use several routers.
 *
 * Inserts and lookups are wait-free and may run with any verb except weir_destroy(). A router
 * removes no key. To clear a set, publish a new filter that has all sets but that set, see
 * weir_reload_copy(). The statistics (struct weir_stats) describe the fullest set.
 */
#ifndef WEIR_ROUTER_H
#define WEIR_ROUTER_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/filter.h>

WEIR_BEGIN_DECLS

enum {
	WEIR_ROUTER_SETS = 64, /* largest number of sets of a router */
	WEIR_ROUTER_NAME = 64, /* bytes of a set's name, with the NUL */
};

/** The mask with the bits of all sets. */
#define WEIR_ALL_SETS UINT64_MAX

/**
 * Find the sets that may have a key.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: a mask. Bit i is 0 if set i certainly lacks the key. It is 1 if set i has the key. In a
 *   full set it is also 1 for the share fp_rate of absent keys.
 * Errors: none.  Threads: any, with all verbs.  Order: the call sees every insert that
 *   happens-before it.  Progress: wait-free.  Cost: rows_per_key lines of a page, fetched together.
 * Source: Bloom 1970, in pages as in Putze, Sanders, Singler 2007, and bit-sliced as in Goodwin,
 *   Hopcroft, Luu and others 2017 (BitFunnel).
 */
WEIR_API uint64_t weir_route(const struct weir_filter *f, const void *key, size_t len);
/** As weir_route(), for the eight bytes at &key. */
WEIR_API uint64_t weir_route_u64(const struct weir_filter *f, uint64_t key);
/** As weir_route(), for a hash of weir_hash() or of the caller's own function. */
WEIR_API uint64_t weir_route_hash(const struct weir_filter *f, uint64_t hash);

/**
 * Find the sets of many keys, so that the cache misses of the keys overlap.
 * @masks: receives one mask for each key.
 * Return: how many masks are not 0.
 * Errors: none.  Threads, Order, Progress: as weir_route() of each key.
 * Cost: in cache from about 5 ns a key, for any number of sets.
 */
WEIR_API int64_t weir_route_keys(const struct weir_filter *f, struct weir_keys keys,
                                 uint64_t *masks);

/**
 * Insert a key into one set.
 * @set: its number, below weir_router_sets().
 * @key: @len bytes; may be NULL when len is 0.
 * Return: WEIR_NEW if a bit was 0, so that the set lacked the key; WEIR_SEEN if the set has the
 *   key, or seems to by chance; or a negative errno. If several threads insert one new key at the
 *   same time, at least one gets WEIR_NEW.
 * Errors: -EINVAL if the set does not exist; as weir_insert().
 * Threads: any, with all verbs.  Order: a lookup sees every insert that happens-before it.
 * Progress: wait-free.  Cost: rows_per_key lines of one page; a new key takes as many atomic or's.
 */
WEIR_API int weir_insert_into(struct weir_filter *f, uint32_t set, const void *key, size_t len);
/** As weir_insert_into(), for the eight bytes at &key. */
WEIR_API int weir_insert_into_u64(struct weir_filter *f, uint32_t set, uint64_t key);
/** As weir_insert_into(), for a hash of weir_hash() or of the caller's own function. */
WEIR_API int weir_insert_into_hash(struct weir_filter *f, uint32_t set, uint64_t hash);

/**
 * Insert many keys into one set, in no particular order.
 * @bitmap: as for weir_insert_keys().
 * Return: the number of keys that were WEIR_NEW, or a negative errno. After an error a router has
 *   none of the keys, and a filter of another kind has the first weir_error_taken() keys.
 * Errors: as weir_insert_into().  Threads, Order, Progress: as weir_insert_into() of each key.
 * Cost: as weir_insert_into(), but the cache misses overlap.
 */
WEIR_API int64_t weir_insert_into_keys(struct weir_filter *f, uint32_t set, struct weir_keys keys,
                                       uint64_t *bitmap);

/**
 * Get the number of sets that a filter has.
 * Return: the number, 1 for every kind but the router. In a mask of the filter only that many of
 *   the lowest bits can be 1.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_router_sets(const struct weir_filter *f);

/**
 * Get the name of a set.
 * Return: a string that is valid as long as the filter; NULL if the set does not exist. The set of
 *   a filter of another kind is named "0".
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_router_name(const struct weir_filter *f, uint32_t set);

/**
 * Find a set by its name.
 * Return: the set's number, 0 to 63, or a negative errno.
 * Errors: -ENOENT if no set has that name (weir_error_detail() does not change).
 * Threads: any.  Progress: wait-free.  Cost: up to 64 comparisons.
 */
WEIR_API int weir_router_find(const struct weir_filter *f, const char *name);

/** The figures of each set; weir_measure() has those of the router. Start from
 * WEIR_ROUTER_STATS_INIT. */
struct weir_router_stats {
	size_t struct_size;                /* sizeof(struct weir_router_stats) */
	uint32_t sets;                     /* number of sets */
	uint32_t reserved;
	double sampled;                    /* share of the bits that was read */
	uint64_t saturated;                /* bit i: set i has more keys than capacity */
	double false_sets;                 /* expected number of sets in the answer to an absent
	                                      key, with the bits as they are now */
	double fill[WEIR_ROUTER_SETS];     /* of each set: share of its bits that are set */
	double keys[WEIR_ROUTER_SETS];     /* of each set: distinct keys, estimated */
	double fp_rates[WEIR_ROUTER_SETS]; /* of each set: false-positive rate now, estimated */
};

#define WEIR_ROUTER_STATS_INIT WEIR__INIT(weir_router_stats)

/**
 * Measure each set, from all pages of bits or from 256 evenly spaced pages.
 * @effort: enum weir_effort; WEIR_EXACT reads all pages.
 * @out: from WEIR_ROUTER_STATS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL for struct_size or @effort.
 * Threads: any, with all verbs.  Progress: wait-free.  Cost: some milliseconds; with WEIR_EXACT
 *   memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_router_measure(const struct weir_filter *f, uint32_t effort,
                                                 struct weir_router_stats *out);

WEIR_END_DECLS

#endif
