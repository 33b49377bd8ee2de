/* SPDX-License-Identifier: MIT
 * The last refusal of a handle's commits and refreshes, for its statistics: why, and since when.
 *
 * H11 A refusal is published by a pointer of its own, which leads to nothing but a sentence, so it
 *     may be older or newer than the record (H1) that a reader has. Only the writer (H4) publishes.
 *     There are two places: the sentence is written into the one that is not published, and a
 *     grace period before that sees to it that nobody who found it published still reads it. So
 *     readers copy it in a section, never wait and never see half of one, and to refuse needs no
 *     memory, which may be just what is lacking. */
#ifndef WEIR_SRC_REFUSAL_H
#define WEIR_SRC_REFUSAL_H

#include <weir/handle.h>
#include "ground/atomic.h"

struct weir_refusal {
	atomic_uint_fast64_t since; /* ns of CLOCK_MONOTONIC; 0: something was published since */
	char sentence[WEIR_SENTENCE_BYTES];
};

struct weir_refusals {
	struct weir_refusal *last; /* NULL: none yet */
	struct weir_refusal places[2];
};

/* By the writer, outside of sections: a commit or refresh fails with the thread's sentence. May
 * wait for a grace period. */
void weir__refusal_begins(struct weir_handle *h);
/* By the writer: a filter was published, or the file is the one that was. */
void weir__refusal_ends(struct weir_handle *h);
/* Is a commit or refresh refused now? Any thread, at any time. */
bool weir__refused_now(const struct weir_handle *h);
/* In a section. */
void weir__refusal_read(const struct weir_handle *h, struct weir_handle_stats *out);

#endif
