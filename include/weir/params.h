/* SPDX-License-Identifier: MIT
 * The parameters of a filter, and the calculator of what it will cost. */
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

/** For flags in struct weir_params. */
enum weir_flags {
	WEIR_HUGETLB = 1u << 0,       /* from the reserved huge-page pool, or fail with -ENOMEM */
	WEIR_NO_HUGE_PAGES = 1u << 1, /* ask the kernel for small pages */
	WEIR_PREFAULT = 1u << 2,      /* touch every page at creation: no insert takes a fault */
	WEIR_ONCE = 1u << 3,          /* of kinds that can remove keys: an insert of a key that is
	                                 there (WEIR_SEEN) stores nothing, so equal keys take the
	                                 room of one. Keys cannot be removed then: two may share
	                                 what one stored. The image keeps it; the next set of a
	                                 handle has it if its own parameters, or image, say so.
	                                 Other kinds: -EINVAL */
};

/** How a window runs in this process. Set it at creation, and again at every load. */
struct weir_window_run {
	const struct rcu_flavor_struct *flavor; /* of liburcu; NULL: urcu-bp */
	uint64_t (*clock)(void *arg); /* nanoseconds that never go back; NULL: CLOCK_MONOTONIC. It
	                                 is called in read-side sections and must not wait. Not
	                                 with timer */
	void *clock_arg;
	bool timer;        /* a thread of the window's own advances it; else the caller does, by
	                      weir_window_tick() */
	bool forget_older; /* at a load: the time since the save, by CLOCK_REALTIME, ages the keys
	                      too; else ages go on from what they were */
	uint32_t reserved; /* 0 */
};

/** How a window's bits lie. */
enum weir_window_layout {
	WEIR_WINDOW_CHOSEN = 0,  /* columns; a ring if words_per_key is above 1 */
	WEIR_WINDOW_COLUMNS = 1, /* the words of a key side by side: fastest */
	WEIR_WINDOW_RING = 2,    /* an array for each generation: least memory */
};

/**
 * What to create. Start from WEIR_PARAMS_INIT, then set fields; 0 always means "not given".
 *
 * Give two of capacity, fp_rate and max_bytes, and the third follows. If all three are given,
 * max_bytes is a limit: creation fails with -EFBIG if the filter would need more.
 *
 * The parameters of one kind form a group with its name. A number that is 0 there is chosen by the
 * library. The groups of all other kinds, and reserved words, must be 0: else -EINVAL.
 *
 * Of a growing filter capacity and max_bytes are the first layer's, fp_rate the whole's for ever.
 * A layer that is appended is empty and four times the last, so a key takes the most bits just
 * then. At 1 % and eight layers: 77 after the first append and 61 after each late one, of which
 * only the pages that were written to are in memory; 15.2 when all layers are full.
 *
 * Of a window capacity, fp_rate and max_bytes are of all generations together, at the moment before
 * an advance, when they hold most. Each has an equal share of the capacity. So where keys come
 * unevenly, give generations times the most that come in span_seconds/(generations-1).
 */
struct weir_params {
	size_t struct_size;     /* sizeof(struct weir_params), set by WEIR_PARAMS_INIT */
	uint32_t kind;          /* enum weir_kind_id */
	uint32_t flags;         /* enum weir_flags, or'ed */
	uint64_t capacity;      /* keys the filter is to hold at fp_rate: 1 to 2^48 */
	double fp_rate;         /* false positives among absent keys, when full: 1e-9 to 0.5 */
	uint64_t max_bytes;     /* bytes of bits: 64 to 2^46 */
	uint64_t seed;          /* of the hash; 0: random, but of split, whose seed is 0. With
	                           secret 0, or the seed that weir_params_of() gives of a filter
	                           with the same key. */
	const void *secret;     /* 16 secret bytes, copied by weir_create(): the filter is keyed.
	                           Its keys are hashed by SipHash-2-4 with them, whatever its kind,
	                           so that whoever sees answers and images, but not these, finds
	                           no keys that collide. NULL: not keyed, as split always is. */
	void *memory;           /* for the bits: 64-byte aligned, zeroed by weir_create(), must
	                           outlive the filter; NULL: the library allocates. Of a growing
	                           filter the first layer's; the others are allocated. */
	size_t memory_bytes;    /* bytes at memory: at least the plan's bytes */
	uint32_t shards;        /* runs of lines to cut the bits into: a power of two up to 65536,
	                           and 1024 lines each unless it is 1; 0: the library chooses */
	uint32_t hash_bits;     /* b, of hashes of the caller's own: they take about 2^b values,
	                           uniformly. Keys whose hashes are equal are one key, which adds
	                           capacity / 2^b to the rate: the layout gets what is left of
	                           fp_rate. 0: 64, as weir_hash() has; otherwise 8 to 64 */
	struct weir_text text;  /* normalisation of keys that are text: <weir/text.h> */
	struct {
		uint32_t words_per_key;  /* z, words of its line that a key touches: 1, 2, 4, 8 */
		uint32_t bits_per_word;  /* g, bits that a key sets in each of those words */
		uint32_t reserved[2];
	} blocked;
	struct {
		uint32_t probes;         /* k, bits that a key sets: 1 to 32 */
		uint32_t reserved[3];
	} classic;
	struct {
		uint32_t counter_bits;      /* bits of a counter: 4, 8, 16 */
		uint32_t words_per_key;     /* words of its block that a key touches: 1, 2, 4, 8 */
		uint32_t counters_per_word; /* g, counters of each of those words */
		uint32_t reserved;
	} counting;
	struct {
		uint64_t max_capacity;   /* keys that the whole may come to, capacity to 21,845
		                            times that; 0: those 21,845 times. The fewer, the fewer
		                            layers, and the fewer bits a key. Keys are counted in a
		                            sample of the blocks: one of 1000 filters is full up to
		                            1 % before that; and who knows the seed may choose keys
		                            that are not counted, and overfill it, unless it is
		                            keyed. */
		uint32_t words_per_key;  /* of each layer, as in the group blocked */
		uint32_t bits_per_word;
		uint64_t reserved;
	} growing;
	struct {
		uint32_t fingerprint_bits; /* 12, 16. Below the rate of 16, 0.012 %, memory grows
		                              as 1/fp_rate: 20 bits a key at 0.01 %, 195 at
		                              0.001 % */
		uint32_t reserved[3];
	} cuckoo;
	struct {
		uint32_t fingerprint_bits; /* 1 to 32: the rate is 1 / 2^bits */
		uint32_t reserved[3];
	} fuse;
	struct {
		uint64_t exclude_keys;     /* about how many keys the exclude list has, which the
		                              choice of fingerprint_bits needs before the list is
		                              read; a number twice too large or small costs some
		                              1 % of memory */
		uint32_t fingerprint_bits; /* 1 to 32: the rate is half of 1 / 2^bits */
		uint32_t reserved;
	} layered;
	struct {
		uint32_t any_reader;     /* 1: a size that every reader of Parquet takes, a power of
		                            two up to 128 MiB: the least that has fp_rate, which is
		                            then better than asked; or the largest within max_bytes,
		                            where that is one of only two that are given */
		uint32_t reserved[3];
	} split;
	struct {
		uint32_t counter_bits;      /* bits of a counter: 8, 16, 32 */
		uint32_t words_per_key;     /* words of its block that a key touches: 1, 2, 4, 8 */
		uint32_t counters_per_word; /* g, counters of each of those words */
		uint32_t reserved;
	} frequency;
	struct {
		uint32_t sets;             /* 1 to 64; 0: 8, which the narrowest rows hold */
		uint32_t rows_per_key;     /* 1 to 10; 0: the fewest within 1 % of the least
		                              memory */
		const char *const *names;  /* of each set, copied: all different, 1 to 63 bytes
		                              of UTF-8 without control characters; NULL: "0",
		                              "1" and so on */
		const uint64_t *keys;      /* of each set; capacity is then the most of them.
		                              NULL: capacity */
		uint64_t reserved[2];
	} router;                       /* capacity, fp_rate: of each set. A set smaller than the
	                                   largest wastes what it does not need of its column. */
	struct {
		uint32_t generations;     /* G: 2 to 16; 0: 7 */
		uint32_t layout;          /* enum weir_window_layout */
		uint32_t words_per_key;   /* 1, 2, 4, 8; 0: columns 1, a ring what needs least
		                             memory. With 1 at most one of racing inserts is
		                             answered WEIR_NEW. */
		uint32_t reserved;        /* 0 */
		double span_seconds;      /* T, the shortest time that a key is remembered: 0.001
		                             to 1e9; 0: no advance by time */
		uint64_t generation_keys; /* an advance is due after so many inserts that changed
		                             the newest generation, capacity / generations at
		                             most; beyond 65535 it is counted in a sample, to
		                             1 %; 0: none by number. With both, the first to come.
		                             Where capacity is 0 that is G times this. */
		struct weir_window_run run;
		uint64_t spare[2];        /* 0 */
	} window;
};

#define WEIR_PARAMS_INIT WEIR__INIT(weir_params)

/** What a filter of given parameters will be. Start from WEIR_PLAN_INIT. */
struct weir_plan {
	size_t struct_size;      /* sizeof(struct weir_plan) */
	struct weir_shape shape; /* its kind and the kind's own numbers */
	uint32_t shards;         /* contiguous runs of lines, a power of two */
	uint64_t capacity;       /* keys */
	uint64_t bytes;          /* of bits, a multiple of 64 */
	double bits_per_key;     /* bytes * 8 / capacity */
	double fp_rate;          /* expected at capacity with these bytes, by the kind's formula */
	double fp_rate_floor;    /* capacity / 2^hash_bits: no filter over those does better */
	const char *reason;      /* a static sentence: why this shape */
	struct {
		uint64_t max_capacity; /* keys of all layers that it may have */
		uint64_t full_bytes;   /* of bits, with max_capacity keys */
		double full_bits_per_key;  /* full_bytes * 8 / max_capacity */
		double worst_bits_per_key; /* the most from the first layer's end on: just after
		                              the second layer is appended, when it is empty:
		                              about 5 times full_bits_per_key */
		double late_bits_per_key;  /* just after the last layer is appended, which is
		                              about 4 times full_bits_per_key where it is a whole
		                              one */
		uint64_t reserved;
	} growing;               /* of other kinds: repeats capacity, bytes and bits_per_key */
	struct {
		double false_sets;   /* expected in the answer to a key that is in none, with the
		                        sets as large as asked */
		double bytes_wasted; /* what smaller sets leave of their columns, and columns
		                        without a set */
	} router;                 /* of other kinds 0 */
	uint32_t lookups;         /* most keys that the lookup of one text probes, by the lengths in
	                             params.text (weir_text_most()): fp_rate is the rate of each */
};

#define WEIR_PLAN_INIT WEIR__INIT(weir_plan)

/**
 * The sizing calculator: any two of {capacity, fp_rate, max_bytes} give the third.
 * @params: as for weir_create(); memory, seed and secret are ignored.
 * @out: the plan; its struct_size must be set (WEIR_PLAN_INIT).
 * Return: 0 or a negative errno.
 * Errors: -EINVAL a parameter is out of its range, or fewer than two are given; -EFBIG the filter
 *   needs more than max_bytes; -ENOTSUP an unknown kind. weir_error_detail() names the parameter,
 *   its value and its range.
 * Threads: any.  Progress: wait-free.  Cost: some milliseconds of arithmetic, under 10.
 * Source: Putze, Sanders, Singler 2007 (blocked); Lang, Neumann, Kemper, Boncz 2019
 *   (cache-sectorized).
 */
WEIR_API WEIR_MUST_CHECK int weir_plan_make(const struct weir_params *params,
                                            struct weir_plan *out);

/**
 * Ask for a shape: sets kind and the numbers of its group that choose a shape, and clears the
 * groups of other kinds.
 * @params: from WEIR_PARAMS_INIT; its other fields stay. Untouched on failure.
 * @shape: of a plan, of statistics or of an image's info.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL struct_size, or the kind has no such shape; -ENOTSUP an unknown kind.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_params_shape(struct weir_params *params,
                                             const struct weir_shape *shape);

WEIR_END_DECLS

#endif
