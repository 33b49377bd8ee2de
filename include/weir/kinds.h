/* SPDX-License-Identifier: MIT
 * The kinds of filter, and the numbers of their shapes. */
#ifndef WEIR_KINDS_H
#define WEIR_KINDS_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>

WEIR_BEGIN_DECLS

/**
 * Every kind has a line: X(number, CONSTANT, name, summary). The library, the command, the
 * benchmarks and the tests expand this list. The numbers are part of the image format and never
 * change.
 */
#define WEIR_KINDS(X) \
	X(0, WEIR_BLOCKED, blocked, "one cache line a lookup: the default") \
	X(1, WEIR_CLASSIC, classic, "k probes over all: the least memory that takes inserts") \
	X(2, WEIR_COUNTING, counting, "counters instead of bits: keys can be removed") \
	X(3, WEIR_GROWING, growing, "blocked layers, each four times the last: unknown size") \
	X(4, WEIR_CUCKOO, cuckoo, "removal in little memory: fingerprints that move") \
	X(5, WEIR_FUSE, fuse, "built once from all keys: the least memory") \
	X(6, WEIR_LAYERED, layered, "built once: exact on an include and an exclude list") \
	X(7, WEIR_SPLIT, split, "the split-block filter of Parquet, bit for bit") \
	X(8, WEIR_FREQUENCY, frequency, "counters: how often a key came, at most")

/**
 * What is no filter and has verbs of its own, but shapes and images as kinds have:
 * X(number, CONSTANT, name, summary).
 */
#define WEIR_TYPES(X) \
	X(9, WEIR_ROUTER, router, "which of up to 64 sets: <weir/router.h>") \
	X(10, WEIR_WINDOW, window, "what was seen lately: <weir/window.h>")

/** WEIR_BLOCKED, WEIR_CLASSIC and so on: the number of a kind or a type. */
enum weir_kind_id {
#define WEIR__CONSTANT(number, constant, name, summary) constant = number,
	WEIR_KINDS(WEIR__CONSTANT)
	WEIR_TYPES(WEIR__CONSTANT)
#undef WEIR__CONSTANT
};

/** How the bits of a filter are laid out: its kind and the kind's own numbers. */
struct weir_shape {
	uint32_t kind;     /* enum weir_kind_id */
	uint32_t field[7]; /* blocked: words_per_key (z), bits_per_word (g);
	                      classic: probes (k), bits_per_probe (1);
	                      growing: words_per_key, bits_per_word of each layer, layers (the
	                      most that it may come to);
	                      counting, frequency: counter_bits, words_per_key, counters_per_word;
	                      cuckoo: fingerprint_bits;
	                      fuse: fingerprint_bits, segment_bits, segments (of a part),
	                      part_bits;
	                      layered: those four of its first level, second_segment_bits,
	                      second_segments, second_part_bits;
	                      split: blocks (of 32 bytes);
	                      router: columns, rows_per_key, sets;
	                      window: layout (enum weir_window_layout), generations,
	                      words_per_key, bits_per_word; 0 past the last */
};

enum {
	WEIR_SHAPE_FIELDS = 7, /* of struct weir_shape */
	WEIR_SHAPE_TEXT = 80,  /* bytes for weir_shape_text(), with the NUL */
};

/**
 * The name of a kind or a type, such as "blocked".
 * @kind: enum weir_kind_id.
 * Return: a static string, or NULL if this library has no such kind.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_kind_name(uint32_t kind);

/**
 * The name of a number of a kind's shapes, such as "words_per_key". struct weir_params has a field
 * of that name, if a caller may choose the number.
 * @kind: enum weir_kind_id.
 * @i: names field[i] of struct weir_shape.
 * Return: a static string, or NULL if there is no such kind or it has no such number.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_shape_field(uint32_t kind, unsigned i);

/**
 * A shape in words, such as "2 words of 3 bits a key".
 * @shape: of a plan, of statistics or of an image's info.
 * @text: receives the words; "" on failure.
 * Return: 0 or a negative errno.
 * Errors: -ENOTSUP this library has no such kind; -EINVAL the kind has no such shape.
 * Threads: any.  Progress: wait-free.  Cost: under a microsecond.
 */
WEIR_API WEIR_MUST_CHECK int weir_shape_text(const struct weir_shape *shape,
                                             char text[WEIR_SHAPE_TEXT]);

WEIR_END_DECLS

#endif
