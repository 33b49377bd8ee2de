/* SPDX-License-Identifier: MIT
 * See live.h. */
#include <errno.h>
#include "input/file.h"
#include "live.h"
#include "output/exit.h"
#include "output/progress.h"
#include "output/say.h"

int live_open(struct weir_filter **out, const char *path, const struct image_how *how)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	options.hash_key = how->hash_key;
	options.progress = progress_reported;
	progress_begin("verifying");
	int err = weir_map(out, path, WEIR_MAP_LIVE, &options);
	progress_end();
	if (err == -EKEYREJECTED && !how->hash_key)
		say("%s: is keyed: give the key that it was built with, --keyed-by=FILE", path);
	else if (err)
		say_weir(err, path);
	return err;
}

int live_seal(struct weir_filter *f, const char *path)
{
	int err = weir_seal(f);
	if (err == -EBUSY)
		say("%s: stays live, since another process has it mapped so: the last one to end "
		    "seals it, or weir seal does after that",
		    path);
	else if (err)
		say_weir(err, path);
	return err == -EBUSY ? TOOL_NO : err ? TOOL_TROUBLE : TOOL_OK;
}
