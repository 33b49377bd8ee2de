/* SPDX-License-Identifier: MIT
 * The gate: what a filter must pass before it is published. */
#ifndef WEIR_SRC_GATE_H
#define WEIR_SRC_GATE_H

#include <weir/reload.h>

/* Return: 0, or -EINVAL with the sentence if a field makes no sense. */
int weir__gate_check(const struct weir_gate *gate);
/* Return: 0 if the filter may be published, else -ECANCELED with the sentence. */
int weir__gate_ask(const struct weir_gate *gate, const struct weir_filter *next);

#endif
