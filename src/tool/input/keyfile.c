/* SPDX-License-Identifier: MIT */
#include <weir/weir.h>
#include "keyfile.h"
#include "output/say.h"

const void *keyfile_read(const char *path)
{
	static unsigned char key[WEIR_KEY_BYTES];
	int err = weir_key_read(key, path);
	if (!err)
		return key;
	say("%s: %s", path, opened_or(err, detail_without(path), SAY_HASH_KEY));
	return NULL;
}
