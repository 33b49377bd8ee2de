/* SPDX-License-Identifier: MIT
 * Merges filters, and folds the larger to the size of the smaller. A key's position is a fraction
 * of the filter's size, so OR-ing each pair of neighbouring parts makes the filter of half the
 * size. */
#include <errno.h>
#include <stdio.h>
#include "images.h"
#include "output/say.h"
#include "output/units.h"

static char sentence[1024];
static bool unlike;

const char *unite_trouble(void)
{
	return sentence;
}

bool unite_unlike(void)
{
	return unlike;
}

static int failed(void)
{
	snprintf(sentence, sizeof sentence, "%s", weir_error_detail());
	return TOOL_TROUBLE;
}

static struct weir_stats stats_of(const struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	if (weir_measure(f, WEIR_SAMPLED, &s))
		s.bytes = 0;
	return s;
}

static uint64_t bytes_of(const struct weir_filter *f)
{
	return stats_of(f).bytes;
}

static int other_kind(const struct weir_stats *a, const struct weir_stats *b)
{
	snprintf(sentence, sizeof sentence, "it is of kind %s, and the other of kind %s: kinds "
	         "must be equal", weir_kind_name(a->shape.kind), weir_kind_name(b->shape.kind));
	unlike = true;
	return TOOL_NO;
}

/* Refuses a kind that is built once from all its keys. */
static int never_merged(uint32_t kind)
{
	snprintf(sentence, sizeof sentence, "kind %s cannot merge: weir build makes one set from "
	         "the keys of both", weir_kind_name(kind));
	return TOOL_TROUBLE;
}

/* Reports that the keys of both filters do not fit. The failed merge has added no keys, except that
 * a filter with WEIR_ONCE may have some of them. */
static int full(const struct weir_filter *sum)
{
	struct weir_stats s = stats_of(sum);
	snprintf(sentence, sizeof sentence, "not written: full: there is no room for the keys of "
	         "both: %s are in it, and its capacity is %s: weir build -n with a larger number "
	         "makes one of all the keys", show_estimate(SHOW, s.keys_estimated),
	         show_count(SHOW, s.capacity));
	return TOOL_NO;
}

/* Return: the factor by which the larger size folds to the smaller, or 0 if it does not fold. */
static uint32_t factor_of(uint64_t larger, uint64_t smaller)
{
	uint64_t factor = smaller ? larger / smaller : 0;
	bool folds = factor && factor <= UINT32_MAX && factor * smaller == larger &&
	             (factor & (factor - 1)) == 0;
	return folds ? (uint32_t)factor : 0;
}

static int fold(struct weir_filter **out, const struct weir_filter *f, uint32_t factor,
                uint64_t max_memory)
{
	uint64_t bytes = bytes_of(f) / factor;
	if (bytes > max_memory) {
		snprintf(sentence, sizeof sentence,
		         "folded to its size it needs %s of memory: more than --max-memory leaves",
		         show_bytes(SHOW, bytes));
		return TOOL_TROUBLE;
	}
	return weir_fold(out, f, factor) ? failed() : TOOL_OK;
}

static int no_factor(uint64_t a, uint64_t b)
{
	snprintf(sentence, sizeof sentence,
	         "it has %llu bytes of bits, and the other %llu: sizes must be equal, or one 2, 4, "
	         "8, ... times the other, so that it can be folded",
	         (unsigned long long)a, (unsigned long long)b);
	unlike = true;
	return TOOL_NO;
}

static int merge(struct weir_filter *sum, const struct weir_filter *next)
{
	int err = weir_merge(sum, next);
	if (err == -ENOSPC && !weir_kind_can(stats_of(sum).shape.kind, WEIR_CAN_GROW))
		return full(sum);
	unlike = err == -EINVAL; /* the library's message names the field that differs */
	if (err)
		(void)failed();
	return unlike ? TOOL_NO : err ? TOOL_TROUBLE : TOOL_OK;
}

static int merge_folded(struct weir_filter *sum, const struct weir_filter *next, uint32_t factor,
                        uint64_t max_memory)
{
	struct weir_filter *smaller;
	int status = fold(&smaller, next, factor, max_memory);
	if (!status) {
		status = merge(sum, smaller);
		weir_destroy(smaller);
	}
	return status;
}

int unite(struct weir_filter **sum, const struct weir_filter *next, uint64_t max_memory,
          bool *folded)
{
	const struct weir_stats ours = stats_of(*sum), theirs = stats_of(next);
	const uint64_t have = ours.bytes, more = theirs.bytes;
	uint32_t factor = factor_of(more > have ? more : have, more > have ? have : more);
	struct weir_filter *smaller;
	if (weir_kind_can(ours.shape.kind, WEIR_CAN_BUILD))
		return never_merged(ours.shape.kind);
	if (weir_kind_can(theirs.shape.kind, WEIR_CAN_BUILD))
		return never_merged(theirs.shape.kind);
	if (theirs.shape.kind != ours.shape.kind)
		return other_kind(&theirs, &ours);
	/* The library merges growing filters of different sizes by itself. */
	if (weir_kind_can(ours.shape.kind, WEIR_CAN_GROW))
		return merge(*sum, next);
	if (!factor)
		return no_factor(more, have);
	*folded |= factor > 1;
	if (more >= have)
		return factor > 1 ? merge_folded(*sum, next, factor, max_memory) :
		                    merge(*sum, next);
	int status = fold(&smaller, *sum, factor, max_memory);
	if (status)
		return status;
	weir_destroy(*sum);
	*sum = smaller;
	return merge(*sum, next);
}
