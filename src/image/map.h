/* SPDX-License-Identifier: MIT
 * Mapping, and the record of a mapped image, which is the origin of its filter's memory. */
#ifndef WEIR_SRC_IMAGE_MAP_H
#define WEIR_SRC_IMAGE_MAP_H

#include <sys/types.h>
#include "image/preface.h"

struct weir_mapping {
	enum weir_map_mode mode;
	struct weir_image_head head; /* as it was checked; weir_seal() renews its checksums */
	unsigned char *image;        /* the mapping, of length bytes */
	uint64_t length;
	bool given;                  /* image is the caller's memory, which stays as it is */
	int fd;                      /* live: holds the lock (image/live.h); else -1 */
	dev_t device;                /* of the file */
	ino_t inode;                 /* likewise */
	char name[];                 /* the path, for sentences */
};

/* The options and the mode of a mapping: @options, or the defaults if that is NULL, are checked and
 * copied to @out. */
int weir__map_options(struct weir_load_options *out, const struct weir_load_options *options,
                      enum weir_map_mode mode);

/* Map the image of a file. @as: as in struct weir_source.  @options: checked. */
int weir__map_path(struct weir_filter **out, const char *path, const struct weir_kind *as,
                   enum weir_map_mode mode, const struct weir_load_options *options);

/* Make a filter around a plain image: an opened file, or for WEIR_MAP_READ in memory, whose bits it
 * is made around then. @options: checked. */
int weir__map_source(struct weir_filter **out, struct weir_source *source, enum weir_map_mode mode,
                     const struct weir_load_options *options);

/* Map the plain image of an opened file, or load a compressed one. @mode: not WEIR_MAP_LIVE. */
int weir__map_or_load(struct weir_filter **out, struct weir_source *source,
                      enum weir_map_mode mode, const struct weir_load_options *options);

/* The mapping of a filter, or NULL if it has none. */
static inline struct weir_mapping *weir__mapping_of(const struct weir_filter *f)
{
	return f->memory.origin;
}

#endif
