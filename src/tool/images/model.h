/* SPDX-License-Identifier: MIT
 * A new image takes its seed, size and layout from a model: the image that it replaces, or that of
 * --like. With the same seed, servers go on following. If the size is also the same, the new image
 * can be merged and compared with the old one, and keys can be carried over to it. */
#ifndef WEIR_TOOL_MODEL_H
#define WEIR_TOOL_MODEL_H

#include <stdbool.h>
#include <weir/weir.h>
#include "images.h"

/* Start from { 0 }. */
struct model {
	const char *path;          /* the image, or NULL */
	double fp_rate;            /* asked of it, for one lookup */
	struct weir_text normal; /* the normalisation of its keys; set even without a path */
	bool normal_known;         /* @normal comes from an image that may be trusted */
	struct weir_params params; /* to make another one like it, except secret */
};

/* The new image as the options want it. */
struct model_wish {
	struct weir_params params; /* 0: not given, except for kind: */
	bool kind_given;
	bool new_seed;             /* --new-seed */
	bool never_smaller;        /* no size below the model's */
};

/* The traits that the new image took over. */
struct model_taken {
	bool seed, size;
	int steps; /* doublings of the size, or if negative, halvings */
};

/* Reads the image @path of --like. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int model_like(struct model *out, const char *path, const struct image_how *how);

/*
 * Reads the image at @path that is to be replaced. It is the model, unless its keys were hashed by
 * another function or key, or another user may have written it and so chosen its seed. Prints a
 * message if servers then cannot follow.
 * Return: TOOL_OK, with or without a model; TOOL_TROUBLE after a message, if its seed is needed
 * but cannot be read.
 */
int model_replaced(struct model *out, const char *path, const struct model_wish *wish, bool force,
                   const struct image_how *how);

/* Takes over the seed unless the options give another, and the rate if they give neither rate nor
 * size. Return: the traits taken over. */
struct model_taken model_take(const struct model *model, const struct model_wish *wish,
                              struct weir_params *params);

/* Return: the rate of one lookup, for @rate asked of an answer that takes the lookups of @noted. If
 * that is the model's rate, returns it bit for bit: rounding would change the image with every
 * rebuild. */
double model_rate(const struct model *model, const struct weir_text *noted, double rate);

/*
 * Sets the size for @keys keys of the normalisation @noted. Takes the model's size if they fit and
 * use at least half of it, else doubles or halves its bytes as often as needed. If the options ask
 * for another size, rate, layout or normalisation than the model's, makes room for @keys instead.
 * The rate in @params is an answer's before the call and one lookup's after it: an answer is yes if
 * any of its lookups is.
 */
void model_size(const struct model *model, const struct model_wish *wish,
                const struct weir_text *noted, uint64_t keys, struct weir_params *params,
                struct model_taken *taken);

#endif
