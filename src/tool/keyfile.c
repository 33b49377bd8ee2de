/* SPDX-License-Identifier: MIT */
#include <weir/weir.h>
#include "keyfile.h"
#include "say.h"

const void *keyfile_read(const char *path)
{
	static unsigned char key[WEIR_KEY_BYTES];
	if (weir_key_read(key, path) == 0)
		return key;
	say("%s", weir_error_detail());
	return NULL;
}
