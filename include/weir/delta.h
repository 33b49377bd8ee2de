/* SPDX-License-Identifier: MIT
 * Deltas: the difference between two images as a file, which is small if the images differ little.
 * Save a delta on the machine that makes the images. Apply it where the old image is:
 *
 *     weir_delta_save(weir_location_path("2.delta"), weir_location_path("1.weir"),
 *                     weir_location_path("2.weir"), NULL)
 *
 *     const char *deltas[] = { "2.delta" };
 *     weir_load(&f, weir_location_chain("1.weir", deltas, 1), NULL)      makes the filter
 *     weir_image_copy(weir_location_path("2.weir"),
 *                     weir_location_chain("1.weir", deltas, 1), NULL, NULL)  writes the new image
 *
 * A delta compares the plain form of both images, which weir_save() writes without zstd_level. The
 * plain form is cut into pieces of 1 MiB. For each piece that differs, the delta stores the
 * exclusive or of the old and the new piece, compressed by zstd. So any two images have a delta,
 * but it is small only if their layout, size and seed are equal. weir build gives a new image the
 * layout, size and seed of the image that it replaces. The size of a delta depends on the kind:
 *   - blocked, classic, split and growing: some bytes for each bit that changed;
 *   - counting and frequency: some bytes for each counter that changed;
 *   - fuse and layered: if one key changes, its part of the filter, with one to two million keys,
 *     changes as a whole. Give these kinds a capacity, or their size follows the number of keys;
 *   - cuckoo: the slot of a key depends on the order of inserts, so a delta is small only if keys
 *     were added to the old image itself.
 *
 * A delta names both images by the identity of their plain form, a checksum of the whole image. It
 * applies only to its own old image. The library checks every byte of the result, as of any image,
 * and the result equals the plain form of the new image. So a damaged or hostile delta makes the
 * call fail, and can do no more harm than a damaged or hostile image.
 *
 * A user who can read a delta and the old image can make the new image, and read its seed
 * (image.h).
 */
#ifndef WEIR_DELTA_H
#define WEIR_DELTA_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/image.h>

WEIR_BEGIN_DECLS

enum { WEIR_DELTA_PIECE = 1 << 20 }; /* bytes of a piece */

/** Options of weir_delta_save(). Start from WEIR_DELTA_OPTIONS_INIT. */
struct weir_delta_options {
	size_t struct_size;         /* sizeof(struct weir_delta_options) */
	int zstd_level;             /* 1 to 19; 0: 3 */
	uint32_t mode;              /* permissions of the file, as in struct weir_save_options */
	uint64_t max_bytes;         /* refuse an image whose bits take more bytes; 0: any size */
	uint64_t max_delta;         /* refuse to write a delta of more bytes; 0: no limit */
	weir_progress_fn *progress; /* as in struct weir_load_options; it counts the bytes of each
	                               image, then the bytes of the pieces; may be NULL */
	void *progress_arg;
};
#define WEIR_DELTA_OPTIONS_INIT WEIR__INIT(weir_delta_options)

/** The head of a delta. Start from WEIR_DELTA_INFO_INIT. */
struct weir_delta_info {
	size_t struct_size;      /* sizeof(struct weir_delta_info) */
	uint32_t format;         /* version of the format */
	uint64_t old_id, new_id; /* checksums that name the images: @id of weir_image_verify() */
	uint64_t old_bytes;      /* size of the old image's plain form */
	uint64_t new_bytes;      /* size of the new image's plain form */
	uint64_t old_generation; /* generation of the old image, as in struct weir_image_info */
	uint64_t new_generation; /* generation of the new image */
	uint64_t pieces;         /* number of pieces of the new image */
	uint64_t changed;        /* number of pieces that differ, which the delta contains */
	uint64_t file_bytes;     /* size of the delta */
};
#define WEIR_DELTA_INFO_INIT WEIR__INIT(weir_delta_info)

/**
 * Save the delta from one image to another.
 * @to: a path, where the call replaces the file atomically, as weir_save() does; or memory
 *   (weir_location_room()).
 * @old_image, @new_image: any locations that weir_image_copy() reads; plain or compressed.
 * @options: NULL for the defaults.
 * Return: bytes of the delta, or a negative errno. After a failure the old file stays, unless only
 *   the sync of the folder failed (see weir_save()).
 * Errors: as weir_load() of either image, but a keyed image needs no secret; as weir_save();
 *   -EFBIG if the delta would be larger than max_delta bytes; -ENOTSUP if this build lacks zstd, or
 *   @to is a descriptor.
 * Threads: any.  Progress: blocking (file system).
 * Cost: memory for both images and 2 MiB more; the time to read both images, memory bandwidth, and
 *   zstd's time for the pieces that differ.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_delta_save(struct weir_location to,
                                                 struct weir_location old_image,
                                                 struct weir_location new_image,
                                                 const struct weir_delta_options *options);

/**
 * Read the head of a delta.
 * @from: a path, a descriptor or memory.
 * @out: from WEIR_DELTA_INFO_INIT; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -EBADMSG if it is not a delta, or a damaged one; -ENOTSUP for a newer format; -EINVAL for
 *   struct_size, or if it is not a regular file; -EISDIR; the errno of open and read.
 * Threads: any.  Progress: blocking (file system).  Cost: some microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_delta_inspect(struct weir_location from,
                                                struct weir_delta_info *out);

/**
 * Check a delta without its images. The call checks the head, the bitmap of the changed pieces, and
 * that each piece unpacks to its length. It misses a damaged byte that zstd unpacks to another
 * byte. weir_image_verify() of a chain applies the delta and checks the whole result, so it finds
 * such a byte.
 * @from: a path, a descriptor or memory.
 * @options: max_bytes limits the memory for the bits of all pieces; progress counts bytes of the
 *   new image. All other options are ignored. NULL: no limit and no progress.
 * Return: 0 if the delta is undamaged, or a negative errno.
 * Errors: as weir_delta_inspect(); -ENOTSUP also if this build has no zstd; -ENOMEM; -ECANCELED.
 * Threads: any.  Progress: blocking (file system).
 * Cost: memory for one piece, and one bit for each piece; the time to read and unpack the delta.
 */
WEIR_API WEIR_MUST_CHECK int weir_delta_verify(struct weir_location from,
                                               const struct weir_load_options *options);

WEIR_END_DECLS

#endif
