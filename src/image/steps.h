/* SPDX-License-Identifier: MIT
 * The words of the head that are of what is done to keys (head.h): bytes 140 to 191. */
#ifndef WEIR_SRC_IMAGE_STEPS_H
#define WEIR_SRC_IMAGE_STEPS_H

#include "image/head.h"

/* From the head's bytes, and to them. */
struct weir_normal weir__steps_get(const unsigned char *bytes);
void weir__steps_put(unsigned char *bytes, const struct weir_normal *n);

/* Are the steps known, and the lengths those that there are, and of a step that is there? Pure and
 * proven as weir__image_check(). Return: if not, false, and the fault is set. */
bool weir__steps_check(const struct weir_normal *n, struct weir_image_fault *fault);

#endif
