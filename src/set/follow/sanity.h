/* SPDX-License-Identifier: MIT
 * Is an image a set that somebody meant to publish? An empty list of keys builds a perfect image,
 * and so does one that is far too long. */
#ifndef WEIR_SRC_SANITY_H
#define WEIR_SRC_SANITY_H

#include <weir/handle.h>
#include <weir/image.h>

enum { WEIR_SANITY_TEXT = 512 };

/* Ask that of @next, a filter from the image @path. An image whose builder wanted it so has a mark
 * (enum weir_image_marks) and is not asked.
 * @current: what it is to follow; NULL: it only adds to that, so it cannot be too small.
 * @progress: called where a sample does not tell, while all bits are counted; or NULL.
 * Return: 0; -ECANCELED its rate is above twice the one asked, or it has under a tenth of the
 *   current filter's keys, or both, in one sentence; or progress stopped it. */
int weir__sanity_ask(const char *path, const struct weir_filter *next,
                     const struct weir_filter *current, weir_progress_fn *progress,
                     void *progress_arg);

/* What a follower reports of an image that the handle has taken over: that, and loudly if it has
 * more keys than its capacity. Such a set is published all the same: without it, keys would be
 * missing, to keep a rate that is a little better. */
void weir__sanity_report(const struct weir_handle *h, const char *path,
                         char text[WEIR_SANITY_TEXT]);

#endif
