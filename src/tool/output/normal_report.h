/* SPDX-License-Identifier: MIT
 * What is done to keys, for people and as JSON. */
#ifndef WEIR_TOOL_NORMAL_REPORT_H
#define WEIR_TOOL_NORMAL_REPORT_H

#include <weir/weir.h>
#include "report.h"

enum { NORMAL_STEPS = 64 };

/* What is done, "trim, cidr", or "nothing". */
const char *normal_steps(char text[NORMAL_STEPS], uint32_t steps);
/* The options of weir build that do it, "--trim --cidr", or "--plain-keys". */
const char *normal_options(char text[NORMAL_STEPS], uint32_t steps);

/* The name of the rate that a filter was made for. */
const char *rate_label(const struct weir_normal *n);

/* @rate: of one lookup: of an answer it is up to so many times as much as there are lookups. */
void report_normal(struct report *r, const struct weir_normal *n, double rate);

/* Keys of lengths that a set had none of raise the rate of all answers: a message says so. @rate:
 * of one lookup. */
void normal_raised(const char *path, const struct weir_normal *before,
                   const struct weir_normal *now, double rate);

#endif
