/* SPDX-License-Identifier: MIT
 * The choice of a blocked layout: the fewest words a key whose size is within 6 % of the smallest.
 * Fewer words make inserts cheaper, since each word takes an atomic or. */
#include <math.h>
#include "error.h"
#include "kinds/blocked/kernels.h"
#include "kinds/blocked/plan.h"
#include "kinds/blocked/rate.h"
#include "sizing.h"

static const double slack = 1.06;
/* At this rate the classic kind needs 15 % less memory, at lower rates even less. */
static const double classic_pays = 1e-4;

static double bits(double fp_rate, const struct weir_shape *shape)
{
	return weir__blocked_bits(fp_rate, shape->field[WEIR_BLOCKED_Z],
	                          shape->field[WEIR_BLOCKED_G]);
}

static double rate(double bits_per_key, const struct weir_shape *shape)
{
	return weir__blocked_rate(bits_per_key, shape->field[WEIR_BLOCKED_Z],
	                          shape->field[WEIR_BLOCKED_G]);
}

static const struct weir_formula formula = { .bits = bits, .rate = rate };
static const unsigned words[] = { 1, 2, 4, 8 };
enum { CHOICES = sizeof words / sizeof words[0] };

/* The best g for one number of words. */
struct choice {
	unsigned g;  /* 0: no layout with these words has the g that was asked for */
	double cost; /* bits a key for the rate wanted, or the rate for the bits a key wanted */
};

static struct choice choose_g(const struct weir_params *p, unsigned z, struct weir_wanted wanted)
{
	struct choice best = { 0, 0 };
	unsigned first = p->bits_per_word ? p->bits_per_word : 1;
	unsigned last = p->bits_per_word ? p->bits_per_word : weir__blocked_max_g(z);
	for (unsigned g = first; g <= last && g <= weir__blocked_max_g(z); g++) {
		double cost = wanted.fp_rate > 0 ? weir__blocked_bits(wanted.fp_rate, z, g) :
		                                   weir__blocked_rate(wanted.bits_per_key, z, g);
		if (best.g == 0 || cost < best.cost)
			best = (struct choice){ g, cost };
	}
	return best;
}

/* The best g for each number of words. Return: the least cost of all. */
static double choose_each(const struct weir_params *p, struct weir_wanted wanted,
                          struct choice choices[CHOICES])
{
	double least = -1;
	for (unsigned i = 0; i < CHOICES; i++) {
		choices[i] = choose_g(p, words[i], wanted);
		if (choices[i].g && (least < 0 || choices[i].cost < least))
			least = choices[i].cost;
	}
	return least;
}

/* If the size is given instead of a rate, "within 6 % of the smallest" means that no layout has a
 * lower rate with 6 % fewer bits. */
static void choose_z(const struct weir_params *p, struct weir_wanted wanted, struct weir_plan *out)
{
	struct choice choices[CHOICES], smaller[CHOICES];
	double least = choose_each(p, wanted, choices), most = least * slack;
	if (wanted.bits_per_key > 0)
		most = fmax(least, choose_each(p, (struct weir_wanted){
			0, wanted.bits_per_key / slack }, smaller));
	unsigned i = 0;
	/* This ends at the least cost. Numbers of words without a layout come after it: a larger z
	 * allows fewer g. */
	while (choices[i].cost > most)
		i++;
	out->shape.field[WEIR_BLOCKED_Z] = words[i];
	out->shape.field[WEIR_BLOCKED_G] = choices[i].g;
}

static int check_layout(const struct weir_params *p)
{
	unsigned z = p->words_per_key, g = p->bits_per_word, most = weir__blocked_max_g(z ? z : 1);
	if (z & (z - 1) || z > 8)
		return weir__fail(-EINVAL, "words_per_key %u: allowed: 1, 2, 4 or 8, or 0 to "
		                  "have it chosen", z);
	if (g > most && z)
		return weir__fail(-EINVAL, "bits_per_word %u: allowed: 1 to %u with words_per_key "
		                  "%u, or 0 to have it chosen", g, most, z);
	if (g > most)
		return weir__fail(-EINVAL, "bits_per_word %u: allowed: 1 to %u, or 0 to have it "
		                  "chosen", g, most);
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
	int err = check_layout(p);
	if (err)
		return err;
	struct weir_wanted wanted = weir__wanted(p);
	out->shape.field[WEIR_BLOCKED_Z] = p->words_per_key;
	out->shape.field[WEIR_BLOCKED_G] = p->bits_per_word;
	if (!p->words_per_key)
		choose_z(p, wanted, out);
	else if (!p->bits_per_word)
		out->shape.field[WEIR_BLOCKED_G] = choose_g(p, p->words_per_key, wanted).g;
	err = weir__size_complete(p, &formula, out);
	if (!err)
		out->reason = reason(p, out);
	return err;
}
