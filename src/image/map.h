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
	int fd;                      /* live: holds the lock (image/map.h); else -1 */
	dev_t device;                /* of the file */
	ino_t inode;                 /* likewise */
	char name[];                 /* the path, for sentences */
};

/* Check what weir__load_options() gave, and a mode, of a mapping. */
int weir__map_check(const struct weir_load_options *o, uint32_t mode);

/* Map a checked location of WEIR_LOCATION_MAP or WEIR_LOCATION_MAP_MEMORY. @options: as
 * weir__load_options() gives them. */
int weir__map_location(struct weir_filter **out, const struct weir_location *from,
                       const struct weir_load_options *options);

/* Make a filter around a plain image: an opened file, or for WEIR_MAP_READ in memory, whose bits it
 * is made around then. @options: checked. */
int weir__map_source(struct weir_filter **out, struct weir_source *source, enum weir_map_mode mode,
                     const struct weir_load_options *options);

/* Map a plain image where it can be, or load it. @mode: not WEIR_MAP_LIVE. */
int weir__map_or_load(struct weir_filter **out, struct weir_source *source,
                      enum weir_map_mode mode, const struct weir_load_options *options);

/* The mapping of a filter, or NULL if it has none. */
static inline struct weir_mapping *weir__mapping_of(const struct weir_filter *f)
{
	return f->memory.origin;
}

/* The lock that keeps live mappings of an image and a seal apart, between processes and within one.
 * It is on the bytes of the file's commit record (fcntl, F_OFD_SETLK). A lock belongs to one
 * opening of the file, so it goes when its mapping goes or its process is killed; and unlike one by
 * flock it is turned from shared to exclusive in one step, or stays shared.
 *
 * S1  A live mapping holds the lock, shared, from before it reads the head until it is unmapped.
 * S2  Only a holder of the lock stores the live mark. It is on the disk before any insert.
 * S3  Only the one holder of the exclusive lock computes checksums and stores the sealed record;
 *     first bits and checksums are on the disk.
 * S4  From then on its mapping is read-only, and only after that is the lock given back.
 *
 * So nobody inserts between the first checksum and the sealed record, and nobody's live mark is
 * taken away: the image is always live, or sealed and valid. */

/* S1: take the lock, shared. Waits a second for a seal. Return: 0, -EBUSY, or another negative
 * errno. */
int weir__live_share(int fd, const char *name);
/* S3: make a mapping's lock exclusive, at once or not at all: -EBUSY; and shared again. */
int weir__live_claim(const struct weir_mapping *mapping);
void weir__live_unclaim(const struct weir_mapping *mapping);
/* Give the lock back and close the descriptor that held it. */
void weir__live_release(struct weir_mapping *mapping);
/* Close the descriptor only: a process forked from this one keeps the lock with its mapping. */
void weir__live_close(const struct weir_mapping *mapping);

/* ---- the live mark of a mapped image ---- */

/* Mark the file of a WEIR_MAP_LIVE mapping live and sync the mark. This comes before any insert. */
int weir__mark_live(struct weir_mapping *mapping);

#endif
