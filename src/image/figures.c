/* SPDX-License-Identifier: MIT
 * Statistics of an image's bits, for which no key is needed. */
#include <weir/filter.h>
#include "image/preface.h"
#include "options.h"

/* Mapped if it can be, else read into memory. */
static int open_any(struct weir_filter **out, const char *path,
                    const struct weir_load_options *options)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_load_options o = *options;
	int err = weir_image_info(path, &info);
	if (err)
		return err;
	if (!info.compressed)
		return weir_map(out, path, WEIR_MAP_READ, &o);
	o.no_verify = false; /* what is read is checked */
	return weir_load(out, path, &o);
}

static int stats_of(const char *path, const struct weir_load_options *options,
                    struct weir_stats *out,
                    int (*stats)(const struct weir_filter *, struct weir_stats *))
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f;
	int err = weir__size_check(out, sizeof *out, "weir_stats");
	if (!err)
		err = weir__options_copy(&o, sizeof o, options, "weir_load_options");
	o.struct_size = sizeof o;
	o.hash_key = weir__no_hash_key;
	if (!err)
		err = open_any(&f, path, &o);
	if (err)
		return err;
	err = stats(f, out);
	weir_destroy(f);
	return err;
}

int weir_image_stats(const char *path, const struct weir_load_options *options,
                     struct weir_stats *out)
{
	return stats_of(path, options, out, weir_stats);
}

int weir_image_stats_exact(const char *path, const struct weir_load_options *options,
                           struct weir_stats *out)
{
	return stats_of(path, options, out, weir_stats_exact);
}
