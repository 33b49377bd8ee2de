/* SPDX-License-Identifier: MIT
 * A private folder for the test, and the path of an image in the folder. Tests and groups use these
 * functions as setup and teardown, or call them from their own setup and teardown functions. */
#ifndef WEIR_TESTS_FOLDER_H
#define WEIR_TESTS_FOLDER_H

#include "test.h"

static char *folder, path[4096];

static inline int folder_setup(void **state)
{
	(void)state;
	folder = test_folder();
	snprintf(path, sizeof path, "%s/set.weir", folder);
	return 0;
}

static inline int folder_teardown(void **state)
{
	(void)state;
	test_folder_remove(folder);
	return 0;
}

#endif
