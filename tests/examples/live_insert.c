/* SPDX-License-Identifier: MIT
 * A program for tests of the weir command: it maps an image live, inserts a key and seals the
 * image. live_insert IMAGE KEY [LOCK_DIR]. The seal waits for the end of standard input, if
 * standard input is open. */
#include <stdio.h>
#include <string.h>
#include <weir/weir.h>

int main(int argc, char **argv)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	options.lock_dir = argc > 3 ? argv[3] : NULL;
	if (argc < 3 ||
	    weir_load(&f, weir_location_map(argv[1], WEIR_MAP_LIVE), &options) ||
	    weir_insert(f, argv[2], strlen(argv[2])) < 0)
		return fprintf(stderr, "%s\n", argc < 3 ? "IMAGE KEY" : weir_error_detail()), 1;
	puts("live");
	fflush(stdout);
	while (getchar() != EOF)
		continue;
	if (weir_seal(f))
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_destroy(f);
	return 0;
}
