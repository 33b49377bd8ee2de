/* SPDX-License-Identifier: MIT
 * A router holds up to 64 sets in one filter. One lookup finds the sets that may have a key:
 * shards, tenants or files, say. It returns a 64-bit mask: bit i belongs to set i.
 *
 *     struct weir_params params = WEIR_PARAMS_INIT;
 *     params.kind = WEIR_ROUTER, params.router.sets = 12;
 *     params.capacity = 1000000, params.fp_rate = 0.01;    of each set
 *     err = weir_create(&f, &params);
 *     weir_insert_into(f, 3, key, len);
 *     mask = weir_route(f, key, len);
 *
 * A router is a filter of kind WEIR_ROUTER: create, merge, save, load, measure and publish it as
 * any other. These verbs work on every filter: one of another kind is a router with one set, 0. And
 * the verbs of <weir/filter.h> work on a router: weir_contains() asks every set, weir_insert()
 * inserts into every set. So no mix-up makes a false negative.
 *
 * A router is bit-sliced. It has columns, one a set: 8, 16, 32 or 64 of them. A row is a cell of
 * one bit of each column. A key has some rows, all within one page of 4 KiB: 6 of them at 1 %. An
 * insert into set i sets bit i of each; a lookup ands the cells of its rows. So a lookup costs the
 * same for one set and for all. With 64 full sets at 1 %, an absent key matches 0.64 sets on
 * average.
 *
 * All columns have the bits that the largest set needs. The plan reports how much smaller sets
 * waste. If sets differ much in size, or there are more than 64, ask several routers.
 *
 * A router takes inserts and lookups at the same time as all verbs but weir_destroy(), and both are
 * wait-free. It removes no key. To clear a set, publish a new generation that has all sets but that
 * one: weir_reload_copy(). The statistics (struct weir_stats) are those of the fullest set.
 */
#ifndef WEIR_ROUTER_H
#define WEIR_ROUTER_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/filter.h>

WEIR_BEGIN_DECLS

enum {
	WEIR_ROUTER_SETS = 64, /* most sets of a router */
	WEIR_ROUTER_NAME = 64, /* bytes of a set's name, with the NUL */
};

/** The mask of all sets. */
#define WEIR_ALL_SETS UINT64_MAX

/**
 * Find the sets that may have a key.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: a mask. Bit i is 0 if set i certainly lacks the key. It is 1 if set i has the key, and by
 *   chance: in a full set for the share fp_rate of absent keys.
 * Errors: none.  Threads: any, with all verbs.  Order: every insert that happens-before it is seen.
 * Progress: wait-free.  Cost: rows_per_key lines of one page, fetched together.
 * Source: Bloom 1970, in pages as Putze, Sanders, Singler 2007 block it; bit-sliced as Goodwin,
 *   Hopcroft, Luu and others 2017 (BitFunnel) slice documents.
 */
WEIR_API uint64_t weir_route(const struct weir_filter *f, const void *key, size_t len);
/** As weir_route(), of the eight bytes at &key. */
WEIR_API uint64_t weir_route_u64(const struct weir_filter *f, uint64_t key);
/** As weir_route(), of a hash: by weir_hash() or the caller's own function. */
WEIR_API uint64_t weir_route_hash(const struct weir_filter *f, uint64_t hash);

/**
 * Route many keys: their cache misses overlap.
 * @masks: receives one mask for each key.
 * Return: how many masks are not 0.
 * Errors: none.  Threads, Order, Progress: as weir_route() of each key.
 * Cost: in cache from about 5 ns a key, whatever the number of sets.
 */
WEIR_API int64_t weir_route_keys(const struct weir_filter *f, struct weir_keys keys,
                                 uint64_t *masks);

/**
 * Insert a key into one set.
 * @set: its number, below weir_router_sets().
 * @key: @len bytes; may be NULL when len is 0.
 * Return: WEIR_NEW a bit was 0: the key was not in that set; WEIR_SEEN it was, or seems so by
 *   chance; or a negative errno. If several threads insert one new key at the same time, at least
 *   one gets WEIR_NEW.
 * Errors: -EINVAL the set does not exist; those of weir_insert().
 * Threads: any, with all verbs.  Order: a lookup sees every insert that happens-before it.
 * Progress: wait-free.  Cost: rows_per_key lines of one page, and as many atomic or's for a key
 *   that is new.
 */
WEIR_API int weir_insert_into(struct weir_filter *f, uint32_t set, const void *key, size_t len);
/** As weir_insert_into(), of the eight bytes at &key. */
WEIR_API int weir_insert_into_u64(struct weir_filter *f, uint32_t set, uint64_t key);
/** As weir_insert_into(), of a hash: by weir_hash() or the caller's own function. */
WEIR_API int weir_insert_into_hash(struct weir_filter *f, uint32_t set, uint64_t hash);

/**
 * Insert many keys into one set, in no particular order.
 * @bitmap: as for weir_insert_keys().
 * Return: how many were WEIR_NEW, or a negative errno: then a router has none of the keys, and a
 *   filter of another kind has the first weir_error_taken().
 * Errors: as weir_insert_into().  Threads, Order, Progress: as weir_insert_into() of each key.
 * Cost: their cache misses overlap.
 */
WEIR_API int64_t weir_insert_into_keys(struct weir_filter *f, uint32_t set, struct weir_keys keys,
                                       uint64_t *bitmap);

/**
 * How many sets a filter has. In a mask only the bits below that number can be 1.
 * Return: their number; 1 for every kind but the router.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_router_sets(const struct weir_filter *f);

/**
 * The name of a set.
 * Return: a string that lives as long as the filter: "0" for the one set of another kind; NULL if
 *   the set does not exist.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_router_name(const struct weir_filter *f, uint32_t set);

/**
 * Find a set by its name.
 * Return: 0 to 63; -ENOENT no set has that name: this answer sets no sentence.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: up to 64 comparisons.
 */
WEIR_API int weir_router_find(const struct weir_filter *f, const char *name);

/** The figures of each set, beside those of weir_measure(). Start from WEIR_ROUTER_STATS_INIT. */
struct weir_router_stats {
	size_t struct_size;
	uint32_t sets;
	uint32_t reserved;
	double sampled;                    /* share of the bits that was looked at */
	uint64_t saturated;                /* bit i: set i has more keys than capacity */
	double false_sets;                 /* wrong sets to expect in the answer to an absent key,
	                                      at present */
	double fill[WEIR_ROUTER_SETS];     /* of each set: share of its bits that are set */
	double keys[WEIR_ROUTER_SETS];     /* distinct keys, estimated */
	double fp_rates[WEIR_ROUTER_SETS]; /* at present, estimated */
};

#define WEIR_ROUTER_STATS_INIT WEIR__INIT(weir_router_stats)

/**
 * Measure each set, from the bits of 256 pages at even distances or of all pages.
 * @effort: enum weir_effort: WEIR_EXACT for all pages.
 * @out: its struct_size must be set (WEIR_ROUTER_STATS_INIT).
 * Return: 0 or a negative errno.
 * Errors: -EINVAL struct_size, or @effort.
 * Threads: any, with all verbs.  Progress: wait-free.  Cost: some milliseconds, or all bits are
 *   read once.
 */
WEIR_API WEIR_MUST_CHECK int weir_router_measure(const struct weir_filter *f, uint32_t effort,
                                                 struct weir_router_stats *out);

WEIR_END_DECLS

#endif
