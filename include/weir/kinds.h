/* SPDX-License-Identifier: MIT
 * The kinds of filter, and the numbers that say how a filter of a kind is laid out. */
#ifndef WEIR_KINDS_H
#define WEIR_KINDS_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>

WEIR_BEGIN_DECLS

/**
 * Every kind, a line each: X(number, CONSTANT, name, summary). The library, the command, the
 * benchmarks and the tests are expanded from this list. The numbers are part of the image format
 * and never change.
 */
#define WEIR_KINDS(X) \
	X(0, WEIR_BLOCKED, blocked, "one cache line a lookup: the default") \
	X(1, WEIR_CLASSIC, classic, "k probes over the whole array: least memory below 0.01 %")

/** WEIR_BLOCKED, WEIR_CLASSIC: what the first field of struct weir_shape holds. */
enum weir_kind_id {
#define WEIR__CONSTANT(number, constant, name, summary) constant = number,
	WEIR_KINDS(WEIR__CONSTANT)
#undef WEIR__CONSTANT
};

/** How the bits of a filter are laid out: its kind, and the kind's own numbers, 0 past the last. */
struct weir_shape {
	uint32_t kind;     /* enum weir_kind_id */
	uint32_t field[7]; /* blocked: words_per_key (z), bits_per_word (g); classic: probes (k) */
};

enum {
	WEIR_SHAPE_FIELDS = 7,
	WEIR_SHAPE_TEXT = 80, /* bytes that weir_shape_text() fills at most, with the NUL */
};

/**
 * The name of a kind: "blocked".
 * Return: a static string; NULL: this library has no kind of that number.
 * Threads: any.  Progress: wait-free.
 */
WEIR_API const char *weir_kind_name(uint32_t kind);

/**
 * The name of a number of a kind's shapes, as struct weir_params has it: "words_per_key".
 * @i: field[i] of struct weir_shape.
 * Return: a static string; NULL: the kind has no such number, or there is no such kind.
 * Threads: any.  Progress: wait-free.
 */
WEIR_API const char *weir_shape_field(uint32_t kind, unsigned i);

/**
 * A shape in words: "2 words of 3 bits a key".
 * @shape: as a plan, statistics or an image's info hold it.
 * @text: receives it; empty on failure.
 * Return: 0 or a negative errno.
 * Errors: -ENOTSUP this library has no such kind; -EINVAL a shape that the kind does not have.
 * Threads: any.  Progress: wait-free.
 */
WEIR_API WEIR_MUST_CHECK int weir_shape_text(const struct weir_shape *shape,
                                             char text[WEIR_SHAPE_TEXT]);

WEIR_END_DECLS

#endif
