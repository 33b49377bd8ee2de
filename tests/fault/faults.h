/* SPDX-License-Identifier: MIT
 * Helpers for the tests with the shim: counts of folder entries, descriptors and mappings, a run
 * with a failing call, and an image's generation. */
#ifndef WEIR_TESTS_FAULT_FAULTS_H
#define WEIR_TESTS_FAULT_FAULTS_H

#include <dirent.h>
#include "../image_bytes.h"
#include "../folder.h"
#include "shim.h"

/* Return: the number of entries of a folder, without the entry named @besides. @name: receives the
 * name of the entry that was counted last. */
static inline unsigned folder_entries(const char *where, const char *besides, char name[256])
{
	unsigned n = 0;
	DIR *dir = opendir(where);
	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    strcmp(e->d_name, besides)) {
			snprintf(name, 256, "%s", e->d_name);
			n++;
		}
	closedir(dir);
	return n;
}

static inline unsigned open_descriptors(void)
{
	char name[256];
	return folder_entries("/proc/self/fd", "", name);
}

/* Call @run with its @n-th system call failing. Afterwards shim.what is that call, or NULL if there
 * were fewer calls, and shim.allocated is the number of leaked blocks. */
static inline int run_failing(int (*run)(void), unsigned n, int error, bool no_tmpfile)
{
	shim.at = n;
	shim.error = error;
	shim.calls = 0;
	shim.allocated = 0;
	shim.what = NULL;
	shim.no_tmpfile = no_tmpfile;
	shim.armed = true;
	int answer = run();
	shim.armed = false;
	shim.at = 0;
	return answer;
}

/* Return: the number of this process's mappings whose line in the maps file contains @name. */
static inline unsigned mappings_of(const char *name)
{
	char line[8192];
	unsigned n = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	assert_non_null(maps);
	while (fgets(line, sizeof line, maps))
		n += strstr(line, name) != NULL;
	fclose(maps);
	return n;
}

/* Return: the generation of the image at @name. The image must load. */
static inline uint64_t generation_of(const char *name)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_filter *f;
	assert_ok(weir_load(&f, weir_location_path(name), NULL));
	weir_destroy(f);
	assert_ok(weir_image_inspect(weir_location_path(name), &info));
	return info.generation;
}

#endif
