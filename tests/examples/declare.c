/* SPDX-License-Identifier: MIT
 * declare IMAGE GIB: writes an image of one shard that declares @GIB GiB of bits but contains none,
 * for the tests of the command. */
#include "../declared.h"

int main(int argc, char **argv)
{
	if (argc != 3 || !declare_image(argv[1], strtoull(argv[2], NULL, 10) << 30)) {
		fprintf(stderr, "usage: %s IMAGE GIB, or a file cannot be that large\n", argv[0]);
		return 2;
	}
	return 0;
}
