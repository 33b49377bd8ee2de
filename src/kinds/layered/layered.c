/* SPDX-License-Identifier: MIT
 * The layered kind: levels.h has the layout, plan.c the sizes. A builder makes the first level as a
 * filter of kind fuse, which the exclude list is streamed through: that is the sieve. Here it is
 * taken over, and the second level is built. */
#include <math.h>
#include <string.h>
#include "kind/kind.h"
#include "kinds/common/fuse_build.h"
#include "kinds/common/fuse_measure.h"
#include "kinds/layered/kernels.h"
#include "kinds/layered/levels.h"
#include "kinds/layered/plan.h"

/* The sieve's parts may have more lines than they need. */
static void take_first(struct weir_filter *f, const struct weir_array *sieve)
{
	const struct weir_fuse first = weir__fuse_of(&f->array.shape);
	const uint64_t lines = weir__fuse_lines(&first);
	const uint64_t stride = sieve->lines >> first.part_bits;
	for (uint64_t i = 0; i >> first.part_bits == 0; i++)
		memcpy(f->array.words + 8 * lines * i, sieve->words + 8 * stride * i, 64 * lines);
}

static int build(struct weir_filter *f, const struct weir_key_set *given)
{
	const struct weir_fuse first = weir__fuse_of(&f->array.shape);
	const struct weir_fuse second = weir__second_of(&f->array.shape);
	const struct weir_fuse_job job = { .words = f->array.words + 8 * weir__level_lines(&first),
		                           .part_lines = weir__fuse_lines(&second),
		                           .part = second,
		                           .hash_seed = f->hashing.seed,
		                           .keys = given,
		                           .others = given->passed };
	take_first(f, &given->sieve->array);
	return weir__fuse_build(&job);
}

static void enlarge(struct weir_plan *plan)
{
	weir__layered_enlarge(plan, WEIR_FUSE_MORE);
}

/* The second level says nothing of how many keys are included: its bits are counted as unused. */
static void measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                    struct weir_measure *sum)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	const uint64_t end = weir__level_lines(&part);
	const uint64_t last = first + n < end ? first + n : end;
	const uint64_t mine = first < last ? last - first : 0;
	weir__fuse_measure(&part, f->array.words, weir__fuse_lines(&part), first, mine, sum);
	sum->cells += 512 * (n - mine);
	sum->lines += n - mine;
}

static void estimate(const struct weir_filter *f, const struct weir_measure *sum, double *keys,
                     double *rate)
{
	const struct weir_fuse part = weir__fuse_of(&f->array.shape);
	*rate = sum->used ? ldexp(1, -(int)part.width - 1) : 0;
	*keys = weir__fuse_keys(&part, sum, sum->lines >= f->array.lines);
}

static const struct weir_kernel *kernel(enum weir_isa isa, const struct weir_shape *shape)
{
	(void)shape;
	switch (isa) {
#if WEIR_X86
	case WEIR_ISA_AVX2: return &weir__layered_avx2;
	case WEIR_ISA_AVX512: return &weir__layered_avx512;
#elif WEIR_ARM
	case WEIR_ISA_NEON: return &weir__layered_neon;
#endif
	default: return &weir__layered_scalar;
	}
}

const struct weir_kind weir__kind_layered = {
	.id = WEIR_LAYERED,
	.name = "layered",
	.hash = &weir__xxh3,
	.fields = { "fingerprint_bits", "segment_bits", "segments", "part_bits",
	            "second_segment_bits", "second_segments", "second_part_bits" },
	.plan = weir__layered_plan,
	.legal = weir__layered_legal,
	.describe = weir__layered_describe,
	.kernel = kernel,
	.measure = measure,
	.estimate = estimate,
	.snapshot = weir__bits_snapshot,
	.build = build,
	.enlarge = enlarge,
	.sieve = weir__layered_sieve,
	.on_sieve = weir__layered_on_sieve,
};
