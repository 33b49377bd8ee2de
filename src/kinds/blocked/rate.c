/* SPDX-License-Identifier: MIT
 * The blocked layout's own mathematics. Nothing here allocates, has a state or can fail.
 *
 * A block of 512 bits holds N ~ Poisson(512 / bits a key) keys. One of the s = 8/z words of a group
 * holds W ~ Binomial(N, 1/s) of them. After W*g throws into 64 bits, b bits of that word are set. A
 * lookup of an absent key is answered true with probability E_N[(E_W[E[(b/64)^g]])^z].
 *
 * The inner two means have a closed form, so that a rate is a sum over N only. Let u = 64 - b be
 * the number of bits still 0. After t throws, j given bits are all 0 with probability (1 - j/64)^t,
 * so E[C(u,j)] = C(64,j) (1 - j/64)^t. And (b/64)^g = (1 - u/64)^g is a linear combination of
 * C(u,0) .. C(u,g). Hence E[(b/64)^g] = sum over j of a[j] (1 - j/64)^t. With t = W*g and the
 * generating function of the binomial distribution this gives
 *
 *     E_W[E[(b/64)^g]] = sum over j of a[j] (1 - (1 - (1 - j/64)^g) / s)^N.
 *
 * Its terms cancel each other and leave an error of about 1e-13. The values that matter are above
 * 1e-10, even at a rate of 1e-9. */
#include <math.h>
#include "kinds/blocked/rate.h"

enum { BLOCK = 512, WORD = 64, BLOCK_WORDS = 8, FIELDS = 20, MOST_G = 10 };

/* The a[j] above, one factor (1 - u/64) after another. A factor changes a[] as the inner loop does,
 * since u C(u,j) = j C(u,j) + (j+1) C(u,j+1). */
static void occupancy_terms(unsigned g, double a[])
{
	a[0] = 1;
	for (unsigned n = 1; n <= g; n++) {
		a[n] = 0;
		for (unsigned j = n; j > 0; j--)
			a[j] = ((WORD - j) * a[j] - (WORD + 1 - j) * a[j - 1]) / WORD;
	}
}

double weir__blocked_rate(double bits_per_key, unsigned z, unsigned g)
{
	double term[MOST_G + 1], base[MOST_G + 1], mean = BLOCK / bits_per_key, rate = 0;
	/* Beyond, e^-mean would become 0. At this load every layout's rate is above 0.7, and no
	 * rate above 0.5 is allowed. */
	if (mean > 700)
		mean = 700;
	occupancy_terms(g, term);
	for (unsigned j = 0; j <= g; j++)
		base[j] = 1 - (1 - pow(1 - j / (double)WORD, g)) * z / BLOCK_WORDS;
	double chance = exp(-mean);
	for (unsigned n = 1;; n++) { /* an empty block answers false */
		double word = 0;
		chance *= mean / n;
		for (unsigned j = 0; j <= g; j++)
			word += term[j] *= base[j];
		double all = word > 0 ? word : 0;
		for (unsigned i = 1; i < z; i *= 2)
			all *= all;
		rate += chance * all;
		if (n > mean && !(chance > 1e-9 * rate))
			return rate;
	}
}

/* log(rate at e^x bits a key / rate wanted). Over x this is nearly a straight line. */
static double excess(double x, double fp_rate, unsigned z, unsigned g)
{
	return log(weir__blocked_rate(exp(x), z, g) / fp_rate);
}

struct bracket {
	double low, at_low;   /* too few bits: at_low > 0 */
	double high, at_high; /* enough: at_high <= 0 */
};

/* The bits a key that k independent probes over the whole array need: a little less than blocks. */
static double unblocked_bits(double fp_rate, unsigned k)
{
	return -(double)k / log1p(-pow(fp_rate, 1.0 / k));
}

/* Search from unblocked_bits() outwards, in growing steps. */
static struct bracket bracket_bits(double fp_rate, unsigned z, unsigned g)
{
	double x = log(unblocked_bits(fp_rate, z * g)), at_x = excess(x, fp_rate, z, g);
	struct bracket b = { x, at_x, x, at_x };
	for (double step = 0.1; b.at_low <= 0; step *= 2) {
		b.high = b.low, b.at_high = b.at_low;
		b.low -= step, b.at_low = excess(b.low, fp_rate, z, g);
	}
	for (double step = 0.1; b.at_high > 0; step *= 2) {
		b.low = b.high, b.at_low = b.at_high;
		b.high += step, b.at_high = excess(b.high, fp_rate, z, g);
	}
	return b;
}

/* False position with the Illinois rule: the value at an end that stays is halved, so that neither
 * end stays for long. */
double weir__blocked_bits(double fp_rate, unsigned z, unsigned g)
{
	const double width = 1e-9;
	struct bracket b = bracket_bits(fp_rate, z, g);
	for (int moved = 0; b.high - b.low > width;) {
		double x = b.high - b.at_high * (b.high - b.low) / (b.at_high - b.at_low);
		x = fmin(fmax(x, b.low + width / 2), b.high - width / 2);
		double at_x = excess(x, fp_rate, z, g);
		if (at_x > 0) {
			b.low = x, b.at_low = at_x;
			b.at_high *= moved > 0 ? 0.5 : 1;
			moved = 1;
		} else {
			b.high = x, b.at_high = at_x;
			b.at_low *= moved < 0 ? 0.5 : 1;
			moved = -1;
		}
	}
	return exp(b.high);
}

unsigned weir__blocked_max_g(unsigned z)
{
	return FIELDS / z < MOST_G ? FIELDS / z : MOST_G;
}
