/* SPDX-License-Identifier: MIT
 * Statistics of an image's bits, for which no key is needed. */
#include <fcntl.h>
#include <weir/filter.h>
#include "ground/error.h"
#include "image/map.h"

static int open_any(struct weir_filter **out, const char *path,
                    const struct weir_load_options *options)
{
	struct weir_source source;
	int err = weir__source_open(&source, path, O_RDONLY);
	if (err)
		return err;
	err = weir__map_or_load(out, &source, WEIR_MAP_READ, options);
	weir__source_close(&source);
	return err;
}

static int stats_of(const char *path, const struct weir_load_options *options, uint64_t lines,
                    struct weir_stats *out)
{
	struct weir_load_options o;
	struct weir_filter *f;
	int err = weir__size_check(out, sizeof *out, "weir_stats");
	if (!err)
		err = weir__map_options(&o, options, WEIR_MAP_READ);
	if (err)
		return err;
	o.secret = weir__no_secret;
	o.run = (struct weir_window_run){ .flavor = NULL };
	err = open_any(&f, path, &o);
	if (err)
		return err;
	const struct weir_survey survey = { .lines = lines,
		                            .progress = o.progress,
		                            .progress_arg = o.progress_arg };
	err = weir__survey(f, &survey, out);
	weir_destroy(f);
	return err;
}

int weir_image_stats(const char *path, const struct weir_load_options *options,
                     struct weir_stats *out)
{
	return stats_of(path, options, WEIR__SURVEY_SAMPLE_LINES, out);
}

int weir_image_stats_exact(const char *path, const struct weir_load_options *options,
                           struct weir_stats *out)
{
	return stats_of(path, options, UINT64_MAX, out);
}
