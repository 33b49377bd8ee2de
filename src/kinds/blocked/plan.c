/* SPDX-License-Identifier: MIT
 * The choice of a blocked layout: the fewest words a key whose size is within 6 % of the
 * smallest. */
#include "ground/error.h"
#include "kind/sizing.h"
#include "kinds/blocked/kernels.h"
#include "kinds/blocked/plan.h"
#include "kinds/common/choose.h"

enum { FIELDS = 20, MOST_G = 10 };
/* At this rate the classic kind needs 15 % less memory, at lower rates even less. */
static const double classic_pays = 1e-4;

struct weir_sectors weir__blocked_sectors(unsigned z, unsigned g)
{
	return (struct weir_sectors){ .words = 8, .cells = 64, .z = z, .g = g };
}

unsigned weir__blocked_max_g(unsigned z)
{
	return FIELDS / z < MOST_G ? FIELDS / z : MOST_G;
}

static struct weir_sectors of_shape(const struct weir_shape *shape)
{
	return weir__blocked_sectors(shape->field[WEIR_BLOCKED_Z], shape->field[WEIR_BLOCKED_G]);
}

static double bits(double fp_rate, const struct weir_shape *shape)
{
	const struct weir_sectors s = of_shape(shape);
	return weir__sectors_cells(fp_rate, &s);
}

static double rate(double bits_per_key, const struct weir_shape *shape)
{
	const struct weir_sectors s = of_shape(shape);
	return weir__sectors_rate(bits_per_key, &s);
}

static const struct weir_formula formula = { .bits = bits, .rate = rate };

static unsigned most_g(unsigned cells, unsigned z)
{
	(void)cells;
	return weir__blocked_max_g(z);
}

static int check_layout(const struct weir_params *p)
{
	unsigned z = p->words_per_key, g = p->bits_per_word, most = weir__blocked_max_g(z ? z : 1);
	if (z & (z - 1) || z > 8)
		return weir__refused(
			weir__fail(-EINVAL, "words_per_key %u: allowed: 1, 2, 4 or 8, or 0 to "
			           "have it chosen", z),
			WEIR_ERROR_CHOICE, "words_per_key", z, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
			0, 0);
	if (g > most && z)
		return weir__refused(
			weir__fail(-EINVAL,
			           "bits_per_word %u: allowed: 1 to %u with words_per_key "
			           "%u, or 0 to have it chosen", g, most, z),
			WEIR_ERROR_RANGE, "bits_per_word", g, 1, most, 0);
	if (g > most)
		return weir__refused(
			weir__fail(-EINVAL, "bits_per_word %u: allowed: 1 to %u, or 0 to have it "
			           "chosen", g, most),
			WEIR_ERROR_RANGE, "bits_per_word", g, 1, most, 0);
	return 0;
}

static const char *reason(const struct weir_params *p, const struct weir_plan *plan)
{
#define REASON(text) { text, text "; at so low a rate the classic kind needs less memory" }
	static const char *const texts[4][2] = {
		REASON("the fewest words a key within 6 % of the smallest blocked layout"),
		REASON("the words a key that were asked for, with the best bits a word"),
		REASON("the fewest words a key within 6 % of the smallest layout of the bits a "
		       "word that were asked for"),
		REASON("the words a key and bits a word that were asked for"),
	};
#undef REASON
	return texts[(p->words_per_key != 0) + 2 * (p->bits_per_word != 0)]
	            [plan->fp_rate <= classic_pays];
}

int weir__blocked_plan(const struct weir_params *p, struct weir_plan *out)
{
	static const struct weir_choices choices = { 8, 64, most_g, .slack = 1.06 };
	int err = check_layout(p);
	if (err)
		return err;
	const struct weir_sectors s = weir__sectors_choose(&choices, p->words_per_key,
	                                                   p->bits_per_word, weir__wanted(p));
	out->shape.field[WEIR_BLOCKED_Z] = s.z;
	out->shape.field[WEIR_BLOCKED_G] = s.g;
	err = weir__size_complete(p, &formula, out);
	if (!err)
		out->reason = reason(p, out);
	return err;
}
