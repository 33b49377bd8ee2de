/* SPDX-License-Identifier: MIT
 * The status of a set for programs. */
#ifndef WEIR_TOOL_REPLICATE_STATUS_H
#define WEIR_TOOL_REPLICATE_STATUS_H

#include <stddef.h>
#include "replicate.h"

enum { ALERTS = 1000 };

/* Sentences about what is not well. */
struct alerts {
	char *of[ALERTS];
	size_t n;
};

void status_json(const struct replicate *r, const struct weir_replica_view *v,
                 const struct alerts *a);
void status_prometheus(const struct replicate *r, const struct weir_replica_view *v,
                       const struct alerts *a);

/* Seconds since a generation was published; or until then, if a clock was set back. */
double age_of(const struct weir_replica_view *v, const struct weir_replica_generation *g);

#endif
