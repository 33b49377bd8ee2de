/* SPDX-License-Identifier: MIT
 * One look at a file that a handle's filter comes from, and reading it. */
#ifndef WEIR_SRC_LOOK_H
#define WEIR_SRC_LOOK_H

#include <weir/refresh.h>
#include "image/io.h"
#include "set/follow/delta_chain.h"
#include "set/generation.h"
#include "set/reload/pace.h"

/* What a failure is a verdict on. */
enum weir_verdict {
	WEIR_VERDICT_NONE,  /* nothing that will last: the file is tried again */
	WEIR_VERDICT_ALONE, /* the file */
	WEIR_VERDICT_BESIDE /* the file beside the current filter */
};

/* One look at a file, by the handle's writer. */
struct weir_look {
	struct weir_handle *handle;
	struct weir_source *source;
	struct weir_chain chain;   /* of the source */
	const struct weir_refresh_options *options;
	double began;
	struct weir_pace pace;
	uint64_t turn;             /* when the work began that pace has not counted yet */
	enum weir_verdict verdict; /* if the step that is under way fails */
	bool stopped;              /* by progress, which is no verdict whatever the step */
};

/* For every step that takes long: a progress function, whose argument is the look. */
int weir__look_goes_on(void *look, uint64_t done, uint64_t total);
/* Make a filter of the image, and of the deltas to it. */
int weir__look_read(struct weir_filter **out, struct weir_look *l);

#endif
