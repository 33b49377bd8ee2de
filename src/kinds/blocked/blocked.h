/* SPDX-License-Identifier: MIT
 * The blocked kind's shape, and tables of kernels by shape, one for each instruction set. Kinds
 * made of blocked filters have such tables too. */
#ifndef WEIR_SRC_KINDS_BLOCKED_BLOCKED_H
#define WEIR_SRC_KINDS_BLOCKED_BLOCKED_H

#include <weir/params.h>
#include "config.h"
#include "kind/kind.h"
#include "kinds/common/sector_rate.h"

/* Indices in a shape of this kind. */
enum { WEIR_BLOCKED_Z = 0, WEIR_BLOCKED_G = 1 };

/* Slot 0 has the kernel for rare shapes. Each other slot is for one shape: z = 1, 2, 4, 8 in rows,
 * g = 1 to 10 in columns. The slot is empty if the shape has no kernel of its own. */
#define WEIR_BLOCKED_SLOT(z, g) (((z) == 1 ? 0 : (z) == 2 ? 1 : (z) == 4 ? 2 : 3) * 10 + (g))
enum { WEIR_BLOCKED_ANY = 0, WEIR_BLOCKED_SLOTS = 41 };

/* Declare the tables of a kind. */
#define WEIR_BLOCKED_TABLES(kind) \
	extern const struct weir_kernel weir__##kind##_scalar[WEIR_BLOCKED_SLOTS]; \
	extern const struct weir_kernel weir__##kind##_avx2[WEIR_BLOCKED_SLOTS]; \
	extern const struct weir_kernel weir__##kind##_avx512[WEIR_BLOCKED_SLOTS]; \
	extern const struct weir_kernel weir__##kind##_neon[WEIR_BLOCKED_SLOTS]
#if WEIR_X86
#define WEIR_BLOCKED_BY_ISA(kind) \
	{ [WEIR_ISA_SCALAR] = weir__##kind##_scalar, [WEIR_ISA_AVX2] = weir__##kind##_avx2, \
	  [WEIR_ISA_AVX512] = weir__##kind##_avx512 }
#elif WEIR_ARM
#define WEIR_BLOCKED_BY_ISA(kind) \
	{ [WEIR_ISA_SCALAR] = weir__##kind##_scalar, [WEIR_ISA_NEON] = weir__##kind##_neon }
#else
#define WEIR_BLOCKED_BY_ISA(kind) { [WEIR_ISA_SCALAR] = weir__##kind##_scalar }
#endif

/* Return: the kernel for a shape that begins with Z and G, or NULL if @isa has no table. */
static inline const struct weir_kernel *
weir__blocked_find(const struct weir_kernel *const tables[WEIR_ISA_COUNT], enum weir_isa isa,
                   const struct weir_shape *shape)
{
	uint32_t z = shape->field[WEIR_BLOCKED_Z], g = shape->field[WEIR_BLOCKED_G];
	const struct weir_kernel *table = tables[isa];
	if (!table)
		return NULL;
	const struct weir_kernel *own = &table[WEIR_BLOCKED_SLOT(z, g)];
	return own->contains_batch ? own : &table[WEIR_BLOCKED_ANY];
}

WEIR_BLOCKED_TABLES(blocked);

/* ---- the choice of a shape ---- */

/* Return: the layout with z words of g bits. */
struct weir_sectors weir__blocked_sectors(unsigned z, unsigned g);
/* Return: the largest g for z. It is 10, but smaller if z * g would exceed 20, the number of fields
 * in the two remixed hashes r and r2. */
unsigned weir__blocked_max_g(unsigned z);

#endif
