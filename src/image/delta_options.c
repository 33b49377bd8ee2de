/* SPDX-License-Identifier: MIT
 * What the verbs of deltas share. */
#include <fcntl.h>
#include <string.h>
#include "ground/error.h"
#include "image/delta_options.h"

int weir__delta_options(struct weir_delta_options *out, const struct weir_delta_options *options)
{
	struct weir_delta_options o = WEIR_DELTA_OPTIONS_INIT;
	int err = weir__options_copy(&o, sizeof o, options, "weir_delta_options");
	if (!err && (o.zstd_level < 0 || o.zstd_level > 19))
		err = weir__fail(-EINVAL, "zstd_level %d: allowed: 0 to 19", o.zstd_level);
	if (!err && o.mode > 0777)
		err = weir__fail(-EINVAL, "mode 0%o: permissions from 0 to 0777", o.mode);
	*out = o;
	return err;
}

struct weir_load_options weir__delta_reading(const struct weir_delta_options *options)
{
	struct weir_load_options reading = WEIR_LOAD_OPTIONS_INIT;
	reading.max_bytes = options->max_bytes;
	reading.progress = options->progress;
	reading.progress_arg = options->progress_arg;
	return reading;
}

int weir__delta_image(struct weir_plain *out, const char *path,
                      const struct weir_load_options *options)
{
	struct weir_source source;
	int err = weir__source_open(&source, path, O_RDONLY);
	if (err)
		return err;
	err = weir__source_settle(&source, weir__plain_read(out, &source, options));
	weir__source_close(&source);
	return err;
}

void weir__delta_xor(unsigned char *to, const unsigned char *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		to[i] ^= from[i];
}
