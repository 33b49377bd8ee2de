/* SPDX-License-Identifier: MIT
 * The size of a split filter. Its layout is that of kinds/common/sector_rate.h with eight words of
 * 32 bits, each of which a key sets one bit in: the rate is that of the layout, not the one of
 * Parquet's formula, which takes all blocks to be equally full and takes 8 % less at 1 %, 20 % less
 * at 0.01 %. */
#include <inttypes.h>
#include "ground/error.h"
#include "kind/sizing.h"
#include "kinds/split/split.h"

const struct weir_sectors weir__split_sectors = { .words = 8, .cells = 32, .z = 8, .g = 1 };

static double bits(double fp_rate, const struct weir_shape *shape)
{
	(void)shape;
	return weir__sectors_cells(fp_rate, &weir__split_sectors);
}

static double rate(double bits_per_key, const struct weir_shape *shape)
{
	(void)shape;
	return weir__sectors_rate(bits_per_key, &weir__split_sectors);
}

int weir__split_plan(const struct weir_params *p, struct weir_plan *out)
{
	static const struct weir_formula formula = { .bits = bits, .rate = rate };
	int err = weir__size_complete(p, &formula, out);
	if (err)
		return err;
	if (out->bytes / WEIR_SPLIT_BLOCK > WEIR_SPLIT_MOST)
		return weir__refused(
			weir__fail(-EFBIG, "%" PRIu64 " bytes: kind split has 2^28 blocks of 32 "
			           "bytes at most, since 32 bits of a hash choose one",
			           out->bytes),
			WEIR_ERROR_RANGE, "max_bytes", (double)out->bytes, 64,
			(double)WEIR_SPLIT_MOST * WEIR_SPLIT_BLOCK, 0);
	out->shape.field[WEIR_SPLIT_BLOCKS] = (uint32_t)(out->bytes / WEIR_SPLIT_BLOCK);
	out->reason = "the layout is Parquet's: one bit in each of eight words of 32 bits";
	return 0;
}
