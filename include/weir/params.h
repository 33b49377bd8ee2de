/* SPDX-License-Identifier: MIT
 * The parameters of a filter, and the calculator that tells its size and rate. Set two of capacity,
 * fp_rate and max_bytes in a struct weir_params. weir_plan_make() then fills a struct weir_plan
 * without creating anything, and weir_create() (filter.h) makes the filter.
 *
 *     struct weir_params params = WEIR_PARAMS_INIT;
 *     struct weir_plan plan = WEIR_PLAN_INIT;
 *     params.capacity = 1000000;
 *     params.fp_rate = 0.01;
 *     if (weir_plan_make(&params, &plan) == 0)
 *             printf("%.1f bits a key", plan.bits_per_key);
 */
#ifndef WEIR_PARAMS_H
#define WEIR_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/kinds.h>
#include <weir/text.h>

WEIR_BEGIN_DECLS

struct rcu_flavor_struct; /* liburcu's <urcu/flavor.h> */

/** For flags in struct weir_params and struct weir_load_options. */
enum weir_flags {
	WEIR_HUGETLB = 1u << 0,       /* use the reserved huge-page pool, or fail with -ENOMEM */
	WEIR_NO_HUGE_PAGES = 1u << 1, /* ask the kernel for small pages */
	WEIR_PREFAULT = 1u << 2,      /* touch each page at creation, so inserts never page-fault */
	WEIR_ONCE = 1u << 3,          /* store equal keys once: an insert of a key that the filter
	                                 already has (WEIR_SEEN) stores nothing. Only for kinds that
	                                 can remove keys (else -EINVAL). Removal is then off, since
	                                 two keys may share one entry. An image keeps the flag, and
	                                 so does a reload without params. If a reload has params,
	                                 they must set the flag again */
};

/** How a window runs in this process. Set the fields at creation, and again at every load. */
struct weir_window_run {
	const struct rcu_flavor_struct *flavor; /* flavor of liburcu; NULL: urcu-bp */
	uint64_t (*clock)(void *arg); /* a monotonic clock in nanoseconds; NULL: CLOCK_MONOTONIC. It
	                                 is called in read-side sections and must not block. With
	                                 timer it must be NULL */
	void *clock_arg;   /* argument of clock */
	bool timer;        /* true: a thread of the window advances it; false: the caller advances
	                      it by weir_window_tick() */
	bool forget_older; /* true: a load adds the time since the save (CLOCK_REALTIME) to the age
	                      of all keys; false: keys keep the age that they had at the save */
	uint32_t reserved; /* 0 */
};

/** How a window lays out its bits. */
enum weir_window_layout {
	WEIR_WINDOW_CHOSEN = 0,  /* a ring if words_per_key is above 1, else columns */
	WEIR_WINDOW_COLUMNS = 1, /* the words of a key lie side by side: the fastest layout */
	WEIR_WINDOW_RING = 2,    /* each generation has an array: the layout with least memory */
};

/**
 * The parameters of a new filter. Start from WEIR_PARAMS_INIT, then set fields; 0 always means "not
 * given".
 *
 * Give two of capacity, fp_rate and max_bytes, and the third follows. If all three are given,
 * max_bytes is a limit: creation fails with -EFBIG if the filter would need more.
 *
 * The parameters of one kind form a group with its name. A 0 in that group lets the library choose
 * the number. The groups of all other kinds and the reserved fields must be 0 (else -EINVAL).
 */
struct weir_params {
	size_t struct_size;     /* sizeof(struct weir_params), set by WEIR_PARAMS_INIT */
	uint32_t kind;          /* enum weir_kind_id */
	uint32_t flags;         /* enum weir_flags, or'ed */
	uint64_t capacity;      /* number of keys that the filter is to hold: 1 to 2^48 */
	double fp_rate;         /* share of absent keys that a filter with capacity keys answers
	                           true: 1e-9 to 0.5 */
	uint64_t max_bytes;     /* largest size of the bit array in bytes: 64 to 2^46 */
	uint64_t seed;          /* seed of the hash; 0: a random seed. It must be 0 for split, which
	                           has no seed. With secret it must be 0, or the seed that
	                           weir_params_of() gives for a filter with the same secret */
	const void *secret;     /* 16 secret bytes, which weir_create() copies. The filter is then
	                           keyed: it hashes by SipHash-2-4, whatever its kind. Clients that
	                           see answers and images, but not the secret, cannot find keys that
	                           collide. NULL: not keyed; it must be NULL for split */
	void *memory;           /* memory for the bits, 64-byte aligned. weir_create() zeroes it; it
	                           must outlive the filter. NULL: the library allocates. A growing
	                           filter uses it for the first layer only */
	size_t memory_bytes;    /* bytes at memory: at least the plan's bytes */
	uint32_t shards;        /* equal runs of cache lines in the bit array: 1, or a power of two
	                           up to 65536 with at least 1024 lines a shard; 0: the library
	                           chooses */
	uint32_t hash_bits;     /* b, from 8 to 64, if your own hashes take only about 2^b values,
	                           uniformly; 0: 64, as for weir_hash(). Keys with equal hashes
	                           become one key, which adds capacity / 2^b to the rate. The layout
	                           gets the rest of fp_rate */
	struct weir_text text;  /* normalisation of keys that are text: <weir/text.h> */
	struct {
		uint32_t words_per_key;  /* z, words of a cache line that a key uses: 1, 2, 4, 8 */
		uint32_t bits_per_word;  /* g, bits that a key sets in each of those words */
		uint32_t reserved[2];
	} blocked;
	struct {
		uint32_t probes;         /* k, bits that a key sets: 1 to 32 */
		uint32_t reserved[3];
	} classic;
	struct {
		uint32_t counter_bits;      /* bits of a counter: 4, 8, 16 */
		uint32_t words_per_key;     /* words of its block that a key uses: 1, 2, 4, 8 */
		uint32_t counters_per_word; /* g, counters that a key uses in each of those words */
		uint32_t reserved;
	} counting;
	/* growing: capacity and max_bytes size the first layer; fp_rate bounds the whole filter,
	 * however large it grows. A new layer is empty and four times as large as the last one, so
	 * bits per key peak just after an append. With eight layers at 1 % a key takes 77 bits
	 * after the first append, 61 after later appends, and 15.2 when all layers are full. Pages
	 * that were never written to take no memory. */
	struct {
		uint64_t max_capacity;   /* limit of the keys in all layers together: capacity to
		                            21,845 * capacity; 0: 21,845 * capacity. A smaller
		                            number means fewer layers and fewer bits a key. The
		                            filter counts keys in a sample of blocks, so 1 filter in
		                            1000 is full up to 1 % before its capacity. A client
		                            that knows the seed of a filter without a secret can
		                            overfill the filter with keys outside of the sample */
		uint32_t words_per_key;  /* z in each layer, as in blocked */
		uint32_t bits_per_word;  /* g in each layer, as in blocked */
		uint64_t reserved;
	} growing;
	struct {
		uint32_t fingerprint_bits; /* 12 or 16; with 16 the rate is 0.012 %. For a lower
		                              rate memory grows as 1 / fp_rate: 20 bits a key at
		                              0.01 %, 195 at 0.001 % */
		uint32_t reserved[3];
	} cuckoo;
	struct {
		uint32_t fingerprint_bits; /* 1 to 32: the rate is 1 / 2^bits */
		uint32_t reserved[3];
	} fuse;
	struct {
		uint64_t exclude_keys;     /* expected length of the exclude list, from which the
		                              library chooses fingerprint_bits before it reads the
		                              list. If the true length is half or twice this
		                              number, the filter takes about 1 % more memory */
		uint32_t fingerprint_bits; /* 1 to 32: the rate is half of 1 / 2^bits */
		uint32_t reserved;
	} layered;
	struct {
		uint32_t any_reader;     /* 1: choose a size that every Parquet reader accepts, a
		                            power of two up to 128 MiB. If capacity and fp_rate are
		                            given, it is the smallest such size that reaches
		                            fp_rate; else the largest within max_bytes */
		uint32_t reserved[3];
	} split;
	struct {
		uint32_t counter_bits;      /* bits of a counter: 8, 16, 32 */
		uint32_t words_per_key;     /* words of its block that a key uses: 1, 2, 4, 8 */
		uint32_t counters_per_word; /* g, counters that a key uses in each of those words */
		uint32_t reserved;
	} frequency;
	/* router: capacity and fp_rate apply to each set. All columns have the size that the
	 * largest set needs, so smaller sets waste memory. */
	struct {
		uint32_t sets;             /* 1 to 64; 0: 8, the fewest columns of a router */
		uint32_t rows_per_key;     /* 1 to 10; 0: the fewest rows that need at most 1 % more
		                              memory than the best number of rows */
		const char *const *names;  /* names of the sets, copied: all different, 1 to 63
		                              bytes of UTF-8 without control characters; NULL: "0",
		                              "1" and so on */
		const uint64_t *keys;      /* number of keys of each set. Leave capacity 0: it
		                              becomes the largest number. NULL: capacity keys in
		                              each set */
		uint64_t reserved[2];
	} router;
	/* window: capacity, fp_rate and max_bytes describe all generations together, just before
	 * an advance, when they have the most keys. Each generation has an equal share of the
	 * capacity. So if keys come unevenly, set capacity to generations * the largest number
	 * of keys that come in span_seconds / (generations - 1). */
	struct {
		uint32_t generations;     /* G: 2 to 16; 0: 7 */
		uint32_t layout;          /* enum weir_window_layout */
		uint32_t words_per_key;   /* words that a key uses in a generation: 1, 2, 4, 8; 0: 1
		                             for columns, and for a ring the number that needs least
		                             memory. With 1, at most one of the inserts that
		                             race for a new key returns WEIR_NEW */
		uint32_t reserved;        /* 0 */
		double span_seconds;      /* T, the shortest time that a key is remembered: 0.001
		                             to 1e9; 0: no advance by time */
		uint64_t generation_keys; /* advance after this number of inserts that changed the
		                             newest generation: at most capacity / generations; 0:
		                             no advance by number. A number above 65535 is counted
		                             in a sample, to 1 %. If span_seconds is set too, the
		                             window advances as soon as time or number is reached.
		                             If capacity is 0, it becomes G * generation_keys */
		struct weir_window_run run;
		uint64_t spare[2];        /* 0 */
	} window;
};

#define WEIR_PARAMS_INIT WEIR__INIT(weir_params)

/** The expected size and rate of a filter. Start from WEIR_PLAN_INIT. */
struct weir_plan {
	size_t struct_size;      /* sizeof(struct weir_plan) */
	struct weir_shape shape; /* the kind, and the numbers of its shape */
	uint32_t shards;         /* number of contiguous runs of cache lines, a power of two */
	uint64_t capacity;       /* number of keys that the filter is to hold at fp_rate */
	uint64_t bytes;          /* size of the bit array, a multiple of 64 */
	double bits_per_key;     /* bytes * 8 / capacity */
	double fp_rate;          /* expected rate at capacity, by the kind's formula */
	double fp_rate_floor;    /* capacity / 2^hash_bits: no layout can go below this rate */
	const char *reason;      /* why the calculator chose this shape: a static sentence */
	struct {
		uint64_t max_capacity; /* limit of the keys in all layers together */
		uint64_t full_bytes;   /* size of all bit arrays with max_capacity keys */
		double full_bits_per_key;  /* full_bytes * 8 / max_capacity */
		double worst_bits_per_key; /* bits per key at the peak, when the first layer is
		                              full and the second layer was just appended. About
		                              5 times full_bits_per_key */
		double late_bits_per_key;  /* bits per key just after the last layer is appended:
		                              about 4 times full_bits_per_key, or less if
		                              max_capacity makes that layer smaller */
		uint64_t reserved;
	} growing;               /* for other kinds these fields repeat capacity, bytes and
	                            bits_per_key */
	struct {
		double false_sets;   /* expected number of wrong sets in the answer to an absent
		                        key, if each set has as many keys as params say */
		double bytes_wasted; /* unused bytes in the columns of sets that are smaller than
		                        the largest, and in columns without a set */
	} router;                 /* for other kinds these fields are 0 */
	uint32_t lookups;         /* number of keys that one lookup of a text probes at most, by the
	                             lengths in params.text (weir_text_most()); fp_rate is for one
	                             probe */
};

#define WEIR_PLAN_INIT WEIR__INIT(weir_plan)

/**
 * Plan what weir_create() would make: any two of capacity, fp_rate and max_bytes give the third.
 * @params: as for weir_create(); memory, seed and secret are ignored.
 * @out: receives the plan; its struct_size must be set (WEIR_PLAN_INIT).
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if a parameter is out of its range, or fewer than two of capacity, fp_rate and
 *   max_bytes are given; -EFBIG if the filter needs more than max_bytes; -ENOTSUP if the kind is
 *   unknown. weir_error_detail() names the parameter, its value and its range.
 * Threads: any.  Progress: wait-free.  Cost: some milliseconds of arithmetic, under 10.
 * Source: Putze, Sanders, Singler 2007 (blocked); Lang, Neumann, Kemper, Boncz 2019
 *   (cache-sectorized).
 */
WEIR_API WEIR_MUST_CHECK int weir_plan_make(const struct weir_params *params,
                                            struct weir_plan *out);

/**
 * Request a shape: set kind and the numbers of its group that determine the shape, and clear the
 * groups of other kinds.
 * @params: from WEIR_PARAMS_INIT; all other fields keep their values. Untouched on failure.
 * @shape: of a plan, of statistics or of an image's info.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if struct_size is wrong, or the kind cannot have this shape; -ENOTSUP if the kind
 *   is unknown.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_params_shape(struct weir_params *params,
                                             const struct weir_shape *shape);

WEIR_END_DECLS

#endif
