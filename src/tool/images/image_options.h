/* SPDX-License-Identifier: MIT
 * The options that say how an image is opened: rows of the commands' tables. Its name, and those of
 * the files of keys behind it. */
#ifndef WEIR_TOOL_IMAGE_OPTIONS_H
#define WEIR_TOOL_IMAGE_OPTIONS_H

#include <getopt.h>
#include "images.h"
#include "input/lines.h"

enum { IMAGE_KEYED_BY = 768, IMAGE_MAX_MEMORY, IMAGE_NO_PROGRESS, IMAGE_NO_VERIFY };

#define IMAGE_OPTIONS_LOAD \
	{ "keyed-by", required_argument, NULL, IMAGE_KEYED_BY }, \
	{ "max-memory", required_argument, NULL, IMAGE_MAX_MEMORY }, \
	{ "no-progress", no_argument, NULL, IMAGE_NO_PROGRESS }
/* Of one that need not be checked first. */
#define IMAGE_OPTIONS_OPEN \
	IMAGE_OPTIONS_LOAD, \
	{ "no-verify", no_argument, NULL, IMAGE_NO_VERIFY }

/* What is done without an option. */
struct image_how image_how(void);
/* Return: 1 taken, 0 wrong (reported), -1 not such an option. */
int image_option(int option, struct image_how *how);

/* The arguments from optind on: the image and the files. Return: TOOL_OK, or TOOL_TROUBLE after a
 * message. */
int image_arguments(int argc, char **argv, const char **image, struct lines_options *from);

#endif
