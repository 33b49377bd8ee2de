/* SPDX-License-Identifier: MIT
 * The layouts that are compiled with z and g as constants, and how a verb selects one by the
 * filter's layout, for <weir/inline.h>. Do not include this header directly. The head of inline.h
 * describes z, g, r and r2. k = z * g is at most 20, since r and r2 have 20 fields. */
#ifndef WEIR_INLINE_LAYOUTS_H
#define WEIR_INLINE_LAYOUTS_H

#include <stdint.h>

/* The layouts that the calculator chooses for rates from 10 % to 0.01 %. It chooses no other
 * layout even for rates from 17 % down to 0.00085 %. */
#define WEIR__DEFAULT_LAYOUTS(X) X(1, 3) X(2, 2) X(2, 3) X(2, 4) X(4, 2) X(4, 3)
/* More layouts that the calculator chooses, if the caller gives z but not g. */
#define WEIR__OTHER_LAYOUTS(X) \
	X(1, 4) X(1, 5) X(1, 6) X(1, 7) X(1, 8) X(2, 5) X(4, 1) X(8, 1) X(8, 2)
#define WEIR__LAYOUTS(X) WEIR__DEFAULT_LAYOUTS(X) WEIR__OTHER_LAYOUTS(X)

/* z and g as one number, so that one comparison tests both. Layouts differ by multiples of 256. */
#define WEIR__LAYOUT(z, g) ((uint32_t)(z) << 16 | (uint32_t)(g) << 8)

#if defined(WEIR_INLINE_WORDS_PER_KEY) != defined(WEIR_INLINE_BITS_PER_WORD)
#error "WEIR_INLINE_WORDS_PER_KEY and WEIR_INLINE_BITS_PER_WORD: define both or none"
#endif

/* A verb (a lookup or insert of inline.h) is WEIR__SWITCH(v) with a case for each layout in
 * WEIR__INLINED, except for the vector lookups of inline_lanes.h. For any other layout the verb
 * calls a function that tries WEIR__OUTLINED. The numbers of the cases are so far apart that
 * compilers turn the switch into comparisons, at most three for a layout. A jump table would cost
 * more where indirect jumps are not predicted. The comparisons are always predicted, since a
 * filter's layout never changes. */
#ifdef WEIR_INLINE_WORDS_PER_KEY

#define WEIR__FIXED_Z WEIR_INLINE_WORDS_PER_KEY
#define WEIR__FIXED_G WEIR_INLINE_BITS_PER_WORD
#if WEIR__FIXED_Z != 1 && WEIR__FIXED_Z != 2 && WEIR__FIXED_Z != 4 && WEIR__FIXED_Z != 8
#error "WEIR_INLINE_WORDS_PER_KEY: allowed: 1, 2, 4 or 8"
#elif WEIR__FIXED_G < 1 || WEIR__FIXED_G > 10 || WEIR__FIXED_Z * WEIR__FIXED_G > 20
#error "WEIR_INLINE_BITS_PER_WORD: allowed: 1 to 10, and at most 20 bits a key"
#endif
/* Compare even if only one layout is inlined, since a view may come from a file that was compiled
 * without the macros. A verb of the wrong layout would lose keys, so other layouts take the slow
 * path. */
#define WEIR__SWITCH(v) \
	switch (__builtin_expect((v)->layout, WEIR__LAYOUT(WEIR__FIXED_Z, WEIR__FIXED_G)))
#define WEIR__INLINED(X) X(WEIR__FIXED_Z, WEIR__FIXED_G)
#define WEIR__OUTLINED(X)

#else

#define WEIR__SWITCH(v) switch ((v)->layout)
#define WEIR__INLINED(X) WEIR__DEFAULT_LAYOUTS(X)
#define WEIR__OUTLINED(X) WEIR__OTHER_LAYOUTS(X)

#endif

#endif
