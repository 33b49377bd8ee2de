/* SPDX-License-Identifier: MIT
 * What `weir build` was asked and what came of it. */
#ifndef WEIR_TOOL_BUILD_H
#define WEIR_TOOL_BUILD_H

#include <stdbool.h>
#include <weir/weir.h>
#include "fill.h"
#include "probe.h"

struct build {
	/* asked */
	struct weir_params params;
	struct fill fill;
	const char *output, *like;
	uint64_t max_memory;
	int zstd_level;
	bool quiet, as_json;
	/* came of it */
	struct weir_filter *filter;
	uint64_t keys;
	bool counted;   /* the capacity is the number of keys, found by counting */
	double seconds; /* of reading and loading */
	struct weir_stats stats;
	struct probe probe;
};

/* Make the filter from the files. TOOL_OK or TOOL_TROUBLE, said. */
int build_make(struct build *build);
/* Say what was built: on standard output, or on stderr if the image went there. */
void build_report(const struct build *build);

#endif
