/* SPDX-License-Identifier: MIT
 * The gate: what a filter must pass before it is published. */
#ifndef WEIR_SRC_GATE_H
#define WEIR_SRC_GATE_H

#include <weir/reload.h>

/* May a caller ask for this? Return: 0 or -EINVAL. */
int weir__gate_check(const struct weir_gate *gate);
/* May the filter be published? Return: 0, or -ECANCELED with the sentence. */
int weir__gate_ask(const struct weir_gate *gate, const struct weir_filter *next);

#endif
