/* SPDX-License-Identifier: MIT
 * Runs the fuzz test on the files of a folder. */
#ifndef WEIR_TESTS_INPUTS_H
#define WEIR_TESTS_INPUTS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../short.h"
#include "fuzz_image.h"

/* Run the input in a heap block of its exact size, so that a sanitizer finds reads past its end. */
static inline void run_exact(const unsigned char *input, size_t n)
{
	unsigned char *exact = malloc(n ? n : 1);
	if (!exact)
		abort();
	memcpy(exact, input, n);
	(void)LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

/* Call @use with the path of each file whose name ends with @ending and does not begin with a dot.
 * An answer other than 0 ends the loop. Return: the number of files, or -1 if the folder is missing
 * or @use ended the loop. */
static inline int for_each_input(const char *folder, const char *ending,
                                 int use(const char *path, unsigned mutations),
                                 unsigned mutations)
{
	int files = 0;
	DIR *dir = folder ? opendir(folder) : NULL;
	if (!dir)
		return -1;
	for (struct dirent *e; files >= 0 && (e = readdir(dir)) != NULL;) {
		char path[4096];
		const size_t n = strlen(e->d_name), k = strlen(ending);
		if (e->d_name[0] == '.' || n < k || strcmp(e->d_name + n - k, ending) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		files = use(path, mutations) ? -1 : files + 1;
	}
	closedir(dir);
	return files;
}

#endif
