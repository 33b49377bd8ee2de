/* SPDX-License-Identifier: MIT
 * Which of up to 64 sets may hold this key, in one lookup: which shard, which tenant, which of many
 * files has a row. A lookup answers a 64-bit mask: bit i belongs to set i.
 *
 * A router is bit-sliced. It has columns, one a set: 8, 16, 32 or 64 of them. A row is a cell of
 * one bit of each column. A key has some rows, all within one page of 4 KiB: 6 of them at 1 %. To
 * insert it into set i sets bit i of each; a lookup ands the cells of its rows. So a lookup costs
 * the same for one set and for all, and a key that is in no set answers some sets falsely: 0.64 on
 * the average of 64 full ones at 1 % each.
 *
 * All columns have the bits that the largest set needs. What smaller sets waste, weir_router_plan()
 * reports. Where sets differ much in size, or number more than 64, ask several routers.
 *
 * Who may call what with whom: lookups and inserts, all verbs that take a const router, and
 * weir_router_merge(), at the same time; all but weir_router_destroy(). Lookups and inserts are
 * wait-free. A key is never taken out. To clear a set is to publish a new generation that has all
 * sets but that one: weir_router_handle_create() and weir_router_reload_copy().
 */
#ifndef WEIR_ROUTER_H
#define WEIR_ROUTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/export.h>
#include <weir/filter.h>
#include <weir/image.h>

WEIR_BEGIN_DECLS

struct weir_router; /* opaque */
struct weir_router_handle;
struct weir_router_reload;
struct rcu_flavor_struct;

enum {
	WEIR_ROUTER_SETS = 64, /* most sets of a router */
	WEIR_ROUTER_NAME = 64, /* bytes of a set's name, with the NUL */
	WEIR_ROUTER_ROWS = 10, /* most rows of a key */
};

/**
 * What router to create. Start from WEIR_ROUTER_OPTIONS_INIT, then set fields; 0 means "not given".
 *
 * Give two of capacity, fp_rate and max_bytes, as for struct weir_params; of the three max_bytes is
 * then a limit. Instead of capacity keys may say how large each set is.
 */
struct weir_router_options {
	size_t struct_size;      /* sizeof(struct weir_router_options) */
	uint32_t sets;           /* 1 to 64 */
	uint32_t flags;          /* enum weir_flags */
	uint64_t capacity;       /* keys of the largest set: 1 to 2^48 */
	double fp_rate;          /* false positives of each set, when full: 1e-6 to 0.5 */
	uint64_t max_bytes;      /* bytes of bits: 8192 to 2^46 */
	const uint64_t *keys;    /* of each set, sets of them; NULL: capacity */
	const char *const *names; /* of each set, sets of them, copied: all different, 1 to 63 bytes
	                            of UTF-8 without control characters; NULL: "0", "1" and so on */
	uint64_t seed;           /* as in struct weir_params */
	const void *hash_key;    /* as in struct weir_params */
	void *memory;            /* as in struct weir_params; bytes of weir_router_plan() */
	size_t memory_bytes;     /* bytes at memory */
	uint32_t rows_per_key;   /* 1 to 10; 0: chosen, the fewest within 1 % of the least memory */
};

#define WEIR_ROUTER_OPTIONS_INIT \
	{ sizeof(struct weir_router_options), 0, 0, 0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** What a router of given options will be. Start from WEIR_ROUTER_PLAN_INIT. */
struct weir_router_plan {
	size_t struct_size;
	uint32_t sets;
	uint32_t columns;      /* 8, 16, 32 or 64: bits of a row */
	uint32_t rows_per_key; /* bits that a key sets */
	uint32_t shards;       /* contiguous runs of lines, a power of two */
	uint64_t capacity;     /* keys of each set */
	uint64_t bytes;        /* of bits, and of a page for the names; a multiple of 4096 */
	double bits_per_key;   /* of a column for each key of a full set */
	double fp_rate;        /* expected of a full set */
	double false_sets;     /* expected in the answer to a key that is in none, with the sets as
	                          large as asked */
	double bytes_wasted;   /* of bytes: what smaller sets leave of their columns, and columns
	                          without a set */
};

#define WEIR_ROUTER_PLAN_INIT \
	{ sizeof(struct weir_router_plan), 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0 }

/** What a router holds, from its bits. Start from WEIR_ROUTER_STATS_INIT. */
struct weir_router_stats {
	size_t struct_size;
	uint32_t sets;
	uint32_t columns;
	uint32_t rows_per_key;
	uint32_t shards;
	uint64_t capacity;        /* keys of each set, as asked */
	double fp_rate;           /* of each set, as asked */
	uint64_t bytes;           /* of bits */
	double sampled;           /* share of the bits that was looked at */
	double keys_estimated;    /* of all sets, a key in two counts twice */
	double false_sets;        /* expected in the answer to a key that is in none, at present */
	uint64_t saturated;       /* the sets that have more keys than capacity, as bits */
	uint64_t seed_fingerprint; /* as in struct weir_stats */
	double fill[WEIR_ROUTER_SETS];    /* of each set: share of its bits that are set */
	double keys[WEIR_ROUTER_SETS];    /* distinct keys, estimated */
	double fp_rates[WEIR_ROUTER_SETS]; /* at present, estimated */
	char names[WEIR_ROUTER_SETS][WEIR_ROUTER_NAME]; /* "" of none */
};

#define WEIR_ROUTER_STATS_INIT \
	{ sizeof(struct weir_router_stats), 0, 0, 0, 0, 0, 0.0, 0, 0.0, 0.0, 0.0, 0, 0, { 0.0 }, \
	  { 0.0 }, { 0.0 }, { { 0 } } }

/**
 * The sizing calculator of a router.
 * @options: as for weir_router_create(); names, memory, seed and hash_key are ignored.
 * @out: the plan; its struct_size must be set (WEIR_ROUTER_PLAN_INIT).
 * Return: 0 or a negative errno.
 * Errors: as weir_router_create(), but for those of memory and names.
 * Threads: any.  Progress: wait-free.  Cost: some milliseconds of arithmetic.
 * Source: Bloom 1970, in pages as Putze, Sanders, Singler 2007 block it; bit-sliced as Goodwin,
 *   Hopcroft, Luu and others 2017 (BitFunnel) slice documents.
 */
WEIR_API WEIR_MUST_CHECK int weir_router_plan(const struct weir_router_options *options,
                                              struct weir_router_plan *out);

/**
 * Create a router of empty sets.
 * @out: receives the router; untouched on failure.
 * @options: from WEIR_ROUTER_OPTIONS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL an option is out of its range, fewer than two of capacity, fp_rate and max_bytes
 *   are given, or a name is no name or is given twice; -EFBIG more than max_bytes are needed;
 *   -ENOMEM; -ENOTSUP the environment variable WEIR_ISA names an instruction set that this machine
 *   lacks; the errnos of getrandom().
 * Threads: any.  Progress: blocking (memory).  Cost: as weir_create().
 */
WEIR_API WEIR_MUST_CHECK int weir_router_create(struct weir_router **out,
                                                const struct weir_router_options *options);

/**
 * Free a router. No other thread may use it any more.
 * @r: a router, or NULL for nothing.
 * Return: 0.  Errors: none.  Threads: the last user.  Progress: blocking (memory).
 */
WEIR_API int weir_router_destroy(struct weir_router *r);

/** As weir_hash(), of a router's keys. All its sets hash alike. */
WEIR_API uint64_t weir_router_hash(const struct weir_router *r, const void *key, size_t len);

/**
 * How many sets it has: of those numbers bits can be set in a mask.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_router_sets(const struct weir_router *r);

/**
 * The name of a set.
 * Return: a string that lives as long as the router, or NULL if there is no such set.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_router_name(const struct weir_router *r, uint32_t set);

/**
 * The set of a name.
 * Return: 0 to 63; -ENOENT no set has that name, an answer for which no sentence is set.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: up to 64 comparisons.
 */
WEIR_API int weir_router_find(const struct weir_router *r, const char *name);

/**
 * Insert a key into a set.
 * @set: its number, below weir_router_sets().
 * @key: @len bytes; may be NULL when len is 0.
 * Return: WEIR_NEW a bit was 0: the key was not in that set; WEIR_SEEN it was, or answers so by
 *   chance; or a negative errno. Of threads that insert one new key at the same time at least one
 *   is answered WEIR_NEW.
 * Errors: -EINVAL there is no such set; -EROFS it is mapped read-only.
 * Threads: any, with all verbs.  Order: a lookup sees every insert that happens-before it.
 * Progress: wait-free.  Cost: rows_per_key lines of one page, and as many atomic or's for a key
 *   that is new.
 */
WEIR_API int weir_router_insert(struct weir_router *r, uint32_t set, const void *key, size_t len);
/** As weir_router_insert(), of a hash: by weir_router_hash() or the caller's own function. */
WEIR_API int weir_router_insert_hash(struct weir_router *r, uint32_t set, uint64_t hash);
/** As weir_router_insert(), of the eight bytes at &key. */
WEIR_API int weir_router_insert_u64(struct weir_router *r, uint32_t set, uint64_t key);

/**
 * Insert many keys into a set, in no particular order.
 * @bitmap: WEIR_BITMAP_WORDS(n) words that receive the answers, bits past n cleared: a bit is set
 *   if its key was WEIR_NEW; or NULL.
 * Return: how many were WEIR_NEW, or a negative errno: then none was inserted.
 * Errors: as weir_router_insert().  Threads, Order, Progress: as weir_router_insert() of each key.
 * Cost: their cache misses overlap.
 */
WEIR_API int64_t weir_router_insert_keys(struct weir_router *r, uint32_t set, struct weir_keys keys,
                                         uint64_t *bitmap);

/**
 * Which sets may hold this key?
 * @key: @len bytes; may be NULL when len is 0.
 * Return: set i in bit i. A bit that is 0: the key is not in that set. A bit that is 1: it is, or a
 *   full set answers so falsely for the share fp_rate.
 * Errors: none.  Threads: any, with all verbs.  Order: every insert that happens-before it is seen.
 * Progress: wait-free.  Cost: rows_per_key lines of one page, fetched together.
 */
WEIR_API uint64_t weir_router_route(const struct weir_router *r, const void *key, size_t len);
/** As weir_router_route(), of a hash. */
WEIR_API uint64_t weir_router_route_hash(const struct weir_router *r, uint64_t hash);
/** As weir_router_route(), of the eight bytes at &key. */
WEIR_API uint64_t weir_router_route_u64(const struct weir_router *r, uint64_t key);

/**
 * Route many keys: their cache misses overlap.
 * @masks: n masks, one for each key.
 * Return: how many keys have a mask that is not 0.
 * Errors: none.  Threads, Order, Progress: as weir_router_route() of each key.
 * Cost: in cache from about 5 ns a key, whatever the number of sets.
 */
WEIR_API int64_t weir_router_route_keys(const struct weir_router *r, struct weir_keys keys,
                                        uint64_t *masks);

/**
 * What a router holds: from the bits of a sample of 256 pages at even distances, or of all.
 * @out: its struct_size must be set (WEIR_ROUTER_STATS_INIT).
 * Return: 0 or a negative errno.
 * Errors: -EINVAL struct_size.
 * Threads: any, with all verbs.  Progress: wait-free.  Cost: some milliseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_router_stats(const struct weir_router *r,
                                               struct weir_router_stats *out);

/**
 * Add the sets of another router to those of this one: set i to set i.
 * @src: of the same size, shape, names and hash.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL they differ, and the sentence names the field; -EROFS dst is mapped read-only.
 * Threads: any, with all verbs.  Order: what was inserted into src before is in dst after.
 * Progress: wait-free.  Cost: both are read once.
 */
WEIR_API WEIR_MUST_CHECK int weir_router_merge(struct weir_router *dst,
                                               const struct weir_router *src);

/* ---- images: <weir/image.h> says what holds for all of them ---- */

/**
 * Save a router to a file, beside all else. The names of its sets stand in it.
 * @options: as for weir_save(); marks must be 0. NULL for the defaults.
 * Return, Errors, Threads, Progress, Cost: as weir_save().
 */
WEIR_API WEIR_MUST_CHECK int weir_router_save(const struct weir_router *r, const char *path,
                                              const struct weir_save_options *options);
/** As weir_router_save(), to a descriptor, as weir_save_fd(). */
WEIR_API WEIR_MUST_CHECK int weir_router_save_fd(const struct weir_router *r, int fd,
                                                 const struct weir_save_options *options);

/**
 * Load a router. Each byte is checked, the names too.
 * @out: receives the router; untouched on failure.
 * @options: as for weir_load(). NULL for the defaults.
 * Return, Errors, Threads, Progress, Cost: as weir_load(); -ENOTSUP it is the image of a filter.
 */
WEIR_API WEIR_MUST_CHECK int weir_router_load(struct weir_router **out, const char *path,
                                              const struct weir_load_options *options);
/** As weir_router_load(), from a descriptor, as weir_load_fd(). */
WEIR_API WEIR_MUST_CHECK int weir_router_load_fd(struct weir_router **out, int fd,
                                                 const struct weir_load_options *options);
/** As weir_router_load(), from memory, as weir_load_memory(). */
WEIR_API WEIR_MUST_CHECK int weir_router_load_memory(struct weir_router **out, const void *image,
                                                     size_t bytes,
                                                     const struct weir_load_options *options);

/**
 * Map a router's image: its pages are the router's bits. The names are copied.
 * @mode: WEIR_MAP_READ or WEIR_MAP_PRIVATE.
 * @options: as for weir_map(). NULL for the defaults.
 * Return, Errors, Threads, Progress, Cost: as weir_map(); -ENOTSUP WEIR_MAP_LIVE.
 */
WEIR_API WEIR_MUST_CHECK int weir_router_map(struct weir_router **out, const char *path,
                                             enum weir_map_mode mode,
                                             const struct weir_load_options *options);

/**
 * What a router's image holds. It is read, and each byte is checked. A keyed one needs no key.
 * @options: as for weir_router_load(). NULL for the defaults.
 * @out: its struct_size must be set (WEIR_ROUTER_STATS_INIT).
 * Return: 0 or a negative errno.
 * Errors: as weir_router_load(); -EINVAL struct_size.
 * Threads: any.  Progress: blocking (the file).  Cost: as weir_router_load().
 */
WEIR_API WEIR_MUST_CHECK int weir_router_image_stats(const char *path,
                                                     const struct weir_load_options *options,
                                                     struct weir_router_stats *out);

/* ---- a handle: its router is replaced under full load, so that sets can be cleared. What
 *      <weir/handle.h> and <weir/reload.h> say of filters holds for routers ---- */

/** Start from WEIR_ROUTER_HANDLE_OPTIONS_INIT. */
struct weir_router_handle_options {
	size_t struct_size;
	const struct rcu_flavor_struct *flavor; /* as for weir_handle_create(); NULL: urcu-bp */
};
#define WEIR_ROUTER_HANDLE_OPTIONS_INIT { sizeof(struct weir_router_handle_options), 0 }

/**
 * Publish a router.
 * @out: receives the handle; untouched on failure.
 * @initial: the handle owns it from then on.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL NULL, or struct_size; -ENOMEM.
 * Threads: any.  Progress: blocking (memory).
 */
WEIR_API WEIR_MUST_CHECK int weir_router_handle_create(
	struct weir_router_handle **out, struct weir_router *initial,
	const struct weir_router_handle_options *options);

/**
 * Free a handle and its routers.
 * @h: a handle, or NULL for nothing. Nobody may begin to use it.
 * Return: 0 or a negative errno, and nothing has changed.
 * Errors: as weir_handle_destroy().
 * Threads: the last user.  Progress: blocking (a grace period).
 */
WEIR_API WEIR_MUST_CHECK int weir_router_handle_destroy(struct weir_router_handle *h);

/**
 * The current router, for the time of the caller's read-side section.
 * Return: the router; its bits may be read by all verbs that take a const one. To insert use
 *   weir_router_handle_insert().
 * Errors: none.  Threads: any, in a read-side section of the handle's flavor.
 * Order: what was in it when it was published is seen.  Progress: wait-free.  Cost: one load.
 */
WEIR_API const struct weir_router *weir_router_handle_get(const struct weir_router_handle *h);

/** As weir_router_hash(): all generations of a handle hash alike. */
WEIR_API uint64_t weir_router_handle_hash(const struct weir_router_handle *h, const void *key,
                                          size_t len);
/** As weir_router_route() of the current router, in a section of its own. */
WEIR_API uint64_t weir_router_handle_route(const struct weir_router_handle *h, const void *key,
                                           size_t len);
/** As weir_router_handle_route(), of a hash. */
WEIR_API uint64_t weir_router_handle_route_hash(const struct weir_router_handle *h, uint64_t hash);
/** As weir_router_handle_route(), of the eight bytes at &key. */
WEIR_API uint64_t weir_router_handle_route_u64(const struct weir_router_handle *h, uint64_t key);
/** As weir_router_route_keys() of the current router, in a section of its own. */
WEIR_API int64_t weir_router_handle_route_keys(const struct weir_router_handle *h,
                                               struct weir_keys keys, uint64_t *masks);

/**
 * Insert into the current router, and beside a reload into the next one, and into the previous one
 * if it is kept. An insert that begins after weir_router_reload_begin() has returned is in what the
 * commit publishes.
 * Return, Errors, Order, Progress, Cost: as weir_router_insert(), of the current router.
 * Threads: any, with all verbs of the handle.
 */
WEIR_API int weir_router_handle_insert(struct weir_router_handle *h, uint32_t set, const void *key,
                                       size_t len);
/** As weir_router_handle_insert(), of a hash. */
WEIR_API int weir_router_handle_insert_hash(struct weir_router_handle *h, uint32_t set,
                                            uint64_t hash);
/** As weir_router_handle_insert(), of the eight bytes at &key. */
WEIR_API int weir_router_handle_insert_u64(struct weir_router_handle *h, uint32_t set,
                                           uint64_t key);
/** As weir_router_insert_keys(), through the handle. */
WEIR_API int64_t weir_router_handle_insert_keys(struct weir_router_handle *h, uint32_t set,
                                                struct weir_keys keys, uint64_t *bitmap);

/** Start from WEIR_ROUTER_RELOAD_OPTIONS_INIT. */
struct weir_router_reload_options {
	size_t struct_size;
	struct weir_router *next; /* the handle owns it once begin has succeeded: loaded, or made of
	                             another size; NULL: an empty one like the current one */
	uint64_t max_bytes;       /* of bits, all routers together; 0: no limit */
	bool keep_previous;       /* for weir_router_handle_rollback() */
	bool defer_free;          /* the commit does not wait: call_rcu frees the old router */
};
#define WEIR_ROUTER_RELOAD_OPTIONS_INIT \
	{ sizeof(struct weir_router_reload_options), 0, 0, false, false }

/**
 * Publish a next router beside the current one, and wait until every inserter has seen it.
 * @out: receives the reload; untouched on failure.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno, and nothing has changed.
 * Errors: -EBUSY a reload or rollback runs; -EDEADLK inside a read-side section; -EFBIG more than
 *   max_bytes; -EINVAL NULL, or next has other sets, other names or another hash than the current
 *   one; -EROFS next is mapped read-only, or so is the current one, which is to be kept; -ENOMEM.
 * Threads: any; one reload at a time.  Progress: blocking (memory, a grace period).
 */
WEIR_API WEIR_MUST_CHECK int weir_router_reload_begin(
	struct weir_router_reload **out, struct weir_router_handle *h,
	const struct weir_router_reload_options *options);

/**
 * The next router: to look at it before the commit, and to fill it by all verbs of inserts.
 * Errors: none.  Threads: loader threads.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API struct weir_router *weir_router_reload_next(struct weir_router_reload *r);

/**
 * Copy sets of the current router into the next one. What is inserted through the handle meanwhile
 * is in both. To clear set i, copy all others: ~(UINT64_C(1) << i).
 * @sets: bit i for set i; bits of sets that it does not have are ignored.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL the two have not the same size and shape.
 * Threads: loader threads.  Progress: wait-free.  Cost: both are read once.
 */
WEIR_API WEIR_MUST_CHECK int weir_router_reload_copy(struct weir_router_reload *r, uint64_t sets);

/**
 * Publish the next router. Nobody else may use the reload any more.
 * Return: 0 or a negative errno.
 * Errors: -EDEADLK inside a read-side section: then the reload is still open.
 * Threads: the loader.  Order: what is in the next router is seen by whoever gets it.
 * Progress: blocking (a grace period, unless defer_free).
 */
WEIR_API WEIR_MUST_CHECK int weir_router_reload_commit(struct weir_router_reload *r);

/**
 * Give the next router up and free it.
 * @r: a reload, or NULL for nothing.
 * Return: 0.  Errors: none.  Threads: the loader.  Progress: blocking (a grace period).
 */
WEIR_API int weir_router_reload_abort(struct weir_router_reload *r);

/** As weir_handle_rollback(): the previous router, which got every insert, is current again. */
WEIR_API WEIR_MUST_CHECK int weir_router_handle_rollback(struct weir_router_handle *h);
/** As weir_handle_drop_previous(). */
WEIR_API WEIR_MUST_CHECK int weir_router_handle_drop_previous(struct weir_router_handle *h);

WEIR_END_DECLS

#endif
