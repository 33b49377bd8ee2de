/* SPDX-License-Identifier: MIT
 * From parameters to a plan: the checks that every kind needs, and any one of {capacity,
 * fp_rate, max_bytes} from the other two. */
#ifndef WEIR_SRC_PLAN_H
#define WEIR_SRC_PLAN_H

#include <stdbool.h>
#include <weir/params.h>

/* Copies the parameters of any older struct_size and checks all that does not depend on the
 * kind. 0 or a negative errno, with the sentence set. */
int weir__params_check(const struct weir_params *in, struct weir_params *out);

/* enum weir_flags, or'ed: those there are, and no two that exclude each other. 0 or -EINVAL with
 * its sentence. */
int weir__flags_check(uint32_t flags);

/* What a kind tells of its layouts: the least bits a key for a rate, and the rate of so many
 * bits a key. */
struct weir_formula {
	double (*bits)(double fp_rate, unsigned words_per_key, unsigned bits_per_word);
	double (*rate)(double bits_per_key, unsigned words_per_key, unsigned bits_per_word);
};

/* What a kind chooses its layout for: a rate (0 where the size is given instead), or the bits a
 * key that the size allows. */
struct weir_wanted {
	/* what is left for the layout once the floor of 64-bit hashes is taken off */
	double fp_rate;
	double bits_per_key;
};
struct weir_wanted weir__plan_wanted(const struct weir_params *params);

/* Completes a plan whose words_per_key and bits_per_word are chosen: capacity, bytes, shards,
 * the rates, classic_bytes. */
int weir__plan_complete(const struct weir_params *params, const struct weir_formula *formula,
                        struct weir_plan *out);

int weir__blocked_plan(const struct weir_params *params, struct weir_plan *out);
int weir__classic_plan(const struct weir_params *params, struct weir_plan *out);

#endif
