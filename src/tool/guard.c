/* SPDX-License-Identifier: MIT
 * An empty list of keys builds a perfect image, and every server takes it. The one who builds it
 * knows whether that is meant. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include "guard.h"
#include "say.h"
#include "show.h"
#include "tool.h"

static const double most_rate = 2, /* of the one asked */
	least_keys = 0.1;          /* of those of the old image */

static int overfull(const struct weir_stats *fresh, const char *path)
{
	if (fresh->fp_rate_estimated <= most_rate * fresh->fp_rate)
		return TOOL_OK;
	say("%s: not written: %s of the absent keys would be found in it, above twice the %s "
	    "asked: %s different keys (estimated) in room for %s; make more room (-n, without "
	    "--like), or if it is meant, --allow-overfull",
	    path, show_rate(SHOW, fresh->fp_rate_estimated), show_rate(SHOW, fresh->fp_rate),
	    show_estimate(SHOW, fresh->keys_estimated), show_count(SHOW, fresh->capacity));
	return TOOL_NO;
}

/* The keys of the image that stands there: by a sample, and then as many as they may be; or by
 * every bit, all of it checked first. 0 after a message: it is damaged, live, or larger than the
 * memory that may be used; or nobody can tell, since every bit is set. */
static double old_keys(const struct guard *guard, const char *path, bool compressed, bool all)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	struct weir_stats old = WEIR_STATS_INIT;
	options.no_verify = !all;
	if (compressed) /* a plain one is mapped */
		options.max_bytes = guard->max_memory;
	int err = all ? weir_image_stats_exact(path, &options, &old) :
	                weir_image_stats(path, &options, &old);
	if (err || !isfinite(old.keys_estimated)) {
		say("%s: not compared with the image that it replaces: %s", path,
		    err ? weir_error_detail() : "every bit of that is set");
		return 0;
	}
	double error = 3 * sqrt(old.keys_estimated / old.sampled) + 10 / old.sampled;
	return old.sampled < 1 ? old.keys_estimated + error : old.keys_estimated;
}

/* Only where the sample would refuse is the old image read as a whole. */
static int shrunk(const struct guard *guard, const struct weir_stats *fresh, const char *path)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	double keys = fresh->keys_estimated, old;
	struct stat st;
	if (stat(path, &st) || st.st_size == 0) /* mktemp leaves an empty file */
		return TOOL_OK;
	if (weir_image_info(path, &info)) {
		say("%s: not compared with the file that it replaces: %s", path,
		    weir_error_detail());
		return TOOL_OK;
	}
	/* to look at a compressed one it is unpacked as a whole */
	if (!info.compressed && keys >= least_keys * old_keys(guard, path, false, false))
		return TOOL_OK;
	old = old_keys(guard, path, info.compressed, true);
	if (keys >= least_keys * old)
		return TOOL_OK;
	say("%s: not replaced: about %s different keys, where the old image has about %s: under a "
	    "tenth; if it is meant, --allow-shrink",
	    path, show_short(SHOW, keys), show_short(SHOW, old));
	return TOOL_NO;
}

int guard_ask(const struct guard *guard, const struct weir_stats *fresh, const char *path)
{
	int status = guard->allow_overfull ? TOOL_OK : overfull(fresh, path);
	if (!status && !guard->allow_shrink && strcmp(path, "-"))
		status = shrunk(guard, fresh, path);
	return status;
}

uint32_t guard_marks(const struct guard *guard)
{
	return (guard->allow_overfull ? WEIR_MARK_OVERFULL_ALLOWED : 0) |
	       (guard->allow_shrink ? WEIR_MARK_SHRINK_ALLOWED : 0);
}
