/* SPDX-License-Identifier: MIT
 * A builder: what is known of the filter to come, and what was added. build.c collects, finish.c
 * builds. */
#ifndef WEIR_SRC_BUILD_BUILDER_H
#define WEIR_SRC_BUILD_BUILDER_H

#include <weir/build.h>
#include "build/collect.h"
#include "kind.h"

struct weir_builder {
	struct weir_params params; /* with the seed */
	unsigned char key[WEIR_SIPHASH_KEY];
	struct weir_hashing hashing;
	struct weir_builder_options options;
	char *folder;
	atomic_int failed; /* 0, or what every further call answers */
	struct weir_collected collected;
	/* of finish */
	pthread_mutex_t reporting;
	uint64_t done, total;
};

/* Added so far, with all that were equal. */
uint64_t weir__builder_added(struct weir_builder *b);
/* Fail with the sentence for what a builder that has failed, or was finished, is asked. */
int weir__builder_has_failed(int err);

#endif
