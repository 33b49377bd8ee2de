/* SPDX-License-Identifier: MIT
 * A new image takes its seed, size and layout from a model, which is the image to be replaced or
 * the image of --like. With the same seed, servers can follow the new image. With the same size
 * too, the images can be merged and compared, and keys can be copied from the old image to the
 * new. */
#ifndef WEIR_TOOL_MODEL_H
#define WEIR_TOOL_MODEL_H

#include <stdbool.h>
#include <weir/weir.h>
#include "images.h"

/* Initialise with { 0 }. */
struct model {
	const char *path;          /* path of the image; NULL: no model */
	double fp_rate;            /* asked rate of one lookup */
	/* normalisation of the keys. If path is NULL only because the seed of the image cannot be
	 * used, this field is still set */
	struct weir_text normal;
	bool normal_known;         /* @normal comes from an image that is trusted, or whose seed is
	                              not needed */
	/* parameters that make an equal filter. If the image is keyed, they have the caller's
	 * secret, and the seed is 0 */
	struct weir_params params;
};

/* The options for the new image. */
struct model_wish {
	struct weir_params params; /* a field of 0 is not given; for kind, see kind_given */
	bool kind_given;
	bool new_seed;             /* --new-seed */
	bool never_smaller;        /* do not choose a size below the model's */
};

/* The traits that the new image took from the model. */
struct model_taken {
	bool seed, size;
	int doublings; /* number of doublings of the size; negative: halvings */
};

/* Reads the image @path of --like. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int model_like(struct model *out, const char *path, const struct image_how *how);

/* Reads the image at @path that is to be replaced, and makes it the model. An image is not used if
 * its keys were hashed by another function or key, or if another user may have written it and so
 * chosen its seed. Then a message says that servers cannot follow the new image. Return: TOOL_OK,
 * with or without a model; TOOL_TROUBLE after a message, if the seed is needed but cannot be
 * read. */
int model_replaced(struct model *out, const char *path, const struct model_wish *wish, bool force,
                   const struct image_how *how);

/* Copies the model's seed to @params unless the options give a seed, and the model's rate if the
 * options give neither rate nor size. Return: the copied traits. */
struct model_taken model_take(const struct model *model, const struct model_wish *wish,
                              struct weir_params *params);

/* Return: the rate of one lookup that gives an answer the rate @rate. @noted: its prefix lengths or
 * label counts determine the number of lookups per answer. If the model has the same number of
 * lookups, and the same rate of an answer except for rounding, the result is exactly the model's
 * rate of one lookup, since rounding would change the image at every rebuild. */
double model_rate(const struct model *model, const struct weir_text *noted, double rate);

/* Sets the size for @keys keys of the normalisation @noted. The size is the model's if @keys is at
 * most the model's capacity and at least half of that capacity. Otherwise the model's bytes are
 * doubled or halved as often as needed. If the options differ from the model in size, rate, layout
 * or normalisation, the size follows from @keys instead. params->fp_rate is the rate of an answer
 * before the call, and of one lookup after the call. */
void model_size(const struct model *model, const struct model_wish *wish,
                const struct weir_text *noted, uint64_t keys, struct weir_params *params,
                struct model_taken *taken);

#endif
