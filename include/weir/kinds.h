/* SPDX-License-Identifier: MIT
 * The kinds of filter, what each can do, and how each lays out its bits. Choose a kind in
 * weir_params.kind; 0 is the default, blocked. weir_kind_can() tells what a kind can do, and
 * weir_can() what one filter can do.
 *
 * The table shows the abilities of each kind (x yes, - no). A verb that the kind lacks fails with
 * -ENOTSUP, except for lookups, which never fail (see enum weir_ability).
 *
 *            blocked classic counting growing cuckoo fuse layered split frequency router window
 * insert        x       x        x       x       x     -     -      x       x        x      x
 * remove        -       -        x       -       x     -     -      -       -        -      -
 * count         -       -        x       -       x     -     -      -       x        -      -
 * many sets     -       -        -       -       -     -     -      -       -        x      -
 * advance       -       -        -       -       -     -     -      -       -        -      x
 * build         -       -        -       -       -     x     x      -       -        -      -
 * exclude       -       -        -       -       -     -     x      -       -        -      -
 * grow_ahead    -       -        -       x       -     -     -      -       -        -      -
 * merge         x       x        x       x       x     -     -      x       x        x      -
 * clone         x       x        x       x       x     x     x      x       x        x      -
 * fold          x       x        x       -       -     -     -      x       x        -      -
 * map           x       x        x       x       x     x     x      x       x        x      -
 * map live      x       x        x       -       -     -     -      x       x        -      -
 * a handle      x       x        x       x       x     x     x      x       x        x      -
 * a replica     x       x        -       x       -     -     -      x       -        -      -
 * inline.h      x       -        -       -       -     -     -      -       -        -      -
 * a key         x       x        x       x       x     x     x      -       x        x      x
 * normalise     x       x        x       x       x     x     x      -       x        -      -
 *
 * "a key" means that the hash can use a secret (weir_params.secret). A sharded set is published as
 * a view (weir_handle_get()), which can only look up, measure, and count if its kind does. */
#ifndef WEIR_KINDS_H
#define WEIR_KINDS_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>

WEIR_BEGIN_DECLS

/**
 * The kinds that have only the verbs of filter.h: X(number, CONSTANT, name, summary). The library,
 * the command, the benchmarks and the tests expand this list. The numbers are part of the image
 * format and never change.
 */
#define WEIR_SIMPLE_KINDS(X) \
	X(0, WEIR_BLOCKED, blocked, "one cache line a lookup: the default") \
	X(1, WEIR_CLASSIC, classic, "k probes over all: the least memory that takes inserts") \
	X(2, WEIR_COUNTING, counting, "counters instead of bits: keys can be removed") \
	X(3, WEIR_GROWING, growing, "blocked layers, each four times the last: unknown size") \
	X(4, WEIR_CUCKOO, cuckoo, "removal in little memory: fingerprints that move") \
	X(5, WEIR_FUSE, fuse, "built once from all keys: the least memory") \
	X(6, WEIR_LAYERED, layered, "built once: exact on an include and an exclude list") \
	X(7, WEIR_SPLIT, split, "the split-block filter of Parquet, bit for bit") \
	X(8, WEIR_FREQUENCY, frequency, "counters: how often a key came, at most")

/** All kinds: the simple kinds, and the kinds that add verbs of their own to those of filter.h. */
#define WEIR_KINDS(X) \
	WEIR_SIMPLE_KINDS(X) \
	X(9, WEIR_ROUTER, router, "up to 64 sets in one lookup: <weir/router.h>") \
	X(10, WEIR_WINDOW, window, "what was seen lately: <weir/window.h>")

/** WEIR_BLOCKED, WEIR_CLASSIC and so on: the number of a kind. */
enum weir_kind_id {
#define WEIR__CONSTANT(number, constant, name, summary) constant = number,
	WEIR_KINDS(WEIR__CONSTANT)
#undef WEIR__CONSTANT
};

/**
 * The abilities of filters. Ask weir_kind_can() about a kind and weir_can() about one filter. A
 * lookup works on every filter. A lookup that the filter cannot decide returns true, or every set.
 * weir_route() treats a filter that is not a router as one set, and weir_age() treats a filter that
 * is not a window as one generation. Any other verb that a filter lacks fails with -ENOTSUP.
 */
enum weir_ability {
	WEIR_CAN_INSERT = 1 << 0,      /* takes inserts at any time, unless mapped read-only */
	WEIR_CAN_BUILD = 1 << 1,       /* is built once, from all its keys (build.h) */
	WEIR_CAN_EXCLUDE = 1 << 2,     /* can be built with an exclude list as well */
	WEIR_CAN_REMOVE = 1 << 3,
	WEIR_CAN_COUNT = 1 << 4,       /* a key that is inserted twice counts twice */
	WEIR_CAN_HOLD_COPIES = 1 << 5, /* keys_estimated counts a key once for each insert */
	WEIR_CAN_REFUSE = 1 << 6,      /* refuses inserts when it is full (-ENOSPC) */
	WEIR_CAN_GROW = 1 << 7,
	WEIR_CAN_ROUTE = 1 << 8,       /* has up to 64 sets (router.h) */
	WEIR_CAN_FORGET = 1 << 9,      /* drops keys over time (window.h) */
	WEIR_CAN_DECIDE = 1 << 10,     /* if inserts race for a new key, only one is WEIR_NEW */
	WEIR_CAN_MERGE = 1 << 11,
	WEIR_CAN_CLONE = 1 << 12,
	WEIR_CAN_FOLD = 1 << 13,
	WEIR_CAN_FILL_FAST = 1 << 14,  /* weir_fill_keys() is faster than inserts */
	WEIR_CAN_BE_KEYED = 1 << 15,   /* takes weir_params.secret */
	WEIR_CAN_NORMALISE = 1 << 16,  /* takes weir_params.text */
	WEIR_CAN_MAP = 1 << 17,        /* its image can be mapped */
	WEIR_CAN_MAP_LIVE = 1 << 18,   /* processes can map its image and insert (WEIR_MAP_LIVE) */
	WEIR_CAN_PUBLISH = 1 << 19,    /* a handle can publish it */
	WEIR_CAN_REPLICATE = 1 << 20,  /* its inserts can be replicated one by one (replica.h) */
	WEIR_CAN_INLINE = 1 << 21,     /* works with inline.h */
	WEIR_CAN_BE_EXACT = 1 << 22,   /* has no false positives on the lists it is built from */
	WEIR_CAN_HASH = 1 << 23,       /* takes hashes made by weir_hash() */
	WEIR_CAN_TELL_NEW = 1 << 24,   /* its inserts tell WEIR_NEW from WEIR_SEEN */
	WEIR_CAN_ALL = (1 << 25) - 1,
};

/* The numbers of each kind's shape. Every struct is as large as the union below, so a struct's
 * initializer also sets the union's unused numbers to 0. */
struct weir_blocked_shape { uint32_t words_per_key, bits_per_word, rest[5]; };
struct weir_classic_shape { uint32_t probes, bits_per_probe, rest[5]; };
struct weir_counting_shape { uint32_t counter_bits, words_per_key, counters_per_word, rest[4]; };
struct weir_growing_shape {
	/* words_per_key and bits_per_word are those of each layer; layers is the maximum number. */
	uint32_t words_per_key, bits_per_word, layers, rest[4];
};
struct weir_cuckoo_shape { uint32_t fingerprint_bits, rest[6]; };
struct weir_fuse_shape { /* segments: number of segments in each of the 2^part_bits parts */
	uint32_t fingerprint_bits, segment_bits, segments, part_bits, rest[3];
};
struct weir_layered_shape { /* four numbers of the first level, then three of the second level */
	uint32_t fingerprint_bits, segment_bits, segments, part_bits;
	uint32_t second_segment_bits, second_segments, second_part_bits;
};
struct weir_split_shape { uint32_t blocks, rest[6]; }; /* blocks: number of 32-byte blocks */
struct weir_router_shape { uint32_t columns, rows_per_key, sets, rest[4]; };
struct weir_window_shape { /* layout: enum weir_window_layout */
	uint32_t layout, generations, words_per_key, bits_per_word, rest[3];
};

/** How a filter lays out its bits: its kind and the kind's numbers. Read the numbers by name, or by
 * index with weir_shape_field(). */
struct weir_shape {
	uint32_t kind; /* enum weir_kind_id */
	union {
		uint32_t field[7]; /* 0 beyond the numbers of the kind */
		struct weir_blocked_shape blocked;
		struct weir_classic_shape classic;
		struct weir_counting_shape counting;
		struct weir_growing_shape growing;
		struct weir_cuckoo_shape cuckoo;
		struct weir_fuse_shape fuse;
		struct weir_layered_shape layered;
		struct weir_split_shape split;
		struct weir_counting_shape frequency;
		struct weir_router_shape router;
		struct weir_window_shape window;
	};
};

enum {
	WEIR_SHAPE_FIELDS = 7, /* length of field[] in struct weir_shape */
	WEIR_SHAPE_TEXT = 80,  /* size of the text of weir_shape_text(), with the NUL */
};

/**
 * The name of a kind, such as "blocked".
 * @kind: enum weir_kind_id.
 * Return: a static string, or NULL if the library does not know the kind.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_kind_name(uint32_t kind);

/**
 * Test what filters of a kind can do.
 * @kind: enum weir_kind_id.
 * @what: abilities to test, or'ed, such as WEIR_CAN_REMOVE or WEIR_CAN_ALL.
 * Return: the abilities in @what that filters of the kind can have; 0 for an unknown kind.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_kind_can(uint32_t kind, uint32_t what);

/**
 * The name of number field[i] of a kind's shape, such as "words_per_key". If a caller may choose
 * the number, the kind's group in struct weir_params has a field of that name.
 * @kind: enum weir_kind_id.
 * @i: an index of field[] in struct weir_shape.
 * Return: a static string, or NULL if the kind is unknown or has fewer numbers.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_shape_field(uint32_t kind, unsigned i);

/**
 * Put a shape into words, such as "2 words of 3 bits a key".
 * @shape: from struct weir_plan, weir_stats or weir_image_info.
 * @text: receives the words; "" on failure.
 * Return: 0 or a negative errno.
 * Errors: -ENOTSUP if the library does not know the kind; -EINVAL if the kind cannot have this
 *   shape.
 * Threads: any.  Progress: wait-free.  Cost: under a microsecond.
 */
WEIR_API WEIR_MUST_CHECK int weir_shape_text(const struct weir_shape *shape,
                                             char text[WEIR_SHAPE_TEXT]);

WEIR_END_DECLS

#endif
