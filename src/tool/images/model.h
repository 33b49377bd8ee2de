/* SPDX-License-Identifier: MIT
 * A new image takes seed, size and layout from another one, its model: the one that it replaces, or
 * that of --like. With the same seed servers go on following. With the same size besides, an image
 * can be merged with the one before, compared with it and carried over to. */
#ifndef WEIR_TOOL_MODEL_H
#define WEIR_TOOL_MODEL_H

#include <stdbool.h>
#include <weir/weir.h>
#include "images.h"

/* Start from { 0 }. */
struct model {
	const char *path;          /* the image, or NULL */
	double fp_rate;            /* as asked of it, for one lookup */
	struct weir_text normal; /* what is done to its keys: there even without a path */
	bool normal_known;         /* an image says so, and not only others' */
	struct weir_params params; /* those of another one like it, but for secret */
};

/* The new image as the options want it. */
struct model_wish {
	struct weir_params params; /* 0 is not given, but for kind: */
	bool kind_given;
	bool new_seed;             /* --new-seed */
	bool never_smaller;        /* no size below the model's */
};

/* What was taken over. */
struct model_taken {
	bool seed, size;
	int steps; /* the size was doubled so often, or if negative, halved */
};

/* The image @path of --like. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int model_like(struct model *out, const char *path, const struct image_how *how);

/*
 * Look at the image that stands at @path and is to be replaced. It serves as a model unless it was
 * hashed by another function or key, or another user may have written it and so chosen its seed.
 * A message says so where servers then cannot follow.
 * Return: TOOL_OK, with a model or without; TOOL_TROUBLE after a message, if its seed is
 * needed but cannot be read.
 */
int model_replaced(struct model *out, const char *path, const struct model_wish *wish, bool force,
                   const struct image_how *how);

/* Take the seed over, the rate where neither that nor a size is given, and a kind that is built
 * once, whose size follows from its keys. */
struct model_taken model_take(const struct model *model, const struct model_wish *wish,
                              struct weir_params *params);

/* The rate of one lookup, where @rate is asked of an answer and @noted says how many lookups one
 * takes at most. The model's own is taken as it is, or its image would change with every rebuild,
 * if only by rounding. */
double model_rate(const struct model *model, const struct weir_text *noted, double rate);

/*
 * Take the size over, for @keys keys, to which was done what @noted has: the model's if it has room
 * for them, and at least half of the room would be used; else twice as many bytes, or half, as
 * often as needed. Where another size, rate or layout than the model's is asked, or other is done
 * to keys, there is room for as many keys as there are. The rate in @params is an answer's before,
 * and one lookup's afterwards: an answer is yes if any of its lookups is.
 */
void model_size(const struct model *model, const struct model_wish *wish,
                const struct weir_text *noted, uint64_t keys, struct weir_params *params,
                struct model_taken *taken);

#endif
