/* SPDX-License-Identifier: MIT
 * The fuse kind: a fingerprint of each key of a fixed set, in the least memory of all kinds, in
 * cells that three keys or so share. common/fuse.h has the layout, plan.c the sizes. It is built
 * once from all its keys, part by part, by as many threads as there are parts. */
#include <math.h>
#include "kind/kind.h"
#include "kinds/common/fuse_build.h"
#include "kinds/common/fuse_measure.h"
#include "kinds/fuse/kernels.h"
#include "kinds/fuse/plan.h"

static int build(struct weir_filter *f, const struct weir_key_set *given)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	const struct weir_fuse_job job = { .words = f->array.words,
		                           .part_lines = f->array.lines >> part.part_bits,
		                           .part = part,
		                           .hash_seed = f->hashing.seed,
		                           .keys = given };
	return weir__fuse_build(&job);
}

static void enlarge(struct weir_plan *plan)
{
	weir__fuse_enlarge(plan, WEIR_FUSE_MORE);
}

static void measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                    struct weir_measure *sum)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	weir__fuse_measure(&part, f->array.words, f->array.lines >> part.part_bits, first, n, sum);
}

static void estimate(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
                     double *rate)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	*rate = sum->used ? ldexp(1, -(int)part.width) : 0;
	*keys = weir__fuse_keys(&part, sum, sum->lines >= f->array.lines);
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	switch (isa) {
#if WEIR_X86
	case WEIR_ISA_AVX2: return weir__fuse_avx2(shape);
	case WEIR_ISA_AVX512: return weir__fuse_avx512(shape);
#elif WEIR_ARM
	case WEIR_ISA_NEON: return weir__fuse_neon(shape);
#endif
	default: return weir__fuse_scalar(shape);
	}
}

const struct weir_kind weir__kind_fuse = {
	.id = WEIR_FUSE,
	.name = "fuse",
	.hash = &weir__xxh3,
	.fields = { "fingerprint_bits", "segment_bits", "segments", "part_bits" },
	.plan = weir__fuse_plan,
	.legal = weir__fuse_legal,
	.describe = weir__fuse_describe,
	.kernel = kernel,
	.measure = measure,
	.estimate = estimate,
	.snapshot = weir__bits_snapshot,
	.build = build,
	.enlarge = enlarge,
};
