/* SPDX-License-Identifier: MIT
 * What the head of a delta says, as a report. */
#ifndef WEIR_TOOL_DELTA_H
#define WEIR_TOOL_DELTA_H

#include <weir/delta.h>
#include "report.h"

void delta_report(struct report *r, const struct weir_delta_info *info);
/* The options of the library's verbs: --max-memory is of both images together. */
struct weir_delta_options delta_options(const struct weir_save_options *file, uint64_t max_memory);

#endif
