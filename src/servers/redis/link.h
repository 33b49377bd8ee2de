/* SPDX-License-Identifier: MIT
 * A link as an image, and a chain that links are appended to. */
#ifndef WEIR_REDIS_LINK_H
#define WEIR_REDIS_LINK_H

#include "keys.h"

/* @generation: of a set; 0: of none. Return: the plain image, mapped, or NULL. */
void *key_image(const struct weir_filter *f, uint64_t generation, size_t *bytes);

/* A chain without links, with the settings and the counts of @head. Return: 0 or a negative errno:
 * those are not a chain's of this kind. */
int key_begin(struct chain **out, const struct key_kind *kind, const struct chain *head);

/* A type's aof_rewrite. */
void key_rewrite(struct redis_io *io, struct redis_string *key, void *value);

#endif
