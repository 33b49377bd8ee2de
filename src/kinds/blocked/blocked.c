/* SPDX-License-Identifier: MIT
 * The blocked kind: one cache line a key. The layout is in <weir/inline.h>, its kernels in
 * kernel.h; here are the scalar kernels, the choice among the instruction sets, and what is done to
 * whole arrays.
 * Source: Putze, Sanders, Singler 2007; Lang, Neumann, Kemper, Boncz 2019. */
#define WEIR_INLINE_SCALAR 1
#define KERNEL_ISA WEIR_ISA_SCALAR
#define KERNEL_TABLE weir__blocked_scalar
#include "kinds/blocked/kernel.h"

#include <math.h>
#include "config.h"
#include "plan.h"
#include "sizing.h"

static bool layout_legal(uint32_t z, uint32_t g)
{
	return (z == 1 || z == 2 || z == 4 || z == 8) && g >= 1 && g <= weir__blocked_max_g(z);
}

static const struct weir_kernel *kernel(enum weir_isa isa, uint32_t z, uint32_t g)
{
	static const struct weir_kernel *const tables[WEIR_ISA_COUNT] = {
		[WEIR_ISA_SCALAR] = weir__blocked_scalar,
#if WEIR_X86
		[WEIR_ISA_AVX2] = weir__blocked_avx2,
		[WEIR_ISA_AVX512] = weir__blocked_avx512,
#elif WEIR_ARM
		[WEIR_ISA_NEON] = weir__blocked_neon,
#endif
	};
	const struct weir_kernel *table = tables[isa];
	if (!table)
		return NULL;
	const struct weir_kernel *own = &table[WEIR_BLOCKED_SLOT(z, g)];
	return own->load ? own : &table[WEIR_BLOCKED_ANY];
}

/* The chance that a random key of this block is answered true: over its groups, the mean over a
 * group's words of (ones / 64)^g. */
static double block_rate(const unsigned ones[8], unsigned z, const double power[65])
{
	double rate = 1;
	for (unsigned i = 0; i < z; i++) {
		double sum = 0;
		for (unsigned w = 0; w < 8 / z; w++)
			sum += power[ones[i * (8 / z) + w]];
		rate *= sum * z / 8;
	}
	return rate;
}

static void tally(const struct weir_filter *f, uint64_t first, uint64_t n, struct weir_tally *tally)
{
	double power[65];
	for (unsigned b = 0; b <= 64; b++)
		power[b] = pow(b / 64.0, f->view.bits_per_word);
	for (uint64_t block = first; block < first + n; block++) {
		unsigned ones[8];
		for (unsigned w = 0; w < 8; w++) {
			ones[w] = (unsigned)__builtin_popcountll(
				weir__word_load_relaxed(f->view.words + 8 * block + w));
			tally->ones += ones[w];
		}
		tally->rate_sum += block_rate(ones, f->view.words_per_key, power);
	}
	tally->blocks += n;
}

/* A word takes Poisson(keys * z / words) keys of g throws into 64 bits each: a bit stays 0 with
 * e^(-load * (1 - (63/64)^g)). */
static void estimate(const struct weir_filter *f, const struct weir_tally *tally, double *keys,
                     double *rate)
{
	double words = 8.0 * (double)f->view.nblocks,
	       fill = (double)tally->ones / (512.0 * (double)tally->blocks);
	*keys = -log1p(-fill) / (1 - pow(63.0 / 64, f->view.bits_per_word)) * words /
	        f->view.words_per_key;
	*rate = tally->rate_sum / (double)tally->blocks;
}

/* mulhi(h, nblocks / factor) = mulhi(h, nblocks) / factor: adjacent blocks fall into one. */
static void fold(struct weir_filter *dst, const struct weir_filter *f, uint32_t factor)
{
	for (uint64_t block = 0; block < f->view.nblocks; block++)
		for (unsigned w = 0; w < 8; w++)
			dst->view.words[block / factor * 8 + w] |= WEIR__LE64(
				weir__word_load_relaxed(f->view.words + block * 8 + w));
}

const struct weir_kind weir__kind_blocked = {
	.id = WEIR_BLOCKED,
	.name = "blocked",
	.plan = weir__blocked_plan,
	.layout_legal = layout_legal,
	.kernel = kernel,
	.tally = tally,
	.estimate = estimate,
	.fold = fold,
};
