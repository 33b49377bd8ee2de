/* SPDX-License-Identifier: MIT
 * The gate: what a filter must pass before it is published. */
#ifndef WEIR_SRC_GATE_H
#define WEIR_SRC_GATE_H

#include <weir/reload.h>

/* Take the caller's gate into @copy, over the defaults, and let @gate point to it; a NULL stays.
 * Return: 0, or -EINVAL with the sentence if a field makes no sense. */
int weir__gate_take(struct weir_gate *copy, const struct weir_gate **gate);
/* @gate: taken, or NULL. Return: 0 if the filter may be published, else -ECANCELED with the
 * sentence. */
int weir__gate_ask(const struct weir_gate *gate, const struct weir_filter *next);

#endif
