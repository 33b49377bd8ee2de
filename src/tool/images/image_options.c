/* SPDX-License-Identifier: MIT
 * How an image is opened, by the command line. */
#include "image_options.h"
#include "input/file.h"
#include "input/units.h"
#include "output/exit.h"
#include "output/say.h"

struct image_how image_how(void)
{
	return (struct image_how){ .check = true, .progress = true,
		                   .max_memory = image_max_memory() };
}

int image_option(int option, struct image_how *how)
{
	switch (option) {
	case IMAGE_KEYED_BY: return (how->hash_key = keyfile_read(optarg)) != NULL;
	case IMAGE_MAX_MEMORY: return parse_bytes("--max-memory", optarg, &how->max_memory);
	case IMAGE_NO_PROGRESS: how->progress = false; break;
	case IMAGE_NO_VERIFY: how->check = false; break;
	default: return -1;
	}
	return 1;
}

int image_arguments(int argc, char **argv, const char **image, struct lines_options *from)
{
	if (optind == argc)
		return misuse("the image is missing");
	*image = argv[optind++];
	from->names = argv + optind;
	from->n = (size_t)(argc - optind);
	return image_named(*image) ? TOOL_OK : image_unnamed(*image);
}
